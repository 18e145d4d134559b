/* What a product reads and writes in its buffers, and whether two products get in each other's way. */
#ifndef TW_OVERLAY_AREA_H
#define TW_OVERLAY_AREA_H

#include "overlay/launch.h"

/*
 * Whether a product may begin while the one before is not yet complete: it neither reads nor writes what that one
 * writes. What that one reads it may write, for blocks pass through the array in their order.
 */
int area_is_independent(const struct tw_overlay_product *p, const struct tw_overlay_product *before);

#endif
