/* Lines of scheduled text to operations on symbolic registers. */
#include "isa/sched/program.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { STATEMENT = 256, PLACEHOLDERS = 8 };

/* While one operation is parsed, each symbolic register in it is some real one of its kind. */
struct placeholder {
    int16_t var;
    uint16_t reg;
};

struct span {
    const char *text;
    size_t size;
};

struct reader {
    struct tw_sched_program *p;
    size_t line;
    int code; /* of a failure that is not the text's */

    struct placeholder placeholders[PLACEHOLDERS];
    unsigned n_placeholders;
    uint64_t taken[(TW_R_COUNT + 63) / 64]; /* smallest registers that stand in the operation */

    uint32_t room_ops, room_vars, room_pieces, room_loops, room_runs;
    int32_t loop;     /* the one that is open, or -1 */
    int after_branch; /* the run has ended */
};

/* ---- faults */

static void tell(struct tw_sched_program *p, size_t number_of_line, size_t column, const char *fmt, va_list args)
{
    const struct tw_source_line *line = &p->lines[number_of_line];
    char sentence[512];

    vsnprintf(sentence, sizeof sentence, fmt, args);
    if (p->n_faults++ == 0)
        tw_fail(p->err, TW_E_FORMAT, "%s:%u:%zu: %s", line->file == NULL ? "-" : line->file, line->line, column + 1,
                sentence);
    if (p->options->fault != NULL)
        p->options->fault(p->options->arg, line, column, sentence);
}

void tw_sched_fault(struct tw_sched_program *p, const struct tw_sched_op *op, const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    tell(p, op->line, op->column, fmt, args);
    va_end(args);
}

static int fault(struct reader *r, const char *at, const char *fmt, ...) TW_PRINTF(3, 4);
static int fault(struct reader *r, const char *at, const char *fmt, ...)
{
    const struct tw_source_line *line = &r->p->lines[r->line];
    va_list args;

    va_start(args, fmt);
    tell(r->p, r->line, at == NULL || line->size == 0 ? 0 : (size_t)(at - line->text), fmt, args);
    va_end(args);
    return 1;
}

static int no_memory(struct reader *r)
{
    return r->code = tw_sched_no_memory(r->p);
}

/* ---- small pieces of text */

static int is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f';
}

static int is_name(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.' ||
           c == '%' || c == '$';
}

static struct span trim(struct span s)
{
    while (s.size > 0 && is_space(s.text[0]))
        s.text++, s.size--;
    while (s.size > 0 && is_space(s.text[s.size - 1]))
        s.size--;
    return s;
}

static int equals(struct span s, const char *text)
{
    return s.size == strlen(text) && memcmp(s.text, text, s.size) == 0;
}

static int same(struct span a, const char *text, size_t size)
{
    return a.size == size && memcmp(a.text, text, size) == 0;
}

/* Takes the name at the front of a text; empty when there is none. */
static struct span take_name(struct span *s)
{
    *s = trim(*s);
    struct span name = {s->text, 0};
    while (name.size < s->size && is_name(s->text[name.size]))
        name.size++;
    s->text += name.size;
    s->size -= name.size;
    *s = trim(*s);
    return name;
}

static int take(struct span *s, char c)
{
    *s = trim(*s);
    if (s->size == 0 || s->text[0] != c)
        return 0;
    s->text++;
    s->size--;
    *s = trim(*s);
    return 1;
}

/* What stands before a character, which is taken too; all of it when the character is not there. */
static struct span take_until(struct span *s, char c)
{
    const char *end = s->size == 0 ? NULL : memchr(s->text, c, s->size);
    struct span head = {s->text, end == NULL ? s->size : (size_t)(end - s->text)};

    s->text += head.size + (end != NULL);
    s->size -= head.size + (end != NULL);
    return head;
}

static struct span take_word(struct span *s)
{
    *s = trim(*s);
    struct span word = {s->text, 0};
    while (word.size < s->size && !is_space(s->text[word.size]))
        word.size++;
    s->text += word.size;
    s->size -= word.size;
    return word;
}

/* ---- values */

static int plain_number(struct span s, int64_t *value)
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

static int find_label(const struct tw_sched_program *p, struct span name)
{
    for (uint32_t i = 0; i < p->n_labels; i++)
        if (same(name, p->labels[i].name, p->labels[i].size))
            return (int)i;
    return -1;
}

/* The values of immediates: the section's labels have none yet. */
static int value_of(void *arg, const char *text, size_t size, int64_t *value, struct tw_error *err)
{
    struct reader *r = arg;
    struct span s = {text, size};

    if (find_label(r->p, s) >= 0)
        return 1;
    if (r->p->options->value != NULL)
        return r->p->options->value(r->p->options->arg, text, size, value, err);
    if (plain_number(s, value) == 0)
        return 0;
    return tw_fail(err, TW_E_FORMAT, "\"#%.*s\" is no number", (int)(size < 40 ? size : 40), text);
}

