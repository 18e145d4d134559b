/*
 * Modulo scheduling. For one interval after the other, beginning with the lower bound, operations are placed one by
 * one: first those that need the scarcest units, in the order of the text, each as soon as it can; then the others,
 * nearest first: what feeds placed operations as late as possible, what uses their results as early as possible, so
 * that values live short. Longest distances between all pairs give every operation the window in which it may still go,
 * so only units can be in the way; then whoever holds them is moved out, as in Rau's iterative modulo scheduling
 * (1994).
 */
#include "isa/sched/modulo.h"

#include "base/random.h"
#include "isa/sched/region.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum {
    NEVER = INT16_MIN / 2, /* no way leads there; sums of two stay in range */
    FAR = NEVER / 2,       /* what is less stands for NEVER */
    OPEN = 1 << 20,        /* no bound on a time */
    ATTEMPTS = 300,        /* schedules tried for a loop */
    FINE = 4,              /* intervals above the bound that are all tried */
    BY_CHANCE = 3,         /* and how many of them with variants by chance */
    WORK = 60000000,       /* about so many distances are looked at before no operation is moved out any more */
    VARIANTS = 6,
    RANDOM = 1500, /* operations in variants by chance, for each interval */
    BUDGET = 5     /* placements per operation */
};

/* How a schedule is sought. */
static const struct variant {
    uint8_t scarce_first; /* 1: in the order of the text, 2: by earliest time, 0: no such phase */
    uint8_t tight;        /* operations with a window of less than interval * tight / 16 go before the others */
    uint8_t flexible; /* what fits several slots goes: 1: before what feeds placed operations and fits one, 2: behind */
} variants[VARIANTS] = {{1, 2, 1}, {1, 2, 2}, {1, 2, 0}, {2, 2, 1}, {1, 0, 0}, {0, 4, 0}};

struct search {
    struct tw_sched_program *p;
    struct tw_sched_modulo *m;
    const struct variant *variant;
    int32_t *early, *late; /* window that placed operations leave */
    int32_t *asap;         /* with all units free */
    int32_t *last;         /* where it was placed last, OPEN: never */
    uint8_t *placed, *scarce, *prefers_late;
    uint32_t n_placed, budget;
    int by_chance; /* cycles are not always the nearest ones */
    struct tw_random random;
};

void tw_sched_modulo_note(struct tw_sched_modulo *m, const char *fmt, ...)
{
    va_list args;

    if (m->above[0] != '\0')
        return;
    va_start(args, fmt);
    vsnprintf(m->above, sizeof m->above, fmt, args);
    va_end(args);
}

/* ---- ways */

/* How many operations have no other slot than those that a way takes. */
static uint32_t demand(const struct tw_sched_program *p, const struct tw_sched_modulo *m, uint64_t slots)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < m->n; i++)
        n += tw_sched_body_op(p, m, i)->n_alt == 1 && (tw_sched_slots_of(tw_sched_body_op(p, m, i), 0) & slots) != 0;
    return n;
}

/* Puts the way first whose slots are least in demand. */
static void sort_ways(struct tw_sched_program *p, const struct tw_sched_modulo *m, struct tw_sched_op *op)
{
    for (unsigned a = 1; a < op->n_alt; a++)
        for (unsigned b = a;
             b > 0 && demand(p, m, tw_sched_slots_of(op, b)) < demand(p, m, tw_sched_slots_of(op, b - 1)); b--) {
            struct tw_operation swap = op->alt[b];
            op->alt[b] = op->alt[b - 1];
            op->alt[b - 1] = swap;
        }
}

int tw_sched_modulo_make(struct tw_sched_program *p, int32_t loop)
{
    const struct tw_sched_piece *piece = &p->pieces[p->loops[loop].piece];
    struct tw_sched_modulo *m = tw_arena_alloc(&p->arena, 1, sizeof *m);

    if (m == NULL)
        return tw_sched_no_memory(p);
    p->loops[loop].modulo = m;
    m->loop = loop;
    m->n = piece->count;
    m->ops = tw_arena_alloc(&p->arena, m->n, sizeof *m->ops);
    m->needs = tw_arena_alloc(&p->arena, m->n, sizeof *m->needs);
    m->time = tw_arena_alloc(&p->arena, m->n, sizeof *m->time);
    m->alt = tw_arena_alloc(&p->arena, m->n, sizeof *m->alt);
    m->far = tw_arena_alloc(&p->arena, (size_t)m->n * m->n, sizeof *m->far);
    m->near = tw_arena_alloc(&p->arena, (size_t)m->n * m->n, sizeof *m->near);
    if (m->ops == NULL || m->needs == NULL || m->time == NULL || m->alt == NULL || m->far == NULL || m->near == NULL)
        return tw_sched_no_memory(p);
    for (uint32_t i = 0; i < m->n; i++)
        m->ops[i] = piece->first + i;
    for (uint32_t i = 0; i < m->n; i++) {
        sort_ways(p, m, &p->ops[m->ops[i]]);
        for (unsigned a = 0; a < tw_sched_body_op(p, m, i)->n_alt; a++)
            tw_sched_need_of(tw_sched_body_op(p, m, i), a, &m->needs[i][a]);
    }
    int code = tw_sched_depend(p, m->ops, m->n, loop, &m->edges);
    if (code < 0)
        return code;
    return tw_sched_bound(p, m);
}

