#include "device/trace_fields.h"

#include "uapi/amdxdna.h"
#include "uapi/packet.h"
#include "uapi/query.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void tw_line_add(struct tw_line *line, const char *fmt, ...)
{
    size_t room = sizeof line->text - line->used;
    va_list args;
    va_start(args, fmt);
    int added = vsnprintf(line->text + line->used, room, fmt, args);
    va_end(args);
    if (added > 0)
        line->used += (size_t)added < room ? (size_t)added : room - 1;
}

struct name {
    uint64_t value;
    const char *name;
};

static const struct name buffer_kinds[] = {
    {TW_XDNA_SHARE, "SHARE"}, {TW_XDNA_HEAP, "DEV_HEAP"}, {TW_XDNA_DEVICE, "DEV"}, {TW_XDNA_COMMAND, "CMD"}, {0, NULL}};
static const struct name configs[] = {{TW_XDNA_CONFIG_CUS, "CONFIG_CU"},
                                      {TW_XDNA_CONFIG_DEBUG_ON, "ASSIGN_DBG_BUF"},
                                      {TW_XDNA_CONFIG_DEBUG_OFF, "REMOVE_DBG_BUF"},
                                      {0, NULL}};
static const struct name directions[] = {
    {TW_XDNA_TO_DEVICE, "TO_DEVICE"}, {TW_XDNA_FROM_DEVICE, "FROM_DEVICE"}, {0, NULL}};
static const struct name queries[] = {{TW_XDNA_QUERY_AIE_STATUS, "AIE_STATUS"},
                                      {TW_XDNA_QUERY_AIE_METADATA, "AIE_METADATA"},
                                      {TW_XDNA_QUERY_AIE_VERSION, "AIE_VERSION"},
                                      {TW_XDNA_QUERY_CLOCKS, "CLOCK_METADATA"},
                                      {TW_XDNA_QUERY_SENSORS, "SENSORS"},
                                      {TW_XDNA_QUERY_CONTEXTS, "HW_CONTEXTS"},
                                      {TW_XDNA_QUERY_FIRMWARE, "FIRMWARE_VERSION"},
                                      {TW_XDNA_QUERY_POWER_MODE, "POWER_MODE"},
                                      {TW_XDNA_QUERY_TELEMETRY, "TELEMETRY"},
                                      {TW_XDNA_QUERY_RESOURCES, "RESOURCE_INFO"},
                                      {0, NULL}};
static const struct name arrays[] = {{TW_XDNA_ARRAY_CONTEXTS, "HW_CONTEXT_ALL"},
                                     {TW_XDNA_ARRAY_LAST_ERROR, "HW_LAST_ASYNC_ERR"},
                                     {TW_XDNA_ARRAY_MEMORY, "BO_USAGE"},
                                     {0, NULL}};
static const struct name opcodes[] = {{TW_PACKET_START_CU, "START_CU"},
                                      {TW_PACKET_START_DPU, "START_DPU"},
                                      {TW_PACKET_CHAIN, "CMD_CHAIN"},
                                      {TW_PACKET_START_NPU, "START_NPU"},
                                      {TW_PACKET_START_NPU_PREEMPT, "START_NPU_PREEMPT"},
                                      {TW_PACKET_START_NPU_ELF, "START_NPU_PREEMPT_ELF"},
                                      {0, NULL}};
static const struct name states[] = {{TW_PACKET_NEW, "NEW"},
                                     {TW_PACKET_QUEUED, "QUEUED"},
                                     {TW_PACKET_RUNNING, "RUNNING"},
                                     {TW_PACKET_COMPLETED, "COMPLETED"},
                                     {TW_PACKET_ERROR, "ERROR"},
                                     {TW_PACKET_ABORT, "ABORT"},
                                     {TW_PACKET_SUBMITTED, "SUBMITTED"},
                                     {TW_PACKET_TIMEOUT, "TIMEOUT"},
                                     {TW_PACKET_NO_RESPONSE, "NORESPONSE"},
                                     {0, NULL}};

static const char *find_name(const struct name *names, uint64_t value)
{
    for (; names != NULL && names->name != NULL; names++)
        if (names->value == value)
            return names->name;
    return NULL;
}

struct field {
    const char *name;
    uint16_t offset;
    uint8_t bytes;
    uint8_t way;
    uint8_t hex;
    const struct name *names; /* of its values */
};

#define FIELD(type, member, name, way, hex, names)                                                                     \
    {                                                                                                                  \
        name, (uint16_t)offsetof(struct type, member), (uint8_t)sizeof(((struct type *)0)->member), way, hex, names    \
    }
