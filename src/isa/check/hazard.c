/* Pairs of bundles that are near each other on some way: values, ports and units, memory and locks. */
#include "isa/check/state.h"

#include <stdlib.h>
#include <string.h>

/* Bundle `first` issues, and `distance` bundles later bundle `second`. 0: they are the same bundle. */
struct pair {
    struct tw_check *c;
    uint32_t first, second;
    int distance;
    int scheduled; /* both are the scheduler's */
};

static void add_hit(const struct pair *p, enum tw_finding_kind kind, uint32_t at, uint32_t other, unsigned slot,
                    unsigned other_slot, unsigned what, int needed)
{
    tw_check_add(p->c, (struct tw_check_hit){(uint8_t)kind, (uint8_t)slot, (uint8_t)other_slot, (uint16_t)what, at,
                                             other, p->distance, needed});
}

/* Whether a bundle says that it deals with a leaf out of its time on purpose. */
static int is_on_purpose(const struct tw_check *c, uint32_t bundle, uint16_t leaf)
{
    const struct tw_check_bundle *b = &c->bundles[bundle];

    for (unsigned i = 0; i < b->n_old; i++)
        for (unsigned k = 0; k < tw_registers[b->old[i]].n_leaves; k++)
            if (tw_registers[b->old[i]].leaves[k] == leaf)
                return 1;
    return 0;
}

static void note_purpose(const struct tw_check *c, uint32_t bundle, uint16_t leaf)
{
    if (c->on_purpose != NULL)
        c->on_purpose[(size_t)bundle * CHECK_LEAF_WORDS + leaf / 64] |= (uint64_t)1 << leaf % 64;
}

/* What a bundle says counts also where no way is known on which it is true. */
static void note_said(const struct tw_check *c, uint32_t bundle)
{
    const struct tw_check_summary *s = &c->summaries[bundle];

    for (unsigned i = 0; i < s->n_accesses; i++) {
        const struct tw_check_access *a = &c->accesses[s->accesses + i];
        if (is_on_purpose(c, bundle, a->leaf))
            note_purpose(c, bundle, a->leaf);
    }
}

/* ---- values */

static int same_bypass(const struct tw_check_access *a, const struct tw_check_access *b)
{
    return a->bypass != TW_BYPASS_NONE && a->bypass == b->bypass;
}

/* One of the two says so. */
static int is_overtaking_meant(const struct pair *p, uint16_t leaf)
{
    return p->scheduled || is_on_purpose(p->c, p->second, leaf) || is_on_purpose(p->c, p->first, leaf);
}

/* An access of the first bundle and one of the second to the same leaf. */
static void check_accesses(const struct pair *p, const struct tw_check_access *a, const struct tw_check_access *b)
{
    if (a->write && b->write) {
        int needed = tw_distance_waw(a->cycle, b->cycle);
        if (tw_registers[a->leaf].group == TW_G_sr || p->distance >= needed)
            return; /* flags only add up */
        if (p->distance == needed - 1)
            add_hit(p, TW_FINDING_SAME_WRITE, p->second, p->first, b->slot, a->slot, b->leaf, needed);
        else if (p->distance > 0 && is_overtaking_meant(p, b->leaf))
            note_purpose(p->c, p->second, b->leaf);
        else if (p->distance > 0)
            add_hit(p, TW_FINDING_OVERTAKEN, p->second, p->first, b->slot, a->slot, b->leaf, needed);
    } else if (a->write) {
        int needed = tw_distance_raw(a->cycle, b->cycle, same_bypass(a, b));
        if (p->distance == 0 || p->distance >= needed)
            return;
        if (p->scheduled)
            note_purpose(p->c, p->second, b->leaf);
        else if (!is_on_purpose(p->c, p->second, b->leaf))
            add_hit(p, TW_FINDING_OLD_VALUE, p->second, p->first, b->slot, a->slot, b->leaf, needed);
    } else if (b->write) {
        int needed = tw_distance_war(a->cycle, b->cycle, same_bypass(a, b));
        if (p->scheduled && (p->distance < needed || a->cycle > 1))
            note_purpose(p->c, p->first, a->leaf); /* the later write is under way, or even over, when it reads */
        else if (!p->scheduled && p->distance < needed && !is_on_purpose(p->c, p->first, a->leaf))
            add_hit(p, TW_FINDING_NEW_VALUE, p->first, p->second, a->slot, b->slot, a->leaf, needed);
    }
}