/* ---- distances */

/* Longest ways between all pairs, for the interval m->interval. */
static void measure(struct tw_sched_modulo *m)
{
    uint32_t n = m->n;

    if (m->measured == m->interval)
        return;
    m->measured = m->interval;
    m->work += (uint64_t)n * n * n / 16;
    for (size_t i = 0; i < (size_t)n * n; i++)
        m->far[i] = NEVER;
    for (uint32_t i = 0; i < n; i++)
        m->far[(size_t)i * n + i] = 0;
    for (uint32_t e = 0; e < m->edges.n; e++) {
        const struct tw_sched_edge *edge = &m->edges.list[e];
        int16_t *d = &m->far[(size_t)edge->from * n + (uint32_t)edge->to];
        int32_t distance = edge->distance - (edge->later ? (int32_t)m->interval : 0);
        if (distance > *d)
            *d = (int16_t)distance;
    }
    for (uint32_t k = 0; k < n; k++) {
        const int16_t *through = m->far + (size_t)k * n;
        for (uint32_t i = 0; i < n; i++) {
            int16_t *row = m->far + (size_t)i * n;
            int16_t first = row[k];
            if (first <= FAR)
                continue;
            for (uint32_t j = 0; j < n; j++) {
                int16_t way = (int16_t)(first + through[j]);
                row[j] = way > row[j] ? way : row[j];
            }
        }
    }
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t k = 0; k < n; k++)
            m->near[(size_t)k * n + i] = m->far[(size_t)i * n + k];
}

static int32_t far_from(const struct search *s, uint32_t from, uint32_t to)
{
    return s->m->far[(size_t)from * s->m->n + to];
}

/* ---- windows */

static void narrow(struct search *s, uint32_t placed)
{
    const int16_t *far = s->m->far + (size_t)placed * s->m->n, *near = s->m->near + (size_t)placed * s->m->n;
    int32_t t = s->m->time[placed], *early = s->early, *late = s->late;

    s->m->work += s->m->n;
    for (uint32_t i = 0; i < s->m->n; i++) {
        int32_t after = far[i] > FAR ? t + far[i] : -OPEN, before = near[i] > FAR ? t - near[i] : OPEN;
        early[i] = after > early[i] ? after : early[i];
        late[i] = before < late[i] ? before : late[i];
    }
}

static void open_windows(struct search *s)
{
    for (uint32_t i = 0; i < s->m->n; i++) {
        s->early[i] = -OPEN;
        s->late[i] = OPEN;
    }
    for (uint32_t i = 0; i < s->m->n; i++)
        if (s->placed[i])
            narrow(s, i);
}

/* ---- placing */

static void enter(struct search *s, uint32_t i, int32_t t, unsigned alt)
{
    s->m->time[i] = t;
    s->m->alt[i] = (uint8_t)alt;
    s->last[i] = t;
    s->placed[i] = 1;
    s->n_placed++;
    tw_sched_table_enter(&s->m->table, &s->m->needs[i][alt], t);
    narrow(s, i);
}

static void leave(struct search *s, uint32_t i)
{
    s->placed[i] = 0;
    s->n_placed--;
    tw_sched_table_leave(&s->m->table, &s->m->needs[i][s->m->alt[i]], s->m->time[i]);
}

/* The way whose slot is least asked for by operations that have no other. Ways are sorted so beforehand. */
static int fitting_alt(const struct search *s, uint32_t i, int32_t t)
{
    for (unsigned a = 0; a < tw_sched_body_op(s->p, s->m, i)->n_alt; a++)
        if (tw_sched_table_fits(&s->m->table, &s->m->needs[i][a], t))
            return (int)a;
    return -1;
}

