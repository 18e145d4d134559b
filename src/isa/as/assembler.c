/* Goes through the lines once, and puts in at the end what came later. */
#include "isa/as/state.h"

#include <stdlib.h>
#include <string.h>

/* ---- lines */

/* Takes "name:" or "1:" from the front of a line. */
static struct tw_as_span take_label(struct tw_as_span *s)
{
    struct tw_as_span rest = *s, name = tw_as_take_name(&rest);

    if (name.size == 0) {
        while (name.size < s->size && tw_as_is_digit(s->text[name.size]))
            name.size++;
        rest = tw_as_trim((struct tw_as_span){s->text + name.size, s->size - name.size});
    }
    if (name.size == 0 || !tw_as_take(&rest, ':') || tw_as_equals(name, "."))
        return (struct tw_as_span){s->text, 0};
    *s = rest;
    return name;
}

/* "name = value" */
static int assignment(struct tw_as *a, struct tw_as_span name, struct tw_as_span rest)
{
    int64_t value;

    if (name.size == 0 || !tw_as_take(&rest, '=') || (rest.size > 0 && rest.text[0] == '='))
        return 0;
    if (tw_as_equals(name, "."))
        tw_as_fault(a, name.text, "\".\" cannot be set: use .org");
    else if (tw_as_known(a, rest, &value) == 0)
        tw_as_set_number(a, name, value);
    return 1;
}

/* What stands behind the labels of a line. */
static void statement(struct tw_as *a, struct tw_as_span s)
{
    struct tw_as_span rest = s, word = tw_as_take_name(&rest);
    const struct tw_as_macro *m = tw_as_find_macro(a, word);

    if (m != NULL)
        tw_as_call_macro(a, m, word.text, rest);
    else if (assignment(a, word, rest))
        return;
    else if (word.size > 0 && word.text[0] == '.' && (!a->scheduling || tw_as_is_general(word)))
        tw_as_directive(a, word, rest);
    else if (a->scheduling)
        tw_as_add_scheduled(a, s);
    else
        tw_as_bundle(a, s);
}

static void check_old(struct tw_as *a, struct tw_as_span s)
{
    struct tw_as_span rest = s, word = tw_as_take_name(&rest);

    if (a->n_old == 0 || tw_as_equals(word, ".old") || tw_as_find_macro(a, word) != NULL)
        return;
    if (word.size > 0 && word.text[0] != '.')
        return;
    tw_as_fault_in(a, a->old_line, NULL, ".old stands before the bundle that it is for");
    a->n_old = 0;
}

static void assemble_line(struct tw_as *a, const struct tw_as_line *line)
{
    struct tw_as_span s = tw_as_trim((struct tw_as_span){line->text, line->size}), rest = s;
    struct tw_as_span word = tw_as_take_name(&rest);

    a->line = line;
    a->point.moment++;
    if (s.size == 0 || tw_as_condition(a, word, rest) || tw_as_skipping(a))
        return;
    if (a->scheduling) {
        struct tw_as_span whole = s, label = take_label(&s);
        if (label.size > 0)
            tw_as_add_scheduled(a, (struct tw_as_span){whole.text, (size_t)(s.text - whole.text)});
    } else {
        for (struct tw_as_span label; (label = take_label(&s)).size > 0;)
            tw_as_set_label(a, label, a->point.dot);
        check_old(a, s);
    }
    if (s.size > 0)
        statement(a, s);
}

static void read_all(struct tw_as *a)
{
    const struct tw_as_line *line;

    while (tw_as_next(a, &line))
        assemble_line(a, line);
    if (a->scheduling && !a->stop)
        tw_as_fault_in(a, a->sched_line, a->sched_at, ".sched has no .endsched");
    if (a->n_old > 0 && !a->stop)
        tw_as_fault_in(a, a->old_line, NULL, ".old stands before the bundle that it is for");
}

static void check_globals(struct tw_as *a)
{
    for (size_t i = 0; i < a->n_order && !a->stop; i++) {
        const struct tw_as_name *n = a->order[i];
        if (n->state == AS_UNKNOWN && n->global)
            tw_as_fault_in(a, n->line, n->at, "%.*s is global but has no value", tw_as_width(n->name), n->name.text);
    }
}

/* ---- what the caller gets */

