/* The scheduler as a whole: its stages in turn, and again with other schedules when registers do not suffice. */
#include "isa/sched.h"

#include "isa/sched/allocate.h"
#include "isa/sched/simulate.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { TRIES = 80 }; /* schedules whose registers are tried */

const char *const tw_sched_file_names[TW_FILE_COUNT] = {"r", "p", "m", "dn", "dj", "dc", "s", "x", "bm"};
const unsigned tw_sched_file_sizes[TW_FILE_COUNT] = {32, 8, 8, 8, 8, 8, 4, 12, 18};

/* What the caller gets: the program's arena holds all of it. */
struct result {
    struct tw_sched_code code;
    struct tw_sched_program program;
    struct tw_sched_rows rows;
};

struct schedule {
    struct tw_sched_program *p;
    struct tw_sched_code *code;
    struct tw_sched_region *regions; /* of each piece */
    struct tw_sched_rows rows;
    struct tw_sched_allocation allocation;
    unsigned (*used)[TW_FILE_COUNT]; /* of each loop */
    int in_order;
    unsigned plain; /* how often all loops have been given a plain schedule: the last resort */
    uint32_t tries;
};

/* ---- schedules */

/* The immediates of a loop's set-up follow from its schedule. */
static void set_count(struct tw_sched_program *p, struct tw_sched_loop *l)
{
    const struct tw_sched_modulo *m = l->modulo;
    struct tw_sched_op *op = &p->ops[l->trip_op];
    uint32_t shift = 0;

    while (1u << shift < m->copies)
        shift++;
    for (unsigned a = 0; a < op->n_alt; a++) {
        unsigned last = tw_instructions[op->alt[a].instruction].n_operands - 1u;
        op->alt[a].operands[last] = l->trips >= 0 ? m->passes : -(int64_t)m->peeled;
    }
    if (l->trips >= 0 || l->multiple == 1)
        return;
    for (unsigned a = 0; a < op[1].n_alt; a++)
        op[1].alt[a].operands[tw_instructions[op[1].alt[a].instruction].n_operands - 1u] = -(int64_t)shift;
}

/* Advances a loop to its next schedule. */
static int advance(struct schedule *s, uint32_t loop)
{
    struct tw_sched_loop *l = &s->p->loops[loop];
    int code = tw_sched_modulo_next(s->p, l->modulo);

    if (code == 0)
        set_count(s->p, l);
    return code;
}

/* A loop's first schedule. */
static int begin_loop(struct schedule *s, uint32_t loop)
{
    struct tw_sched_loop *l = &s->p->loops[loop];
    int code = tw_sched_modulo_make(s->p, (int32_t)loop);

    if (code == 0)
        code = advance(s, loop);
    if (code == TW_E_LIMIT && s->p->n_faults == 0)
        return tw_sched_fail(s->p, (struct tw_sched_text_place){l->line, 0}, TW_E_LIMIT,
                             "no schedule was found for this loop: %s", l->modulo->above);
    return code;
}

static int schedule_once(struct schedule *s)
{
    struct tw_sched_program *p = s->p;
    int code = 0;

    s->allocation.failed = UINT32_MAX;
    for (uint32_t q = 0; q < p->n_pieces && code == 0; q++)
        if (p->pieces[q].loop < 0)
            code = tw_sched_region(p, q, s->in_order, &s->regions[q]);
    if (code == 0)
        code = tw_sched_emit(p, s->regions, &s->rows);
    if (code == 0)
        code = tw_sched_allocate(p, &s->rows, &s->allocation, s->used);
    return code;
}

/* The loop in whose code, or nearest to whose code, a row lies; -1 without loops. */
static int32_t loop_near(const struct schedule *s, uint32_t row)
{
    int32_t best = -1;
    uint32_t least = UINT32_MAX;

    for (uint32_t l = 0; l < s->p->n_loops; l++) {
        uint32_t first = s->rows.loop_first[l], end = first + s->rows.loop_count[l];
        uint32_t distance = row < first ? first - row : row >= end ? row - end + 1 : 0;
        if (distance < least) {
            least = distance;
            best = (int32_t)l;
        }
    }
    return best;
}

/* Where a web's register is asked for, or else where its name is declared. */
static struct tw_sched_text_place place_of_web(const struct tw_sched_program *p, const struct tw_sched_web *web)
{
    const struct tw_sched_var *v = &p->vars[web->var];
    return web->border < 0 ? (struct tw_sched_text_place){v->line, 0} : web->border_out ? v->out_place : v->in_place;
}

