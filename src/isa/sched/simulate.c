/*
 * Two machines. One executes the text: each write of a symbolic register leaves a token that says which write of which
 * execution of which operation it was, each read notes the token that it finds. The other executes the bundles on real
 * registers: writes land and reads happen in their cycles. Executions of an operation are numbered in the order in
 * which they issue; each must read the tokens that the first machine noted.
 */
#include "isa/sched/simulate.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum {
    LIMIT = 60000, /* operations of the text that one trial executes */
    WAYS = 3,      /* trials */
    PASSES = 3,    /* through a loop's code in a trial */
    RING = 2 * SCHED_FLIGHT,
    WAITING = 8 * SCHED_FLIGHT * SCHED_REFS
};

typedef uint64_t token; /* 0: nothing was written there */

/* An execution of an operation that must keep its order, in the order of the text. */
struct ordered {
    uint32_t op, number;
    int64_t iteration; /* of all executions of its loop's body; -1: outside */
};

/* A write on its way. */
struct landing {
    token value;
    int64_t cycle; /* in which it is written */
    uint8_t bypass;
};

/* The last writes of a real register's leaf, by landing; those that lie before the others are forgotten. */
struct cell {
    struct landing list[RING];
    unsigned n;
};

/* A read that is still to come. */
struct pending {
    int64_t cycle;
    token expected;
    uint32_t op;
    uint16_t leaf;
    uint8_t bypass;
};

struct simulation {
    struct tw_sched_program *p;
    const struct tw_sched_rows *rows;
    const struct tw_sched_code *code;
    unsigned way;
    int64_t *trips;    /* of each loop, in this trial */
    int64_t *fewer;    /* passes less than the code says */
    uint32_t *scratch; /* for successors */

    /* The text. */
    token *vars; /* of each leaf */
    token real[TW_R_COUNT];
    uint32_t *executed; /* times, of each operation */
    uint32_t *first;    /* its first execution among all */
    uint32_t *n_tokens; /* that it reads */
    size_t *first_token;
    token *tokens;
    int counting; /* the first walk only counts */
    struct ordered *ordered;
    uint32_t n_ordered;
    int64_t *iteration; /* of each loop: bodies executed */
    uint32_t n_steps, n_runs;
    uint32_t *order; /* the runs, as they follow each other */
    int32_t *target; /* of each symbolic register that holds a label's address: the run, or -1 */

    /* The bundles. */
    struct cell *cells;
    struct pending *pending;
    uint32_t n_pending;
    int64_t cycle;
    uint64_t held[RING], avoided[RING];
    uint32_t *issued; /* executions so far, of each operation */
    int64_t *issue;   /* the cycle of each execution */
    int64_t lc, added, shift;
    int64_t ls, le;
};

static token token_of(uint32_t op, uint32_t number, unsigned ref, unsigned leaf)
{
    return ((token)(op + 1) << 40) | ((token)number << 16) | (token)ref << 8 | leaf;
}

static token entry_token(unsigned real, unsigned leaf)
{
    return ((token)1 << 63) | (token)real << 8 | leaf;
}

static int fail(const struct simulation *s, uint32_t op, const char *what)
{
    return tw_sched_fail(s->p, tw_sched_place_of(&s->p->ops[op]), TW_E_STATE,
                         "the schedule is wrong: %s (cycle %" PRId64 "); this is a fault of the scheduler", what,
                         s->cycle);
}

/* ---- the text */

static token *text_leaf(struct simulation *s, const struct tw_sched_ref *ref, unsigned i)
{
    if (ref->var < 0)
        return &s->real[tw_registers[ref->reg].leaves[ref->first + i]];
    return &s->vars[s->p->vars[ref->var].leaf + ref->first + i];
}

static int keeps_order(const struct tw_sched_op *op)
{
    return op->mem_first != 0 || (op->flags & (TW_FLAG_LOCK | TW_FLAG_STREAM | TW_FLAG_SIDE_EFFECT)) != 0;
}

