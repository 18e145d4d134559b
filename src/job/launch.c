#include "job/launch.h"

#include "base/clock.h"
#include "graph/window.h"
#include "job/operands.h"
#include "job/weights.h"
#include "kernels/job.h"
#include "overlay/launch.h"
#include "overlay/pack.h"

#include <stdlib.h>
#include <string.h>

/* ---- What a launch consists of */

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

/* ---- Control code */

size_t launch_offset(const struct tw_graph *g, tw_id id, int64_t i)
{
    const struct tw_tensor *t = &g->tensors[id];
    return base_of(g, id)->place + t->offset + (t->batch > 1 ? (size_t)i * t->batch_stride : 0);
}

static struct tw_overlay_place place_of(const struct launch *l, tw_id id, int64_t i)
{
    return (struct tw_overlay_place){ARGUMENT_AREA, launch_offset(l->graph, id, i)};
}

/* Numbers from one row to the next. */
static uint32_t pitch_of(const struct launch *l, tw_id id)
{
    return (uint32_t)(tw_plan_pitch(l->graph, id) / tw_row_bytes(l->graph->tensors[id].type, 1));
}

void launch_product(const struct launch *l, const struct part *part, int64_t i, struct tw_overlay_product *p)
{
    const struct tw_op *op = part->op;
    *p = (struct tw_overlay_product){.shape = part->shape,
                                     .a = place_of(l, op->in[0], i),
                                     .b = {part->weights.argument, part->weights.offset},
                                     .c = place_of(l, op->out, i),
                                     .headers = {part->headers.argument, part->headers.offset},
                                     .lda = pitch_of(l, op->in[0]),
                                     .ldc = pitch_of(l, op->out)};
    if (part->has_own_headers)
        p->headers = (struct tw_overlay_place){ARGUMENT_OWN, part->own_headers};
    if (part->shape.size.order != TW_OVERLAY_PACKED) {
        p->b = place_of(l, op->in[1], i);
        p->ldb = pitch_of(l, op->in[1]);
    }
    if (op->in[3] != TW_NONE) {
        p->d = place_of(l, op->in[3], i);
        p->ldd = pitch_of(l, op->in[3]);
    }
}

static int write_products(const struct launch *l, struct tw_overlay_launch *code, struct tw_error *err)
{
    struct tw_overlay_product product;
    int result = TW_OK;
    for (const struct part *part = l->parts; result == 0 && part < l->parts + l->count; part++)
        for (int64_t i = 0; result == 0 && i < l->graph->tensors[part->op->out].batch; i++) {
            launch_product(l, part, i, &product);
            result = tw_overlay_product(code, &product, err);
        }
    return result;
}

static int write_code(const struct launch *l, unsigned char **bytes, size_t *size, struct tw_error *err)
{
    struct tw_overlay_launch *code = NULL;
    int result = tw_overlay_launch_begin(&code, err);
    if (result < 0)
        return result;
    result = write_products(l, code, err);
    if (result < 0)
        tw_overlay_launch_free(code);
    else
        result = tw_overlay_launch_end(code, bytes, size, err);
    return result;
}

static int make_job(struct tw_runner *r, struct launch *l, struct tw_error *err)
{
    unsigned char *bytes = NULL;
    size_t size = 0;
    const double begin = tw_seconds();
    int code = write_code(l, &bytes, &size, err);
    const double written = tw_seconds();
    r->counts.control_seconds += written - begin;
    if (code < 0)
        return code;
    code = array_job_create(r->array, bytes, size, &l->job, &l->context, err);
    r->counts.pack_seconds += tw_seconds() - written;
    free(bytes);
    return code;
}

static void assign(struct launch *l, struct held *held)
{
    if (held->entry == NULL)
        return;
    uint32_t i = ARGUMENT_SLABS;
    while (i < l->n_buffers && l->slabs[i] != held->slab)
        i++;
    if (i == l->n_buffers)
        l->slabs[l->n_buffers++] = held->slab;
    held->argument = i;
}

static int make_own(struct tw_runner *r, struct launch *l, struct tw_error *err)
{
    if (l->own_bytes == 0 || l->own != NULL)
        return TW_OK;
    return tw_buffer_create(r->array->device, l->own_bytes, &l->own, err);
}

