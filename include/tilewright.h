/*
 * The public C API of Tilewright: error codes, and the NPU: device, context, buffer and job.
 *
 * Every function that can fail returns 0 (or a count >= 0) on success and one of the negative codes below on
 * failure; the sentence for the user is in the struct tw_error that the caller passed, which may be NULL.
 *
 * Objects keep alive what they are made of: they may be given back in any order, and the driver sees the right one. All
 * functions may be called from several threads at once, but one job, and the data of one buffer, belong to one thread
 * at a time.
 */
#ifndef TILEWRIGHT_H
#define TILEWRIGHT_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TW_VERSION "0.1.0"

enum tw_code {
    TW_OK = 0,
    TW_E_ARGUMENT = -1,    /* the caller passed something that makes no sense */
    TW_E_MEMORY = -2,      /* memory could not be had */
    TW_E_IO = -3,          /* reading or writing failed in the operating system */
    TW_E_NOT_FOUND = -4,   /* a file, model or device of that name is not there */
    TW_E_FORMAT = -5,      /* a file is not what it should be, or damaged */
    TW_E_UNSUPPORTED = -6, /* a valid request that this version cannot serve */
    TW_E_LIMIT = -7,       /* a size is beyond what this program accepts */
    TW_E_SHAPE = -8,       /* operands of an operation do not fit together */
    TW_E_NETWORK = -9,     /* a download failed */
    TW_E_CANCELLED = -10,  /* the caller asked to stop */
    TW_E_STATE = -11,      /* called in the wrong order */
    TW_E_NO_DEVICE = -12,  /* there is no NPU that this program can use */
    TW_E_PERMISSION = -13, /* the operating system does not allow it */
    TW_E_BUSY = -14,       /* all contexts of the NPU are taken, or its columns by contexts of another width */
    TW_E_TIMEOUT = -15,    /* a command hung, and the driver stopped it */
    TW_E_ABORTED = -16,    /* a command was dropped, because an earlier one of its context hung */
    TW_E_DEVICE = -17,     /* the NPU's firmware refused a command or failed at it */
    TW_E_LOST = -18,       /* the NPU does not come back: load its driver anew or restart the machine */
    TW_E_REFUSED = -19,    /* the driver did not hand a command to the NPU */
    TW_E_HEAP = -20,       /* the NPU's heap is missing or full, or there is one already */
    TW_E_UNMAPPED = -21,   /* a buffer has no address that the NPU could use */
    TW_E_RUNNING = -22,    /* a command has not ended yet; wait again */
    TW_E_HEAP_SIZE = -23,  /* the NPU's heap was to have another size than the driver takes */
    TW_E_HEAP_PLACE = -24, /* the NPU's heap is mapped at another place than at a multiple of its size */
    TW_E_CONFIGURED = -25, /* a context has its programs already */
    TW_E_SYNC = -26,       /* the driver did not synchronise a buffer */
    TW_E_UNLISTED = -27,   /* the NPU reached for memory in no buffer of the command. Only the emulator can tell: with
                              the real driver such a command hangs */
    TW_E_CHECKSUM = -28    /* a product's sums prove it wrong */
};

/* What failed, with which input, and what to do, in one sentence. */
struct tw_error {
    int code;
    char text[1024];
};

/* The name of a code, "TW_E_IO" and so on; "TW_E_?" for an unknown one. Never NULL. */
const char *tw_code_name(int code);

/* Devices */

struct tw_device; /* an open NPU */

enum tw_device_kind {
    TW_DEVICE_AUTO, /* what the environment variable TILEWRIGHT_DEVICE names (auto, npu, emu); else as TW_DEVICE_NPU */
    TW_DEVICE_NPU,  /* silicon: the first NPU of the kind that this version knows, PCI 1022:1502 */
    TW_DEVICE_EMU   /* the emulator inside this library: the same results, never silently */
};

struct tw_device_options {
    enum tw_device_kind kind;
    const char *root;  /* where /sys and /dev are looked for, for tests and containers; NULL: the real ones */
    const char *trace; /* a new file that gets a line for each call to the driver; NULL: none */
    /* TW_DEVICE_EMU: 0: the emulated machine that all others of this process use too, with six contexts among them, as
     * if it were the real one; 1: a machine of its own */
    int alone;
};

/*
 * Opens the NPU. options may be NULL. Give the device back with tw_device_close. Fails with TW_E_NO_DEVICE (the
 * sentence says what is missing), TW_E_PERMISSION, TW_E_UNSUPPORTED (a driver that speaks another language), TW_E_HEAP,
 * TW_E_MEMORY or TW_E_IO.
 */
int tw_device_open(const struct tw_device_options *options, struct tw_device **device, struct tw_error *err);
void tw_device_close(struct tw_device *device);

/* Programs */

struct tw_context; /* some columns of the array, and the programs that may be loaded there */

/* A configuration of the array. */
struct tw_program {
    const void *pdi; /* a whole PDI */
    size_t bytes;
    unsigned function; /* "functional" of the kernel in an xclbin; 0 */
    const char *name;  /* for tw_context_find; NULL: none. Not kept. */
};

/*
 * Takes a context of `columns` columns with n_programs >= 1 programs; their bytes are copied. The NPU has six contexts
 * for all processes together, and those that share columns are of one width. Fails with TW_E_BUSY when they are taken,
 * TW_E_LOST when the NPU does not recover from a hang, TW_E_DEVICE, TW_E_ARGUMENT, TW_E_LIMIT, TW_E_HEAP or
 * TW_E_MEMORY.
 */
int tw_context_create(struct tw_device *device, unsigned columns, const struct tw_program *programs,
                      unsigned n_programs, struct tw_context **context, struct tw_error *err);

