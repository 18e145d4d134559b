#include "job/weights.h"

#include "graph/window.h"
#include "host/pack.h"
#include "kernels/job.h"
#include "overlay/pack.h"

#include <stdlib.h>

enum { OF_WEIGHTS, OF_HEADERS }; /* the first word of a key */

static int hold(struct tw_runner *r, const struct tw_store_key *key, size_t bytes,
                int (*fill)(void *arg, void *block, void *data, struct tw_error *err), void *arg, struct held *held,
                int *moved, struct tw_error *err)
{
    int code = tw_store_get(r->array->store, key, bytes, fill, arg, &held->entry, err);
    if (code < 0)
        return code;
    const struct piece *piece = tw_store_block(held->entry);
    if (held->slab != piece->slab->number || held->offset != piece->offset) {
        held->slab = piece->slab->number;
        held->offset = piece->offset;
        *moved = 1;
    }
    return TW_OK;
}

static int to_npu(const struct piece *piece, struct tw_error *err)
{
    return tw_buffer_to_npu(piece->slab->buffer, piece->offset, piece->bytes, err);
}

/* ---- B */

struct packing {
    struct tw_host *host;
    struct tw_pack pack;
};

static int fill_weights(void *arg, void *block, void *data, struct tw_error *err)
{
    const struct packing *packing = arg;
    int code = tw_host_pack(packing->host, &packing->pack, data, err);
    return code < 0 ? code : to_npu(block, err);
}

static int hold_weights(struct tw_runner *r, const struct launch *l, struct part *part, int *moved,
                        struct tw_error *err)
{
    const struct tw_op *op = part->op;
    const struct tw_tensor *b = &l->graph->tensors[op->in[1]];
    const struct tw_overlay_shape *s = &part->shape;
    struct packing packing = {.host = r->host,
                              .pack = {.type = b->type,
                                       .data = tw_tensor_data(l->graph, op->in[1], NULL),
                                       .row_stride = b->row_stride,
                                       .b_rows = op->b_rows,
                                       .k = s->size.depth,
                                       .n = s->size.columns,
                                       .block_columns = s->n,
                                       .steps = s->steps,
                                       .blocks = TW_OVERLAY_COLUMNS * s->column_panels}};
    const struct tw_pack *p = &packing.pack;
    const struct tw_store_key key = {.data = p->data,
                                     .bytes = tw_window_extent(b),
                                     .words = {OF_WEIGHTS, (uint64_t)p->type << 1 | (uint64_t)(p->b_rows != 0),
                                               p->row_stride, (uint64_t)p->k, (uint64_t)p->n, p->block_columns,
                                               p->steps, p->blocks}};
    return hold(r, &key, tw_pack_bytes(p), fill_weights, &packing, &part->weights, moved, err);
}

/* ---- Headers */

struct heading {
    const struct launch *launch;
    const struct part *part;
};

static unsigned flags_of(const struct part *part)
{
    return part->op->gelu ? TW_JOB_GELU : 0;
}

static int fill_headers(void *arg, void *block, void *data, struct tw_error *err)
{
    const struct heading *heading = arg;
    const struct part *part = heading->part;
    const int has_bias = part->op->in[2] != TW_NONE;
    float *bias = has_bias ? launch_bias(heading->launch, part) : NULL;
    if (has_bias && bias == NULL)
        return tw_fail(err, TW_E_MEMORY, "no memory for a bias of %u numbers", part->shape.size.columns);
    tw_overlay_write_headers(&part->shape, flags_of(part), bias, data);
    free(bias);
    return to_npu(block, err);
}

/* All that tw_overlay_write_headers looks at. */
static int hold_headers(struct tw_runner *r, const struct launch *l, struct part *part, int *moved,
                        struct tw_error *err)
{
    const struct tw_overlay_shape *s = &part->shape;
    const tw_id bias = part->op->in[2];
    struct heading heading = {l, part};
    const uint64_t kind = (uint64_t)s->size.order << 3 | (uint64_t)(s->kept == 0) << 2 |
                          (uint64_t)(s->size.bf16_out != 0) << 1 | (uint64_t)(s->size.addend != 0);
    struct tw_store_key key = {
        .words = {OF_HEADERS, flags_of(part), kind, s->m, s->n, s->steps, s->column_panels, s->size.columns}};
    if (bias != TW_NONE) {
        key.data = tw_tensor_data(l->graph, bias, NULL);
        key.bytes = s->size.columns * sizeof(float);
    }
    return hold(r, &key, tw_overlay_header_bytes(s), fill_headers, &heading, &part->headers, moved, err);
}

int weights_hold(struct tw_runner *r, const struct launch *l, struct part *part, int *moved, struct tw_error *err)
{
    int code = TW_OK;
    if (part->shape.size.order == TW_OVERLAY_PACKED)
        code = hold_weights(r, l, part, moved, err);
    if (code == 0 && !part->has_own_headers)
        code = hold_headers(r, l, part, moved, err);
    return code;
}

static void let_go(struct tw_runner *r, struct held *held)
{
    if (held->entry != NULL)
        tw_store_release(r->array->store, held->entry);
    held->entry = NULL;
}

void weights_release(struct tw_runner *r, struct part *part)
{
    let_go(r, &part->weights);
    let_go(r, &part->headers);
}

void weights_buffer(const struct held *held, struct tw_buffer **buffers)
{
    if (held->entry == NULL)
        return;
    const struct piece *piece = tw_store_block(held->entry);
    buffers[held->argument] = piece->slab->buffer;
}
