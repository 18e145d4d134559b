/*
 * Where temporary tensors lie: largest first, each into the smallest gap that the tensors alive at the same time leave.
 *
 * The first use of a temporary is the operation that writes it, and an operation has one output; so at most one
 * temporary begins at each operation, and operation numbers serve to name them here.
 */
#include "graph/graph.h"

#include "base/memory.h"
#include "graph/list.h"
#include "graph/order.h"

/* A binary tree over operations: the latest last use of the temporaries already placed that begin below a node, or -1.
 */
struct lives {
    int32_t *latest;
    int32_t leaves;
};

struct plan {
    const struct tw_graph *g;
    struct lives placed;
    struct tw_order *by_size;
    int32_t count;
    struct tw_order *rivals; /* placed temporaries alive together with the one to place */
    int32_t n_rivals;
};

static struct tw_tensor *begins_at(const struct tw_graph *g, int32_t index)
{
    struct tw_tensor *t = &g->tensors[g->tensors[g->ops[index].out].base];
    return t->storage == TW_TEMP && t->first_use == index ? t : NULL;
}

/* Sizes were checked to stay below PTRDIFF_MAX, so that rounding up cannot wrap. */
static size_t rounded(size_t bytes)
{
    return (bytes + TW_ALIGN - 1) / TW_ALIGN * TW_ALIGN;
}

static void lives_add(struct lives *lives, int32_t first, int32_t last)
{
    for (int32_t node = lives->leaves + first; node > 0 && lives->latest[node] < last; node /= 2)
        lives->latest[node] = last;
}

/* Collects what lies below node (of `width` operations from `from`), begins at or before last and ends at or after
 * first. */
static void collect(struct plan *p, int32_t node, int32_t from, int32_t width, int32_t first, int32_t last)
{
    if (p->placed.latest[node] < first || from > last)
        return;
    if (width == 1) {
        p->rivals[p->n_rivals++] = (struct tw_order){begins_at(p->g, from)->place, from};
        return;
    }
    collect(p, 2 * node, from, width / 2, first, last);
    collect(p, 2 * node + 1, from + width / 2, width / 2, first, last);
}

/* The lowest of the smallest gaps between the rivals that hold size bytes, or the place after all of them. */
static size_t best_gap(const struct plan *p, size_t size)
{
    size_t end = 0, best = 0, best_room = SIZE_MAX;
    for (int32_t i = 0; i < p->n_rivals; i++) {
        size_t place = (size_t)p->rivals[i].key;
        if (place > end && place - end >= size && place - end < best_room) {
            best = end;
            best_room = place - end;
        }
        size_t after = place + rounded(begins_at(p->g, p->rivals[i].item)->bytes);
        end = after > end ? after : end;
    }
    return best_room == SIZE_MAX ? end : best;
}

static int place_all(struct tw_graph *g, struct plan *p)
{
    for (int32_t i = 0; i < p->count; i++) {
        struct tw_tensor *t = begins_at(g, p->by_size[i].item);
        p->n_rivals = 0;
        collect(p, 1, 0, p->placed.leaves, t->first_use, t->last_use);
        tw_order_sort(p->rivals, (size_t)p->n_rivals);
        t->place = best_gap(p, rounded(t->bytes));
        lives_add(&p->placed, t->first_use, t->last_use);
        if (t->place > PTRDIFF_MAX - rounded(t->bytes))
            return tw_graph_refuse(g, TW_E_LIMIT, "the temporary tensors of %d operations are too large", g->n_ops);
        if (t->place + rounded(t->bytes) > g->work_bytes)
            g->work_bytes = t->place + rounded(t->bytes);
    }
    return TW_OK;
}

/* Lists the temporaries in order of falling size. */
static void list_by_size(struct plan *p)
{
    for (int32_t i = 0; i < p->g->n_ops; i++) {
        const struct tw_tensor *t = begins_at(p->g, i);
        if (t != NULL)
            p->by_size[p->count++] = (struct tw_order){UINT64_MAX - t->bytes, i};
    }
    tw_order_sort(p->by_size, (size_t)p->count);
}

int tw_graph_plan(struct tw_graph *g)
{
    g->work_bytes = 0;
    if (g->n_ops == 0)
        return TW_OK;
    struct plan p = {.g = g, .placed.leaves = 1};
    while (p.placed.leaves < g->n_ops)
        p.placed.leaves *= 2;
    size_t ops = (size_t)g->n_ops, nodes = 2 * (size_t)p.placed.leaves;
    p.by_size = tw_graph_scratch(g, 2 * ops * sizeof *p.by_size + nodes * sizeof *p.placed.latest);
    if (p.by_size == NULL)
        return TW_E_MEMORY;
    p.rivals = p.by_size + ops;
    p.placed.latest = (int32_t *)(p.rivals + ops);
    for (size_t i = 0; i < nodes; i++)
        p.placed.latest[i] = -1;
    list_by_size(&p);
    return place_all(g, &p);
}
