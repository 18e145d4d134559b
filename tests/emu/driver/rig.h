/* A machine with an emulated driver whose firmware does what its control code says in a few words. */
#ifndef TESTS_EMU_DRIVER_RIG_H
#define TESTS_EMU_DRIVER_RIG_H

#include "emu/driver/driver.h"
#include "uapi/amdxdna.h"
#include "uapi/packet.h"
#include "uapi/query.h"

#include <stddef.h>
#include <stdint.h>

/* Words of the scripted firmware's control code; word 3 is its size in bytes, as in a transaction. */
enum action {
    DO_NOTHING,
    DO_COPY, /* word 1 bytes from buffer 0 to buffer 1; hangs when the device does not reach them */
    DO_TAKE, /* word 1 microseconds */
    DO_FAIL, /* word 1: status */
    DO_HANG,
    DO_COUNT, /* adds 1 to a number in the tiles, and writes it to buffer 0 */
    DO_WORK,  /* as DO_TAKE, and the thread sleeps for a moment, so that others come in between */
    DO_GATE   /* waits for rig_open_gate */
};

struct rig {
    struct tw_emu_driver *driver;
    const struct tw_calls *calls;
    int fd;
    uint32_t heap_handle;
    unsigned char *heap; /* NULL: none */
    void *reserved;      /* address space that the heap lies in */
    int fd_is_shared;    /* the driver belongs to another rig */
};

extern const struct tw_emu_firmware rig_firmware;
extern const char rig_node[];

/* Lets one command of kind DO_GATE go on, whether it has come there or comes later. */
void rig_open_gate(void);

/* A driver and an open file; the options' firmware is replaced by the scripted one. */
void rig_create(struct rig *rig, const struct tw_emu_driver_options *options);
/* As rig_create, with a heap that is mapped. */
void rig_with_heap(struct rig *rig, const struct tw_emu_driver_options *options);
/* As rig_with_heap, on the emulated array. */
void rig_on_array(struct rig *rig, const struct tw_emu_driver_options *options);
/* Another open file of a rig's driver, with a heap. */
void rig_second(struct rig *rig, const struct rig *first);
void rig_free(struct rig *rig);

int rig_ioctl(const struct rig *rig, uint32_t request, void *argument);

int rig_new_buffer(const struct rig *rig, enum tw_xdna_buffer_kind kind, uint64_t bytes, uint32_t *handle);
struct tw_xdna_buffer_info rig_info(const struct rig *rig, uint32_t handle);
void rig_close_buffer(const struct rig *rig, uint32_t handle);
int rig_map_heap(struct rig *rig, size_t shift);

/* A buffer that the process sees. */
struct rig_buffer {
    uint32_t handle;
    size_t bytes;
    unsigned char *host;
    uint64_t address; /* the device's */
};
struct rig_buffer rig_buffer(const struct rig *rig, enum tw_xdna_buffer_kind kind, size_t bytes);
void rig_unmap(const struct rig *rig, struct rig_buffer *buffer);
void rig_flush(const struct rig *rig, const struct rig_buffer *buffer);

int rig_try_context(const struct rig *rig, uint32_t tiles, struct tw_xdna_create_context *made);
/* A context with one CU, whose PDI is `pdi` (a device buffer, made and flushed here). */
struct rig_context {
    uint32_t handle, syncobj;
    struct rig_buffer pdi;
};
struct rig_context rig_context(const struct rig *rig, unsigned columns);
struct rig_context rig_context_of(const struct rig *rig, unsigned columns, const void *pdi, size_t bytes);
int rig_destroy(const struct rig *rig, uint32_t handle);
int rig_config(const struct rig *rig, uint32_t handle, const struct tw_xdna_cus *cus, uint32_t bytes);

/* Control code in a device buffer, flushed. */
struct rig_buffer rig_code(const struct rig *rig, enum action action, uint32_t word);
/* Writes a START_CU packet for the control code and buffers. */
void rig_packet(const struct rig_buffer *command, const struct rig_buffer *code, const struct rig_buffer *buffers,
                size_t n);
void rig_chain(const struct rig_buffer *chain, const struct rig_buffer *commands, size_t n);
int rig_submit(const struct rig *rig, uint32_t context, const struct rig_buffer *command, const uint32_t *arguments,
               uint32_t n, uint64_t *sequence);
int rig_wait(const struct rig *rig, uint32_t syncobj, uint64_t sequence, int64_t deadline);
/* Submits with the buffers as arguments, waits, and gives the state. */
enum tw_packet_state rig_do(const struct rig *rig, const struct rig_context *context, const struct rig_buffer *command,
                            const struct rig_buffer *buffers, size_t n);
uint32_t rig_word(const struct rig_buffer *buffer, size_t word);
void rig_set_word(const struct rig_buffer *buffer, size_t word, uint32_t value);

#endif
