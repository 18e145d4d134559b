/* Sorting without allocation and with the same result everywhere, for the planner and the checks. */
#ifndef TW_GRAPH_ORDER_H
#define TW_GRAPH_ORDER_H

#include <stddef.h>
#include <stdint.h>

struct tw_order {
    uint64_t key;
    int32_t item;
};

/* Sorts by key, then by item, both ascending; n log n steps at most (heap sort). */
void tw_order_sort(struct tw_order *list, size_t n);

#endif
