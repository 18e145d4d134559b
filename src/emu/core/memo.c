/* Finding memos, making them, and going back to lists. */
#include "emu/core/memo.h"

#include "emu/core/act.h"

/* ---- berths */

/*
 * The one that the bundle's number gives, so that a loop comes to the same berths again soon; when one of the bundles
 * in flight has it, one of the spare ones.
 */
static unsigned choose(const struct tw_core_bundle *b, uint64_t taken)
{
    unsigned berth = b->number % CORE_BERTHS_OWN;

    if ((taken >> berth & 1) == 0)
        return berth;
    for (berth = CORE_BERTHS_OWN; (taken >> berth & 1) != 0;)
        berth++;
    return berth;
}

unsigned tw_core_choose_berth(const struct tw_core *c, const struct tw_core_bundle *b)
{
    uint64_t taken = 0;

    for (unsigned age = 1; age <= CORE_IN_FLIGHT_MAX; age++)
        taken |= (uint64_t)1 << c->issued[(c->tick - age) % CORE_RING].berth;
    return choose(b, taken);
}

/* ---- finding */

typedef struct tw_core_issued state_of_core[CORE_IN_FLIGHT_MAX + 1];

static unsigned slot_of(const struct tw_core_issued *state)
{
    uint64_t hash = 0;

    for (unsigned i = 0; i <= CORE_IN_FLIGHT_MAX; i++) {
        hash = (hash ^ (state[i].bundle->number * (uint64_t)CORE_BERTHS + state[i].berth)) * 0x9e3779b97f4a7c15u;
        hash ^= hash >> 29;
    }
    return (unsigned)(hash % CORE_MEMO_SLOTS);
}

static int is_same(const struct tw_core_issued *a, const struct tw_core_issued *b)
{
    for (unsigned i = 0; i <= CORE_IN_FLIGHT_MAX; i++)
        if (a[i].bundle != b[i].bundle || a[i].berth != b[i].berth)
            return 0;
    return 1;
}

static struct tw_core_memo *find(const struct tw_core *c, const struct tw_core_issued *state)
{
    struct tw_core_memo *memo = c->memos[slot_of(state)];

    while (memo != NULL && !is_same(memo->state, state))
        memo = memo->chain;
    return memo;
}

static const struct tw_core_bundle *bundle_at(const struct tw_core *c, uint32_t address)
{
    return address < TW_PROGRAM_BYTES && address % 2 == 0 ? c->at[address / 2] : NULL;
}

/* The state of this tick, from the bundles that were issued. Returns 0 when it cannot have a memo. */
static int state_now(const struct tw_core *c, state_of_core state)
{
    const struct tw_core_bundle *b = bundle_at(c, c->pc);

    if (c->without_memos || b == NULL || b->heat < CORE_HOT || b->ends || c->n_issued < CORE_IN_FLIGHT_MAX)
        return 0;
    for (unsigned age = 1; age <= CORE_IN_FLIGHT_MAX; age++)
        state[age] = c->issued[(c->tick - age) % CORE_RING];
    state[0] = (struct tw_core_issued){b, tw_core_choose_berth(c, b)};
    return 1;
}

int tw_core_memo_holds(struct tw_core *c, struct tw_core_memo *memo)
{
    if (c->strict && !tw_core_has_needs(c, memo->bundle))
        return 0;
    memo->life = c->life;
    return 1;
}

int tw_core_memo_enter(struct tw_core *c)
{
    state_of_core state;
    struct tw_core_memo *memo = state_now(c, state) ? find(c, state) : NULL;

    if (memo == NULL || (memo->life != c->life && !tw_core_memo_holds(c, memo)))
        return 0;
    for (unsigned i = 0; i < CORE_RING; i++)
        memset(c->ticks[i].n, 0, sizeof(uint64_t));
    c->memo = memo;
    return 1;
}

/* The state that follows on one when the bundle at the program counter is issued. */
static struct tw_core_memo *find_next(const struct tw_core *c, const struct tw_core_memo *memo)
{
    const struct tw_core_bundle *b = bundle_at(c, c->pc);
    state_of_core state;
    uint64_t taken = 0;

    if (b == NULL)
        return NULL;
    for (unsigned age = 1; age <= CORE_IN_FLIGHT_MAX; age++) {
        state[age] = memo->state[age - 1];
        taken |= (uint64_t)1 << state[age].berth;
    }
    state[0] = (struct tw_core_issued){b, choose(b, taken)};
    return find(c, state);
}

/* Lists of what bundles still have to do, the newest of them first. */
static void make_lists(struct tw_core *c, const struct tw_core_issued *newest)
{
    if (c->strict)
        tw_core_note_nothing(c);
    for (unsigned age = CORE_IN_FLIGHT_MAX; age > 0; age--) {
        const struct tw_core_issued *i = &newest[age - 1];
        c->issued[(c->tick - age) % CORE_RING] = *i;
        tw_core_push(c, i->bundle, c->flights[i->berth], age);
        if (c->strict)
            tw_core_note_again(c, i->bundle, age);
    }
    c->memo = NULL;
}