/* A number in a directive. Returns 0, or 1 after telling the fault. */
static int number(struct reader *r, struct span s, int64_t least, int64_t most, int64_t *value)
{
    struct tw_error err = {0, ""};
    int code = s.size == 0 ? 1 : value_of(r, s.text, s.size, value, &err);

    if (code != 0)
        return fault(r, s.text, code < 0 ? "%s" : "expected a number%s", code < 0 ? err.text : "");
    if (*value < least || *value > most)
        return fault(r, s.text, "%" PRId64 " is not between %" PRId64 " and %" PRId64, *value, least, most);
    return 0;
}

/* ---- symbolic registers */

static int find_var(const struct tw_sched_program *p, struct span name)
{
    for (uint32_t i = p->n_vars; i > 0; i--)
        if (same(name, p->vars[i - 1].name, p->vars[i - 1].size))
            return (int)i - 1;
    return -1;
}

/* Splits "%name.part"; part is empty without one. */
static struct span part_of(struct span *name)
{
    const char *dot = name->size == 0 ? NULL : memchr(name->text, '.', name->size);
    struct span part = {"", 0};

    if (dot != NULL) {
        part.text = dot + 1;
        part.size = name->size - (size_t)(dot + 1 - name->text);
        name->size = (size_t)(dot - name->text);
    }
    return part;
}

static int find_part(const struct tw_sched_kind *k, struct span part)
{
    for (unsigned i = 0; i < k->n_parts; i++)
        if (equals(part, k->parts[i].name))
            return (int)i;
    return -1;
}

static int is_taken(const struct reader *r, uint16_t reg)
{
    for (unsigned i = 0; i < tw_registers[reg].n_leaves; i++)
        if ((r->taken[tw_registers[reg].leaves[i] / 64] >> tw_registers[reg].leaves[i] % 64 & 1) != 0)
            return 1;
    return 0;
}

static void set_leaves(uint64_t *set, int reg)
{
    for (unsigned i = 0; i < tw_registers[reg].n_leaves; i++)
        set[tw_registers[reg].leaves[i] / 64] |= (uint64_t)1 << tw_registers[reg].leaves[i] % 64;
}

/* The register that stands for a symbolic one in the operation being parsed, or -1. */
static int placeholder(struct reader *r, int var)
{
    const struct tw_sched_var *v = &r->p->vars[var];

    for (unsigned i = 0; i < r->n_placeholders; i++)
        if (r->placeholders[i].var == var)
            return r->placeholders[i].reg;
    if (r->n_placeholders == PLACEHOLDERS)
        return -1;
    for (unsigned i = 0; i < r->p->n_registers[v->kind]; i++) {
        uint16_t reg = r->p->registers[v->kind][i];
        if (is_taken(r, reg))
            continue;
        set_leaves(r->taken, reg);
        r->placeholders[r->n_placeholders++] = (struct placeholder){(int16_t)var, reg};
        return reg;
    }
    return -1;
}

/* What the parser sees for a register's name. */
static int register_name(void *arg, const char *text, size_t size)
{
    struct reader *r = arg;
    struct span name = {text, size}, part = part_of(&name);
    int var = size > 0 && text[0] == '%' ? find_var(r->p, name) : -1;

    if (var < 0)
        return -1;
    const struct tw_sched_kind *k = &tw_sched_kinds[r->p->vars[var].kind];
    int number_of_part = find_part(k, part);
    int reg = r->p->vars[var].fixed >= 0 ? r->p->vars[var].fixed : placeholder(r, var);
    return number_of_part < 0 || reg < 0 ? -1 : tw_sched_part(r->p, (uint16_t)reg, &k->parts[number_of_part]);
}

/* Checks the names in an operation before it is parsed, and notes the real registers that it names. */
static int check_names(struct reader *r, struct span s)
{
    r->n_placeholders = 0;
    memset(r->taken, 0, sizeof r->taken);
    while (s.size > 0) {
        if (!is_name(s.text[0])) {
            s.text++, s.size--;
            continue;
        }
        struct span name = take_name(&s), whole = name;
        int reg = tw_register_find(name.text, name.size);
        if (reg >= 0)
            set_leaves(r->taken, reg);
        if (name.text[0] != '%')
            continue;
        struct span part = part_of(&name);
        int var = find_var(r->p, name);
        if (var < 0)
            return fault(r, name.text, "%.*s is no symbolic register: declare it by .reg KIND %.*s", (int)name.size,
                         name.text, (int)name.size, name.text);
        if (find_part(&tw_sched_kinds[r->p->vars[var].kind], part) < 0)
            return fault(r, name.text, "%.*s: a register of kind %s has no part \"%.*s\"", (int)whole.size, whole.text,
                         tw_sched_kinds[r->p->vars[var].kind].name, (int)part.size, part.text);
        if (r->p->vars[var].fixed >= 0)
            set_leaves(r->taken, r->p->vars[var].fixed);
    }
    return 0;
}

