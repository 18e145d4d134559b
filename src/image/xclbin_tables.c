#include "image/xclbin_tables.h"

#include "base/little_endian.h"
#include "image/xclbin_tables_format.h"

#include <string.h>

static int open_table(const struct tw_view *section, uint32_t first, uint32_t entry_bytes, const char *what,
                      struct tw_table *table, struct tw_error *err)
{
    struct tw_view count;
    int code = tw_view_part(section, 0, 4, what, &count, err);
    if (code < 0)
        return code;
    table->count = tw_load_u32(count.data);
    return tw_view_table(section, first, table->count, entry_bytes, what, &table->entries, err);
}

int tw_memories_open(const struct tw_view *section, struct tw_table *table, struct tw_error *err)
{
    return open_table(section, 8, MEMORY_BYTES, "the table of memories", table, err);
}

int tw_ips_open(const struct tw_view *section, struct tw_table *table, struct tw_error *err)
{
    return open_table(section, 8, IP_BYTES, "the table of kernels", table, err);
}

int tw_connections_open(const struct tw_view *section, struct tw_table *table, struct tw_error *err)
{
    return open_table(section, 4, CONNECTION_BYTES, "the table of connections", table, err);
}

void tw_memory_read(const struct tw_table *table, uint32_t i, struct tw_memory *memory)
{
    const unsigned char *entry = table->entries.data + (size_t)i * MEMORY_BYTES;

    *memory = (struct tw_memory){.type = entry[0],
                                 .used = entry[1],
                                 .kib = tw_load_u64(entry + MEMORY_KIB),
                                 .base = tw_load_u64(entry + MEMORY_BASE)};
    memcpy(memory->tag, entry + MEMORY_TAG, TW_MEMORY_TAG_BYTES);
}

void tw_ip_read(const struct tw_table *table, uint32_t i, struct tw_ip *ip)
{
    const unsigned char *entry = table->entries.data + (size_t)i * IP_BYTES;

    *ip = (struct tw_ip){.type = tw_load_u32(entry),
                         .properties = tw_load_u32(entry + IP_PROPERTIES),
                         .base = tw_load_u64(entry + IP_BASE)};
    memcpy(ip->name, entry + IP_NAME, TW_IP_NAME_BYTES);
}

static int32_t load_i32(const unsigned char *from)
{
    uint32_t bits = tw_load_u32(from);
    int32_t value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

void tw_connection_read(const struct tw_table *table, uint32_t i, struct tw_connection *connection)
{
    const unsigned char *entry = table->entries.data + (size_t)i * CONNECTION_BYTES;

    *connection = (struct tw_connection){load_i32(entry), load_i32(entry + 4), load_i32(entry + 8)};
}
