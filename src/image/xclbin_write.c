#include "image/xclbin_write.h"

#include "base/sha256.h"
#include "image/aie_partition.h"
#include "image/aie_partition_format.h"
#include "image/kernel_metadata.h"
#include "image/xclbin_format.h"
#include "image/xclbin_tables.h"
#include "image/xclbin_tables_format.h"
#include "npu1/byte_list.h"
#include "npu1/tile.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Arguments of every kernel, in front of its buffers. */
static const struct fixed_argument {
    const char *name, *type;
    unsigned qualifier, bytes, offset;
} fixed_arguments[] = {
    {"opcode", "uint64_t", 0, 8, 0x00}, {"instr", "char *", 1, 8, 0x08}, {"ninstr", "uint32_t", 0, 4, 0x10}};

enum {
    N_FIXED_ARGUMENTS = 3,
    INSTRUCTIONS_ARGUMENT = 1,
    FIRST_BUFFER_OFFSET = 0x14,
    BUFFER_BYTES = 8,
    BUFFERS_MAX = TW_KERNEL_ARGUMENTS_MAX - N_FIXED_ARGUMENTS
};

/* Memories, by mlir-aie's tools: the host's, and the device's where control code lies. */
static const struct memory {
    const char *tag;
    uint32_t kib;
} memories[] = {{"HOST", 0x10000}, {"SRAM", 0xc000}};
enum { MEMORY_HOST, MEMORY_SRAM, N_MEMORIES, MEMORIES_BASE = 0x4000000 };

/* What mlir-aie's tools write into AIE_PARTITION; nothing is known to look at it. */
enum { OPERATIONS_PER_CYCLE = 2048, FINGERPRINT = 23423, PRE_POST_FINGERPRINT = 12345, PDI_ID = 1, PRE_GROUP = 0xc1 };

/* ---- Checks */

static int is_plain_name(const char *name)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.";
    return name != NULL && name[0] != '\0' && name[strspn(name, letters)] == '\0';
}

static int check_names(const struct tw_xclbin_contents *c, struct tw_error *err)
{
    if (!is_plain_name(c->kernel) || !is_plain_name(c->instance) ||
        strlen(c->kernel) + 1 + strlen(c->instance) >= TW_IP_NAME_BYTES)
        return tw_fail(
            err, TW_E_ARGUMENT,
            "an xclbin's kernel and instance have names of letters, digits, '_', '-' and '.' of together less "
            "than %d characters, not '%s' and '%s'",
            TW_IP_NAME_BYTES - 1, c->kernel != NULL ? c->kernel : "", c->instance != NULL ? c->instance : "");
    for (unsigned i = 0; i < c->n_buffers; i++)
        if (!is_plain_name(c->buffers[i]) || strlen(c->buffers[i]) >= TW_KERNEL_NAME_BYTES)
            return tw_fail(err, TW_E_ARGUMENT, "'%s' is no name for a buffer of a kernel",
                           c->buffers[i] != NULL ? c->buffers[i] : "");
    return TW_OK;
}

static int check(const struct tw_xclbin_contents *c, struct tw_error *err)
{
    struct tw_pdi pdi;
    if (c->columns < 1 || c->columns > TW_NPU1_COLUMNS)
        return tw_fail(err, TW_E_ARGUMENT, "a partition of %u columns; NPU1 has %d", c->columns, TW_NPU1_COLUMNS);
    if (c->kernel_id < 1 || c->kernel_id > 0xfff)
        return tw_fail(err, TW_E_ARGUMENT, "the kernel's id takes 1 to 4095, not %u", c->kernel_id);
    if (c->n_buffers > BUFFERS_MAX)
        return tw_fail(err, TW_E_ARGUMENT, "a kernel with %u buffers; at most %d are possible", c->n_buffers,
                       BUFFERS_MAX);
    if (c->pdi.size > UINT32_MAX / 2)
        return tw_fail(err, TW_E_ARGUMENT, "a PDI of %zu bytes is too large for an xclbin", c->pdi.size);
    int code = check_names(c, err);
    return code < 0 ? code : tw_pdi_open(&c->pdi, &pdi, err);
}

/* ---- Tables */