/* ---- room */

/* Room for one more of something; grows by doubling. */
static void *grow(struct reader *r, void *array, uint32_t n, uint32_t *room, size_t size)
{
    if (n < *room)
        return array;
    uint32_t more = *room == 0 ? 64 : *room * 2;
    void *bigger = tw_arena_alloc(&r->p->arena, more, size);
    if (bigger == NULL) {
        no_memory(r);
        return NULL;
    }
    if (n > 0)
        memcpy(bigger, array, n * size);
    *room = more;
    return bigger;
}

static struct tw_sched_var *new_var(struct reader *r, unsigned kind)
{
    struct tw_sched_program *p = r->p;

    if (p->n_vars == SCHED_VARS) {
        fault(r, NULL, "more than %d symbolic registers in one section", SCHED_VARS);
        return NULL;
    }
    void *vars = grow(r, p->vars, p->n_vars, &r->room_vars, sizeof *p->vars);
    if (vars == NULL)
        return NULL;
    p->vars = vars;
    struct tw_sched_var *v = &p->vars[p->n_vars++];
    *v = (struct tw_sched_var){"%", 1, (uint8_t)kind, -1, -1, -1, -1, -1, p->n_var_leaves, r->line};
    p->n_var_leaves += tw_sched_kinds[kind].n_leaves;
    return v;
}

/* ---- pieces and runs */