/*
 * The same with all programs of an xclbin, or the one PDI of a file. columns 0: as many as the file says; a PDI does
 * not say. Fails with TW_E_NOT_FOUND, TW_E_IO or TW_E_FORMAT too.
 */
int tw_context_load(struct tw_device *device, const char *path, unsigned columns, struct tw_context **context,
                    struct tw_error *err);

/* The number of the program with this name (the kernel's in an xclbin); NULL: of the only one. Fails with
 * TW_E_NOT_FOUND, and names what there is. */
int tw_context_find(const struct tw_context *context, const char *name, struct tw_error *err);

/* Gives the context back, as soon as no job of it is left. */
void tw_context_destroy(struct tw_context *context);

/* Buffers */

struct tw_buffer; /* memory that both the NPU and this process work on */

/*
 * bytes >= 1 of memory, zero at first. Fails with TW_E_ARGUMENT, TW_E_MEMORY, TW_E_PERMISSION, TW_E_UNMAPPED or
 * TW_E_IO.
 */
int tw_buffer_create(struct tw_device *device, size_t bytes, struct tw_buffer **buffer, struct tw_error *err);
void *tw_buffer_data(const struct tw_buffer *buffer); /* page-aligned; valid until the buffer is given back */
size_t tw_buffer_size(const struct tw_buffer *buffer);
void tw_buffer_destroy(struct tw_buffer *buffer);

/*
 * The NPU sees memory, this process sees its caches. After writing to a buffer, and before the job that reads it: call
 * tw_buffer_to_npu. After the job that writes it, and before reading: tw_buffer_from_npu. offset and size are in bytes.
 * Fail with TW_E_ARGUMENT for a range that is not inside, or TW_E_IO.
 */
int tw_buffer_to_npu(const struct tw_buffer *buffer, size_t offset, size_t size, struct tw_error *err);
int tw_buffer_from_npu(const struct tw_buffer *buffer, size_t offset, size_t size, struct tw_error *err);

/* Jobs */

struct tw_job; /* control code with its buffers: one launch */

/*
 * A job of program number `program`. The control code is copied: a transaction as compilers for this NPU write it, the
 * older word sequence, or an ELF file around a transaction; bytes 0: the program needs none. Fails with TW_E_ARGUMENT,
 * TW_E_FORMAT, TW_E_LIMIT, TW_E_HEAP or TW_E_MEMORY.
 */
int tw_job_create(struct tw_context *context, unsigned program, const void *code, size_t bytes, struct tw_job **job,
                  struct tw_error *err);

/* Buffer argument number index, from 0 on; NULL: none. The job keeps the buffer alive. Fails with TW_E_LIMIT,
 * TW_E_ARGUMENT for a buffer of another device, TW_E_STATE while the job runs, or TW_E_MEMORY. */
int tw_job_set_buffer(struct tw_job *job, unsigned index, struct tw_buffer *buffer, struct tw_error *err);

/*
 * Several jobs of one context as one launch, one after another; no submission of its parts is needed, and they must not
 * be running themselves. The chain keeps them alive. Fails with TW_E_LIMIT when they do not fit into one command
 * (36 jobs of up to 5 buffers do), TW_E_ARGUMENT or TW_E_MEMORY.
 */
int tw_chain_create(struct tw_job *const *jobs, unsigned n_jobs, struct tw_job **chain, struct tw_error *err);

/*
 * Queues the job (or chain). At most four commands of a context are outstanding; the next submission waits. The driver
 * stops what needs longer than 2 s. Fails with TW_E_STATE when the job runs already, TW_E_LOST, TW_E_LIMIT or
 * TW_E_MEMORY.
 */
int tw_job_submit(struct tw_job *job, struct tw_error *err);

/*
 * Waits for a submitted job, for at most `ms` milliseconds; negative: until it ends. Returns 0 when it has completed.
 * Fails with TW_E_RUNNING when the time is up (wait again), TW_E_TIMEOUT when it hung and was stopped, TW_E_ABORTED
 * when it was dropped with another that hung, TW_E_DEVICE, TW_E_UNLISTED, TW_E_REFUSED, TW_E_LOST, or TW_E_STATE when
 * it is not submitted. But for TW_E_RUNNING, the job can be submitted again.
 */
int tw_job_wait(struct tw_job *job, int ms, struct tw_error *err);

/* Both. */
int tw_job_run(struct tw_job *job, struct tw_error *err);

/* What the emulated NPU did for a job or a chain. All figures are modelled: none was measured on a chip. */
struct tw_modelled {
    uint64_t cycles;        /* of the array's clock, from having the command to the end of its last operation */
    uint64_t launch_cycles; /* of these, before the first operation of control code and after the last wait */
    uint64_t wait_cycles;   /* of these, waiting for the array; what is left is control code */
    uint64_t read_bytes, write_bytes; /* of the host's memory */
    const char *bound; /* what took the most time: "launch", "control code", "DDR", "stream", "core" or "locks" */
};

/*
 * The figures of the last run of a job, which tw_job_wait has told to be complete; of a chain the sums, with the bound
 * of the job that took the most cycles. Fails with TW_E_UNSUPPORTED on silicon, TW_E_STATE when the job was not
 * submitted itself, has not completed yet or failed, or TW_E_LIMIT when the wait came after so many later commands
 * (256) of its context that its figures are gone.
 */
int tw_job_modelled(const struct tw_job *job, struct tw_modelled *modelled, struct tw_error *err);

/* After a chain failed: which of its jobs did, from 0 on; -1: not known. */
int tw_job_failed_part(const struct tw_job *job);

/* Waits for a running job first. */
void tw_job_destroy(struct tw_job *job);

#ifdef __cplusplus
}
#endif

#endif
