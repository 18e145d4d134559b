/*
 * Strict mode. All accesses of a bundle are known when it is issued, and so is what is still in flight: a write that
 * has not landed when an operand is read is an error even where the operand is read only later. Sets of registers with
 * one bit for each leaf tell nearly always that there is nothing to look at.
 */
#include "emu/core/state.h"

#include "base/bit.h"

/* ---- what a bundle does */

/* The outer walk's m is part of the operand, but nothing uses it. */
enum { UNUSED_LEAF_OF_3D = 4 };

static void add_accesses(const struct tw_core_maker *m, struct tw_core_hazards *h, const struct tw_core_value *v,
                         unsigned operand, unsigned slot)
{
    const struct tw_register *r = &tw_registers[v->reg];

    for (unsigned i = 0; i < r->n_leaves; i++) {
        uint8_t leaf = m->c->places[r->leaves[i]].leaf;
        struct tw_core_access a = {leaf,          (uint8_t)(v->cycle - 1),       v->bypass,
                                   (uint8_t)slot, i == 0 || slot != TW_SLOT_VEC, (uint8_t)operand};
        if (tw_core_is_sticky(r->leaves[i]) || (r->group == TW_G_d3 && i == UNUSED_LEAF_OF_3D))
            continue;
        if (v->is_out)
            h->write[h->n_write++] = a;
        else
            h->read[h->n_read++] = a;
        tw_core_leaf_add(v->is_out ? &h->writes : &h->reads, leaf);
        if (!v->is_out && a.is_needed)
            tw_core_leaf_add(&h->needs, leaf);
        if (v->is_out && a.delay > 0)
            tw_core_leaf_add(&h->slow, leaf);
    }
}

enum { AVOIDS = 32 }; /* first bit of the units that are avoided */

static void add_unit(struct tw_core_hazards *h, unsigned delay, unsigned unit, int avoids)
{
    uint64_t bit = (uint64_t)1 << unit;
    uint64_t use = avoids ? bit << AVOIDS : bit, conflict = avoids ? bit : bit | bit << AVOIDS;
    struct tw_core_unit_use *u = NULL;

    for (unsigned i = 0; i < h->n_units && u == NULL; i++)
        if (h->units[i].delay == delay)
            u = &h->units[i];
    if (u == NULL) {
        u = &h->units[h->n_units++];
        u->delay = (uint8_t)delay;
    }
    if ((u->uses & conflict) != 0)
        h->broken_unit = (uint8_t)(unit + 1);
    u->uses |= use;
    u->conflicts |= conflict;
}

static void add_units(struct tw_core_hazards *h, const struct tw_operation *op)
{
    const struct tw_schedule_class *class = tw_operation_schedule(op);

    _Static_assert(TW_RESOURCE_COUNT <= 32, "more units than bits");
    for (unsigned i = 0; i < class->n_resources; i++) {
        const struct tw_resource_use *u = &class->resources[i];
        if (!tw_operation_takes_unit(op, u->unit))
            continue;
        for (unsigned cycle = u->first; cycle <= u->last && cycle <= CORE_LATEST; cycle++)
            add_unit(h, cycle - 1, u->unit, u->avoid);
    }
}

static void add_old(const struct tw_core *c, struct tw_core_hazards *h, uint32_t address)
{
    /* What the program declares is not even looked at. */
    for (size_t i = 0; i < c->n_old; i++)
        for (unsigned w = 0; w < CORE_LEAF_WORDS && c->old[i].address == address; w++)
            h->old.words[w] |= c->old[i].leaves.words[w];
    for (unsigned w = 0; w < CORE_LEAF_WORDS; w++)
        h->watched.words[w] = (h->reads.words[w] | h->writes.words[w]) & ~h->old.words[w];
}

/* Nothing lands sooner than in cycle 1 of the next bundle, accumulators not before cycle 2 of it: reads before cycle 4
 * are in time. */
enum { LATE_DELAY = 3 };

/* The exception mask of the multiplier is read when the result is made, not as late as the tables say. */
static int is_late(const struct tw_core *c, const struct tw_core_access *a)
{
    return a->delay >= LATE_DELAY && c->leaf_registers[a->leaf] != TW_R_crFPMask;
}

/* Sorts the writes: those that land after the first cycle come first. */
static void put_slow_first(struct tw_core_hazards *h)
{
    for (unsigned i = 0; i < h->n_write; i++) {
        struct tw_core_access a = h->write[i];
        if (a.delay == 0)
            continue;
        h->write[i] = h->write[h->n_slow];
        h->write[h->n_slow++] = a;
    }
}

static void collect(struct tw_core_maker *m, struct tw_core_hazards *h, const struct tw_bundle *bundle, unsigned slots,
                    const struct tw_core_values *values)
{
    for (unsigned slot = 0; slot < TW_SLOT_COUNT; slot++) {
        if ((slots >> slot & 1) == 0)
            continue;
        for (unsigned k = 0; k < values[slot].n; k++)
            if (!values[slot].value[k].is_immediate)
                add_accesses(m, h, &values[slot].value[k], k, slot);
        add_units(h, &bundle->op[slot]);
    }
    for (unsigned i = 0; i < h->n_read; i++)
        h->n_late_reads += is_late(m->c, &h->read[i]);
    put_slow_first(h);
}

