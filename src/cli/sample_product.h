/*
 * A small product for the overlay as an ordinary program gets it: control code, the buffers that it works on, and the
 * bytes that the NPU has to write. All numbers are whole and small, so that these bytes are certain.
 */
#ifndef TW_CLI_SAMPLE_PRODUCT_H
#define TW_CLI_SAMPLE_PRODUCT_H

#include "overlay/shape.h"

#include <stddef.h>

/* Buffers by their argument numbers. */
enum tw_sample_buffer { TW_SAMPLE_A, TW_SAMPLE_B, TW_SAMPLE_C, TW_SAMPLE_HEADERS, TW_SAMPLE_BUFFERS };

struct tw_sample_bytes {
    unsigned char *data;
    size_t size;
};

struct tw_sample_product {
    struct tw_overlay_shape shape;
    struct tw_sample_bytes xclbin, code;
    struct tw_sample_bytes buffers[TW_SAMPLE_BUFFERS]; /* C: what is expected, in whole blocks */
};

/* *sample is released with tw_sample_product_free, also after a failure. Fails with TW_E_MEMORY. */
int tw_sample_product_make(struct tw_sample_product *sample, struct tw_error *err);
void tw_sample_product_free(struct tw_sample_product *sample);

#endif
