#include "image/kernel_metadata.h"

#include "base/little_endian.h"
#include "image/xml.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

_Static_assert((int)TW_KERNEL_NAME_BYTES == (int)XML_TEXT_MAX, "attributes are read where they stay");

struct reader {
    struct xml xml;
    struct tw_kernel_metadata *metadata;
    struct tw_kernel *kernel; /* whose element is open */
    unsigned kernel_depth;
};

/* One more entry of zeros at the end of a list; NULL when there is no memory. */
static void *grow(void **list, uint32_t n, size_t entry)
{
    void *larger = realloc(*list, (n + 1) * entry);
    if (larger == NULL)
        return NULL;
    *list = larger;
    return memset((char *)larger + n * entry, 0, entry);
}

/* A number in decimal or with 0x; `otherwise` when the attribute is not there. */
static int read_number(const struct xml *x, const char *name, uint64_t most, uint64_t otherwise, uint64_t *number,
                       struct tw_error *err)
{
    char text[XML_TEXT_MAX], *end;
    int code = xml_attribute(x, name, text, err);
    *number = otherwise;
    if (code <= 0)
        return code;
    errno = 0;
    *number = strtoull(text, &end, 0);
    if (text[0] < '0' || text[0] > '9' || *end != '\0' || errno != 0 || *number > most)
        return tw_view_fail(&x->view, x->at, TW_E_FORMAT, err,
                            "the attribute %s before here is '%s', no number up to %" PRIu64, name, text, most);
    return 1;
}

static int read_u32(const struct xml *x, const char *name, uint32_t *number, struct tw_error *err)
{
    uint64_t value;
    int code = read_number(x, name, UINT32_MAX, 0, &value, err);
    *number = (uint32_t)value;
    return code;
}

static int required(const struct xml *x, const char *name, int code, struct tw_error *err)
{
    return code != 0
               ? code
               : tw_view_fail(&x->view, x->at, TW_E_FORMAT, err, "the element before here has no attribute %s", name);
}

static int begin_kernel(struct reader *r, struct tw_error *err)
{
    struct tw_kernel_metadata *m = r->metadata;
    void *list = m->kernels;
    if (m->n_kernels == TW_KERNELS_MAX)
        return tw_view_fail(&r->xml.view, r->xml.at, TW_E_LIMIT, err, "more than %d kernels", TW_KERNELS_MAX);
    r->kernel = grow(&list, m->n_kernels, sizeof *m->kernels);
    m->kernels = r->kernel != NULL ? list : m->kernels;
    if (r->kernel == NULL)
        return tw_fail(err, TW_E_MEMORY, "no memory for the kernels of '%s'", r->xml.view.file);
    m->n_kernels++;
    r->kernel_depth = r->xml.depth;
    return required(&r->xml, "name", xml_attribute(&r->xml, "name", r->kernel->name, err), err);
}

static int read_extended(struct reader *r, struct tw_error *err)
{
    int code = read_number(&r->xml, "dpu_kernel_id", UINT64_MAX, 0, &r->kernel->dpu_id, err);
    if (code == 1)
        r->kernel->is_dpu = 1;
    return code;
}

/* XRT wants the same: ids in order without a gap. */
static int check_id(const struct reader *r, const struct tw_kernel_argument *a, struct tw_error *err)
{
    if (a->id + 1 != r->kernel->n_arguments)
        return tw_view_fail(&r->xml.view, r->xml.at, TW_E_FORMAT, err,
                            "argument '%s' of kernel '%s' has the id %" PRIu32 " instead of %" PRIu32, a->name,
                            r->kernel->name, a->id, r->kernel->n_arguments - 1);
    return TW_OK;
}

