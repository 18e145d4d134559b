/*
 * Registers are given to names by colouring. When a name holds a register is found on the rows as they will be
 * executed: from the cycle in which its first value lands to the last cycle in which it is read, along all ways. In
 * between two values of one chain, or before the first has landed, the register is another's. A cycle has two moments,
 * since results of a bypass arrive before it and others after it.
 */
#include "isa/sched/allocate.h"

#include "base/random.h"

#include <string.h>

enum { ORDERS = 12 };

/* What happens to leaves in a cycle, in this order. */
enum event_kind { READ, WRITE_BYPASS, READ_BYPASS, WRITE };

struct event {
    uint32_t leaf;         /* of a name, or a real one */
    uint8_t kind, certain; /* certain: on every way that leads here */
    int32_t next;
};

struct allocator {
    struct tw_sched_program *p;
    const struct tw_sched_rows *rows;
    struct tw_sched_allocation *a;

    uint32_t n_leaves; /* of names, then those of the machine */
    uint32_t *leaf_of_name;
    uint8_t *kind_of_name;
    uint32_t *web_of_name;
    uint32_t real; /* number of the first real leaf */

    int32_t *events; /* of each cycle: list */
    struct event *pool;
    uint32_t n_pool, room_pool;
    uint32_t *next;                             /* scratch for successors */
    uint32_t *before, *n_before, *before_first; /* rows that may come before each row */

    size_t leaf_words, slot_words;
    uint64_t *live_in; /* of each row and the end: leaves that are live when it begins */
    uint64_t *held;    /* of each leaf: the moments (2 of each cycle) at which it is held */
    uint64_t *busy;    /* the same of each real register */
    uint32_t cut;      /* where going round the loops begins, for orders */
    int code;
};

static int has(const uint64_t *set, uint32_t i)
{
    return (int)(set[i / 64] >> i % 64 & 1);
}

static void put(uint64_t *set, uint32_t i)
{
    set[i / 64] |= (uint64_t)1 << i % 64;
}

static void drop(uint64_t *set, uint32_t i)
{
    set[i / 64] &= ~((uint64_t)1 << i % 64);
}

static const struct tw_sched_kind *kind_of(const struct allocator *al, uint32_t name)
{
    return &tw_sched_kinds[al->kind_of_name[name]];
}

/* ---- names */

static int make_names(struct allocator *al)
{
    struct tw_sched_program *p = al->p;
    struct tw_sched_allocation *a = al->a;
    uint32_t n = 0;

    a->first = tw_arena_alloc(&p->arena, p->n_webs + 1, sizeof *a->first);
    if (a->first == NULL)
        return tw_sched_no_memory(p);
    for (uint32_t w = 0; w < p->n_webs; w++) {
        a->first[w] = n;
        n += p->webs[w].rotates >= 0 ? p->loops[p->webs[w].rotates].modulo->copies : 1;
    }
    a->first[p->n_webs] = a->n_names = n;
    a->reg = tw_arena_alloc(&p->arena, n + 1, sizeof *a->reg);
    al->leaf_of_name = tw_arena_alloc(&p->arena, n + 1, sizeof *al->leaf_of_name);
    al->kind_of_name = tw_arena_alloc(&p->arena, n + 1, 1);
    al->web_of_name = tw_arena_alloc(&p->arena, n + 1, sizeof *al->web_of_name);
    if (a->reg == NULL || al->leaf_of_name == NULL || al->kind_of_name == NULL || al->web_of_name == NULL)
        return tw_sched_no_memory(p);
    for (uint32_t w = 0; w < p->n_webs; w++)
        for (uint32_t name = a->first[w]; name < a->first[w + 1]; name++) {
            al->leaf_of_name[name] = al->n_leaves;
            al->kind_of_name[name] = p->webs[w].kind;
            al->web_of_name[name] = w;
            al->n_leaves += tw_sched_kinds[p->webs[w].kind].n_leaves;
        }
    al->real = al->n_leaves;
    al->n_leaves += TW_R_COUNT;
    return 0;
}

static uint32_t leaf_number(const struct allocator *al, const struct tw_sched_cell *cell,
                            const struct tw_sched_ref *ref, unsigned i)
{
    if (ref->var < 0)
        return al->real + tw_registers[ref->reg].leaves[ref->first + i];
    return al->leaf_of_name[al->a->first[ref->web] + tw_sched_copy_of(al->p, cell, ref->web)] + ref->first + i;
}

/* ---- ways through the rows */