static void text_step(struct simulation *s, uint32_t i)
{
    const struct tw_sched_op *op = &s->p->ops[i];
    uint32_t number = s->executed[i]++, k_token = 0;
    int32_t loop = s->p->pieces[op->piece].loop;

    s->n_steps++;
    for (unsigned k = 0; k < op->n_refs && !s->counting; k++)
        for (unsigned l = 0; !op->refs[k].writes && l < op->refs[k].count; l++)
            s->tokens[s->first_token[i] + (size_t)number * s->n_tokens[i] + k_token++] = *text_leaf(s, &op->refs[k], l);
    for (unsigned k = 0; k < op->n_refs; k++)
        for (unsigned l = 0; op->refs[k].writes && l < op->refs[k].count; l++)
            *text_leaf(s, &op->refs[k], l) = token_of(i, number, k, l);
    if (op->label >= 0 && op->immediate >= 0 && op->n_refs > 0 && op->refs[0].var >= 0)
        s->target[op->refs[0].var] = s->p->labels[op->label].run;
    if (!keeps_order(op))
        return;
    if (!s->counting)
        s->ordered[s->n_ordered] = (struct ordered){i, number, loop < 0 ? -1 : s->iteration[loop]};
    s->n_ordered++;
}

/* Whether a trial takes a conditional branch: the first trial never, the second once, the third twice. */
static int takes(const struct simulation *s, uint32_t number)
{
    return number < s->way;
}

/* The run that follows one in the text. */
static uint32_t following(const struct simulation *s, uint32_t run)
{
    const struct tw_sched_program *p = s->p;
    int32_t b = p->runs[run].branch;

    if (b < 0)
        return run + 1;
    const struct tw_sched_op *op = &p->ops[b];
    unsigned in = op->alt[0].instruction;
    int conditional = in == TW_I_JZ || in == TW_I_JNZ || in == TW_I_JNZD;
    if (conditional && !takes(s, s->executed[b] - 1))
        return run + 1;
    if (op->label >= 0)
        return (uint32_t)p->labels[op->label].run;
    for (unsigned k = 0; k < op->n_refs; k++)
        if (op->refs[k].var >= 0 && strcmp(tw_sched_kinds[p->vars[op->refs[k].var].kind].name, "p") == 0 &&
            s->target[op->refs[k].var] >= 0)
            return (uint32_t)s->target[op->refs[k].var];
    return p->n_runs;
}

static void text_piece(struct simulation *s, const struct tw_sched_piece *q)
{
    int64_t trips = q->loop < 0 ? 1 : s->trips[q->loop];

    for (int64_t t = 0; t < trips; t++) {
        for (uint32_t i = q->first; i < q->first + q->count; i++)
            text_step(s, i);
        if (q->loop >= 0)
            s->iteration[q->loop]++;
    }
}

static void begin(struct simulation *s)
{
    struct tw_sched_program *p = s->p;

    memset(s->executed, 0, (p->n_ops + 1) * sizeof *s->executed);
    memset(s->iteration, 0, (p->n_loops + 1) * sizeof *s->iteration);
    memset(s->target, 0xff, (p->n_vars + 1) * sizeof *s->target);
    for (uint32_t i = 0; i < TW_R_COUNT; i++)
        s->real[i] = entry_token(i, 0);
    for (uint32_t v = 0; v < p->n_vars; v++)
        for (unsigned l = 0; l < tw_sched_kinds[p->vars[v].kind].n_leaves; l++)
            s->vars[p->vars[v].leaf + l] =
                p->vars[v].in < 0 ? 0 : entry_token(tw_registers[p->vars[v].in].leaves[l], 0);
    s->n_steps = s->n_runs = s->n_ordered = 0;
}

/* Executes the text; run for run, until it ends or has gone on for long enough. */
static void text_walk(struct simulation *s)
{
    const struct tw_sched_program *p = s->p;

    begin(s);
    for (uint32_t run = 0; run < p->n_runs && s->n_steps < LIMIT;) {
        for (uint32_t q = p->runs[run].first; q < p->runs[run].first + p->runs[run].count; q++)
            text_piece(s, &p->pieces[q]);
        if (!s->counting)
            s->order[s->n_runs] = run;
        s->n_runs++;
        run = following(s, run);
    }
}

