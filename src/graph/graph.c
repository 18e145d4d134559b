#include "graph/graph.h"

#include "base/memory.h"
#include "graph/list.h"
#include "graph/window.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_ROOM 64

struct tw_graph *tw_graph_create(void)
{
    return calloc(1, sizeof(struct tw_graph));
}

void tw_graph_destroy(struct tw_graph *g)
{
    if (g == NULL)
        return;
    free(g->tensors);
    free(g->ops);
    free(g->scratch);
    free(g);
}

void tw_graph_reset(struct tw_graph *g)
{
    g->n_tensors = 0;
    g->n_ops = 0;
    g->work_bytes = 0;
    g->finished = 0;
    g->failure.code = TW_OK;
    g->failure.text[0] = '\0';
}

int tw_graph_refuse(struct tw_graph *g, int code, const char *fmt, ...)
{
    if (g->failure.code != TW_OK)
        return code;
    va_list args;
    va_start(args, fmt);
    g->failure.code = code;
    vsnprintf(g->failure.text, sizeof g->failure.text, fmt, args);
    va_end(args);
    return code;
}

int tw_graph_is_tensor(const struct tw_graph *g, tw_id id)
{
    return id >= 0 && id < g->n_tensors;
}

int tw_graph_grow(struct tw_graph *g, void **items, int32_t *room, int32_t count, size_t size)
{
    if (count < *room)
        return TW_OK;
    /* Numbers of tensors and operations are int32_t, and INT32_MAX means none. */
    if (count > INT32_MAX / 4)
        return tw_graph_refuse(g, TW_E_LIMIT, "a graph of %d entries cannot grow further", count);
    int32_t wanted = *room == 0 ? FIRST_ROOM : 2 * *room;
    size_t bytes;
    void *grown = tw_mul_size((size_t)wanted, size, &bytes) ? NULL : realloc(*items, bytes);
    if (grown == NULL)
        return tw_graph_refuse(g, TW_E_MEMORY, "no memory for a graph of %d entries", wanted);
    *items = grown;
    *room = wanted;
    return TW_OK;
}

void *tw_graph_scratch(struct tw_graph *g, size_t bytes)
{
    if (bytes <= g->scratch_bytes)
        return g->scratch;
    free(g->scratch);
    g->scratch_bytes = 0;
    g->scratch = tw_alloc(bytes);
    if (g->scratch == NULL)
        tw_graph_refuse(g, TW_E_MEMORY, "no memory to check a graph of %d operations", g->n_ops);
    else
        g->scratch_bytes = bytes;
    return g->scratch;
}

static void set_name(struct tw_tensor *t, const char *name)
{
    size_t n = name == NULL ? 0 : strlen(name);
    if (n >= sizeof t->name)
        n = sizeof t->name - 1;
    if (n > 0)
        memcpy(t->name, name, n);
    t->name[n] = '\0';
}

/* Appends *t as the next tensor; returns its number. */
static tw_id append(struct tw_graph *g, const struct tw_tensor *t)
{
    if (g->finished)
        return tw_graph_refuse(g, TW_E_STATE, "tensor '%s' comes after the graph was finished; reset it first",
                               t->name);
    void *items = g->tensors;
    int code = tw_graph_grow(g, &items, &g->tensor_room, g->n_tensors, sizeof *t);
    g->tensors = items;
    if (code != TW_OK)
        return code;
    tw_id id = g->n_tensors++;
    g->tensors[id] = *t;
    g->tensors[id].first_use = g->tensors[id].last_use = -1;
    g->tensors[id].hold = -1;
    if (t->storage != TW_VIEW)
        g->tensors[id].base = id;
    return id;
}