static int build(struct tw_runner *r, struct launch *l, struct tw_error *err)
{
    launch_drop_job(l);
    l->n_buffers = ARGUMENT_SLABS;
    for (int32_t i = 0; i < l->count; i++) {
        assign(l, &l->parts[i].weights);
        assign(l, &l->parts[i].headers);
    }
    int code = make_own(r, l, err);
    return code < 0 ? code : make_job(r, l, err);
}

int launch_prepare(struct tw_runner *r, struct launch *l, struct tw_error *err)
{
    int moved = 0, code = TW_OK;
    const double begin = tw_seconds();
    for (int32_t i = 0; code == 0 && i < l->count; i++)
        code = weights_hold(r, l, &l->parts[i], &moved, err);
    if (moved) /* control code names places that are no more */
        launch_drop_job(l);
    r->counts.pack_seconds += tw_seconds() - begin;
    if (code == 0 && (l->job == NULL || l->context != array_context(r->array)))
        code = build(r, l, err);
    return code;
}

void launch_release(struct tw_runner *r, struct launch *l)
{
    for (int32_t i = 0; i < l->count; i++)
        weights_release(r, &l->parts[i]);
}

/* ---- Running */

float *launch_bias(const struct launch *l, const struct part *part)
{
    const tw_id id = part->op->in[2];
    const size_t bytes = part->shape.size.columns * sizeof(float);
    float *bias = malloc(bytes);
    if (bias != NULL)
        memcpy(bias, tw_tensor_data(l->graph, id, NULL), bytes);
    return bias;
}

static int write_own(const struct launch *l, const struct part *part, struct tw_error *err)
{
    if (!part->has_own_headers)
        return TW_OK;
    float *bias = launch_bias(l, part);
    if (bias == NULL)
        return tw_fail(err, TW_E_MEMORY, "no memory for a bias of %u numbers", part->shape.size.columns);
    unsigned char *to = (unsigned char *)tw_buffer_data(l->own) + part->own_headers;
    tw_overlay_write_headers(&part->shape, part->op->gelu ? TW_JOB_GELU : 0, bias, to);
    free(bias);
    return tw_buffer_to_npu(l->own, part->own_headers, tw_overlay_header_bytes(&part->shape), err);
}

static void find_buffers(const struct tw_runner *r, struct launch *l)
{
    l->buffers[ARGUMENT_AREA] = r->area.buffer;
    l->buffers[ARGUMENT_OWN] = l->own;
    for (int32_t i = 0; i < l->count; i++) {
        weights_buffer(&l->parts[i].weights, l->buffers);
        weights_buffer(&l->parts[i].headers, l->buffers);
    }
}

int launch_set_buffers(const struct tw_runner *r, struct launch *l, struct tw_job *job, struct tw_error *err)
{
    int code = TW_OK;
    find_buffers(r, l);
    for (uint32_t i = 0; code == 0 && i < l->n_buffers; i++)
        code = tw_job_set_buffer(job, i, l->buffers[i], err);
    return code;
}

/* A job keeps its buffers, which would keep memory that the store has given back. */
static void forget_buffers(struct launch *l)
{
    for (uint32_t i = 0; i < l->n_buffers; i++)
        (void)tw_job_set_buffer(l->job, i, NULL, NULL);
}

static void count(struct tw_runner *r, struct launch *l)
{
    r->counts.launches++;
    r->counts.commands++;
    l->is_modelled = tw_job_modelled(l->job, &l->modelled, NULL) == 0;
    if (!l->is_modelled)
        return;
    r->counts.cycles += l->modelled.cycles;
    r->counts.read_bytes += l->modelled.read_bytes;
    r->counts.write_bytes += l->modelled.write_bytes;
}

int launch_run(struct tw_runner *r, struct launch *l, struct tw_error *err)
{
    const double begin = tw_seconds();
    int code = operands_prepare(r, l, err);
    for (int32_t i = 0; code == 0 && i < l->count; i++)
        code = write_own(l, &l->parts[i], err);
    if (code == 0)
        code = launch_set_buffers(r, l, l->job, err);
    if (code == 0)
        code = tw_job_run(l->job, err);
    r->counts.array_seconds += tw_seconds() - begin;
    if (code == 0)
        count(r, l);
    forget_buffers(l);
    return code;
}
