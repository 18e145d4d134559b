/*
 * List scheduling of straight code. What the loop before leaves to be finished, and what the loop behind begins early,
 * stand at fixed distances from those loops; the straight operations fill the gaps. The loop behind begins as early as
 * all of it can be kept: its place is tried cycle by cycle.
 */
#include "isa/sched/region.h"

#include <inttypes.h>
#include <string.h>

enum { OPEN = 1 << 24, SETUP_BUNDLES = TW_LOOP_SETUP_BYTES / TW_BUNDLE_MAX };

/* Nodes: the body of the loop before, the straight operations, the body of the loop behind. */
struct work {
    struct tw_sched_program *p;
    struct tw_sched_region *region;
    struct tw_sched_modulo *before, *behind;
    uint32_t n_before, n_behind;
    uint32_t *nodes, n_nodes;
    struct tw_sched_edges edges;
    struct tw_sched_need (*needs)[SCHED_ALT]; /* of the straight operations */
    struct tw_sched_table table;
    int32_t branch; /* the straight operation that ends the run, or -1 */
    int in_order;
    uint32_t run, *runs; /* the run that it belongs to, and room for those that may follow */
    int32_t *early, *late, *height;
    uint8_t *placed;
    uint32_t n_first; /* all before this one are placed */
};

static int32_t max(int32_t a, int32_t b)
{
    return a > b ? a : b;
}

int32_t tw_sched_flight(const struct tw_sched_op *op)
{
    int32_t flight = max(op->mem_last, 1);

    for (unsigned k = 0; k < op->n_refs; k++)
        flight = max(flight, op->refs[k].cycle);
    for (unsigned a = 0; a < op->n_alt; a++) {
        const struct tw_schedule_class *c = tw_operation_schedule(&op->alt[a]);
        for (unsigned i = 0; i < c->n_resources; i++)
            flight = max(flight, c->resources[i].last);
    }
    return flight;
}

static struct tw_sched_modulo *loop_at(const struct tw_sched_program *p, uint32_t piece)
{
    return p->pieces[piece].loop < 0 ? NULL : p->loops[p->pieces[piece].loop].modulo;
}

struct tw_sched_modulo *tw_sched_loop_before(const struct tw_sched_program *p, uint32_t piece)
{
    return piece > p->runs[p->pieces[piece].run].first ? loop_at(p, piece - 1) : NULL;
}

struct tw_sched_modulo *tw_sched_loop_behind(const struct tw_sched_program *p, uint32_t piece)
{
    const struct tw_sched_run *run = &p->runs[p->pieces[piece].run];
    return piece + 1 < run->first + run->count ? loop_at(p, piece + 1) : NULL;
}

static const struct tw_sched_op *op_of(const struct work *w, uint32_t i)
{
    return &w->p->ops[w->region->ops[i]];
}

/* ---- preparing */

/* The set-up of a loop whose iterations are all laid out is not needed. */
static int is_needed(const struct work *w, uint32_t op)
{
    return !w->p->ops[op].added || w->behind == NULL || w->behind->passes != 0;
}

static int list_nodes(struct work *w, const struct tw_sched_piece *piece)
{
    struct tw_arena *arena = &w->p->arena;

    w->n_before = w->before == NULL ? 0 : w->before->n;
    w->n_behind = w->behind == NULL ? 0 : w->behind->n;
    w->nodes = tw_arena_alloc(arena, (size_t)w->n_before + piece->count + w->n_behind + 1, sizeof *w->nodes);
    w->region->ops = tw_arena_alloc(arena, piece->count + 1, sizeof *w->region->ops);
    if (w->nodes == NULL || w->region->ops == NULL)
        return tw_sched_no_memory(w->p);
    for (uint32_t i = 0; i < w->n_before; i++)
        w->nodes[w->n_nodes++] = w->before->ops[i];
    for (uint32_t i = piece->first; i < piece->first + piece->count; i++)
        if (is_needed(w, i))
            w->nodes[w->n_nodes++] = w->region->ops[w->region->n++] = i;
    for (uint32_t i = 0; i < w->n_behind; i++)
        w->nodes[w->n_nodes++] = w->behind->ops[i];
    return 0;
}

