/* Directives, but for those of conditions. */
#include "isa/as/state.h"

#include <inttypes.h>
#include <string.h>

/* A directive: word is its name, rest what follows it. */
struct call {
    struct tw_as_span word, rest;
};

static int no_more(struct tw_as *a, struct tw_as_span rest)
{
    return rest.size == 0
               ? 0
               : tw_as_fault(a, rest.text, "expected nothing more, not \"%.*s\"", tw_as_width(rest), rest.text);
}

/* ---- sections */

static int named_section(struct tw_as *a, struct call c)
{
    return no_more(a, c.rest) != 0 || tw_as_enter(a, c.word, NULL) != 0;
}

static int section(struct tw_as *a, struct call c)
{
    struct tw_as_span name = tw_as_take_name(&c.rest);
    int64_t address;

    if (name.size == 0)
        return tw_as_fault(a, name.text, "expected the name of a section");
    if (c.rest.size == 0)
        return tw_as_enter(a, name, NULL);
    if (!tw_as_take(&c.rest, ','))
        return tw_as_fault(a, c.rest.text, "expected \",\" and the section's address");
    return tw_as_known(a, c.rest, &address) != 0 || tw_as_enter(a, name, &address) != 0;
}

static int origin(struct tw_as *a, struct call c)
{
    int64_t address;
    return tw_as_known(a, c.rest, &address) != 0 || tw_as_origin(a, c.rest.text, address) != 0;
}

static int align(struct tw_as *a, struct call c)
{
    int64_t n;

    if (tw_as_known(a, c.rest, &n) != 0)
        return 1;
    if (n < 1 || n > TW_PROGRAM_BYTES || (n & (n - 1)) != 0)
        return tw_as_fault(a, c.rest.text, "%" PRId64 " is no power of two from 1 to %d", n, TW_PROGRAM_BYTES);
    return tw_as_align(a, c.rest.text, (uint64_t)n);
}

/* ---- data */

static int number(struct tw_as *a, struct tw_as_span item, size_t size)
{
    struct tw_as_span missing;
    struct tw_error err;
    const char *fault = item.text;
    int64_t value = 0;
    uint8_t bytes[8];
    uint32_t offset = (uint32_t)tw_as_part(a)->size;
    int code = tw_as_evaluate(a, &a->point, item, &value, &missing, &fault, &err);

    if (code < 0)
        return tw_as_fault(a, fault, "%s", err.text);
    if (code == 0 && tw_as_check_number(a, item.text, value, size) != 0)
        return 1;
    tw_as_store(bytes, value, size);
    if (tw_as_put(a, item.text, bytes, size) != 0)
        return 1;
    return code > 0 && tw_as_fixup(a, AS_FIX_NUMBER, offset, size, item) == NULL;
}

static int numbers(struct tw_as *a, struct call c, size_t size)
{
    uint32_t offset = (uint32_t)tw_as_part(a)->size;
    int bad, more;

    do {
        struct tw_as_span item;
        more = tw_as_take_item(&c.rest, &item);
        bad = number(a, item, size);
    } while (more && !bad);
    uint32_t put = (uint32_t)tw_as_part(a)->size - offset;
    return (put > 0 && tw_as_row(a, c.word.text, offset, put) == NULL) || bad;
}

static int word(struct tw_as *a, struct call c)
{
    return numbers(a, c, 4);
}

static int half(struct tw_as *a, struct call c)
{
    return numbers(a, c, 2);
}

static int byte(struct tw_as *a, struct call c)
{
    return numbers(a, c, 1);
}

static int fill(struct tw_as *a, const char *at, size_t n, uint8_t with)
{
    struct tw_as_part *p = tw_as_part(a);
    size_t offset = p->size;

    if (tw_as_put(a, at, NULL, n) != 0)
        return 1;
    if (with != 0 && p->kind == TW_SECTION_BSS)
        return tw_as_fault(a, at, "section %s holds zeros only", p->name);
    if (n == 0)
        return 0;
    if (with != 0)
        memset(p->bytes + offset, with, n);
    return tw_as_row(a, at, (uint32_t)offset, n) == NULL;
}

static int space(struct tw_as *a, struct call c)
{
    struct tw_as_span size;
    int64_t n, with = 0;
    int more = tw_as_take_item(&c.rest, &size);

    if (tw_as_known(a, size, &n) != 0 || (more && tw_as_known(a, c.rest, &with) != 0))
        return 1;
    if (n < 0 || n > TW_DATA_OWN)
        return tw_as_fault(a, size.text, "%" PRId64 " bytes are not possible", n);
    return tw_as_check_number(a, c.rest.text, with, 1) != 0 || fill(a, size.text, (size_t)n, (uint8_t)with) != 0;
}

/* ---- symbols */

static int set(struct tw_as *a, struct call c)
{
    struct tw_as_span name = tw_as_take_name(&c.rest);
    int64_t value;

    if (name.size == 0 || tw_as_equals(name, "."))
        return tw_as_fault(a, name.text, "expected the name of a symbol");
    if (!tw_as_take(&c.rest, ','))
        return tw_as_fault(a, c.rest.text, "expected \",\" and a value");
    return tw_as_known(a, c.rest, &value) != 0 || tw_as_set_number(a, name, value) != 0;
}