/* ---- the bundles: registers */

/* The real leaf that one leaf of a reference is in an operation. */
static uint16_t real_leaf(const struct simulation *s, const struct tw_sched_ref *ref, const struct tw_operation *op,
                          unsigned i)
{
    if (ref->operand == SCHED_IMPLICIT)
        return tw_registers[ref->reg].leaves[ref->first + i];
    const struct tw_register *reg = &tw_registers[op->operands[ref->operand]];
    if (ref->var >= 0 && tw_sched_ref_part(s->p, ref)->wide)
        return reg->leaves[strcmp(tw_sched_kinds[s->p->vars[ref->var].kind].name, "wh") == 0];
    return reg->leaves[i];
}

static int land(struct simulation *s, uint32_t op, uint16_t leaf, token value, int64_t cycle, uint8_t bypass)
{
    struct cell *c = &s->cells[leaf];
    unsigned at = c->n;

    while (at > 0 && c->list[at - 1].cycle > cycle)
        at--;
    if (at > 0 && c->list[at - 1].cycle == cycle)
        return fail(s, op, "two writes of a register land in one cycle");
    if (c->n == RING) { /* the oldest has been covered long ago */
        memmove(c->list, c->list + 1, (RING - 1) * sizeof *c->list);
        c->n--;
        at -= at > 0;
    }
    memmove(c->list + at + 1, c->list + at, (c->n - at) * sizeof *c->list);
    c->list[at] = (struct landing){value, cycle, bypass};
    c->n++;
    return 0;
}

/* What a read in a cycle finds. */
static token found(const struct simulation *s, const struct pending *r)
{
    const struct cell *c = &s->cells[r->leaf];

    for (unsigned i = c->n; i > 0; i--) {
        const struct landing *l = &c->list[i - 1];
        int passed = l->bypass == r->bypass && r->bypass != TW_BYPASS_NONE;
        if (l->cycle < r->cycle + passed)
            return l->value;
    }
    return entry_token(r->leaf, 0);
}

/* Checks the reads of the cycle that ends. */
static int read_now(struct simulation *s)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < s->n_pending; i++) {
        const struct pending *r = &s->pending[i];
        if (r->cycle > s->cycle) {
            s->pending[kept++] = *r;
            continue;
        }
        if (found(s, r) != r->expected) {
            char what[96];
            snprintf(what, sizeof what, "a read of %s gets another value than in the text", tw_registers[r->leaf].name);
            return fail(s, r->op, what);
        }
    }
    s->n_pending = kept;
    return 0;
}

/* ---- the bundles: units */

static int use_units(struct simulation *s, uint32_t i, const struct tw_operation *op)
{
    const struct tw_schedule_class *c = tw_operation_schedule(op);

    for (unsigned k = 0; k < c->n_resources; k++) {
        const struct tw_resource_use *u = &c->resources[k];
        uint64_t unit = (uint64_t)1 << u->unit;
        for (unsigned cycle = u->first; cycle <= u->last; cycle++) {
            unsigned at = (unsigned)((s->cycle + cycle) % RING);
            if ((s->held[at] & unit) != 0 || (!u->avoid && (s->avoided[at] & unit) != 0)) {
                char what[96];
                snprintf(what, sizeof what, "unit %s is used twice in a cycle", tw_resource_names[u->unit]);
                return fail(s, i, what);
            }
            if (u->avoid)
                s->avoided[at] |= unit;
            else
                s->held[at] |= unit;
        }
    }
    return 0;
}

/* ---- the bundles: execution */

