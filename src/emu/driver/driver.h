/*
 * The emulated kernel driver: the table of calls (uapi/calls.h) of a machine that has an NPU1 and the driver amdxdna.
 * It keeps the driver's rules and refuses what the real one refuses with the same errno value, so that a client which
 * works here has been held to them. Behind it stand emulated firmware and array.
 *
 * One emulated device serves all files that are opened through the table, in any number of threads. Its time is
 * modelled: the time that commands take in the array decides when the driver takes one for hung, never a clock on the
 * wall.
 */
#ifndef TW_EMU_DRIVER_DRIVER_H
#define TW_EMU_DRIVER_DRIVER_H

#include "emu/array.h"
#include "uapi/calls.h"

struct tw_emu_driver;
struct tw_faults;

/* Which kernel it behaves as; they differ in what DRM's VERSION says and in the queries that exist. */
enum tw_emu_kernel {
    TW_EMU_KERNEL_7_3,         /* driver 0.10 */
    TW_EMU_KERNEL_7_1,         /* driver 0.8 */
    TW_EMU_KERNEL_6_14,        /* driver 0.0: no GET_ARRAY, no debug buffers, no resources */
    TW_EMU_KERNEL_OUT_OF_TREE, /* AMD's driver outside the kernel tree: as 7.3, and WAIT works */
    TW_EMU_KERNEL_2024,        /* the driver before it went into the kernel, 1.0: other numbers, to be refused */
    TW_EMU_KERNELS
};

/* What becomes of a context whose command hung. */
enum tw_emu_recovery {
    TW_EMU_RECOVERS,      /* the context works again */
    TW_EMU_STAYS_REFUSED, /* firmware refuses the context, and all new ones, until a reset */
    TW_EMU_RECOVERIES
};

/* One command for the firmware. */
struct tw_emu_work {
    int program;      /* from add_program */
    uint32_t opcode;  /* a kernel's first argument: what control code is */
    int host_patched; /* START_NPU: descriptors hold the array's addresses already */
    const unsigned char *code;
    size_t code_bytes;       /* 0: none */
    const uint64_t *buffers; /* addresses of the kernel's buffers */
    size_t n_buffers;
    uint64_t limit; /* cycles after which it need not go on */
};

enum tw_emu_end { TW_EMU_DONE, TW_EMU_FAILED, TW_EMU_HUNG };

/* What a command did, modelled; of a chain the sums, and what bounds the part that took most. */
struct tw_emu_figures {
    uint64_t cycles, launch_cycles, wait_cycles; /* as in struct tw_command_report */
    uint64_t read_bytes, write_bytes;            /* of the host's memory */
    const char *bound;                           /* of tw_bound_names; NULL: not known */
};

struct tw_emu_result {
    enum tw_emu_end end;
    uint32_t status; /* the firmware's, of TW_EMU_FAILED */
    int loaded;      /* its program had to be loaded first */
    struct tw_emu_figures figures;
};

/*
 * What the driver needs of firmware and array. Contexts are used by one thread at a time each, several at once. A
 * failure (returned, with a sentence in err) of run is told in *result too.
 */
struct tw_emu_firmware {
    void *arg; /* the first argument of create */
    int (*create)(void *arg, unsigned columns, const struct tw_host_memory *host, void **context, struct tw_error *err);
    void (*destroy)(void *context);
    /* The PDI stays in memory until destroy. Returns its number. */
    int (*add_program)(void *context, const unsigned char *pdi, size_t bytes, struct tw_error *err);
    int (*run)(void *context, const struct tw_emu_work *work, struct tw_emu_result *result, struct tw_error *err);
};

struct tw_emu_driver_options {
    enum tw_emu_kernel kernel;
    /*
     * 0: as the NPU: it sees of a buffer what was flushed, and the processor sees what the device wrote after another
     * flush; in between, both see what was there before. 1: both always see the same.
     */
    int coherent;
    const char *node;    /* NULL: "/dev/accel/accel0" */
    int open_error;      /* errno value that opening the node fails with, as EACCES; 0: it opens */
    int root;            /* the process may set power modes */
    int lock_limit_zero; /* the process may not lock memory: no buffers of user memory */
    unsigned hang_ms;    /* the module's parameter tdr_timeout_ms; 0: TW_XDNA_HANG_MS */
    int hangs_for_ever;  /* tdr_timeout_ms=0: a hung command stays until its context goes */
    enum tw_emu_recovery recovery;
    int old_firmware; /* protocol 5.7 instead of 5.8: other slots, so that more commands fit a chain */
    int no_syncobj;   /* contexts have no timeline */
    const struct tw_emu_firmware *firmware; /* NULL: the emulated array. Lives as long as the driver */
    const struct tw_unknown *unknown;       /* of the emulated array. NULL: the defaults */
    int strict;                             /* of its cores */
    struct tw_faults
        *faults; /* on purpose, which outlive the driver (emu/fault.h). NULL: as TILEWRIGHT_EMU_FAULT says */
    /* What the real driver writes to the kernel's log, one sentence a call; may be called by several threads at once.
     */
    void (*log)(void *arg, const char *sentence);
    void *log_arg;
};

/* options NULL: all zero. Fails with TW_E_MEMORY, TW_E_IO, or TW_E_ARGUMENT: TILEWRIGHT_EMU_FAULT cannot be read. */
int tw_emu_driver_create(const struct tw_emu_driver_options *options, struct tw_emu_driver **driver,
                         struct tw_error *err);
/* Closes what is still open, after no thread is inside a call any more. Buffers that are mapped stay so. */
void tw_emu_driver_free(struct tw_emu_driver *driver);

/* The table, as long as the driver. */
const struct tw_calls *tw_emu_driver_calls(struct tw_emu_driver *driver);

/* What happens to a device from outside. */
enum tw_emu_event {
    TW_EMU_SUSPEND, /* asleep and awake again between two commands: the contents of all tiles are lost */
    TW_EMU_RESET,   /* power-cycled: what runs and what waits is aborted; heals a device that refuses contexts */
    TW_EMU_HANG,    /* the next command never ends */
    TW_EMU_REMOVE   /* the driver is unloaded: all calls fail with ENODEV from now on */
};
void tw_emu_driver_event(struct tw_emu_driver *driver, enum tw_emu_event event);

/*
 * Whether command number `sequence` of a context failed because it reached for memory in none of the buffers that it
 * lists. The real driver cannot tell: to it, such a command hangs. Of each context the last such command is known.
 */
int tw_emu_driver_unlisted(struct tw_emu_driver *driver, int fd, uint32_t context, uint64_t sequence);

/*
 * The figures of command number `sequence` of a context. Returns 0 when it has not completed, or so long ago that it is
 * forgotten: of each context the last TW_EMU_FIGURES_KEPT are known.
 */
enum { TW_EMU_FIGURES_KEPT = 256 };
int tw_emu_driver_figures(struct tw_emu_driver *driver, int fd, uint32_t context, uint64_t sequence,
                          struct tw_emu_figures *figures);

/* The latest moment that the device has come to, in nanoseconds of modelled time. */
uint64_t tw_emu_driver_time(struct tw_emu_driver *driver);

#endif
