/*
 * The ioctls of the kernel's driver amdxdna: numbers and layouts of its user interface (amdxdna_accel.h), in our own
 * words. Fields named pad, extension and flags must be zero. What a command buffer holds is in uapi/packet.h, what
 * queries give in uapi/query.h.
 */
#ifndef TW_UAPI_AMDXDNA_H
#define TW_UAPI_AMDXDNA_H

#include "uapi/drm.h"

#define TW_XDNA_DRIVER_NAME "amdxdna_accel_driver" /* as DRM's VERSION tells */

enum tw_xdna_pci {
    TW_XDNA_PCI_VENDOR = 0x1022, /* AMD */
    TW_XDNA_PCI_NPU1 = 0x1502,   /* Phoenix, Hawk Point */
    TW_XDNA_PCI_LATER = 0x17f0   /* Strix and later: the second generation, revisions tell them apart */
};

enum tw_xdna_number {
    TW_XDNA_NUMBER_CREATE_CONTEXT = TW_DRM_NUMBER_DRIVER,
    TW_XDNA_NUMBER_DESTROY_CONTEXT,
    TW_XDNA_NUMBER_CONFIG_CONTEXT,
    TW_XDNA_NUMBER_CREATE_BUFFER,
    TW_XDNA_NUMBER_BUFFER_INFO,
    TW_XDNA_NUMBER_SYNC_BUFFER,
    TW_XDNA_NUMBER_EXECUTE,
    TW_XDNA_NUMBER_GET_INFO,
    TW_XDNA_NUMBER_SET_STATE,
    TW_XDNA_NUMBER_WAIT,
    TW_XDNA_NUMBER_GET_ARRAY
};

/* What the driver and the firmware of NPU1 fix. */
enum tw_xdna_limit {
    TW_XDNA_HEAP_BYTES = 0x4000000,   /* the heap: exactly this, one for each open file */
    TW_XDNA_HEAP_ADDRESS = 0x4000000, /* where the device sees its first byte */
    TW_XDNA_DEVICE_ALIGN = 0x8000,    /* buffers inside the heap begin at multiples of this */
    TW_XDNA_CONTEXTS = 6,             /* of all processes together */
    TW_XDNA_OUTSTANDING = 4,          /* commands of a context; the next submission waits */
    TW_XDNA_CUS = 32,                 /* of a context */
    TW_XDNA_ARGUMENTS_MAX = 4095,     /* buffers listed with a command */
    TW_XDNA_COLUMNS = 5,              /* reported; column 0 has no DMA to the host, contexts begin at column 1 */
    TW_XDNA_CORE_ROWS = 4,
    TW_XDNA_HANG_MS = 2000 /* the driver stops a command after this long, unless its module parameter says otherwise */
};

/* CREATE_CONTEXT */
struct tw_xdna_qos {
    uint32_t gops, frames_per_second, dma_bandwidth, latency, frame_time, priority; /* all zero: the highest clock */
};

struct tw_xdna_create_context {
    uint64_t extension;
    uint64_t extension_flags;
    uint64_t qos; /* address of a struct tw_xdna_qos; needed */
    uint32_t user_queue;
    uint32_t log_buffer;
    uint32_t operations_per_cycle; /* not used by mainline */
    uint32_t tiles;                /* columns * TW_XDNA_CORE_ROWS */
    uint32_t memory_bytes;
    uint32_t doorbell; /* out */
    uint32_t handle;   /* out: 1..255 */
    uint32_t syncobj;  /* out: a timeline; command number n of the context reaches point n */
};

/* DESTROY_CONTEXT: waits for the last command, up to 2 s. */
struct tw_xdna_destroy_context {
    uint32_t handle;
    uint32_t pad;
};

/* CONFIG_CONTEXT */
enum tw_xdna_config {
    TW_XDNA_CONFIG_CUS = 0, /* value: address of a struct tw_xdna_cus, bytes: its size; once for a context */
    TW_XDNA_CONFIG_DEBUG_ON = 1,
    TW_XDNA_CONFIG_DEBUG_OFF = 2
};

struct tw_xdna_config_context {
    uint32_t handle;
    uint32_t kind; /* enum tw_xdna_config */
    uint64_t value;
    uint32_t bytes;
    uint32_t pad;
};

/* A compute unit: a PDI, in a buffer of its own in the heap, from its first byte on. */
struct tw_xdna_cu {
    uint32_t buffer;
    uint8_t function; /* "functional" of the kernel in the xclbin; 0 */
    uint8_t pad[3];
};

/* n of them count: the size of the whole is 8 + 8 * n. */
struct tw_xdna_cus {
    uint16_t count;
    uint16_t pad[3];
    struct tw_xdna_cu cu[TW_XDNA_CUS];
};

/* CREATE_BUFFER */
enum tw_xdna_buffer_kind {
    TW_XDNA_SHARE = 1,  /* host memory that a command works on */
    TW_XDNA_HEAP = 2,   /* the device's window onto host memory */
    TW_XDNA_DEVICE = 3, /* a piece of the heap: PDIs, control code */
    TW_XDNA_COMMAND = 4 /* a command packet, read by the driver alone */
};

struct tw_xdna_create_buffer {
    uint64_t flags;
    uint64_t memory; /* 0: the kernel's own; else address of a struct tw_xdna_user_memory */
    uint64_t bytes;
    uint32_t kind;   /* enum tw_xdna_buffer_kind */
    uint32_t handle; /* out */
};

/* Memory that is there already, as a shared file descriptor or as ranges of whole pages that follow the structure. */
struct tw_xdna_user_memory {
    int32_t dma_buf; /* -1: ranges */
    uint32_t ranges;
};

struct tw_xdna_user_range {
    uint64_t address;
    uint64_t bytes;
};

