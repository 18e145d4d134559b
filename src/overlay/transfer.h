/* A product's transfers between the host's memory and the memory tiles, as shim descriptors. */
#ifndef TW_OVERLAY_TRANSFER_H
#define TW_OVERLAY_TRANSFER_H

#include "npu1/buffer_descriptor.h"
#include "npu1/control_writer.h"
#include "overlay/launch.h"

/* Part of a product: row panels first .. first + count - 1 of a column panel. */
struct group {
    uint32_t column_panel, first, count;
};

enum transfer_limit {
    TRANSFER_SETS = 4, /* groups that may be under way, at most */
    TRANSFER_BDS = 6   /* of one group, at most */
};

/*
 * A product's descriptors without their addresses, which are all that differs from group to group and from column to
 * column, as long as groups have the same number of row panels.
 */
struct transfer {
    const struct tw_overlay_product *product;
    uint32_t count[TRANSFER_SETS]; /* row panels for which a set's words are; 0: none yet */
    uint32_t words[TRANSFER_SETS][TRANSFER_BDS * TW_BD_WORDS_MAX];
};

/* The product must outlive *t. */
void transfer_init(struct transfer *t, const struct tw_overlay_product *product);

/* How many row panels one group may have, and how many groups may be under way. */
uint32_t transfer_panels_max(const struct tw_overlay_product *p);
unsigned transfer_sets(const struct tw_overlay_shape *s);

/* Descriptors of a set: products for which this and the number of sets are the same can share them. */
unsigned transfer_bds(const struct tw_overlay_shape *s);

/*
 * Descriptors of a shim go by sets, one for each group that is under way; then the tasks that use them. Fails as
 * tw_bd_encode.
 */
int transfer_begin(struct tw_control_writer *w, struct transfer *t, const struct group *group, unsigned set,
                   struct tw_error *err);

/* Waits until a group's part of C has been written. */
void transfer_wait(struct tw_control_writer *w);

#endif
