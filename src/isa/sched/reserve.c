#include "isa/sched/reserve.h"

#include <string.h>

static uint64_t bit(unsigned unit)
{
    return (uint64_t)1 << unit;
}

uint64_t tw_sched_slots_of(const struct tw_sched_op *op, unsigned alt)
{
    enum tw_slot slot = tw_instructions[op->alt[alt].instruction].slot;

    return slot == TW_SLOT_LNG ? bit(TW_SLOT_ALU) | bit(TW_SLOT_MV) : bit(slot);
}

static void extend(struct tw_sched_need *need, unsigned length)
{
    if (length > need->length)
        need->length = (uint8_t)length;
}

void tw_sched_need_of(const struct tw_sched_op *op, unsigned alt, struct tw_sched_need *need)
{
    const struct tw_schedule_class *c = tw_operation_schedule(&op->alt[alt]);

    memset(need, 0, sizeof *need);
    need->length = 1;
    need->hold[0] = tw_sched_slots_of(op, alt);
    for (unsigned i = 0; i < c->n_resources; i++) {
        const struct tw_resource_use *u = &c->resources[i];
        uint64_t *row = u->avoid ? need->avoid : need->hold;
        for (unsigned cycle = u->first; cycle <= u->last && cycle <= SCHED_FLIGHT; cycle++)
            row[cycle - 1] |= bit(SCHED_UNIT_PORT + u->unit);
        extend(need, u->last);
    }
    if (op->bank < 0)
        return;
    need->hold[op->mem_first - 1] |= bit(SCHED_UNIT_BANK + (unsigned)op->bank);
    need->hold[op->mem_last - 1] |= bit(SCHED_UNIT_BANK + (unsigned)op->bank);
    extend(need, op->mem_last);
}

int tw_sched_table_make(struct tw_sched_program *p, uint32_t cycles, int modulo, struct tw_sched_table *t)
{
    t->cycles = cycles;
    t->modulo = modulo;
    t->held = tw_arena_alloc(&p->arena, cycles, sizeof *t->held);
    t->avoided = tw_arena_alloc(&p->arena, cycles, sizeof *t->avoided);
    t->count = tw_arena_alloc(&p->arena, cycles, sizeof *t->count);
    return t->held == NULL || t->avoided == NULL || t->count == NULL ? tw_sched_no_memory(p) : 0;
}

void tw_sched_table_clear(struct tw_sched_table *t)
{
    memset(t->held, 0, t->cycles * sizeof *t->held);
    memset(t->avoided, 0, t->cycles * sizeof *t->avoided);
    memset(t->count, 0, t->cycles * sizeof *t->count);
}

/* The row of a cycle; -1: outside. */
static int32_t row_of(const struct tw_sched_table *t, int32_t cycle)
{
    int32_t n = (int32_t)t->cycles;

    if (!t->modulo)
        return cycle < 0 || cycle >= n ? -1 : cycle;
    cycle %= n;
    return cycle < 0 ? cycle + n : cycle;
}

/* With a short interval an operation may get into its own way. */
static int meets_itself(const struct tw_sched_table *t, const struct tw_sched_need *need)
{
    for (unsigned a = 0; t->modulo && a < need->length; a++)
        for (unsigned b = a + t->cycles; b < need->length; b += t->cycles)
            if ((need->hold[a] & (need->hold[b] | need->avoid[b])) != 0 || (need->avoid[a] & need->hold[b]) != 0)
                return 1;
    return 0;
}

int tw_sched_table_fits(const struct tw_sched_table *t, const struct tw_sched_need *need, int32_t cycle)
{
    for (unsigned i = 0; i < need->length; i++) {
        int32_t row = row_of(t, cycle + (int32_t)i);
        if (row >= 0 &&
            ((need->hold[i] & (t->held[row] | t->avoided[row])) != 0 || (need->avoid[i] & t->held[row]) != 0))
            return 0;
    }
    return need->length <= t->cycles || !meets_itself(t, need);
}

unsigned tw_sched_table_conflicts(const struct tw_sched_table *t, const struct tw_sched_need *need, int32_t cycle)
{
    unsigned n = 0;

    for (unsigned i = 0; i < need->length; i++) {
        int32_t row = row_of(t, cycle + (int32_t)i);
        if (row < 0)
            continue;
        uint64_t both = (need->hold[i] & (t->held[row] | t->avoided[row])) | (need->avoid[i] & t->held[row]);
        for (; both != 0; both &= both - 1)
            n++;
    }
    return n;
}

static void change_avoided(struct tw_sched_table *t, int32_t row, uint64_t units, int by)
{
    for (unsigned u = 0; units != 0; u++, units >>= 1) {
        if ((units & 1) == 0)
            continue;
        t->count[row][u] = (uint8_t)(t->count[row][u] + by);
        if (t->count[row][u] != 0)
            t->avoided[row] |= bit(u);
        else
            t->avoided[row] &= ~bit(u);
    }
}

static void change(struct tw_sched_table *t, const struct tw_sched_need *need, int32_t cycle, int by)
{
    for (unsigned i = 0; i < need->length; i++) {
        int32_t row = row_of(t, cycle + (int32_t)i);
        if (row < 0)
            continue;
        if (by > 0)
            t->held[row] |= need->hold[i];
        else
            t->held[row] &= ~need->hold[i];
        change_avoided(t, row, need->avoid[i], by);
    }
}

void tw_sched_table_enter(struct tw_sched_table *t, const struct tw_sched_need *need, int32_t cycle)
{
    change(t, need, cycle, 1);
}

void tw_sched_table_leave(struct tw_sched_table *t, const struct tw_sched_need *need, int32_t cycle)
{
    change(t, need, cycle, -1);
}

int tw_sched_needs_meet(const struct tw_sched_table *t, const struct tw_sched_need *a, int32_t cycle_a,
                        const struct tw_sched_need *b, int32_t cycle_b)
{
    int32_t n = (int32_t)t->cycles, apart = ((cycle_b - cycle_a) % n + n) % n;

    /* b begins `apart` cycles behind a, and every interval before and behind that. */
    for (int32_t d = apart - (apart + SCHED_FLIGHT) / n * n; d < a->length; d += n)
        for (int32_t i = d > 0 ? d : 0; i < a->length && i - d < b->length; i++)
            if ((a->hold[i] & (b->hold[i - d] | b->avoid[i - d])) != 0 || (a->avoid[i] & b->hold[i - d]) != 0)
                return 1;
    return 0;
}
