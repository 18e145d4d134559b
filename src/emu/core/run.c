/* Tick after tick. */
#include "base/prefetch.h"
#include "emu/core/state.h"

/* ---- lists */

static void run_steps(struct tw_core *c, const struct tw_core_tick *t, enum tw_core_list list)
{
    for (unsigned i = 0; i < t->n[list]; i++) {
        const struct tw_core_event *e = &t->list[list][i];
        const struct tw_core_steps *s = e->items;
        for (unsigned k = 0; k < s->n; k++)
            s->step[k].run(c, &s->step[k], tw_core_flight_of(e->flights, s->step[k].op));
    }
}

static void land_word(struct tw_core *c, const struct tw_core_landing *l, const uint8_t *from)
{
    uint32_t value, old;

    memcpy(&value, from, sizeof value);
    memcpy(&old, c->file + l->to, sizeof old);
    value &= l->mask;
    value |= l->kind == CORE_LAND_STICKY ? old : 0;
    memcpy(c->file + l->to, &value, sizeof value);
}

static void land_all(struct tw_core *c, const struct tw_core_tick *t)
{
    for (unsigned i = 0; i < t->n[CORE_LANDINGS]; i++) {
        const struct tw_core_event *e = &t->list[CORE_LANDINGS][i];
        const struct tw_core_landings *landings = e->items;
        for (unsigned k = 0; k < landings->n; k++) {
            const struct tw_core_landing *l = &landings->landing[k];
            if (l->kind == CORE_LAND_BYTES)
                tw_core_copy(c->file + l->to, e->flights + l->from, l->bytes);
            else
                land_word(c, l, e->flights + l->from);
        }
    }
}

void tw_core_push(struct tw_core *c, const struct tw_core_bundle *b, uint8_t *flights, unsigned age)
{
    for (unsigned i = 0; i < b->n_marks; i++) {
        const struct tw_core_mark *m = &b->marks[i];
        if (m->delay < age)
            continue;
        struct tw_core_tick *t = &c->ticks[(c->tick + m->delay - age) % CORE_RING];
        t->list[m->list][t->n[m->list]++] = (struct tw_core_event){m->items, flights};
    }
}

/* ---- a tick */

static void issue(struct tw_core *c)
{
    /* Even and inside, in one test. */
    struct tw_core_bundle *b = (c->pc & ~(uint32_t)(TW_PROGRAM_BYTES - 2)) == 0 ? c->at[c->pc / 2] : NULL;

    if (b == NULL && (b = tw_core_fetch(c)) == NULL)
        return;
    if (c->strict && tw_core_check(c, b) != 0)
        return;
    unsigned berth = tw_core_choose_berth(c, b);
    uint8_t *flights = c->flights[berth];
    for (unsigned i = 0; i < b->n_ops; i++)
        b->ops[i]->issue(c, b->ops[i], tw_core_flight_of(flights, b->ops[i]));
    if (c->failed)
        return;
    tw_core_push(c, b, flights, 0);
    c->far |= b->far;
    c->issued[c->tick % CORE_RING] = (struct tw_core_issued){b, berth};
    c->n_issued += c->n_issued < CORE_IN_FLIGHT_MAX;
    b->heat += b->heat < CORE_HOT;
    c->counts.bundles++;
    tw_core_go_on(c, b, flights);
}

/* Accesses of one tick to one bank take turns. */
static void wait_for_banks(struct tw_core *c)
{
    unsigned stalls = c->banks_thrice != 0 ? 2 : c->banks_twice != 0;

    c->counts.bank_stalls += stalls;
    c->clock += stalls;
    c->banks = c->banks_twice = c->banks_thrice = 0;
}

static void collect_questions(struct tw_core *c, const struct tw_core_tick *t)
{
    c->n_questions = 0;
    for (unsigned i = 0; i < t->n[CORE_REQUESTS]; i++) {
        const struct tw_core_event *e = &t->list[CORE_REQUESTS][i];
        const struct tw_core_steps *s = e->items;
        for (unsigned k = 0; k < s->n && c->n_questions < CORE_QUESTIONS_MAX; k++)
            c->questions[c->n_questions++] =
                (struct tw_core_question){s->step[k].op, tw_core_flight_of(e->flights, s->step[k].op)};
    }
}

/* Puts the tick's questions. Returns 1 when a request comes up; it is then known to c->request. */
static int ask(struct tw_core *c)
{
    while (c->asked < c->n_questions && !c->failed) {
        const struct tw_core_question *q = &c->questions[c->asked++];
        if (tw_core_ask(c, q->op, q->flight)) {
            c->state = TW_CORE_REQUEST;
            return 1;
        }
    }
    return 0;
}

static int is_empty(const struct tw_core *c)
{
    for (unsigned i = 0; i < CORE_RING; i++)
        for (unsigned list = 0; list < CORE_LISTS; list++)
            if (c->ticks[i].n[list] != 0)
                return 0;
    return 1;
}

/* After done: what is under way comes to its end. */
static void end(struct tw_core *c)
{
    if (c->ending > 0 && (--c->ending == 0 || (c->ending <= CORE_LATEST - TW_DONE_DISTANCE && is_empty(c))))
        c->state = TW_CORE_DONE;
}

/* The tick has an access to come outside the own memory. */
static void note_far(struct tw_core *c)
{
    c->far_tick = c->tick;
    c->far = 0;
    c->halts = c->stays_near;
}