enum { ACCESSES_MAX = 192 };

int tw_core_prepare_hazards(struct tw_core_maker *m, const struct tw_bundle *bundle, unsigned slots,
                            const struct tw_core_values values[TW_SLOT_COUNT])
{
    struct tw_core_access read[ACCESSES_MAX], write[ACCESSES_MAX];
    struct tw_core_unit_use units[CORE_LATEST];
    struct tw_core_hazards h = {.read = read, .write = write, .units = units};

    memset(units, 0, sizeof units);
    collect(m, &h, bundle, slots, values);
    add_old(m->c, &h, m->bundle->address);
    h.read = tw_core_make(m, h.n_read + 1u, sizeof *h.read);
    h.write = tw_core_make(m, h.n_write + 1u, sizeof *h.write);
    h.units = tw_core_make(m, h.n_units + 1u, sizeof *h.units);
    if (m->failed)
        return -1;
    memcpy(h.read, read, h.n_read * sizeof *read);
    memcpy(h.write, write, h.n_write * sizeof *write);
    memcpy(h.units, units, h.n_units * sizeof *units);
    m->bundle->hazards = h;
    return 0;
}

/* ---- values */

static const struct tw_core_op *operation_of(const struct tw_core_bundle *b, unsigned slot)
{
    for (unsigned i = 0; i < b->n_ops; i++)
        if (b->ops[i]->slot == slot)
            return b->ops[i];
    return NULL;
}

static const char *name_of(const struct tw_core *c, unsigned leaf)
{
    return tw_registers[c->leaf_registers[leaf]].name;
}

/* Whether a multiplier's configuration says that the accumulator is taken as zero (aie2-isa, section 10: bit 0). */
static int is_taken_as_zero(struct tw_core *c, const struct tw_core_op *op, unsigned operand)
{
    const struct tw_instruction *in = &tw_instructions[op->operation->instruction];
    unsigned last = in->n_operands - 1u;

    return op->slot == TW_SLOT_VEC && operand < in->n_operands && strcmp(in->operands[operand].name, "acc1") == 0 &&
           strcmp(in->operands[last].name, "c") == 0 &&
           (*tw_core_word(c, (unsigned)op->operation->operands[last]) & 1) != 0;
}

static void check_read(struct tw_core *c, const struct tw_core_bundle *b, const struct tw_core_access *a)
{
    int declared = tw_core_leaf_has(&b->hazards.old, a->leaf);

    if (a->is_needed && !tw_core_leaf_has(&c->written, a->leaf) && !declared &&
        !is_taken_as_zero(c, operation_of(b, a->slot), a->operand)) {
        tw_core_fail(c, TW_E_STATE, operation_of(b, a->slot), "it reads %s, which nothing has written",
                     name_of(c, a->leaf));
        return;
    }
    if (!tw_core_leaf_has(&c->pending, a->leaf))
        return;
    uint64_t lands = c->lands[a->leaf], reads = c->tick + a->delay;
    int in_time =
        lands < reads || (lands == reads && a->bypass != TW_BYPASS_NONE && a->bypass == c->lands_bypass[a->leaf]);
    if (!in_time && !declared)
        tw_core_fail(c, TW_E_STATE, operation_of(b, a->slot), "it reads %s %u bundles before its value has landed",
                     name_of(c, a->leaf), (unsigned)(lands - reads + 1));
}

static void check_write(struct tw_core *c, const struct tw_core_bundle *b, const struct tw_core_access *a)
{
    uint64_t mine = c->tick + a->delay;

    if (tw_core_leaf_has(&c->pending, a->leaf) && c->lands[a->leaf] >= mine &&
        !tw_core_leaf_has(&b->hazards.old, a->leaf))
        tw_core_fail(c, TW_E_STATE, operation_of(b, a->slot),
                     "it writes %s %s an earlier operation's result lands there", name_of(c, a->leaf),
                     c->lands[a->leaf] == mine ? "in the cycle in which" : "before");
    if (!tw_core_leaf_has(&c->late, a->leaf))
        return;
    uint64_t read = c->read_in[a->leaf];
    if (read < c->tick)
        c->late.words[a->leaf / 64] &= ~((uint64_t)1 << a->leaf % 64);
    else if (mine < read || (mine == read && a->bypass != TW_BYPASS_NONE && a->bypass == c->read_bypass[a->leaf]))
        tw_core_fail(c, TW_E_STATE, operation_of(b, a->slot), "it writes %s before an earlier operation has read it",
                     name_of(c, a->leaf));
}

static void look_closer(struct tw_core *c, const struct tw_core_bundle *b)
{
    const struct tw_core_hazards *h = &b->hazards;

    for (unsigned i = 0; i < h->n_read && !c->failed; i++)
        check_read(c, b, &h->read[i]);
    for (unsigned i = 0; i < h->n_write && !c->failed; i++)
        check_write(c, b, &h->write[i]);
}

