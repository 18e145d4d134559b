#include "image/aie_partition.h"

#include "base/little_endian.h"
#include "image/aie_partition_format.h"

#include <inttypes.h>
#include <string.h>

struct array {
    uint32_t count;
    struct tw_view entries;
};

static int read_array(const struct tw_view *section, const unsigned char *at, uint32_t entry_bytes, const char *what,
                      struct array *array, struct tw_error *err)
{
    array->count = tw_load_u32(at);
    return tw_view_table(section, tw_load_u32(at + 4), array->count, entry_bytes, what, &array->entries, err);
}

static int read_group(const struct tw_view *section, const unsigned char *at, struct tw_cdo_group *group,
                      struct tw_error *err)
{
    struct array kernels;
    *group = (struct tw_cdo_group){.type = at[AIE_GROUP_TYPE], .pdi_id = tw_load_u64(at + AIE_GROUP_PDI_ID)};
    int code = tw_view_string(section, tw_load_u32(at + AIE_GROUP_NAME), "the name of a CDO group", &group->name, err);
    if (code == 0)
        code = read_array(section, at + AIE_GROUP_KERNELS, 8, "the kernels of a CDO group", &kernels, err);
    if (code < 0)
        return code;
    group->n_kernels = kernels.count;
    group->kernels = kernels.entries;
    return TW_OK;
}

static int read_pdi(const struct tw_view *section, const unsigned char *at, struct tw_aie_pdi *pdi,
                    struct tw_error *err)
{
    struct array image, groups;
    int code = read_array(section, at + AIE_PDI_IMAGE, 1, "a PDI", &image, err);
    if (code == 0)
        code = read_array(section, at + AIE_PDI_GROUPS, AIE_GROUP_BYTES, "the CDO groups of a PDI", &groups, err);
    if (code == 0 && groups.count > TW_CDO_GROUPS_MAX)
        code = tw_view_fail(&groups.entries, 0, TW_E_LIMIT, err, "%" PRIu32 " groups of a PDI; at most %d are read",
                            groups.count, TW_CDO_GROUPS_MAX);
    if (code < 0)
        return code;
    *pdi = (struct tw_aie_pdi){
        .image = image.entries, .n_groups = groups.count, .groups = groups.entries, .partition = *section};
    memcpy(pdi->uuid, at, TW_UUID_BYTES);
    return TW_OK;
}

/* *left: the bytes of the section that no PDI before has taken. */
static int check_pdi(const struct tw_aie_partition *p, uint32_t i, size_t *left, struct tw_error *err)
{
    struct tw_aie_pdi pdi;
    struct tw_cdo_group group;
    int code = read_pdi(&p->view, p->pdis.data + (size_t)i * AIE_PDI_BYTES, &pdi, err);
    if (code == 0 && pdi.image.size > *left)
        code = tw_view_fail(&pdi.image, 0, TW_E_FORMAT, err,
                            "PDI number %" PRIu32 " has 0x%zx bytes, but with those before it, that is more than the "
                            "section has; they overlap",
                            i, pdi.image.size);
    if (code < 0)
        return code;
    *left -= pdi.image.size;
    for (uint32_t j = 0; code == 0 && j < pdi.n_groups; j++)
        code = read_group(&p->view, pdi.groups.data + (size_t)j * AIE_GROUP_BYTES, &group, err);
    return code;
}

int tw_aie_partition_open(const struct tw_view *section, struct tw_aie_partition *p, struct tw_error *err)
{
    struct tw_view header;
    struct array start_columns, pdis;
    int code = tw_view_part(section, 0, AIE_HEADER_BYTES, "the header of AIE_PARTITION", &header, err);
    if (code < 0)
        return code;
    *p = (struct tw_aie_partition){.view = *section,
                                   .operations_per_cycle = tw_load_u32(header.data + AIE_HEADER_OPERATIONS),
                                   .columns = tw_load_u16(header.data + AIE_HEADER_COLUMNS)};
    code = tw_view_string(section, tw_load_u32(header.data + AIE_HEADER_NAME), "the partition's name", &p->name, err);
    if (code == 0)
        code = read_array(section, header.data + AIE_HEADER_START_COLUMNS, 2, "the start columns", &start_columns, err);
    if (code == 0)
        code = read_array(section, header.data + AIE_HEADER_PDIS, AIE_PDI_BYTES, "the list of PDIs", &pdis, err);
    if (code < 0)
        return code;
    p->n_start_columns = start_columns.count;
    p->start_columns = start_columns.entries;
    p->n_pdis = pdis.count;
    p->pdis = pdis.entries;
    if (p->n_pdis > TW_AIE_PDIS_MAX)
        return tw_view_fail(&p->pdis, 0, TW_E_LIMIT, err, "%" PRIu32 " PDIs; at most %d are read", p->n_pdis,
                            TW_AIE_PDIS_MAX);
    size_t left = section->size;
    for (uint32_t i = 0; code == 0 && i < p->n_pdis; i++)
        code = check_pdi(p, i, &left, err);
    return code;
}

uint16_t tw_aie_partition_start(const struct tw_aie_partition *p, uint32_t i)
{
    return tw_load_u16(p->start_columns.data + 2 * (size_t)i);
}

/* What was checked when the partition was opened cannot fail now. */
void tw_aie_partition_pdi(const struct tw_aie_partition *p, uint32_t i, struct tw_aie_pdi *pdi)
{
    (void)read_pdi(&p->view, p->pdis.data + (size_t)i * AIE_PDI_BYTES, pdi, NULL);
}

void tw_aie_pdi_group(const struct tw_aie_pdi *pdi, uint32_t j, struct tw_cdo_group *group)
{
    (void)read_group(&pdi->partition, pdi->groups.data + (size_t)j * AIE_GROUP_BYTES, group, NULL);
}
