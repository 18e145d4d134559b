/* A product's transfers between the host's memory and the memory tiles, as shim descriptors. */
#ifndef TW_OVERLAY_TRANSFER_H
#define TW_OVERLAY_TRANSFER_H

#include "npu1/control_writer.h"
#include "overlay/launch.h"

/* Part of a product: row panels first .. first + count - 1 of a column panel. */
struct group {
    uint32_t column_panel, first, count;
};

/* How many row panels one group may have. */
uint32_t transfer_panels_max(const struct tw_overlay_product *p);

/*
 * Descriptors of a shim go by sets of four, one set for each group that is under way; then the tasks that use them.
 * Fails as tw_bd_encode.
 */
enum transfer_limit { TRANSFER_SETS = 4 };
int transfer_begin(struct tw_control_writer *w, const struct tw_overlay_product *p, const struct group *group,
                   unsigned set, struct tw_error *err);

/* Waits until a group's part of C has been written. */
void transfer_wait(struct tw_control_writer *w);

#endif
