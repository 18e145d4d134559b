#include "job/operands.h"

#include <string.h>

enum { MARGIN = 32 /* rows and columns of operands are read in multiples of it */ };

static size_t round_up(size_t n)
{
    return (n + MARGIN - 1) / MARGIN * MARGIN;
}

typedef int note(struct area *area, const struct window *window, struct tw_error *err);

/* ---- For the NPU */

/* Something that is done to rows x columns of each matrix of an operand. */
static int do_matrices(struct tw_runner *r, const struct tw_graph *g, tw_id id, size_t rows, size_t columns, note *what,
                       struct tw_error *err)
{
    const struct tw_tensor *t = &g->tensors[id];
    struct window w = {.row_bytes = columns * tw_row_bytes(t->type, 1), .rows = rows, .pitch = tw_plan_pitch(g, id)};
    int code = TW_OK;
    for (int64_t i = 0; code == 0 && i < t->batch; i++) {
        w.offset = launch_offset(g, id, i);
        code = what(&r->area, &w, err);
    }
    return code;
}

static int zero(struct area *area, const struct window *w, struct tw_error *err)
{
    int code = area_host_writes(area, w, err);
    for (size_t row = 0; code == 0 && row < w->rows; row++)
        memset(area->data + w->offset + row * w->pitch, 0, w->row_bytes);
    return code;
}

static int zero_margins(struct area *area, const struct tw_tensor *t, size_t offset, size_t pitch, struct tw_error *err)
{
    const size_t rows = (size_t)t->rows, columns = (size_t)t->cols, number = tw_row_bytes(t->type, 1);
    const struct window right = {offset + columns * number, (round_up(columns) - columns) * number, rows, pitch};
    const struct window below = {offset + rows * pitch, round_up(columns) * number, round_up(rows) - rows, pitch};
    int code = right.row_bytes > 0 ? zero(area, &right, err) : TW_OK;
    return code == 0 && below.rows > 0 ? zero(area, &below, err) : code;
}

static int zero_around(struct tw_runner *r, const struct tw_graph *g, tw_id id, struct tw_error *err)
{
    int code = TW_OK;
    for (int64_t i = 0; code == 0 && i < g->tensors[id].batch; i++)
        code = zero_margins(&r->area, &g->tensors[id], launch_offset(g, id, i), tw_plan_pitch(g, id), err);
    return code;
}

static int zero_part(struct tw_runner *r, const struct tw_graph *g, const struct part *part, struct tw_error *err)
{
    int code = part->a_is_outside ? zero_around(r, g, part->op->in[0], err) : TW_OK;
    if (code == 0 && part->b_is_outside)
        code = zero_around(r, g, part->op->in[1], err);
    return code == 0 && part->addend_is_outside ? zero_around(r, g, part->op->in[3], err) : code;
}

static int show_operand(struct tw_runner *r, const struct tw_graph *g, tw_id id, struct tw_error *err)
{
    const struct tw_tensor *t = &g->tensors[id];
    return do_matrices(r, g, id, round_up((size_t)t->rows), round_up((size_t)t->cols), area_npu_reads, err);
}

static int show_part(struct tw_runner *r, const struct tw_graph *g, const struct part *part, struct tw_error *err)
{
    const struct tw_op *op = part->op;
    const struct tw_overlay_shape *s = &part->shape;
    int code = show_operand(r, g, op->in[0], err);
    if (code == 0 && s->size.order != TW_OVERLAY_PACKED)
        code = show_operand(r, g, op->in[1], err);
    if (code == 0 && op->in[3] != TW_NONE)
        code = show_operand(r, g, op->in[3], err);
    if (code == 0)
        code = do_matrices(r, g, op->out, tw_overlay_height(s), tw_overlay_width(s), area_npu_writes, err);
    return code;
}

int operands_prepare(struct tw_runner *r, const struct launch *l, struct tw_error *err)
{
    int code = TW_OK;
    for (int32_t i = 0; code == 0 && i < l->count; i++)
        code = zero_part(r, l->graph, &l->parts[i], err);
    for (int32_t i = 0; code == 0 && i < l->count; i++)
        code = show_part(r, l->graph, &l->parts[i], err);
    return code;
}

/* ---- For the CPU */

static int touch(struct tw_runner *r, const struct tw_graph *g, tw_id id, note *what, struct tw_error *err)
{
    if (id == TW_NONE || g->tensors[g->tensors[id].base].storage != TW_TEMP)
        return TW_OK;
    const struct tw_tensor *t = &g->tensors[id];
    struct window w = {.row_bytes = tw_row_bytes(t->type, t->cols), .rows = (size_t)t->rows, .pitch = t->row_stride};
    int code = TW_OK;
    for (int64_t i = 0; code == 0 && i < t->batch; i++) {
        w.offset = launch_offset(g, id, i);
        code = what(&r->area, &w, err);
    }
    return code;
}

int operands_look(struct tw_runner *r, const struct tw_graph *g, tw_id id, struct tw_error *err)
{
    return touch(r, g, id, area_host_reads, err);
}

int operands_for_host(struct tw_runner *r, const struct tw_graph *g, int32_t first, int32_t count, struct tw_error *err)
{
    int code = TW_OK;
    for (int32_t i = first; code == 0 && i < first + count; i++) {
        const struct tw_op *op = &g->ops[i];
        for (int k = 0; code == 0 && k < 4; k++)
            code = touch(r, g, op->in[k], area_host_reads, err);
        if (code == 0)
            code = touch(r, g, op->out, area_host_writes, err);
    }
    return code;
}
