/* Counting who still needs an object. */
#ifndef TW_DEVICE_REFERENCE_H
#define TW_DEVICE_REFERENCE_H

#include <stdatomic.h>

static inline void tw_reference_take(atomic_uint *count)
{
    atomic_fetch_add_explicit(count, 1, memory_order_relaxed);
}

/* Whether that was the last. What others did to the object happened before. */
static inline int tw_reference_drop(atomic_uint *count)
{
    return atomic_fetch_sub_explicit(count, 1, memory_order_acq_rel) == 1;
}

#endif