static int list_ways(struct allocator *al)
{
    const struct tw_sched_rows *rows = al->rows;
    struct tw_arena *arena = &al->p->arena;
    uint32_t total = 0;

    al->next = tw_arena_alloc(arena, al->p->n_runs + 2, sizeof *al->next);
    al->n_before = tw_arena_alloc(arena, rows->n + 2, sizeof *al->n_before);
    al->before_first = tw_arena_alloc(arena, rows->n + 2, sizeof *al->before_first);
    if (al->next == NULL || al->n_before == NULL || al->before_first == NULL)
        return tw_sched_no_memory(al->p);
    for (uint32_t row = 0; row < rows->n; row++) {
        uint32_t n = tw_sched_rows_behind(al->p, rows, row, al->next);
        for (uint32_t i = 0; i < n; i++)
            al->n_before[al->next[i]]++;
        total += n;
    }
    al->before = tw_arena_alloc(arena, total + 1, sizeof *al->before);
    if (al->before == NULL)
        return tw_sched_no_memory(al->p);
    for (uint32_t row = 0; row <= rows->n; row++) {
        al->before_first[row + 1] = al->before_first[row] + al->n_before[row];
        al->n_before[row] = 0;
    }
    for (uint32_t row = 0; row < rows->n; row++) {
        uint32_t n = tw_sched_rows_behind(al->p, rows, row, al->next);
        for (uint32_t i = 0; i < n; i++)
            al->before[al->before_first[al->next[i]] + al->n_before[al->next[i]]++] = row;
    }
    return 0;
}

/* Whether a row writes a leaf `distance` cycles later. */
static int writes_leaf(const struct allocator *al, uint32_t row, uint32_t leaf, unsigned distance)
{
    for (unsigned s = 0; s < TW_SLOT_COUNT; s++) {
        const struct tw_sched_cell *cell = &al->rows->list[row].cells[s];
        if (cell->op < 0)
            continue;
        const struct tw_sched_op *op = &al->p->ops[cell->op];
        for (unsigned k = 0; k < op->n_refs; k++)
            for (unsigned i = 0; op->refs[k].writes && op->refs[k].cycle == distance + 1 && i < op->refs[k].count; i++)
                if (leaf_number(al, cell, &op->refs[k], i) == leaf)
                    return 1;
    }
    return 0;
}

/* Whether on all ways that lead to a row, `left` rows back, a row writes a leaf now. */
static int always_written(const struct allocator *al, uint32_t row, uint32_t leaf, unsigned distance, unsigned left)
{
    if (left == 0)
        return writes_leaf(al, row, leaf, distance);
    for (uint32_t i = 0; i < al->n_before[row]; i++)
        if (!always_written(al, al->before[al->before_first[row] + i], leaf, distance, left - 1))
            return 0;
    return al->n_before[row] > 0;
}

/* ---- events */

static void add_event(struct allocator *al, uint32_t row, uint32_t leaf, enum event_kind kind, int certain)
{
    if (al->n_pool == al->room_pool) {
        uint32_t room = al->room_pool == 0 ? 4096 : 2 * al->room_pool;
        struct event *pool = tw_arena_alloc(&al->p->arena, room, sizeof *pool);
        if (pool == NULL) {
            al->code = tw_sched_no_memory(al->p);
            return;
        }
        if (al->n_pool > 0)
            memcpy(pool, al->pool, al->n_pool * sizeof *pool);
        al->pool = pool;
        al->room_pool = room;
    }
    al->pool[al->n_pool] = (struct event){leaf, (uint8_t)kind, (uint8_t)certain, al->events[row]};
    al->events[row] = (int32_t)al->n_pool++;
}

/* Adds an event to all rows that are `left` rows behind one. */
static void spread(struct allocator *al, uint32_t row, unsigned left, uint32_t leaf, enum event_kind kind,
                   unsigned distance)
{
    while (left > 0 && row < al->rows->n) {
        uint32_t next[2], n = 1;
        if ((al->rows->list[row].flags & TW_PLACE_LOOP_END) != 0 ||
            row + 1 == al->rows->run_first[al->rows->list[row].run + 1]) {
            n = tw_sched_rows_behind(al->p, al->rows, row, al->next);
            next[0] = al->next[0];
            next[1] = n > 1 ? al->next[n - 1] : 0;
            /* Nothing is in flight behind a run, so only the way round a loop is left. */
            if (n > 2)
                n = 2;
        } else {
            next[0] = row + 1;
        }
        left--;
        if (n > 1)
            spread(al, next[1], left, leaf, kind, distance);
        row = next[0];
    }
    if (left == 0) {
        int certain = (kind == WRITE || kind == WRITE_BYPASS) && row < al->rows->n &&
                      always_written(al, row, leaf, distance, distance);
        add_event(al, row, leaf, kind, certain);
    }
}

