#include "cli/print_image.h"

#include "base/little_endian.h"
#include "cli/print_configuration.h"
#include "image/aie_partition.h"
#include "image/control_elf.h"
#include "image/core_elf.h"
#include "image/kernel_metadata.h"
#include "image/pdi.h"
#include "image/xclbin_tables.h"
#include "npu1/cdo.h"
#include "npu1/control_code.h"
#include "npu1/dpu_sequence.h"
#include "npu1/hex_words.h"

#include <inttypes.h>
#include <stdlib.h>

/* Several sections may lie at the same place, and a small file could ask for endless output. */
enum { SECTIONS_MAX = 64, PARTITIONS_MAX = 8, KERNEL_IDS_SHOWN = 16 };

struct printer {
    struct tw_tree *tree;
    struct tw_configuration_totals totals;
    unsigned n_partitions;
};

static void uuid_property(struct tw_tree *t, const unsigned char uuid[TW_UUID_BYTES])
{
    char text[2 * TW_UUID_BYTES + 1];
    for (unsigned i = 0; i < TW_UUID_BYTES; i++)
        snprintf(text + (size_t)2 * i, 3, "%02x", uuid[i]);
    tw_tree_text(t, "uuid", text);
}

/* ---- CDO, PDI, control code */

static int print_cdo(struct printer *p, const struct tw_view *view, struct tw_error *err)
{
    return tw_print_cdo(p->tree, view, &p->totals, err);
}

static int print_control_code(struct printer *p, const struct tw_view *view, struct tw_error *err)
{
    return tw_print_control_code(p->tree, view, &p->totals, err);
}

static int print_dpu_sequence(struct printer *p, const struct tw_view *view, struct tw_error *err)
{
    return tw_print_dpu_sequence(p->tree, view, &p->totals, err);
}

static int print_pdi_partition(struct printer *p, const struct tw_pdi *pdi, uint32_t i, struct tw_error *err)
{
    struct tw_pdi_partition partition;
    tw_pdi_partition(pdi, i, &partition);
    tw_tree_begin(p->tree, "partition");
    tw_tree_hex(p->tree, "attributes", partition.attributes);
    tw_tree_number(p->tree, "bytes", partition.data.size);
    int code = tw_cdo_recognise(&partition.data) ? print_cdo(p, &partition.data, err) : TW_OK;
    tw_tree_end(p->tree);
    return code;
}

static int print_pdi(struct printer *p, const struct tw_view *view, struct tw_error *err)
{
    struct tw_pdi pdi;
    int code = tw_pdi_open(view, &pdi, err);
    if (code < 0)
        return code;
    tw_tree_begin(p->tree, "PDI");
    tw_tree_hex(p->tree, "id_code", pdi.id_code);
    tw_tree_number(p->tree, "bytes", view->size);
    for (uint32_t i = 0; i < pdi.n_images; i++) {
        struct tw_pdi_image image;
        tw_pdi_image(&pdi, i, &image);
        tw_tree_begin(p->tree, "image");
        tw_tree_text(p->tree, "name", image.name);
        tw_tree_hex(p->tree, "id", image.id);
        tw_tree_number(p->tree, "partitions", image.n_partitions);
        tw_tree_end(p->tree);
    }
    for (uint32_t i = 0; code == 0 && i < pdi.n_partitions; i++)
        code = print_pdi_partition(p, &pdi, i, err);
    tw_tree_end(p->tree);
    return code;
}

/* ---- Sections of an xclbin */

static void print_group(struct tw_tree *t, const struct tw_aie_pdi *pdi, uint32_t j)
{
    struct tw_cdo_group group;
    tw_aie_pdi_group(pdi, j, &group);
    tw_tree_begin(t, "group");
    tw_tree_text(t, "name", group.name);
    tw_tree_number(t, "type", group.type);
    tw_tree_hex(t, "pdi_id", group.pdi_id);
    tw_tree_number(t, "kernels", group.n_kernels);
    for (uint32_t k = 0; k < group.n_kernels && k < KERNEL_IDS_SHOWN; k++) {
        tw_tree_begin(t, "kernel");
        tw_tree_hex(t, "id", tw_load_u64(group.kernels.data + 8 * (size_t)k));
        tw_tree_end(t);
    }
    tw_tree_end(t);
}