/* The way that gets into the way of the least. */
static unsigned least_harm(const struct search *s, uint32_t i, int32_t t)
{
    unsigned best = 0, least = UINT32_MAX;

    for (unsigned a = 0; a < tw_sched_body_op(s->p, s->m, i)->n_alt; a++) {
        unsigned n = tw_sched_table_conflicts(&s->m->table, &s->m->needs[i][a], t);
        if (n < least) {
            least = n;
            best = a;
        }
    }
    return best;
}

/* Places an operation where it does not fit, and takes out all that are then wrong. */
static void force(struct search *s, uint32_t i, int32_t t)
{
    unsigned alt = least_harm(s, i, t);

    for (uint32_t k = 0; k < s->m->n; k++)
        if (s->placed[k] &&
            (tw_sched_needs_meet(&s->m->table, &s->m->needs[i][alt], t, &s->m->needs[k][s->m->alt[k]], s->m->time[k]) ||
             s->m->time[k] < t + far_from(s, i, k) || t < s->m->time[k] + far_from(s, k, i)))
            leave(s, k);
    enter(s, i, t, alt);
    open_windows(s);
}

static int goes_late(const struct search *s, uint32_t i)
{
    int has_early = s->early[i] > -OPEN, has_late = s->late[i] < OPEN;

    if (s->scarce[i] && s->variant->scarce_first)
        return 0;
    return has_late && (!has_early || s->prefers_late[i]);
}

/* Enters an operation in the first cycle from `from` on to `to`, in steps of `by`, where it fits. */
static int place_between(struct search *s, uint32_t i, int32_t from, int32_t to, int32_t by)
{
    int32_t cycles = (to - from) * by;

    if (s->by_chance && cycles > 0 && tw_random_range(&s->random, 0, 2) == 0)
        from += by * (int32_t)tw_random_range(&s->random, 1, cycles < 3 ? cycles : 3);
    for (int32_t t = from; by > 0 ? t <= to : t >= to; t += by) {
        int alt = fitting_alt(s, i, t);
        if (alt >= 0) {
            enter(s, i, t, (unsigned)alt);
            return 1;
        }
    }
    return 0;
}

/* Places an operation inside its window, or by force; base: its first cycle when the window is open on both sides. */
static int place(struct search *s, uint32_t i, int32_t base)
{
    int32_t reach = (int32_t)s->m->interval - 1, by = goes_late(s, i) ? -1 : 1;
    int32_t first = by < 0 ? s->late[i] : s->early[i] > -OPEN ? s->early[i] : base;
    int32_t bound = by < 0 ? s->early[i] : s->late[i];
    int32_t last =
        by < 0 ? (bound > first - reach ? bound : first - reach) : (bound < first + reach ? bound : first + reach);

    if (s->budget == 0)
        return 0;
    s->budget--;
    if (place_between(s, i, first, last, by))
        return 1;
    /* One cycle further than last time, if need be out of the window: then those who made it leave too. */
    int32_t again = s->last[i] == OPEN ? first : s->last[i] + by;
    force(s, i, (again - first) * by < 0 || (again - first) * by > reach ? first : again);
    return 1;
}

/* ---- the order */

/* Whether all ways of an operation need some of the scarce units. */
static int needs_scarce(const struct tw_sched_program *p, const struct tw_sched_modulo *m, uint32_t i)
{
    if (m->bottleneck == 0)
        return 0;
    for (unsigned a = 0; a < tw_sched_body_op(p, m, i)->n_alt; a++) {
        uint64_t held = 0;
        for (unsigned c = 0; c < m->needs[i][a].length; c++)
            held |= m->needs[i][a].hold[c];
        if ((held & m->bottleneck) == 0)
            return 0;
    }
    return 1;
}

/* How an operation ranks among those not placed yet; less is sooner. */
struct rank {
    int32_t group, first, second;
};

static struct rank rank_of(const struct search *s, uint32_t i)
{
    int has_early = s->early[i] > -OPEN, has_late = s->late[i] < OPEN;
    int32_t slack = has_early && has_late ? s->late[i] - s->early[i] : OPEN;
    int32_t one_way =
        s->variant->flexible != 0 && (tw_sched_body_op(s->p, s->m, i)->n_alt > 1) != (s->variant->flexible == 1);

    if (s->scarce[i] && s->variant->scarce_first)
        return (struct rank){0, s->variant->scarce_first == 2 ? s->asap[i] : 0, 0};
    if (slack < (int32_t)s->m->interval * s->variant->tight / 16)
        return (struct rank){1, slack, one_way};
    if (goes_late(s, i))
        return (struct rank){2, one_way, -s->late[i]};
    if (has_early)
        return (struct rank){3, one_way, s->early[i]};
    return (struct rank){4, s->asap[i], 0};
}