/* BUFFER_INFO */
struct tw_xdna_buffer_info {
    uint64_t extension;
    uint64_t extension_flags;
    uint32_t handle;
    uint32_t pad;
    uint64_t map_offset;     /* out: for mmap; TW_XDNA_NOWHERE for a buffer inside the heap */
    uint64_t host_address;   /* out: inside the heap: where this process sees it */
    uint64_t device_address; /* out: TW_XDNA_NOWHERE before the first mmap of host memory */
};

#define TW_XDNA_NOWHERE (~(uint64_t)0)

/* SYNC_BUFFER. From the device it flushes too, but then fails with EINVAL for all but debug buffers. */
enum tw_xdna_direction { TW_XDNA_TO_DEVICE = 0, TW_XDNA_FROM_DEVICE = 1 };

struct tw_xdna_sync_buffer {
    uint32_t handle;
    uint32_t direction; /* enum tw_xdna_direction */
    uint64_t offset;
    uint64_t bytes;
};

/* EXECUTE: returns when the command is queued. */
struct tw_xdna_execute {
    uint64_t extension;
    uint64_t extension_flags;
    uint32_t context;
    uint32_t kind;          /* 0 */
    uint64_t command;       /* the handle of the one command buffer, by value */
    uint64_t arguments;     /* address of the handles, uint32_t each, of all buffers that the command touches */
    uint32_t command_count; /* 1 */
    uint32_t argument_count;
    uint64_t sequence; /* out: the number of the command in its context, from 0 on */
};

/* WAIT: not for NPU1 in mainline (EOPNOTSUPP); the driver outside the kernel tree serves it. */
struct tw_xdna_wait {
    uint32_t context;
    uint32_t timeout_ms;
    uint64_t sequence;
};

/* GET_INFO, SET_STATE */
struct tw_xdna_info {
    uint32_t query; /* enum tw_xdna_query, enum tw_xdna_state */
    uint32_t bytes; /* in: room, out: used */
    uint64_t buffer;
};

/* GET_ARRAY */
struct tw_xdna_array {
    uint32_t query;         /* enum tw_xdna_array_query */
    uint32_t element_bytes; /* in: room for each, out: used */
    uint32_t elements;      /* in: room, out: how many */
    uint32_t pad;
    uint64_t buffer;
};

#define TW_XDNA_IOCTL(number, type) TW_DRM_IOCTL(TW_DRM_BOTH, TW_XDNA_NUMBER_##number, type)
#define TW_XDNA_CREATE_CONTEXT TW_XDNA_IOCTL(CREATE_CONTEXT, struct tw_xdna_create_context)
#define TW_XDNA_DESTROY_CONTEXT TW_XDNA_IOCTL(DESTROY_CONTEXT, struct tw_xdna_destroy_context)
#define TW_XDNA_CONFIG_CONTEXT TW_XDNA_IOCTL(CONFIG_CONTEXT, struct tw_xdna_config_context)
#define TW_XDNA_CREATE_BUFFER TW_XDNA_IOCTL(CREATE_BUFFER, struct tw_xdna_create_buffer)
#define TW_XDNA_BUFFER_INFO TW_XDNA_IOCTL(BUFFER_INFO, struct tw_xdna_buffer_info)
#define TW_XDNA_SYNC_BUFFER TW_XDNA_IOCTL(SYNC_BUFFER, struct tw_xdna_sync_buffer)
#define TW_XDNA_EXECUTE TW_XDNA_IOCTL(EXECUTE, struct tw_xdna_execute)
#define TW_XDNA_GET_INFO TW_XDNA_IOCTL(GET_INFO, struct tw_xdna_info)
#define TW_XDNA_SET_STATE TW_XDNA_IOCTL(SET_STATE, struct tw_xdna_info)
#define TW_XDNA_WAIT TW_DRM_IOCTL(TW_DRM_WRITES, TW_XDNA_NUMBER_WAIT, struct tw_xdna_wait)
#define TW_XDNA_GET_ARRAY TW_XDNA_IOCTL(GET_ARRAY, struct tw_xdna_array)

_Static_assert(TW_XDNA_CREATE_CONTEXT == 0xc0386440u, "CREATE_HWCTX");
_Static_assert(TW_XDNA_DESTROY_CONTEXT == 0xc0086441u, "DESTROY_HWCTX");
_Static_assert(TW_XDNA_CONFIG_CONTEXT == 0xc0186442u, "CONFIG_HWCTX");
_Static_assert(TW_XDNA_CREATE_BUFFER == 0xc0206443u, "CREATE_BO");
_Static_assert(TW_XDNA_BUFFER_INFO == 0xc0306444u, "GET_BO_INFO");
_Static_assert(TW_XDNA_SYNC_BUFFER == 0xc0186445u, "SYNC_BO");
_Static_assert(TW_XDNA_EXECUTE == 0xc0386446u, "EXEC_CMD");
_Static_assert(TW_XDNA_GET_INFO == 0xc0106447u, "GET_INFO");
_Static_assert(TW_XDNA_SET_STATE == 0xc0106448u, "SET_STATE");
_Static_assert(TW_XDNA_WAIT == 0x40106449u, "WAIT_CMD");
_Static_assert(TW_XDNA_GET_ARRAY == 0xc018644au, "GET_ARRAY");
_Static_assert(sizeof(struct tw_xdna_qos) == 24, "quality of service");
_Static_assert(sizeof(struct tw_xdna_cu) == 8, "compute unit");
_Static_assert(sizeof(struct tw_xdna_cus) == 8 + 8 * TW_XDNA_CUS, "compute units");
_Static_assert(sizeof(struct tw_xdna_user_memory) == 8 && sizeof(struct tw_xdna_user_range) == 16, "user memory");

#endif