#define FIELD_END                                                                                                      \
    {                                                                                                                  \
        NULL, 0, 0, 0, 0, NULL                                                                                         \
    }
#define IN TW_TRACE_IN
#define OUT TW_TRACE_OUT
#define BOTH (TW_TRACE_IN | TW_TRACE_OUT)

static const struct field version_fields[] = {FIELD(tw_drm_version, major, "version_major", OUT, 0, NULL),
                                              FIELD(tw_drm_version, minor, "version_minor", OUT, 0, NULL), FIELD_END};
static const struct field gem_close_fields[] = {FIELD(tw_drm_gem_close, handle, "handle", IN, 0, NULL), FIELD_END};
static const struct field timeline_fields[] = {FIELD(tw_drm_timeline_wait, deadline, "timeout_nsec", IN, 0, NULL),
                                               FIELD(tw_drm_timeline_wait, count, "count_handles", IN, 0, NULL),
                                               FIELD(tw_drm_timeline_wait, flags, "flags", IN, 1, NULL), FIELD_END};
static const struct field create_context_fields[] = {
    FIELD(tw_xdna_create_context, extension, "ext", IN, 0, NULL),
    FIELD(tw_xdna_create_context, extension_flags, "ext_flags", IN, 0, NULL),
    FIELD(tw_xdna_create_context, user_queue, "umq_bo", IN, 0, NULL),
    FIELD(tw_xdna_create_context, log_buffer, "log_buf_bo", IN, 0, NULL),
    FIELD(tw_xdna_create_context, operations_per_cycle, "max_opc", IN, 0, NULL),
    FIELD(tw_xdna_create_context, tiles, "num_tiles", IN, 0, NULL),
    FIELD(tw_xdna_create_context, memory_bytes, "mem_size", IN, 0, NULL),
    FIELD(tw_xdna_create_context, doorbell, "umq_doorbell", OUT, 1, NULL),
    FIELD(tw_xdna_create_context, handle, "handle", OUT, 0, NULL),
    FIELD(tw_xdna_create_context, syncobj, "syncobj_handle", OUT, 0, NULL),
    FIELD_END};
static const struct field destroy_context_fields[] = {FIELD(tw_xdna_destroy_context, handle, "handle", IN, 0, NULL),
                                                      FIELD_END};
static const struct field config_fields[] = {FIELD(tw_xdna_config_context, handle, "handle", IN, 0, NULL),
                                             FIELD(tw_xdna_config_context, kind, "param_type", IN, 0, configs),
                                             FIELD(tw_xdna_config_context, bytes, "param_val_size", IN, 0, NULL),
                                             FIELD_END};
static const struct field create_buffer_fields[] = {FIELD(tw_xdna_create_buffer, flags, "flags", IN, 0, NULL),
                                                    FIELD(tw_xdna_create_buffer, memory, "vaddr", IN, 1, NULL),
                                                    FIELD(tw_xdna_create_buffer, bytes, "size", IN, 0, NULL),
                                                    FIELD(tw_xdna_create_buffer, kind, "type", IN, 0, buffer_kinds),
                                                    FIELD(tw_xdna_create_buffer, handle, "handle", OUT, 0, NULL),
                                                    FIELD_END};
static const struct field buffer_info_fields[] = {FIELD(tw_xdna_buffer_info, handle, "handle", IN, 0, NULL),
                                                  FIELD(tw_xdna_buffer_info, map_offset, "map_offset", OUT, 1, NULL),
                                                  FIELD(tw_xdna_buffer_info, host_address, "vaddr", OUT, 1, NULL),
                                                  FIELD(tw_xdna_buffer_info, device_address, "xdna_addr", OUT, 1, NULL),
                                                  FIELD_END};
static const struct field sync_fields[] = {FIELD(tw_xdna_sync_buffer, handle, "handle", IN, 0, NULL),
                                           FIELD(tw_xdna_sync_buffer, direction, "direction", IN, 0, directions),
                                           FIELD(tw_xdna_sync_buffer, offset, "offset", IN, 0, NULL),
                                           FIELD(tw_xdna_sync_buffer, bytes, "size", IN, 0, NULL), FIELD_END};
