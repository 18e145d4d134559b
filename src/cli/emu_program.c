#include "cli/emu_program.h"

#include "emu/firmware.h"
#include "image/aie_partition.h"
#include "image/control_elf.h"
#include "image/kernel_metadata.h"
#include "image/pdi.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* ---- xclbin */

/* The first section of a kind. */
static int find_section(const struct tw_xclbin *xclbin, uint32_t kind, struct tw_view *data, struct tw_error *err)
{
    for (uint32_t i = 0; i < xclbin->n_sections; i++) {
        struct tw_xclbin_section section;
        tw_xclbin_section(xclbin, i, &section);
        if (section.kind == kind) {
            *data = section.data;
            return TW_OK;
        }
    }
    return tw_view_fail(&xclbin->view, 0, TW_E_UNSUPPORTED, err, "this xclbin has no section %s",
                        tw_xclbin_kind_name(kind));
}

/* Whether a kernel has a PDI; *pdi is its number. */
static int has_pdi(const struct tw_kernel *kernel, const struct tw_aie_partition *partition, uint32_t *pdi)
{
    return kernel->is_dpu && tw_kernel_pdi(kernel, partition, pdi, NULL) == TW_OK;
}

/* The sentence lists the kernels that can be run. */
static int not_found(const struct tw_view *file, const struct tw_kernel_metadata *metadata,
                     const struct tw_aie_partition *partition, const char *kernel, struct tw_error *err)
{
    char names[512] = "";
    size_t used = 0;
    for (uint32_t i = 0; i < metadata->n_kernels && used < sizeof names; i++) {
        uint32_t pdi;
        if (has_pdi(&metadata->kernels[i], partition, &pdi))
            used += (size_t)snprintf(names + used, sizeof names - used, "%s%s", used > 0 ? ", " : "",
                                     metadata->kernels[i].name);
    }
    if (used == 0)
        return tw_view_fail(file, 0, TW_E_NOT_FOUND, err, "no kernel of this xclbin has a PDI");
    if (kernel == NULL)
        return tw_view_fail(file, 0, TW_E_NOT_FOUND, err, "several kernels have a PDI; choose with --kernel: %s",
                            names);
    return tw_view_fail(file, 0, TW_E_NOT_FOUND, err, "no kernel '%s' has a PDI; there is %s", kernel, names);
}

/* The kernel of a name, or (NULL) the only one, of those that have a PDI. */
static const struct tw_kernel *choose(const struct tw_kernel_metadata *metadata,
                                      const struct tw_aie_partition *partition, const char *name, uint32_t *pdi)
{
    const struct tw_kernel *found = NULL;
    uint32_t n = 0, number;
    for (uint32_t i = 0; i < metadata->n_kernels; i++) {
        const struct tw_kernel *k = &metadata->kernels[i];
        if ((name != NULL && strcmp(k->name, name) != 0) || !has_pdi(k, partition, &number))
            continue;
        if (n++ == 0) {
            found = k;
            *pdi = number;
        }
    }
    return n == 1 || name != NULL ? found : NULL;
}

static void take_kernel(struct tw_emu_program *program, const struct tw_kernel *kernel)
{
    snprintf(program->kernel, sizeof program->kernel, "%.*s", (int)sizeof program->kernel - 1, kernel->name);
    program->n_arguments = 0;
    for (uint32_t i = TW_CONTROL_ELF_FIRST_BUFFER; i < kernel->n_arguments; i++)
        program->n_arguments += kernel->arguments[i].is_buffer;
}

static int open_kernel(const struct tw_xclbin *xclbin, const char *kernel, struct tw_emu_program *program,
                       struct tw_error *err)
{
    struct tw_view section;
    struct tw_aie_partition partition;
    struct tw_kernel_metadata metadata = {0};
    struct tw_aie_pdi pdi;
    uint32_t number = 0;
    int code = find_section(xclbin, TW_XCLBIN_AIE_PARTITION, &section, err);
    if (code == TW_OK)
        code = tw_aie_partition_open(&section, &partition, err);
    if (code == TW_OK)
        code = find_section(xclbin, TW_XCLBIN_EMBEDDED_METADATA, &section, err);
    if (code == TW_OK)
        code = tw_kernel_metadata_read(&section, &metadata, err);
    if (code < 0)
        return code;
    const struct tw_kernel *found = choose(&metadata, &partition, kernel, &number);
    if (found == NULL) {
        code = not_found(&xclbin->view, &metadata, &partition, kernel, err);
    } else {
        take_kernel(program, found);
        tw_aie_partition_pdi(&partition, number, &pdi);
        program->pdi = pdi.image;
        program->columns = partition.columns;
    }
    tw_kernel_metadata_free(&metadata);
    return code;
}

/* ---- */

int tw_emu_program_open(const char *path, const char *kernel, struct tw_emu_program *program, struct tw_error *err)
{
    struct tw_xclbin xclbin;
    *program = (struct tw_emu_program){.columns = TW_FIRMWARE_COLUMNS, .n_arguments = -1};
    int code = tw_file_map_open(path, &program->map, err);
    if (code < 0)
        return code;
    program->pdi = (struct tw_view){program->map.data, program->map.size, path, 0};
    if (tw_xclbin_recognise(&program->pdi)) {
        code = tw_xclbin_open(&program->pdi, &xclbin, err);
        return code < 0 ? code : open_kernel(&xclbin, kernel, program, err);
    }
    if (!tw_pdi_recognise(&program->pdi))
        return tw_fail(err, TW_E_UNSUPPORTED, "'%s' is neither an xclbin nor a PDI", path);
    if (kernel != NULL)
        return tw_fail(err, TW_E_NOT_FOUND, "'%s' is a PDI, which has no kernels to choose from", path);
    return TW_OK;
}

void tw_emu_program_close(struct tw_emu_program *program)
{
    tw_file_map_close(&program->map);
    *program = (struct tw_emu_program){0};
}
