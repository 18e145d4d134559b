/* Control code of a launch, and the job that holds it. */
#include "base/clock.h"
#include "job/launch.h"
#include "job/weights.h"
#include "overlay/launch.h"
#include "overlay/pack.h"

#include <stdlib.h>

static struct tw_overlay_place place_of(const struct launch *l, tw_id id, int64_t i)
{
    return (struct tw_overlay_place){ARGUMENT_AREA, launch_offset(l->graph, id, i)};
}

/* Numbers from one row to the next. */
static uint32_t pitch_of(const struct launch *l, tw_id id)
{
    return (uint32_t)(tw_plan_pitch(l->graph, id) / tw_row_bytes(l->graph->tensors[id].type, 1));
}

/* Matrix number i of part as a product of the overlay. */
static void describe(const struct launch *l, const struct part *part, int64_t i, struct tw_overlay_product *p)
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
            describe(l, part, i, &product);
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
    code = executor_job_create(r->array, bytes, size, &l->job, &l->context, err);
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
    if (code == 0 && (l->job == NULL || l->context != executor_context(r->array)))
        code = build(r, l, err);
    return code;
}

void launch_release(struct tw_runner *r, struct launch *l)
{
    for (int32_t i = 0; i < l->count; i++)
        weights_release(r, &l->parts[i]);
}