static int share(const uint64_t *a, const uint64_t *b)
{
    for (unsigned w = 0; w < CHECK_LEAF_WORDS; w++)
        if ((a[w] & b[w]) != 0)
            return 1;
    return 0;
}

static void check_values(const struct pair *p)
{
    const struct tw_check_summary *s = &p->c->summaries[p->first], *t = &p->c->summaries[p->second];

    if (!share(s->written, t->touched) && !share(s->touched, t->written))
        return;
    const struct tw_check_access *a = p->c->accesses + s->accesses, *b = p->c->accesses + t->accesses;
    for (unsigned i = 0; i < s->n_accesses; i++) {
        if (a[i].cycle <= p->distance)
            continue;
        for (unsigned k = 0; k < t->n_accesses; k++)
            if (a[i].leaf == b[k].leaf &&
                (p->distance > 0 || (a[i].slot != b[k].slot && (a[i].slot < b[k].slot || !a[i].write))))
                check_accesses(p, &a[i], &b[k]);
    }
}

/* ---- ports and units */

static void check_units(const struct pair *p)
{
    const struct tw_check_summary *s = &p->c->summaries[p->first], *t = &p->c->summaries[p->second];

    if (s->n_uses == 0 || t->n_uses == 0)
        return;
    const struct tw_check_use *a = p->c->uses + s->uses, *b = p->c->uses + t->uses;
    for (unsigned i = 0; i < s->n_uses; i++)
        for (unsigned k = 0; k < t->n_uses; k++) {
            if (a[i].unit != b[k].unit || (a[i].avoid && b[k].avoid) || (p->distance == 0 && a[i].slot >= b[k].slot))
                continue;
            if (a[i].first <= b[k].last + p->distance && b[k].first + p->distance <= a[i].last)
                add_hit(p, TW_FINDING_UNIT, p->second, p->first, b[k].slot, a[i].slot, a[i].unit, 0);
        }
}

/* ---- memory */

/* Where an operation accesses memory: a pointer, and a distance from it. */
struct place {
    int base;       /* TW_R_*, or -1: not known */
    int64_t offset; /* of the access from the pointer before the operation */
    int64_t step;   /* what the operation adds to the pointer */
    int stepped;    /* it changes the pointer, and step says how */
};

static struct place place_of(const struct tw_operation *op)
{
    const struct tw_instruction *in = &tw_instructions[op->instruction];
    struct place p = {-1, 0, 0, 0};
    int64_t immediate = 0;
    int has_immediate = 0, other = 0;

    for (unsigned i = 0; i < in->n_operands; i++) {
        const struct tw_operand_info *o = &in->operands[i];
        if (o->kind == TW_OPERAND_IMMEDIATE) {
            has_immediate = 1;
            immediate = op->operands[i];
        } else if (strcmp(o->name, "ptr") == 0) {
            p.base = (int)op->operands[i];
            p.stepped = o->role == TW_OPERAND_TIED;
        } else if (strcmp(o->name, "dj") == 0 || strcmp(o->name, "mod") == 0) {
            other = 1;
        }
    }
    for (unsigned i = 0; i < in->n_uses; i++)
        if (in->uses[i] == TW_R_SP)
            p.base = TW_R_SP;
    if (p.stepped && has_immediate)
        p.step = immediate;
    else if (p.stepped)
        p.stepped = other ? 2 : 1;
    else if (has_immediate)
        p.offset = immediate;
    else if (other)
        p.base = -1;
    return p;
}