static int check_counts(struct tw_graph *g, const struct tw_tensor *t)
{
    const struct tw_type_info *info = tw_type_info(t->type);
    if (info == NULL)
        return tw_graph_refuse(g, TW_E_ARGUMENT, "tensor '%s' has the unknown type %d", t->name, (int)t->type);
    if (t->cols < 1 || t->rows < 1 || t->batch < 1)
        return tw_graph_refuse(g, TW_E_SHAPE, "tensor '%s' of %lld x %lld x %lld numbers: no size may be below 1",
                               t->name, (long long)t->cols, (long long)t->rows, (long long)t->batch);
    if (t->cols % info->block != 0)
        return tw_graph_refuse(g, TW_E_SHAPE, "tensor '%s' has %lld columns, but %s is stored in blocks of %u", t->name,
                               (long long)t->cols, info->name, info->block);
    return TW_OK;
}

/* Bytes of count things, each stride apart and the last one `last` long, or nonzero when beyond PTRDIFF_MAX. */
static int span(int64_t count, size_t stride, size_t last, size_t *bytes)
{
    size_t steps;
    if ((uint64_t)(count - 1) > SIZE_MAX || tw_mul_size((size_t)(count - 1), stride, &steps) || steps > PTRDIFF_MAX ||
        last > PTRDIFF_MAX - steps)
        return 1;
    *bytes = steps + last;
    return 0;
}

static int row_span(const struct tw_tensor *t, size_t *bytes)
{
    const struct tw_type_info *info = tw_type_info(t->type);
    return span(t->cols / info->block, info->bytes, info->bytes, bytes);
}

/* Fills the strides and size of a dense tensor. */
static int set_dense(struct tw_graph *g, struct tw_tensor *t)
{
    if (row_span(t, &t->row_stride) || span(t->rows, t->row_stride, t->row_stride, &t->batch_stride) ||
        span(t->batch, t->batch_stride, t->batch_stride, &t->bytes))
        return tw_graph_refuse(g, TW_E_LIMIT, "tensor '%s' of %lld x %lld x %lld numbers is too large", t->name,
                               (long long)t->cols, (long long)t->rows, (long long)t->batch);
    return TW_OK;
}

static tw_id add_dense(struct tw_graph *g, const char *name, struct tw_tensor *t)
{
    set_name(t, name);
    int code = check_counts(g, t);
    if (code == TW_OK)
        code = set_dense(g, t);
    if (code == TW_OK && t->storage == TW_BOUND && t->data == NULL)
        code = tw_graph_refuse(g, TW_E_ARGUMENT, "tensor '%s' was bound to no memory", t->name);
    return code == TW_OK ? append(g, t) : code;
}

tw_id tw_graph_bind(struct tw_graph *g, const char *name, enum tw_type type, int64_t cols, int64_t rows, int64_t batch,
                    void *data)
{
    struct tw_tensor t = {.type = type, .storage = TW_BOUND, .cols = cols, .rows = rows, .batch = batch, .data = data};
    return add_dense(g, name, &t);
}

tw_id tw_graph_constant(struct tw_graph *g, const char *name, enum tw_type type, int64_t cols, int64_t rows,
                        int64_t batch, const void *data)
{
    /* The constant flag keeps every operation from writing here, so dropping const is safe. */
    struct tw_tensor t = {.type = type,
                          .storage = TW_BOUND,
                          .constant = 1,
                          .cols = cols,
                          .rows = rows,
                          .batch = batch,
                          .data = (unsigned char *)(uintptr_t)data};
    return add_dense(g, name, &t);
}

tw_id tw_graph_temp(struct tw_graph *g, const char *name, enum tw_type type, int64_t cols, int64_t rows, int64_t batch)
{
    struct tw_tensor t = {.type = type, .storage = TW_TEMP, .cols = cols, .rows = rows, .batch = batch};
    if (tw_type_info(type) != NULL && type != TW_F32 && type != TW_F16 && type != TW_BF16)
        return tw_graph_refuse(g, TW_E_ARGUMENT, "temporary tensor '%s' is %s; f32, f16 and bf16 can be computed",
                               name == NULL ? "" : name, tw_type_info(type)->name);
    return add_dense(g, name, &t);
}

