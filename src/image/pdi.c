#include "image/pdi.h"

#include "base/little_endian.h"
#include "image/pdi_format.h"

#include <inttypes.h>
#include <string.h>

static const uint32_t marker[PDI_MARKER_BYTES / 4] = PDI_MARKER;

static uint32_t field(const struct tw_view *v, size_t offset)
{
    return tw_load_u32(v->data + offset);
}

/* The last word of each header is the complement of the sum of the words before it. */
static int check_sum(const struct tw_view *header, const char *what, struct tw_error *err)
{
    size_t last = header->size - 4;
    uint32_t sum = 0;

    for (size_t at = 0; at < last; at += 4)
        sum += field(header, at);
    if (field(header, last) != ~sum)
        return tw_view_fail(header, last, TW_E_FORMAT, err,
                            "the checksum of %s is 0x%" PRIx32 " instead of 0x%" PRIx32 "; the file is damaged", what,
                            field(header, last), ~sum);
    return TW_OK;
}

int tw_pdi_recognise(const struct tw_view *view)
{
    if (view->size < PDI_MARKER_BYTES)
        return 0;
    for (size_t i = 0; i < PDI_MARKER_BYTES / 4; i++)
        if (field(view, 4 * i) != marker[i])
            return 0;
    return 1;
}

static int check_table(const struct tw_view *table, struct tw_error *err)
{
    if (field(table, PDI_TABLE_IDENTIFICATION) != PDI_IDENTIFICATION)
        return tw_view_fail(table, PDI_TABLE_IDENTIFICATION, TW_E_FORMAT, err,
                            "the PDI's identification is 0x%" PRIx32 " instead of 0x%x",
                            field(table, PDI_TABLE_IDENTIFICATION), PDI_IDENTIFICATION);
    int code = check_sum(table, "the PDI's image header table", err);
    if (code < 0)
        return code;
    if (field(table, PDI_TABLE_VERSION) != PDI_VERSION)
        return tw_view_fail(table, PDI_TABLE_VERSION, TW_E_UNSUPPORTED, err,
                            "PDI version 0x%" PRIx32 ", but only 0x%x is known", field(table, PDI_TABLE_VERSION),
                            PDI_VERSION);
    return TW_OK;
}

/* The headers of one kind, each with its checksum checked. */
static int open_headers(const struct tw_view *v, uint32_t first_word, uint32_t count, uint32_t bytes, const char *what,
                        struct tw_view *headers, struct tw_error *err)
{
    int code = tw_view_table(v, 4 * (uint64_t)first_word, count, bytes, what, headers, err);
    for (uint32_t i = 0; code == 0 && i < count; i++) {
        struct tw_view header;
        code = tw_view_part(headers, (uint64_t)i * bytes, bytes, what, &header, err);
        if (code == 0)
            code = check_sum(&header, what, err);
    }
    return code;
}

/* *left: the bytes of the PDI that no partition before has taken. If many shared them, a small file could ask for much.
 */
static int check_partition(const struct tw_pdi *pdi, uint32_t i, size_t *left, struct tw_error *err)
{
    struct tw_view data, header;
    int code = tw_view_part(&pdi->partitions, (uint64_t)i * PDI_PARTITION_BYTES, PDI_PARTITION_BYTES,
                            "a partition header", &header, err);
    if (code < 0)
        return code;
    uint32_t words = field(&header, PDI_PARTITION_UNENCRYPTED), total = field(&header, PDI_PARTITION_TOTAL);
    if (words > total)
        return tw_view_fail(&header, PDI_PARTITION_UNENCRYPTED, TW_E_FORMAT, err,
                            "the partition's data has 0x%" PRIx32 " words, more than the 0x%" PRIx32 " it takes in all",
                            words, total);
    code = tw_view_part(&pdi->view, 4 * (uint64_t)field(&header, PDI_PARTITION_DATA), 4 * (uint64_t)total,
                        "the data of a partition", &data, err);
    if (code == 0 && data.size > *left)
        code = tw_view_fail(
            &header, PDI_PARTITION_TOTAL, TW_E_FORMAT, err,
            "the partitions up to this one, of 0x%" PRIx32 " words, have more data than the PDI; they overlap", total);
    if (code == 0)
        *left -= data.size;
    return code;
}

int tw_pdi_open(const struct tw_view *view, struct tw_pdi *pdi, struct tw_error *err)
{
    struct tw_view table;
    if (!tw_pdi_recognise(view))
        return tw_view_fail(view, 0, TW_E_FORMAT, err, "no PDI begins here: its first 16 bytes are a fixed marker");
    int code = tw_view_part(view, PDI_TABLE_AT, PDI_TABLE_BYTES, "the PDI's image header table", &table, err);
    if (code == 0)
        code = check_table(&table, err);
    if (code < 0)
        return code;
    *pdi = (struct tw_pdi){.view = *view,
                           .id_code = field(&table, PDI_TABLE_ID_CODE),
                           .pdi_id = field(&table, PDI_TABLE_PDI_ID),
                           .n_images = field(&table, PDI_TABLE_IMAGES),
                           .n_partitions = field(&table, PDI_TABLE_PARTITIONS)};
    code = open_headers(view, field(&table, PDI_TABLE_FIRST_IMAGE), pdi->n_images, PDI_IMAGE_BYTES, "an image header",
                        &pdi->images, err);
    if (code == 0)
        code = open_headers(view, field(&table, PDI_TABLE_FIRST_PARTITION), pdi->n_partitions, PDI_PARTITION_BYTES,
                            "a partition header", &pdi->partitions, err);
    size_t left = view->size;
    for (uint32_t i = 0; code == 0 && i < pdi->n_partitions; i++)
        code = check_partition(pdi, i, &left, err);
    return code;
}

void tw_pdi_image(const struct tw_pdi *pdi, uint32_t i, struct tw_pdi_image *image)
{
    const unsigned char *header = pdi->images.data + (size_t)i * PDI_IMAGE_BYTES;

    *image = (struct tw_pdi_image){.id = tw_load_u32(header + PDI_IMAGE_ID),
                                   .n_partitions = tw_load_u32(header + PDI_IMAGE_PARTITIONS)};
    memcpy(image->name, header + PDI_IMAGE_NAME, TW_PDI_NAME_BYTES);
}

void tw_pdi_partition(const struct tw_pdi *pdi, uint32_t i, struct tw_pdi_partition *partition)
{
    const unsigned char *header = pdi->partitions.data + (size_t)i * PDI_PARTITION_BYTES;
    uint64_t at = 4 * (uint64_t)tw_load_u32(header + PDI_PARTITION_DATA);

    *partition =
        (struct tw_pdi_partition){.data = pdi->view, .attributes = tw_load_u32(header + PDI_PARTITION_ATTRIBUTES)};
    partition->data.data += at;
    partition->data.at += at;
    partition->data.size = 4 * (size_t)tw_load_u32(header + PDI_PARTITION_UNENCRYPTED);
}