static int read_argument(struct reader *r, struct tw_error *err)
{
    struct tw_kernel *k = r->kernel;
    const struct xml *x = &r->xml;
    void *list = k->arguments;
    uint64_t qualifier;
    if (k->n_arguments == TW_KERNEL_ARGUMENTS_MAX)
        return tw_view_fail(&x->view, x->at, TW_E_LIMIT, err, "more than %d arguments of kernel '%s'",
                            TW_KERNEL_ARGUMENTS_MAX, k->name);
    struct tw_kernel_argument *a = grow(&list, k->n_arguments, sizeof *k->arguments);
    if (a == NULL)
        return tw_fail(err, TW_E_MEMORY, "no memory for the arguments of kernel '%s'", k->name);
    k->arguments = list;
    k->n_arguments++;
    int code = required(x, "name", xml_attribute(x, "name", a->name, err), err);
    if (code > 0)
        code = xml_attribute(x, "type", a->type, err);
    if (code >= 0)
        code = required(x, "id", read_u32(x, "id", &a->id, err), err);
    if (code > 0)
        code = read_number(x, "addressQualifier", UINT32_MAX, 0, &qualifier, err);
    if (code >= 0) {
        a->is_buffer = qualifier == 1;
        code = read_u32(x, "offset", &a->offset, err);
    }
    if (code >= 0)
        code = read_u32(x, "size", &a->size, err);
    return code < 0 ? code : check_id(r, a, err);
}

static int read_instance(struct reader *r, struct tw_error *err)
{
    return r->kernel->instance[0] != '\0' ? 0 : xml_attribute(&r->xml, "name", r->kernel->instance, err);
}

static int begin_element(struct reader *r, struct xml_text name, struct tw_error *err)
{
    if (r->kernel == NULL)
        return xml_is(name, "kernel") ? begin_kernel(r, err) : TW_OK;
    if (r->xml.depth != r->kernel_depth + 1)
        return TW_OK;
    if (xml_is(name, "extended-data"))
        return read_extended(r, err);
    if (xml_is(name, "arg"))
        return read_argument(r, err);
    return xml_is(name, "instance") ? read_instance(r, err) : TW_OK;
}

static int read_all(struct reader *r, struct tw_error *err)
{
    struct xml_text name;
    int event;
    while ((event = xml_next(&r->xml, &name, err)) > XML_END) {
        int code = event == XML_ELEMENT ? begin_element(r, name, err) : TW_OK;
        if (code < 0)
            return code;
        if (event == XML_ELEMENT_END && r->xml.depth < r->kernel_depth)
            r->kernel = NULL;
        if (r->kernel == NULL)
            r->kernel_depth = 0;
    }
    return event;
}

int tw_kernel_metadata_read(const struct tw_view *section, struct tw_kernel_metadata *metadata, struct tw_error *err)
{
    struct reader r = {.metadata = metadata};
    *metadata = (struct tw_kernel_metadata){0};
    xml_begin(&r.xml, section);
    int code = read_all(&r, err);
    if (code < 0)
        tw_kernel_metadata_free(metadata);
    return code;
}

void tw_kernel_metadata_free(struct tw_kernel_metadata *metadata)
{
    for (uint32_t i = 0; i < metadata->n_kernels; i++)
        free(metadata->kernels[i].arguments);
    free(metadata->kernels);
    *metadata = (struct tw_kernel_metadata){0};
}

const struct tw_kernel *tw_kernel_find(const struct tw_kernel_metadata *metadata, const char *name)
{
    for (uint32_t i = 0; i < metadata->n_kernels; i++) {
        const struct tw_kernel *k = &metadata->kernels[i];
        if (name != NULL ? strcmp(k->name, name) == 0 : k->is_dpu)
            return k;
    }
    return NULL;
}

static int serves(const struct tw_aie_pdi *pdi, uint64_t dpu_id)
{
    for (uint32_t j = 0; j < pdi->n_groups; j++) {
        struct tw_cdo_group group;
        tw_aie_pdi_group(pdi, j, &group);
        for (uint32_t k = 0; k < group.n_kernels; k++)
            if (tw_load_u64(group.kernels.data + 8 * (size_t)k) == dpu_id)
                return 1;
    }
    return 0;
}

int tw_kernel_pdi(const struct tw_kernel *kernel, const struct tw_aie_partition *partition, uint32_t *pdi,
                  struct tw_error *err)
{
    for (uint32_t i = 0; kernel->is_dpu && i < partition->n_pdis; i++) {
        struct tw_aie_pdi candidate;
        tw_aie_partition_pdi(partition, i, &candidate);
        if (serves(&candidate, kernel->dpu_id)) {
            *pdi = i;
            return TW_OK;
        }
    }
    return tw_view_fail(&partition->view, 0, TW_E_NOT_FOUND, err, "no PDI serves the kernel '%s' (id 0x%" PRIx64 ")",
                        kernel->name, kernel->dpu_id);
}
