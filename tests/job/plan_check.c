#include "job/plan_check.h"

#include "job/rectangles.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

enum { UNIT = 32, PITCH_MAX = 4 << 20 };

struct check {
    const struct tw_graph *g;
    const struct tw_plan *plan;
    const struct tw_step *step;
    int32_t index; /* the operation in question */
};

static void refuse(const struct check *c, const char *sentence)
{
    tw_graph_print(c->g, stderr);
    fail_msg("operation %d: %s", c->index, sentence);
}

#define REQUIRE(c, condition)                                                                                          \
    do {                                                                                                               \
        if (!(condition))                                                                                              \
            refuse(c, #condition);                                                                                     \
    } while (0)

static const struct tw_tensor *at(const struct check *c, tw_id id)
{
    return &c->g->tensors[id];
}

static const struct tw_tensor *base_at(const struct check *c, tw_id id)
{
    return at(c, at(c, id)->base);
}

static int64_t up(int64_t n)
{
    return (n + UNIT - 1) / UNIT * UNIT;
}

/* ---- Who uses a base */

static int uses(const struct check *c, int32_t op, tw_id base)
{
    const struct tw_op *o = &c->g->ops[op];
    for (int i = 0; i < 4; i++)
        if (o->in[i] != TW_NONE && at(c, o->in[i])->base == base)
            return 1;
    return at(c, o->out)->base == base;
}

/* The product of the present launch that writes a base, or -1. */
static int32_t writer(const struct check *c, tw_id base)
{
    for (int32_t i = c->step->first; i < c->step->first + c->step->count; i++)
        if (at(c, c->g->ops[i].out)->base == base)
            return i;
    return -1;
}

/* ---- Operands */

static void check_types(const struct check *c, const struct tw_op *op)
{
    const struct tw_tensor *b = at(c, op->in[1]), *out = at(c, op->out);
    REQUIRE(c, op->kind == TW_OP_PRODUCT);
    REQUIRE(c, op->scale == 1 && !op->accumulate);
    REQUIRE(c, base_at(c, op->in[0])->storage == TW_TEMP && at(c, op->in[0])->type == TW_BF16);
    if (base_at(c, op->in[1])->storage == TW_TEMP)
        REQUIRE(c, b->type == TW_BF16);
    else
        REQUIRE(c, base_at(c, op->in[1])->constant && b->batch == 1);
    REQUIRE(c, base_at(c, op->out)->storage == TW_TEMP && (out->type == TW_F32 || out->type == TW_BF16));
    if (op->in[2] != TW_NONE)
        REQUIRE(c, base_at(c, op->in[2])->storage == TW_BOUND && !base_at(c, op->in[2])->written);
    if (op->in[3] != TW_NONE)
        REQUIRE(c, base_at(c, op->in[3])->storage == TW_TEMP && at(c, op->in[3])->type == TW_F32 &&
                       at(c, op->in[3])->base != out->base);
}

/* The device's view of an operand: so many rows and numbers of each matrix, inside its memory. */
static void check_room(const struct check *c, tw_id id, uint32_t rows, uint32_t cols)
{
    const struct tw_tensor *t = at(c, id), *base = base_at(c, id);
    const size_t size = tw_type_info(t->type)->bytes, pitch = tw_plan_pitch(c->g, id);
    REQUIRE(c, t->rows == 1 || t->row_stride == pitch);
    REQUIRE(c, pitch % 4 == 0 && pitch / size % 2 == 0 && pitch / size >= cols && pitch <= PITCH_MAX);
    for (int64_t m = 0; m < t->batch; m++) {
        const size_t first = t->offset + (size_t)m * t->batch_stride;
        REQUIRE(c, first % 4 == 0);
        REQUIRE(c, first + (rows - 1) * pitch + cols * size <= base->bytes);
    }
}

/* Zeroing rows and columns around the window touches nothing that any operation has there. */
static void check_zeroing(const struct check *c, tw_id id)
{
    const struct tw_tensor *t = at(c, id);
    struct rectangles content, zeroed;
    rectangles_of_base(&content, c->g, t->base);
    rectangles_begin(&zeroed);
    for (int64_t m = 0; m < t->batch; m++) {
        const struct rectangle r = rectangle_of(c->g, id, m);
        rectangles_add(&zeroed, (struct rectangle){r.row, r.col + r.cols, r.rows, up(r.cols) - r.cols});
        rectangles_add(&zeroed, (struct rectangle){r.row + r.rows, r.col, up(r.rows) - r.rows, up(r.cols)});
    }
    REQUIRE(c, !rectangles_meet(&content, &zeroed));
    rectangles_end(&content);
    rectangles_end(&zeroed);
}

/* Nonzero when the first columns beyond those of window id are known to be zero in the launch. */
static int is_clean(const struct check *c, tw_id id)
{
    const int32_t by = writer(c, at(c, id)->base);
    const struct tw_op *op = &c->g->ops[by < 0 ? 0 : by];
    if (by < 0 || at(c, id)->cols % UNIT == 0)
        return 1;
    return base_at(c, op->in[1])->storage == TW_BOUND && (op->in[3] == TW_NONE || is_clean(c, op->in[3])) &&
           at(c, id)->offset % tw_plan_pitch(c->g, id) == 0 && at(c, id)->cols == at(c, op->out)->cols;
}

/* Columns beyond an operand that the same launch writes are zero; and rows, if they are the product's depth. */
static void check_written_operand(const struct check *c, tw_id id, int by_rows, int32_t by)
{
    REQUIRE(c, by < c->index);
    REQUIRE(c, !by_rows || at(c, id)->rows % UNIT == 0);
    REQUIRE(c, is_clean(c, id));
}

static void check_operand(const struct check *c, tw_id id, int by_rows)
{
    const tw_id base = at(c, id)->base;
    if (at(c, base)->storage != TW_TEMP)
        return;
    const int32_t by = writer(c, base);
    if (by >= 0)
        check_written_operand(c, id, by_rows, by);
    else
        check_zeroing(c, id);
}

/*
 * What the device writes beside a matrix hits only matrices that come later; no operation has anything else in that
 * base, and none used it before.
 */
static void check_output(const struct check *c, tw_id id, uint32_t height, uint32_t width)
{
    const struct tw_tensor *t = at(c, id);
    struct rectangles content, own, before;
    rectangles_of_base(&content, c->g, t->base);
    rectangles_begin(&own);
    rectangles_begin(&before);
    for (int64_t m = 0; m < t->batch; m++) {
        struct rectangle r = rectangle_of(c->g, id, m);
        rectangles_add(&own, r);
        struct rectangles written;
        rectangles_begin(&written);
        rectangles_add(&written, (struct rectangle){r.row, r.col, height, width});
        REQUIRE(c, !rectangles_meet(&before, &written));
        rectangles_end(&written);
        rectangles_add(&before, r);
    }
    REQUIRE(c, rectangles_cover(&own, &content));
    rectangles_end(&content);
    rectangles_end(&own);
    rectangles_end(&before);
    for (int32_t i = 0; i < c->index; i++)
        REQUIRE(c, !uses(c, i, t->base));
}

/* Returns the cycles of all matrices. */
static uint64_t check_product(const struct check *c)
{
    const struct tw_op *op = &c->g->ops[c->index];
    struct tw_overlay_size size;
    struct tw_overlay_shape shape;
    check_types(c, op);
    tw_plan_size(c->g, op, &size);
    REQUIRE(c, size.rows == at(c, op->out)->rows && size.columns == at(c, op->out)->cols);
    REQUIRE(c, size.depth == at(c, op->in[0])->cols && size.addend == (op->in[3] != TW_NONE));
    REQUIRE(c, tw_overlay_choose(&size, &shape, NULL) == 0);
    const uint32_t height = tw_overlay_height(&shape), depth = tw_overlay_depth(&shape),
                   width = tw_overlay_width(&shape);
    check_room(c, op->in[0], height, depth);
    check_room(c, op->out, height, width);
    if (op->in[3] != TW_NONE)
        check_room(c, op->in[3], height, width);
    if (size.order == TW_OVERLAY_BY_ROWS)
        check_room(c, op->in[1], depth, width);
    if (size.order == TW_OVERLAY_BY_COLUMNS)
        check_room(c, op->in[1], width, depth);
    check_operand(c, op->in[0], 0);
    check_operand(c, op->in[1], op->b_rows);
    if (op->in[3] != TW_NONE && writer(c, at(c, op->in[3])->base) < 0)
        check_zeroing(c, op->in[3]);
    check_output(c, op->out, height, width);
    return shape.cycles * (uint64_t)at(c, op->out)->batch;
}

static void check_launch(struct check *c)
{
    uint64_t cycles = 0;
    for (c->index = c->step->first; c->index < c->step->first + c->step->count; c->index++)
        cycles += check_product(c);
    c->index--;
    REQUIRE(c, cycles <= TW_PLAN_LAUNCH_CYCLES);
}

/* ---- Memory */

/* A temporary from its first to its last use, where a launch counts as one moment. */
struct life {
    tw_id id;
    int32_t first, last;
};

static void stretch(struct life *life, int32_t first, int32_t last)
{
    if (life->first < 0 || first < life->first)
        life->first = first;
    if (last > life->last)
        life->last = last;
}

static struct life life_of(const struct check *c, tw_id id)
{
    struct life life = {id, -1, -1};
    for (int32_t s = 0; s < c->plan->n_steps; s++) {
        const struct tw_step *step = &c->plan->steps[s];
        for (int32_t i = step->first; i < step->first + step->count; i++) {
            if (!uses(c, i, id))
                continue;
            if (step->kind == TW_STEP_LAUNCH)
                stretch(&life, step->first, step->first + step->count - 1);
            else
                stretch(&life, i, i);
        }
    }
    return life;
}

/* An input of a launch was written before it, so its life begins there; stretching it to the launch's begin is no more.
 */
static void check_memory(struct check *c)
{
    struct life *lives = calloc((size_t)c->g->n_tensors + 1, sizeof *lives);
    int32_t n = 0;
    assert_non_null(lives);
    for (tw_id id = 0; id < c->g->n_tensors; id++)
        if (at(c, id)->storage == TW_TEMP)
            lives[n++] = life_of(c, id);
    for (int32_t i = 0; i < n; i++)
        for (int32_t j = 0; j < i; j++) {
            const struct tw_tensor *a = at(c, lives[i].id), *b = at(c, lives[j].id);
            c->index = lives[i].first;
            if (lives[i].first <= lives[j].last && lives[j].first <= lives[i].last)
                REQUIRE(c, a->place + a->bytes <= b->place || b->place + b->bytes <= a->place);
        }
    free(lives);
}

/* ---- The whole */

static void check_steps(struct check *c, const struct tw_graph *original)
{
    int32_t next = 0;
    unsigned char *made = calloc((size_t)original->n_ops + 1, 1);
    assert_non_null(made);
    for (int32_t s = 0; s < c->plan->n_steps; s++) {
        c->index = next;
        REQUIRE(c, c->plan->steps[s].first == next && c->plan->steps[s].count > 0);
        next += c->plan->steps[s].count;
    }
    REQUIRE(c, next == c->g->n_ops);
    for (c->index = 0; c->index < c->g->n_ops; c->index++) {
        REQUIRE(c, c->plan->from[c->index] >= 0 && c->plan->from[c->index] < original->n_ops);
        made[c->plan->from[c->index]] = 1;
    }
    for (c->index = 0; c->index < original->n_ops; c->index++)
        REQUIRE(c, made[c->index]);
    free(made);
}

void plan_check(const struct tw_graph *original, const struct tw_plan *plan)
{
    struct check c = {.g = plan->graph, .plan = plan};
    assert_true(plan->graph->finished);
    check_steps(&c, original);
    for (int32_t s = 0; s < plan->n_steps; s++) {
        c.step = &plan->steps[s];
        if (c.step->kind == TW_STEP_LAUNCH)
            check_launch(&c);
    }
    check_memory(&c);
}

int plan_launches(const struct tw_plan *plan)
{
    int n = 0;
    for (int32_t s = 0; s < plan->n_steps; s++)
        n += plan->steps[s].kind == TW_STEP_LAUNCH;
    return n;
}