static int check_immediates(const struct simulation *s, uint32_t i, unsigned alt, const struct tw_operation *op)
{
    const struct tw_sched_op *text = &s->p->ops[i];
    const struct tw_instruction *in = &tw_instructions[op->instruction];

    if (op->instruction != text->alt[alt].instruction)
        return fail(s, i, "another instruction than in the text");
    for (unsigned k = 0; k < in->n_operands; k++)
        if (in->operands[k].kind != TW_OPERAND_REGISTER && (int)k != text->immediate && !text->added &&
            op->operands[k] != text->alt[alt].operands[k])
            return fail(s, i, "another immediate than in the text");
    return 0;
}

/* What the scheduler's own operations do to LC, LS and LE. */
static void set_up_loop(struct simulation *s, size_t bundle, enum tw_slot slot, uint32_t i,
                        const struct tw_operation *op)
{
    const struct tw_sched_loop *loop = NULL;

    for (uint32_t l = 0; l < s->p->n_loops; l++)
        if ((int32_t)i >= s->p->loops[l].trip_op && (int32_t)i < s->p->loops[l].setup + 2)
            loop = &s->p->loops[l];
    if (loop == NULL)
        return;
    int64_t number = loop - s->p->loops;
    int64_t immediate = op->operands[tw_instructions[op->instruction].n_operands - 1];
    for (size_t f = 0; f < s->code->n_fixups; f++)
        if (s->code->fixups[f].bundle == bundle && s->code->fixups[f].slot == slot)
            immediate = s->code->fixups[f].target;
    if ((int32_t)i == loop->setup)
        s->ls = immediate;
    else if ((int32_t)i == loop->setup + 1)
        s->le = immediate;
    else if (loop->trips >= 0)
        s->lc = immediate - s->fewer[number];
    else if (loop->multiple == 1)
        s->lc = s->trips[number] + immediate;
    else if ((int32_t)i == loop->trip_op)
        s->added = immediate;
    else if ((int32_t)i == loop->trip_op + 1)
        s->shift = -immediate;
    else if ((int32_t)i == loop->trip_op + 3)
        s->lc = s->shift < 0 || s->shift > 31 ? 0 : (s->trips[number] + s->added) >> s->shift;
}

static int execute(struct simulation *s, size_t bundle, enum tw_slot slot)
{
    const struct tw_sched_cell *cell = &s->rows->list[bundle].cells[slot];
    const struct tw_operation *op = &s->code->bundles[bundle].bundle.op[slot];
    uint32_t i = (uint32_t)cell->op, number = s->issued[i]++;
    const struct tw_sched_op *text = &s->p->ops[i];
    size_t at = s->first_token[i] + (size_t)number * s->n_tokens[i];

    if (number >= s->executed[i])
        return fail(s, i, "it is executed more often than in the text");
    s->issue[s->first[i] + number] = s->cycle;
    int code = check_immediates(s, i, cell->alt, op);
    if (code == 0)
        code = use_units(s, i, op);
    for (unsigned k = 0; k < text->n_refs && code == 0; k++) {
        const struct tw_sched_ref *ref = &text->refs[k];
        for (unsigned l = 0; l < ref->count && code == 0; l++) {
            uint16_t leaf = real_leaf(s, ref, op, l);
            if (ref->writes)
                code = land(s, i, leaf, token_of(i, number, k, l), s->cycle + ref->cycle - 1, ref->bypass);
            else if (s->n_pending == WAITING)
                code = fail(s, i, "too many reads are under way");
            else
                s->pending[s->n_pending++] =
                    (struct pending){s->cycle + ref->cycle - 1, s->tokens[at++], i, leaf, ref->bypass};
        }
    }
    if (text->added)
        set_up_loop(s, bundle, slot, i, op);
    return code;
}

/* Executes one bundle in its cycle. */
static int bundle_step(struct simulation *s, size_t bundle)
{
    int code = 0;

    if (s->code->bundles[bundle].bundle.slots != 0)
        for (unsigned slot = 0; slot < TW_SLOT_COUNT && code == 0; slot++)
            if ((s->code->bundles[bundle].bundle.slots >> slot & 1) != 0)
                code = execute(s, bundle, (enum tw_slot)slot);
    if (code == 0)
        code = read_now(s);
    s->cycle++;
    s->held[(s->cycle + SCHED_FLIGHT) % RING] = 0;
    s->avoided[(s->cycle + SCHED_FLIGHT) % RING] = 0;
    return code;
}

