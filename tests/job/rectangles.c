#include "job/rectangles.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <cmocka.h>

void rectangles_begin(struct rectangles *list)
{
    *list = (struct rectangles){0};
}

void rectangles_end(struct rectangles *list)
{
    free(list->items);
}

void rectangles_add(struct rectangles *list, struct rectangle r)
{
    if (r.rows <= 0 || r.cols <= 0)
        return;
    if (list->n == list->room) {
        list->room = list->room == 0 ? 16 : 2 * list->room;
        list->items = realloc(list->items, (size_t)list->room * sizeof *list->items);
        assert_non_null(list->items);
    }
    list->items[list->n++] = r;
}

/* `numbers` that follow one another from byte `offset` of a base on, which may go beyond a row's end. */
static void add_run(struct rectangles *list, const struct tw_tensor *base, size_t offset, int64_t numbers)
{
    const size_t size = tw_type_info(base->type)->bytes;
    while (numbers > 0) {
        const int64_t row = (int64_t)(offset / base->row_stride);
        const int64_t col = (int64_t)(offset % base->row_stride / size);
        const int64_t here = numbers < base->cols - col ? numbers : base->cols - col;
        rectangles_add(list, (struct rectangle){row, col, 1, here});
        numbers -= here;
        offset += (size_t)here * size;
    }
}

struct rectangle rectangle_of(const struct tw_graph *g, tw_id window, int64_t m)
{
    const struct tw_tensor *t = &g->tensors[window], *base = &g->tensors[t->base];
    const size_t from = t->offset + (size_t)m * t->batch_stride;
    return (struct rectangle){(int64_t)(from / base->row_stride),
                              (int64_t)(from % base->row_stride / tw_type_info(base->type)->bytes), t->rows, t->cols};
}

static void add_window(struct rectangles *list, const struct tw_graph *g, tw_id id)
{
    const struct tw_tensor *t = &g->tensors[id], *base = &g->tensors[t->base];
    for (int64_t m = 0; m < t->batch; m++) {
        const struct rectangle r = rectangle_of(g, id, m);
        if ((t->rows == 1 || t->row_stride == base->row_stride) && r.col + r.cols <= base->cols) {
            rectangles_add(list, r);
            continue;
        }
        for (int64_t row = 0; row < t->rows; row++)
            add_run(list, base, t->offset + (size_t)m * t->batch_stride + (size_t)row * t->row_stride, t->cols);
    }
}

void rectangles_of_base(struct rectangles *list, const struct tw_graph *g, tw_id base)
{
    rectangles_begin(list);
    for (int32_t i = 0; i < g->n_ops; i++) {
        const struct tw_op *op = &g->ops[i];
        if (g->tensors[op->out].base == base)
            add_window(list, g, op->out);
        for (int j = 0; j < 4; j++)
            if (op->in[j] != TW_NONE && g->tensors[op->in[j]].base == base)
                add_window(list, g, op->in[j]);
    }
}

static int meet(const struct rectangle *a, const struct rectangle *b)
{
    return a->row < b->row + b->rows && b->row < a->row + a->rows && a->col < b->col + b->cols &&
           b->col < a->col + a->cols;
}

int rectangles_meet(const struct rectangles *a, const struct rectangles *b)
{
    for (int i = 0; i < a->n; i++)
        for (int j = 0; j < b->n; j++)
            if (meet(&a->items[i], &b->items[j]))
                return 1;
    return 0;
}

/* Nonzero when r is within the rectangles from number `from` on: what one leaves over has to be in the others. */
static int is_covered(const struct rectangles *by, int from, struct rectangle r)
{
    if (r.rows <= 0 || r.cols <= 0)
        return 1;
    while (from < by->n && !meet(&by->items[from], &r))
        from++;
    if (from == by->n)
        return 0;
    const struct rectangle *c = &by->items[from];
    const int64_t top = c->row > r.row ? c->row : r.row, left = c->col > r.col ? c->col : r.col;
    const int64_t end = c->row + c->rows < r.row + r.rows ? c->row + c->rows : r.row + r.rows;
    const int64_t right = c->col + c->cols < r.col + r.cols ? c->col + c->cols : r.col + r.cols;
    return is_covered(by, from + 1, (struct rectangle){r.row, r.col, top - r.row, r.cols}) &&
           is_covered(by, from + 1, (struct rectangle){end, r.col, r.row + r.rows - end, r.cols}) &&
           is_covered(by, from + 1, (struct rectangle){top, r.col, end - top, left - r.col}) &&
           is_covered(by, from + 1, (struct rectangle){top, right, end - top, r.col + r.cols - right});
}

int rectangles_cover(const struct rectangles *a, const struct rectangles *b)
{
    for (int i = 0; i < b->n; i++)
        if (!is_covered(a, 0, b->items[i]))
            return 0;
    return 1;
}