static const char *reason_of_web(const struct tw_sched_web *web)
{
    return web->border < 0 ? "no other is left to it" : web->border_out ? "by .out" : "by .in";
}

static int fail_registers(const struct schedule *s)
{
    struct tw_sched_program *p = s->p;
    const struct tw_sched_allocation *a = &s->allocation;
    const struct tw_sched_web *web = &p->webs[a->failed],
                              *by = a->failed_by == UINT32_MAX ? NULL : &p->webs[a->failed_by];
    const struct tw_sched_var *v = &p->vars[web->var];
    struct tw_sched_text_place place = place_of_web(p, web);

    if (a->failed_reg < 0)
        return tw_sched_fail(p, place, TW_E_LIMIT,
                             "too many values are alive at once: no register of kind %s is left for %.*s",
                             tw_sched_kinds[v->kind].name, (int)v->size, v->name);
    if (by == NULL)
        return tw_sched_fail(p, place, TW_E_LIMIT,
                             "%.*s must be in %s (%s), which the text itself uses at the same time", (int)v->size,
                             v->name, tw_registers[a->failed_reg].name, reason_of_web(web));
    const struct tw_sched_var *other = &p->vars[by->var];
    return tw_sched_fail(
        p, place, TW_E_LIMIT,
        "%.*s must be in %s (%s) while %.*s is in it (%s): give one of them another register, and move "
        "it by mov",
        (int)v->size, v->name, tw_registers[a->failed_reg].name, reason_of_web(web), (int)other->size, other->name,
        reason_of_web(by));
}

/* Lets no loop's iterations overlap any more: values are short-lived then. Twice, the second time in the text's order.
 */
static int last_resort(struct schedule *s)
{
    if (s->plain == 2)
        return fail_registers(s);
    s->in_order = 1;
    for (uint32_t l = 0; l < s->p->n_loops; l++) {
        int code = tw_sched_modulo_plain(s->p, s->p->loops[l].modulo, (int)s->plain);
        if (code < 0)
            return code;
        set_count(s->p, &s->p->loops[l]);
    }
    s->plain++;
    return 0;
}

/* After registers did not suffice: another schedule for the loop in question, or the order of the text. */
static int try_again(struct schedule *s)
{
    const struct tw_sched_web *web = &s->p->webs[s->allocation.failed];
    int32_t loop = web->rotates >= 0 ? web->rotates : loop_near(s, s->allocation.failed_row);

    if (s->plain > 0 || s->tries++ > TRIES || (loop < 0 && s->in_order))
        return last_resort(s);
    if (loop < 0 || (s->tries > TRIES / 2 && !s->in_order)) {
        s->in_order = 1;
        return 0;
    }
    struct tw_sched_modulo *m = s->p->loops[loop].modulo;
    tw_sched_modulo_note(m, "at %" PRIu32 ", no register of kind %s was left for %.*s", m->interval,
                         tw_sched_kinds[web->kind].name, (int)s->p->vars[web->var].size, s->p->vars[web->var].name);
    int code = advance(s, (uint32_t)loop);
    return code == TW_E_LIMIT ? last_resort(s) : code;
}

static int schedule_all(struct schedule *s)
{
    struct tw_sched_program *p = s->p;
    int code = 0;

    for (uint32_t l = 0; l < p->n_loops && code == 0; l++)
        code = begin_loop(s, l);
    for (int again = code == 0; again;) {
        struct tw_arena mark = tw_arena_mark(&p->arena);
        code = schedule_once(s);
        again = code == TW_E_LIMIT && s->allocation.failed != UINT32_MAX;
        if (again) {
            code = try_again(s);
            again = code == 0;
            tw_arena_rewind(&p->arena, mark);
        }
    }
    return code;
}

/* ---- bundles */

static void fill_operation(const struct schedule *s, const struct tw_sched_cell *cell, struct tw_operation *op)
{
    const struct tw_sched_op *text = &s->p->ops[cell->op];

    *op = text->alt[cell->alt];
    for (unsigned k = 0; k < text->n_refs; k++)
        if (text->refs[k].operand != SCHED_IMPLICIT)
            op->operands[text->refs[k].operand] = tw_sched_register_of(s->p, &s->allocation, cell, &text->refs[k]);
    tw_operation_complete(op);
}

