/* Directives of scheduled text: symbolic registers, borders, loops. */
#include "isa/sched/text.h"

#include <inttypes.h>
#include <stdio.h>

enum { OWN_TEXT = 256 };

/* A number in a directive. Returns 0, or 1 after telling the fault. */
static int number(struct tw_sched_reader *r, struct tw_sched_span s, int64_t least, int64_t most, int64_t *value)
{
    struct tw_error err = {0, ""};
    int code = s.size == 0 ? 1 : tw_sched_value(r, s.text, s.size, value, &err);

    if (code != 0)
        return tw_sched_fault_at(r, s.text, code < 0 ? "%s" : "expected a number%s", code < 0 ? err.text : "");
    if (*value < least || *value > most)
        return tw_sched_fault_at(r, s.text, "%" PRId64 " is not between %" PRId64 " and %" PRId64, *value, least, most);
    return 0;
}

/* ---- directives */

/* "= register" behind a name. Returns it, or -1 after telling the fault; -2 when there is no '='. */
static int take_register(struct tw_sched_reader *r, struct tw_sched_span *s)
{
    if (!tw_sched_take(s, '='))
        return -2;
    struct tw_sched_span name = tw_sched_take_name(s);
    int reg = tw_register_find(name.text, name.size);
    if (reg < 0)
        tw_sched_fault_at(r, name.text, "\"%.*s\" is no register", (int)name.size, name.text);
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

static int fail_kind(struct tw_sched_reader *r, struct tw_sched_span s, int reg, unsigned kind)
{
    return tw_sched_fault_at(r, s.text, "%s is no register of kind %s", tw_registers[reg].name,
                             tw_sched_kinds[kind].name);
}

static int declare(struct tw_sched_reader *r, struct tw_sched_span *s, unsigned kind)
{
    struct tw_sched_span name = tw_sched_take_name(s);

    if (name.size < 2 || name.text[0] != '%' || memchr(name.text, '.', name.size) != NULL ||
        memchr(name.text, '$', name.size) != NULL)
        return tw_sched_fault_at(r, name.text,
                                 "expected the name of a symbolic register: %%, then letters, digits or _");
    if (tw_sched_find_var(r->p, name) >= 0)
        return tw_sched_fault_at(r, name.text, "%.*s is declared already", (int)name.size, name.text);
    struct tw_sched_span at = *s;
    int reg = take_register(r, s);
    if (reg == -1)
        return 1;
    if (reg >= 0 && of_kind(r->p, kind, reg) < 0)
        return fail_kind(r, at, reg, kind);
    struct tw_sched_var *v = tw_sched_new_var(r, kind);
    if (v == NULL)
        return 1;
    v->name = name.text;
    v->size = name.size;
    v->fixed = (int16_t)(reg < 0 ? -1 : of_kind(r->p, kind, reg));
    return 0;
}

/* Calls item for each part of a list with commas, until one fails or it is at its end. */
static int each(struct tw_sched_reader *r, struct tw_sched_span s,
                int (*item)(struct tw_sched_reader *, struct tw_sched_span *, unsigned), unsigned arg)
{
    do {
        if (item(r, &s, arg) != 0)
            return 1;
    } while (tw_sched_take(&s, ','));
    return s.size == 0
               ? 0
               : tw_sched_fault_at(r, s.text, "expected \",\", not \"%.*s\"", (int)(s.size < 20 ? s.size : 20), s.text);
}

static int directive_reg(struct tw_sched_reader *r, struct tw_sched_span s)
{
    struct tw_sched_span name = tw_sched_take_name(&s);

    for (unsigned k = 0; k < tw_sched_kind_count; k++)
        if (tw_sched_equals(name, tw_sched_kinds[k].name))
            return each(r, s, declare, k);
    return tw_sched_fault_at(r, name.text,
                             "\"%.*s\" is no kind of register: expected r l p m dn dj dc s d d3 wl wh x am bm or cm",
                             (int)name.size, name.text);
}

/* The symbolic register that .in (out: .out) has put into a register or a part of it, or NULL. */
static const struct tw_sched_var *holder_at_border(const struct tw_sched_program *p, int reg, unsigned out)
{
    for (uint32_t i = 0; i < p->n_vars; i++) {
        int at = out ? p->vars[i].out : p->vars[i].in;
        if (at >= 0 && tw_sched_share_leaf(at, reg))
            return &p->vars[i];
    }
    return NULL;
}

/* "%name = register": where a value is on entry (out: must be at the end). */
static int place_at_border(struct tw_sched_reader *r, struct tw_sched_span *s, unsigned out)
{
    struct tw_sched_span name = tw_sched_take_name(s), at = *s;
    int var = tw_sched_find_var(r->p, name);

    if (var < 0)
        return tw_sched_fault_at(r, name.text, "%.*s is no symbolic register: declare it by .reg", (int)name.size,
                                 name.text);
    int reg = take_register(r, s);
    if (reg == -2)
        return tw_sched_fault_at(r, at.text, "expected \"=\" and the register that holds it");
    if (reg < 0)
        return 1;
    const char *border = out ? "out" : "in";
    struct tw_sched_var *v = &r->p->vars[var];
    int real = of_kind(r->p, v->kind, reg);
    if (real < 0)
        return fail_kind(r, at, reg, v->kind);
    if (v->fixed >= 0)
        return tw_sched_fault_at(r, name.text, "%.*s is another name of %s: it needs no place", (int)name.size,
                                 name.text, tw_registers[v->fixed].name);
    int before = out ? v->out : v->in;
    if (before >= 0 && before != real)
        return tw_sched_fault_at(r, name.text, "%.*s is in %s already, by .%s", (int)name.size, name.text,
                                 tw_registers[before].name, border);
    const struct tw_sched_var *other = holder_at_border(r->p, real, out);
    if (other != NULL && other != v)
        return tw_sched_fault_at(r, name.text, "%.*s cannot be in %s: %.*s is there already, by .%s", (int)name.size,
                                 name.text, tw_registers[real].name, (int)other->size, other->name, border);
    *(out ? &v->out : &v->in) = (int16_t)real;
    *(out ? &v->out_place : &v->in_place) = tw_sched_here(r, name.text);
    return 0;
}

static int keep_one(struct tw_sched_reader *r, struct tw_sched_span *s, unsigned unused)
{
    struct tw_sched_span name = tw_sched_take_name(s);
    int reg = tw_register_find(name.text, name.size);

    (void)unused;
    if (reg < 0)
        return tw_sched_fault_at(r, name.text, "\"%.*s\" is no register", (int)name.size, name.text);
    tw_sched_set_leaves(r->p->keep, reg);
    return 0;
}

/* ---- loops */
/* A symbolic register of the scheduler's own; its name cannot be written. */
static int own_register(struct tw_sched_reader *r, const char *name)
{
    struct tw_sched_var *v = tw_sched_new_var(r, 0);

    if (v == NULL)
        return 1;
    v->name = name;
    v->size = strlen(name);
    return 0;
}

/* The operations that write LC for a count in a register: (trips - peeled) shifted right by the copies' logarithm. */
static int add_register_count(struct tw_sched_reader *r, struct tw_sched_span name, int shifted)
{
    char text[OWN_TEXT];

    if (!shifted) {
        snprintf(text, sizeof text, "add.nc LC, %.*s, #0", (int)name.size, name.text);
        return tw_sched_add_own(r, text, -1);
    }
    if (own_register(r, "%$a") != 0 || own_register(r, "%$b") != 0 || own_register(r, "%$c") != 0)
        return 1;
    snprintf(text, sizeof text, "add.nc %%$a, %.*s, #0", (int)name.size, name.text);
    struct tw_sched_span movi = {"movi", 4};
    return tw_sched_add_own(r, text, -1) != 0 || tw_sched_add_own(r, "movi %$b, #0", tw_sched_find_choice(movi)) != 0 ||
           tw_sched_add_own(r, "lshl %$c, %$a, %$b", -1) != 0 || tw_sched_add_own(r, "mov LC, %$c", -1) != 0;
}

static int add_setup(struct tw_sched_reader *r, struct tw_sched_loop *l, struct tw_sched_span name)
{
    struct tw_sched_span movi = {"movi", 4};
    char text[64];

    l->trip_op = (int32_t)r->p->n_ops;
    if (l->trips < 0 && add_register_count(r, name, l->multiple > 1) != 0)
        return 1;
    if (l->trips >= 0) {
        snprintf(text, sizeof text, "movi LC, #%" PRId64, l->trips);
        if (tw_sched_add_own(r, text, tw_sched_find_choice(movi)) != 0)
            return 1;
    }
    l->setup = (int32_t)r->p->n_ops;
    return tw_sched_add_own(r, "movxm LS, #0", -1) != 0 || tw_sched_add_own(r, "movxm LE, #0", -1) != 0;
}

static int independent(struct tw_sched_reader *r, struct tw_sched_span *s, unsigned loop)
{
    int tag = tw_sched_alias_tag(r, tw_sched_take_name(s));

    if (tag < 0)
        return 1;
    r->p->loops[loop].independent |= 1u << tag;
    return 0;
}

/* "least=N multiple=N independent=TAG,TAG" */
static int loop_facts(struct tw_sched_reader *r, struct tw_sched_span s, uint32_t loop)
{
    struct tw_sched_loop *l = &r->p->loops[loop];

    while ((s = tw_sched_trim(s)).size > 0) {
        struct tw_sched_span word = tw_sched_take_word(&s), value = word, name = tw_sched_take_until(&value, '=');
        int code;
        if (tw_sched_equals(name, "least"))
            code = number(r, value, 1, INT32_MAX, &l->least);
        else if (tw_sched_equals(name, "multiple"))
            code = number(r, value, 1, INT32_MAX, &l->multiple);
        else if (tw_sched_equals(name, "independent"))
            code = each(r, value, independent, loop);
        else
            code = tw_sched_fault_at(r, word.text, "expected least=, multiple= or independent=, not \"%.*s\"",
                                     (int)word.size, word.text);
        if (code != 0)
            return 1;
    }
    if (l->least % l->multiple != 0)
        l->least += l->multiple - l->least % l->multiple;
    return 0;
}

static int directive_loop(struct tw_sched_reader *r, struct tw_sched_span s)
{
    struct tw_sched_program *p = r->p;
    struct tw_sched_span count = tw_sched_take_word(&s);

    if (r->loop >= 0)
        return tw_sched_fault_at(r, count.text,
                                 "a loop inside the loop of line %u: only innermost loops are declared; an outer one "
                                 "is a label and a jnzd",
                                 p->lines[p->loops[r->loop].line].line);
    void *loops = tw_sched_grow(r, p->loops, p->n_loops, &r->room_loops, sizeof *p->loops);
    if (loops == NULL || (r->after_branch && tw_sched_new_run(r) < 0))
        return 1;
    p->loops = loops;
    struct tw_sched_loop l = {r->line, -1, -1, 1, 1, 0, -1, -1, NULL};
    p->loops[p->n_loops] = l;
    if (count.size > 0 && count.text[0] == '%') {
        int var = tw_sched_find_var(p, count);
        if (var < 0 || p->vars[var].kind != 0)
            return tw_sched_fault_at(r, count.text, "%.*s is no symbolic register of kind r", (int)count.size,
                                     count.text);
    } else if (number(r, count, 1, INT32_MAX, &p->loops[p->n_loops].trips) != 0) {
        return 1;
    }
    if (loop_facts(r, s, p->n_loops) != 0)
        return 1;
    r->loop = (int32_t)p->n_loops++;
    struct tw_sched_loop *new = &p->loops[r->loop];
    if (add_setup(r, new, count) != 0 || tw_sched_new_piece(r, r->loop) < 0)
        return 1;
    new->piece = (int32_t)p->n_pieces - 1;
    return 0;
}

static int directive_endloop(struct tw_sched_reader *r, struct tw_sched_span s)
{
    if (r->n_bad > 0) {
        r->n_bad--;
        return 0;
    }
    if (r->loop < 0)
        return tw_sched_fault_at(r, s.text, "no loop is open here");
    if (tw_sched_current_piece(r)->count == 0)
        tw_sched_fault_at(r, s.text, "the loop is empty");
    if (tw_sched_current_piece(r)->count > SCHED_LOOP_OPS)
        tw_sched_fault_at(r, s.text, "a loop of %" PRIu32 " operations is longer than the scheduler takes (%d)",
                          tw_sched_current_piece(r)->count, SCHED_LOOP_OPS);
    r->loop = -1;
    return tw_sched_new_piece(r, -1);
}

int tw_sched_directive(struct tw_sched_reader *r, struct tw_sched_span s)
{
    struct tw_sched_span name = tw_sched_take_name(&s);

    if (tw_sched_equals(name, ".reg"))
        return directive_reg(r, s);
    if (tw_sched_equals(name, ".in"))
        return each(r, s, place_at_border, 0);
    if (tw_sched_equals(name, ".out"))
        return each(r, s, place_at_border, 1);
    if (tw_sched_equals(name, ".keep"))
        return each(r, s, keep_one, 0);
    if (tw_sched_equals(name, ".loop")) {
        int code = directive_loop(r, s);
        r->n_bad += code != 0;
        return code;
    }
    if (tw_sched_equals(name, ".endloop"))
        return directive_endloop(r, s);
    return tw_sched_fault_at(r, name.text, "%.*s is no directive of scheduled code", (int)name.size, name.text);
}