static const struct field execute_fields[] = {FIELD(tw_xdna_execute, extension, "ext", IN, 0, NULL),
                                              FIELD(tw_xdna_execute, extension_flags, "ext_flags", IN, 0, NULL),
                                              FIELD(tw_xdna_execute, context, "hwctx", IN, 0, NULL),
                                              FIELD(tw_xdna_execute, kind, "type", IN, 0, NULL),
                                              FIELD(tw_xdna_execute, command, "cmd_handles", IN, 0, NULL),
                                              FIELD(tw_xdna_execute, command_count, "cmd_count", IN, 0, NULL),
                                              FIELD(tw_xdna_execute, argument_count, "arg_count", IN, 0, NULL),
                                              FIELD(tw_xdna_execute, sequence, "seq", OUT, 0, NULL),
                                              FIELD_END};
static const struct field wait_fields[] = {FIELD(tw_xdna_wait, context, "hwctx", IN, 0, NULL),
                                           FIELD(tw_xdna_wait, timeout_ms, "timeout", IN, 0, NULL),
                                           FIELD(tw_xdna_wait, sequence, "seq", IN, 0, NULL), FIELD_END};
static const struct field info_fields[] = {FIELD(tw_xdna_info, query, "param", IN, 0, queries),
                                           FIELD(tw_xdna_info, bytes, "buffer_size", BOTH, 0, NULL), FIELD_END};
static const struct field state_fields[] = {FIELD(tw_xdna_info, query, "param", IN, 0, NULL),
                                            FIELD(tw_xdna_info, bytes, "buffer_size", IN, 0, NULL), FIELD_END};
static const struct field array_fields[] = {FIELD(tw_xdna_array, query, "param", IN, 0, arrays),
                                            FIELD(tw_xdna_array, element_bytes, "element_size", BOTH, 0, NULL),
                                            FIELD(tw_xdna_array, elements, "num_element", BOTH, 0, NULL), FIELD_END};

static const struct request {
    uint32_t request;
    const char *name;
    const struct field *fields;
} requests[] = {
    {TW_DRM_VERSION, "DRM_VERSION", version_fields},
    {TW_DRM_GEM_CLOSE, "DRM_GEM_CLOSE", gem_close_fields},
    {TW_DRM_TIMELINE_WAIT, "DRM_SYNCOBJ_TIMELINE_WAIT", timeline_fields},
    {TW_XDNA_CREATE_CONTEXT, "CREATE_HWCTX", create_context_fields},
    {TW_XDNA_DESTROY_CONTEXT, "DESTROY_HWCTX", destroy_context_fields},
    {TW_XDNA_CONFIG_CONTEXT, "CONFIG_HWCTX", config_fields},
    {TW_XDNA_CREATE_BUFFER, "CREATE_BO", create_buffer_fields},
    {TW_XDNA_BUFFER_INFO, "GET_BO_INFO", buffer_info_fields},
    {TW_XDNA_SYNC_BUFFER, "SYNC_BO", sync_fields},
    {TW_XDNA_EXECUTE, "EXEC_CMD", execute_fields},
    {TW_XDNA_WAIT, "WAIT_CMD", wait_fields},
    {TW_XDNA_GET_INFO, "GET_INFO", info_fields},
    {TW_XDNA_SET_STATE, "SET_STATE", state_fields},
    {TW_XDNA_GET_ARRAY, "GET_ARRAY", array_fields},
};

static const struct request *find_request(uint32_t request)
{
    for (size_t i = 0; i < sizeof requests / sizeof requests[0]; i++)
        if (requests[i].request == request)
            return &requests[i];
    return NULL;
}

const char *tw_trace_request_name(uint32_t request)
{
    const struct request *r = find_request(request);
    return r != NULL ? r->name : NULL;
}

static uint64_t value_of(const struct field *f, const void *structure)
{
    const unsigned char *at = (const unsigned char *)structure + f->offset;
    uint64_t value = 0; /* numbers are little-endian, as on every machine with this NPU */
    memcpy(&value, at, f->bytes);
    return value;
}

void tw_trace_add_fields(struct tw_line *line, uint32_t request, const void *structure, enum tw_trace_way way)
{
    const struct request *r = find_request(request);
    for (const struct field *f = r != NULL ? r->fields : NULL; f != NULL && f->name != NULL; f++) {
        if (!(f->way & way))
            continue;
        uint64_t value = value_of(f, structure);
        const char *name = find_name(f->names, value);
        tw_line_add(line, f->hex && value != 0 ? " %s=0x%llx" : " %s=%llu", f->name, (unsigned long long)value);
        if (name != NULL)
            tw_line_add(line, "(%s)", name);
    }
}

static const void *pointer(uint64_t address)
{
    return (const void *)(uintptr_t)address;
}