static int new_piece(struct reader *r, int32_t loop)
{
    struct tw_sched_program *p = r->p;
    void *pieces = grow(r, p->pieces, p->n_pieces, &r->room_pieces, sizeof *p->pieces);

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

static int new_run(struct reader *r)
{
    struct tw_sched_program *p = r->p;
    void *runs = grow(r, p->runs, p->n_runs, &r->room_runs, sizeof *p->runs);

    if (runs == NULL)
        return r->code;
    p->runs = runs;
    p->runs[p->n_runs++] = (struct tw_sched_run){p->n_pieces, 0, -1, 0};
    r->after_branch = 0;
    return new_piece(r, -1);
}

static struct tw_sched_piece *current_piece(struct reader *r)
{
    return &r->p->pieces[r->p->n_pieces - 1];
}

/* Whether anything stands in the current run. */
static int run_is_empty(const struct reader *r)
{
    const struct tw_sched_run *run = &r->p->runs[r->p->n_runs - 1];
    return run->count == 1 && r->p->pieces[run->first].count == 0;
}

/* ---- operations */

/* Mnemonics that stand for several: those that differ in the slot alone. */
static const struct {
    const char *name;
    const char *real[SCHED_ALT];
} choices[] = {
    {"vld", {"vldb", "vlda"}},
    {"vld.2d", {"vldb.2d", "vlda.2d"}},
    {"vld.3d", {"vldb.3d", "vlda.3d"}},
    {"padd", {"paddb", "padds", "padda"}},
    {"padd.2d", {"paddb.2d", "padds.2d", "padda.2d"}},
    {"padd.3d", {"paddb.3d", "padds.3d", "padda.3d"}},
    {"movi", {"mova", "movx", "mov", "movxm"}},
    {"vsr.d16.s32", {"vsrsm.d16.s32", "vsrs.d16.s32"}},
    {"vsr.s16.s32", {"vsrsm.s16.s32", "vsrs.s16.s32"}},
    {"vsr.d32.s64", {"vsrsm.d32.s64", "vsrs.d32.s64"}},
    {"vsr.s32.s64", {"vsrsm.s32.s64", "vsrs.s32.s64"}},
};

static int find_choice(struct span mnemonic)
{
    for (unsigned i = 0; i < sizeof choices / sizeof choices[0]; i++)
        if (equals(mnemonic, choices[i].name))
            return (int)i;
    return -1;
}

static int reads(const struct tw_operand_info *o)
{
    return o->role != TW_OPERAND_OUT;
}

static struct tw_operand_cycle cycle_of(const struct tw_schedule_class *c, unsigned i)
{
    static const struct tw_operand_cycle first = {1, TW_BYPASS_NONE};
    return i < c->n_cycles ? c->cycles[i] : first;
}

/* Finds what a register in a parsed operation stands for. */
static void resolve(const struct reader *r, struct tw_sched_ref *ref, uint16_t reg)
{
    const struct tw_sched_program *p = r->p;

    ref->var = -1;
    ref->web = -1;
    ref->reg = reg;
    ref->part = 0;
    ref->first = 0;
    ref->count = tw_registers[reg].n_leaves;
    for (unsigned i = 0; i < r->n_placeholders; i++) {
        const struct tw_sched_kind *k = &tw_sched_kinds[p->vars[r->placeholders[i].var].kind];
        for (unsigned part = 0; part < k->n_parts; part++) {
            if (tw_sched_part(p, r->placeholders[i].reg, &k->parts[part]) != reg)
                continue;
            ref->var = r->placeholders[i].var;
            ref->part = (uint8_t)part;
            ref->first = k->parts[part].first;
            ref->count = k->parts[part].count;
            return;
        }
    }
}

static unsigned list_refs(const struct reader *r, const struct tw_operation *alt, struct tw_sched_ref *refs)
{
    const struct tw_instruction *in = &tw_instructions[alt->instruction];
    const struct tw_schedule_class *c = tw_operation_schedule(alt);
    unsigned n = 0;

    for (unsigned i = 0; i < in->n_operands; i++) {
        if (in->operands[i].kind != TW_OPERAND_REGISTER)
            continue;
        struct tw_operand_cycle t = cycle_of(c, i);
        refs[n].operand = (uint8_t)i;
        refs[n].writes = !reads(&in->operands[i]);
        refs[n].cycle = t.cycle;
        refs[n].bypass = t.bypass;
        resolve(r, &refs[n++], (uint16_t)alt->operands[i]);
    }
    for (unsigned i = 0; i < (unsigned)in->n_defs + in->n_uses; i++) {
        int write = i < in->n_defs;
        struct tw_operand_cycle t = cycle_of(c, in->n_operands + i);
        refs[n].operand = SCHED_IMPLICIT;
        refs[n].writes = (uint8_t)write;
        refs[n].cycle = t.cycle;
        refs[n].bypass = t.bypass;
        resolve(r, &refs[n++], write ? in->defs[i] : in->uses[i - in->n_defs]);
    }
    return n;
}

static int same_refs(const struct tw_sched_ref *a, const struct tw_sched_ref *b, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        if (a[i].operand != b[i].operand || a[i].writes != b[i].writes || a[i].cycle != b[i].cycle ||
            a[i].bypass != b[i].bypass || a[i].var != b[i].var || a[i].part != b[i].part || a[i].reg != b[i].reg)
            return 0;
    return 1;
}

static int is_part_word(const struct tw_instruction *in)
{
    return (in->flags & TW_FLAG_STORE) != 0 && (in->flags & TW_FLAG_LOAD) != 0;
}

/* Adds a way to write an operation. Those that differ in more than the slot from the first are left out. */
static void add_alternative(const struct reader *r, struct tw_sched_op *op, const struct tw_operation *alt)
{
    const struct tw_instruction *in = &tw_instructions[alt->instruction];
    const struct tw_schedule_class *c = tw_operation_schedule(alt);
    struct tw_sched_ref refs[SCHED_REFS];
    unsigned n = list_refs(r, alt, refs);

    if (op->n_alt == 0) {
        memcpy(op->refs, refs, sizeof refs);
        op->n_refs = (uint8_t)n;
        op->flags = in->flags;
        op->mem_first = c->memory_first;
        op->mem_last = c->memory_last;
        op->part_word = (uint8_t)is_part_word(in);
    } else if (n != op->n_refs || !same_refs(refs, op->refs, n) || c->memory_first != op->mem_first ||
               c->memory_last != op->mem_last || in->flags != op->flags) {
        return;
    }
    op->alt[op->n_alt++] = *alt;
}

static struct tw_sched_op *new_op(struct reader *r, const char *at)
{
    struct tw_sched_program *p = r->p;

    if (p->n_ops == SCHED_OPS) {
        fault(r, at, "more than %d operations in one section", SCHED_OPS);
        return NULL;
    }
    void *ops = grow(r, p->ops, p->n_ops, &r->room_ops, sizeof *p->ops);
    if (ops == NULL)
        return NULL;
    p->ops = ops;
    struct tw_sched_op *op = &p->ops[p->n_ops];
    memset(op, 0, sizeof *op);
    op->tag = op->bank = -1;
    op->immediate = -1;
    op->label = -1;
    op->line = r->line;
    op->column = at == NULL ? 0 : (size_t)(at - p->lines[r->line].text);
    op->piece = (int32_t)p->n_pieces - 1;
    return op;
}

static void commit_op(struct reader *r)
{
    r->p->n_ops++;
    current_piece(r)->count++;
}

/* Notes an immediate that has no value yet; at: where it stands in the line. */
static void note_unresolved(struct reader *r, struct tw_sched_op *op, const struct tw_unresolved *u, const char *at)
{
    struct span s = {at, u->size};

    op->immediate = (int8_t)u->operand;
    op->label = find_label(r->p, s);
    op->text = s.text;
    op->text_size = s.size;
}

/* Parses one spelling of an operation. Returns 0, or 1 with the fault's place in *column. */
static int parse_spelling(struct reader *r, const char *text, size_t size, struct tw_operation *alt,
                          struct tw_unresolved *unresolved, size_t *n_unresolved, size_t *column, struct tw_error *err)
{
    const struct tw_parse_context context = {value_of, register_name, r};

    *n_unresolved = 0;
    return tw_operation_parse(text, size, TW_SLOT_COUNT, &context, alt, unresolved, n_unresolved, column, err) < 0;
}

/* Parses an operation whose mnemonic is followed by `rest`. choice < 0: it is written as it is. */
static int parse_operation(struct reader *r, struct span s, int choice, struct tw_sched_op *op)
{
    struct span rest = s, mnemonic = take_name(&rest);
    struct tw_error err = {0, ""}, first_err = {0, ""};
    size_t place = 0;

    for (unsigned i = 0; i < SCHED_ALT; i++) {
        const char *real = choice < 0 ? NULL : choices[choice].real[i];
        char text[STATEMENT + 16];
        struct tw_operation alt;
        struct tw_unresolved unresolved[TW_UNRESOLVED_MAX];
        size_t n_unresolved, column = 0;
        size_t head = real == NULL ? mnemonic.size : strlen(real);

        if (choice >= 0 && real == NULL)
            break;
        memcpy(text, real == NULL ? mnemonic.text : real, head);
        text[head] = ' ';
        memcpy(text + head + 1, rest.text, rest.size);
        if (parse_spelling(r, text, head + 1 + rest.size, &alt, unresolved, &n_unresolved, &column, &err) != 0) {
            if (i == 0 || column > place) {
                place = column > head ? (size_t)(rest.text - s.text) + column - head - 1 : 0;
                first_err = err;
            }
        } else {
            if (n_unresolved > 0) { /* its value may be large: the last spelling is the one with the widest immediate */
                op->n_alt = 0;
                note_unresolved(r, op, &unresolved[0], rest.text + (unresolved[0].text - (text + head + 1)));
            }
            if (n_unresolved > 1)
                return fault(r, s.text, "more than one value that is not known yet in one operation");
            add_alternative(r, op, &alt);
        }
        if (choice < 0)
            break;
    }
    if (op->n_alt == 0)
        return fault(r, s.text + place, "%s", first_err.text);
    return 0;
}

/* ---- tags */

static int find_tag(struct reader *r, struct span name, const char **names, size_t *sizes, uint32_t *n, uint32_t most,
                    const char *what)
{
    for (uint32_t i = 0; i < *n; i++)
        if (same(name, names[i], sizes[i]))
            return (int)i;
    if (name.size == 0) {
        fault(r, name.text, "expected the name of %s", what);
        return -1;
    }
    if (*n == most) {
        fault(r, name.text, "more than %" PRIu32 " different names of %ss", most, what);
        return -1;
    }
    names[*n] = name.text;
    sizes[*n] = name.size;
    return (int)(*n)++;
}

static int alias_tag(struct reader *r, struct span name)
{
    return find_tag(r, name, r->p->tags, r->p->tag_sizes, &r->p->n_tags, SCHED_TAGS, "an alias tag");
}

/* "TAG" or "TAG:BANK" behind the '@' of an operation. */
static int read_tags(struct reader *r, struct span s, struct tw_sched_op *op)
{
    struct span all = trim(s), name = trim(take_until(&s, ':'));
    int tag = alias_tag(r, name);

    if (tag < 0)
        return 1;
    if (op->mem_first == 0)
        return fault(r, all.text, "@%.*s: only operations that access memory have tags", (int)all.size, all.text);
    op->tag = (int8_t)tag;
    if (name.text + name.size == all.text + all.size)
        return 0;
    int bank = find_tag(r, trim(s), r->p->banks, r->p->bank_sizes, &r->p->n_banks, SCHED_BANKS, "a bank");
    op->bank = (int8_t)bank;
    return bank < 0;
}

static int check_kind(struct reader *r, struct span s, const struct tw_sched_op *op)
{
    unsigned instruction = op->alt[0].instruction;

    if ((op->flags & TW_FLAG_NOP) != 0)
        return fault(r, s.text, "nops are the scheduler's business: leave them out");
    if (instruction == TW_I_JL || instruction == TW_I_JL_IND)
        return fault(r, s.text, "scheduled code cannot call: what a callee does to registers is not known");
    if ((op->flags & TW_FLAG_BRANCH) != 0 && r->loop >= 0)
        return fault(r, s.text, "a zero-overhead loop cannot hold a branch");
    if (tw_writes_loop_register(&op->alt[0]) && !op->added)
        return fault(r, s.text, "LC, LS and LE are the scheduler's: declare the loop by .loop");
    return 0;
}

static int statement(struct reader *r, struct span s)
{
    struct span tags = {NULL, 0};
    const char *mark = s.size == 0 ? NULL : memchr(s.text, '@', s.size);

    if (mark != NULL)
        tags = (struct span){mark + 1, s.size - (size_t)(mark + 1 - s.text)};
    s = trim(take_until(&s, '@'));
    if (s.size == 0)
        return fault(r, s.text, "expected an operation");
    if (s.size > STATEMENT)
        return fault(r, s.text, "an operation of %zu characters is too long", s.size);
    if (check_names(r, s) != 0)
        return 1;
    struct tw_sched_op *op = new_op(r, s.text);
    if (op == NULL)
        return 1;
    struct span all = s;
    if (parse_operation(r, s, find_choice(take_name(&all)), op) != 0 || check_kind(r, s, op) != 0)
        return 1;
    if (tags.text != NULL && read_tags(r, tags, op) != 0)
        return 1;
    if (r->after_branch && new_run(r) < 0)
        return 1;
    r->p->ops[r->p->n_ops].piece = (int32_t)r->p->n_pieces - 1;
    commit_op(r);
    if ((op->flags & TW_FLAG_BRANCH) != 0) {
        r->p->runs[r->p->n_runs - 1].branch = (int32_t)r->p->n_ops - 1;
        r->after_branch = 1;
    }
    return 0;
}

/* ---- directives */

/* "= register" behind a name. Returns it, or -1 after telling the fault; -2 when there is no '='. */
static int take_register(struct reader *r, struct span *s)
{
    if (!take(s, '='))
        return -2;
    struct span name = take_name(s);
    int reg = tw_register_find(name.text, name.size);
    if (reg < 0)
        fault(r, name.text, "\"%.*s\" is no register", (int)name.size, name.text);
    return reg < 0 ? -1 : reg;
}

/* The register of a kind that has a name's text: d0 of a d3 is the 3D walk. -1 when the kind has none. */
static int of_kind(const struct tw_sched_program *p, unsigned kind, int reg)
{
    for (unsigned i = 0; i < p->n_registers[kind]; i++)
        if (p->registers[kind][i] == reg ||
            strcmp(tw_registers[p->registers[kind][i]].name, tw_registers[reg].name) == 0)
            return p->registers[kind][i];
    return -1;
}

static int fail_kind(struct reader *r, struct span s, int reg, unsigned kind)
{
    return fault(r, s.text, "%s is no register of kind %s", tw_registers[reg].name, tw_sched_kinds[kind].name);
}

static int declare(struct reader *r, struct span *s, unsigned kind)
{
    struct span name = take_name(s);

    if (name.size < 2 || name.text[0] != '%' || memchr(name.text, '.', name.size) != NULL ||
        memchr(name.text, '$', name.size) != NULL)
        return fault(r, name.text, "expected the name of a symbolic register: %%, then letters, digits or _");
    if (find_var(r->p, name) >= 0)
        return fault(r, name.text, "%.*s is declared already", (int)name.size, name.text);
    struct span at = *s;
    int reg = take_register(r, s);
    if (reg == -1)
        return 1;
    if (reg >= 0 && of_kind(r->p, kind, reg) < 0)
        return fail_kind(r, at, reg, kind);
    struct tw_sched_var *v = new_var(r, kind);
    if (v == NULL)
        return 1;
    v->name = name.text;
    v->size = name.size;
    v->fixed = (int16_t)(reg < 0 ? -1 : of_kind(r->p, kind, reg));
    return 0;
}

/* Calls item for each part of a list with commas, until one fails or it is at its end. */
static int each(struct reader *r, struct span s, int (*item)(struct reader *, struct span *, unsigned), unsigned arg)
{
    do {
        if (item(r, &s, arg) != 0)
            return 1;
    } while (take(&s, ','));
    return s.size == 0 ? 0 : fault(r, s.text, "expected \",\", not \"%.*s\"", (int)(s.size < 20 ? s.size : 20), s.text);
}

static int directive_reg(struct reader *r, struct span s)
{
    struct span name = take_name(&s);

    for (unsigned k = 0; k < tw_sched_kind_count; k++)
        if (equals(name, tw_sched_kinds[k].name))
            return each(r, s, declare, k);
    return fault(r, name.text, "\"%.*s\" is no kind of register: expected r l p m dn dj dc s d d3 wl wh x am bm or cm",
                 (int)name.size, name.text);
}

/* "%name = register": where a value is on entry (out: must be at the end). */
static int place_at_border(struct reader *r, struct span *s, unsigned out)
{
    struct span name = take_name(s), at = *s;
    int var = find_var(r->p, name);

    if (var < 0)
        return fault(r, name.text, "%.*s is no symbolic register: declare it by .reg", (int)name.size, name.text);
    int reg = take_register(r, s);
    if (reg == -2)
        return fault(r, at.text, "expected \"=\" and the register that holds it");
    if (reg < 0)
        return 1;
    struct tw_sched_var *v = &r->p->vars[var];
    int real = of_kind(r->p, v->kind, reg);
    if (real < 0)
        return fail_kind(r, at, reg, v->kind);
    if (v->fixed >= 0)
        return fault(r, name.text, "%.*s is another name of %s: it needs no place", (int)name.size, name.text,
                     tw_registers[v->fixed].name);
    if (out)
        v->out = (int16_t)real;
    else
        v->in = (int16_t)real;
    return 0;
}

static int keep_one(struct reader *r, struct span *s, unsigned unused)
{
    struct span name = take_name(s);
    int reg = tw_register_find(name.text, name.size);

    (void)unused;
    if (reg < 0)
        return fault(r, name.text, "\"%.*s\" is no register", (int)name.size, name.text);
    set_leaves(r->p->keep, reg);
    return 0;
}

/* ---- loops */

/* Adds an operation of the scheduler's own, written in text that is right. */
static int add_own(struct reader *r, const char *text, int choice)
{
    struct span s = {text, strlen(text)};
    struct tw_sched_op *op = new_op(r, NULL);

    if (op == NULL)
        return 1;
    op->added = 1;
    if (check_names(r, s) != 0 || parse_operation(r, s, choice, op) != 0)
        return 1;
    commit_op(r);
    return 0;
}

/* A symbolic register of the scheduler's own; its name cannot be written. */
static int own_register(struct reader *r, const char *name)
{
    struct tw_sched_var *v = new_var(r, 0);

    if (v == NULL)
        return 1;
    v->name = name;
    v->size = strlen(name);
    return 0;
}

/* The operations that write LC for a count in a register: (trips - peeled) shifted right by the copies' logarithm. */
static int add_register_count(struct reader *r, struct span name, int shifted)
{
    char text[STATEMENT];

    if (!shifted) {
        snprintf(text, sizeof text, "add.nc LC, %.*s, #0", (int)name.size, name.text);
        return add_own(r, text, -1);
    }
    if (own_register(r, "%$a") != 0 || own_register(r, "%$b") != 0 || own_register(r, "%$c") != 0)
        return 1;
    snprintf(text, sizeof text, "add.nc %%$a, %.*s, #0", (int)name.size, name.text);
    struct span movi = {"movi", 4};
    return add_own(r, text, -1) != 0 || add_own(r, "movi %$b, #0", find_choice(movi)) != 0 ||
           add_own(r, "lshl %$c, %$a, %$b", -1) != 0 || add_own(r, "mov LC, %$c", -1) != 0;
}

static int add_setup(struct reader *r, struct tw_sched_loop *l, struct span name)
{
    struct span movi = {"movi", 4};
    char text[64];

    l->trip_op = (int32_t)r->p->n_ops;
    if (l->trips < 0 && add_register_count(r, name, l->multiple > 1) != 0)
        return 1;
    if (l->trips >= 0) {
        snprintf(text, sizeof text, "movi LC, #%" PRId64, l->trips);
        if (add_own(r, text, find_choice(movi)) != 0)
            return 1;
    }
    l->setup = (int32_t)r->p->n_ops;
    return add_own(r, "movxm LS, #0", -1) != 0 || add_own(r, "movxm LE, #0", -1) != 0;
}

static int independent(struct reader *r, struct span *s, unsigned loop)
{
    int tag = alias_tag(r, take_name(s));

    if (tag < 0)
        return 1;
    r->p->loops[loop].independent |= 1u << tag;
    return 0;
}

/* "least=N multiple=N independent=TAG,TAG" */
static int loop_facts(struct reader *r, struct span s, uint32_t loop)
{
    struct tw_sched_loop *l = &r->p->loops[loop];

    while ((s = trim(s)).size > 0) {
        struct span word = take_word(&s), value = word, name = take_until(&value, '=');
        int code;
        if (equals(name, "least"))
            code = number(r, value, 1, INT32_MAX, &l->least);
        else if (equals(name, "multiple"))
            code = number(r, value, 1, INT32_MAX, &l->multiple);
        else if (equals(name, "independent"))
            code = each(r, value, independent, loop);
        else
            code = fault(r, word.text, "expected least=, multiple= or independent=, not \"%.*s\"", (int)word.size,
                         word.text);
        if (code != 0)
            return 1;
    }
    if (l->least % l->multiple != 0)
        l->least += l->multiple - l->least % l->multiple;
    return 0;
}

static int directive_loop(struct reader *r, struct span s)
{
    struct tw_sched_program *p = r->p;
    struct span count = take_word(&s);

    if (r->loop >= 0)
        return fault(r, count.text,
                     "a loop inside the loop of line %u: only innermost loops are declared; an outer one "
                     "is a label and a jnzd",
                     p->lines[p->loops[r->loop].line].line);
    void *loops = grow(r, p->loops, p->n_loops, &r->room_loops, sizeof *p->loops);
    if (loops == NULL || (r->after_branch && new_run(r) < 0))
        return 1;
    p->loops = loops;
    struct tw_sched_loop l = {r->line, -1, -1, 1, 1, 0, -1, -1, NULL};
    p->loops[p->n_loops] = l;
    if (count.size > 0 && count.text[0] == '%') {
        int var = find_var(p, count);
        if (var < 0 || p->vars[var].kind != 0)
            return fault(r, count.text, "%.*s is no symbolic register of kind r", (int)count.size, count.text);
    } else if (number(r, count, 1, INT32_MAX, &p->loops[p->n_loops].trips) != 0) {
        return 1;
    }
    if (loop_facts(r, s, p->n_loops) != 0)
        return 1;
    r->loop = (int32_t)p->n_loops++;
    struct tw_sched_loop *new = &p->loops[r->loop];
    if (add_setup(r, new, count) != 0 || new_piece(r, r->loop) < 0)
        return 1;
    new->piece = (int32_t)p->n_pieces - 1;
    return 0;
}

static int directive_endloop(struct reader *r, struct span s)
{
    if (r->loop < 0)
        return fault(r, s.text, "no loop is open here");
    if (current_piece(r)->count == 0)
        fault(r, s.text, "the loop is empty");
    if (current_piece(r)->count > SCHED_LOOP_OPS)
        fault(r, s.text, "a loop of %" PRIu32 " operations is longer than the scheduler takes (%d)",
              current_piece(r)->count, SCHED_LOOP_OPS);
    r->loop = -1;
    return new_piece(r, -1);
}

static int directive(struct reader *r, struct span s)
{
    struct span name = take_name(&s);

    if (equals(name, ".reg"))
        return directive_reg(r, s);
    if (equals(name, ".in"))
        return each(r, s, place_at_border, 0);
    if (equals(name, ".out"))
        return each(r, s, place_at_border, 1);
    if (equals(name, ".keep"))
        return each(r, s, keep_one, 0);
    if (equals(name, ".loop"))
        return directive_loop(r, s);
    if (equals(name, ".endloop"))
        return directive_endloop(r, s);
    return fault(r, name.text, "%.*s is no directive of scheduled code", (int)name.size, name.text);
}

/* ---- lines */

/* Takes "name:" from the front of a line. */
static struct span take_label(struct span *s)
{
    struct span rest = *s, name = take_name(&rest);

    if (name.size == 0 || name.text[0] == '.' || name.text[0] == '%' || !take(&rest, ':'))
        return (struct span){NULL, 0};
    *s = rest;
    return name;
}

static struct span line_text(struct reader *r, size_t number_of_line)
{
    const struct tw_source_line *line = &r->p->lines[number_of_line];
    struct span s = {line->size == 0 ? "" : line->text, line->size};

    r->line = number_of_line;
    for (size_t i = 0; i + 1 < s.size; i++)
        if (s.text[i] == '/' && s.text[i + 1] == '/')
            s.size = i;
    return trim(s);
}

/* Finds all labels first, for jumps forward. */
static int list_labels(struct reader *r)
{
    struct tw_sched_program *p = r->p;
    uint32_t room = 0;

    for (size_t i = 0; i < p->n_lines; i++) {
        struct span s = line_text(r, i), name = take_label(&s);
        if (name.text == NULL)
            continue;
        if (find_label(p, name) >= 0) {
            fault(r, name.text, "the label %.*s is there already", (int)name.size, name.text);
            continue;
        }
        void *labels = grow(r, p->labels, p->n_labels, &room, sizeof *p->labels);
        if (labels == NULL)
            return r->code;
        p->labels = labels;
        p->labels[p->n_labels++] = (struct tw_sched_label_place){name.text, name.size, i, -1};
    }
    return 0;
}

static int set_label(struct reader *r, struct span name)
{
    int label = find_label(r->p, name);

    if (r->loop >= 0)
        return fault(r, name.text, "a zero-overhead loop cannot hold a label");
    if ((r->after_branch || !run_is_empty(r)) && new_run(r) < 0)
        return 1;
    r->p->labels[label].run = (int32_t)r->p->n_runs - 1;
    r->p->runs[r->p->n_runs - 1].labelled = 1;
    return 0;
}

static int read_line(struct reader *r, size_t number_of_line)
{
    struct span s = line_text(r, number_of_line), label = take_label(&s);

    if (label.text != NULL && set_label(r, label) != 0)
        return 1;
    if (s.size == 0)
        return 0;
    if (s.text[0] == '.')
        return directive(r, s);
    while (s.size > 0)
        if (statement(r, take_until(&s, ';')) != 0)
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
                set_leaves(read, p->ops[i].refs[k].reg);
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
    struct reader r;

    memset(&r, 0, sizeof r);
    r.p = p;
    r.loop = -1;
    tw_sched_list_registers(p);
    if (list_labels(&r) < 0 || new_run(&r) < 0)
        return r.code;
    for (size_t i = 0; i < p->n_lines && r.code == 0; i++)
        (void)read_line(&r, i);
    if (r.code < 0)
        return r.code;
    if (r.loop >= 0) {
        r.line = p->loops[r.loop].line;
        fault(&r, NULL, "this loop has no .endloop");
    }
    if (p->n_faults > 0)
        return TW_E_FORMAT;
    drop_unread_flags(p);
    return 0;
}
