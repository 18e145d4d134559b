/* What a launch consists of. */
#include "job/launch.h"

#include "graph/window.h"
#include "overlay/pack.h"

#include <stdlib.h>
#include <string.h>

static const struct tw_tensor *base_of(const struct tw_graph *g, tw_id id)
{
    return &g->tensors[g->tensors[id].base];
}

static int is_temporary(const struct tw_graph *g, tw_id id)
{
    return base_of(g, id)->storage == TW_TEMP;
}

static int is_constant(const struct tw_graph *g, tw_id id)
{
    return base_of(g, id)->storage == TW_BOUND && base_of(g, id)->constant;
}

static int check_op(const struct tw_graph *g, const struct tw_op *op, struct tw_error *err)
{
    const int fits = op->kind == TW_OP_PRODUCT && is_temporary(g, op->out) && is_temporary(g, op->in[0]) &&
                     (is_temporary(g, op->in[1]) || is_constant(g, op->in[1])) &&
                     (op->in[2] == TW_NONE || !is_temporary(g, op->in[2])) &&
                     (op->in[3] == TW_NONE || is_temporary(g, op->in[3]));
    return fits ? TW_OK : tw_fail(err, TW_E_UNSUPPORTED, "the NPU takes no %s on such operands", tw_op_name(op->kind));
}

/* Whether an earlier part of the launch writes to tensor id. */
static int is_written(const struct launch *l, const struct part *before, tw_id id)
{
    const struct tw_graph *g = l->graph;
    for (const struct part *p = l->parts; p < before; p++)
        if (g->tensors[p->op->out].base == g->tensors[id].base &&
            tw_window_overlap(&g->tensors[p->op->out], &g->tensors[id]))
            return 1;
    return 0;
}

static int is_outside(const struct launch *l, const struct part *part, tw_id id)
{
    return is_temporary(l->graph, id) && !is_written(l, part, id);
}

static int check_room(const struct tw_graph *g, tw_id id, uint64_t rows, uint64_t columns, struct tw_error *err)
{
    if (id == TW_NONE || !is_temporary(g, id))
        return TW_OK;
    const struct tw_tensor *t = &g->tensors[id];
    const uint64_t end =
        launch_offset(g, id, t->batch - 1) + (rows - 1) * tw_plan_pitch(g, id) + columns * tw_row_bytes(t->type, 1);
    return end <= g->work_bytes ? TW_OK
                                : tw_fail(err, TW_E_SHAPE, "%llu x %llu numbers of '%s' do not fit its memory",
                                          (unsigned long long)rows, (unsigned long long)columns, t->name);
}

/* The device works on whole blocks; they lie inside the area whatever the plan says. */
static int check_rooms(const struct tw_graph *g, const struct part *part, struct tw_error *err)
{
    const struct tw_overlay_shape *s = &part->shape;
    const tw_id *in = part->op->in;
    const uint64_t height = tw_overlay_height(s), depth = tw_overlay_depth(s), width = tw_overlay_width(s);
    const int rows = s->size.order == TW_OVERLAY_BY_ROWS;
    int code = check_room(g, in[0], height, depth, err);
    if (code == 0)
        code = check_room(g, in[1], rows ? depth : width, rows ? width : depth, err);
    if (code == 0)
        code = check_room(g, in[3], height, width, err);
    return code < 0 ? code : check_room(g, part->op->out, height, width, err);
}

static int make_part(struct launch *l, struct part *part, const struct tw_op *op, struct tw_error *err)
{
    const struct tw_graph *g = l->graph;
    struct tw_overlay_size size;
    int code = check_op(g, op, err);
    if (code < 0)
        return code;
    tw_plan_size(g, op, &size);
    code = tw_overlay_choose(&size, &part->shape, err);
    if (code < 0)
        return code;
    part->op = op;
    code = check_rooms(g, part, err);
    if (code < 0)
        return code;
    part->a_is_outside = is_outside(l, part, op->in[0]);
    part->b_is_outside = is_outside(l, part, op->in[1]);
    part->addend_is_outside = op->in[3] != TW_NONE && is_outside(l, part, op->in[3]);
    if (op->in[2] != TW_NONE && !is_constant(g, op->in[2])) {
        part->has_own_headers = 1;
        part->own_headers = l->own_bytes;
        l->own_bytes += tw_overlay_header_bytes(&part->shape);
    }
    l->matrices += (uint64_t)g->tensors[op->out].batch;
    return TW_OK;
}

int launch_make(const struct tw_graph *graph, const struct tw_step *step, struct launch *l, struct tw_error *err)
{
    const size_t count = (size_t)step->count, buffers = ARGUMENT_SLABS + 2 * count;
    *l = (struct launch){.graph = graph, .first = step->first, .count = step->count};
    l->parts = calloc(count, sizeof l->parts[0]);
    l->buffers = calloc(buffers, sizeof(struct tw_buffer *));
    l->slabs = calloc(buffers, sizeof l->slabs[0]);
    if (l->parts == NULL || l->buffers == NULL || l->slabs == NULL)
        return tw_fail(err, TW_E_MEMORY, "no memory for a launch of %zu products", count);
    int code = TW_OK;
    for (size_t i = 0; code == 0 && i < count; i++)
        code = make_part(l, &l->parts[i], &graph->ops[(size_t)step->first + i], err);
    return code;
}

void launch_drop_job(struct launch *l)
{
    tw_job_destroy(l->job);
    l->job = NULL;
}

void launch_free(struct launch *l)
{
    launch_drop_job(l);
    tw_buffer_destroy(l->own);
    free(l->parts);
    free(l->buffers);
    free(l->slabs);
    *l = (struct launch){0};
}

size_t launch_offset(const struct tw_graph *g, tw_id id, int64_t i)
{
    const struct tw_tensor *t = &g->tensors[id];
    return base_of(g, id)->place + t->offset + (t->batch > 1 ? (size_t)i * t->batch_stride : 0);
}

float *launch_bias(const struct launch *l, const struct part *part)
{
    const tw_id id = part->op->in[2];
    const size_t bytes = part->shape.size.columns * sizeof(float);
    float *bias = malloc(bytes);
    if (bias != NULL)
        memcpy(bias, tw_tensor_data(l->graph, id, NULL), bytes);
    return bias;
}