struct tw_core_memo *tw_core_memo_next(struct tw_core *c, struct tw_core_memo *memo)
{
    struct tw_core_memo *next = memo->next[1];

    if (next == NULL || next->address != c->pc)
        next = find_next(c, memo);
    if (next == NULL || (next->life != c->life && !tw_core_memo_holds(c, next))) {
        make_lists(c, memo->state);
        return NULL;
    }
    memo->next[1] = memo->next[0];
    memo->next[0] = next;
    return next;
}

void tw_core_memo_leave(struct tw_core *c)
{
    if (c->memo != NULL)
        make_lists(c, c->memo->state + 1);
}

void tw_core_memo_forget(struct tw_core *c)
{
    memset(c->memos, 0, sizeof c->memos);
    tw_core_pool_empty(&c->memo_pool);
    c->n_issued = 0;
}

/* ---- making */

static void make_steps(struct tw_core_act_maker *m, enum tw_core_list list)
{
    for (unsigned i = 0; i < m->tick->n[list]; i++) {
        const struct tw_core_event *e = &m->tick->list[list][i];
        const struct tw_core_steps *s = e->items;
        for (unsigned k = 0; k < s->n; k++)
            tw_core_act_step(m, &s->step[k], e->flights);
    }
}

static void make_landings(struct tw_core_act_maker *m)
{
    for (unsigned i = 0; i < m->tick->n[CORE_LANDINGS]; i++)
        tw_core_act_land(m, m->tick->list[CORE_LANDINGS][i].items, m->tick->list[CORE_LANDINGS][i].flights);
}

static void make_own_landings(struct tw_core_act_maker *m, const struct tw_core_bundle *b, uint8_t *flights)
{
    for (unsigned i = 0; i < b->n_marks; i++)
        if (b->marks[i].list == CORE_LANDINGS && b->marks[i].delay == 0)
            tw_core_act_land(m, b->marks[i].items, flights);
}

static unsigned count_accesses(const struct tw_core_tick *t)
{
    static const enum tw_core_list lists[] = {CORE_WORK, CORE_STORES};
    unsigned n = 0;

    for (unsigned l = 0; l < 2; l++)
        for (unsigned i = 0; i < t->n[lists[l]]; i++) {
            const struct tw_core_steps *s = t->list[lists[l]][i].items;
            for (unsigned k = 0; k < s->n; k++)
                n += s->step[k].run != tw_core_step_capture && s->step[k].run != tw_core_step_call;
        }
    return n;
}

static const void *keep(struct tw_core_act_maker *m, const void *list, size_t size)
{
    void *kept = tw_core_pool_get(m->pool, size + 1);

    if (kept == NULL)
        m->failed = 1;
    else if (size > 0)
        memcpy(kept, list, size);
    return kept;
}

static void make_acts(struct tw_core_act_maker *m, struct tw_core_memo *memo)
{
    const struct tw_core_bundle *b = memo->bundle;

    make_steps(m, CORE_WORK);
    make_steps(m, CORE_STORES);
    tw_core_act_join_all(m, 0);
    unsigned issue = m->n;
    for (unsigned i = 0; i < b->n_ops; i++)
        tw_core_act_issue(m, b->ops[i], memo->flights);
    tw_core_act_join_all(m, issue);
    unsigned land = m->n;
    make_landings(m);
    tw_core_act_join_all(m, land);
    unsigned own = m->n;
    make_own_landings(m, b, memo->flights);
    memo->n_late = (uint8_t)issue;
    memo->n_issue = (uint8_t)(land - issue);
    memo->n_land = (uint8_t)(own - land);
    memo->n_own = (uint8_t)(m->n - own);
    memo->acts = keep(m, m->acts, m->n * sizeof *m->acts);
}

struct tw_core_memo *tw_core_memo_make(struct tw_core *c, const struct tw_core_tick *t)
{
    struct tw_core_act_maker m = {.c = c, .pool = &c->memo_pool, .tick = t, .accesses = count_accesses(t)};
    state_of_core state;

    if (c->memo_pool.used >= CORE_MEMO_BYTES || !state_now(c, state))
        return NULL;
    struct tw_core_memo *memo = tw_core_pool_get(m.pool, sizeof *memo);
    if (memo == NULL)
        return NULL;
    memcpy(memo->state, state, sizeof memo->state);
    memo->bundle = state[0].bundle;
    memo->address = memo->bundle->address;
    memo->flights = c->flights[state[0].berth];
    memo->next_address = memo->bundle->next;
    memo->sets_loop = memo->bundle->sets_loop;
    memo->far = memo->bundle->far;
    memo->n_questions = c->n_questions;
    memo->questions = keep(&m, c->questions, c->n_questions * sizeof *c->questions);
    make_acts(&m, memo);
    return m.failed ? NULL : memo;
}

void tw_core_memo_keep(struct tw_core *c, struct tw_core_memo *memo)
{
    unsigned slot = slot_of(memo->state);

    memo->life = c->life;
    memo->chain = c->memos[slot];
    c->memos[slot] = memo;
}