/* How far a bundle moves a pointer. Returns 0, or 1 when that is not known. */
static int movement(const struct tw_check *c, uint32_t bundle, int base, int64_t *by)
{
    const struct tw_check_summary *s = &c->summaries[bundle];
    struct tw_bundle b;

    for (unsigned i = 0; i < s->n_accesses; i++) {
        const struct tw_check_access *a = &c->accesses[s->accesses + i];
        if (!a->write || a->leaf != base)
            continue;
        if (tw_bundle_decode(c->bundles[bundle].code, c->bundles[bundle].size, &b, NULL) < 0)
            return 1;
        struct place p = place_of(&b.op[a->slot]);
        if (p.base != base || p.stepped != 1)
            return 1;
        *by += p.step;
    }
    return 0;
}

/* Whether two accesses are to the same place, for all that can be seen: the bundles lie behind each other. */
static int is_same_place(const struct pair *p, unsigned first_slot, unsigned second_slot)
{
    const struct tw_check *c = p->c;
    struct tw_bundle a, b;
    int64_t moved = 0;

    if (p->first > p->second || p->second - p->first != (uint32_t)p->distance ||
        tw_bundle_decode(c->bundles[p->first].code, c->bundles[p->first].size, &a, NULL) < 0 ||
        tw_bundle_decode(c->bundles[p->second].code, c->bundles[p->second].size, &b, NULL) < 0)
        return 0;
    struct place x = place_of(&a.op[first_slot]), y = place_of(&b.op[second_slot]);
    if (x.base < 0 || x.base != y.base)
        return 0;
    for (uint32_t i = p->first; i < p->second; i++)
        if (!c->summaries[i + 1].follows || movement(c, i, x.base, &moved) != 0)
            return 0;
    return x.offset == y.offset + moved;
}

static void check_memory(const struct pair *p)
{
    const struct tw_check_summary *s = &p->c->summaries[p->first], *t = &p->c->summaries[p->second];

    for (unsigned i = 0; i < s->n_memory; i++)
        for (unsigned k = 0; k < t->n_memory; k++) {
            const struct tw_check_memory *a = &p->c->memory[s->memory + i], *b = &p->c->memory[t->memory + k];
            int needed = tw_distance_memory(a->last, b->first);
            if ((!a->stores && !b->stores) || p->distance >= needed || (p->distance == 0 && a->slot >= b->slot))
                continue;
            if (!p->scheduled && is_same_place(p, a->slot, b->slot))
                add_hit(p, TW_FINDING_MEMORY, p->second, p->first, b->slot, a->slot, 0, needed);
        }
}

/* ---- locks and done */

static void check_locks(const struct pair *p)
{
    const struct tw_check_summary *s = &p->c->summaries[p->first], *t = &p->c->summaries[p->second];

    for (unsigned i = 0; t->lock && i < s->n_memory; i++) {
        const struct tw_check_memory *m = &p->c->memory[s->memory + i];
        if (p->distance < tw_distance_to_lock(m->last))
            add_hit(p, TW_FINDING_LOCK, p->second, p->first, TW_SLOT_ALU, m->slot, 0, tw_distance_to_lock(m->last));
    }
    for (unsigned i = 0; s->lock && p->distance > 0 && i < t->n_memory; i++) {
        const struct tw_check_memory *m = &p->c->memory[t->memory + i];
        if (p->distance < tw_distance_from_lock(m->first))
            add_hit(p, TW_FINDING_LOCK, p->second, p->first, m->slot, TW_SLOT_ALU, 1, tw_distance_from_lock(m->first));
    }
    if (t->done && s->n_memory > 0 && p->distance < TW_DONE_DISTANCE)
        add_hit(p, TW_FINDING_DONE, p->second, p->first, TW_SLOT_ALU, p->c->memory[s->memory].slot, 0,
                TW_DONE_DISTANCE);
}

static void check_pair(struct tw_check *c, uint32_t first, uint32_t second, int distance)
{
    struct pair p = {c, first, second, distance, 0};

    p.scheduled = (c->bundles[first].flags & c->bundles[second].flags & TW_CHECK_SCHEDULED) != 0;
    check_values(&p);
    check_units(&p);
    check_memory(&p);
    check_locks(&p);
}

/* ---- what was on the way here */

/* The bundles that may have been issued some bundles before one, going back step by step. */
struct search {
    uint32_t *now, *before; /* nodes */
    uint32_t n_now;
    uint32_t *seen; /* node -> the round in which it was found last */
    uint32_t round;
    uint32_t steps;
};