static void list_events_of(struct allocator *al, uint32_t row, const struct tw_sched_cell *cell)
{
    const struct tw_sched_op *op = &al->p->ops[cell->op];

    for (unsigned k = 0; k < op->n_refs && al->code == 0; k++) {
        const struct tw_sched_ref *ref = &op->refs[k];
        int bypass = ref->bypass != TW_BYPASS_NONE;
        enum event_kind kind = ref->writes ? (bypass ? WRITE_BYPASS : WRITE) : (bypass ? READ_BYPASS : READ);
        for (unsigned i = 0; i < ref->count; i++)
            spread(al, row, ref->cycle - 1u, leaf_number(al, cell, ref, i), kind, ref->cycle - 1u);
    }
}

static int list_events(struct allocator *al)
{
    al->events = tw_arena_alloc(&al->p->arena, al->rows->n + 1, sizeof *al->events);
    if (al->events == NULL)
        return tw_sched_no_memory(al->p);
    memset(al->events, 0xff, (al->rows->n + 1) * sizeof *al->events);
    for (uint32_t row = 0; row < al->rows->n; row++)
        for (unsigned s = 0; s < TW_SLOT_COUNT && al->code == 0; s++)
            if (al->rows->list[row].cells[s].op >= 0)
                list_events_of(al, row, &al->rows->list[row].cells[s]);
    for (uint32_t i = 0; i < al->p->n_ops; i++) /* real registers that text writes are results */
        for (unsigned k = 0; k < al->p->ops[i].n_refs; k++) {
            const struct tw_sched_ref *ref = &al->p->ops[i].refs[k];
            for (unsigned l = 0; ref->var < 0 && ref->writes && l < ref->count; l++)
                add_event(al, al->rows->n, al->real + tw_registers[ref->reg].leaves[ref->first + l], READ, 0);
        }
    for (uint32_t v = 0; v < al->p->n_vars; v++)
        for (unsigned i = 0; al->p->vars[v].out_web >= 0 && i < tw_sched_kinds[al->p->vars[v].kind].n_leaves; i++) {
            uint32_t w = (uint32_t)al->p->vars[v].out_web, name = al->a->first[w];
            if (al->p->webs[w].rotates >= 0)
                name += tw_sched_last_copy(al->p->loops[al->p->webs[w].rotates].modulo);
            add_event(al, al->rows->n, al->leaf_of_name[name] + i, READ, 0);
        }
    return al->code;
}

/* ---- when leaves are held */

static void apply(const struct allocator *al, uint32_t row, enum event_kind kind, uint64_t *live)
{
    for (int32_t e = al->events[row]; e >= 0; e = al->pool[e].next) {
        const struct event *ev = &al->pool[e];
        if (ev->kind != kind)
            continue;
        if (kind == READ || kind == READ_BYPASS)
            put(live, ev->leaf);
        else if (ev->certain)
            drop(live, ev->leaf);
    }
}

/* What is live behind a row: of all that may follow. */
static void live_behind(struct allocator *al, uint32_t row, uint64_t *live)
{
    uint32_t n = tw_sched_rows_behind(al->p, al->rows, row, al->next);

    memset(live, 0, al->leaf_words * sizeof *live);
    for (uint32_t i = 0; i < n; i++)
        for (size_t w = 0; w < al->leaf_words; w++)
            live[w] |= al->live_in[al->next[i] * al->leaf_words + w];
}

static void note_held(struct allocator *al, const uint64_t *live, uint32_t moment)
{
    for (size_t w = 0; w < al->leaf_words; w++)
        for (uint64_t set = live[w]; set != 0; set &= set - 1) {
            uint32_t leaf = (uint32_t)(w * 64);
            for (uint64_t low = set & (~set + 1); low > 1; low >>= 1)
                leaf++;
            put(al->held + (size_t)leaf * al->slot_words, moment);
        }
}

