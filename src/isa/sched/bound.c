/*
 * Lower bounds of the interval between iterations: from slots that operations cannot go around, from ports, units and
 * banks, and from circles of dependences.
 */
#include "isa/sched/modulo.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static unsigned count_bits(uint64_t set)
{
    unsigned n = 0;

    for (; set != 0; set &= set - 1)
        n++;
    return n;
}

/* How many of some slots an operation takes at least; those that have a way around them take none. */
static unsigned slots_taken(const struct tw_sched_op *op, uint64_t slots)
{
    unsigned least = UINT32_MAX;

    for (unsigned a = 0; a < op->n_alt; a++) {
        uint64_t own = tw_sched_slots_of(op, a);
        unsigned n = (own & ~slots) != 0 ? count_bits(own & slots) : count_bits(own);
        if ((own & slots) == 0)
            n = 0;
        if (n < least)
            least = n;
    }
    return least;
}

static void name_slots(uint64_t slots, char *dst, size_t size)
{
    static const char *const names[] = {"ldb", "lda", "st", "alu", "mv", "vec"};
    int n = snprintf(dst, size, "%s", count_bits(slots) == 1 ? "slot" : "slots");

    for (unsigned s = 0; s < 6; s++)
        if ((slots >> s & 1) != 0)
            n += snprintf(dst + n, size - (size_t)n, " %s", names[s]);
}

static void bound_by_slots(const struct tw_sched_program *p, struct tw_sched_modulo *m)
{
    unsigned best = 7;

    for (uint64_t slots = 1; slots < 64; slots++) {
        uint32_t taken = 0, width = count_bits(slots);
        for (uint32_t i = 0; i < m->n; i++)
            taken += slots_taken(tw_sched_body_op(p, m, i), slots);
        uint32_t bound = (taken + width - 1) / width;
        if (bound < m->bound || (bound == m->bound && width >= best) || bound == 0)
            continue;
        best = width;
        m->bound = bound;
        m->bottleneck = slots;
        name_slots(slots, m->bound_by, sizeof m->bound_by);
    }
}

static unsigned cycles_held(const struct tw_sched_modulo *m, const struct tw_sched_op *op, uint32_t i, unsigned unit)
{
    unsigned least = UINT32_MAX;

    for (unsigned a = 0; a < op->n_alt; a++) {
        unsigned n = 0;
        for (unsigned c = 0; c < m->needs[i][a].length; c++)
            n += (unsigned)(m->needs[i][a].hold[c] >> unit & 1);
        if (n < least)
            least = n;
    }
    return least;
}

static int avoids(const struct tw_sched_modulo *m, uint32_t i, unsigned unit)
{
    for (unsigned c = 0; c < m->needs[i][0].length; c++)
        if ((m->needs[i][0].avoid[c] >> unit & 1) != 0)
            return 1;
    return 0;
}

static void bound_by_ports(const struct tw_sched_program *p, struct tw_sched_modulo *m)
{
    for (unsigned unit = SCHED_UNIT_PORT; unit < SCHED_UNITS; unit++) {
        uint32_t held = 0, avoided = 0;
        for (uint32_t i = 0; i < m->n; i++) {
            held += cycles_held(m, tw_sched_body_op(p, m, i), i, unit);
            avoided |= (uint32_t)avoids(m, i, unit);
        }
        if (held == 0 || held + avoided <= m->bound)
            continue;
        m->bound = held + avoided;
        m->bottleneck = (uint64_t)1 << unit;
        if (unit < SCHED_UNIT_BANK)
            snprintf(m->bound_by, sizeof m->bound_by, "unit %s", tw_resource_names[unit - SCHED_UNIT_PORT]);
        else
            snprintf(m->bound_by, sizeof m->bound_by, "bank %.*s", (int)p->bank_sizes[unit - SCHED_UNIT_BANK],
                     p->banks[unit - SCHED_UNIT_BANK]);
    }
}

/*
 * Relaxes all edges until nothing changes; time gets the earliest times. Returns -1, or the node through which times
 * still grow after n rounds: the interval is less than a recurrence allows.
 */
static int32_t relax(const struct tw_sched_modulo *m, uint32_t interval, int32_t *time)
{
    int32_t grown = 0;

    memset(time, 0, m->n * sizeof *time);
    for (uint32_t round = 0; round <= m->n && grown >= 0; round++) {
        grown = -1;
        for (uint32_t e = 0; e < m->edges.n; e++) {
            const struct tw_sched_edge *edge = &m->edges.list[e];
            int32_t t = time[edge->from] + edge->distance - (edge->later ? (int32_t)interval : 0);
            if (t > time[edge->to]) {
                time[edge->to] = t;
                grown = edge->to;
            }
        }
    }
    return grown;
}

static int bound_by_recurrence(struct tw_sched_program *p, struct tw_sched_modulo *m)
{
    int32_t *time = tw_arena_alloc(&p->arena, m->n, sizeof *time);
    uint32_t low = m->bound, high = SCHED_INTERVALS + 1; /* low is too little, high is not known to be */

    if (time == NULL)
        return tw_sched_no_memory(p);
    if (relax(m, low, time) < 0)
        return 0;
    while (high - low > 1) {
        uint32_t middle = high > 2 * low ? 2 * low : low + (high - low) / 2;
        if (relax(m, middle, time) >= 0)
            low = middle;
        else
            high = middle;
    }
    if (high > SCHED_INTERVALS)
        return tw_sched_fail(p, (struct tw_sched_text_place){p->loops[m->loop].line, 0}, TW_E_LIMIT,
                             "this loop needs more than %d bundles for an iteration", SCHED_INTERVALS);
    m->bound = high;
    m->bottleneck = 0;
    snprintf(m->bound_by, sizeof m->bound_by, "the recurrence through line %u",
             p->lines[tw_sched_body_op(p, m, (uint32_t)relax(m, low, time))->line].line);
    return 0;
}

int tw_sched_bound(struct tw_sched_program *p, struct tw_sched_modulo *m)
{
    m->bound = 1;
    bound_by_slots(p, m);
    bound_by_ports(p, m);
    return bound_by_recurrence(p, m);
}
