/* Lines of scheduled text: labels, directives, operations; and what they are put into. */
#include "isa/sched/text.h"

#include <stdarg.h>
#include <stdio.h>

/* ---- faults */

static void tell(struct tw_sched_program *p, struct tw_sched_text_place place, int code, const char *fmt, va_list args)
{
    const struct tw_source_line *line = &p->lines[place.line];
    char sentence[512];

    vsnprintf(sentence, sizeof sentence, fmt, args);
    if (p->n_faults++ == 0 || code != TW_E_FORMAT)
        tw_fail(p->err, code, "%s:%u:%zu: %s", line->file == NULL ? "-" : line->file, line->line, place.column + 1,
                sentence);
    if (p->options->fault != NULL)
        p->options->fault(p->options->arg, line, place.column, sentence);
}

void tw_sched_fault(struct tw_sched_program *p, const struct tw_sched_op *op, const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    tell(p, tw_sched_place_of(op), TW_E_FORMAT, fmt, args);
    va_end(args);
}

void tw_sched_fault_in(struct tw_sched_program *p, struct tw_sched_text_place place, const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    tell(p, place, TW_E_FORMAT, fmt, args);
    va_end(args);
}

int tw_sched_fail(struct tw_sched_program *p, struct tw_sched_text_place place, int code, const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    tell(p, place, code, fmt, args);
    va_end(args);
    return code;
}

struct tw_sched_text_place tw_sched_here(const struct tw_sched_reader *r, const char *at)
{
    const struct tw_source_line *line = &r->p->lines[r->line];
    return (struct tw_sched_text_place){r->line, at == NULL || line->size == 0 ? 0 : (size_t)(at - line->text)};
}

int tw_sched_fault_at(struct tw_sched_reader *r, const char *at, const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    tell(r->p, tw_sched_here(r, at), TW_E_FORMAT, fmt, args);
    va_end(args);
    return 1;
}

int tw_sched_reader_no_memory(struct tw_sched_reader *r)
{
    return r->code = tw_sched_no_memory(r->p);
}

/* ---- values */

static int plain_number(struct tw_sched_span s, int64_t *value)
{
    uint64_t v = 0;
    int minus = s.size > 0 && s.text[0] == '-';
    unsigned base = 10;
    size_t at = (size_t)minus;

    if (s.size - at > 2 && s.text[at] == '0' && (s.text[at + 1] | 32) == 'x') {
        base = 16;
        at += 2;
    }
    if (at == s.size || s.size - at > 17)
        return 1;
    for (; at < s.size; at++) {
        char c = (char)(s.text[at] | 32);
        unsigned d = c >= '0' && c <= '9' ? (unsigned)(c - '0') : c >= 'a' && c <= 'f' ? (unsigned)(c - 'a') + 10 : 16;
        if (d >= base)
            return 1;
        v = v * base + d;
    }
    *value = minus ? -(int64_t)v : (int64_t)v;
    return 0;
}

int tw_sched_find_label(const struct tw_sched_program *p, struct tw_sched_span name)
{
    for (uint32_t i = 0; i < p->n_labels; i++)
        if (tw_sched_same(name, p->labels[i].name, p->labels[i].size))
            return (int)i;
    return -1;
}

/* The values of immediates: the section's labels have none yet. */
int tw_sched_value(void *arg, const char *text, size_t size, int64_t *value, struct tw_error *err)
{
    struct tw_sched_reader *r = arg;
    struct tw_sched_span s = {text, size};

    if (tw_sched_find_label(r->p, s) >= 0)
        return 1;
    if (r->p->options->value != NULL)
        return r->p->options->value(r->p->options->arg, text, size, value, err);
    if (plain_number(s, value) == 0)
        return 0;
    return tw_fail(err, TW_E_FORMAT, "\"#%.*s\" is no number", (int)(size < 40 ? size : 40), text);
}

/* A number in a directive. Returns 0, or 1 after telling the fault. */
int tw_sched_find_var(const struct tw_sched_program *p, struct tw_sched_span name)
{
    for (uint32_t i = p->n_vars; i > 0; i--)
        if (tw_sched_same(name, p->vars[i - 1].name, p->vars[i - 1].size))
            return (int)i - 1;
    return -1;
}

