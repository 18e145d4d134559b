/*
 * Where temporary tensors lie: largest first, each into the smallest gap that the tensors alive at the same time leave.
 *
 * Temporaries are ranked by the operation at which their life begins, and here their ranks name them: those that begin
 * at or before an operation are the first so many ranks.
 */
#include "graph/graph.h"

#include "base/memory.h"
#include "graph/list.h"
#include "graph/order.h"

/* A binary tree over ranks: the latest last use of the temporaries already placed below a node, or -1. */
struct lives {
    int32_t *latest;
    int32_t leaves;
};

struct plan {
    struct tw_graph *g;
    struct lives placed;
    struct tw_order *by_begin; /* entry r: first use and number of the temporary of rank r */
    struct tw_order *by_size;
    int32_t count;
    struct tw_order *rivals; /* placed temporaries alive together with the one to place */
    int32_t n_rivals;
};

static struct tw_tensor *of_rank(const struct plan *p, int32_t rank)
{
    return &p->g->tensors[p->by_begin[rank].item];
}

/* Sizes were checked to stay below PTRDIFF_MAX, so that rounding up cannot wrap. */
static size_t rounded(size_t bytes)
{
    return (bytes + TW_ALIGN - 1) / TW_ALIGN * TW_ALIGN;
}

static void lives_add(struct lives *lives, int32_t rank, int32_t last)
{
    for (int32_t node = lives->leaves + rank; node > 0 && lives->latest[node] < last; node /= 2)
        lives->latest[node] = last;
}

/* Collects what lies below node (of `width` ranks from `from`), begins at or before last and ends at or after first. */
static void collect(struct plan *p, int32_t node, int32_t from, int32_t width, int32_t first, int32_t last)
{
    if (p->placed.latest[node] < first || of_rank(p, from)->first_use > last)
        return;
    if (width == 1) {
        p->rivals[p->n_rivals++] = (struct tw_order){of_rank(p, from)->place, from};
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
        size_t after = place + rounded(of_rank(p, p->rivals[i].item)->bytes);
        end = after > end ? after : end;
    }
    return best_room == SIZE_MAX ? end : best;
}

static int place_all(struct plan *p)
{
    struct tw_graph *g = p->g;
    for (int32_t i = 0; i < p->count; i++) {
        struct tw_tensor *t = of_rank(p, p->by_size[i].item);
        p->n_rivals = 0;
        collect(p, 1, 0, p->placed.leaves, t->first_use, t->last_use);
        tw_order_sort(p->rivals, (size_t)p->n_rivals);
        t->place = best_gap(p, rounded(t->bytes));
        lives_add(&p->placed, p->by_size[i].item, t->last_use);
        if (t->place > PTRDIFF_MAX - rounded(t->bytes))
            return tw_graph_refuse(g, TW_E_LIMIT, "the temporary tensors of %d operations are too large", g->n_ops);
        if (t->place + rounded(t->bytes) > g->work_bytes)
            g->work_bytes = t->place + rounded(t->bytes);
    }
    return TW_OK;
}

static int is_placed(const struct tw_tensor *t)
{
    return t->storage == TW_TEMP && t->first_use >= 0;
}

/* Lists the temporaries by begin, then their ranks in order of falling size. */
static void list_all(struct plan *p)
{
    int32_t n = 0;
    for (tw_id id = 0; id < p->g->n_tensors; id++)
        if (is_placed(&p->g->tensors[id]))
            p->by_begin[n++] = (struct tw_order){(uint64_t)p->g->tensors[id].first_use, id};
    tw_order_sort(p->by_begin, (size_t)n);
    for (int32_t rank = 0; rank < n; rank++)
        p->by_size[rank] = (struct tw_order){UINT64_MAX - of_rank(p, rank)->bytes, rank};
    tw_order_sort(p->by_size, (size_t)n);
}

int tw_graph_plan(struct tw_graph *g)
{
    struct plan p = {.g = g, .placed.leaves = 1};
    g->work_bytes = 0;
    for (tw_id id = 0; id < g->n_tensors; id++)
        p.count += is_placed(&g->tensors[id]);
    if (p.count == 0)
        return TW_OK;
    while (p.placed.leaves < p.count)
        p.placed.leaves *= 2;
    size_t count = (size_t)p.count, nodes = 2 * (size_t)p.placed.leaves;
    p.by_begin = tw_graph_scratch(g, 3 * count * sizeof *p.by_begin + nodes * sizeof *p.placed.latest);
    if (p.by_begin == NULL)
        return TW_E_MEMORY;
    p.by_size = p.by_begin + count;
    p.rivals = p.by_size + count;
    p.placed.latest = (int32_t *)(p.rivals + count);
    for (size_t i = 0; i < nodes; i++)
        p.placed.latest[i] = -1;
    list_all(&p);
    return place_all(&p);
}
