/*
 * Registers are given to names by colouring: names that are held at one moment, in any of their smallest parts, cannot
 * share it. Several orders are tried, those along the loops first.
 */
#include "isa/sched/allocate.h"

#include "base/random.h"
#include "isa/sched/occupancy.h"

#include <string.h>

enum { ORDERS = 12 };

struct allocator {
    struct tw_sched_program *p;
    const struct tw_sched_rows *rows;
    struct tw_sched_allocation *a;
    struct tw_sched_occupancy o;
    uint64_t *busy; /* of each of the machine's leaves: the moments at which it is held by some name */
    uint32_t cut;   /* where going round the loops begins, for orders */
};

static int has(const uint64_t *set, uint32_t i)
{
    return (int)(set[i / 64] >> i % 64 & 1);
}

static const struct tw_sched_kind *kind_of(const struct allocator *al, uint32_t name)
{
    return &tw_sched_kinds[al->o.kind_of_name[name]];
}

/* ---- colouring */

static int meet(const struct allocator *al, const uint64_t *a, const uint64_t *b)
{
    uint64_t both = 0;

    for (size_t w = 0; w < al->o.words; w++)
        both |= a[w] & b[w];
    return both != 0;
}

static int is_free(const struct allocator *al, uint32_t name, uint16_t reg)
{
    for (unsigned i = 0; i < tw_registers[reg].n_leaves; i++)
        if (meet(al, al->o.held + (size_t)(al->o.leaf_of_name[name] + i) * al->o.words,
                 al->busy + (size_t)tw_registers[reg].leaves[i] * al->o.words))
            return 0;
    return 1;
}

/* Whether two names in these registers hold a part of them at one moment. */
static int overlap(const struct allocator *al, uint32_t a, uint16_t reg_a, uint32_t b, uint16_t reg_b)
{
    for (unsigned i = 0; i < tw_registers[reg_a].n_leaves; i++)
        for (unsigned k = 0; k < tw_registers[reg_b].n_leaves; k++)
            if (tw_registers[reg_a].leaves[i] == tw_registers[reg_b].leaves[k] &&
                meet(al, tw_sched_held(&al->o, a, i), tw_sched_held(&al->o, b, k)))
                return 1;
    return 0;
}

/* How many moments before a name's first one its register has been idle: the fewer, the better it fits. */
static uint32_t idle_before(const struct allocator *al, uint16_t reg, uint32_t first)
{
    uint64_t below = first % 64 == 0 ? 0 : ((uint64_t)1 << first % 64) - 1;

    for (size_t w = first / 64 + 1; w > 0; w--, below = ~(uint64_t)0) {
        uint64_t set = 0;
        for (unsigned i = 0; i < tw_registers[reg].n_leaves; i++)
            set |= al->busy[(size_t)tw_registers[reg].leaves[i] * al->o.words + w - 1];
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

    for (size_t w = from / 64; w < al->o.words; w++, above = ~(uint64_t)0) {
        uint64_t set = 0;
        for (uint32_t i = 0; i < n; i++)
            set |= al->o.held[(size_t)(al->o.leaf_of_name[name] + i) * al->o.words + w];
        set &= above;
        if (set == 0)
            continue;
        uint32_t moment = (uint32_t)(w * 64);
        for (; (set & 1) == 0; set >>= 1)
            moment++;
        return moment;
    }
    return al->o.n_moments;
}

static void occupy(struct allocator *al, uint32_t name, uint16_t reg)
{
    for (unsigned i = 0; i < tw_registers[reg].n_leaves; i++) {
        const uint64_t *held = al->o.held + (size_t)(al->o.leaf_of_name[name] + i) * al->o.words;
        uint64_t *busy = al->busy + (size_t)tw_registers[reg].leaves[i] * al->o.words;
        for (size_t w = 0; w < al->o.words; w++)
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
        for (size_t w = 0; w < al->o.words; w++)
            for (uint64_t set = al->o.held[(size_t)(al->o.leaf_of_name[name] + i) * al->o.words + w]; set != 0;
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
    uint32_t cut = choose_cut(al, order, random), end = al->o.n_moments;

    al->cut = cut;
    for (uint32_t name = 0; name < al->o.n_names; name++) {
        const struct tw_sched_web *web = &al->p->webs[al->o.web_of_name[name]];
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
    sort_turns(turns, al->o.n_names);
}

/* The free register that has been idle for the shortest time, or -1. */
static int best_register(const struct allocator *al, uint32_t name, uint32_t first)
{
    const struct tw_sched_web *web = &al->p->webs[al->o.web_of_name[name]];
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

/* Notes who has the one register that a name may have: among the names that have had their turn, or none of them. */
static void note_holder(struct allocator *al, const struct turn *turns, uint32_t turn)
{
    uint32_t name = turns[turn].name;
    const struct tw_sched_web *web = &al->p->webs[al->o.web_of_name[name]];

    al->a->failed_reg = -1;
    al->a->failed_by = UINT32_MAX;
    if (web->candidates == 0 || (web->candidates & (web->candidates - 1)) != 0)
        return;
    for (unsigned c = 0; c < al->p->n_registers[web->kind]; c++)
        if ((web->candidates >> c & 1) != 0)
            al->a->failed_reg = al->p->registers[web->kind][c];
    for (uint32_t t = 0; t < turn; t++)
        if (overlap(al, name, (uint16_t)al->a->failed_reg, turns[t].name, al->a->reg[turns[t].name]))
            al->a->failed_by = al->o.web_of_name[turns[t].name];
}

/* Gives all names registers in one order. Returns the name that found none, or n_names. */
static uint32_t colour(struct allocator *al, const struct turn *turns)
{
    uint32_t end = al->o.n_moments;

    for (uint32_t leaf = 0; leaf < TW_R_COUNT; leaf++)
        memcpy(al->busy + leaf * al->o.words, al->o.held + (al->o.real + (size_t)leaf) * al->o.words, al->o.words * 8);
    for (uint32_t i = 0; i < al->o.n_names; i++) {
        uint32_t name = turns[i].name, first = first_moment(al, name, al->cut);
        if (first == end)
            first = first_moment(al, name, 0);
        int reg = best_register(al, name, first);
        if (reg < 0) {
            note_holder(al, turns, i);
            return name;
        }
        occupy(al, name, (uint16_t)reg);
    }
    return al->o.n_names;
}

static int colour_somehow(struct allocator *al)
{
    struct tw_arena *arena = &al->p->arena;
    struct turn *turns = tw_arena_alloc(arena, al->o.n_names + 1, sizeof *turns);
    struct tw_random random = {1};

    al->busy = tw_arena_alloc(arena, TW_R_COUNT, al->o.words * 8);
    if (turns == NULL || al->busy == NULL)
        return tw_sched_no_memory(al->p);
    for (unsigned order = 0; order < ORDERS; order++) {
        make_turns(al, turns, order, &random);
        uint32_t name = colour(al, turns);
        if (name == al->o.n_names)
            return 0;
        al->a->failed = al->o.web_of_name[name];
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
            int file = has(al->busy + leaf * al->o.words, m) ? place_of(leaf, &place) : -1;
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
    if ((code = tw_sched_occupy(p, rows, &al.o)) < 0)
        return code;
    a->first = al.o.first;
    a->reg = tw_arena_alloc(&p->arena, al.o.n_names + 1, sizeof *a->reg);
    if (a->reg == NULL)
        return tw_sched_no_memory(p);
    if ((code = colour_somehow(&al)) < 0)
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