static int prepare(struct work *w)
{
    struct tw_arena *arena = &w->p->arena;
    struct tw_sched_region *r = w->region;
    size_t n = r->n + 1u;

    r->time = tw_arena_alloc(arena, n, sizeof *r->time);
    r->alt = tw_arena_alloc(arena, n, 1);
    w->early = tw_arena_alloc(arena, n, sizeof *w->early);
    w->late = tw_arena_alloc(arena, n, sizeof *w->late);
    w->height = tw_arena_alloc(arena, n, sizeof *w->height);
    w->placed = tw_arena_alloc(arena, n, 1);
    w->runs = tw_arena_alloc(arena, w->p->n_runs + 1, sizeof *w->runs);
    w->needs = tw_arena_alloc(arena, n, sizeof *w->needs);
    if (r->time == NULL || r->alt == NULL || w->early == NULL || w->late == NULL || w->height == NULL ||
        w->placed == NULL || w->needs == NULL || w->runs == NULL)
        return tw_sched_no_memory(w->p);
    for (uint32_t i = 0; i < r->n; i++)
        for (unsigned a = 0; a < op_of(w, i)->n_alt; a++)
            tw_sched_need_of(op_of(w, i), a, &w->needs[i][a]);
    w->branch = -1;
    if (r->n > 0 && (op_of(w, r->n - 1)->flags & TW_FLAG_BRANCH) != 0)
        w->branch = (int32_t)r->n - 1;
    return tw_sched_depend(w->p, w->nodes, w->n_nodes, -1, &w->edges);
}

/* ---- the loops around */

/* Calls visit for all operations of the loop before that issue from `from` on. */
static void each_before(const struct work *w, int32_t from,
                        void (*visit)(void *, uint32_t op, unsigned alt, int32_t time, uint32_t copy), void *arg)
{
    const struct tw_sched_modulo *m = w->before;

    for (uint32_t i = 0; i < w->n_before; i++)
        for (int32_t d = 0, t; (t = tw_sched_after(m, (int32_t)i, d)) >= from; d++)
            visit(arg, i, m->alt[i], t, 0);
}

static void enter_before(void *arg, uint32_t op, unsigned alt, int32_t time, uint32_t copy)
{
    struct work *w = arg;

    (void)copy;
    tw_sched_table_enter(&w->table, &w->before->needs[op][alt], time);
}

/* Cycles from an operation's issue until what comes then may issue; behind the section that may be done. */
static int32_t rest(const struct tw_sched_op *op, int border)
{
    int32_t flight = tw_sched_flight(op);
    return border && op->mem_first != 0 ? max(flight, TW_DONE_DISTANCE) : flight;
}

/* The cycle after which nothing of the loop before is in flight. */
static int32_t end_of_before(const struct work *w, int border)
{
    int32_t end = 0;

    for (uint32_t i = 0; i < w->n_before; i++)
        end = max(end, tw_sched_after(w->before, (int32_t)i, 0) + rest(&w->p->ops[w->before->ops[i]], border));
    return end;
}

/* Enters what of the loop behind may meet operations in front of it. Returns whether it fits. */
static int enter_behind(struct work *w, int32_t tail)
{
    const struct tw_sched_modulo *m = w->behind;

    for (uint32_t i = 0; i < w->n_behind; i++)
        for (int32_t t = m->time[i]; t < (int32_t)m->start + SCHED_FLIGHT; t += (int32_t)m->interval) {
            const struct tw_sched_need *need = &m->needs[i][m->alt[i]];
            if (!tw_sched_table_fits(&w->table, need, tail + t))
                return 0;
            tw_sched_table_enter(&w->table, need, tail + t);
        }
    return 1;
}

/* ---- windows */

/* The issue time of a node outside the straight code, in cycles of the region; *moves: relative to the tail. */
static int32_t fixed_time(const struct work *w, int32_t node, int *moves)
{
    uint32_t i = (uint32_t)node;

    *moves = i >= w->n_before;
    if (i < w->n_before)
        return tw_sched_after(w->before, node, 0);
    return w->behind->time[i - w->n_before - w->region->n];
}

static int32_t straight(const struct work *w, int32_t node)
{
    int32_t i = node - (int32_t)w->n_before;
    return i >= 0 && i < (int32_t)w->region->n ? i : -1;
}