static void step_back(const struct tw_check *c, struct search *s)
{
    uint32_t n = 0;

    s->round++;
    for (uint32_t i = 0; i < s->n_now; i++)
        for (uint32_t k = c->first_before[s->now[i]]; k < c->first_before[s->now[i] + 1]; k++) {
            uint32_t node = c->before[k];
            s->steps++;
            if (s->seen[node] == s->round)
                continue;
            s->seen[node] = s->round;
            s->before[n++] = node;
        }
    uint32_t *swap = s->now;
    s->now = s->before;
    s->before = swap;
    s->n_now = n;
}

static void look_back(struct tw_check *c, struct search *s, uint32_t node)
{
    uint32_t bundle = c->nodes[node].bundle;

    s->now[0] = node;
    s->n_now = 1;
    for (int distance = 1; distance < CHECK_FLIGHT && s->n_now > 0; distance++) {
        step_back(c, s);
        for (uint32_t i = 0; i < s->n_now; i++) {
            uint32_t first = c->nodes[s->now[i]].bundle;
            if (c->summaries[first].reach <= distance)
                continue;
            check_pair(c, first, bundle, distance);
            s->steps += 8;
        }
    }
}

/* ---- edges */

static void count(struct tw_check *c, uint32_t from, uint32_t bundle, unsigned slot, const struct tw_check_set *sets)
{
    (void)from;
    (void)sets;
    int32_t to = c->node_of[bundle * (TW_DELAY_SLOTS + 1) + slot];
    if (to >= 0)
        c->first_before[to + 1]++;
}

static void list(struct tw_check *c, uint32_t from, uint32_t bundle, unsigned slot, const struct tw_check_set *sets)
{
    (void)sets;
    int32_t to = c->node_of[bundle * (TW_DELAY_SLOTS + 1) + slot];
    if (to >= 0)
        c->before[c->first_before[to]++] = from;
}

static int list_edges(struct tw_check *c)
{
    static const struct tw_check_visitor counting = {count, NULL}, listing = {list, NULL};

    c->first_before = calloc((size_t)c->n_nodes + 2, sizeof *c->first_before);
    if (c->first_before == NULL)
        return TW_E_MEMORY;
    for (uint32_t i = 0; i < c->n_nodes; i++)
        tw_check_next(c, i, &counting);
    for (uint32_t i = 0; i < c->n_nodes; i++)
        c->first_before[i + 1] += c->first_before[i];
    c->before = malloc(((size_t)c->first_before[c->n_nodes] + 1) * sizeof *c->before);
    if (c->before == NULL)
        return TW_E_MEMORY;
    for (uint32_t i = 0; i < c->n_nodes; i++)
        tw_check_next(c, i, &listing);
    /* Each has moved to its end, which is the beginning of the next. */
    memmove(c->first_before + 1, c->first_before, c->n_nodes * sizeof *c->first_before);
    c->first_before[0] = 0;
    return 0;
}

static int search(struct tw_check *c)
{
    struct search s = {NULL, NULL, 0, NULL, 0, 0};
    size_t bytes = ((size_t)c->n_nodes + 1) * sizeof(uint32_t);
    int code = 0;

    s.now = malloc(bytes);
    s.before = malloc(bytes);
    s.seen = calloc(1, bytes);
    if (s.now == NULL || s.before == NULL || s.seen == NULL)
        code = TW_E_MEMORY;
    for (uint32_t i = 0; i < c->n && code == 0; i++) {
        check_pair(c, i, i, 0);
        note_said(c, i);
    }
    for (uint32_t i = 0; i < c->n_nodes && code == 0 && c->gave_up == 0; i++) {
        look_back(c, &s, i);
        c->gave_up = s.steps > CHECK_STEPS_MAX || c->n_hits >= CHECK_HITS_MAX;
    }
    free(s.now);
    free(s.before);
    free(s.seen);
    return code;
}

int tw_check_hazards(struct tw_check *c)
{
    int code = list_edges(c);

    if (code == 0)
        code = search(c);
    return code < 0 ? tw_fail(c->err, code, "no memory to check %u bundles", c->n) : 0;
}
