#include "graph/window.h"

/* The two dimensions above a row, as count and stride. */
struct step {
    size_t count, stride;
};

static void steps_of(const struct tw_tensor *t, struct step step[2])
{
    step[0] = (struct step){(size_t)t->rows, t->row_stride};
    step[1] = (struct step){(size_t)t->batch, t->batch_stride};
}

size_t tw_window_extent(const struct tw_tensor *t)
{
    return (size_t)(t->batch - 1) * t->batch_stride + (size_t)(t->rows - 1) * t->row_stride +
           tw_row_bytes(t->type, t->cols);
}

int tw_window_same(const struct tw_tensor *a, const struct tw_tensor *b)
{
    return a->base == b->base && a->offset == b->offset && a->type == b->type && a->cols == b->cols &&
           a->rows == b->rows && a->batch == b->batch && a->row_stride == b->row_stride &&
           a->batch_stride == b->batch_stride;
}

/* Bytes covered on a circle of pitch bytes, at most; steps that go whole rounds add nothing. */
static size_t arc(const struct tw_tensor *t, size_t pitch)
{
    struct step step[2];
    size_t bytes = tw_row_bytes(t->type, t->cols);
    steps_of(t, step);
    for (int i = 0; i < 2; i++)
        if (step[i].stride % pitch != 0)
            bytes += (step[i].count - 1) * step[i].stride;
    return bytes;
}

/* Nonzero when the windows lie apart already modulo pitch. */
static int apart(const struct tw_tensor *a, const struct tw_tensor *b, size_t pitch)
{
    size_t from_a = a->offset % pitch, from_b = b->offset % pitch;
    size_t a_to_b = from_b >= from_a ? from_b - from_a : from_b + pitch - from_a;
    size_t b_to_a = a_to_b == 0 ? 0 : pitch - a_to_b;
    return arc(a, pitch) <= a_to_b && arc(b, pitch) <= b_to_a;
}

int tw_window_overlap(const struct tw_tensor *a, const struct tw_tensor *b)
{
    if (a->offset + tw_window_extent(a) <= b->offset || b->offset + tw_window_extent(b) <= a->offset)
        return 0;
    struct step step[4];
    steps_of(a, step);
    steps_of(b, step + 2);
    for (int i = 0; i < 4; i++)
        if (step[i].count > 1 && step[i].stride > 0 && apart(a, b, step[i].stride))
            return 0;
    return 1;
}

int tw_window_folded(const struct tw_tensor *t)
{
    struct step step[2];
    steps_of(t, step);
    int inner = step[0].stride <= step[1].stride ? 0 : 1;
    size_t bytes = tw_row_bytes(t->type, t->cols);
    for (int i = 0; i < 2; i++) {
        const struct step *s = &step[i == 0 ? inner : 1 - inner];
        if (s->count == 1)
            continue;
        if (s->stride < bytes)
            return 1;
        bytes += (s->count - 1) * s->stride;
    }
    return 0;
}