/* The earliest tail that dependences between the two loops allow. */
static int32_t least_tail(const struct work *w)
{
    int32_t tail = 0;

    for (uint32_t e = 0; w->behind != NULL && e < w->edges.n; e++) {
        const struct tw_sched_edge *edge = &w->edges.list[e];
        int from_moves, to_moves;
        if (straight(w, edge->from) >= 0 || straight(w, edge->to) >= 0)
            continue;
        int32_t from = fixed_time(w, edge->from, &from_moves), to = fixed_time(w, edge->to, &to_moves);
        if (!from_moves && to_moves)
            tail = max(tail, from + edge->distance - to);
    }
    return tail;
}

/*
 * Cycles of a loop's own code. What is in flight when it begins must land before it can be over: after one pass, for
 * all that can be told from the code alone.
 */
static int32_t one_pass(const struct tw_sched_modulo *m)
{
    return m->passes == 0 ? 0 : (int32_t)(m->copies * m->interval);
}

/* The last cycle in which a straight operation may issue, for what it is and by the loop behind. */
static int32_t last_cycle(const struct work *w, uint32_t i, int32_t tail)
{
    const struct tw_sched_modulo *m = w->behind;

    if (m == NULL)
        return OPEN;
    int32_t start = tail + (int32_t)m->start, last = start - 1;
    int32_t done = start + one_pass(m) - tw_sched_flight(op_of(w, i));
    if (done < last)
        last = done;
    if (tw_writes_loop_register(&op_of(w, i)->alt[0])) {
        int32_t setup = start + (int32_t)(m->copies * m->interval) - 1 - SETUP_BUNDLES - 1;
        last = setup < last ? setup : last;
    }
    return last;
}

/* Windows that the loops and the other operations leave; returns the operation whose window is empty, or -1. */
static int32_t set_windows(struct work *w, int32_t tail)
{
    for (uint32_t i = 0; i < w->region->n; i++) {
        w->early[i] = 0;
        w->late[i] = last_cycle(w, i, tail);
    }
    for (uint32_t e = 0; e < w->edges.n; e++) { /* edges lead forward in the text: one walk each way is enough */
        const struct tw_sched_edge *edge = &w->edges.list[e];
        int32_t from = straight(w, edge->from), to = straight(w, edge->to);
        int moves;
        if (to >= 0 && from < 0)
            w->early[to] = max(w->early[to], fixed_time(w, edge->from, &moves) + edge->distance);
        else if (to >= 0)
            w->early[to] = max(w->early[to], w->early[from] + edge->distance);
    }
    for (uint32_t e = w->edges.n; e > 0; e--) {
        const struct tw_sched_edge *edge = &w->edges.list[e - 1];
        int32_t from = straight(w, edge->from), to = straight(w, edge->to);
        int moves;
        if (from < 0)
            continue;
        int32_t bound =
            to >= 0 ? w->late[to] - edge->distance : tail + fixed_time(w, edge->to, &moves) - edge->distance;
        if (bound < w->late[from])
            w->late[from] = bound;
    }
    for (uint32_t i = 0; i < w->region->n; i++)
        if (w->early[i] > w->late[i])
            return (int32_t)i;
    return -1;
}

/* ---- placing */

/* Windows and the table with the loops alone in it, for one place of the loop behind. Returns whether that is possible.
 */
static int clear_table(struct work *w, int32_t tail)
{
    if (set_windows(w, tail) >= 0)
        return 0;
    tw_sched_table_clear(&w->table);
    each_before(w, -SCHED_FLIGHT, enter_before, w);
    return w->behind == NULL || enter_behind(w, tail);
}

static int is_ready(const struct work *w, uint32_t i, const uint32_t *waiting)
{
    return !w->placed[i] && waiting[i] == 0 && (int32_t)i != w->branch && (!w->in_order || i == w->n_first);
}

static void enter(struct work *w, uint32_t i, int32_t t, unsigned alt, uint32_t *waiting)
{
    w->region->time[i] = t;
    w->region->alt[i] = (uint8_t)alt;
    w->placed[i] = 1;
    while (w->placed[w->n_first])
        w->n_first++;
    tw_sched_table_enter(&w->table, &w->needs[i][alt], t);
    for (uint32_t e = 0; e < w->edges.n; e++) {
        const struct tw_sched_edge *edge = &w->edges.list[e];
        int32_t to = straight(w, edge->to);
        if (straight(w, edge->from) != (int32_t)i || to < 0)
            continue;
        waiting[to]--;
        w->early[to] = max(w->early[to], t + edge->distance);
    }
}

