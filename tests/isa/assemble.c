#include "isa/assemble.h"

#include "isa/parse.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

static int include(void *arg, const char *name, const char *from, struct tw_as_text *text, struct tw_error *err)
{
    (void)from;
    for (const struct included *f = arg; f != NULL && f->name != NULL; f++)
        if (strcmp(f->name, name) == 0) {
            *text = (struct tw_as_text){f->name, f->text, strlen(f->text)};
            return 0;
        }
    return tw_fail(err, TW_E_NOT_FOUND, "there is no '%s'", name);
}

struct tw_assembly *assemble(const char *text, const struct included *files)
{
    struct tw_as_options options = {.include = include};
    struct tw_assembly *a = NULL;
    struct tw_error err = {0};

    memcpy(&options.arg, &files, sizeof files);
    int code = tw_assemble("t.s", text, strlen(text), &options, &a, &err);
    if (a == NULL)
        fail_msg("code %d: %s", code, err.text);
    assert_int_equal(code, a->n_errors > 0 ? TW_E_FORMAT : 0);
    return a;
}

void assert_clean(const struct tw_assembly *a)
{
    for (size_t i = 0; i < a->n_messages; i++)
        if (a->messages[i].severity != TW_SEVERITY_NOTE && strstr(a->messages[i].text, "execution runs past") == NULL)
            fail_msg("line %u: %s", a->messages[i].place.line, a->messages[i].text);
}

const struct tw_as_section *find_section(const struct tw_assembly *a, const char *name)
{
    for (size_t i = 0; i < a->n_sections; i++)
        if (strcmp(a->sections[i].name, name) == 0)
            return &a->sections[i];
    return NULL;
}

void assert_section(const struct tw_assembly *a, const char *name, const void *bytes, size_t size)
{
    const struct tw_as_section *s = find_section(a, name);

    assert_non_null(s);
    assert_int_equal(s->size, size);
    if (size > 0)
        assert_memory_equal(s->bytes, bytes, size);
}

void assert_symbol(const struct tw_assembly *a, const char *name, int64_t value)
{
    for (size_t i = 0; i < a->n_symbols; i++)
        if (strcmp(a->symbols[i].name, name) == 0) {
            assert_int_equal(a->symbols[i].value, value);
            return;
        }
    fail_msg("there is no symbol %s", name);
}

static void check_place(const struct tw_as_place *p, const char *place, const char *text)
{
    char found[256];

    snprintf(found, sizeof found, "%s:%u:%u", p->file, p->line, p->column);
    if (strcmp(found, place) != 0)
        fail_msg("\"%s\" is at %s and should be at %s", text, found, place);
}

void assert_message(const struct tw_assembly *a, size_t i, enum tw_severity severity, const char *place,
                    const char *sentence)
{
    if (i >= a->n_messages)
        fail_msg("there are %zu messages, not \"%s\"", a->n_messages, sentence);
    const struct tw_as_message *m = &a->messages[i];
    if (strstr(m->text, sentence) == NULL)
        fail_msg("\"%s\" does not hold \"%s\"", m->text, sentence);
    check_place(&m->place, place, m->text);
    assert_int_equal(m->severity, severity);
}

void assert_trace(const struct tw_assembly *a, size_t i, size_t depth, const char *place, const char *sentence)
{
    const struct tw_as_trace *t = a->messages[i].trace;

    while (t != NULL && depth-- > 0)
        t = t->next;
    if (t == NULL)
        fail_msg("the trace has no \"%s\"", sentence);
    if (strstr(t->text, sentence) == NULL)
        fail_msg("\"%s\" does not hold \"%s\"", t->text, sentence);
    check_place(&t->place, place, t->text);
}

void assert_error(const char *text, const char *place, const char *sentence)
{
    struct tw_assembly *a = assemble(text, NULL);

    if (a->n_errors != 1)
        fail_msg("%zu errors in:\n%s\n%s", a->n_errors, text, a->n_messages > 1 ? a->messages[1].text : "");
    assert_message(a, 0, TW_SEVERITY_ERROR, place, sentence);
    tw_assembly_free(a);
}

size_t bundle_bytes(const char *text, uint8_t bytes[TW_BUNDLE_MAX])
{
    struct tw_bundle bundle;
    struct tw_error err;
    size_t n, column;

    assert_int_equal(tw_bundle_parse(text, strlen(text), NULL, &bundle, NULL, &n, &column, &err), 0);
    int size = tw_bundle_encode(&bundle, bytes, &err);
    assert_true(size > 0);
    return (size_t)size;
}
