/*
 * Dependences of operations that follow each other, by register leaves, memory tags and the order of locks and streams.
 * A loop's body is walked twice: what the second walk needs of the first is a dependence between iterations. Those over
 * more than one iteration follow from these.
 */
#include "isa/sched/dependence.h"

#include <string.h>

/* An operation's access of a leaf. */
struct access {
    int32_t node; /* -1: none */
    uint8_t cycle, bypass;
    int32_t next; /* in a list of readers, -1 ends */
};

struct location {
    struct access writer;
    int32_t readers; /* since it was written */
};

/* Accesses that later ones of a tag must be kept behind. */
struct memory_state {
    int32_t *stores, *loads;
    uint32_t n_stores, n_loads;
};

enum { ANY = SCHED_TAGS };

struct dependence {
    struct tw_sched_program *p;
    const uint32_t *ops;
    uint32_t n;
    int32_t loop;
    struct tw_sched_edges *edges;
    struct location *locations;
    struct access *pool;
    uint32_t n_pool, room_pool;
    struct memory_state memory[SCHED_TAGS + 1];
    int32_t *accesses; /* to memory since the last lock */
    uint32_t n_accesses;
    int32_t lock, ordered; /* the last ones; locks, streams and the like keep their order */
    int code;
};

static const struct tw_sched_op *op_of(const struct dependence *d, int32_t node)
{
    return &d->p->ops[d->ops[(uint32_t)node % d->n]];
}

static void add(struct dependence *d, int32_t from, int32_t to, int distance)
{
    struct tw_sched_edges *e = d->edges;
    int32_t n = (int32_t)d->n;

    if (from < 0 || from == to || (from >= n && to >= n))
        return;
    if (e->n == e->room) {
        uint32_t more = e->room == 0 ? 4 * d->n + 64 : 2 * e->room;
        struct tw_sched_edge *list = tw_arena_alloc(&d->p->arena, more, sizeof *list);
        if (list == NULL) {
            d->code = tw_sched_no_memory(d->p);
            return;
        }
        if (e->n > 0)
            memcpy(list, e->list, e->n * sizeof *list);
        e->list = list;
        e->room = more;
    }
    e->list[e->n++] = (struct tw_sched_edge){from, to % n, (int16_t)distance, (uint8_t)(to >= n)};
}

/* ---- registers */

static int same_bypass(uint8_t a, uint8_t b)
{
    return a == b && a != TW_BYPASS_NONE;
}

static struct location *location(struct dependence *d, const struct tw_sched_ref *ref, unsigned i)
{
    if (ref->var < 0)
        return &d->locations[tw_registers[ref->reg].leaves[ref->first + i]];
    return &d->locations[TW_R_COUNT + (uint32_t)ref->web * SCHED_LEAVES + ref->first + i];
}

static void read_leaf(struct dependence *d, int32_t node, const struct tw_sched_ref *ref, struct location *l)
{
    add(d, l->writer.node, node,
        tw_distance_raw(l->writer.cycle, ref->cycle, same_bypass(l->writer.bypass, ref->bypass)));
    if (d->n_pool == d->room_pool) {
        d->code = tw_sched_no_memory(d->p);
        return;
    }
    d->pool[d->n_pool] = (struct access){node, ref->cycle, ref->bypass, l->readers};
    l->readers = (int32_t)d->n_pool++;
}

static void write_leaf(struct dependence *d, int32_t node, const struct tw_sched_ref *ref, struct location *l)
{
    for (int32_t i = l->readers; i >= 0; i = d->pool[i].next) {
        const struct access *r = &d->pool[i];
        add(d, r->node, node, tw_distance_war(r->cycle, ref->cycle, same_bypass(r->bypass, ref->bypass)));
    }
    add(d, l->writer.node, node, tw_distance_waw(l->writer.cycle, ref->cycle));
    l->writer = (struct access){node, ref->cycle, ref->bypass, -1};
    l->readers = -1;
}

static void use_registers(struct dependence *d, int32_t node)
{
    const struct tw_sched_op *op = op_of(d, node);

    for (int write = 0; write < 2; write++)
        for (unsigned k = 0; k < op->n_refs; k++) {
            const struct tw_sched_ref *ref = &op->refs[k];
            for (unsigned i = 0; ref->writes == write && i < ref->count; i++)
                (write ? write_leaf : read_leaf)(d, node, ref, location(d, ref, i));
        }
}

/* ---- memory */

/* Whether two accesses of a tag never meet, since they are of different iterations. */
static int apart(const struct dependence *d, int tag, int32_t from, int32_t to)
{
    return d->loop >= 0 && tag < ANY && (d->p->loops[d->loop].independent >> tag & 1) != 0 && from < (int32_t)d->n &&
           to >= (int32_t)d->n;
}

/* Adds edges from the accesses in a list; own: the tag that the node has too, else ANY. */
static void follow(struct dependence *d, const int32_t *list, uint32_t n, int32_t node, int own)
{
    for (uint32_t i = 0; i < n; i++)
        if (!apart(d, own, list[i], node))
            add(d, list[i], node, tw_distance_memory(op_of(d, list[i])->mem_last, op_of(d, node)->mem_first));
}