static int print_aie_pdi(struct printer *p, const struct tw_aie_partition *partition, uint32_t i, struct tw_error *err)
{
    struct tw_aie_pdi pdi;
    tw_aie_partition_pdi(partition, i, &pdi);
    tw_tree_begin(p->tree, "configuration");
    tw_tree_number(p->tree, "number", i);
    uuid_property(p->tree, pdi.uuid);
    for (uint32_t j = 0; j < pdi.n_groups; j++)
        print_group(p->tree, &pdi, j);
    int code = print_pdi(p, &pdi.image, err);
    tw_tree_end(p->tree);
    return code;
}

static int print_partition(struct printer *p, const struct tw_view *section, struct tw_error *err)
{
    struct tw_aie_partition partition;
    int code = tw_aie_partition_open(section, &partition, err);
    if (code < 0)
        return code;
    if (p->n_partitions++ == PARTITIONS_MAX)
        return tw_view_fail(section, 0, TW_E_LIMIT, err, "more than %d sections AIE_PARTITION", PARTITIONS_MAX);
    tw_tree_text(p->tree, "partition", partition.name);
    tw_tree_number(p->tree, "columns", partition.columns);
    tw_tree_number(p->tree, "operations_per_cycle", partition.operations_per_cycle);
    for (uint32_t i = 0; i < partition.n_start_columns && i < KERNEL_IDS_SHOWN; i++) {
        tw_tree_begin(p->tree, "start-column");
        tw_tree_number(p->tree, "column", tw_aie_partition_start(&partition, i));
        tw_tree_end(p->tree);
    }
    for (uint32_t i = 0; code == 0 && i < partition.n_pdis; i++)
        code = print_aie_pdi(p, &partition, i, err);
    return code;
}

static void print_kernel(struct tw_tree *t, const struct tw_kernel *kernel)
{
    tw_tree_begin(t, "kernel");
    tw_tree_text(t, "name", kernel->name);
    tw_tree_text(t, "instance", kernel->instance);
    if (kernel->is_dpu)
        tw_tree_hex(t, "dpu_id", kernel->dpu_id);
    for (uint32_t i = 0; i < kernel->n_arguments; i++) {
        const struct tw_kernel_argument *a = &kernel->arguments[i];
        tw_tree_begin(t, "argument");
        tw_tree_number(t, "id", a->id);
        tw_tree_text(t, "name", a->name);
        tw_tree_text(t, "type", a->type);
        tw_tree_text(t, "kind", a->is_buffer ? "buffer" : "value");
        tw_tree_hex(t, "offset", a->offset);
        tw_tree_number(t, "bytes", a->size);
        tw_tree_end(t);
    }
    tw_tree_end(t);
}

static int print_metadata(struct printer *p, const struct tw_view *section, struct tw_error *err)
{
    struct tw_kernel_metadata metadata;
    int code = tw_kernel_metadata_read(section, &metadata, err);
    for (uint32_t i = 0; code == 0 && i < metadata.n_kernels; i++)
        print_kernel(p->tree, &metadata.kernels[i]);
    tw_kernel_metadata_free(&metadata);
    return code;
}

static int print_memories(struct printer *p, const struct tw_view *section, struct tw_error *err)
{
    struct tw_table table;
    int code = tw_memories_open(section, &table, err);
    for (uint32_t i = 0; code == 0 && i < table.count; i++) {
        struct tw_memory memory;
        tw_memory_read(&table, i, &memory);
        tw_tree_begin(p->tree, "memory");
        tw_tree_number(p->tree, "number", i);
        tw_tree_text(p->tree, "tag", memory.tag);
        tw_tree_number(p->tree, "type", memory.type);
        tw_tree_number(p->tree, "used", memory.used);
        tw_tree_number(p->tree, "kib", memory.kib);
        tw_tree_hex(p->tree, "base", memory.base);
        tw_tree_end(p->tree);
    }
    return code;
}

static int print_ips(struct printer *p, const struct tw_view *section, struct tw_error *err)
{
    struct tw_table table;
    int code = tw_ips_open(section, &table, err);
    for (uint32_t i = 0; code == 0 && i < table.count; i++) {
        struct tw_ip ip;
        tw_ip_read(&table, i, &ip);
        tw_tree_begin(p->tree, "ip");
        tw_tree_number(p->tree, "number", i);
        tw_tree_text(p->tree, "name", ip.name);
        tw_tree_number(p->tree, "type", ip.type);
        tw_tree_hex(p->tree, "properties", ip.properties);
        tw_tree_end(p->tree);
    }
    return code;
}

