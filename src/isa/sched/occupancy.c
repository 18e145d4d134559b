/*
 * A name holds its register from the cycle in which its first value lands to the last cycle in which it is read, along
 * all ways through the rows. In between two values of one chain, or before the first has landed, the register is
 * another's. A cycle has two moments, since results of a bypass arrive before it and others after it.
 */
#include "isa/sched/occupancy.h"

#include <string.h>

/* What happens to leaves in a cycle, in this order. */
enum event_kind { READ, WRITE_BYPASS, READ_BYPASS, WRITE };

struct event {
    uint32_t leaf;         /* of a name, or a real one */
    uint8_t kind, certain; /* certain: on every way that leads here */
    int32_t next;
};

struct occupation {
    struct tw_sched_program *p;
    const struct tw_sched_rows *rows;
    struct tw_sched_occupancy *o;

    int32_t *events; /* of each cycle: list */
    struct event *pool;
    uint32_t n_pool, room_pool;
    uint32_t *next;                             /* scratch for successors */
    uint32_t *before, *n_before, *before_first; /* rows that may come before each row */
    size_t leaf_words;
    uint64_t *live_in; /* of each row and the end: leaves that are live when it begins */
    int code;
};

static void put(uint64_t *set, uint32_t i)
{
    set[i / 64] |= (uint64_t)1 << i % 64;
}

static void drop(uint64_t *set, uint32_t i)
{
    set[i / 64] &= ~((uint64_t)1 << i % 64);
}

/* ---- names */

static int make_names(struct occupation *c)
{
    struct tw_sched_program *p = c->p;
    struct tw_sched_occupancy *o = c->o;
    uint32_t n = 0;

    o->first = tw_arena_alloc(&p->arena, p->n_webs + 1, sizeof *o->first);
    if (o->first == NULL)
        return tw_sched_no_memory(p);
    for (uint32_t w = 0; w < p->n_webs; w++) {
        o->first[w] = n;
        n += p->webs[w].rotates >= 0 ? p->loops[p->webs[w].rotates].modulo->copies : 1;
    }
    o->first[p->n_webs] = o->n_names = n;
    o->leaf_of_name = tw_arena_alloc(&p->arena, n + 1, sizeof *o->leaf_of_name);
    o->kind_of_name = tw_arena_alloc(&p->arena, n + 1, 1);
    o->web_of_name = tw_arena_alloc(&p->arena, n + 1, sizeof *o->web_of_name);
    if (o->leaf_of_name == NULL || o->kind_of_name == NULL || o->web_of_name == NULL)
        return tw_sched_no_memory(p);
    for (uint32_t w = 0; w < p->n_webs; w++)
        for (uint32_t name = o->first[w]; name < o->first[w + 1]; name++) {
            o->leaf_of_name[name] = o->n_leaves;
            o->kind_of_name[name] = p->webs[w].kind;
            o->web_of_name[name] = w;
            o->n_leaves += tw_sched_kinds[p->webs[w].kind].n_leaves;
        }
    o->real = o->n_leaves;
    o->n_leaves += TW_R_COUNT;
    return 0;
}

static uint32_t leaf_number(const struct occupation *c, const struct tw_sched_cell *cell,
                            const struct tw_sched_ref *ref, unsigned i)
{
    if (ref->var < 0)
        return c->o->real + tw_registers[ref->reg].leaves[ref->first + i];
    return c->o->leaf_of_name[c->o->first[ref->web] + tw_sched_copy_of(c->p, cell, ref->web)] + ref->first + i;
}

/* ---- ways through the rows */

static int list_ways(struct occupation *c)
{
    const struct tw_sched_rows *rows = c->rows;
    struct tw_arena *arena = &c->p->arena;
    uint32_t total = 0;

    c->next = tw_arena_alloc(arena, c->p->n_runs + 2, sizeof *c->next);
    c->n_before = tw_arena_alloc(arena, rows->n + 2, sizeof *c->n_before);
    c->before_first = tw_arena_alloc(arena, rows->n + 2, sizeof *c->before_first);
    if (c->next == NULL || c->n_before == NULL || c->before_first == NULL)
        return tw_sched_no_memory(c->p);
    for (uint32_t row = 0; row < rows->n; row++) {
        uint32_t n = tw_sched_rows_behind(c->p, rows, row, c->next);
        for (uint32_t i = 0; i < n; i++)
            c->n_before[c->next[i]]++;
        total += n;
    }
    c->before = tw_arena_alloc(arena, total + 1, sizeof *c->before);
    if (c->before == NULL)
        return tw_sched_no_memory(c->p);
    for (uint32_t row = 0; row <= rows->n; row++) {
        c->before_first[row + 1] = c->before_first[row] + c->n_before[row];
        c->n_before[row] = 0;
    }
    for (uint32_t row = 0; row < rows->n; row++) {
        uint32_t n = tw_sched_rows_behind(c->p, rows, row, c->next);
        for (uint32_t i = 0; i < n; i++)
            c->before[c->before_first[c->next[i]] + c->n_before[c->next[i]]++] = row;
    }
    return 0;
}