/* What is in flight from a tick on. */
static void note_values(struct tw_core *c, const struct tw_core_hazards *h, uint64_t tick)
{
    for (unsigned w = 0; w < CORE_LEAF_WORDS; w++) {
        c->written.words[w] |= h->writes.words[w];
        c->pending.words[w] |= h->slow.words[w];
    }
    for (unsigned i = 0; i < h->n_slow; i++) {
        const struct tw_core_access *a = &h->write[i];
        uint64_t lands = tick + a->delay;
        if (lands < c->lands[a->leaf])
            continue; /* an earlier write lands later */
        c->lands[a->leaf] = lands;
        c->lands_bypass[a->leaf] = a->bypass;
    }
}

/* Operands that are read so late that a later bundle could write them before. */
static void note_late_reads(struct tw_core *c, const struct tw_core_hazards *h, uint64_t tick)
{
    for (unsigned i = 0; i < h->n_read; i++) {
        const struct tw_core_access *a = &h->read[i];
        if (!is_late(c, a) || tw_core_leaf_has(&h->old, a->leaf))
            continue;
        c->read_in[a->leaf] = tick + a->delay;
        c->read_bypass[a->leaf] = a->bypass;
        tw_core_leaf_add(&c->late, a->leaf);
    }
}

/* ---- units */

static void fail_unit(struct tw_core *c, const struct tw_core_bundle *b, unsigned unit)
{
    tw_core_fail(c, TW_E_STATE, b->n_ops > 0 ? b->ops[0] : NULL,
                 "the bundle uses %s in a cycle in which another operation uses it", tw_resource_names[unit]);
}

static void check_units(struct tw_core *c, const struct tw_core_bundle *b)
{
    const struct tw_core_hazards *h = &b->hazards;
    uint64_t *held = c->held + c->held_at, wrong = 0;

    for (unsigned i = 0; i < h->n_units; i++) {
        const struct tw_core_unit_use *u = &h->units[i];
        wrong |= held[u->delay] & u->conflicts;
        held[u->delay] |= u->uses;
    }
    if (wrong != 0)
        fail_unit(c, b, tw_lowest_bit(wrong) % AVOIDS);
    else if (h->broken_unit != 0)
        fail_unit(c, b, h->broken_unit - 1u);
}

void tw_core_next_tick(struct tw_core *c)
{
    if (++c->held_at < CORE_HELD_TICKS)
        return;
    memcpy(c->held, c->held + c->held_at, CORE_RING * sizeof *c->held);
    memset(c->held + CORE_RING, 0, sizeof c->held - CORE_RING * sizeof *c->held);
    c->held_at = 0;
}

/* ---- a bundle */

/*
 * Whether something in flight asks for a closer look. What has landed meanwhile is taken off the list of what is in
 * flight, when somebody comes near it.
 */
static int is_near(struct tw_core *c, const struct tw_core_hazards *h)
{
    uint64_t near = 0;

    for (unsigned w = 0; w < CORE_LEAF_WORDS; w++) {
        uint64_t touched = h->watched.words[w] & c->pending.words[w];
        near |= (h->needs.words[w] & ~c->written.words[w]) | (h->writes.words[w] & c->late.words[w]);
        for (; touched != 0; touched &= touched - 1) {
            unsigned bit = tw_lowest_bit(touched);
            if (c->lands[64 * w + bit] < c->tick)
                c->pending.words[w] &= ~((uint64_t)1 << bit);
            else
                near = 1;
        }
    }
    return near != 0;
}

int tw_core_check(struct tw_core *c, const struct tw_core_bundle *b)
{
    const struct tw_core_hazards *h = &b->hazards;

    if (is_near(c, h))
        look_closer(c, b);
    if (h->n_units > 0)
        check_units(c, b);
    if (c->failed)
        return -1;
    note_values(c, h, c->tick);
    if (h->n_late_reads > 0)
        note_late_reads(c, h, c->tick);
    return 0;
}

/* ---- after ticks with memos */

int tw_core_has_needs(struct tw_core *c, const struct tw_core_bundle *b)
{
    uint64_t missing = 0;

    for (unsigned w = 0; w < CORE_LEAF_WORDS; w++)
        missing |= b->hazards.needs.words[w] & ~c->written.words[w];
    for (unsigned w = 0; w < CORE_LEAF_WORDS && missing == 0; w++)
        c->written.words[w] |= b->hazards.writes.words[w];
    return missing == 0;
}

void tw_core_note_nothing(struct tw_core *c)
{
    memset(&c->pending, 0, sizeof c->pending);
    memset(&c->late, 0, sizeof c->late);
    memset(c->held, 0, sizeof c->held);
    c->held_at = 0;
}

void tw_core_note_again(struct tw_core *c, const struct tw_core_bundle *b, unsigned age)
{
    const struct tw_core_hazards *h = &b->hazards;

    for (unsigned i = 0; i < h->n_units; i++)
        if (h->units[i].delay >= age)
            c->held[h->units[i].delay - age] |= h->units[i].uses;
    note_values(c, h, c->tick - age);
    note_late_reads(c, h, c->tick - age);
}