static void add_fixup(struct schedule *s, size_t bundle, enum tw_slot slot, const struct tw_sched_cell *cell)
{
    const struct tw_sched_program *p = s->p;
    const struct tw_sched_op *op = &p->ops[cell->op];
    struct tw_sched_fixup f = {bundle, slot, (uint8_t)op->immediate, -1, op->text, op->text_size, &p->lines[op->line]};

    if (op->label >= 0) {
        f.target = s->rows.run_first[p->labels[op->label].run];
    } else if (op->added) {
        f.line = NULL;
        f.operand = 1;
        for (uint32_t l = 0; l < p->n_loops; l++) {
            if (p->loops[l].setup == cell->op)
                f.target = s->rows.loop_first[l];
            else if (p->loops[l].setup + 1 == cell->op)
                f.target = (int64_t)s->rows.loop_first[l] + s->rows.loop_count[l] - 1;
        }
        if (f.target < 0)
            return;
    } else if (op->immediate < 0) {
        return;
    }
    s->code->fixups[s->code->n_fixups++] = f;
}

static int fill_bundles(struct schedule *s)
{
    struct tw_sched_program *p = s->p;
    struct tw_sched_code *c = s->code;

    c->bundles = tw_arena_alloc(&p->arena, s->rows.n + 1, sizeof *c->bundles);
    c->lines = tw_arena_alloc(&p->arena, s->rows.n + 1, sizeof *c->lines);
    c->fixups = tw_arena_alloc(&p->arena, (size_t)s->rows.n * SCHED_UNIT_PORT + 1, sizeof *c->fixups);
    if (c->bundles == NULL || c->lines == NULL || c->fixups == NULL)
        return tw_sched_no_memory(p);
    c->n_bundles = s->rows.n;
    for (uint32_t row = 0; row < s->rows.n; row++) {
        struct tw_placed *b = &c->bundles[row];
        b->bundle.format = -1;
        b->flags = s->rows.list[row].flags;
        for (unsigned slot = 0; slot < TW_SLOT_COUNT; slot++) {
            const struct tw_sched_cell *cell = &s->rows.list[row].cells[slot];
            if (cell->op < 0)
                continue;
            b->bundle.slots |= (uint8_t)(1u << slot);
            fill_operation(s, cell, &b->bundle.op[slot]);
            add_fixup(s, row, (enum tw_slot)slot, cell);
            if (c->lines[row] == NULL && !p->ops[cell->op].added)
                c->lines[row] = &p->lines[p->ops[cell->op].line];
        }
    }
    return 0;
}

static int fill_labels(struct schedule *s)
{
    const struct tw_sched_program *p = s->p;
    struct tw_sched_code *c = s->code;

    c->labels = tw_arena_alloc(&s->p->arena, p->n_labels + 1, sizeof *c->labels);
    if (c->labels == NULL)
        return tw_sched_no_memory(p);
    c->n_labels = p->n_labels;
    for (uint32_t i = 0; i < p->n_labels; i++)
        c->labels[i] =
            (struct tw_sched_label){p->labels[i].name, p->labels[i].size, s->rows.run_first[p->labels[i].run]};
    return 0;
}

/* ---- reports */

static void fill_report(const struct schedule *s, uint32_t loop, struct tw_loop_report *r)
{
    const struct tw_sched_loop *l = &s->p->loops[loop];
    const struct tw_sched_modulo *m = l->modulo;
    uint32_t piece = (uint32_t)l->piece;
    const struct tw_sched_region *before = &s->regions[piece - 1];
    int32_t after = 0;

    for (uint32_t i = 0; i < m->n; i++)
        if (tw_sched_after(m, (int32_t)i, 0) + 1 > after)
            after = tw_sched_after(m, (int32_t)i, 0) + 1;
    r->line = s->p->lines[l->line].line;
    r->trips = l->trips;
    r->operations = m->n;
    r->interval = m->interval;
    r->bound = m->bound;
    memcpy(r->bound_by, m->bound_by, sizeof r->bound_by);
    if (m->interval > m->bound)
        memcpy(r->above, m->above, sizeof r->above);
    r->stages = ((uint32_t)m->span + m->interval - 1) / m->interval;
    r->copies = m->copies;
    r->first = s->rows.loop_first[loop];
    r->bundles = s->rows.loop_count[loop];
    r->passes = m->passes;
    r->before = (unsigned)(before->length - before->tail);
    r->after = (unsigned)after;
    memcpy(r->registers, s->used[loop], sizeof s->used[loop]);
}