/* Executes the bundles of a run. */
static int run_step(struct simulation *s, uint32_t run)
{
    uint32_t end = s->rows->run_first[run + 1];

    for (uint32_t row = s->rows->run_first[run]; row < end;) {
        int code = bundle_step(s, row);
        if (code < 0)
            return code;
        if (row == s->le && s->lc > 0 && --s->lc > 0)
            row = (uint32_t)s->ls;
        else
            row++;
        if (s->cycle > 64 * (int64_t)LIMIT)
            return fail(s, 0, "it does not end");
    }
    return 0;
}

static int bundles_walk(struct simulation *s)
{
    const struct tw_sched_program *p = s->p;

    s->n_pending = 0;
    s->cycle = 0;
    s->lc = s->added = s->shift = 0;
    s->ls = s->le = -1;
    memset(s->cells, 0, TW_R_COUNT * sizeof *s->cells);
    memset(s->held, 0, sizeof s->held);
    memset(s->avoided, 0, sizeof s->avoided);
    memset(s->issued, 0, (p->n_ops + 1) * sizeof *s->issued);
    for (uint32_t i = 0; i < s->n_runs; i++) {
        int code = run_step(s, s->order[i]);
        if (code < 0)
            return code;
    }
    for (uint32_t i = 0; i < p->n_ops; i++)
        if (s->issued[i] != s->executed[i] && !p->ops[i].added)
            return fail(s, i, "it is executed less often than in the text");
    return s->n_pending == 0 ? 0 : fail(s, s->pending[0].op, "it is in flight at the end");
}

/* ---- order and results */

struct maxima {
    int64_t store, access; /* last memory cycles */
};

static int64_t issue_of(const struct simulation *s, const struct ordered *o)
{
    return s->issue[s->first[o->op] + o->number];
}

/* Whether an access may come before or with an earlier one that it must follow. */
static int too_early(const struct maxima *m, const struct tw_sched_op *op, int64_t issue)
{
    int64_t first = issue + op->mem_first - 1;
    return first <= ((op->flags & TW_FLAG_STORE) != 0 ? m->access : m->store);
}

static void note_access(struct maxima *m, const struct tw_sched_op *op, int64_t issue)
{
    int64_t last = issue + op->mem_last - 1;

    if (last > m->access)
        m->access = last;
    if ((op->flags & TW_FLAG_STORE) != 0 && last > m->store)
        m->store = last;
}

/*
 * Memory: each access against the latest of those before it. For tags whose places differ between a loop's iterations
 * there are three maxima: of what came before the loop, of the iteration, and of the loop, which counts behind it.
 */
static int check_memory(const struct simulation *s)
{
    struct maxima all[SCHED_TAGS + 1], own[SCHED_TAGS + 1], done[SCHED_TAGS + 1];
    int64_t iteration = -1;
    int32_t loop = -1;

    for (unsigned t = 0; t <= SCHED_TAGS; t++)
        all[t] = own[t] = done[t] = (struct maxima){-1, -1};
    for (uint32_t i = 0; i < s->n_ordered; i++) {
        const struct ordered *o = &s->ordered[i];
        const struct tw_sched_op *op = &s->p->ops[o->op];
        int32_t in = s->p->pieces[op->piece].loop;
        if (op->mem_first == 0)
            continue;
        for (unsigned t = 0; t <= SCHED_TAGS && (in != loop || o->iteration != iteration); t++) {
            if (in != loop) { /* what the last loop did counts now */
                all[t].store = done[t].store > all[t].store ? done[t].store : all[t].store;
                all[t].access = done[t].access > all[t].access ? done[t].access : all[t].access;
                done[t] = (struct maxima){-1, -1};
            }
            own[t] = (struct maxima){-1, -1};
        }
        loop = in;
        iteration = o->iteration;
        uint32_t free = loop < 0 ? 0 : s->p->loops[loop].independent;
        for (int t = 0; t <= SCHED_TAGS; t++) {
            if (t != op->tag && t != SCHED_TAGS && op->tag >= 0)
                continue;
            int apart = op->tag == t && t < SCHED_TAGS && (free >> t & 1) != 0;
            if (too_early(&all[t], op, issue_of(s, o)) || too_early(&own[t], op, issue_of(s, o)) ||
                (!apart && too_early(&done[t], op, issue_of(s, o))))
                return fail(s, o->op, "a memory access comes before one that it must follow");
        }
        int t = op->tag < 0 ? SCHED_TAGS : op->tag;
        note_access(loop < 0 ? &all[t] : &own[t], op, issue_of(s, o));
        if (loop >= 0)
            note_access(&done[t], op, issue_of(s, o));
    }
    return 0;
}