/* Single rows and matrices get the strides of a dense tensor, so that executors see plain memory as plain. */
static void settle_strides(struct tw_tensor *t, size_t row_bytes)
{
    if (t->rows == 1)
        t->row_stride = row_bytes;
    if (t->batch == 1)
        t->batch_stride = (size_t)t->rows * t->row_stride;
}

/* Nonzero when the window's offset and strides fall between elements, or between rows of a quantised base. */
static int between_elements(const struct tw_tensor *t, const struct tw_tensor *base)
{
    const struct tw_type_info *info = tw_type_info(t->type);
    size_t unit = info->block == 1 ? info->bytes : base->row_stride;
    if (info->block != 1 && t->cols != base->cols)
        return 1;
    return t->offset % unit != 0 || (t->rows > 1 && t->row_stride % unit != 0) ||
           (t->batch > 1 && t->batch_stride % unit != 0);
}

static int check_window(struct tw_graph *g, struct tw_tensor *t, size_t offset)
{
    const struct tw_tensor *base = &g->tensors[t->base];
    size_t row, matrix, all;
    int code = check_counts(g, t);
    if (code != TW_OK)
        return code;
    int outside = row_span(t, &row) || span(t->rows, t->row_stride, row, &matrix) ||
                  span(t->batch, t->batch_stride, matrix, &all);
    if (outside || offset > base->bytes - t->offset || all > base->bytes - t->offset - offset)
        return tw_graph_refuse(
            g, TW_E_SHAPE, "a view of %lld x %lld x %lld numbers at byte %zu leaves the %zu bytes of tensor '%s'",
            (long long)t->cols, (long long)t->rows, (long long)t->batch, offset, base->bytes, t->name);
    t->offset += offset;
    if (between_elements(t, base))
        return tw_graph_refuse(g, TW_E_SHAPE, "a view into tensor '%s' begins or steps inside %s", t->name,
                               tw_type_info(t->type)->block == 1 ? "an element" : "a quantised row");
    settle_strides(t, row);
    return TW_OK;
}

tw_id tw_graph_view(struct tw_graph *g, tw_id of, int64_t cols, int64_t rows, int64_t batch, size_t offset,
                    size_t row_stride, size_t batch_stride)
{
    if (!tw_graph_is_tensor(g, of)) {
        int code = of < 0 ? of : TW_E_ARGUMENT;
        return tw_graph_refuse(g, code, "a view of tensor number %d, which is not in the graph", of);
    }
    struct tw_tensor t = g->tensors[of];
    t.storage = TW_VIEW;
    t.cols = cols;
    t.rows = rows;
    t.batch = batch;
    t.row_stride = row_stride;
    t.batch_stride = batch_stride;
    t.data = NULL;
    t.bytes = 0;
    int code = check_window(g, &t, offset);
    return code == TW_OK ? append(g, &t) : code;
}

int tw_graph_hold(struct tw_graph *g, tw_id id, int32_t op)
{
    if (!tw_graph_is_tensor(g, id))
        return tw_graph_refuse(g, id < 0 ? id : TW_E_ARGUMENT, "tensor number %d, to be held, is not in the graph", id);
    if (g->finished)
        return tw_graph_refuse(g, TW_E_STATE, "tensor '%s' was to be held after the graph was finished",
                               g->tensors[id].name);
    if (op < 0)
        return tw_graph_refuse(g, TW_E_ARGUMENT, "tensor '%s' cannot be held until operation %d", g->tensors[id].name,
                               op);
    struct tw_tensor *base = &g->tensors[g->tensors[id].base];
    if (op > base->hold)
        base->hold = op;
    return TW_OK;
}

unsigned char *tw_tensor_data(const struct tw_graph *g, tw_id id, unsigned char *work)
{
    const struct tw_tensor *t = &g->tensors[id];
    const struct tw_tensor *base = &g->tensors[t->base];
    return (base->storage == TW_BOUND ? base->data : work + base->place) + t->offset;
}