static int print_connections(struct printer *p, const struct tw_view *section, struct tw_error *err)
{
    struct tw_table table;
    int code = tw_connections_open(section, &table, err);
    for (uint32_t i = 0; code == 0 && i < table.count; i++) {
        struct tw_connection connection;
        tw_connection_read(&table, i, &connection);
        tw_tree_begin(p->tree, "connection");
        tw_tree_number(p->tree, "argument", (uint32_t)connection.argument);
        tw_tree_number(p->tree, "ip", (uint32_t)connection.ip);
        tw_tree_number(p->tree, "memory", (uint32_t)connection.memory);
        tw_tree_end(p->tree);
    }
    return code;
}

typedef int print_function(struct printer *p, const struct tw_view *view, struct tw_error *err);

static const struct section_kind {
    uint32_t kind;
    print_function *print;
} section_kinds[] = {
    {TW_XCLBIN_EMBEDDED_METADATA, print_metadata}, {TW_XCLBIN_MEM_TOPOLOGY, print_memories},
    {TW_XCLBIN_CONNECTIVITY, print_connections},   {TW_XCLBIN_IP_LAYOUT, print_ips},
    {TW_XCLBIN_GROUP_TOPOLOGY, print_memories},    {TW_XCLBIN_GROUP_CONNECTIVITY, print_connections},
    {TW_XCLBIN_AIE_PARTITION, print_partition},
};

static int print_section(struct printer *p, const struct tw_xclbin_section *s, struct tw_error *err)
{
    int code = TW_OK;
    tw_tree_begin(p->tree, "section");
    tw_tree_plain(p->tree, "kind", tw_xclbin_kind_name(s->kind));
    tw_tree_number(p->tree, "number", s->kind);
    if (s->name[0] != '\0')
        tw_tree_text(p->tree, "name", s->name);
    tw_tree_hex(p->tree, "at", s->data.at);
    tw_tree_number(p->tree, "bytes", s->data.size);
    for (size_t i = 0; i < sizeof section_kinds / sizeof section_kinds[0]; i++)
        if (section_kinds[i].kind == s->kind)
            code = section_kinds[i].print(p, &s->data, err);
    tw_tree_end(p->tree);
    return code;
}

static int print_xclbin(struct printer *p, const struct tw_view *view, struct tw_error *err)
{
    struct tw_xclbin x;
    int code = tw_xclbin_open(view, &x, err);
    if (code < 0)
        return code;
    if (x.n_sections > SECTIONS_MAX)
        return tw_view_fail(view, 0, TW_E_LIMIT, err, "%" PRIu32 " sections; at most %d are printed", x.n_sections,
                            SECTIONS_MAX);
    tw_tree_begin(p->tree, "xclbin");
    tw_tree_text(p->tree, "platform", x.platform);
    uuid_property(p->tree, x.uuid);
    tw_tree_number(p->tree, "timestamp", x.timestamp);
    tw_tree_number(p->tree, "bytes", view->size);
    for (uint32_t i = 0; code == 0 && i < x.n_sections; i++) {
        struct tw_xclbin_section section;
        tw_xclbin_section(&x, i, &section);
        code = print_section(p, &section, err);
    }
    tw_tree_end(p->tree);
    return code;
}

/* ---- ELF */

static void print_core_elf_parts(struct tw_tree *t, const struct tw_core_elf *elf)
{
    for (uint32_t i = 0; i < elf->n_segments; i++) {
        const struct tw_elf_segment *s = &elf->segments[i];
        tw_tree_begin(t, "segment");
        tw_tree_plain(t, "memory", tw_elf_is_program(s) ? "program" : "data");
        tw_tree_hex(t, "address", s->address);
        tw_tree_number(t, "bytes", s->bytes);
        tw_tree_number(t, "in_file", s->data.size);
        tw_tree_end(t);
    }
    for (uint32_t i = 0; i < elf->n_symbols; i++) {
        struct tw_elf_symbol symbol;
        tw_core_elf_symbol(elf, i, &symbol);
        if (symbol.name[0] == '\0')
            continue;
        tw_tree_begin(t, "symbol");
        tw_tree_plain(t, "name", symbol.name);
        tw_tree_hex(t, "value", symbol.value);
        tw_tree_number(t, "bytes", symbol.size);
        tw_tree_end(t);
    }
}