/* Whether a row writes a leaf `distance` cycles later. */
static int writes_leaf(const struct occupation *c, uint32_t row, uint32_t leaf, unsigned distance)
{
    for (unsigned s = 0; s < TW_SLOT_COUNT; s++) {
        const struct tw_sched_cell *cell = &c->rows->list[row].cells[s];
        if (cell->op < 0)
            continue;
        const struct tw_sched_op *op = &c->p->ops[cell->op];
        for (unsigned k = 0; k < op->n_refs; k++)
            for (unsigned i = 0; op->refs[k].writes && op->refs[k].cycle == distance + 1 && i < op->refs[k].count; i++)
                if (leaf_number(c, cell, &op->refs[k], i) == leaf)
                    return 1;
    }
    return 0;
}

/* Whether on all ways that lead to a row, `left` rows back, a row writes a leaf now. */
static int always_written(const struct occupation *c, uint32_t row, uint32_t leaf, unsigned distance, unsigned left)
{
    if (left == 0)
        return writes_leaf(c, row, leaf, distance);
    for (uint32_t i = 0; i < c->n_before[row]; i++)
        if (!always_written(c, c->before[c->before_first[row] + i], leaf, distance, left - 1))
            return 0;
    return c->n_before[row] > 0;
}

/* ---- events */

static void add_event(struct occupation *c, uint32_t row, uint32_t leaf, enum event_kind kind, int certain)
{
    if (c->n_pool == c->room_pool) {
        uint32_t room = c->room_pool == 0 ? 4096 : 2 * c->room_pool;
        struct event *pool = tw_arena_alloc(&c->p->arena, room, sizeof *pool);
        if (pool == NULL) {
            c->code = tw_sched_no_memory(c->p);
            return;
        }
        if (c->n_pool > 0)
            memcpy(pool, c->pool, c->n_pool * sizeof *pool);
        c->pool = pool;
        c->room_pool = room;
    }
    c->pool[c->n_pool] = (struct event){leaf, (uint8_t)kind, (uint8_t)certain, c->events[row]};
    c->events[row] = (int32_t)c->n_pool++;
}

/* Adds an event to all rows that are `left` rows behind one. */
static void spread(struct occupation *c, uint32_t row, unsigned left, uint32_t leaf, enum event_kind kind,
                   unsigned distance)
{
    while (left > 0 && row < c->rows->n) {
        uint32_t next[2], n = 1;
        if ((c->rows->list[row].flags & TW_PLACE_LOOP_END) != 0 ||
            row + 1 == c->rows->run_first[c->rows->list[row].run + 1]) {
            n = tw_sched_rows_behind(c->p, c->rows, row, c->next);
            next[0] = c->next[0];
            next[1] = n > 1 ? c->next[n - 1] : 0;
            /* Nothing is in flight behind a run, so only the way round a loop is left. */
            if (n > 2)
                n = 2;
        } else {
            next[0] = row + 1;
        }
        left--;
        if (n > 1)
            spread(c, next[1], left, leaf, kind, distance);
        row = next[0];
    }
    if (left == 0) {
        int certain = (kind == WRITE || kind == WRITE_BYPASS) && row < c->rows->n &&
                      always_written(c, row, leaf, distance, distance);
        add_event(c, row, leaf, kind, certain);
    }
}

static void list_events_of(struct occupation *c, uint32_t row, const struct tw_sched_cell *cell)
{
    const struct tw_sched_op *op = &c->p->ops[cell->op];

    for (unsigned k = 0; k < op->n_refs && c->code == 0; k++) {
        const struct tw_sched_ref *ref = &op->refs[k];
        int bypass = ref->bypass != TW_BYPASS_NONE;
        enum event_kind kind = ref->writes ? (bypass ? WRITE_BYPASS : WRITE) : (bypass ? READ_BYPASS : READ);
        for (unsigned i = 0; i < ref->count; i++)
            spread(c, row, ref->cycle - 1u, leaf_number(c, cell, ref, i), kind, ref->cycle - 1u);
    }
}

