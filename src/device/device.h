/* What stands behind the public objects (tilewright.h), for the files of this folder and for tests. */
#ifndef TW_DEVICE_DEVICE_H
#define TW_DEVICE_DEVICE_H

#include "device/kernel_buffer.h"
#include "device/machine.h"
#include "device/reference.h"

#include <pthread.h>

struct tw_emulated;
struct tw_trace;

/* How to wait for a command. The first that the driver knows is kept. */
enum tw_wait_method { TW_WAIT_TIMELINE, TW_WAIT_CALL, TW_WAIT_POLL };

struct tw_device {
    atomic_uint references;
    struct tw_driver_file file;
    char node[TW_PATH_BYTES];
    struct tw_emulated *emulated; /* NULL: not ours */
    struct tw_trace *trace;       /* NULL: none */
    unsigned columns;
    pthread_mutex_t heap_lock;
    struct tw_kernel_buffer heap; /* made for the first context */
    atomic_int wait_method;       /* enum tw_wait_method */
    atomic_int hung;              /* a command has hung since it was opened */
};

struct tw_context {
    atomic_uint references;
    struct tw_device *device;
    uint32_t handle, syncobj;
    unsigned n_programs;
    struct tw_context_program {
        struct tw_kernel_buffer pdi; /* handle 0: an earlier program has the same */
        uint32_t handle;             /* of the buffer with its PDI */
        char *name;                  /* NULL: none */
    } programs[TW_XDNA_CUS];
};

struct tw_buffer {
    atomic_uint references;
    struct tw_device *device;
    struct tw_kernel_buffer memory;
};

/*
 * As tw_device_open, through any table of calls, which must live as long as the device. node is what its open gets;
 * trace as in struct tw_device_options.
 */
int tw_device_open_calls(const struct tw_calls *calls, const char *node, const char *trace, struct tw_device **device,
                         struct tw_error *err);

/* Whether the trace, if there is one, was written so far; fails with TW_E_IO. */
int tw_device_check_trace(const struct tw_device *device, struct tw_error *err);

/* Makes the heap if there is none yet. */
int tw_device_need_heap(struct tw_device *device, struct tw_error *err);

/* What the environment makes of TW_DEVICE_AUTO; fails with TW_E_ARGUMENT for a word that is no device. */
int tw_device_kind_read(const char *word, enum tw_device_kind *kind, struct tw_error *err);

struct tw_device *tw_device_take(struct tw_device *device);
struct tw_context *tw_context_take(struct tw_context *context);
struct tw_buffer *tw_buffer_take(struct tw_buffer *buffer);

#endif
