/* Bundles that are written as they are. */
#include "isa/as/state.h"

#include "isa/parse.h"

#include <inttypes.h>
#include <string.h>

/* What the parser of bundles asks for values. */
struct values {
    const struct tw_as *a;
    const struct tw_as_point *point;
    int last;          /* nothing comes later any more */
    const char *fault; /* in an expression */
};

static int value_of(void *arg, const char *text, size_t size, int64_t *value, struct tw_error *err)
{
    struct values *v = arg;
    struct tw_as_span missing = {text, 0};
    int code = tw_as_evaluate(v->a, v->point, (struct tw_as_span){text, size}, value, &missing, &v->fault, err);

    if (code <= 0 || !v->last)
        return code;
    v->fault = missing.text;
    return tw_fail(err, TW_E_FORMAT, "%.*s is not defined", tw_as_width(missing), missing.text);
}

/* Parses a bundle of the line. Returns 0, or 1 after a fault. */
static int parse(struct tw_as *a, struct tw_as_span text, struct values *v, struct tw_bundle *bundle,
                 struct tw_unresolved *unresolved, size_t *n)
{
    const struct tw_parse_context context = {value_of, NULL, v};
    struct tw_error err;
    size_t column = 0;

    v->fault = NULL;
    if (tw_bundle_parse(text.text, text.size, &context, bundle, unresolved, n, &column, &err) == 0)
        return 0;
    return tw_as_fault(a, v->fault != NULL ? v->fault : text.text + column, "%s", err.text);
}

int64_t tw_as_any_value(const struct tw_operand_info *o)
{
    return o->is_negative ? -(int64_t)o->scale : 0;
}

int64_t tw_as_wrap(const struct tw_operand_info *o, int64_t value)
{
    if (o->bits == 32 && o->is_signed && value > INT32_MAX && value <= UINT32_MAX)
        return value - ((int64_t)1 << 32);
    return value;
}

void tw_as_nops(size_t size, uint8_t *bytes)
{
    struct tw_bundle nops = {0, -1, {{0, {0}}}};

    for (int f = 0; f < TW_FORMAT_COUNT && nops.format < 0; f++)
        if (tw_formats[f].bytes == size)
            nops.format = (int16_t)f;
    (void)tw_bundle_encode(&nops, bytes, NULL);
}

/* Gives the bundle that was put last the registers of .old. */
static int attach_old(struct tw_as *a, struct tw_as_row_info *row)
{
    if (a->n_old == 0)
        return 0;
    uint16_t *old = tw_as_pool_take(&a->pool, a->n_old * sizeof *old);
    if (old == NULL)
        return tw_as_no_memory(a);
    memcpy(old, a->old, a->n_old * sizeof *old);
    row->old = old;
    row->n_old = (uint16_t)a->n_old;
    a->n_old = 0;
    return 0;
}

static int check_place(struct tw_as *a, const char *at)
{
    const struct tw_as_part *p = tw_as_part(a);

    if (p->kind != TW_SECTION_TEXT)
        return tw_as_fault(a, at, "section %s is no place for code: begin one by .text", p->name);
    if (a->point.dot % 2 != 0)
        return tw_as_fault(a, at, "a bundle begins at an even address; .align 2 brings it there");
    return 0;
}

int tw_as_bundle(struct tw_as *a, struct tw_as_span text)
{
    struct values values = {a, &a->point, 0, NULL};
    struct tw_unresolved unresolved[TW_UNRESOLVED_MAX];
    struct tw_bundle bundle;
    struct tw_error err;
    uint8_t bytes[TW_BUNDLE_MAX];
    size_t n = 0;

    if (check_place(a, text.text) != 0 || parse(a, text, &values, &bundle, unresolved, &n) != 0)
        return 1;
    for (size_t i = 0; i < n; i++) {
        struct tw_operation *op = &bundle.op[unresolved[i].slot];
        op->operands[unresolved[i].operand] =
            tw_as_any_value(&tw_instructions[op->instruction].operands[unresolved[i].operand]);
    }
    int size = tw_bundle_encode(&bundle, bytes, &err);
    if (size < 0)
        return tw_as_fault(a, text.text, "%s", err.text);

    uint32_t offset = (uint32_t)tw_as_part(a)->size;
    if (n > 0 && tw_as_fixup(a, AS_FIX_BUNDLE, offset, (size_t)size, text) == NULL)
        return 1;
    if (tw_as_put(a, text.text, bytes, (size_t)size) != 0) {
        a->n_fixups -= n > 0;
        return 1;
    }
    struct tw_as_row_info *row = tw_as_row(a, text.text, offset, (size_t)size);
    if (row == NULL)
        return 1;
    row->is_bundle = 1;
    tw_as_part(a)->n_bundles++;
    return attach_old(a, row);
}

void tw_as_resolve_bundle(struct tw_as *a, const struct tw_as_fixup *f)
{
    struct values values = {a, &f->point, 1, NULL};
    struct tw_unresolved unresolved[TW_UNRESOLVED_MAX];
    struct tw_bundle bundle;
    struct tw_error err;
    uint8_t bytes[TW_BUNDLE_MAX];
    size_t n = 0;

    if (parse(a, f->text, &values, &bundle, unresolved, &n) != 0)
        return;
    int size = tw_bundle_encode(&bundle, bytes, &err);
    if (size < 0)
        tw_as_fault(a, f->text.text, "%s", err.text);
    else if ((uint32_t)size != f->size)
        tw_as_fault(a, f->text.text,
                    "with a value from below this bundle has %d bytes instead of %" PRIu32 ": give it the value before",
                    size, f->size);
    else
        memcpy(a->parts[f->section].bytes + f->offset, bytes, (size_t)size);
}

int tw_as_old(struct tw_as *a, struct tw_as_span rest)
{
    int more;

    a->old_line = a->line;
    do {
        struct tw_as_span name;
        more = tw_as_take_item(&rest, &name);
        int reg = tw_register_find(name.text, name.size);
        if (reg < 0)
            return tw_as_fault(a, name.text, "\"%.*s\" is no register", tw_as_width(name), name.text);
        if (a->n_old == AS_OLD_MAX)
            return tw_as_fault(a, name.text, "more than %d registers for one bundle", AS_OLD_MAX);
        a->old[a->n_old++] = (uint16_t)reg;
    } while (more);
    return 0;
}
