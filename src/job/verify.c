/* Proof of what a launch has computed: sums of each product, and a comparison of what GELU made of them. */
#include "base/half.h"
#include "base/little_endian.h"
#include "host/checksum.h"
#include "job/launch.h"
#include "job/operands.h"
#include "kernels/twin_gelu.h"
#include "overlay/launch.h"
#include "overlay/pack.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

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

/* ---- The same product once more, without GELU and what is added after it, as fp32 in memory of its own */

struct scratch {
    struct tw_buffer *buffer; /* the numbers, then headers */
    struct tw_overlay_product product;
    size_t headers;
};

static int make_scratch(struct tw_runner *r, const struct launch *l, const struct part *part, int64_t i,
                        struct scratch *s, struct tw_error *err)
{
    struct tw_overlay_size size = part->shape.size;
    launch_product(l, part, i, &s->product);
    size.bf16_out = 0;
    size.addend = 0;
    int code = tw_overlay_cut(&size, part->shape.m, part->shape.n, &s->product.shape, err);
    if (code < 0)
        return code;
    const struct tw_overlay_shape *shape = &s->product.shape;
    s->product.ldc = tw_overlay_width(shape);
    s->headers = (size_t)tw_overlay_height(shape) * s->product.ldc * sizeof(float);
    s->product.c = (struct tw_overlay_place){l->n_buffers, 0};
    s->product.headers = (struct tw_overlay_place){l->n_buffers, s->headers};
    return tw_buffer_create(r->array->device, s->headers + tw_overlay_header_bytes(shape), &s->buffer, err);
}

static int write_headers(const struct launch *l, const struct part *part, const struct scratch *s, struct tw_error *err)
{
    const int has_bias = part->op->in[2] != TW_NONE;
    float *bias = has_bias ? launch_bias(l, part) : NULL;
    if (has_bias && bias == NULL)
        return tw_fail(err, TW_E_MEMORY, "no memory for a bias of %u numbers", part->shape.size.columns);
    unsigned char *to = (unsigned char *)tw_buffer_data(s->buffer) + s->headers;
    tw_overlay_write_headers(&s->product.shape, 0, bias, to);
    free(bias);
    return tw_buffer_to_npu(s->buffer, s->headers, tw_overlay_header_bytes(&s->product.shape), err);
}

static int run_job(struct tw_runner *r, struct launch *l, const struct scratch *s, struct tw_job *job,
                   struct tw_error *err)
{
    int code = launch_set_buffers(r, l, job, err);
    if (code == 0)
        code = tw_job_set_buffer(job, l->n_buffers, s->buffer, err);
    if (code == 0)
        code = tw_job_run(job, err);
    return code < 0 ? code : tw_buffer_from_npu(s->buffer, 0, s->headers, err);
}

static int run_scratch(struct tw_runner *r, struct launch *l, const struct scratch *s, struct tw_error *err)
{
    struct tw_overlay_launch *code = NULL;
    struct tw_job *job = NULL;
    unsigned char *bytes = NULL;
    size_t size = 0;
    uint64_t context = 0;
    int result = tw_overlay_launch_begin(&code, err);
    if (result < 0)
        return result;
    result = tw_overlay_product(code, &s->product, err);
    if (result < 0) {
        tw_overlay_launch_free(code);
        return result;
    }
    result = tw_overlay_launch_end(code, &bytes, &size, err);
    if (result == 0)
        result = array_job_create(r->array, bytes, size, &job, &context, err);
    free(bytes);
    if (result == 0)
        result = run_job(r, l, s, job, err);
    tw_job_destroy(job);
    return result;
}

/* ---- GELU, number by number */

struct comparison {
    const struct tw_checksum *sums; /* of the result: out, addend */
    const float *before;            /* GELU */
    size_t pitch;                   /* numbers */
    atomic_llong wrong;             /* a row; -1: none */
};

/* The cores' GELU is known bit by bit; what is added to it and how that is rounded, within this of its size. */
#define SUM_TOLERANCE 0x1p-20f
#define BF16_TOLERANCE 0x1p-8f

static float number(enum tw_type type, const unsigned char *row, int64_t column)
{
    if (type == TW_BF16)
        return tw_bf16_to_f32(tw_load_u16(row + 2 * column));
    return tw_bits_float(tw_load_u32(row + 4 * column));
}

static int is_right(float before, float addend, float out, int is_bf16)
{
    if (!isfinite(before)) /* the sums have told that its operands are not finite either */
        return 1;
    const float gelu = tw_bits_float(tw_twin_gelu(tw_float_bits(before)));
    const float want = gelu + addend;
    const float bound =
        SUM_TOLERANCE * (fabsf(gelu) + fabsf(addend)) + (is_bf16 ? BF16_TOLERANCE * fabsf(want) : 0) + 0x1p-120f;
    return !isfinite(want) || fabsf(out - want) <= bound;
}

static void compare_row(void *arg, size_t row, unsigned worker)
{
    struct comparison *c = arg;
    const struct tw_checksum *s = c->sums;
    const unsigned char *out = (const unsigned char *)s->out + row * s->out_stride;
    const unsigned char *addend = s->addend != NULL ? (const unsigned char *)s->addend + row * s->addend_stride : NULL;
    (void)worker;
    for (int64_t i = 0; i < s->n; i++) {
        const float add = addend != NULL ? number(TW_F32, addend, i) : 0;
        if (!is_right(c->before[row * c->pitch + (size_t)i], add, number(s->out_type, out, i), s->out_type == TW_BF16))
            atomic_store(&c->wrong, (long long)row);
    }
}

static int compare(struct tw_runner *r, const struct tw_checksum *sums, const struct scratch *s, struct tw_error *err)
{
    struct comparison c = {.sums = sums, .before = tw_buffer_data(s->buffer), .pitch = s->product.ldc};
    atomic_init(&c.wrong, -1);
    tw_pool_run(tw_host_pool(r->host), (size_t)sums->m, compare_row, &c);
    const long long row = atomic_load(&c.wrong);
    return row < 0 ? TW_OK : tw_fail(err, TW_E_CHECKSUM, "GELU of a product is wrong in row %lld", row);
}

static int prove_scratch(struct tw_runner *r, const struct tw_checksum *sums, const struct scratch *s,
                         struct tw_error *err)
{
    struct tw_checksum before = *sums;
    before.addend = NULL;
    before.out_type = TW_F32;
    before.out = tw_buffer_data(s->buffer);
    before.out_stride = s->product.ldc * sizeof(float);
    int code = tw_host_check_product(r->host, &before, err);
    return code < 0 ? code : compare(r, sums, s, err);
}

static int prove_gelu(struct tw_runner *r, struct launch *l, const struct part *part, int64_t i,
                      const struct tw_checksum *sums, struct tw_error *err)
{
    struct scratch s = {0};
    int code = make_scratch(r, l, part, i, &s, err);
    if (code == 0)
        code = write_headers(l, part, &s, err);
    if (code == 0)
        code = run_scratch(r, l, &s, err);
    if (code == 0)
        code = prove_scratch(r, sums, &s, err);
    tw_buffer_destroy(s.buffer);
    return code;
}

/* ---- A launch */

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
        code = part->op->gelu ? prove_gelu(r, l, part, i, &sums, err) : tw_host_check_product(r->host, &sums, err);
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