static int print_core_elf(struct printer *p, const struct tw_view *view, struct tw_error *err)
{
    struct tw_core_elf *elf = malloc(sizeof *elf);
    if (elf == NULL)
        return tw_fail(err, TW_E_MEMORY, "no memory to read an ELF file");
    int code = tw_core_elf_open(view, elf, err);
    if (code == 0) {
        tw_tree_begin(p->tree, "core-ELF");
        tw_tree_number(p->tree, "bytes", view->size);
        print_core_elf_parts(p->tree, elf);
        tw_tree_end(p->tree);
    }
    free(elf);
    return code;
}

static int print_control_elf(struct printer *p, const struct tw_view *view, struct tw_error *err)
{
    struct tw_control_elf elf;
    int code = tw_control_elf_open(view, &elf, err);
    if (code < 0)
        return code;
    tw_tree_begin(p->tree, "control-ELF");
    tw_tree_number(p->tree, "bytes", view->size);
    for (uint32_t i = 0; i < elf.n_patches; i++) {
        struct tw_control_elf_patch patch;
        tw_control_elf_patch(&elf, i, &patch);
        tw_tree_begin(p->tree, "host-patch");
        tw_tree_hex(p->tree, "offset", patch.offset);
        tw_tree_number(p->tree, "argument", patch.argument);
        tw_tree_number(p->tree, "scheme", patch.scheme);
        tw_tree_hex(p->tree, "addend", (uint32_t)patch.addend);
        tw_tree_end(p->tree);
    }
    code = print_control_code(p, &elf.code, err);
    tw_tree_end(p->tree);
    return code;
}

/* ---- Any file */

static int print_hex_words(struct printer *p, const struct tw_view *view, struct tw_error *err);

/* Before others that would take the same file: ELF files with control code, and hexadecimal text as the last. */
static const struct file_kind {
    int (*recognise)(const struct tw_view *view);
    print_function *print;
} file_kinds[] = {
    {tw_control_elf_recognise, print_control_elf},
    {tw_elf_recognise, print_core_elf},
    {tw_xclbin_recognise, print_xclbin},
    {tw_pdi_recognise, print_pdi},
    {tw_cdo_recognise, print_cdo},
    {tw_control_code_recognise, print_control_code},
    {tw_dpu_sequence_recognise, print_dpu_sequence},
    {tw_hex_words_recognise, print_hex_words},
};

static const struct file_kind *find_kind(const struct tw_view *view)
{
    for (size_t i = 0; i < sizeof file_kinds / sizeof file_kinds[0]; i++)
        if (file_kinds[i].recognise(view))
            return &file_kinds[i];
    return NULL;
}

static int print_any(struct printer *p, const struct tw_view *view, struct tw_error *err)
{
    const struct file_kind *kind = find_kind(view);
    if (kind == NULL)
        return tw_fail(err, TW_E_UNSUPPORTED,
                       "'%s' is none of: an xclbin, a PDI, a CDO, an ELF file of a core or with control code, control "
                       "code (binary or hexadecimal words)",
                       view->file);
    return kind->print(p, view, err);
}

static int print_hex_words(struct printer *p, const struct tw_view *view, struct tw_error *err)
{
    struct tw_view words = *view;
    unsigned char *bytes;
    int code = tw_hex_words_read(view, &bytes, &words.size, err);
    if (code < 0)
        return code;
    words.data = bytes;
    const struct file_kind *kind = find_kind(&words);
    if (kind == NULL || kind->print == print_hex_words)
        code = tw_fail(err, TW_E_UNSUPPORTED, "'%s' holds hexadecimal words, but they are no control code", view->file);
    else
        code = kind->print(p, &words, err);
    free(bytes);
    return code;
}

static int print_once(struct tw_tree *t, const struct tw_view *file, struct tw_error *err)
{
    struct printer p = {.tree = t};
    tw_tree_begin(t, "file");
    tw_tree_plain(t, "name", file->file);
    int code = print_any(&p, file, err);
    tw_print_totals(t, &p.totals);
    tw_tree_end(t);
    return code;
}

int tw_print_image(struct tw_tree *t, const struct tw_view *file, struct tw_error *err)
{
    struct tw_tree nowhere = {0};
    int code = print_once(&nowhere, file, err);
    return code < 0 ? code : print_once(t, file, err);
}
