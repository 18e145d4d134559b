/*
 * Reading an xclbin (axlf), the container of AMD's runtime XRT: a header and sections. By XRT's xclbin.h; unsigned
 * files, as all of NPU1 are.
 */
#ifndef TW_IMAGE_XCLBIN_H
#define TW_IMAGE_XCLBIN_H

#include "base/view.h"

enum tw_xclbin_limit { TW_XCLBIN_NAME_BYTES = 16, TW_XCLBIN_PLATFORM_BYTES = 64, TW_UUID_BYTES = 16 };

/* Kinds of sections that files for NPU1 have. */
enum tw_xclbin_kind {
    TW_XCLBIN_EMBEDDED_METADATA = 2, /* XML: the kernels and their arguments */
    TW_XCLBIN_MEM_TOPOLOGY = 6,
    TW_XCLBIN_CONNECTIVITY = 7,
    TW_XCLBIN_IP_LAYOUT = 8,
    TW_XCLBIN_GROUP_TOPOLOGY = 26,
    TW_XCLBIN_GROUP_CONNECTIVITY = 27,
    TW_XCLBIN_AIE_PARTITION = 32,
    TW_XCLBIN_KINDS = 37 /* kinds are smaller than this */
};

struct tw_xclbin {
    struct tw_view view;
    char platform[TW_XCLBIN_PLATFORM_BYTES + 1];
    unsigned char uuid[TW_UUID_BYTES];
    uint64_t timestamp; /* seconds since 1970; 0: not known */
    uint32_t n_sections;
    struct tw_view headers; /* of the sections */
};

struct tw_xclbin_section {
    uint32_t kind; /* enum tw_xclbin_kind, or any other number */
    char name[TW_XCLBIN_NAME_BYTES + 1];
    struct tw_view data;
};

/* Whether an xclbin begins here. */
int tw_xclbin_recognise(const struct tw_view *view);

/* Checks the header, that it tells the view's size, and that all sections lie inside. Fails with TW_E_FORMAT. */
int tw_xclbin_open(const struct tw_view *view, struct tw_xclbin *xclbin, struct tw_error *err);

/* Section number i < n_sections of an opened xclbin. */
void tw_xclbin_section(const struct tw_xclbin *xclbin, uint32_t i, struct tw_xclbin_section *section);

/* XRT's name of a kind, "AIE_PARTITION"; "?" for one that it does not know. */
const char *tw_xclbin_kind_name(uint32_t kind);

#endif