static void add_u64(struct tw_byte_list *list, uint64_t value)
{
    tw_byte_list_word(list, (uint32_t)value);
    tw_byte_list_word(list, (uint32_t)(value >> 32));
}

/* A text in a field of fixed size. */
static void add_text(struct tw_byte_list *list, const char *text, size_t room)
{
    size_t size = strlen(text) < room ? strlen(text) : room;
    tw_byte_list_add(list, text, size);
    tw_byte_list_zeros(list, room - size);
}

static void write_memories(const struct tw_xclbin_contents *c, struct tw_byte_list *list)
{
    (void)c;
    add_u64(list, N_MEMORIES);
    for (unsigned i = 0; i < N_MEMORIES; i++) {
        add_u64(list, MEMORY_TYPE_DRAM | MEMORY_USED << 8);
        add_u64(list, memories[i].kib);
        add_u64(list, MEMORIES_BASE);
        add_text(list, memories[i].tag, TW_MEMORY_TAG_BYTES);
    }
}

static void write_ips(const struct tw_xclbin_contents *c, struct tw_byte_list *list)
{
    char name[TW_IP_NAME_BYTES];
    snprintf(name, sizeof name, "%s:%s", c->kernel, c->instance);
    add_u64(list, 1);
    tw_byte_list_word(list, IP_PS_KERNEL);
    tw_byte_list_word(list, IP_SUBTYPE_DPU | c->kernel_id << IP_ID_SHIFT);
    add_u64(list, UINT64_MAX);
    add_text(list, name, TW_IP_NAME_BYTES);
}

static void add_connections(const struct tw_xclbin_contents *c, struct tw_byte_list *list)
{
    tw_byte_list_words(list, (const uint32_t[]){INSTRUCTIONS_ARGUMENT, 0, MEMORY_SRAM}, 3);
    for (unsigned i = 0; i < c->n_buffers; i++)
        tw_byte_list_words(list, (const uint32_t[]){N_FIXED_ARGUMENTS + i, 0, MEMORY_HOST}, 3);
}

static void write_connections(const struct tw_xclbin_contents *c, struct tw_byte_list *list)
{
    tw_byte_list_word(list, 1 + c->n_buffers);
    add_connections(c, list);
}

/* xclbinutil writes them twice here. */
static void write_group_connections(const struct tw_xclbin_contents *c, struct tw_byte_list *list)
{
    tw_byte_list_word(list, 2 * (1 + c->n_buffers));
    add_connections(c, list);
    add_connections(c, list);
}

/* ---- Metadata */

static void print(struct tw_byte_list *list, const char *fmt, ...) TW_PRINTF(2, 3);
static void print(struct tw_byte_list *list, const char *fmt, ...)
{
    char text[1024]; /* names are shorter than a quarter of this */
    va_list args;
    va_start(args, fmt);
    int n = vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    if (n < 0 || (size_t)n >= sizeof text)
        list->failed = 1;
    else
        tw_byte_list_add(list, text, (size_t)n);
}

static void print_argument(struct tw_byte_list *list, const char *name, const char *type, unsigned id,
                           unsigned qualifier, unsigned bytes, unsigned offset)
{
    print(list,
          "          <arg name=\"%s\" addressQualifier=\"%u\" id=\"%u\" size=\"0x%x\" offset=\"0x%02X\" "
          "hostOffset=\"0x0\" hostSize=\"0x%x\" type=\"%s\"/>\n",
          name, qualifier, id, bytes, offset, bytes, type);
}

static void write_metadata(const struct tw_xclbin_contents *c, struct tw_byte_list *list)
{
    print(list, "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<project>\n  <platform>\n    <device>\n      <core>\n");
    print(list, "        <kernel name=\"%s\" language=\"c\" type=\"dpu\">\n", c->kernel);
    print(list, "          <extended-data dpu_kernel_id=\"0x%x\" functional=\"0\" subtype=\"1\"/>\n", c->kernel_id);
    for (unsigned i = 0; i < N_FIXED_ARGUMENTS; i++) {
        const struct fixed_argument *a = &fixed_arguments[i];
        print_argument(list, a->name, a->type, i, a->qualifier, a->bytes, a->offset);
    }
    for (unsigned i = 0; i < c->n_buffers; i++)
        print_argument(list, c->buffers[i], "void*", N_FIXED_ARGUMENTS + i, 1, BUFFER_BYTES,
                       FIRST_BUFFER_OFFSET + i * BUFFER_BYTES);
    print(list, "          <instance name=\"%s\"/>\n        </kernel>\n", c->instance);
    print(list, "      </core>\n    </device>\n  </platform>\n</project>\n");
}