void tw_sched_set_leaves(uint64_t *set, int reg)
{
    for (unsigned i = 0; i < tw_registers[reg].n_leaves; i++)
        set[tw_registers[reg].leaves[i] / 64] |= (uint64_t)1 << tw_registers[reg].leaves[i] % 64;
}

int tw_sched_share_leaf(int a, int b)
{
    for (unsigned i = 0; i < tw_registers[a].n_leaves; i++)
        for (unsigned k = 0; k < tw_registers[b].n_leaves; k++)
            if (tw_registers[a].leaves[i] == tw_registers[b].leaves[k])
                return 1;
    return 0;
}

/* ---- room */

/* Room for one more of something; grows by doubling. */
void *tw_sched_grow(struct tw_sched_reader *r, void *array, uint32_t n, uint32_t *room, size_t size)
{
    if (n < *room)
        return array;
    uint32_t more = *room == 0 ? 64 : *room * 2;
    void *bigger = tw_arena_alloc(&r->p->arena, more, size);
    if (bigger == NULL) {
        tw_sched_reader_no_memory(r);
        return NULL;
    }
    if (n > 0)
        memcpy(bigger, array, n * size);
    *room = more;
    return bigger;
}

struct tw_sched_var *tw_sched_new_var(struct tw_sched_reader *r, unsigned kind)
{
    struct tw_sched_program *p = r->p;

    if (p->n_vars == SCHED_VARS) {
        tw_sched_fault_at(r, NULL, "more than %d symbolic registers in one section", SCHED_VARS);
        return NULL;
    }
    void *vars = tw_sched_grow(r, p->vars, p->n_vars, &r->room_vars, sizeof *p->vars);
    if (vars == NULL)
        return NULL;
    p->vars = vars;
    struct tw_sched_var *v = &p->vars[p->n_vars++];
    *v = (struct tw_sched_var){.name = "%", .size = 1, .kind = (uint8_t)kind, .leaf = p->n_var_leaves, .line = r->line};
    v->fixed = v->in = v->out = -1;
    v->in_web = v->out_web = -1;
    p->n_var_leaves += tw_sched_kinds[kind].n_leaves;
    return v;
}

/* ---- pieces and runs */

int tw_sched_new_piece(struct tw_sched_reader *r, int32_t loop)
{
    struct tw_sched_program *p = r->p;
    void *pieces = tw_sched_grow(r, p->pieces, p->n_pieces, &r->room_pieces, sizeof *p->pieces);

    if (pieces == NULL)
        return r->code;
    if (p->n_pieces == SCHED_PIECES)
        return r->code =
                   tw_fail(p->err, TW_E_LIMIT, "more than %d loops, labels and branches in one section", SCHED_PIECES);
    p->pieces = pieces;
    p->pieces[p->n_pieces++] = (struct tw_sched_piece){p->n_ops, 0, loop, (int32_t)p->n_runs - 1};
    p->runs[p->n_runs - 1].count++;
    return 0;
}

int tw_sched_new_run(struct tw_sched_reader *r)
{
    struct tw_sched_program *p = r->p;
    void *runs = tw_sched_grow(r, p->runs, p->n_runs, &r->room_runs, sizeof *p->runs);

    if (runs == NULL)
        return r->code;
    p->runs = runs;
    p->runs[p->n_runs++] = (struct tw_sched_run){p->n_pieces, 0, -1, 0};
    r->after_branch = 0;
    return tw_sched_new_piece(r, -1);
}

struct tw_sched_piece *tw_sched_current_piece(struct tw_sched_reader *r)
{
    return &r->p->pieces[r->p->n_pieces - 1];
}

/* Whether anything stands in the current run. */
static int run_is_empty(const struct tw_sched_reader *r)
{
    const struct tw_sched_run *run = &r->p->runs[r->p->n_runs - 1];
    return run->count == 1 && r->p->pieces[run->first].count == 0;
}
/* ---- lines */

/* Takes "name:" from the front of a line. */
static struct tw_sched_span take_label(struct tw_sched_span *s)
{
    struct tw_sched_span rest = *s, name = tw_sched_take_name(&rest);

    if (name.size == 0 || name.text[0] == '.' || name.text[0] == '%' || !tw_sched_take(&rest, ':'))
        return (struct tw_sched_span){NULL, 0};
    *s = rest;
    return name;
}

static struct tw_sched_span line_text(struct tw_sched_reader *r, size_t number_of_line)
{
    const struct tw_source_line *line = &r->p->lines[number_of_line];
    struct tw_sched_span s = {line->size == 0 ? "" : line->text, line->size};

