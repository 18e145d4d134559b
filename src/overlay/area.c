#include "overlay/area.h"

#include "overlay/pack.h"

/* Rows of bytes in a buffer. */
struct area {
    uint32_t argument;
    uint64_t offset, rows, row_bytes, stride;
};

static struct area make(struct tw_overlay_place place, uint64_t rows, uint64_t row_bytes, uint64_t stride)
{
    return (struct area){place.argument, place.offset, rows, row_bytes, stride};
}

static struct area area_of_b(const struct tw_overlay_product *p)
{
    const struct tw_overlay_shape *s = &p->shape;
    const uint64_t stride = 2 * (uint64_t)p->ldb;

    switch (s->size.order) {
    case TW_OVERLAY_BY_ROWS:
        return make(p->b, tw_overlay_depth(s), 2 * (uint64_t)tw_overlay_width(s), stride);
    case TW_OVERLAY_BY_COLUMNS:
        return make(p->b, tw_overlay_width(s), 2 * (uint64_t)tw_overlay_depth(s), stride);
    case TW_OVERLAY_PACKED:
        break;
    }
    return make(p->b, 1, tw_overlay_packed_bytes(s), tw_overlay_packed_bytes(s));
}

static struct area area_of_c(const struct tw_overlay_product *p)
{
    const uint64_t bytes = p->shape.size.bf16_out ? 2 : 4;
    return make(p->c, tw_overlay_height(&p->shape), bytes * tw_overlay_width(&p->shape), bytes * p->ldc);
}

static uint64_t end_of(const struct area *a)
{
    return a->offset + (a->rows - 1) * a->stride + a->row_bytes;
}

/* Rows of the same length may lie beside each other. */
static int overlap(const struct area *a, const struct area *b)
{
    const struct area *first = a->offset <= b->offset ? a : b, *second = first == a ? b : a;

    if (first->argument != second->argument || end_of(first) <= second->offset)
        return 0;
    const uint64_t between = (second->offset - first->offset) % first->stride;
    return first->stride != second->stride || between < first->row_bytes || between + second->row_bytes > first->stride;
}

int area_is_independent(const struct tw_overlay_product *p, const struct tw_overlay_product *before)
{
    const struct tw_overlay_shape *s = &p->shape;
    const struct area written = area_of_c(before);
    const struct area areas[] = {
        make(p->a, tw_overlay_height(s), 2 * (uint64_t)tw_overlay_depth(s), 2 * (uint64_t)p->lda),
        area_of_b(p),
        area_of_c(p),
        make(p->headers, 1, tw_overlay_header_bytes(s), tw_overlay_header_bytes(s)),
        /* Of the addend, which may be none, last. */
        make(p->d, tw_overlay_height(s), 4 * (uint64_t)tw_overlay_width(s), 4 * (uint64_t)p->ldd),
    };
    const unsigned n = sizeof areas / sizeof areas[0] - (s->size.addend ? 0 : 1);

    for (unsigned i = 0; i < n; i++)
        if (overlap(&areas[i], &written))
            return 0;
    return 1;
}