/* ---- AIE_PARTITION */

/* Makes an array's count and place point to what is added next. */
static void begin_array(struct tw_byte_list *list, size_t array, uint32_t count)
{
    tw_byte_list_align(list, AIE_ALIGN);
    tw_byte_list_set_u32(list, array, count);
    tw_byte_list_set_u32(list, array + 4, (uint32_t)list->size);
}

/* Makes a string's place point to one that is added here. */
static void add_string(struct tw_byte_list *list, size_t place, const char *text)
{
    tw_byte_list_align(list, AIE_ALIGN);
    tw_byte_list_set_u32(list, place, (uint32_t)list->size);
    tw_byte_list_add(list, text, strlen(text) + 1);
}

/* A partition may begin at any column from 1 on that leaves room for it; one of all columns begins at 0. */
static void add_start_columns(struct tw_byte_list *list, unsigned columns)
{
    unsigned first = columns < TW_NPU1_COLUMNS, n = TW_NPU1_COLUMNS - first - columns + 1;
    begin_array(list, AIE_HEADER_START_COLUMNS, n);
    for (unsigned i = 0; i < n; i++)
        tw_byte_list_add(list, (const unsigned char[]){(unsigned char)(first + i), 0}, 2);
}

/* Different contents have different uuids, since XRT takes files of one uuid to be the same. */
static void make_uuid(const struct tw_xclbin_contents *c, unsigned char uuid[TW_UUID_BYTES])
{
    struct tw_sha256 sha;
    char hex[65];
    tw_sha256_start(&sha);
    tw_sha256_add(&sha, c->pdi.data, c->pdi.size);
    tw_sha256_add(&sha, c->kernel, strlen(c->kernel) + 1);
    tw_sha256_add(&sha, c->instance, strlen(c->instance) + 1);
    for (unsigned i = 0; i < c->n_buffers; i++)
        tw_sha256_add(&sha, c->buffers[i], strlen(c->buffers[i]) + 1);
    tw_sha256_add(&sha,
                  (const unsigned char[]){(unsigned char)c->columns, (unsigned char)c->kernel_id,
                                          (unsigned char)(c->kernel_id >> 8)},
                  3);
    tw_sha256_finish(&sha, hex);
    for (unsigned i = 0; i < TW_UUID_BYTES; i++) {
        char byte[3] = {hex[2 * i], hex[2 * i + 1], '\0'};
        uuid[i] = (unsigned char)strtoul(byte, NULL, 16);
    }
}

static void write_partition(const struct tw_xclbin_contents *c, struct tw_byte_list *list)
{
    unsigned char uuid[TW_UUID_BYTES];
    make_uuid(c, uuid);
    tw_byte_list_zeros(list, AIE_HEADER_BYTES);
    tw_byte_list_set_u32(list, AIE_HEADER_OPERATIONS, OPERATIONS_PER_CYCLE);
    tw_byte_list_set_u64(list, AIE_HEADER_FINGERPRINT, FINGERPRINT);
    tw_byte_list_set_u64(list, AIE_HEADER_PRE_POST_FINGERPRINT, PRE_POST_FINGERPRINT);
    tw_byte_list_set_u32(list, AIE_HEADER_COLUMNS, c->columns);
    add_string(list, AIE_HEADER_NAME, "");
    add_start_columns(list, c->columns);
    begin_array(list, AIE_HEADER_PDIS, 1);
    size_t pdi = list->size;
    tw_byte_list_zeros(list, AIE_PDI_BYTES);
    tw_byte_list_set(list, pdi, uuid, sizeof uuid);
    begin_array(list, pdi + AIE_PDI_GROUPS, 1);
    size_t group = list->size;
    tw_byte_list_zeros(list, AIE_GROUP_BYTES);
    tw_byte_list_set(list, group + AIE_GROUP_TYPE, (const unsigned char[]){AIE_GROUP_PRIMARY}, 1);
    tw_byte_list_set_u64(list, group + AIE_GROUP_PDI_ID, PDI_ID);
    add_string(list, group + AIE_GROUP_NAME, "DPU");
    begin_array(list, group + AIE_GROUP_KERNELS, 1);
    add_u64(list, c->kernel_id);
    begin_array(list, group + AIE_GROUP_PRE_GROUPS, 1);
    add_u64(list, PRE_GROUP);
    begin_array(list, pdi + AIE_PDI_IMAGE, (uint32_t)c->pdi.size);
    tw_byte_list_add(list, c->pdi.data, c->pdi.size);
    add_string(list, AIE_HEADER_COMMIT_ID, "");
    tw_byte_list_align(list, AIE_ALIGN);
}

