/*
 * Attention, one head at a time. Softmax is taken over pieces of the keys, each piece rescaling what the earlier ones
 * gave, so that scores never fill more than a small scratch area, however many keys there are.
 *
 * Many queries: a strip of tile_cols queries is held as columns. Scores are computed transposed, s[key][query], which
 * is at once the layout of a packed operand for the second product, out^T = v^T s, and lets softmax work on whole
 * vectors of queries. Few queries (a decoder's step): keys and values are read where they lie, once.
 */
#include "host/panel.h"

#include "base/memory.h"

#include <math.h>
#include <string.h>

#define FEW_QUERIES TW_DOT_ROWS
#define KEYS 240 /* keys of a piece: a multiple of every tile_rows, and their scores fit the first-level cache */

struct attention {
    const struct tw_host *host;
    const struct tw_kernels *kernels;
    struct tw_operand q, k, v, out; /* all matrices */
    int64_t heads, dim, keys;
    float scale;
    int causal;
    int64_t past;

    /* many queries: packed keys and values of one matrix */
    int64_t matrix;      /* of q and out */
    int64_t strips;      /* of queries, a head */
    int64_t dim_padded;  /* to whole panels of tile_rows */
    int64_t keys_padded; /* likewise */
    float *packed_k;     /* head by head: panels of tile_rows keys, each dim long (chunk by chunk) */
    float *packed_v;     /* head by head, piece by piece: panels of tile_rows dimensions, each a piece long */
};

/* Columns of head `h` of x as an operand of its own. */
static struct tw_operand head_of(const struct tw_operand *x, int64_t matrix, int64_t h, int64_t dim)
{
    struct tw_operand m = tw_operand_matrix(x, matrix);
    m.data += tw_row_bytes(x->type, h * dim);
    m.cols = dim;
    return m;
}

/* Keys that query row r sees. */
static int64_t seen_by(const struct attention *t, int64_t r)
{
    return t->causal ? tw_least(t->keys, t->past + r + 1) : t->keys;
}

/* ---- few queries ---- */

/* Scores of one piece for every row, turned into weights; rows of the piece that a query must not see weigh nothing. */
static void weigh_piece(const struct attention *t, int64_t from, int64_t n, int rows, struct tw_softmax *state,
                        float *scores, float *result)
{
    for (int r = 0; r < rows; r++) {
        float *s = scores + r * KEYS, *o = result + r * t->dim;
        int64_t seen = tw_least(n, seen_by(t, r) - from);
        if (seen < 0)
            seen = 0;
        t->kernels->exp_row(s, seen, t->scale, &state[r], s);
        memset(s + seen, 0, (size_t)(n - seen) * sizeof *s);
        t->kernels->scale(o, state[r].factor, o, t->dim);
    }
}

static void few_task(void *arg, size_t index, unsigned worker)
{
    const struct attention *t = arg;
    const struct tw_kernels *kn = t->kernels;
    int64_t matrix = (int64_t)index / t->heads, head = (int64_t)index % t->heads;
    struct tw_operand q = head_of(&t->q, matrix, head, t->dim), k = head_of(&t->k, matrix, head, t->dim);
    struct tw_operand v = head_of(&t->v, matrix, head, t->dim), out = head_of(&t->out, matrix, head, t->dim);
    int rows = (int)q.rows;
    float *query = tw_own(t->host, worker), *result = query + rows * t->dim, *scores = result + rows * t->dim;
    struct tw_softmax state[FEW_QUERIES];
    for (int r = 0; r < rows; r++) {
        state[r] = (struct tw_softmax){.max = -INFINITY};
        kn->widen(q.type, tw_operand_row(&q, r), query + r * t->dim, t->dim);
    }
    memset(result, 0, (size_t)(rows * t->dim) * sizeof *result);
    for (int64_t from = 0; from < seen_by(t, rows - 1); from += KEYS) {
        int64_t n = tw_least(KEYS, seen_by(t, rows - 1) - from);
        kn->dots(k.type, rows, t->dim, query, t->dim, tw_operand_row(&k, from), k.row_stride, n, scores, KEYS);
        weigh_piece(t, from, n, rows, state, scores, result);
        kn->weigh(v.type, rows, n, scores, KEYS, tw_operand_row(&v, from), v.row_stride, t->dim, result, t->dim);
    }
    for (int r = 0; r < rows; r++) {
        float *o = result + r * t->dim;
        kn->scale(o, (float)(1 / state[r].sum), o, t->dim);
        kn->narrow(out.type, o, tw_operand_row(&out, r), t->dim);
    }
}