static int sooner(struct rank a, struct rank b)
{
    if (a.group != b.group)
        return a.group < b.group;
    return a.first != b.first ? a.first < b.first : a.second < b.second;
}

static uint32_t next_to_place(const struct search *s)
{
    uint32_t best = UINT32_MAX;
    struct rank rank = {0, 0, 0};

    for (uint32_t i = 0; i < s->m->n; i++) {
        if (s->placed[i])
            continue;
        struct rank own = rank_of(s, i);
        if (best == UINT32_MAX || sooner(own, rank)) {
            best = i;
            rank = own;
        }
    }
    return best;
}

/* ---- lives of values */

/* The leaves of rotating values that begin at an operation, less those that may end at it, in 64ths. */
static int32_t values_gained(const struct search *s, uint32_t i, const uint32_t *readers)
{
    const struct tw_sched_op *op = tw_sched_body_op(s->p, s->m, i);
    int32_t gained = 0;

    for (unsigned k = 0; k < op->n_refs; k++) {
        const struct tw_sched_ref *ref = &op->refs[k];
        if (ref->var < 0 || s->p->webs[ref->web].rotates != s->m->loop)
            continue;
        int in_place = 0;
        for (unsigned j = 0; j < op->n_refs; j++)
            in_place |=
                j != k && op->refs[j].var >= 0 && op->refs[j].web == ref->web && op->refs[j].writes != ref->writes;
        if (in_place)
            continue;
        gained += ref->writes ? 64 * ref->count : -64 * (int32_t)ref->count / (int32_t)readers[ref->web];
    }
    return gained;
}

static void choose_sides(struct search *s, uint32_t *readers)
{
    memset(readers, 0, (s->p->n_webs + 1) * sizeof *readers);
    for (uint32_t i = 0; i < s->m->n; i++)
        for (unsigned k = 0; k < tw_sched_body_op(s->p, s->m, i)->n_refs; k++) {
            const struct tw_sched_ref *ref = &tw_sched_body_op(s->p, s->m, i)->refs[k];
            if (ref->var >= 0 && !ref->writes)
                readers[ref->web]++;
        }
    for (uint32_t i = 0; i < s->m->n; i++)
        s->prefers_late[i] = values_gained(s, i, readers) > 0;
}

/* ---- one attempt */

static int place_all(struct search *s)
{
    int32_t base = 0;

    while (s->n_placed < s->m->n) {
        uint32_t i = next_to_place(s);
        if (s->n_placed == 0)
            base = s->asap[i];
        if (!place(s, i, s->scarce[i] && s->variant->scarce_first ? base : s->asap[i]))
            return 0;
    }
    return 1;
}

/* Finds a schedule for m->interval. The variants are tried in turn, then again by chance. Returns 1, 0 or a code. */
static int attempt(struct tw_sched_program *p, struct tw_sched_modulo *m, uint32_t variant)
{
    struct tw_arena *arena = &p->arena;
    struct search s = {.p = p, .m = m, .variant = &variants[variant % VARIANTS], .by_chance = variant >= VARIANTS};
    uint32_t n = m->n;

    s.early = tw_arena_alloc(arena, n, sizeof *s.early);
    s.late = tw_arena_alloc(arena, n, sizeof *s.late);
    s.asap = tw_arena_alloc(arena, n, sizeof *s.asap);
    s.last = tw_arena_alloc(arena, n, sizeof *s.last);
    s.placed = tw_arena_alloc(arena, 3, n);
    uint32_t *readers = tw_arena_alloc(arena, p->n_webs + 1, sizeof *readers);
    if (s.early == NULL || s.late == NULL || s.asap == NULL || s.last == NULL || s.placed == NULL || readers == NULL)
        return tw_sched_no_memory(p);
    int code = tw_sched_table_make(p, m->interval, 1, &m->table);
    if (code < 0)
        return code;
    s.scarce = s.placed + n;
    s.prefers_late = s.placed + 2 * (size_t)n;
    s.budget = m->work > WORK ? n : BUDGET * n;
    s.random.state = variant;
    measure(m);
    choose_sides(&s, readers);
    for (uint32_t i = 0; i < n; i++) {
        s.last[i] = OPEN;
        s.scarce[i] = (uint8_t)needs_scarce(p, m, i);
        for (uint32_t k = 0; k < n; k++)
            if (far_from(&s, k, i) > s.asap[i])
                s.asap[i] = far_from(&s, k, i);
    }
    open_windows(&s);
    return place_all(&s);
}

/* ---- loops whose iterations do not overlap */