/* A write takes the register's port for the rest of its cycle, even if nobody reads the value later. */
static void note_written(struct allocator *al, uint32_t row)
{
    for (int32_t e = al->events[row]; e >= 0; e = al->pool[e].next) {
        uint64_t *held = al->held + (size_t)al->pool[e].leaf * al->slot_words;
        if (al->pool[e].kind == WRITE || al->pool[e].kind == WRITE_BYPASS)
            put(held, 2 * row + 1);
        if (al->pool[e].kind == WRITE_BYPASS)
            put(held, 2 * row);
    }
}

static int find_lives(struct allocator *al)
{
    uint32_t n = al->rows->n;
    struct tw_arena *arena = &al->p->arena;

    al->leaf_words = al->n_leaves / 64 + 1;
    al->slot_words = (2 * (size_t)n + 2) / 64 + 1;
    al->live_in = tw_arena_alloc(arena, n + 1, al->leaf_words * 8);
    al->held = tw_arena_alloc(arena, al->n_leaves, al->slot_words * 8);
    uint64_t *live = tw_arena_alloc(arena, al->leaf_words, 8);
    if (al->live_in == NULL || al->held == NULL || live == NULL)
        return tw_sched_no_memory(al->p);

    apply(al, n, READ, al->live_in + n * al->leaf_words);
    for (int news = 1; news;) {
        news = 0;
        for (uint32_t row = n; row > 0;) {
            row--;
            live_behind(al, row, live);
            for (int kind = WRITE; kind >= READ; kind--)
                apply(al, row, (enum event_kind)kind, live);
            uint64_t *there = al->live_in + row * al->leaf_words;
            if (memcmp(there, live, al->leaf_words * 8) != 0) {
                memcpy(there, live, al->leaf_words * 8);
                news = 1;
            }
        }
    }
    for (uint32_t row = 0; row < n; row++) {
        live_behind(al, row, live);
        note_held(al, live, 2 * row + 1);
        apply(al, row, WRITE, live);
        apply(al, row, READ_BYPASS, live);
        note_held(al, live, 2 * row);
        note_written(al, row);
    }
    return 0;
}

/* ---- colouring */

static int meet(const struct allocator *al, const uint64_t *a, const uint64_t *b)
{
    uint64_t both = 0;

    for (size_t w = 0; w < al->slot_words; w++)
        both |= a[w] & b[w];
    return both != 0;
}

static int is_free(const struct allocator *al, uint32_t name, uint16_t reg)
{
    for (unsigned i = 0; i < tw_registers[reg].n_leaves; i++)
        if (meet(al, al->held + (size_t)(al->leaf_of_name[name] + i) * al->slot_words,
                 al->busy + (size_t)tw_registers[reg].leaves[i] * al->slot_words))
            return 0;
    return 1;
}

/* How many moments before a name's first one its register has been idle: the fewer, the better it fits. */
static uint32_t idle_before(const struct allocator *al, uint16_t reg, uint32_t first)
{
    uint64_t below = first % 64 == 0 ? 0 : ((uint64_t)1 << first % 64) - 1;

    for (size_t w = first / 64 + 1; w > 0; w--, below = ~(uint64_t)0) {
        uint64_t set = 0;
        for (unsigned i = 0; i < tw_registers[reg].n_leaves; i++)
            set |= al->busy[(size_t)tw_registers[reg].leaves[i] * al->slot_words + w - 1];
        set &= below;
        if (set == 0)
            continue;
        uint32_t last = (uint32_t)(w * 64 - 1);
        for (; (set >> 63) == 0; set <<= 1)
            last--;
        return first - 1 - last;
    }
    return first + 1;
}

/* The first moment, from one on, at which any leaf of a name is held; 2 * rows + 2: never. */
static uint32_t first_moment(const struct allocator *al, uint32_t name, uint32_t from)
{
    uint32_t n = kind_of(al, name)->n_leaves;
    uint64_t above = ~(((uint64_t)1 << from % 64) - 1);

    for (size_t w = from / 64; w < al->slot_words; w++, above = ~(uint64_t)0) {
        uint64_t set = 0;
        for (uint32_t i = 0; i < n; i++)
            set |= al->held[(size_t)(al->leaf_of_name[name] + i) * al->slot_words + w];
        set &= above;
        if (set == 0)
            continue;
        uint32_t moment = (uint32_t)(w * 64);
        for (; (set & 1) == 0; set >>= 1)
            moment++;
        return moment;
    }
    return 2 * al->rows->n + 2;
}

