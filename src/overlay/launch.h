/*
 * Control code for products: one launch of the overlay, of any number of products one after another.
 *
 *     struct tw_overlay_launch *launch;
 *     tw_overlay_launch_begin(&launch, &err);
 *     tw_overlay_product(launch, &product, &err);     as often as needed; each may read what those before have written
 *     tw_overlay_launch_end(launch, &bytes, &size, &err);
 */
#ifndef TW_OVERLAY_LAUNCH_H
#define TW_OVERLAY_LAUNCH_H

#include "overlay/shape.h"

#include <stddef.h>

struct tw_overlay_launch;

/* Numbers in a buffer argument of the command, which no other argument shares, from a byte on that is a multiple of 4.
 */
struct tw_overlay_place {
    uint32_t argument;
    uint64_t offset;
};

struct tw_overlay_product {
    struct tw_overlay_shape shape;
    struct tw_overlay_place a, b, c, headers;
    struct tw_overlay_place d; /* only with an addend; not in the memory of C */
    uint32_t lda;              /* numbers from one row of A to the next: even, at least tw_overlay_depth */
    uint32_t ldb;              /* the same of B's rows or columns, unless it is packed */
    uint32_t ldc;              /* the same of C: even if it is bf16, at least tw_overlay_width */
    uint32_t ldd;              /* the same of D, at least tw_overlay_width */
    /* b as the shape's order says; headers as tw_overlay_write_headers made them. */
};

/* Fails with TW_E_MEMORY. */
int tw_overlay_launch_begin(struct tw_overlay_launch **launch, struct tw_error *err);
void tw_overlay_launch_free(struct tw_overlay_launch *launch);

/*
 * Appends a product. It may read what those before have written: then it begins when they are complete. If it neither
 * reads nor writes what the one just before writes, and its blocks are alike, it begins while that one ends. Different
 * arguments count as different memory. Fails with TW_E_SHAPE for row lengths that are too small
 * or odd, TW_E_ARGUMENT for a place that is not aligned; then the launch is as before.
 */
int tw_overlay_product(struct tw_overlay_launch *launch, const struct tw_overlay_product *product,
                       struct tw_error *err);

/*
 * Completes the control code and frees the launch, also when it fails. *bytes is to be freed with free(). Fails with
 * TW_E_MEMORY or TW_E_LIMIT.
 */
int tw_overlay_launch_end(struct tw_overlay_launch *launch, unsigned char **bytes, size_t *size, struct tw_error *err);

#endif
