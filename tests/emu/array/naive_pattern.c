#include "emu/array/naive_pattern.h"

static uint64_t extent(const struct tw_bd_dimension *d)
{
    return d->wrap == 0 ? UINT64_MAX : (uint64_t)d->zeros_before + d->wrap + d->zeros_after;
}

static int is_data(const struct tw_bd_dimension *d, uint64_t i)
{
    return i >= d->zeros_before && (d->wrap == 0 || i < (uint64_t)d->zeros_before + d->wrap);
}

void naive_addresses(const struct tw_bd *bd, unsigned n, int64_t *addresses)
{
    struct tw_bd_dimension d[TW_BD_DIMENSIONS_MAX] = {{0}};
    for (unsigned i = 0; i < TW_BD_DIMENSIONS_MAX; i++)
        d[i] = i < n ? bd->dimensions[i] : (struct tw_bd_dimension){.wrap = 1};
    d[n - 1].wrap = 0;
    uint32_t at = 0;
    int64_t base = (int64_t)(bd->address / 4) + (int64_t)bd->iteration.step * bd->iteration.current;
    for (uint64_t i3 = 0; i3 < extent(&d[3]) && at < bd->length; i3++)
        for (uint64_t i2 = 0; i2 < extent(&d[2]) && at < bd->length; i2++)
            for (uint64_t i1 = 0; i1 < extent(&d[1]) && at < bd->length; i1++)
                for (uint64_t i0 = 0; i0 < extent(&d[0]) && at < bd->length; i0++) {
                    const uint64_t i[] = {i0, i1, i2, i3};
                    int64_t address = base;
                    int data = 1;
                    for (unsigned k = 0; k < n; k++) {
                        data &= is_data(&d[k], i[k]);
                        address += (int64_t)((i[k] - d[k].zeros_before) * d[k].step);
                    }
                    addresses[at++] = data ? address : NAIVE_NOWHERE;
                }
}
