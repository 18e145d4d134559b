/*
 * What the parts of the emulated driver share. One lock guards all of it; functions are called with the lock held
 * unless they say otherwise, and return negative errno values as ioctls do. It is let go only while the firmware runs
 * and while a call waits.
 */
#ifndef TW_EMU_DRIVER_STATE_H
#define TW_EMU_DRIVER_STATE_H

#include "emu/driver/driver.h"
#include "emu/driver/ranges.h"
#include "uapi/amdxdna.h"
#include "uapi/packet.h"
#include "uapi/query.h"

#include <pthread.h>
#include <semaphore.h>

enum tw_drv_limit {
    DRV_PAGE = 4096,
    DRV_LINE = 64,
    DRV_WINDOWS = TW_XDNA_OUTSTANDING, /* of a context: where the kernel puts commands for the firmware */
    DRV_CONTEXT_HANDLES = 255,
    DRV_FIRST_COLUMN = 1,
    DRV_COLUMNS_MODELLED =
        4, /* of a context: column 0 cannot reach the host, and the firmware of the emulator needs that */
    DRV_FD_BASE = 1 << 28 /* far above what the system gives */
};

/* mmap offsets begin where DRM's do, at page 0x100000. */
#define DRV_MAP_OFFSET ((uint64_t)0x100000 << 12)
#define DRV_MEMORY_SPACE ((uint64_t)1 << 44)
#define DRV_BUFFER_MAX ((uint64_t)1 << 36) /* more memory than machines with this device have */
#define DRV_NEVER UINT64_MAX

struct tw_drv_file;
struct tw_drv_context;

/* A GEM object. */
struct tw_drv_buffer {
    struct tw_drv_file *file;
    unsigned references;
    enum tw_xdna_buffer_kind kind; /* TW_XDNA_COMMAND is TW_XDNA_SHARE and internal */
    int internal;
    uint64_t bytes;
    uint64_t place; /* inside the file's shared memory; DEVICE: inside the heap */
    /* Of HEAP and SHARE: what the processor sees, what the device sees, and what both saw when they last agreed. */
    unsigned char *host; /* NULL: user memory */
    unsigned char *device;
    unsigned char *clean; /* NULL: host and device are the same memory */
    unsigned char
        *settled; /* a bit for each line that was flushed once; before that it is dirty with the kernel's zeros */
    uint64_t host_address; /* where the process sees it, TW_XDNA_NOWHERE when nowhere */
    int is_user_memory;
    struct tw_drv_mapping *mappings; /* its own, newest first */
    uint32_t debug_context;          /* 0: none */
};

struct tw_drv_mapping {
    uint64_t address, bytes;
    struct tw_drv_buffer *buffer; /* with a reference */
    struct tw_drv_mapping *next_of_buffer;
    struct tw_drv_mapping *next; /* of the device */
};

/* A timeline syncobj: point n is reached when `done` is above n. */
struct tw_drv_timeline {
    uint64_t submitted, done;
    uint64_t time; /* modelled, of the last one done */
    unsigned references;
};

struct tw_drv_job {
    struct tw_drv_context *context;
    struct tw_drv_buffer *command;
    struct tw_drv_buffer **arguments;
    size_t n_arguments;
    uint64_t sequence;
    uint64_t order;     /* in the whole device */
    uint64_t submitted; /* modelled time */
    int aborted;        /* from outside while it runs or hangs */
    struct tw_drv_job *next;
};

/* Memory that the device reaches while a command runs. */
struct tw_drv_view {
    uint64_t address, bytes; /* as the process sees it */
    unsigned char *device;
};

struct tw_drv_cu {
    uint32_t handle;
    uint64_t place;       /* of the PDI in the heap */
    int program;          /* of the firmware; -1: not loaded yet */
    unsigned char *bytes; /* the PDI as the firmware read it */
};

/* A command that completed. */
struct tw_drv_done {
    uint64_t number; /* its sequence + 1; 0: none */
    struct tw_emu_figures figures;
};