/* Locks, streams and the like: one after the other, and locks away from memory. */
static int check_locks(const struct simulation *s)
{
    int64_t last = -1, lock = -1, memory = -1;

    for (uint32_t i = 0; i < s->n_ordered; i++) {
        const struct ordered *o = &s->ordered[i];
        const struct tw_sched_op *op = &s->p->ops[o->op];
        int64_t issue = issue_of(s, o);
        if (op->mem_first != 0) {
            if (lock >= 0 && issue < lock + tw_distance_from_lock(op->mem_first))
                return fail(s, o->op, "a memory access is too near behind a lock");
            int64_t clear = issue + tw_distance_to_lock(op->mem_last);
            memory = clear > memory ? clear : memory;
        }
        if ((op->flags & (TW_FLAG_LOCK | TW_FLAG_STREAM | TW_FLAG_SIDE_EFFECT)) == 0)
            continue;
        if (issue <= last)
            return fail(s, o->op, "it comes before another one that it must follow");
        last = issue;
        if ((op->flags & TW_FLAG_LOCK) == 0)
            continue;
        if (issue < memory)
            return fail(s, o->op, "a lock is too near behind a memory access");
        lock = issue;
    }
    return 0;
}

static int check_outputs(struct simulation *s)
{
    const struct tw_sched_program *p = s->p;

    for (uint32_t v = 0; v < p->n_vars; v++)
        for (unsigned l = 0; p->vars[v].out >= 0 && l < tw_sched_kinds[p->vars[v].kind].n_leaves; l++) {
            struct pending r = {s->cycle, s->vars[p->vars[v].leaf + l], 0, tw_registers[p->vars[v].out].leaves[l],
                                TW_BYPASS_NONE};
            if (s->n_steps < LIMIT && found(s, &r) != r.expected)
                return fail(s, 0, "a result is not where .out says");
        }
    return 0;
}

/* ---- trials */

/* The trips of all loops in a trial: as few as show everything. */
static void choose_trips(struct simulation *s)
{
    for (uint32_t l = 0; l < s->p->n_loops; l++) {
        const struct tw_sched_loop *loop = &s->p->loops[l];
        const struct tw_sched_modulo *m = loop->modulo;
        /* Passes for longer than anything is in flight show as much as more of them. */
        int64_t enough = PASSES + (int64_t)RING / (m->copies * m->interval);
        if (loop->trips >= 0) {
            s->fewer[l] = m->passes > enough ? m->passes - enough : 0;
            s->trips[l] = loop->trips - s->fewer[l] * m->copies;
            continue;
        }
        enough = m->peeled + m->copies * enough;
        int64_t least = loop->least < enough ? loop->least : enough, multiple = loop->multiple;
        s->trips[l] = (least + multiple - 1) / multiple * multiple + s->way * multiple;
    }
}