/* Leaves those in a list that a store does not stand for from now on. */
static void cover(const struct dependence *d, int32_t *list, uint32_t *n, int32_t node, int own)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < *n; i++)
        if (apart(d, own, list[i], node))
            list[kept++] = list[i];
    *n = kept;
}

static void use_memory(struct dependence *d, int32_t node)
{
    const struct tw_sched_op *op = op_of(d, node);
    int own = op->tag < 0 ? ANY : op->tag;
    int stores = (op->flags & TW_FLAG_STORE) != 0;

    for (int tag = 0; tag <= ANY; tag++) {
        struct memory_state *m = &d->memory[tag];
        if (tag != own && tag != ANY && own != ANY)
            continue;
        int common = tag == own ? tag : ANY;
        follow(d, m->stores, m->n_stores, node, common);
        if (stores)
            follow(d, m->loads, m->n_loads, node, common);
        if (stores && (own == ANY || tag == own)) {
            cover(d, m->stores, &m->n_stores, node, common);
            cover(d, m->loads, &m->n_loads, node, common);
        }
    }
    struct memory_state *m = &d->memory[own];
    if (stores)
        m->stores[m->n_stores++] = node;
    else
        m->loads[m->n_loads++] = node;
    if (d->lock >= 0)
        add(d, d->lock, node, tw_distance_from_lock(op->mem_first));
    d->accesses[d->n_accesses++] = node;
}

/* ---- locks, streams and what else must not change places */

static void keep_order(struct dependence *d, int32_t node)
{
    const struct tw_sched_op *op = op_of(d, node);
    int locks = (op->flags & TW_FLAG_LOCK) != 0, done = op->alt[0].instruction == TW_I_DONE;

    add(d, d->ordered, node, done ? 2 : 1);
    d->ordered = node;
    if (!locks && !done)
        return;
    for (uint32_t i = 0; i < d->n_accesses; i++)
        add(d, d->accesses[i], node, done ? TW_DONE_DISTANCE : tw_distance_to_lock(op_of(d, d->accesses[i])->mem_last));
    d->n_accesses = 0;
    d->lock = node;
}

/* ---- the walk */

/* What the next iteration does not share with this one. */
static void begin_iteration(struct dependence *d)
{
    for (uint32_t w = 0; w < d->p->n_webs; w++)
        for (unsigned i = 0; d->p->webs[w].rotates == d->loop && i < SCHED_LEAVES; i++) {
            struct location *l = &d->locations[TW_R_COUNT + w * SCHED_LEAVES + i];
            l->writer.node = -1;
            l->readers = -1;
        }
}

static int prepare(struct dependence *d)
{
    struct tw_arena *arena = &d->p->arena;
    size_t n_locations = TW_R_COUNT + (size_t)d->p->n_webs * SCHED_LEAVES;

    d->room_pool = 0;
    for (uint32_t i = 0; i < d->n; i++)
        for (unsigned k = 0; k < op_of(d, (int32_t)i)->n_refs; k++)
            d->room_pool += 2u * op_of(d, (int32_t)i)->refs[k].count;
    d->pool = tw_arena_alloc(arena, d->room_pool + 1, sizeof *d->pool);
    d->locations = tw_arena_alloc(arena, n_locations, sizeof *d->locations);
    d->accesses = tw_arena_alloc(arena, 2 * (size_t)d->n + 1, sizeof *d->accesses);
    if (d->pool == NULL || d->locations == NULL || d->accesses == NULL)
        return tw_sched_no_memory(d->p);
    for (size_t i = 0; i < n_locations; i++)
        d->locations[i] = (struct location){{-1, 0, 0, -1}, -1};
    for (unsigned tag = 0; tag <= ANY; tag++) {
        d->memory[tag].loads = tw_arena_alloc(arena, 2 * (size_t)d->n + 1, sizeof *d->memory[tag].loads);
        d->memory[tag].stores = tw_arena_alloc(arena, 2 * (size_t)d->n + 1, sizeof *d->memory[tag].stores);
        if (d->memory[tag].loads == NULL || d->memory[tag].stores == NULL)
            return tw_sched_no_memory(d->p);
    }
    return 0;
}

int tw_sched_depend(struct tw_sched_program *p, const uint32_t *ops, uint32_t n, int32_t loop,
                    struct tw_sched_edges *edges)
{
    struct dependence d;

    memset(&d, 0, sizeof d);
    d.p = p;
    d.ops = ops;
    d.n = n;
    d.loop = loop;
    d.edges = edges;
    d.lock = d.ordered = -1;
    if (n == 0)
        return 0;
    int code = prepare(&d);
    if (code < 0)
        return code;
    int32_t nodes = (int32_t)(loop >= 0 ? 2 * n : n);
    for (int32_t node = 0; node < nodes && d.code == 0; node++) {
        if (node == (int32_t)n)
            begin_iteration(&d);
        use_registers(&d, node);
        if (op_of(&d, node)->mem_first != 0)
            use_memory(&d, node);
        if ((op_of(&d, node)->flags & (TW_FLAG_LOCK | TW_FLAG_STREAM | TW_FLAG_SIDE_EFFECT)) != 0)
            keep_order(&d, node);
    }
    return d.code;
}