struct tw_drv_context {
    struct tw_drv_file *file;
    uint32_t handle, id; /* the driver's number, the firmware's */
    unsigned columns;
    struct tw_drv_partition *partition;
    struct tw_xdna_qos qos;
    struct tw_drv_timeline *timeline;
    struct tw_drv_buffer *windows[DRV_WINDOWS];
    unsigned n_cus;
    struct tw_drv_cu cus[TW_XDNA_CUS];
    void *firmware;   /* NULL: none yet, or lost */
    int channel_lost; /* the firmware did not take it back */
    int dying;
    uint64_t deadline; /* of a dying context: no command begins later */
    struct tw_drv_job *jobs, **jobs_end;
    unsigned outstanding; /* jobs, the running one included */
    unsigned submitters;
    uint64_t completions, errors, suspensions;
    struct tw_drv_view *views; /* of the running command */
    size_t n_views;
    int reached_beyond;                           /* the running command reached for memory that is in none of them */
    int has_unlisted;                             /* a command did, and failed */
    uint64_t last_unlisted;                       /* its number, the last one's */
    struct tw_drv_done done[TW_EMU_FIGURES_KEPT]; /* the last commands that completed, by number */
    struct tw_drv_context *next;                  /* of the device */
};

/* Columns that belong together, with a thread of their own; contexts of equal columns share it in time. */
struct tw_drv_partition {
    struct tw_emu_driver *driver;
    unsigned start, columns, contexts;
    uint64_t born;
    struct tw_drv_context *owner; /* whose program is in the tiles */
    uint64_t time;                /* modelled */
    struct tw_drv_job *running;
    uint64_t hung; /* when the driver will look at the hung command; DRV_NEVER: none hangs */
    pthread_t thread;
    pthread_cond_t work; /* for the thread: there may be something to do */
    int started;
};

struct tw_drv_file {
    struct tw_emu_driver *driver;
    int fd;
    int64_t pid;
    unsigned references; /* the descriptor, calls inside, buffers */
    unsigned users;
    int closing;
    int memory_fd;
    uint64_t memory_bytes;
    struct tw_ranges memory, heap_space;
    struct tw_drv_buffer *heap;
    struct tw_drv_buffer **buffers; /* by handle - 1 */
    size_t n_buffers;
    struct tw_drv_timeline **timelines; /* by handle - 1 */
    size_t n_timelines;
    uint32_t last_context;
    uint64_t now; /* modelled time that the process has seen */
    uint64_t total_bytes, internal_bytes, heap_bytes;
    struct tw_drv_file *next;
};

struct tw_drv_waiter {
    sem_t woken;
    struct tw_drv_waiter *next;
};

struct tw_emu_driver {
    struct tw_emu_driver_options options;
    struct tw_emu_firmware firmware;
    void *port;                   /* of firmware_port.c */
    struct tw_faults *own_faults; /* of the variable; the options' faults are these or the caller's */
    struct tw_calls calls;
    pthread_mutex_t lock;
    pthread_cond_t changed; /* for all that wait for others inside the driver */
    struct tw_drv_waiter *waiters;
    struct tw_drv_file *files;
    int last_fd;
    struct tw_drv_mapping *mappings;
    struct tw_drv_context *contexts; /* oldest first */
    unsigned n_contexts;
    struct tw_drv_partition partitions[TW_XDNA_COLUMNS]; /* by first column */
    uint64_t orders, births;
    uint64_t last_signal; /* modelled time of the last submission to or completion by the device */
    unsigned paused;      /* partitions begin nothing new */
    unsigned hangs;       /* so many of the next commands never end */
    int refuses;          /* firmware takes no contexts any more */
    int removed, stopping;
    enum tw_xdna_power_mode power_mode;
    /* user_memory.c */
    pthread_mutex_t copy_lock;
    int copy_fd;
    unsigned char *copy;
};

/* What each kernel has. */
struct tw_drv_personality {
    int32_t major, minor;
    int get_array, last_error, debug_buffers, resources, memory_use, wait;
};
const struct tw_drv_personality *tw_drv_personality(const struct tw_emu_driver *driver);

/* driver.c */
void tw_drv_log(struct tw_emu_driver *driver, const char *fmt, ...) TW_PRINTF(2, 3);