/* The first cycle in which an operation may issue behind those placed so far. */
static int32_t earliest(const struct tw_sched_modulo *m, uint32_t i)
{
    int32_t t = 0;

    for (uint32_t e = 0; e < m->edges.n; e++) {
        const struct tw_sched_edge *edge = &m->edges.list[e];
        if (edge->to == (int32_t)i && edge->from < (int32_t)i && !edge->later &&
            m->time[edge->from] + edge->distance > t)
            t = m->time[edge->from] + edge->distance;
    }
    return t;
}

/* Places all operations of one iteration; in_order: none before one that stands earlier in the text. */
static int place_plainly(struct tw_sched_program *p, struct tw_sched_modulo *m, int in_order)
{
    int32_t end = 1, last = 0;
    int code = tw_sched_table_make(p, m->n * SCHED_FLIGHT + SCHED_FLIGHT, 0, &m->table);

    if (code < 0)
        return code;
    for (uint32_t i = 0; i < m->n; i++) {
        int32_t t = earliest(m, i);
        unsigned alt = 0;
        if (in_order && t < last)
            t = last;
        while (!tw_sched_table_fits(&m->table, &m->needs[i][alt], t))
            if (++alt == tw_sched_body_op(p, m, i)->n_alt) {
                alt = 0;
                t++;
            }
        tw_sched_table_enter(&m->table, &m->needs[i][alt], t);
        m->time[i] = last = t;
        m->alt[i] = (uint8_t)alt;
        if (t + tw_sched_flight(tw_sched_body_op(p, m, i)) > end)
            end = t + tw_sched_flight(tw_sched_body_op(p, m, i));
    }
    for (uint32_t e = 0; e < m->edges.n; e++) {
        const struct tw_sched_edge *edge = &m->edges.list[e];
        if (edge->later && m->time[edge->from] + edge->distance - m->time[edge->to] > end)
            end = m->time[edge->from] + edge->distance - m->time[edge->to];
    }
    m->interval = (uint32_t)end;
    return 1;
}

/* ---- the search */

/* The interval of a step: first one by one, then by a sixteenth. */
static uint32_t interval_of(const struct tw_sched_modulo *m)
{
    uint32_t interval = m->bound + (m->step < FINE ? m->step : FINE);

    for (uint32_t step = FINE; step < m->step && interval <= SCHED_INTERVALS; step++)
        interval += 1 + interval / 16;
    return interval;
}

/* How many variants are tried for the interval: those by chance for the first few only. */
static uint32_t variants_now(const struct tw_sched_modulo *m)
{
    uint32_t by_chance = RANDOM / m->n < 64 ? RANDOM / m->n : 64;

    if (m->work > WORK)
        return 2;
    return VARIANTS + (m->step < BY_CHANCE ? by_chance : 0);
}

static int next_attempt(struct tw_sched_program *p, struct tw_sched_modulo *m)
{
    uint32_t variant = m->variant++;

    m->interval = interval_of(m);
    if (m->variant >= variants_now(m)) {
        m->variant = 0;
        m->step++;
    }
    if (m->attempts++ >= ATTEMPTS || m->interval > SCHED_INTERVALS || m->interval >= m->longest)
        return m->plain++ < 2 ? place_plainly(p, m, m->plain == 2) : TW_E_LIMIT;
    return attempt(p, m, variant);
}

int tw_sched_modulo_plain(struct tw_sched_program *p, struct tw_sched_modulo *m, int in_order)
{
    struct tw_arena mark = tw_arena_mark(&p->arena);
    int code = place_plainly(p, m, in_order);

    if (code == 1)
        code = tw_sched_accept(p, m);
    tw_arena_rewind(&p->arena, mark);
    if (code == 0)
        return tw_sched_fail(p, (struct tw_sched_text_place){p->loops[m->loop].line, 0}, TW_E_LIMIT,
                             "no schedule was found for this loop: %s", m->above);
    return code == 1 ? 0 : code;
}

int tw_sched_modulo_next(struct tw_sched_program *p, struct tw_sched_modulo *m)
{
    struct tw_arena mark = tw_arena_mark(&p->arena);
    int code;

    if (m->longest == 0) {
        if ((code = place_plainly(p, m, 0)) < 0)
            return code;
        m->longest = m->interval;
        tw_arena_rewind(&p->arena, mark);
    }
    do {
        mark = tw_arena_mark(&p->arena);
        code = next_attempt(p, m);
        if (code == 0)
            tw_sched_modulo_note(m, "no schedule of %" PRIu32 " bundles was found", m->interval);
        if (code == 1)
            code = tw_sched_accept(p, m);
        tw_arena_rewind(&p->arena, mark);
    } while (code == 0);
    return code == 1 ? 0 : code;
}
