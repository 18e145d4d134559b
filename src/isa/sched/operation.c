/* Operations in scheduled text: the parser sees real registers in place of the symbolic ones. */
#include "isa/sched/text.h"

#include <inttypes.h>

enum { STATEMENT = 256 };

/* ---- symbolic registers */
/* Splits "%name.part"; part is empty without one. */
static struct tw_sched_span part_of(struct tw_sched_span *name)
{
    const char *dot = name->size == 0 ? NULL : memchr(name->text, '.', name->size);
    struct tw_sched_span part = {"", 0};

    if (dot != NULL) {
        part.text = dot + 1;
        part.size = name->size - (size_t)(dot + 1 - name->text);
        name->size = (size_t)(dot - name->text);
    }
    return part;
}

static int find_part(const struct tw_sched_kind *k, struct tw_sched_span part)
{
    for (unsigned i = 0; i < k->n_parts; i++)
        if (tw_sched_equals(part, k->parts[i].name))
            return (int)i;
    return -1;
}

static int is_taken(const struct tw_sched_reader *r, uint16_t reg)
{
    for (unsigned i = 0; i < tw_registers[reg].n_leaves; i++)
        if ((r->taken[tw_registers[reg].leaves[i] / 64] >> tw_registers[reg].leaves[i] % 64 & 1) != 0)
            return 1;
    return 0;
}

/* The register that stands for a symbolic one in the operation being parsed, or -1. */
static int placeholder(struct tw_sched_reader *r, int var)
{
    const struct tw_sched_var *v = &r->p->vars[var];

    for (unsigned i = 0; i < r->n_placeholders; i++)
        if (r->placeholders[i].var == var)
            return r->placeholders[i].reg;
    if (r->n_placeholders == SCHED_PLACEHOLDERS)
        return -1;
    for (unsigned i = 0; i < r->p->n_registers[v->kind]; i++) {
        uint16_t reg = r->p->registers[v->kind][i];
        if (is_taken(r, reg))
            continue;
        tw_sched_set_leaves(r->taken, reg);
        r->placeholders[r->n_placeholders++] = (struct tw_sched_placeholder){(int16_t)var, reg};
        return reg;
    }
    return -1;
}

/* What the parser sees for a register's name. */
static int register_name(void *arg, const char *text, size_t size)
{
    struct tw_sched_reader *r = arg;
    struct tw_sched_span name = {text, size}, part = part_of(&name);
    int var = size > 0 && text[0] == '%' ? tw_sched_find_var(r->p, name) : -1;

    if (var < 0)
        return -1;
    const struct tw_sched_kind *k = &tw_sched_kinds[r->p->vars[var].kind];
    int number_of_part = find_part(k, part);
    int reg = r->p->vars[var].fixed >= 0 ? r->p->vars[var].fixed : placeholder(r, var);
    return number_of_part < 0 || reg < 0 ? -1 : tw_sched_part(r->p, (uint16_t)reg, &k->parts[number_of_part]);
}