/* timeline.c: waiting of calls. */
void tw_drv_wake(struct tw_emu_driver *driver); /* all but idle partitions */
/* Waits until somebody wakes, a signal comes (-EINTR) or CLOCK_MONOTONIC has come to a time (-ETIME). */
int tw_drv_wait(struct tw_emu_driver *driver, int64_t deadline);
/* Waits for others inside the driver, whatever signals come. */
void tw_drv_wait_always(struct tw_emu_driver *driver);
void tw_drv_timeline_put(struct tw_drv_timeline *timeline);
int tw_drv_timeline_wait(struct tw_drv_file *file, void *argument);
int tw_drv_wait_command(struct tw_drv_file *file, void *argument);

/* user_memory.c: copies that survive any address. Without the lock or with it. Return 0 or -EFAULT. */
int tw_drv_user_create(struct tw_emu_driver *driver, struct tw_error *err);
void tw_drv_user_free(struct tw_emu_driver *driver);
int tw_drv_from_user(struct tw_emu_driver *driver, void *to, uint64_t from, size_t bytes);
int tw_drv_to_user(struct tw_emu_driver *driver, uint64_t to, const void *from, size_t bytes);

/* memory.c: what processor and device see. */
int tw_drv_memory_create(struct tw_drv_buffer *buffer);
void tw_drv_memory_free(struct tw_drv_buffer *buffer);
/* Cache lines: dirty ones go to memory, and all are read anew. Offsets inside the buffer. */
int tw_drv_memory_flush(struct tw_drv_buffer *buffer, uint64_t offset, uint64_t bytes);
/* The kernel writes, and flushes what it wrote. */
void tw_drv_memory_store(struct tw_drv_buffer *buffer, uint64_t offset, const void *from, size_t bytes);
/* Around a command that lists it. */
void tw_drv_memory_before(struct tw_drv_buffer *buffer);
void tw_drv_memory_after(struct tw_drv_buffer *buffer);

/* buffer.c */
void tw_drv_buffer_put(struct tw_drv_buffer *buffer);
/* Of a handle, without a reference; NULL: there is none. */
struct tw_drv_buffer *tw_drv_buffer_find(const struct tw_drv_file *file, uint32_t handle);
/* A piece of the heap, with one reference. */
int tw_drv_buffer_in_heap(struct tw_drv_file *file, uint64_t bytes, struct tw_drv_buffer **buffer);
uint64_t tw_drv_device_address(const struct tw_drv_buffer *buffer);
int tw_drv_create_buffer(struct tw_drv_file *file, void *argument);
int tw_drv_buffer_info(struct tw_drv_file *file, void *argument);
int tw_drv_sync_buffer(struct tw_drv_file *file, void *argument);
int tw_drv_gem_close(struct tw_drv_file *file, void *argument);

/* mapping.c: entries of struct tw_calls. */
int tw_drv_mmap(void *context, void *address, size_t size, int protection, int flags, int fd, uint64_t offset,
                void **mapped);
int tw_drv_munmap(void *context, void *address, size_t size);
int tw_drv_flush(void *context, const void *address, size_t size);

/* file.c */
int tw_drv_open(void *context, const char *path, int flags);
int tw_drv_close(void *context, int fd);
/* The open file of a descriptor, to be given back; NULL: -EBADF. */
struct tw_drv_file *tw_drv_file_get(struct tw_emu_driver *driver, int fd);
void tw_drv_file_put(struct tw_drv_file *file);
void tw_drv_file_release(struct tw_drv_file *file); /* a reference */
void tw_drv_file_close(struct tw_drv_file *file);

/* context.c */
struct tw_drv_context *tw_drv_context_find(const struct tw_drv_file *file, uint32_t handle);
int tw_drv_create_context(struct tw_drv_file *file, void *argument);
int tw_drv_destroy_context(struct tw_drv_file *file, void *argument);
int tw_drv_config_context(struct tw_drv_file *file, void *argument);
void tw_drv_context_destroy(struct tw_drv_context *context);
/* The firmware forgets it, and takes it back. */
void tw_drv_context_stop(struct tw_drv_context *context);
void tw_drv_context_restart(struct tw_drv_context *context);
/* A point of the context's timeline that is done at once: the kernel's own commands. */
void tw_drv_context_count(struct tw_drv_context *context);

