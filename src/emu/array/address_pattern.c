#include "emu/array/address_pattern.h"

#include <string.h>

void tw_address_begin(struct tw_address_pattern *pattern, const struct tw_bd *bd, unsigned n)
{
    memset(pattern, 0, sizeof *pattern);
    memcpy(pattern->dimensions, bd->dimensions, sizeof pattern->dimensions);
    pattern->dimensions[n - 1].wrap = 0; /* the last one goes on until the length is used up */
    pattern->n = n;
    pattern->address = bd->address / 4 + (uint64_t)bd->iteration.step * bd->iteration.current;
    pattern->left = bd->length;
    for (unsigned d = 0; d < n; d++) {
        const struct tw_bd_dimension *dimension = &pattern->dimensions[d];
        pattern->address -= (uint64_t)dimension->zeros_before * dimension->step;
        pattern->is_padded |= dimension->zeros_before != 0 || dimension->zeros_after != 0;
    }
}

/* Elements of a dimension with its padding; those without an end go on for as long as any transfer can. */
static uint64_t extent(const struct tw_bd_dimension *d)
{
    return d->wrap == 0 ? UINT64_MAX : (uint64_t)d->zeros_before + d->wrap + d->zeros_after;
}

static int in_padding(const struct tw_bd_dimension *d, uint64_t position)
{
    return position < d->zeros_before || (d->wrap != 0 && position >= (uint64_t)d->zeros_before + d->wrap);
}

/* Elements of dimension 0 from its position on that are alike: all padding, or all data. */
static uint64_t alike(const struct tw_bd_dimension *d, uint64_t position)
{
    if (position < d->zeros_before)
        return d->zeros_before - position;
    if (d->wrap == 0)
        return UINT64_MAX;
    uint64_t data_end = (uint64_t)d->zeros_before + d->wrap;
    return position < data_end ? data_end - position : data_end + d->zeros_after - position;
}

static void advance(struct tw_address_pattern *p, uint64_t words)
{
    p->left -= words;
    p->position[0] += words;
    p->address += words * p->dimensions[0].step;
    for (unsigned d = 0; d + 1 < p->n && p->position[d] >= extent(&p->dimensions[d]); d++) {
        p->address += p->dimensions[d + 1].step - p->position[d] * p->dimensions[d].step;
        p->position[d] = 0;
        p->position[d + 1]++;
    }
}

int tw_address_next(struct tw_address_pattern *pattern, uint32_t limit, struct tw_address_run *run)
{
    if (pattern->left == 0)
        return 0;
    uint64_t words = alike(&pattern->dimensions[0], pattern->position[0]);
    run->zeros = 0;
    run->address = pattern->address;
    for (unsigned d = 0; pattern->is_padded && d < pattern->n; d++)
        run->zeros |= in_padding(&pattern->dimensions[d], pattern->position[d]);
    if (!run->zeros && pattern->dimensions[0].step != 1)
        words = 1;
    words = words > limit ? limit : words;
    words = words > pattern->left ? pattern->left : words;
    run->words = (uint32_t)words;
    advance(pattern, words);
    return 1;
}