/* ---- The file */

static const struct section {
    uint32_t kind;
    void (*write)(const struct tw_xclbin_contents *c, struct tw_byte_list *list);
} sections[] = {
    {TW_XCLBIN_MEM_TOPOLOGY, write_memories},      {TW_XCLBIN_AIE_PARTITION, write_partition},
    {TW_XCLBIN_EMBEDDED_METADATA, write_metadata}, {TW_XCLBIN_IP_LAYOUT, write_ips},
    {TW_XCLBIN_CONNECTIVITY, write_connections},   {TW_XCLBIN_GROUP_CONNECTIVITY, write_group_connections},
    {TW_XCLBIN_GROUP_TOPOLOGY, write_memories},
};

enum { N_SECTIONS = sizeof sections / sizeof sections[0] };

static void write_header(const struct tw_xclbin_contents *c, struct tw_byte_list *file)
{
    unsigned char ones[XCLBIN_UNIQUE_ID - XCLBIN_SIGNATURE_AT], uuid[TW_UUID_BYTES];
    memset(ones, 0xff, sizeof ones);
    make_uuid(c, uuid);
    tw_byte_list_zeros(file, XCLBIN_HEADER_BYTES + N_SECTIONS * XCLBIN_SECTION_BYTES);
    tw_byte_list_set(file, 0, XCLBIN_MAGIC, sizeof XCLBIN_MAGIC);
    tw_byte_list_set(file, XCLBIN_SIGNATURE_AT, ones, sizeof ones);
    tw_byte_list_set_u64(file, XCLBIN_HEADER_TIMESTAMP, c->timestamp);
    tw_byte_list_set(file, XCLBIN_VERSION_MAJOR, (const unsigned char[]){XCLBIN_MAJOR, XCLBIN_MINOR}, 2);
    tw_byte_list_set(file, XCLBIN_HEADER_UUID, uuid, sizeof uuid);
    tw_byte_list_set_u32(file, XCLBIN_HEADER_SECTIONS, N_SECTIONS);
}

static void add_section(const struct tw_xclbin_contents *c, unsigned i, struct tw_byte_list *file)
{
    struct tw_byte_list section = {0};
    size_t header = XCLBIN_HEADER_BYTES + (size_t)i * XCLBIN_SECTION_BYTES;
    sections[i].write(c, &section);
    tw_byte_list_align(file, XCLBIN_ALIGN);
    tw_byte_list_set_u32(file, header, sections[i].kind);
    tw_byte_list_set_u64(file, header + XCLBIN_SECTION_OFFSET, file->size);
    tw_byte_list_set_u64(file, header + XCLBIN_SECTION_SIZE, section.size);
    tw_byte_list_add(file, section.bytes, section.size);
    file->failed |= section.failed;
    tw_byte_list_free(&section);
}

int tw_xclbin_write(const struct tw_xclbin_contents *contents, unsigned char **bytes, size_t *size,
                    struct tw_error *err)
{
    struct tw_byte_list file = {0};
    int code = check(contents, err);
    if (code < 0)
        return code;
    write_header(contents, &file);
    for (unsigned i = 0; i < N_SECTIONS; i++)
        add_section(contents, i, &file);
    tw_byte_list_set_u64(&file, XCLBIN_HEADER_LENGTH, file.size);
    if (file.failed) {
        tw_byte_list_free(&file);
        return tw_fail(err, TW_E_MEMORY, "no memory for an xclbin");
    }
    *bytes = file.bytes;
    *size = file.size;
    return TW_OK;
}
