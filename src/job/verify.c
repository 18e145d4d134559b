/* Proof of what a launch has computed. */
#include "host/checksum.h"
#include "job/launch.h"
#include "job/operands.h"
#include "kernels/twin_gelu.h"

/* Matrix number i of tensor id. */
static const unsigned char *matrix(const struct tw_runner *r, const struct tw_graph *g, tw_id id, int64_t i)
{
    const struct tw_tensor *t = &g->tensors[id];
    return tw_tensor_data(g, id, r->area.data) + (t->batch > 1 ? (size_t)i * t->batch_stride : 0);
}

static struct tw_checksum sums_of(const struct tw_runner *r, const struct launch *l, const struct part *part, int64_t i)
{
    const struct tw_graph *g = l->graph;
    const struct tw_op *op = part->op;
    const struct tw_tensor *a = &g->tensors[op->in[0]], *b = &g->tensors[op->in[1]], *out = &g->tensors[op->out];
    struct tw_checksum sums = {.a_type = a->type,
                               .a = matrix(r, g, op->in[0], i),
                               .a_stride = a->row_stride,
                               .b_type = b->type,
                               .b_rows = op->b_rows,
                               .b = matrix(r, g, op->in[1], i),
                               .b_stride = b->row_stride,
                               .gelu = op->gelu,
                               .gelu_error = TW_GELU_ERROR,
                               .out_type = out->type,
                               .out = matrix(r, g, op->out, i),
                               .out_stride = out->row_stride,
                               .m = out->rows,
                               .k = a->cols,
                               .n = out->cols};
    if (op->in[2] != TW_NONE)
        sums.bias = matrix(r, g, op->in[2], 0);
    if (op->in[3] != TW_NONE) {
        sums.addend = matrix(r, g, op->in[3], i);
        sums.addend_stride = g->tensors[op->in[3]].row_stride;
    }
    return sums;
}

static int look(struct tw_runner *r, const struct launch *l, const struct part *part, struct tw_error *err)
{
    int code = operands_look(r, l->graph, part->op->out, err);
    for (int k = 0; code == 0 && k < 4; k++)
        code = operands_look(r, l->graph, part->op->in[k], err);
    return code;
}

static int verify_part(struct tw_runner *r, struct launch *l, const struct part *part, struct tw_error *err)
{
    int code = look(r, l, part, err);
    for (int64_t i = 0; code == 0 && i < l->graph->tensors[part->op->out].batch; i++) {
        const struct tw_checksum sums = sums_of(r, l, part, i);
        code = tw_host_check_product(r->host, &sums, err);
    }
    return code;
}

int launch_verify(struct tw_runner *r, struct launch *l, struct tw_error *err)
{
    int code = TW_OK;
    for (int32_t i = 0; code == 0 && i < l->count; i++)
        code = verify_part(r, l, &l->parts[i], err);
    return code;
}