static int list_events(struct occupation *c)
{
    c->events = tw_arena_alloc(&c->p->arena, c->rows->n + 1, sizeof *c->events);
    if (c->events == NULL)
        return tw_sched_no_memory(c->p);
    memset(c->events, 0xff, (c->rows->n + 1) * sizeof *c->events);
    for (uint32_t row = 0; row < c->rows->n; row++)
        for (unsigned s = 0; s < TW_SLOT_COUNT && c->code == 0; s++)
            if (c->rows->list[row].cells[s].op >= 0)
                list_events_of(c, row, &c->rows->list[row].cells[s]);
    for (uint32_t i = 0; i < c->p->n_ops; i++) /* real registers that text writes are results */
        for (unsigned k = 0; k < c->p->ops[i].n_refs; k++) {
            const struct tw_sched_ref *ref = &c->p->ops[i].refs[k];
            for (unsigned l = 0; ref->var < 0 && ref->writes && l < ref->count; l++)
                add_event(c, c->rows->n, c->o->real + tw_registers[ref->reg].leaves[ref->first + l], READ, 0);
        }
    for (uint32_t v = 0; v < c->p->n_vars; v++)
        for (unsigned i = 0; c->p->vars[v].out_web >= 0 && i < tw_sched_kinds[c->p->vars[v].kind].n_leaves; i++) {
            uint32_t w = (uint32_t)c->p->vars[v].out_web, name = c->o->first[w];
            if (c->p->webs[w].rotates >= 0)
                name += tw_sched_last_copy(c->p->loops[c->p->webs[w].rotates].modulo);
            add_event(c, c->rows->n, c->o->leaf_of_name[name] + i, READ, 0);
        }
    return c->code;
}

/* ---- when leaves are held */

static void apply(const struct occupation *c, uint32_t row, enum event_kind kind, uint64_t *live)
{
    for (int32_t e = c->events[row]; e >= 0; e = c->pool[e].next) {
        const struct event *ev = &c->pool[e];
        if (ev->kind != kind)
            continue;
        if (kind == READ || kind == READ_BYPASS)
            put(live, ev->leaf);
        else if (ev->certain)
            drop(live, ev->leaf);
    }
}

/* What is live behind a row: of all that may follow. */
static void live_behind(struct occupation *c, uint32_t row, uint64_t *live)
{
    uint32_t n = tw_sched_rows_behind(c->p, c->rows, row, c->next);

    memset(live, 0, c->leaf_words * sizeof *live);
    for (uint32_t i = 0; i < n; i++)
        for (size_t w = 0; w < c->leaf_words; w++)
            live[w] |= c->live_in[c->next[i] * c->leaf_words + w];
}

static void note_held(struct occupation *c, const uint64_t *live, uint32_t moment)
{
    for (size_t w = 0; w < c->leaf_words; w++)
        for (uint64_t set = live[w]; set != 0; set &= set - 1) {
            uint32_t leaf = (uint32_t)(w * 64);
            for (uint64_t low = set & (~set + 1); low > 1; low >>= 1)
                leaf++;
            put(c->o->held + (size_t)leaf * c->o->words, moment);
        }
}

/* A write takes the register's port for the rest of its cycle, even if nobody reads the value later. */
static void note_written(struct occupation *c, uint32_t row)
{
    for (int32_t e = c->events[row]; e >= 0; e = c->pool[e].next) {
        uint64_t *held = c->o->held + (size_t)c->pool[e].leaf * c->o->words;
        if (c->pool[e].kind == WRITE || c->pool[e].kind == WRITE_BYPASS)
            put(held, 2 * row + 1);
        if (c->pool[e].kind == WRITE_BYPASS)
            put(held, 2 * row);
    }
}

static int find_lives(struct occupation *c)
{
    uint32_t n = c->rows->n;
    struct tw_arena *arena = &c->p->arena;

    c->leaf_words = c->o->n_leaves / 64 + 1;
    c->o->n_moments = 2 * n + 2;
    c->o->words = c->o->n_moments / 64 + 1;
    c->live_in = tw_arena_alloc(arena, n + 1, c->leaf_words * 8);
    c->o->held = tw_arena_alloc(arena, c->o->n_leaves, c->o->words * 8);
    uint64_t *live = tw_arena_alloc(arena, c->leaf_words, 8);
    if (c->live_in == NULL || c->o->held == NULL || live == NULL)
        return tw_sched_no_memory(c->p);

    apply(c, n, READ, c->live_in + n * c->leaf_words);
    for (int news = 1; news;) {
        news = 0;
        for (uint32_t row = n; row > 0;) {
            row--;
            live_behind(c, row, live);
            for (int kind = WRITE; kind >= READ; kind--)
                apply(c, row, (enum event_kind)kind, live);
            uint64_t *there = c->live_in + row * c->leaf_words;
            if (memcmp(there, live, c->leaf_words * 8) != 0) {
                memcpy(there, live, c->leaf_words * 8);
                news = 1;
            }
        }
    }
    for (uint32_t row = 0; row < n; row++) {
        live_behind(c, row, live);
        note_held(c, live, 2 * row + 1);
        apply(c, row, WRITE, live);
        apply(c, row, READ_BYPASS, live);
        note_held(c, live, 2 * row);
        note_written(c, row);
    }
    return 0;
}

int tw_sched_occupy(struct tw_sched_program *p, const struct tw_sched_rows *rows, struct tw_sched_occupancy *o)
{
    struct occupation c;
    int code;

    memset(&c, 0, sizeof c);
    memset(o, 0, sizeof *o);
    c.p = p;
    c.rows = rows;
    c.o = o;
    if ((code = make_names(&c)) < 0 || (code = list_ways(&c)) < 0 || (code = list_events(&c)) < 0)
        return code;
    return find_lives(&c);
}
