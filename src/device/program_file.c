/* Programs out of files: an xclbin with its kernels, or a bare PDI. */
#include "device/device.h"

#include "base/file_map.h"
#include "base/view.h"
#include "image/kernel_metadata.h"
#include "image/pdi.h"
#include "image/xclbin_tables.h"

#include <stdlib.h>
#include <string.h>

/* A field of tw_ip.properties. */
enum ip_properties { IP_FUNCTION_SHIFT = 4, IP_FUNCTION_MASK = 3 };

struct programs {
    unsigned columns;
    unsigned n;
    struct tw_program program[TW_XDNA_CUS];
    char names[TW_XDNA_CUS][TW_KERNEL_NAME_BYTES];
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

static int add(struct programs *p, const struct tw_aie_pdi *pdi, unsigned function, const char *name,
               const struct tw_view *file, struct tw_error *err)
{
    if (p->n == TW_XDNA_CUS)
        return tw_view_fail(file, 0, TW_E_LIMIT, err, "it has more than %d programs, which a context has no room for",
                            TW_XDNA_CUS);
    memcpy(p->names[p->n], name, strlen(name) + 1);
    p->program[p->n] = (struct tw_program){
        .pdi = pdi->image.data, .bytes = pdi->image.size, .function = function, .name = p->names[p->n]};
    p->n++;
    return TW_OK;
}

/* "functional" of a kernel, by the table of instances ("KERNEL:INSTANCE"); 0 for one that is not in it. */
static unsigned find_function(const struct tw_table *ips, const char *kernel)
{
    size_t size = strlen(kernel);
    for (uint32_t i = 0; i < ips->count; i++) {
        struct tw_ip ip;
        tw_ip_read(ips, i, &ip);
        if (strncmp(ip.name, kernel, size) == 0 && ip.name[size] == ':')
            return ip.properties >> IP_FUNCTION_SHIFT & IP_FUNCTION_MASK;
    }
    return 0;
}

/* Kernels that no PDI serves cannot run, and are left out. */
static int add_kernels(struct programs *p, const struct tw_aie_partition *partition,
                       const struct tw_kernel_metadata *metadata, const struct tw_table *ips,
                       const struct tw_view *file, struct tw_error *err)
{
    int code = TW_OK;
    for (uint32_t i = 0; code == 0 && i < metadata->n_kernels; i++) {
        const struct tw_kernel *kernel = &metadata->kernels[i];
        struct tw_aie_pdi pdi;
        uint32_t number;
        if (!kernel->is_dpu || tw_kernel_pdi(kernel, partition, &number, NULL) < 0)
            continue;
        tw_aie_partition_pdi(partition, number, &pdi);
        code = add(p, &pdi, find_function(ips, kernel->name), kernel->name, file, err);
    }
    return code;
}

static int read_kernels(const struct tw_xclbin *xclbin, const struct tw_aie_partition *partition, struct programs *p,
                        struct tw_error *err)
{
    struct tw_kernel_metadata metadata = {0};
    struct tw_table ips = {0};
    struct tw_view section;
    int code = TW_OK;
    if (find_section(xclbin, TW_XCLBIN_IP_LAYOUT, &section))
        code = tw_ips_open(&section, &ips, err);
    if (code == 0 && find_section(xclbin, TW_XCLBIN_EMBEDDED_METADATA, &section))
        code = tw_kernel_metadata_read(&section, &metadata, err);
    if (code == 0)
        code = add_kernels(p, partition, &metadata, &ips, &xclbin->view, err);
    tw_kernel_metadata_free(&metadata);
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
    struct tw_view section;
    struct tw_aie_partition partition;
    int code = tw_xclbin_open(file, &xclbin, err);
    if (code < 0)
        return code;
    if (!find_section(&xclbin, TW_XCLBIN_AIE_PARTITION, &section))
        return tw_view_fail(file, 0, TW_E_FORMAT, err, "it has no program for an NPU (no section AIE_PARTITION)");
    code = tw_aie_partition_open(&section, &partition, err);
    if (code == 0)
        code = read_kernels(&xclbin, &partition, p, err);
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