    r->line = number_of_line;
    for (size_t i = 0; i + 1 < s.size; i++)
        if (s.text[i] == '/' && s.text[i + 1] == '/')
            s.size = i;
    return tw_sched_trim(s);
}

/* Finds all labels first, for jumps forward. */
static int list_labels(struct tw_sched_reader *r)
{
    struct tw_sched_program *p = r->p;
    uint32_t room = 0;

    for (size_t i = 0; i < p->n_lines; i++) {
        struct tw_sched_span s = line_text(r, i), name = take_label(&s);
        if (name.text == NULL)
            continue;
        if (name.text[0] >= '0' && name.text[0] <= '9') {
            tw_sched_fault_at(r, name.text, "%.*s: a label begins with a letter or _", (int)name.size, name.text);
            continue;
        }
        if (tw_sched_find_label(p, name) >= 0) {
            tw_sched_fault_at(r, name.text, "the label %.*s is there already", (int)name.size, name.text);
            continue;
        }
        void *labels = tw_sched_grow(r, p->labels, p->n_labels, &room, sizeof *p->labels);
        if (labels == NULL)
            return r->code;
        p->labels = labels;
        p->labels[p->n_labels++] = (struct tw_sched_label_place){name.text, name.size, i, -1};
    }
    return 0;
}

static int set_label(struct tw_sched_reader *r, struct tw_sched_span name)
{
    int label = tw_sched_find_label(r->p, name);

    if (label < 0) /* told before */
        return 1;
    if (r->loop >= 0)
        return tw_sched_fault_at(r, name.text, "a zero-overhead loop cannot hold a label");
    if ((r->after_branch || !run_is_empty(r)) && tw_sched_new_run(r) < 0)
        return 1;
    r->p->labels[label].run = (int32_t)r->p->n_runs - 1;
    r->p->runs[r->p->n_runs - 1].labelled = 1;
    return 0;
}

static int read_line(struct tw_sched_reader *r, size_t number_of_line)
{
    struct tw_sched_span s = line_text(r, number_of_line), label = take_label(&s);

    if (label.text != NULL && set_label(r, label) != 0)
        return 1;
    if (s.size == 0)
        return 0;
    if (s.text[0] == '.')
        return tw_sched_directive(r, s);
    while (s.size > 0)
        if (tw_sched_statement(r, tw_sched_take_until(&s, ';')) != 0)
            return 1;
    return 0;
}

/* Status flags that nothing reads do not order the operations that set them. */
static void drop_unread_flags(struct tw_sched_program *p)
{
    uint64_t read[(TW_R_COUNT + 63) / 64] = {0};

    for (uint32_t i = 0; i < p->n_ops; i++)
        for (unsigned k = 0; k < p->ops[i].n_refs; k++)
            if (p->ops[i].refs[k].var < 0 && !p->ops[i].refs[k].writes)
                tw_sched_set_leaves(read, p->ops[i].refs[k].reg);
    for (uint32_t i = 0; i < p->n_ops; i++) {
        struct tw_sched_op *op = &p->ops[i];
        unsigned kept = 0;
        for (unsigned k = 0; k < op->n_refs; k++) {
            const struct tw_sched_ref *ref = &op->refs[k];
            if (ref->var >= 0 || !ref->writes || tw_registers[ref->reg].group != TW_G_sr ||
                (read[ref->reg / 64] >> ref->reg % 64 & 1) != 0)
                op->refs[kept++] = *ref;
        }
        op->n_refs = (uint8_t)kept;
    }
}

int tw_sched_text(struct tw_sched_program *p)
{
    struct tw_sched_reader r;

    memset(&r, 0, sizeof r);
    r.p = p;
    r.loop = -1;
    tw_sched_list_registers(p);
    if (list_labels(&r) < 0 || tw_sched_new_run(&r) < 0)
        return r.code;
    for (size_t i = 0; i < p->n_lines && r.code == 0; i++)
        (void)read_line(&r, i);
    if (r.code < 0)
        return r.code;
    if (r.loop >= 0) {
        r.line = p->loops[r.loop].line;
        tw_sched_fault_at(&r, NULL, "this loop has no .endloop");
    }
    if (p->n_faults > 0)
        return TW_E_FORMAT;
    drop_unread_flags(p);
    return 0;
}
