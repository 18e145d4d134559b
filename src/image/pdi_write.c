#include "image/pdi.h"

#include "base/little_endian.h"
#include "image/pdi_format.h"
#include "npu1/cdo.h"
#include "npu1/tile.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* All words of the headers that are not zero and do not depend on the CDO. */
static const struct fixed {
    uint16_t at;
    uint32_t word;
} fixed[] = {
    {PDI_TABLE_AT + PDI_TABLE_VERSION, PDI_VERSION},
    {PDI_TABLE_AT + PDI_TABLE_IMAGES, 1},
    {PDI_TABLE_AT + PDI_TABLE_FIRST_IMAGE, PDI_IMAGE_AT / 4},
    {PDI_TABLE_AT + PDI_TABLE_PARTITIONS, 1},
    {PDI_TABLE_AT + PDI_TABLE_FIRST_PARTITION, PDI_PARTITION_AT / 4},
    {PDI_TABLE_AT + PDI_TABLE_ID_CODE, TW_NPU1_ID_CODE},
    {PDI_TABLE_AT + PDI_TABLE_IDENTIFICATION, PDI_IDENTIFICATION},
    {PDI_TABLE_AT + PDI_TABLE_HEADER_SIZES, PDI_HEADER_SIZES},
    {PDI_TABLE_AT + PDI_TABLE_META_WORDS, PDI_META_WORDS},
    {PDI_TABLE_AT + PDI_TABLE_EXTENDED_ID, PDI_EXTENDED_ID},
    {PDI_IMAGE_AT + PDI_IMAGE_FIRST_PARTITION, PDI_PARTITION_AT / 4},
    {PDI_IMAGE_AT + PDI_IMAGE_PARTITIONS, 1},
    {PDI_IMAGE_AT + PDI_IMAGE_ID, PDI_IMAGE_ID_AIE},
    {PDI_IMAGE_AT + PDI_IMAGE_PCR, UINT32_MAX},
    {PDI_PARTITION_AT + PDI_PARTITION_LOAD, UINT32_MAX},
    {PDI_PARTITION_AT + PDI_PARTITION_LOAD + 4, UINT32_MAX},
    {PDI_PARTITION_AT + PDI_PARTITION_DATA, PDI_DATA_AT / 4},
    {PDI_PARTITION_AT + PDI_PARTITION_ATTRIBUTES, PDI_ATTRIBUTES_AIE},
    {PDI_PARTITION_AT + PDI_PARTITION_SECTIONS, 1},
};

static const char image_name[] = "aie_image";

/* Fills the last word of a header. */
static void sign(unsigned char *header, size_t bytes)
{
    uint32_t sum = 0;
    for (size_t at = 0; at < bytes - 4; at += 4)
        sum += tw_load_u32(header + at);
    tw_store_u32(header + bytes - 4, ~sum);
}

static void write_headers(unsigned char *pdi, uint32_t words, uint32_t padded)
{
    static const uint32_t marker[PDI_MARKER_BYTES / 4] = PDI_MARKER;
    for (size_t i = 0; i < PDI_MARKER_BYTES / 4; i++)
        tw_store_u32(pdi + 4 * i, marker[i]);
    for (size_t i = 0; i < sizeof fixed / sizeof fixed[0]; i++)
        tw_store_u32(pdi + fixed[i].at, fixed[i].word);
    memcpy(pdi + PDI_IMAGE_AT + PDI_IMAGE_NAME, image_name, sizeof image_name);
    tw_store_u32(pdi + PDI_PARTITION_AT + PDI_PARTITION_ENCRYPTED, padded);
    tw_store_u32(pdi + PDI_PARTITION_AT + PDI_PARTITION_UNENCRYPTED, words);
    tw_store_u32(pdi + PDI_PARTITION_AT + PDI_PARTITION_TOTAL, padded);
    sign(pdi + PDI_TABLE_AT, PDI_TABLE_BYTES);
    sign(pdi + PDI_IMAGE_AT, PDI_IMAGE_BYTES);
    sign(pdi + PDI_PARTITION_AT, PDI_PARTITION_BYTES);
}

int tw_pdi_write(const struct tw_view *cdo, unsigned char **bytes, size_t *size, struct tw_error *err)
{
    struct tw_cdo checked;
    int code = tw_cdo_open(cdo, &checked, err);
    if (code < 0)
        return code;
    size_t used = checked.commands.size + 4 * (size_t)TW_CDO_HEADER_WORDS;
    size_t padded = (used + PDI_DATA_ALIGN - 1) / PDI_DATA_ALIGN * PDI_DATA_ALIGN;
    if (used > UINT32_MAX - PDI_DATA_ALIGN)
        return tw_view_fail(cdo, 0, TW_E_LIMIT, err, "a CDO of %zu bytes; a PDI holds at most 4 GiB", used);
    unsigned char *pdi = calloc(1, PDI_DATA_AT + padded);
    if (pdi == NULL)
        return tw_fail(err, TW_E_MEMORY, "no memory for a PDI of %zu bytes", PDI_DATA_AT + padded);
    write_headers(pdi, (uint32_t)(used / 4), (uint32_t)(padded / 4));
    memcpy(pdi + PDI_DATA_AT, cdo->data, used);
    *bytes = pdi;
    *size = PDI_DATA_AT + padded;
    return TW_OK;
}