static void add_list(struct tw_line *line, const char *name, const uint32_t *list, uint32_t n)
{
    tw_line_add(line, " %s={", name);
    for (uint32_t i = 0; list != NULL && i < n; i++)
        tw_line_add(line, "%s%u", i == 0 ? "" : ",", (unsigned)list[i]);
    tw_line_add(line, "}");
}

static void add_cus(struct tw_line *line, const struct tw_xdna_config_context *config)
{
    const struct tw_xdna_cus *cus = pointer(config->value);
    tw_line_add(line, " num_cus=%u cu_configs={", (unsigned)cus->count);
    for (unsigned i = 0; i < cus->count && i < TW_XDNA_CUS; i++)
        tw_line_add(line, "%s{cu_bo=%u cu_func=%u}", i == 0 ? "" : ",", (unsigned)cus->cu[i].buffer,
                    (unsigned)cus->cu[i].function);
    tw_line_add(line, "}");
}

static void add_answer(struct tw_line *line, const struct tw_xdna_info *info)
{
    if (info->query == TW_XDNA_QUERY_FIRMWARE) {
        const struct tw_xdna_firmware *v = pointer(info->buffer);
        tw_line_add(line, " version=%u.%u.%u.%u", (unsigned)v->major, (unsigned)v->minor, (unsigned)v->patch,
                    (unsigned)v->build);
    }
    if (info->query == TW_XDNA_QUERY_AIE_METADATA) {
        const struct tw_xdna_aie_metadata *a = pointer(info->buffer);
        tw_line_add(line, " cols=%u rows=%u core.row_count=%u core.row_start=%u", (unsigned)a->columns,
                    (unsigned)a->rows, (unsigned)a->core.row_count, (unsigned)a->core.row_start);
    }
}

static void add_pointed_in(struct tw_line *line, uint32_t request, const void *structure)
{
    if (request == TW_XDNA_CREATE_CONTEXT) {
        const struct tw_xdna_qos *q = pointer(((const struct tw_xdna_create_context *)structure)->qos);
        tw_line_add(line, " qos={gops=%u fps=%u dma_bandwidth=%u latency=%u frame_exec_time=%u priority=%u}",
                    (unsigned)q->gops, (unsigned)q->frames_per_second, (unsigned)q->dma_bandwidth, (unsigned)q->latency,
                    (unsigned)q->frame_time, (unsigned)q->priority);
    } else if (request == TW_XDNA_CONFIG_CONTEXT) {
        const struct tw_xdna_config_context *config = structure;
        if (config->kind == TW_XDNA_CONFIG_CUS)
            add_cus(line, config);
    } else if (request == TW_XDNA_EXECUTE) {
        const struct tw_xdna_execute *e = structure;
        add_list(line, "args", pointer(e->arguments), e->argument_count);
    } else if (request == TW_DRM_TIMELINE_WAIT) {
        const struct tw_drm_timeline_wait *w = structure;
        add_list(line, "handles", pointer(w->handles), w->count);
        if (w->count == 1)
            tw_line_add(line, " points={%llu}", (unsigned long long)*(const uint64_t *)pointer(w->points));
    }
}

void tw_trace_add_pointed(struct tw_line *line, uint32_t request, const void *structure, enum tw_trace_way way)
{
    if (way == TW_TRACE_IN) {
        add_pointed_in(line, request, structure);
    } else if (request == TW_XDNA_GET_INFO) {
        add_answer(line, structure);
    } else if (request == TW_DRM_VERSION) {
        const struct tw_drm_version *v = structure;
        tw_line_add(line, " name=%.*s", (int)(v->name_bytes < 64 ? v->name_bytes : 64), v->name);
    }
}

const char *tw_trace_state_name(uint32_t header)
{
    const char *name = find_name(states, tw_packet_state(header));
    return name != NULL ? name : "?";
}

void tw_trace_add_packet(struct tw_line *line, const uint32_t *words, size_t n)
{
    uint32_t header = words[0], count = tw_packet_count(header), opcode = tw_packet_opcode(header);
    const char *name = find_name(opcodes, opcode);
    tw_line_add(line, " header=0x%08x(state=%s count=%u opcode=%u %s) words={", (unsigned)header,
                tw_trace_state_name(header), (unsigned)count, (unsigned)opcode, name != NULL ? name : "?");
    for (size_t i = 1; i < n && i <= count; i++)
        tw_line_add(line, "%s%x", i == 1 ? "" : " ", (unsigned)words[i]);
    tw_line_add(line, "}");
}