static int global(struct tw_as *a, struct call c)
{
    do {
        struct tw_as_span name = tw_as_take_name(&c.rest);
        if (name.size == 0)
            return tw_as_fault(a, name.text, "expected the name of a symbol");
        struct tw_as_name *n = tw_as_name(a, name);
        if (n == NULL)
            return 1;
        n->global = 1;
    } while (tw_as_take(&c.rest, ','));
    return no_more(a, c.rest);
}

/* ---- text */

static int include(struct tw_as *a, struct call c)
{
    struct tw_as_span name;
    struct tw_as_text text;
    struct tw_error err;
    const char *at = c.rest.text;

    if (tw_as_take_quoted(&c.rest, &name) != 0 || name.size == 0)
        return tw_as_fault(a, at, "expected the name of a file in quotes");
    if (no_more(a, c.rest) != 0)
        return 1;
    if (a->options == NULL || a->options->include == NULL)
        return tw_as_fault(a, at, "no file can be included here");
    char *written = tw_as_pool_text(&a->pool, name.text, name.size);
    if (written == NULL)
        return tw_as_no_memory(a);
    if (strlen(written) != name.size || a->options->include(a->options->arg, written, a->line->file, &text, &err) < 0)
        return tw_as_fault(a, at, "%s", strlen(written) != name.size ? "the name has a zero in it" : err.text);
    const struct tw_as_trace *trace =
        tw_as_trace_push(a, a->line->trace, tw_as_place_of(a->line, at), "included from here");
    return trace == NULL || tw_as_open(a, &text, trace) != 0;
}

static int file(struct tw_as *a, struct call c)
{
    struct tw_as_span name;

    if (tw_as_take_quoted(&c.rest, &name) != 0)
        return tw_as_fault(a, c.rest.text, "expected a name in quotes");
    char *kept = tw_as_pool_text(&a->pool, name.text, name.size);
    if (kept == NULL)
        return tw_as_no_memory(a);
    a->out.source_name = kept;
    return no_more(a, c.rest);
}

static int macro(struct tw_as *a, struct call c)
{
    return tw_as_define_macro(a, c.rest);
}

static int repeat(struct tw_as *a, struct call c)
{
    return tw_as_repeat(a, c.rest);
}

static int end(struct tw_as *a, struct call c)
{
    if (no_more(a, c.rest) != 0)
        return 1;
    tw_as_end(a);
    return 0;
}

static int end_without_begin(struct tw_as *a, struct call c)
{
    return tw_as_fault(a, c.word.text, "%.*s ends nothing here", tw_as_width(c.word), c.word.text);
}

/* ---- modes */

static int bundle(struct tw_as *a, struct call c)
{
    return no_more(a, c.rest);
}

static int sched(struct tw_as *a, struct call c)
{
    return no_more(a, c.rest) != 0 || tw_as_begin_scheduled(a, c.word.text) != 0;
}

static int endsched(struct tw_as *a, struct call c)
{
    return no_more(a, c.rest) != 0 || tw_as_end_scheduled(a, c.word.text) != 0;
}

static int foreign(struct tw_as *a, struct call c)
{
    a->foreign = 1;
    return no_more(a, c.rest);
}

static int old(struct tw_as *a, struct call c)
{
    return tw_as_old(a, c.rest);
}

static const struct directive {
    const char *name;
    int (*obey)(struct tw_as *a, struct call c);
    int general; /* between .sched and .endsched too */
} directives[] = {
    {".align", align, 0},
    {".bss", named_section, 0},
    {".bundle", bundle, 0},
    {".byte", byte, 0},
    {".data", named_section, 0},
    {".end", end, 0},
    {".endm", end_without_begin, 1},
    {".endr", end_without_begin, 1},
    {".endsched", endsched, 1},
    {".equ", set, 1},
    {".file", file, 1},
    {".foreign", foreign, 0},
    {".global", global, 1},
    {".globl", global, 1},
    {".half", half, 0},
    {".include", include, 1},
    {".macro", macro, 1},
    {".old", old, 0},
    {".org", origin, 0},
    {".rept", repeat, 1},
    {".sched", sched, 0},
    {".section", section, 0},
    {".set", set, 1},
    {".space", space, 0},
    {".text", named_section, 0},
    {".word", word, 0},
};

static const struct directive *find(struct tw_as_span name)
{
    for (size_t i = 0; i < sizeof directives / sizeof directives[0]; i++)
        if (tw_as_equals(name, directives[i].name))
            return &directives[i];
    return NULL;
}

int tw_as_is_general(struct tw_as_span name)
{
    const struct directive *d = find(name);
    return d != NULL && d->general;
}

int tw_as_directive(struct tw_as *a, struct tw_as_span name, struct tw_as_span rest)
{
    const struct directive *d = find(name);

    if (d == NULL)
        return tw_as_fault(a, name.text, "%.*s is no directive", tw_as_width(name), name.text);
    return d->obey(a, (struct call){name, rest});
}