static void occupy(struct allocator *al, uint32_t name, uint16_t reg)
{
    for (unsigned i = 0; i < tw_registers[reg].n_leaves; i++) {
        const uint64_t *held = al->held + (size_t)(al->leaf_of_name[name] + i) * al->slot_words;
        uint64_t *busy = al->busy + (size_t)tw_registers[reg].leaves[i] * al->slot_words;
        for (size_t w = 0; w < al->slot_words; w++)
            busy[w] |= held[w];
    }
    al->a->reg[name] = reg;
}

/* A name and what orders it among those that wait for a register. */
struct turn {
    uint32_t name, key;
    uint16_t choices, size;
};

static int compare_turns(const struct turn *a, const struct turn *b)
{
    if ((a->choices == 1) != (b->choices == 1))
        return a->choices == 1 ? -1 : 1;
    if (a->size != b->size)
        return a->size > b->size ? -1 : 1;
    if (a->key != b->key)
        return a->key < b->key ? -1 : 1;
    return a->name < b->name ? -1 : 1;
}

static void sort_turns(struct turn *list, uint32_t n)
{
    for (uint32_t gap = n / 2; gap > 0; gap /= 2)
        for (uint32_t i = gap; i < n; i++) {
            struct turn t = list[i];
            uint32_t k = i;
            for (; k >= gap && compare_turns(&t, &list[k - gap]) < 0; k -= gap)
                list[k] = list[k - gap];
            list[k] = t;
        }
}

static uint32_t held_moments(const struct allocator *al, uint32_t name)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < kind_of(al, name)->n_leaves; i++)
        for (size_t w = 0; w < al->slot_words; w++)
            for (uint64_t set = al->held[(size_t)(al->leaf_of_name[name] + i) * al->slot_words + w]; set != 0;
                 set &= set - 1)
                n++;
    return n;
}

/* A moment of the first loop's code: where going round it begins. */
static uint32_t choose_cut(const struct allocator *al, unsigned order, struct tw_random *random)
{
    const struct tw_sched_rows *rows = al->rows;

    for (uint32_t l = 0; l < al->p->n_loops; l++)
        if (rows->loop_count[l] > 0) {
            uint32_t span = 2 * rows->loop_count[l];
            return 2 * rows->loop_first[l] + (order < 2 ? 0 : (uint32_t)tw_random_range(random, 0, (int64_t)span - 1));
        }
    return 0;
}

static void make_turns(struct allocator *al, struct turn *turns, unsigned order, struct tw_random *random)
{
    uint32_t cut = choose_cut(al, order, random), end = 2 * al->rows->n + 2;

    al->cut = cut;
    for (uint32_t name = 0; name < al->a->n_names; name++) {
        const struct tw_sched_web *web = &al->p->webs[al->web_of_name[name]];
        uint32_t choices = 0, key;
        for (uint64_t set = web->candidates; set != 0; set &= set - 1)
            choices++;
        if (order % 2 == 0) { /* by their beginning, as circular arcs */
            key = first_moment(al, name, cut);
            if (key == end)
                key = end + first_moment(al, name, 0);
            if (cut > 0 && first_moment(al, name, cut - 1) == cut - 1)
                key = 0; /* what is held across the cut comes first */
        } else {         /* the longest first */
            key = UINT32_MAX - held_moments(al, name) +
                  (order > 2 ? (uint32_t)tw_random_range(random, -8 * (int64_t)order, 0) : 0);
        }
        turns[name] = (struct turn){name, key, (uint16_t)choices, kind_of(al, name)->n_leaves};
    }
    sort_turns(turns, al->a->n_names);
}

/* The free register that has been idle for the shortest time, or -1. */
static int best_register(const struct allocator *al, uint32_t name, uint32_t first)
{
    const struct tw_sched_web *web = &al->p->webs[al->web_of_name[name]];
    uint32_t least = UINT32_MAX;
    int best = -1;

    for (unsigned c = al->p->n_registers[web->kind]; c > 0; c--) {
        uint16_t reg = al->p->registers[web->kind][c - 1];
        if ((web->candidates >> (c - 1) & 1) == 0 || !is_free(al, name, reg))
            continue;
        uint32_t idle = idle_before(al, reg, first);
        if (idle < least) {
            least = idle;
            best = reg;
        }
    }
    return best;
}

