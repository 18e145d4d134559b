#include "image/xclbin.h"

#include "base/little_endian.h"
#include "image/xclbin_format.h"

#include <inttypes.h>
#include <string.h>

static const char magic[8] = XCLBIN_MAGIC;

int tw_xclbin_recognise(const struct tw_view *view)
{
    return view->size >= sizeof magic && memcmp(view->data, magic, sizeof magic) == 0;
}

static int check_sections(const struct tw_xclbin *x, struct tw_error *err)
{
    for (uint32_t i = 0; i < x->n_sections; i++) {
        const unsigned char *header = x->headers.data + (size_t)i * XCLBIN_SECTION_BYTES;
        struct tw_view data;
        int code = tw_view_part(&x->view, tw_load_u64(header + XCLBIN_SECTION_OFFSET),
                                tw_load_u64(header + XCLBIN_SECTION_SIZE), tw_xclbin_kind_name(tw_load_u32(header)),
                                &data, err);
        if (code < 0)
            return code;
    }
    return TW_OK;
}

int tw_xclbin_open(const struct tw_view *view, struct tw_xclbin *xclbin, struct tw_error *err)
{
    struct tw_view header;
    if (!tw_xclbin_recognise(view))
        return tw_view_fail(view, 0, TW_E_FORMAT, err, "no xclbin begins here: its first bytes are 'xclbin2'");
    int code = tw_view_part(view, 0, XCLBIN_HEADER_BYTES, "the xclbin header", &header, err);
    if (code < 0)
        return code;
    uint64_t length = tw_load_u64(header.data + XCLBIN_HEADER_LENGTH);
    if (length != view->size)
        return tw_view_fail(view, XCLBIN_HEADER_LENGTH, TW_E_FORMAT, err,
                            "the xclbin header tells a length of %" PRIu64
                            " bytes, but the file has %zu; it is damaged or cut short",
                            length, view->size);
    *xclbin = (struct tw_xclbin){.view = *view,
                                 .timestamp = tw_load_u64(header.data + XCLBIN_HEADER_TIMESTAMP),
                                 .n_sections = tw_load_u32(header.data + XCLBIN_HEADER_SECTIONS)};
    memcpy(xclbin->platform, header.data + XCLBIN_HEADER_PLATFORM, TW_XCLBIN_PLATFORM_BYTES);
    memcpy(xclbin->uuid, header.data + XCLBIN_HEADER_UUID, TW_UUID_BYTES);
    code = tw_view_table(view, XCLBIN_HEADER_BYTES, xclbin->n_sections, XCLBIN_SECTION_BYTES,
                         "the xclbin's section headers", &xclbin->headers, err);
    return code < 0 ? code : check_sections(xclbin, err);
}

void tw_xclbin_section(const struct tw_xclbin *xclbin, uint32_t i, struct tw_xclbin_section *section)
{
    const unsigned char *header = xclbin->headers.data + (size_t)i * XCLBIN_SECTION_BYTES;
    uint64_t at = tw_load_u64(header + XCLBIN_SECTION_OFFSET);

    *section = (struct tw_xclbin_section){.kind = tw_load_u32(header), .data = xclbin->view};
    memcpy(section->name, header + XCLBIN_SECTION_NAME, TW_XCLBIN_NAME_BYTES);
    section->data.data += at;
    section->data.at += at;
    section->data.size = (size_t)tw_load_u64(header + XCLBIN_SECTION_SIZE);
}

const char *tw_xclbin_kind_name(uint32_t kind)
{
    static const char *const names[TW_XCLBIN_KINDS] = {
        "BITSTREAM",
        "CLEARING_BITSTREAM",
        "EMBEDDED_METADATA",
        "FIRMWARE",
        "DEBUG_DATA",
        "SCHED_FIRMWARE",
        "MEM_TOPOLOGY",
        "CONNECTIVITY",
        "IP_LAYOUT",
        "DEBUG_IP_LAYOUT",
        "DESIGN_CHECK_POINT",
        "CLOCK_FREQ_TOPOLOGY",
        "MCS",
        "BMC",
        "BUILD_METADATA",
        "KEYVALUE_METADATA",
        "USER_METADATA",
        "DNA_CERTIFICATE",
        "PDI",
        "BITSTREAM_PARTIAL_PDI",
        "PARTITION_METADATA",
        "EMULATION_DATA",
        "SYSTEM_METADATA",
        "SOFT_KERNEL",
        "ASK_FLASH",
        "AIE_METADATA",
        "ASK_GROUP_TOPOLOGY",
        "ASK_GROUP_CONNECTIVITY",
        "SMARTNIC",
        "AIE_RESOURCES",
        "OVERLAY",
        "VENDER_METADATA",
        "AIE_PARTITION",
        "IP_METADATA",
        "AIE_RESOURCES_BIN",
        "AIE_TRACE_METADATA",
        "DTBO",
    };
    return kind < TW_XCLBIN_KINDS ? names[kind] : "?";
}
