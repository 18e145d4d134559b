#include "image/touch.h"

#include "image/aie_partition.h"
#include "image/control_elf.h"
#include "image/core_elf.h"
#include "image/kernel_metadata.h"
#include "image/pdi.h"
#include "image/xclbin_tables.h"

#include <string.h>

/* Keeps the compiler from leaving reads out. */
static void use(unsigned value)
{
    static volatile unsigned sink;
    sink = value;
    (void)sink;
}

/* The first and the last bytes, and some between: large ones would only take time. */
static void touch(const struct tw_view *v)
{
    for (size_t i = 0; i < v->size; i += 1 + v->size / 64)
        use(v->data[i]);
    if (v->size > 0)
        use(v->data[v->size - 1]);
}

static void touch_text(const char *text)
{
    use((unsigned)strlen(text));
}

int touch_pdi(const struct tw_view *view, struct tw_error *err)
{
    struct tw_pdi pdi;
    int code = tw_pdi_open(view, &pdi, err);
    if (code < 0)
        return code;
    for (uint32_t i = 0; i < pdi.n_images; i++) {
        struct tw_pdi_image image;
        tw_pdi_image(&pdi, i, &image);
        touch_text(image.name);
    }
    for (uint32_t i = 0; i < pdi.n_partitions; i++) {
        struct tw_pdi_partition partition;
        tw_pdi_partition(&pdi, i, &partition);
        touch(&partition.data);
    }
    return code;
}

int touch_elf(const struct tw_view *view, struct tw_error *err)
{
    struct tw_core_elf elf;
    int code = tw_core_elf_open(view, &elf, err);
    if (code < 0)
        return code;
    struct tw_elf_old read;
    for (size_t at = 0; tw_core_elf_old(&elf, &at, &read);)
        touch_text(read.name);
    for (uint32_t i = 0; i < elf.n_segments; i++)
        touch(&elf.segments[i].data);
    for (uint32_t i = 0; i < elf.n_symbols; i++) {
        struct tw_elf_symbol symbol;
        tw_core_elf_symbol(&elf, i, &symbol);
        touch_text(symbol.name);
    }
    return code;
}

int touch_control_elf(const struct tw_view *view, struct tw_error *err)
{
    struct tw_control_elf elf;
    int code = tw_control_elf_open(view, &elf, err);
    if (code < 0)
        return code;
    touch(&elf.code);
    for (uint32_t i = 0; i < elf.n_patches; i++) {
        struct tw_control_elf_patch patch;
        tw_control_elf_patch(&elf, i, &patch);
        touch(&(struct tw_view){elf.code.data + patch.offset, 32, "patch", 0});
        use(patch.argument);
    }
    return code;
}

int touch_metadata(const struct tw_view *section, struct tw_error *err)
{
    struct tw_kernel_metadata metadata;
    int code = tw_kernel_metadata_read(section, &metadata, err);
    for (uint32_t i = 0; i < metadata.n_kernels; i++) {
        const struct tw_kernel *k = &metadata.kernels[i];
        touch_text(k->name);
        touch_text(k->instance);
        for (uint32_t j = 0; j < k->n_arguments; j++) {
            touch_text(k->arguments[j].name);
            touch_text(k->arguments[j].type);
        }
    }
    tw_kernel_metadata_free(&metadata);
    return code;
}

static void touch_groups(const struct tw_aie_pdi *pdi)
{
    for (uint32_t i = 0; i < pdi->n_groups; i++) {
        struct tw_cdo_group group;
        tw_aie_pdi_group(pdi, i, &group);
        touch(&group.kernels);
        touch_text(group.name);
    }
}

int touch_partition(const struct tw_view *section, struct tw_error *err)
{
    struct tw_aie_partition p;
    int code = tw_aie_partition_open(section, &p, err);
    if (code < 0)
        return code;
    for (uint32_t i = 0; i < p.n_start_columns; i++)
        use(tw_aie_partition_start(&p, i));
    for (uint32_t i = 0; i < p.n_pdis; i++) {
        struct tw_aie_pdi pdi;
        tw_aie_partition_pdi(&p, i, &pdi);
        touch(&pdi.image);
        touch_groups(&pdi);
    }
    return code;
}

int touch_memories(const struct tw_view *section, struct tw_error *err)
{
    struct tw_table table;
    int code = tw_memories_open(section, &table, err);
    for (uint32_t i = 0; code == 0 && i < table.count; i++) {
        struct tw_memory memory;
        tw_memory_read(&table, i, &memory);
        touch_text(memory.tag);
    }
    return code;
}

int touch_ips(const struct tw_view *section, struct tw_error *err)
{
    struct tw_table table;
    int code = tw_ips_open(section, &table, err);
    for (uint32_t i = 0; code == 0 && i < table.count; i++) {
        struct tw_ip ip;
        tw_ip_read(&table, i, &ip);
        touch_text(ip.name);
    }
    return code;
}

int touch_connections(const struct tw_view *section, struct tw_error *err)
{
    struct tw_table table;
    int code = tw_connections_open(section, &table, err);
    for (uint32_t i = 0; code == 0 && i < table.count; i++) {
        struct tw_connection connection;
        tw_connection_read(&table, i, &connection);
        use((unsigned)connection.memory);
    }
    return code;
}

static int touch_section(const struct tw_xclbin_section *s, struct tw_error *err)
{
    touch(&s->data);
    switch (s->kind) {
    case TW_XCLBIN_EMBEDDED_METADATA:
        return touch_metadata(&s->data, err);
    case TW_XCLBIN_MEM_TOPOLOGY:
    case TW_XCLBIN_GROUP_TOPOLOGY:
        return touch_memories(&s->data, err);
    case TW_XCLBIN_IP_LAYOUT:
        return touch_ips(&s->data, err);
    case TW_XCLBIN_CONNECTIVITY:
    case TW_XCLBIN_GROUP_CONNECTIVITY:
        return touch_connections(&s->data, err);
    case TW_XCLBIN_AIE_PARTITION:
        return touch_partition(&s->data, err);
    default:
        return 0;
    }
}

int touch_xclbin(const struct tw_view *view, struct tw_error *err)
{
    enum { SECTIONS_MOST = 64 };
    struct tw_xclbin x;
    int code = tw_xclbin_open(view, &x, err);
    for (uint32_t i = 0; code == 0 && i < x.n_sections && i < SECTIONS_MOST; i++) {
        struct tw_xclbin_section s;
        tw_xclbin_section(&x, i, &s);
        touch_text(s.name);
        code = touch_section(&s, err);
    }
    return code;
}