/* Gives all names registers in one order. Returns the name that found none, or n_names. */
static uint32_t colour(struct allocator *al, const struct turn *turns)
{
    uint32_t end = 2 * al->rows->n + 2;

    for (uint32_t leaf = 0; leaf < TW_R_COUNT; leaf++)
        memcpy(al->busy + leaf * al->slot_words, al->held + (al->real + (size_t)leaf) * al->slot_words,
               al->slot_words * 8);
    for (uint32_t i = 0; i < al->a->n_names; i++) {
        uint32_t name = turns[i].name, first = first_moment(al, name, al->cut);
        if (first == end)
            first = first_moment(al, name, 0);
        int reg = best_register(al, name, first);
        if (reg < 0)
            return name;
        occupy(al, name, (uint16_t)reg);
    }
    return al->a->n_names;
}

static int colour_somehow(struct allocator *al)
{
    struct tw_arena *arena = &al->p->arena;
    struct turn *turns = tw_arena_alloc(arena, al->a->n_names + 1, sizeof *turns);
    struct tw_random random = {1};

    al->busy = tw_arena_alloc(arena, TW_R_COUNT, al->slot_words * 8);
    if (turns == NULL || al->busy == NULL)
        return tw_sched_no_memory(al->p);
    for (unsigned order = 0; order < ORDERS; order++) {
        make_turns(al, turns, order, &random);
        uint32_t name = colour(al, turns);
        if (name == al->a->n_names)
            return 0;
        al->a->failed = al->web_of_name[name];
        al->a->failed_row = first_moment(al, name, 0) / 2;
    }
    return TW_E_LIMIT;
}

/* ---- how many are in use */

/* The file and the place in it of a real leaf; -1: in none that is counted. */
static int place_of(uint32_t leaf, unsigned *place)
{
    const struct tw_register *r = &tw_registers[leaf];

    *place = r->number;
    switch (r->group) {
    case TW_G_r:
        return TW_FILE_R;
    case TW_G_p:
        return TW_FILE_P;
    case TW_G_m:
        return TW_FILE_M;
    case TW_G_dn:
        return TW_FILE_DN;
    case TW_G_dj:
        return TW_FILE_DJ;
    case TW_G_dc:
        return TW_FILE_DC;
    case TW_G_s:
        return TW_FILE_S;
    case TW_G_wl:
    case TW_G_wh:
        return TW_FILE_X;
    case TW_G_amll:
    case TW_G_amlh:
        return TW_FILE_BM;
    case TW_G_amhl:
    case TW_G_amhh:
        *place = r->number + 16;
        return TW_FILE_BM;
    default:
        return -1;
    }
}

static void count_used(const struct allocator *al, uint32_t first, uint32_t end, unsigned *used)
{
    memset(used, 0, TW_FILE_COUNT * sizeof *used);
    for (uint32_t m = first; m < end; m++) {
        uint64_t seen[TW_FILE_COUNT] = {0};
        unsigned now[TW_FILE_COUNT] = {0}, place;
        for (uint32_t leaf = 0; leaf < TW_R_COUNT; leaf++) {
            int file = has(al->busy + leaf * al->slot_words, m) ? place_of(leaf, &place) : -1;
            if (file < 0 || (seen[file] >> place & 1) != 0)
                continue;
            seen[file] |= (uint64_t)1 << place;
            now[file]++;
        }
        for (unsigned f = 0; f < TW_FILE_COUNT; f++)
            used[f] = now[f] > used[f] ? now[f] : used[f];
    }
}

int tw_sched_allocate(struct tw_sched_program *p, const struct tw_sched_rows *rows, struct tw_sched_allocation *a,
                      unsigned (*used)[TW_FILE_COUNT])
{
    struct allocator al;
    int code;

    memset(&al, 0, sizeof al);
    memset(a, 0, sizeof *a);
    a->failed = UINT32_MAX;
    al.p = p;
    al.rows = rows;
    al.a = a;
    if ((code = make_names(&al)) < 0 || (code = list_ways(&al)) < 0 || (code = list_events(&al)) < 0 ||
        (code = find_lives(&al)) < 0 || (code = colour_somehow(&al)) < 0)
        return code;
    for (uint32_t l = 0; l < p->n_loops; l++)
        count_used(&al, 2 * rows->loop_first[l], 2 * (rows->loop_first[l] + rows->loop_count[l]), used[l]);
    return 0;
}

int tw_sched_register_of(const struct tw_sched_program *p, const struct tw_sched_allocation *a,
                         const struct tw_sched_cell *cell, const struct tw_sched_ref *ref)
{
    if (ref->var < 0)
        return ref->reg;
    uint16_t reg = a->reg[a->first[ref->web] + tw_sched_copy_of(p, cell, ref->web)];
    return tw_sched_part(p, reg, tw_sched_ref_part(p, ref));
}
