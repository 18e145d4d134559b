/*
 * The NPU's firmware: configures the array from PDIs and executes the control code of commands, operation by operation,
 * each at its modelled time. What public sources say of its behaviour is followed exactly; what they leave open is a
 * switch in unknown.h.
 */
#ifndef TW_EMU_FIRMWARE_H
#define TW_EMU_FIRMWARE_H

#include "base/view.h"
#include "emu/array.h"

struct tw_firmware;

enum tw_firmware_limit {
    TW_FIRMWARE_COLUMNS = 4,    /* of a partition: columns 1 to 4 of the device; column 0 cannot reach the host */
    TW_FIRMWARE_PROGRAMS = 32,  /* of a context, by the driver's message that names them */
    TW_FIRMWARE_ARGUMENTS = 512 /* buffers of a command: what fits its slot of 4 KiB */
};

/* The array sees the host's memory 2 GiB above its own addresses. */
#define TW_HOST_OFFSET 0x80000000u
/* To the first five buffers the firmware adds that itself; to all others control code has to. */
enum { TW_OFFSET_ARGUMENTS = 5 };

/* What the firmware answers, by the numbers in the driver amdxdna. */
enum tw_firmware_status {
    TW_FIRMWARE_OK = 0,
    TW_FIRMWARE_INVALID_INSTRUCTION = 0x3000002, /* an operation that it does not know */
    TW_FIRMWARE_LOAD_FAILED = 0x3000003,
    TW_FIRMWARE_NO_ANSWER = 0x7fffffff /* ours: it waits for something that does not come */
};

struct tw_firmware_options {
    unsigned columns; /* 1 .. TW_FIRMWARE_COLUMNS */
    struct tw_host_memory host;
    const struct tw_vector_kernels *kernels; /* NULL: the fastest */
    const struct tw_unknown *unknown;        /* NULL: the defaults */
    int strict;                              /* of all cores */
    unsigned threads;                        /* that simulate cores (emu/array.h); 0: one for each processor */
    struct tw_trace_hook trace;              /* of commands and of the array; event NULL: nobody watches */
    /*
     * Faults on purpose (emu/fault.h), which outlive the firmware; NULL: those of the variable TILEWRIGHT_EMU_FAULT, if
     * it is set. is_admitted: a driver has let the context in, and no fault refuses it any more.
     */
    struct tw_faults *faults;
    int is_admitted;
};

/*
 * One context on an array of its own. Fails with TW_E_ARGUMENT, also for a variable that cannot be read, TW_E_MEMORY,
 * or TW_E_BUSY when a fault refuses it.
 */
int tw_firmware_create(const struct tw_firmware_options *options, struct tw_firmware **firmware, struct tw_error *err);
void tw_firmware_free(struct tw_firmware *firmware);

/*
 * Makes a PDI known, which must stay in memory, and returns its number. Nothing of it is done until a command names it.
 * Fails with TW_E_FORMAT, TW_E_UNSUPPORTED (another device), TW_E_LIMIT (too many), or TW_E_ARGUMENT when it configures
 * columns that the partition does not have.
 */
int tw_firmware_add_program(struct tw_firmware *firmware, const struct tw_view *pdi, struct tw_error *err);

/* A kernel's first argument: what its control code is. */
enum tw_kernel_opcode {
    TW_KERNEL_SEQUENCE = 1,   /* npu1/dpu_sequence.h */
    TW_KERNEL_TRANSACTION = 3 /* npu1/control_code.h */
};

/* Cycles after which a command counts as hung: the driver's time-out of 2 s at 1 GHz. */
#define TW_COMMAND_LIMIT 2000000000u

struct tw_command {
    unsigned program; /* from tw_firmware_add_program */
    enum tw_kernel_opcode opcode;
    int host_patched;            /* the driver's START_NPU: descriptors already hold the array's addresses */
    struct tw_view control_code; /* size 0: none, the command ends at once */
    const uint64_t *arguments;   /* addresses of the buffer arguments, as the driver gives them */
    size_t n_arguments;
    uint64_t limit; /* cycles; 0: TW_COMMAND_LIMIT */
};

enum tw_command_count {
    TW_COUNT_WRITE,
    TW_COUNT_BLOCK_WRITE,
    TW_COUNT_MASK_WRITE,
    TW_COUNT_POLL,
    TW_COUNT_NOOP,
    TW_COUNT_WAIT,
    TW_COUNT_PATCH,
    TW_COMMAND_COUNTS
};

extern const char *const tw_command_count_names[TW_COMMAND_COUNTS];

/* What the array did while a command ran. */
struct tw_usage {
    uint64_t read_bytes, write_bytes; /* of the host's memory, by all shims */
    uint64_t core_cycles;             /* of the core that was busy most: its bundles and stalls for banks */
    uint64_t channel_words;           /* of the DMA channel that moved most */
};

/*
 * What bounds a command's time. Its cycles are those of the launch, of control code, and of waiting for the array: the
 * largest part says. When that is waiting, the bound is what was busy most: the DDR (cycles that its bytes take at the
 * rates of emu/cycles.h), a stream (a word a cycle of the busiest DMA channel) or the busiest core. When none of them
 * was busy for half of the waiting time, all wait for each other: locks.
 */
enum tw_bound {
    TW_BOUND_LAUNCH,
    TW_BOUND_CONTROL,
    TW_BOUND_DDR,
    TW_BOUND_STREAM,
    TW_BOUND_CORE,
    TW_BOUND_LOCKS,
    TW_BOUNDS
};

extern const char *const tw_bound_names[TW_BOUNDS];

/* What a command did, as far as it came. */
struct tw_command_report {
    enum tw_firmware_status status;
    int loaded;             /* its PDI had to be loaded first */
    uint64_t cycles;        /* from having the command to the end of its last operation */
    uint64_t launch_cycles; /* of these, before the first operation and behind the first wait */
    uint64_t wait_cycles;   /* of these, waiting for tokens and registers; what is left is control code */
    uint64_t tokens;        /* that were waited for */
    uint64_t operations;    /* done */
    uint64_t counts[TW_COMMAND_COUNTS];
    struct tw_usage usage;
    enum tw_bound bound;
};

/*
 * Executes a command; another PDI than that of the command before is loaded first. Fails with
 * TW_E_UNSUPPORTED for an operation or a use of one that is not known, TW_E_FORMAT for damaged control code,
 * TW_E_ARGUMENT for a wrong address or argument number,
 * TW_E_STATE when what it waits for cannot come any more, TW_E_LIMIT when the time is up (both say what waits for
 * what), or with what a core or a DMA says; *report (never NULL) holds the status in any case. After a failure the
 * array stays as it is, for looking at; further commands go on from there.
 */
int tw_firmware_run(struct tw_firmware *firmware, const struct tw_command *command, struct tw_command_report *report,
                    struct tw_error *err);

/*
 * Commands one after another, up to the first that fails. reports has room for n. Returns 0, or the failed one's
 * error; *failed (may be NULL) is then its number.
 */
int tw_firmware_run_chain(struct tw_firmware *firmware, const struct tw_command *commands, size_t n,
                          struct tw_command_report *reports, size_t *failed, struct tw_error *err);

/* The array, for looking at. */
struct tw_array *tw_firmware_array(struct tw_firmware *firmware);
/* The faults that it works with, or NULL. */
const struct tw_faults *tw_firmware_faults(const struct tw_firmware *firmware);

#endif