static int fill_reports(struct schedule *s)
{
    struct tw_sched_code *c = s->code;

    c->loops = tw_arena_alloc(&s->p->arena, s->p->n_loops + 1, sizeof *c->loops);
    if (c->loops == NULL)
        return tw_sched_no_memory(s->p);
    c->n_loops = s->p->n_loops;
    for (uint32_t l = 0; l < s->p->n_loops; l++)
        fill_report(s, l, &c->loops[l]);
    return 0;
}

static unsigned bytes_of(const struct tw_sched_code *code, size_t first, size_t n)
{
    unsigned bytes = 0;

    for (size_t i = first; i < first + n; i++)
        bytes += code->bundles[i].bytes;
    return bytes;
}

static void print_loop(const struct tw_sched_code *code, const struct tw_loop_report *r, FILE *out)
{
    fprintf(out, "loop of line %u: an iteration every %u bundles; lower bound %u, set by %s\n", r->line, r->interval,
            r->bound, r->bound_by[0] == '\0' ? "nothing" : r->bound_by);
    if (r->above[0] != '\0')
        fprintf(out, "  above the bound: %s\n", r->above);
    fprintf(out, "  %u operations an iteration, %u under way at once, names for %u; %zu bundles, %u bytes\n",
            r->operations, r->stages, r->copies, r->bundles, bytes_of(code, r->first, r->bundles));
    if (r->passes > 0)
        fprintf(out, "  %" PRId64 " iterations: %" PRId64 " passes, the rest in %u bundles before and %u behind\n",
                r->trips, r->passes, r->before, r->after);
    else
        fprintf(out, "  %s; %u bundles before and %u behind\n",
                r->passes < 0 ? "passes counted in a register" : "no loop: all iterations are laid out", r->before,
                r->after);
    fprintf(out, "  registers:");
    for (unsigned f = 0; f < TW_FILE_COUNT; f++)
        if (r->registers[f] > 0)
            fprintf(out, " %s %u of %u", tw_sched_file_names[f], r->registers[f], tw_sched_file_sizes[f]);
    fprintf(out, "\n");
}

void tw_sched_report(const struct tw_sched_code *code, FILE *out)
{
    for (size_t l = 0; l < code->n_loops; l++)
        print_loop(code, &code->loops[l], out);
    fprintf(out, "section: %zu bundles, %u bytes\n", code->n_bundles, bytes_of(code, 0, code->n_bundles));
}

/* ---- the whole */

static int run_stages(struct result *r)
{
    struct schedule s;
    struct tw_sched_program *p = &r->program;
    int code;

    memset(&s, 0, sizeof s);
    s.p = p;
    s.code = &r->code;
    if ((code = tw_sched_text(p)) < 0 || (code = tw_sched_rename(p)) < 0)
        return code;
    s.regions = tw_arena_alloc(&p->arena, p->n_pieces, sizeof *s.regions);
    s.used = tw_arena_alloc(&p->arena, p->n_loops + 1, sizeof *s.used);
    if (s.regions == NULL || s.used == NULL)
        return tw_sched_no_memory(p);
    if ((code = schedule_all(&s)) < 0 || (code = fill_bundles(&s)) < 0 || (code = fill_labels(&s)) < 0 ||
        (code = fill_reports(&s)) < 0)
        return code;
    r->rows = s.rows;
    return tw_sched_simulate(p, &r->rows, &r->code);
}

int tw_sched_prove(const struct tw_sched_code *code, struct tw_error *err)
{
    struct result *r = code->memory;

    r->program.err = err;
    return tw_sched_simulate(&r->program, &r->rows, code);
}

int tw_schedule(const struct tw_source_line *lines, size_t n_lines, const struct tw_sched_options *options,
                struct tw_sched_code **code, struct tw_error *err)
{
    static const struct tw_sched_options none = {NULL, NULL, NULL};
    struct tw_error own = {0, ""};
    struct result *r = calloc(1, sizeof *r);

    *code = NULL;
    if (r == NULL)
        return tw_fail(err, TW_E_MEMORY, "no memory to schedule %zu lines", n_lines);
    r->program.lines = lines;
    r->program.n_lines = n_lines;
    r->program.options = options == NULL ? &none : options;
    r->program.err = err == NULL ? &own : err;
    r->code.memory = r;
    int result = run_stages(r);
    if (result < 0) {
        tw_sched_free(&r->code);
        return result;
    }
    *code = &r->code;
    return 0;
}

void tw_sched_free(struct tw_sched_code *code)
{
    if (code == NULL)
        return;
    struct result *r = code->memory;
    tw_arena_release(&r->program.arena);
    free(r);
}