/* Checks the names in an operation before it is parsed, and notes the real registers that it names. */
static int check_names(struct tw_sched_reader *r, struct tw_sched_span s)
{
    r->n_placeholders = 0;
    memset(r->taken, 0, sizeof r->taken);
    while (s.size > 0) {
        if (!tw_sched_is_name(s.text[0])) {
            s.text++, s.size--;
            continue;
        }
        struct tw_sched_span name = tw_sched_take_name(&s), whole = name;
        int reg = tw_register_find(name.text, name.size);
        if (reg >= 0)
            tw_sched_set_leaves(r->taken, reg);
        if (name.text[0] != '%')
            continue;
        struct tw_sched_span part = part_of(&name);
        int var = tw_sched_find_var(r->p, name);
        if (var < 0)
            return tw_sched_fault_at(r, name.text, "%.*s is no symbolic register: declare it by .reg KIND %.*s",
                                     (int)name.size, name.text, (int)name.size, name.text);
        if (find_part(&tw_sched_kinds[r->p->vars[var].kind], part) < 0)
            return tw_sched_fault_at(r, name.text, "%.*s: a register of kind %s has no part \"%.*s\"", (int)whole.size,
                                     whole.text, tw_sched_kinds[r->p->vars[var].kind].name, (int)part.size, part.text);
        if (r->p->vars[var].fixed >= 0)
            tw_sched_set_leaves(r->taken, r->p->vars[var].fixed);
    }
    return 0;
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

int tw_sched_find_choice(struct tw_sched_span mnemonic)
{
    for (unsigned i = 0; i < sizeof choices / sizeof choices[0]; i++)
        if (tw_sched_equals(mnemonic, choices[i].name))
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
static void resolve(const struct tw_sched_reader *r, struct tw_sched_ref *ref, uint16_t reg)
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

/*
 * The symbolic register that stands where another kind of register is meant, or -1: 2D and 3D walks have the same
 * names, which the parser takes for each other.
 */
static int misplaced(const struct tw_sched_reader *r, const struct tw_operation *alt)
{
    const struct tw_instruction *in = &tw_instructions[alt->instruction];

    for (unsigned i = 0; i < in->n_operands; i++) {
        struct tw_sched_ref ref;
        if (in->operands[i].kind != TW_OPERAND_REGISTER)
            continue;
        resolve(r, &ref, (uint16_t)alt->operands[i]);
        for (unsigned k = 0; ref.var < 0 && k < r->n_placeholders; k++)
            if (tw_sched_share_leaf(ref.reg, r->placeholders[k].reg))
                return r->placeholders[k].var;
    }
    return -1;
}

static unsigned list_refs(const struct tw_sched_reader *r, const struct tw_operation *alt, struct tw_sched_ref *refs)
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
static void add_alternative(const struct tw_sched_reader *r, struct tw_sched_op *op, const struct tw_operation *alt)
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

static struct tw_sched_op *new_op(struct tw_sched_reader *r, const char *at)
{
    struct tw_sched_program *p = r->p;

    if (p->n_ops == SCHED_OPS) {
        tw_sched_fault_at(r, at, "more than %d operations in one section", SCHED_OPS);
        return NULL;
    }
    void *ops = tw_sched_grow(r, p->ops, p->n_ops, &r->room_ops, sizeof *p->ops);
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

static void commit_op(struct tw_sched_reader *r)
{
    r->p->n_ops++;
    tw_sched_current_piece(r)->count++;
}

/* Notes an immediate that has no value yet; at: where it stands in the line. */
static void note_unresolved(struct tw_sched_reader *r, struct tw_sched_op *op, const struct tw_unresolved *u,
                            const char *at)
{
    struct tw_sched_span s = {at, u->size};

    op->immediate = (int8_t)u->operand;
    op->label = tw_sched_find_label(r->p, s);
    op->text = s.text;
    op->text_size = s.size;
}

/* Parses one spelling of an operation. Returns 0, or 1 with the fault's place in *column. */
static int parse_spelling(struct tw_sched_reader *r, const char *text, size_t size, struct tw_operation *alt,
                          struct tw_unresolved *unresolved, size_t *n_unresolved, size_t *column, struct tw_error *err)
{
    const struct tw_parse_context context = {tw_sched_value, register_name, r};

    *n_unresolved = 0;
    return tw_operation_parse(text, size, TW_SLOT_COUNT, &context, alt, unresolved, n_unresolved, column, err) < 0;
}

/* Parses an operation whose mnemonic is followed by `rest`. choice < 0: it is written as it is. */
static int parse_operation(struct tw_sched_reader *r, struct tw_sched_span s, int choice, struct tw_sched_op *op)
{
    struct tw_sched_span rest = s, mnemonic = tw_sched_take_name(&rest);
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
                return tw_sched_fault_at(r, s.text, "more than one value that is not known yet in one operation");
            int var = misplaced(r, &alt);
            if (var >= 0)
                return tw_sched_fault_at(r, s.text, "%.*s is of kind %s; this operation needs another",
                                         (int)r->p->vars[var].size, r->p->vars[var].name,
                                         tw_sched_kinds[r->p->vars[var].kind].name);
            add_alternative(r, op, &alt);
        }
        if (choice < 0)
            break;
    }
    if (op->n_alt == 0)
        return tw_sched_fault_at(r, s.text + place, "%s", first_err.text);
    return 0;
}

/* ---- tags */

static int find_tag(struct tw_sched_reader *r, struct tw_sched_span name, const char **names, size_t *sizes,
                    uint32_t *n, uint32_t most, const char *what)
{
    for (uint32_t i = 0; i < *n; i++)
        if (tw_sched_same(name, names[i], sizes[i]))
            return (int)i;
    if (name.size == 0) {
        tw_sched_fault_at(r, name.text, "expected the name of %s", what);
        return -1;
    }
    if (*n == most) {
        tw_sched_fault_at(r, name.text, "more than %" PRIu32 " different names of %ss", most, what);
        return -1;
    }
    names[*n] = name.text;
    sizes[*n] = name.size;
    return (int)(*n)++;
}

int tw_sched_alias_tag(struct tw_sched_reader *r, struct tw_sched_span name)
{
    return find_tag(r, name, r->p->tags, r->p->tag_sizes, &r->p->n_tags, SCHED_TAGS, "an alias tag");
}

/* "TAG" or "TAG:BANK" behind the '@' of an operation. */
static int read_tags(struct tw_sched_reader *r, struct tw_sched_span s, struct tw_sched_op *op)
{
    struct tw_sched_span all = tw_sched_trim(s), name = tw_sched_trim(tw_sched_take_until(&s, ':'));
    int tag = tw_sched_alias_tag(r, name);

    if (tag < 0)
        return 1;
    if (op->mem_first == 0)
        return tw_sched_fault_at(r, all.text, "@%.*s: only operations that access memory have tags", (int)all.size,
                                 all.text);
    op->tag = (int8_t)tag;
    if (name.text + name.size == all.text + all.size)
        return 0;
    int bank = find_tag(r, tw_sched_trim(s), r->p->banks, r->p->bank_sizes, &r->p->n_banks, SCHED_BANKS, "a bank");
    op->bank = (int8_t)bank;
    return bank < 0;
}

static int check_kind(struct tw_sched_reader *r, struct tw_sched_span s, const struct tw_sched_op *op)
{
    unsigned instruction = op->alt[0].instruction;

    if ((op->flags & TW_FLAG_NOP) != 0)
        return tw_sched_fault_at(r, s.text, "nops are the scheduler's business: leave them out");
    if (instruction == TW_I_JL || instruction == TW_I_JL_IND)
        return tw_sched_fault_at(r, s.text, "scheduled code cannot call: what a callee does to registers is not known");
    if ((op->flags & TW_FLAG_BRANCH) != 0 && r->loop >= 0)
        return tw_sched_fault_at(r, s.text, "a zero-overhead loop cannot hold a branch");
    if (tw_names_loop_register(&op->alt[0]) && !op->added)
        return tw_sched_fault_at(r, s.text,
                                 "LC, LS and LE are the scheduler's: declare the loop by .loop, and count in another "
                                 "register");
    return 0;
}

int tw_sched_statement(struct tw_sched_reader *r, struct tw_sched_span s)
{
    struct tw_sched_span tags = {NULL, 0};
    const char *mark = s.size == 0 ? NULL : memchr(s.text, '@', s.size);

    if (mark != NULL)
        tags = (struct tw_sched_span){mark + 1, s.size - (size_t)(mark + 1 - s.text)};
    s = tw_sched_trim(tw_sched_take_until(&s, '@'));
    if (s.size == 0)
        return tw_sched_fault_at(r, s.text, "expected an operation");
    if (s.size > STATEMENT)
        return tw_sched_fault_at(r, s.text, "an operation of %zu characters is too long", s.size);
    if (check_names(r, s) != 0)
        return 1;
    struct tw_sched_op *op = new_op(r, s.text);
    if (op == NULL)
        return 1;
    struct tw_sched_span all = s;
    if (parse_operation(r, s, tw_sched_find_choice(tw_sched_take_name(&all)), op) != 0 || check_kind(r, s, op) != 0)
        return 1;
    if (tags.text != NULL && read_tags(r, tags, op) != 0)
        return 1;
    if (r->after_branch && tw_sched_new_run(r) < 0)
        return 1;
    r->p->ops[r->p->n_ops].piece = (int32_t)r->p->n_pieces - 1;
    commit_op(r);
    if ((op->flags & TW_FLAG_BRANCH) != 0) {
        r->p->runs[r->p->n_runs - 1].branch = (int32_t)r->p->n_ops - 1;
        r->after_branch = 1;
    }
    return 0;
}

/* Adds an operation of the scheduler's own, written in text that is right. */
int tw_sched_add_own(struct tw_sched_reader *r, const char *text, int choice)
{
    struct tw_sched_span s = {text, strlen(text)};
    struct tw_sched_op *op = new_op(r, NULL);

    if (op == NULL)
        return 1;
    op->added = 1;
    if (check_names(r, s) != 0 || parse_operation(r, s, choice, op) != 0)
        return 1;
    commit_op(r);
    return 0;
}
