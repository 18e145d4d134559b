/* Programs out of files: an xclbin with its kernels, or a bare PDI. */
#include "device/device.h"

#include "base/file_map.h"
#include "base/little_endian.h"
#include "base/view.h"
#include "image/aie_partition.h"
#include "image/pdi.h"
#include "image/xclbin_tables.h"

#include <stdlib.h>
#include <string.h>

/* Fields of tw_ip.properties. */
enum ip_properties {
    IP_SUBTYPE_MASK = 3,
    IP_DPU = 1,
    IP_FUNCTION_SHIFT = 4,
    IP_FUNCTION_MASK = 3,
    IP_ID_SHIFT = 16,
    IP_ID_MASK = 0xfff
};

struct programs {
    unsigned columns;
    unsigned n;
    struct tw_program program[TW_XDNA_CUS];
    char names[TW_XDNA_CUS][TW_IP_NAME_BYTES + 1];
};

/* The first section of a kind; returns whether there is one. */
static int find_section(const struct tw_xclbin *xclbin, uint32_t kind, struct tw_view *data)
{
    for (uint32_t i = 0; i < xclbin->n_sections; i++) {
        struct tw_xclbin_section section;
        tw_xclbin_section(xclbin, i, &section);
        if (section.kind == kind) {
            *data = section.data;
            return 1;
        }
    }
    return 0;
}

static int serves(const struct tw_aie_pdi *pdi, uint64_t kernel)
{
    for (uint32_t j = 0; j < pdi->n_groups; j++) {
        struct tw_cdo_group group;
        tw_aie_pdi_group(pdi, j, &group);
        for (uint32_t k = 0; k < group.n_kernels; k++)
            if (tw_load_u64(group.kernels.data + (size_t)8 * k) == kernel)
                return 1;
    }
    return 0;
}

static int add(struct programs *p, const struct tw_aie_pdi *pdi, unsigned function, const char *name,
               const struct tw_view *file, struct tw_error *err)
{
    if (p->n == TW_XDNA_CUS)
        return tw_view_fail(file, 0, TW_E_LIMIT, err, "it has more than %d programs, which a context has no room for",
                            TW_XDNA_CUS);
    size_t size = strcspn(name, ":");
    memcpy(p->names[p->n], name, size);
    p->names[p->n][size] = '\0';
    p->program[p->n] = (struct tw_program){
        .pdi = pdi->image.data, .bytes = pdi->image.size, .function = function, .name = p->names[p->n]};
    p->n++;
    return TW_OK;
}

/* A kernel's program is the first PDI that lists the kernel's id; one that no PDI lists cannot run. */
static int add_kernels(struct programs *p, const struct tw_aie_partition *partition, const struct tw_view *layout,
                       struct tw_error *err)
{
    struct tw_table ips;
    int code = tw_ips_open(layout, &ips, err);
    for (uint32_t i = 0; code == 0 && i < ips.count; i++) {
        struct tw_ip ip;
        tw_ip_read(&ips, i, &ip);
        if ((ip.properties & IP_SUBTYPE_MASK) != IP_DPU)
            continue;
        for (uint32_t k = 0; k < partition->n_pdis; k++) {
            struct tw_aie_pdi pdi;
            tw_aie_partition_pdi(partition, k, &pdi);
            if (!serves(&pdi, ip.properties >> IP_ID_SHIFT & IP_ID_MASK))
                continue;
            code = add(p, &pdi, ip.properties >> IP_FUNCTION_SHIFT & IP_FUNCTION_MASK, ip.name, layout, err);
            break;
        }
    }
    return code;
}

static int add_pdis(struct programs *p, const struct tw_aie_partition *partition, struct tw_error *err)
{
    int code = TW_OK;
    for (uint32_t k = 0; code == 0 && k < partition->n_pdis; k++) {
        struct tw_aie_pdi pdi;
        tw_aie_partition_pdi(partition, k, &pdi);
        code = add(p, &pdi, 0, "", &partition->view, err);
    }
    return code;
}

static int read_xclbin(const struct tw_view *file, struct programs *p, struct tw_error *err)
{
    struct tw_xclbin xclbin;
    struct tw_view section, layout;
    struct tw_aie_partition partition;
    int code = tw_xclbin_open(file, &xclbin, err);
    if (code < 0)
        return code;
    if (!find_section(&xclbin, TW_XCLBIN_AIE_PARTITION, &section))
        return tw_view_fail(file, 0, TW_E_FORMAT, err, "it has no program for an NPU (no section AIE_PARTITION)");
    code = tw_aie_partition_open(&section, &partition, err);
    if (code == 0 && find_section(&xclbin, TW_XCLBIN_IP_LAYOUT, &layout))
        code = add_kernels(p, &partition, &layout, err);
    if (code == 0 && p->n == 0)
        code = add_pdis(p, &partition, err);
    if (code == 0 && p->n == 0)
        return tw_view_fail(&section, 0, TW_E_FORMAT, err, "it holds no PDI");
    p->columns = partition.columns;
    return code;
}

static int read_programs(const struct tw_view *file, struct programs *p, struct tw_error *err)
{
    if (tw_xclbin_recognise(file))
        return read_xclbin(file, p, err);
    if (!tw_pdi_recognise(file))
        return tw_view_fail(file, 0, TW_E_FORMAT, err, "it is neither an xclbin nor a PDI");
    struct tw_pdi pdi;
    int code = tw_pdi_open(file, &pdi, err);
    p->program[0] = (struct tw_program){.pdi = file->data, .bytes = file->size};
    p->n = 1;
    return code;
}

int tw_context_load(struct tw_device *device, const char *path, unsigned columns, struct tw_context **context,
                    struct tw_error *err)
{
    struct tw_file_map map;
    *context = NULL;
    int code = tw_file_map_open(path, &map, err);
    if (code < 0)
        return code;
    struct tw_view file = {.data = map.data, .size = map.size, .file = path};
    struct programs *p = calloc(1, sizeof *p);
    code = p == NULL ? tw_fail(err, TW_E_MEMORY, "no memory for the programs of '%s'", path)
                     : read_programs(&file, p, err);
    if (code == 0 && columns == 0 && p->columns == 0)
        code = tw_fail(err, TW_E_ARGUMENT, "'%s' does not say how many columns it takes; say it yourself", path);
    if (code == 0)
        code = tw_context_create(device, columns != 0 ? columns : p->columns, p->program, p->n, context, err);
    free(p);
    tw_file_map_close(&map);
    return code;
}