static int fits(const struct work *w, uint32_t i, int32_t t)
{
    for (unsigned a = 0; a < op_of(w, i)->n_alt; a++)
        if (tw_sched_table_fits(&w->table, &w->needs[i][a], t))
            return (int)a;
    return -1;
}

/* The ready operation that is most pressed for time and fits into a cycle, or -1. */
static int32_t most_pressed(const struct work *w, int32_t t, const uint32_t *waiting, int *alt)
{
    int32_t best = -1;

    for (uint32_t i = 0; i < w->region->n; i++) {
        if (!is_ready(w, i, waiting) || w->early[i] > t)
            continue;
        if (best >= 0 &&
            (w->late[i] > w->late[best] || (w->late[i] == w->late[best] && w->height[i] <= w->height[best])))
            continue;
        int a = fits(w, i, t);
        if (a >= 0) {
            best = (int32_t)i;
            *alt = a;
        }
    }
    return best;
}

/* Places all straight operations but the branch; returns whether all windows were met. */
static int place_all(struct work *w, uint32_t *waiting)
{
    uint32_t left = w->region->n - (w->branch >= 0);

    memset(w->placed, 0, w->region->n + 1u);
    w->n_first = 0;
    memset(waiting, 0, (w->region->n + 1u) * sizeof *waiting);
    for (uint32_t e = 0; e < w->edges.n; e++)
        if (straight(w, w->edges.list[e].from) >= 0 && straight(w, w->edges.list[e].to) >= 0)
            waiting[straight(w, w->edges.list[e].to)]++;
    for (int32_t t = 0; left > 0; t++) {
        int32_t i;
        int alt = 0;
        if (t >= (int32_t)w->table.cycles)
            return 0;
        while (left > 0 && (i = most_pressed(w, t, waiting, &alt)) >= 0) {
            enter(w, (uint32_t)i, t, (unsigned)alt, waiting);
            left--;
        }
        for (uint32_t k = 0; left > 0 && k < w->region->n; k++)
            if (!w->placed[k] && (int32_t)k != w->branch && w->late[k] <= t)
                return 0;
    }
    return 1;
}

/* Longest ways to the end of the straight code: what presses when no loop follows. */
static void set_heights(struct work *w)
{
    for (uint32_t i = 0; i < w->region->n; i++)
        w->height[i] = tw_sched_flight(op_of(w, i));
    for (uint32_t e = w->edges.n; e > 0; e--) {
        const struct tw_sched_edge *edge = &w->edges.list[e - 1];
        int32_t from = straight(w, edge->from), to = straight(w, edge->to);
        if (from >= 0 && to >= 0)
            w->height[from] = max(w->height[from], edge->distance + w->height[to]);
    }
}

/* ---- ends of runs */

static int32_t end_of_straight(const struct work *w, int border)
{
    int32_t end = 0;

    for (uint32_t i = 0; i < w->region->n; i++)
        if ((int32_t)i != w->branch)
            end = max(end, w->region->time[i] + rest(op_of(w, i), border));
    return end;
}

/* The earliest cycle in which the branch may issue, so that all is done when its delay slots end. */
static int32_t least_branch(const struct work *w, int border)
{
    int32_t b = w->branch, end = max(end_of_before(w, border), end_of_straight(w, border));
    int32_t t = max(end - TW_DELAY_SLOTS - 1, w->early[b]);

    for (uint32_t i = 0; i < w->region->n; i++)
        if ((op_of(w, i)->flags & TW_FLAG_LOCK) != 0 && (int32_t)i != b) /* not in delay slots */
            t = max(t, w->region->time[i] + 1);
    return t;
}

/*
 * Tries one cycle for the branch, with all others placed around it. Returns the earliest cycle that they leave it, or
 * -1 when they do not fit.
 */
static int32_t place_around_branch(struct work *w, int32_t t, int border, uint32_t *waiting)
{
    uint32_t b = (uint32_t)w->branch;

    if (!clear_table(w, w->region->tail))
        return -1;
    int alt = fits(w, b, t);
    if (alt < 0)
        return -1;
    w->region->time[b] = t;
    w->region->alt[b] = (uint8_t)alt;
    tw_sched_table_enter(&w->table, &w->needs[b][alt], t);
    return place_all(w, waiting) ? least_branch(w, border) : -1;
}

