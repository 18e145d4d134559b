/* What the driver's queries give: GET_INFO, GET_ARRAY, SET_STATE. The driver fills as much as the room it is given. */
#ifndef TW_UAPI_QUERY_H
#define TW_UAPI_QUERY_H

#include <stdint.h>

enum tw_xdna_query {
    TW_XDNA_QUERY_AIE_STATUS = 0,
    TW_XDNA_QUERY_AIE_METADATA = 1,
    TW_XDNA_QUERY_AIE_VERSION = 2,
    TW_XDNA_QUERY_CLOCKS = 3,
    TW_XDNA_QUERY_SENSORS = 4,
    TW_XDNA_QUERY_CONTEXTS = 5, /* later kernels prefer TW_XDNA_ARRAY_CONTEXTS */
    TW_XDNA_QUERY_FIRMWARE = 8,
    TW_XDNA_QUERY_POWER_MODE = 9,
    TW_XDNA_QUERY_TELEMETRY = 10,
    TW_XDNA_QUERY_FORCE_PREEMPT = 11, /* not for NPU1 */
    TW_XDNA_QUERY_RESOURCES = 12,
    TW_XDNA_QUERY_FRAME_PREEMPT = 13 /* not for NPU1 */
};

enum tw_xdna_array_query { TW_XDNA_ARRAY_CONTEXTS = 0, TW_XDNA_ARRAY_LAST_ERROR = 2, TW_XDNA_ARRAY_MEMORY = 6 };

enum tw_xdna_state { TW_XDNA_STATE_POWER_MODE = 0 };

enum tw_xdna_power_mode {
    TW_XDNA_POWER_DEFAULT,
    TW_XDNA_POWER_LOW,
    TW_XDNA_POWER_MEDIUM,
    TW_XDNA_POWER_HIGH,
    TW_XDNA_POWER_TURBO
};

/* AIE_STATUS: the firmware's dump of the active columns. */
struct tw_xdna_aie_status {
    uint64_t buffer;  /* in: address of the room */
    uint32_t bytes;   /* in: its size */
    uint32_t columns; /* out: a bit for each column that was dumped */
};

struct tw_xdna_version {
    uint32_t major, minor;
};

struct tw_xdna_tile_metadata {
    uint16_t row_count, row_start, dma_channels, locks, event_registers;
    uint16_t pad[3];
};

struct tw_xdna_aie_metadata {
    uint32_t column_bytes; /* of a column in AIE_STATUS */
    uint16_t columns, rows;
    struct tw_xdna_version version;
    struct tw_xdna_tile_metadata core, memory, shim;
};

struct tw_xdna_clock {
    char name[16];
    uint32_t mhz;
    uint32_t pad;
};

struct tw_xdna_clocks {
    struct tw_xdna_clock npu, array; /* "MP-NPU Clock", "H Clock" */
};

struct tw_xdna_sensor {
    char label[64];
    uint32_t input, max, average, highest;
    char status[64];
    char units[16];
    int8_t unit_power; /* values are multiples of 10 to the power of this */
    uint8_t kind;
    uint8_t pad[6];
};

struct tw_xdna_context_info {
    uint32_t context, start_column, columns, pad;
    int64_t pid;
    uint64_t submissions, completions, migrations, preemptions, errors;
};

struct tw_xdna_firmware {
    uint32_t major, minor, patch, build;
};

struct tw_xdna_power {
    uint8_t mode; /* enum tw_xdna_power_mode */
    uint8_t pad[7];
};

struct tw_xdna_resources {
    uint64_t clock_max_mhz, tops_max, contexts_max, tops_now, contexts_now;
};

/* An element of TW_XDNA_ARRAY_CONTEXTS. */
struct tw_xdna_context_entry {
    uint32_t context, start_column, columns, handle;
    int64_t pid;
    uint64_t submissions, completions, migrations, preemptions, errors, priority, heap_bytes, suspensions;
    uint32_t state; /* 0 idle, 1 active */
    uint32_t pasid, gops, frames_per_second, dma_bandwidth, latency, frame_time, control_op, pc;
    uint32_t error_kind, exception_kind, exception_pc, error_module, pad;
};

/* TW_XDNA_ARRAY_LAST_ERROR: one element. */
struct tw_xdna_async_error {
    uint64_t code; /* 15:0 what, 31:24 severity, 39:32 module */
    uint64_t time_us;
    uint64_t place; /* 7:0 column, 15:8 row */
};

/* TW_XDNA_ARRAY_MEMORY: one element, of the process that it names. */
struct tw_xdna_memory_use {
    int64_t pid; /* in */
    uint64_t total, internal, heap;
};

_Static_assert(sizeof(struct tw_xdna_aie_status) == 16, "AIE_STATUS");
_Static_assert(sizeof(struct tw_xdna_aie_metadata) == 64, "AIE_METADATA");
_Static_assert(sizeof(struct tw_xdna_clocks) == 48, "CLOCK_METADATA");
_Static_assert(sizeof(struct tw_xdna_sensor) == 168, "SENSORS");
_Static_assert(sizeof(struct tw_xdna_context_info) == 64, "HW_CONTEXTS");
_Static_assert(sizeof(struct tw_xdna_firmware) == 16, "FIRMWARE_VERSION");
_Static_assert(sizeof(struct tw_xdna_power) == 8, "POWER_MODE");
_Static_assert(sizeof(struct tw_xdna_resources) == 40, "RESOURCE_INFO");
_Static_assert(sizeof(struct tw_xdna_context_entry) == 144, "HW_CONTEXT_ALL");
_Static_assert(sizeof(struct tw_xdna_async_error) == 24, "HW_LAST_ASYNC_ERR");
_Static_assert(sizeof(struct tw_xdna_memory_use) == 32, "BO_USAGE");

#endif