static int run_few(struct tw_host *h, struct attention *t, struct tw_error *err)
{
    size_t rows = (size_t)t->q.rows;
    int rc = tw_own_reserve(h, rows * (2 * (size_t)t->dim + KEYS), err);
    if (rc < 0)
        return rc;
    tw_pool_run(h->pool, (size_t)(t->heads * t->q.batch), few_task, t);
    return TW_OK;
}

/* ---- many queries ---- */

/* One piece of the keys and values of one head. */
static void pack_piece(void *arg, size_t index, unsigned worker)
{
    const struct attention *t = arg;
    const struct tw_kernels *kn = t->kernels;
    int64_t head = (int64_t)index % t->heads, from = (int64_t)index / t->heads * KEYS;
    struct tw_operand k = head_of(&t->k, t->matrix, head, t->dim), v = head_of(&t->v, t->matrix, head, t->dim);
    float *spare = tw_own(t->host, worker);
    int64_t n = tw_least(KEYS, t->keys - from), mr = kn->tile_rows, chunk = tw_chunk_length(t->dim);
    for (int64_t i = from; i < from + n; i += mr) {
        float *panel = t->packed_k + (head * t->keys_padded + i) * t->dim;
        for (int64_t d = 0; d < t->dim; d += chunk)
            tw_pack_rows(kn, &k, i, tw_least(mr, t->keys - i), d, tw_least(chunk, t->dim - d), (int)mr, panel + d * mr,
                         spare);
    }
    float *values = t->packed_v + (head * t->keys_padded + from) * t->dim_padded;
    tw_pack_cols(kn, &v, 0, t->dim, from, n, (int)mr, values, spare);
}

/* Scratch of a worker: a strip of queries with its softmax and its result. */
struct strip {
    float *query;  /* dim x tile_cols, times scale */
    float *scores; /* KEYS x tile_cols, and a tile's rows more */
    float *result; /* dim_padded x tile_cols: transposed */
    float *rows;   /* tile_cols x dim: the result as it is written */
    float *spare;  /* for packing */
    float max[TW_TILE_MAX], sum[TW_TILE_MAX], factor[TW_TILE_MAX];
};

static size_t strip_floats(const struct attention *t)
{
    size_t nr = (size_t)t->kernels->tile_cols, mr = (size_t)t->kernels->tile_rows;
    return nr * (2 * (size_t)t->dim + (KEYS + mr) + (size_t)t->dim_padded) + TW_PANEL_SPARE;
}

static struct strip strip_in(const struct attention *t, float *memory)
{
    int64_t nr = t->kernels->tile_cols, mr = t->kernels->tile_rows;
    struct strip s;
    s.query = memory;
    s.scores = s.query + nr * t->dim;
    s.result = s.scores + nr * (KEYS + mr);
    s.rows = s.result + nr * t->dim_padded;
    s.spare = s.rows + nr * t->dim;
    for (int64_t c = 0; c < nr; c++) {
        s.max[c] = -INFINITY;
        s.sum[c] = 0;
    }
    return s;
}

/* s[key][query] of the piece at `from`, over all of dim. */
static void score_piece(const struct attention *t, int64_t head, int64_t from, int64_t n, struct strip *s)
{
    const struct tw_kernels *kn = t->kernels;
    int64_t mr = kn->tile_rows, nr = kn->tile_cols, chunk = tw_chunk_length(t->dim);
    for (int64_t i = 0; i < n; i += mr) {
        const float *panel = t->packed_k + (head * t->keys_padded + from + i) * t->dim;
        for (int64_t d = 0; d < t->dim; d += chunk)
            kn->tile((int)tw_least(mr, n - i), tw_least(chunk, t->dim - d), panel + d * mr, s->query + d * nr,
                     s->scores + i * nr, nr, d > 0);
    }
}

/* Hides keys after the last one that each query of the strip may see. */
static void hide_later_keys(const struct attention *t, int64_t first, int64_t from, int64_t n, struct strip *s)
{
    int64_t nr = t->kernels->tile_cols;
    for (int64_t c = 0; c < nr; c++) {
        int64_t seen = seen_by(t, first + c) - from;
        for (int64_t j = seen > 0 ? seen : 0; j < n; j++)
            s->scores[j * nr + c] = -INFINITY;
    }
}

/* result^T += v^T scores for the piece at `from`. */
static void add_values(const struct attention *t, int64_t head, int64_t from, int64_t n, struct strip *s)
{
    const struct tw_kernels *kn = t->kernels;
    int64_t mr = kn->tile_rows, nr = kn->tile_cols;
    const float *values = t->packed_v + (head * t->keys_padded + from) * t->dim_padded;
    for (int64_t d = 0; d < t->dim; d += mr)
        kn->tile((int)tw_least(mr, t->dim - d), n, values + d * n, s->scores, s->result + d * nr, nr, from > 0);
}