static inline void next_tick(struct tw_core *c)
{
    if (c->banks != 0 && c->bank_notes != NULL)
        c->bank_notes[c->clock % TW_BANK_CYCLES] = (struct tw_bank_note){c->banks, (uint32_t)c->clock};
    c->asked = 0;
    if (c->far >> CORE_WINDOW_SHIFT != 0)
        note_far(c);
    c->tick++;
    c->clock++;
    if (c->banks_twice != 0)
        wait_for_banks(c);
    c->banks = 0;
}

/* The questions of the tick are answered; what it does otherwise, by lists. */
static void run_rest(struct tw_core *c, struct tw_core_tick *t)
{
    run_steps(c, t, CORE_WORK);
    run_steps(c, t, CORE_STORES);
    if (!c->failed && c->ending == 0)
        issue(c);
    land_all(c, t);
    memset(t->n, 0, sizeof(uint64_t));
    next_tick(c);
    if (c->strict)
        tw_core_next_tick(c);
    if (c->failed)
        c->state = TW_CORE_FAILED;
    else if (c->ending > 0)
        end(c);
}

static void run_tick(struct tw_core *c)
{
    struct tw_core_tick *t = &c->ticks[c->tick % CORE_RING];

    if (c->asked == 0) {
        if (c->ending == 0 && tw_core_memo_enter(c))
            return;
        collect_questions(c, t);
    }
    if (ask(c))
        return;
    struct tw_core_memo *memo = c->ending == 0 ? tw_core_memo_make(c, t) : NULL;
    run_rest(c, t);
    if (memo != NULL && !c->failed)
        tw_core_memo_keep(c, memo);
}

/* ---- ticks with memos */

static inline const struct tw_core_act *act(struct tw_core *c, const struct tw_core_act *a, unsigned n)
{
    const struct tw_core_act *end = a + n;

    while (a < end)
        a = a->run(c, a);
    return end;
}

static inline void go_on(struct tw_core *c, const struct tw_core_memo *memo)
{
    if (memo->address == *c->loop_end || c->delay_slots != 0 || memo->sets_loop)
        tw_core_go_on(c, memo->bundle, memo->flights);
    else
        c->pc = memo->next_address;
}

static inline void run_acts(struct tw_core *c, const struct tw_core_memo *memo)
{
    const struct tw_core_act *a = act(c, memo->acts, memo->n_late), *land = a + memo->n_issue;
    unsigned n_land = memo->n_land;

    if (!c->failed)
        act(c, a, memo->n_issue);
    if (!c->failed) {
        n_land += memo->n_own;
        c->counts.bundles++;
        c->far |= memo->far;
        go_on(c, memo);
    }
    act(c, land, n_land);
    next_tick(c);
}

/* Returns 1 when a request comes up. */
static int ask_by_memo(struct tw_core *c, const struct tw_core_memo *memo)
{
    if (c->asked == 0) {
        memcpy(c->questions, memo->questions, memo->n_questions * sizeof *c->questions);
        c->n_questions = (uint8_t)memo->n_questions;
    }
    return ask(c);
}

/* A loop's memos are more than the cache's first level holds: those of the next tick are fetched in time. Its calls lie
 * before its acts, and the memo itself was asked for a tick ago. */
static inline void fetch_next(const struct tw_core_memo *memo)
{
    enum { LINE = 64, BEFORE = 4, LINES = 9 };
    const struct tw_core_memo *next = memo->next[0];

    if (next == NULL)
        return;
    tw_prefetch(next->next[0]);
    for (unsigned i = 0; i < LINES; i++)
        tw_prefetch((const void *)((uintptr_t)next->acts + i * LINE - BEFORE * LINE));
}

static void run_memos(struct tw_core *c, uint64_t until)
{
    struct tw_core_memo *memo = c->memo;

    while (c->clock < until && !c->halts) {
        if (memo->n_questions != 0 && ask_by_memo(c, memo))
            break;
        fetch_next(memo);
        run_acts(c, memo);
        struct tw_core_memo *next = memo->next[0];
        if (c->failed) {
            c->state = TW_CORE_FAILED;
            memo = NULL;
            break;
        }
        if (next == NULL || next->address != c->pc || next->life != c->life)
            next = tw_core_memo_next(c, memo);
        memo = next;
        if (memo == NULL)
            break;
    }
    c->memo = memo;
}

enum tw_core_state tw_core_run(struct tw_core *c, uint64_t until, struct tw_error *err)
{
    while (c->state == TW_CORE_RUNNING && c->clock < until && !c->halts) {
        if (c->memo != NULL)
            run_memos(c, until);
        else
            run_tick(c);
    }
    if (c->state == TW_CORE_FAILED && err != NULL)
        *err = c->error;
    return c->state;
}

enum tw_core_state tw_core_run_near(struct tw_core *c, uint64_t until, struct tw_error *err)
{
    if (c->tick - c->far_tick < CORE_LATEST)
        return c->state; /* the access may still be to come */
    c->stays_near = 1;
    enum tw_core_state state = tw_core_run(c, until, err);
    c->stays_near = c->halts = 0;
    return state;
}

void tw_core_answer(struct tw_core *c, const struct tw_core_answer *answer)
{
    if (c->state != TW_CORE_REQUEST)
        return;
    if (answer->cycle > c->clock) {
        c->counts.request_stalls += answer->cycle - c->clock;
        c->clock = answer->cycle;
    }
    const struct tw_core_question *q = &c->questions[c->asked - 1];
    tw_core_take_answer(q->op, q->flight, answer);
    c->state = TW_CORE_RUNNING;
}