static int prepare(struct simulation *s)
{
    struct tw_sched_program *p = s->p;
    struct tw_arena *a = &p->arena;

    s->trips = tw_arena_alloc(a, p->n_loops + 1, sizeof *s->trips);
    s->fewer = tw_arena_alloc(a, p->n_loops + 1, sizeof *s->fewer);
    s->iteration = tw_arena_alloc(a, p->n_loops + 1, sizeof *s->iteration);
    s->vars = tw_arena_alloc(a, p->n_var_leaves + 1, sizeof *s->vars);
    s->executed = tw_arena_alloc(a, p->n_ops + 1, sizeof *s->executed);
    s->issued = tw_arena_alloc(a, p->n_ops + 1, sizeof *s->issued);
    s->first = tw_arena_alloc(a, p->n_ops + 1, sizeof *s->first);
    s->n_tokens = tw_arena_alloc(a, p->n_ops + 1, sizeof *s->n_tokens);
    s->first_token = tw_arena_alloc(a, p->n_ops + 1, sizeof *s->first_token);
    s->target = tw_arena_alloc(a, p->n_vars + 1, sizeof *s->target);
    s->cells = tw_arena_alloc(a, TW_R_COUNT, sizeof *s->cells);
    s->pending = tw_arena_alloc(a, WAITING, sizeof *s->pending);
    if (s->trips == NULL || s->fewer == NULL || s->iteration == NULL || s->vars == NULL || s->executed == NULL ||
        s->issued == NULL || s->first == NULL || s->n_tokens == NULL || s->first_token == NULL || s->target == NULL ||
        s->cells == NULL || s->pending == NULL)
        return tw_sched_no_memory(p);
    for (uint32_t i = 0; i < p->n_ops; i++)
        for (unsigned k = 0; k < p->ops[i].n_refs; k++)
            s->n_tokens[i] += p->ops[i].refs[k].writes ? 0u : p->ops[i].refs[k].count;
    return 0;
}

/* Room for what the text does, which has been counted. */
static int make_room(struct simulation *s)
{
    struct tw_sched_program *p = s->p;
    uint32_t executions = 0;
    size_t tokens = 0;

    for (uint32_t i = 0; i < p->n_ops; i++) {
        s->first[i] = executions;
        s->first_token[i] = tokens;
        executions += s->executed[i];
        tokens += (size_t)s->executed[i] * s->n_tokens[i];
    }
    s->tokens = tw_arena_alloc(&p->arena, tokens + 1, sizeof *s->tokens);
    s->issue = tw_arena_alloc(&p->arena, executions + 1u, sizeof *s->issue);
    s->ordered = tw_arena_alloc(&p->arena, s->n_ordered + 1u, sizeof *s->ordered);
    s->order = tw_arena_alloc(&p->arena, s->n_runs + 1u, sizeof *s->order);
    return s->tokens == NULL || s->issue == NULL || s->ordered == NULL || s->order == NULL ? tw_sched_no_memory(p) : 0;
}

static int trial(struct simulation *s)
{
    int code;

    choose_trips(s);
    s->counting = 1;
    text_walk(s);
    if ((code = make_room(s)) < 0)
        return code;
    s->counting = 0;
    text_walk(s);
    if ((code = bundles_walk(s)) < 0 || (code = check_memory(s)) < 0 || (code = check_locks(s)) < 0)
        return code;
    return check_outputs(s);
}

/* Whether trials differ: trips or ways are not the same in all of them. */
static int has_ways(const struct tw_sched_program *p)
{
    for (uint32_t r = 0; r < p->n_runs; r++)
        if (p->runs[r].branch >= 0)
            return 1;
    for (uint32_t l = 0; l < p->n_loops; l++)
        if (p->loops[l].trips < 0)
            return 1;
    return 0;
}

int tw_sched_simulate(struct tw_sched_program *p, const struct tw_sched_rows *rows, const struct tw_sched_code *code)
{
    struct tw_arena mark = tw_arena_mark(&p->arena);
    struct simulation *s = tw_arena_alloc(&p->arena, 1, sizeof *s);

    if (s == NULL)
        return tw_sched_no_memory(p);
    s->p = p;
    s->rows = rows;
    s->code = code;
    int result = prepare(s);
    for (s->way = 0; result == 0 && s->way < (has_ways(p) ? WAYS : 1u); s->way++)
        result = trial(s);
    tw_arena_rewind(&p->arena, mark);
    return result;
}