/* result^T / sum, turned back into rows of out. */
static void write_strip(const struct attention *t, const struct tw_operand *out, int64_t first, int64_t count,
                        struct strip *s)
{
    const struct tw_kernels *kn = t->kernels;
    int64_t nr = kn->tile_cols;
    for (int64_t c = 0; c < nr; c++)
        s->factor[c] = 1 / s->sum[c];
    kn->scale_columns(s->result, t->dim, s->factor);
    for (int64_t d = 0; d < t->dim; d += TW_TRANSPOSE_ROWS) {
        const float *from[TW_TRANSPOSE_ROWS];
        int n_rows = (int)tw_least(TW_TRANSPOSE_ROWS, t->dim - d);
        for (int i = 0; i < n_rows; i++)
            from[i] = s->result + (d + i) * nr;
        kn->transpose(from, n_rows, count, s->rows + d, t->dim);
    }
    for (int64_t r = 0; r < count; r++)
        kn->narrow(out->type, s->rows + r * t->dim, tw_operand_row(out, first + r), t->dim);
}

static void strip_task(void *arg, size_t index, unsigned worker)
{
    const struct attention *t = arg;
    const struct tw_kernels *kn = t->kernels;
    int64_t nr = kn->tile_cols, chunk = tw_chunk_length(t->dim);
    int64_t head = (int64_t)index / t->strips, first = (int64_t)index % t->strips * nr;
    struct tw_operand q = head_of(&t->q, t->matrix, head, t->dim), out = head_of(&t->out, t->matrix, head, t->dim);
    int64_t count = tw_least(nr, q.rows - first), last_seen = seen_by(t, first + count - 1);
    struct strip s = strip_in(t, tw_own(t->host, worker));
    for (int64_t d = 0; d < t->dim; d += chunk)
        tw_pack_rows(kn, &q, first, count, d, tw_least(chunk, t->dim - d), (int)nr, s.query + d * nr, s.spare);
    kn->scale(s.query, t->scale, s.query, t->dim * nr);
    for (int64_t from = 0; from < last_seen; from += KEYS) {
        int64_t n = tw_least(KEYS, t->keys - from);
        score_piece(t, head, from, n, &s);
        if (t->causal)
            hide_later_keys(t, first, from, n, &s);
        kn->exp_columns(s.scores, n, s.max, s.sum, s.factor);
        if (from > 0)
            kn->scale_columns(s.result, t->dim, s.factor);
        add_values(t, head, from, n, &s);
    }
    write_strip(t, &out, first, count, &s);
}

static int run_many(struct tw_host *h, struct attention *t, struct tw_error *err)
{
    const struct tw_kernels *kn = t->kernels;
    t->strips = tw_ceil_div(t->q.rows, kn->tile_cols);
    t->dim_padded = tw_round_up(t->dim, kn->tile_rows);
    t->keys_padded = tw_round_up(t->keys, kn->tile_rows);
    size_t floats;
    if (tw_mul_size((size_t)t->keys_padded, (size_t)(t->heads * (t->dim + t->dim_padded)), &floats))
        return tw_fail(err, TW_E_LIMIT, "attention over %lld keys needs more memory than can be addressed",
                       (long long)t->keys);
    int rc = tw_own_reserve(h, strip_floats(t), err);
    if (rc >= 0)
        rc = tw_shared_reserve(h, floats, err);
    if (rc < 0)
        return rc;
    t->packed_k = tw_shared(h);
    t->packed_v = t->packed_k + t->heads * t->keys_padded * t->dim;
    int64_t pieces = tw_ceil_div(t->keys, KEYS);
    for (t->matrix = 0; t->matrix < t->q.batch; t->matrix++) {
        if (t->matrix == 0 || t->k.batch > 1 || t->v.batch > 1)
            tw_pool_run(h->pool, (size_t)(t->heads * pieces), pack_piece, t);
        tw_pool_run(h->pool, (size_t)(t->heads * t->strips), strip_task, t);
    }
    return TW_OK;
}

int tw_run_attention(struct tw_host *h, const struct tw_graph *g, const struct tw_op *op, struct tw_error *err)
{
    struct attention t = {
        .host = h,
        .kernels = h->kernels,
        .q = tw_operand_of(h, g, op->in[0]),
        .k = tw_operand_of(h, g, op->in[1]),
        .v = tw_operand_of(h, g, op->in[2]),
        .out = tw_operand_of(h, g, op->out),
        .heads = op->heads,
        .scale = op->scale,
        .causal = op->causal,
        .past = op->past,
    };
    t.dim = t.q.cols / t.heads;
    t.keys = t.k.rows;
    return t.q.rows <= FEW_QUERIES ? run_few(h, &t, err) : run_many(h, &t, err);
}