static int give_sections(struct tw_as *a)
{
    a->out.sections = calloc(a->n_parts + 1, sizeof *a->out.sections);
    if (a->out.sections == NULL)
        return tw_as_no_memory(a);
    for (size_t i = 0; i < a->n_parts; i++) {
        const struct tw_as_part *p = &a->parts[i];
        a->out.sections[i] =
            (struct tw_as_section){p->name, p->kind, (uint32_t)p->address, (uint32_t)p->size, p->bytes, p->n_bundles};
    }
    a->out.n_sections = a->n_parts;
    return 0;
}

static int give_symbols(struct tw_as *a)
{
    a->out.symbols = calloc(a->n_order + 1, sizeof *a->out.symbols);
    if (a->out.symbols == NULL)
        return tw_as_no_memory(a);
    for (size_t i = 0; i < a->n_order; i++) {
        const struct tw_as_name *n = a->order[i];
        if (n->state == AS_UNKNOWN)
            continue;
        const char *name = tw_as_pool_text(&a->pool, n->name.text, n->name.size);
        if (name == NULL)
            return tw_as_no_memory(a);
        a->out.symbols[a->out.n_symbols++] =
            (struct tw_as_symbol){name, n->history.list[n->history.n - 1].value, n->section, n->global};
    }
    return 0;
}

static int give_rows(struct tw_as *a)
{
    a->out.rows = calloc(a->n_rows + 1, sizeof *a->out.rows);
    if (a->out.rows == NULL)
        return tw_as_no_memory(a);
    for (size_t i = 0; i < a->n_rows; i++) {
        const struct tw_as_row_info *r = &a->rows[i];
        struct tw_as_row *to = &a->out.rows[i];
        *to = (struct tw_as_row){r->section, r->offset, r->size, r->is_bundle, r->scheduled, {"", 0, 0}, "", 0};
        to->place = tw_as_place_of(r->line, r->at);
        to->text = r->line->text;
        to->text_size = r->line->size;
    }
    a->out.n_rows = a->n_rows;
    return 0;
}

static void assemble(struct tw_as *a, const struct tw_as_text *text)
{
    if (tw_as_enter(a, (struct tw_as_span){".text", 5}, NULL) != 0 || tw_as_open(a, text, NULL) != 0)
        return;
    read_all(a);
    if (a->stop)
        return;
    tw_as_resolve(a);
    check_globals(a);
    tw_as_check_overlaps(a);
    if (a->out.n_errors == 0)
        tw_as_verify(a);
}

/* ---- beginning and end */

int tw_assemble(const char *name, const char *text, size_t size, const struct tw_as_options *options,
                struct tw_assembly **assembly, struct tw_error *err)
{
    struct tw_as *a = calloc(1, sizeof *a);
    const struct tw_as_text whole = {name, text, size};

    *assembly = NULL;
    if (a == NULL)
        return tw_fail(err, TW_E_MEMORY, "no memory to assemble '%s'", name);
    a->options = options;
    a->foreign = options != NULL && options->foreign;
    a->point.dot = -1;
    a->out.source_name = tw_as_pool_text(&a->pool, name, strlen(name));
    if (a->out.source_name == NULL) {
        a->out.source_name = "";
        tw_as_no_memory(a);
    } else {
        assemble(a, &whole);
    }
    int failed = a->code != 0 || give_sections(a) != 0 || give_symbols(a) != 0 || give_rows(a) != 0;
    int code = failed ? a->code : a->out.n_errors > 0 ? TW_E_FORMAT : 0;
    if (code < 0)
        tw_fail(err, code, "%s", a->first_error.text);
    if (failed)
        tw_assembly_free(&a->out);
    else
        *assembly = &a->out;
    return code;
}

void tw_assembly_free(struct tw_assembly *assembly)
{
    struct tw_as *a = (struct tw_as *)assembly; /* its first member */

    if (a == NULL)
        return;
    for (size_t i = 0; i < a->n_parts; i++)
        free(a->parts[i].bytes);
    for (size_t i = 0; i < a->n_order; i++)
        free(a->order[i]->history.list);
    for (size_t i = 0; i < AS_LOCALS; i++)
        free(a->locals[i].list);
    for (size_t i = 0; i < a->out.n_scheduled; i++)
        tw_sched_free(a->out.scheduled[i].code);
    free(a->parts);
    free(a->order);
    free(a->names);
    free(a->fixups);
    free(a->rows);
    free(a->sched_lines);
    free(a->sched_origins);
    free(a->out.sections);
    free(a->out.symbols);
    free(a->out.rows);
    free(a->out.scheduled);
    free(a->out.old);
    free(a->out.messages);
    tw_as_pool_release(&a->pool);
    free(a);
}