/* Places the branch: behind what already holds its slot, unless the others do as well elsewhere. */
static void place_branch(struct work *w, int border, uint32_t *waiting)
{
    struct tw_sched_region *r = w->region;
    uint32_t b = (uint32_t)w->branch;
    int32_t least = least_branch(w, border), t = least;
    int alt;

    while ((alt = fits(w, b, t)) < 0)
        t++;
    for (int32_t at = least, needed; at < t; at = max(at + 1, needed)) {
        needed = place_around_branch(w, at, border, waiting);
        if (needed >= 0 && needed <= at) {
            r->length = at + 1 + TW_DELAY_SLOTS;
            return;
        }
    }
    if (least < t) /* as it was */
        (void)(clear_table(w, r->tail) && place_all(w, waiting));
    r->time[b] = t;
    r->alt[b] = (uint8_t)alt;
    r->length = t + 1 + TW_DELAY_SLOTS;
}

/* Whether the section may be over behind this code. */
static int leaves_section(const struct work *w)
{
    uint32_t run = w->run, n = tw_sched_successors(w->p, run, w->runs);

    for (uint32_t i = 0; i < n; i++)
        if (w->runs[i] == w->p->n_runs)
            return 1;
    return 0;
}

static void finish(struct work *w, uint32_t *waiting)
{
    struct tw_sched_region *r = w->region;
    int border = leaves_section(w);

    if (w->behind != NULL) {
        r->length = r->tail + (int32_t)w->behind->start;
        return;
    }
    r->length = max(end_of_before(w, border), end_of_straight(w, border));
    if (w->branch >= 0)
        place_branch(w, border, waiting);
}

/* Whether the loop before has issued all before the loop behind begins its own code, and is done before that is over.
 */
static int before_is_done(const struct work *w, int32_t tail)
{
    int32_t start = tail + (int32_t)w->behind->start;

    for (uint32_t i = 0; i < w->n_before; i++)
        if (tw_sched_after(w->before, (int32_t)i, 0) >= start)
            return 0;
    return end_of_before(w, 0) <= start + one_pass(w->behind);
}

/* Tries one place for the loop behind. */
static int try_tail(struct work *w, int32_t tail, uint32_t *waiting)
{
    return (w->behind == NULL || before_is_done(w, tail)) && clear_table(w, tail) && place_all(w, waiting);
}

static int schedule(struct work *w)
{
    struct tw_sched_region *r = w->region;
    uint32_t *waiting = tw_arena_alloc(&w->p->arena, r->n + 1u, sizeof *waiting);
    int32_t first = w->behind == NULL ? 0 : least_tail(w);
    int32_t most = first + end_of_before(w, 0) + SCHED_FLIGHT * ((int32_t)r->n + 2) + SETUP_BUNDLES;
    int32_t cycles = most + (w->behind == NULL ? 0 : (int32_t)w->behind->start) + 4 * SCHED_FLIGHT;

    if (waiting == NULL)
        return tw_sched_no_memory(w->p);
    int code = tw_sched_table_make(w->p, (uint32_t)cycles, 0, &w->table);
    if (code < 0)
        return code;
    set_heights(w);
    for (r->tail = first; r->tail <= most; r->tail++)
        if (try_tail(w, r->tail, waiting)) {
            finish(w, waiting);
            return 0;
        }
    uint32_t first_op = r->n > 0 ? r->ops[0] : w->n_nodes > 0 ? w->nodes[0] : 0;
    return tw_sched_fail(w->p, tw_sched_place_of(&w->p->ops[first_op]), TW_E_STATE,
                         "no schedule found for straight code of %" PRIu32 " operations: a fault of the scheduler",
                         r->n);
}

int tw_sched_region(struct tw_sched_program *p, uint32_t piece, int in_order, struct tw_sched_region *region)
{
    struct work w;

    memset(&w, 0, sizeof w);
    memset(region, 0, sizeof *region);
    w.p = p;
    w.region = region;
    w.in_order = in_order;
    w.run = (uint32_t)p->pieces[piece].run;
    w.before = tw_sched_loop_before(p, piece);
    w.behind = tw_sched_loop_behind(p, piece);
    int code = list_nodes(&w, &p->pieces[piece]);
    if (code == 0)
        code = prepare(&w);
    return code < 0 ? code : schedule(&w);
}