/* partition.c */
int tw_drv_partition_take(struct tw_drv_context *context); /* -ENODEV: no columns; -ENOMEM */
void tw_drv_partition_give(struct tw_drv_context *context);
/* Lets running commands end and holds back all others; for the same thread more than once. */
void tw_drv_pause(struct tw_emu_driver *driver);
void tw_drv_resume(struct tw_emu_driver *driver);
void tw_drv_partition_wake(struct tw_drv_partition *partition); /* it has something to do */
int tw_drv_partition_idle(const struct tw_drv_partition *partition);
void tw_drv_partitions_stop(struct tw_emu_driver *driver); /* without the lock */

/* execute.c */
int tw_drv_execute(struct tw_drv_file *file, void *argument);
void tw_drv_job_free(struct tw_drv_job *job);
/* The first job of its context is over: takes it out of the queue and frees it. */
void tw_drv_job_done(struct tw_drv_job *job, uint64_t time);

/* packet.c: from command buffers to what the firmware reads. */
struct tw_drv_window {
    unsigned char bytes[TW_CHAIN_WINDOW_BYTES];
    size_t used;
    unsigned commands;
    uint32_t opcode; /* of all of them */
};
int tw_drv_hand_over(struct tw_drv_job *job, struct tw_drv_window *window);
void tw_drv_packet_set_state(struct tw_drv_buffer *command, enum tw_packet_state state);
/* State, error index and the 0xFF that follows a failure. */
void tw_drv_packet_fail(struct tw_drv_job *job, unsigned index, enum tw_packet_state state);

/* slot.c: as the firmware takes a window apart. */
struct tw_drv_slot {
    uint32_t cu;
    int host_patched;
    uint64_t code;       /* device address */
    uint64_t code_bytes; /* as the command says; a transaction knows better itself */
    uint32_t opcode;
    size_t n_buffers;
    uint64_t buffers[TW_CHAIN_WINDOW_BYTES / 8];
};
/* The slot at *at, and moves behind it. Returns the firmware's status: 0, or an invalid input. */
uint32_t tw_drv_slot_next(const struct tw_drv_window *window, int old_firmware, size_t *at, struct tw_drv_slot *slot);

enum tw_drv_status { /* the firmware's answers, by the numbers in the driver */
                     DRV_STATUS_BAD_INSTRUCTION = 0x3000002,
                     DRV_STATUS_LOAD_FAILED = 0x3000003,
                     DRV_STATUS_BAD_BUFFER = 0x4000001,
                     DRV_STATUS_BAD_PARAMETER = 0x4000003
};

/* run.c: does the first job of its context, in the partition's thread. */
void tw_drv_run(struct tw_drv_partition *partition, struct tw_drv_job *job);

/* view.c: what the device reaches of the process while a job runs. */
int tw_drv_views_make(struct tw_drv_job *job);
void tw_drv_views_drop(struct tw_drv_context *context);
struct tw_host_memory tw_drv_views_memory(struct tw_drv_context *context);

/* hang.c: waits until the driver takes the running job for hung (1), or finds that it ends at `end` after all (0). */
int tw_drv_hang(struct tw_drv_partition *partition, const struct tw_drv_job *job, uint64_t end);

/* query.c, query_array.c */
int tw_drv_get_info(struct tw_drv_file *file, void *argument);
int tw_drv_get_array(struct tw_drv_file *file, void *argument);
int tw_drv_set_state(struct tw_drv_file *file, void *argument);
int tw_drv_version(struct tw_drv_file *file, void *argument);
/* Copies as much as there is room for. */
int tw_drv_answer(struct tw_emu_driver *driver, uint64_t buffer, uint32_t room, const void *from, size_t bytes);

/* ioctl.c */
int tw_drv_ioctl(void *context, int fd, uint32_t request, void *argument);

#endif
