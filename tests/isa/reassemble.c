#include "isa/reassemble.h"

#include "isa/parse.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

struct label {
    char name[40];
    size_t section;
    uint32_t address;
};

struct work {
    struct reassembled *r;
    struct label *labels;
    size_t n_labels, labels_room;
    size_t sections_room;
    uint32_t address;
    int emitting; /* second pass */
    size_t section;
};

/* Addresses are the business of .org: a section need not begin at 0. */
static void enter_section(struct work *w, const char *name)
{
    w->section = 0;
    while (w->section < w->r->n_sections && strcmp(w->r->sections[w->section].name, name) != 0)
        w->section++;
    w->address = 0;
    if (w->section < w->r->n_sections)
        return;
    assert_false(w->emitting);
    if (w->r->n_sections == w->sections_room) {
        w->sections_room = 2 * w->sections_room + 4;
        w->r->sections = realloc(w->r->sections, w->sections_room * sizeof *w->r->sections);
        assert_non_null(w->r->sections);
    }
    struct reassembled_section *s = &w->r->sections[w->r->n_sections++];
    memset(s, 0, sizeof *s);
    snprintf(s->name, sizeof s->name, "%s", name);
}

static const struct label *find_label(const struct work *w, const char *name, size_t size)
{
    for (size_t i = 0; i < w->n_labels; i++) {
        const struct label *l = &w->labels[i];
        if (l->section == w->section && strlen(l->name) == size && memcmp(l->name, name, size) == 0)
            return l;
    }
    return NULL;
}

static void define_label(struct work *w, const char *name, size_t size)
{
    if (w->emitting)
        return;
    if (find_label(w, name, size) != NULL)
        fail_msg("the label %.*s is defined twice", (int)size, name);
    if (w->n_labels == w->labels_room) {
        w->labels_room = 2 * w->labels_room + 64;
        w->labels = realloc(w->labels, w->labels_room * sizeof *w->labels);
        assert_non_null(w->labels);
    }
    struct label *l = &w->labels[w->n_labels++];
    assert_in_range(size, 1, sizeof l->name - 1);
    memcpy(l->name, name, size);
    l->name[size] = '\0';
    l->section = w->section;
    l->address = w->address;
}

static void emit(struct work *w, const uint8_t *bytes, size_t size)
{
    assert_true(w->section < w->r->n_sections);
    struct reassembled_section *s = &w->r->sections[w->section];
    for (size_t i = 0; i < size; i++, w->address++) {
        assert_true(w->address < TW_PROGRAM_BYTES);
        if (!w->emitting)
            continue;
        assert_false(s->there[w->address]);
        s->bytes[w->address] = bytes[i];
        s->there[w->address] = 1;
        s->size++;
    }
}

/* A tw_parse_context.value: numbers and, when all are known, labels. */
static int value_of(void *arg, const char *text, size_t size, int64_t *value, struct tw_error *err)
{
    struct work *w = arg;
    char *end;
    int is_name = size > 0 && ((text[0] >= 'a' && text[0] <= 'z') || (text[0] >= 'A' && text[0] <= 'Z'));
    if (!is_name) {
        *value = strtoll(text, &end, 0);
        return end == text + size ? 0 : tw_fail(err, TW_E_FORMAT, "no number");
    }
    if (!w->emitting)
        return 1;
    const struct label *l = find_label(w, text, size);
    if (l == NULL)
        return tw_fail(err, TW_E_FORMAT, "no label %.*s", (int)size, text);
    w->r->n_uses++;
    *value = l->address;
    return 0;
}

static void bundle(struct work *w, const char *text, size_t size)
{
    const struct tw_parse_context context = {value_of, NULL, w};
    struct tw_unresolved unresolved[TW_UNRESOLVED_MAX];
    struct tw_bundle b;
    struct tw_error err = {0};
    uint8_t bytes[TW_BUNDLE_MAX];
    size_t n;
    int code = tw_bundle_parse(text, size, &context, &b, unresolved, &n, NULL, &err);
    int encoded = code == 0 ? tw_bundle_encode(&b, bytes, &err) : -1;
    if (encoded < 0)
        fail_msg("'%.*s': %s", (int)size, text, err.text);
    emit(w, bytes, (size_t)encoded);
}

/* Numbers of a width with commas between them. */
static void numbers(struct work *w, const char *text, size_t width)
{
    for (;;) {
        char *end;
        unsigned long n = strtoul(text, &end, 0);
        assert_true(end > text && n >> 8 * width == 0);
        emit(w, (const uint8_t[]){(uint8_t)n, (uint8_t)(n >> 8)}, width);
        if (*end == '\0')
            return;
        assert_int_equal(*end, ',');
        text = end + 1;
    }
}

/* A directive; returns 1 at the end of the text. */
static int directive(struct work *w, const char *text)
{
    if (strcmp(text, ".end") == 0)
        return 1;
    if (strcmp(text, ".text") == 0)
        enter_section(w, text);
    else if (strncmp(text, ".section ", 9) == 0)
        enter_section(w, text + 9);
    else if (strncmp(text, ".org ", 5) == 0)
        w->address = (uint32_t)strtoul(text + 5, NULL, 0);
    else if (strncmp(text, ".half ", 6) == 0)
        numbers(w, text + 6, 2);
    else if (strncmp(text, ".byte ", 6) == 0)
        numbers(w, text + 6, 1);
    else if (strcmp(text, ".foreign") != 0)
        fail_msg("unknown: %s", text);
    return 0;
}

/* One line without its newline; returns 1 at the end of the text. */
static int line(struct work *w, const char *begin, size_t size)
{
    char text[1024];
    assert_true(size < sizeof text);
    memcpy(text, begin, size);
    text[size] = '\0';
    char *comment = strstr(text, "//");
    if (comment != NULL)
        *comment = '\0';
    size_t length = strlen(text), skip = strspn(text, " ");
    while (length > skip && text[length - 1] == ' ')
        text[--length] = '\0';
    if (length <= skip)
        return 0;
    if (text[skip] == '.')
        return directive(w, text + skip);
    if (text[length - 1] == ':')
        define_label(w, text + skip, length - skip - 1);
    else
        bundle(w, text + skip, length - skip);
    return 0;
}

static void pass(struct work *w, const char *text)
{
    int ended = 0;
    w->address = 0;
    while (!ended && *text != '\0') {
        size_t size = strcspn(text, "\n");
        ended = line(w, text, size);
        text += size + (text[size] == '\n');
    }
}

void reassemble(const char *text, struct reassembled *r)
{
    struct work w = {.r = r};
    memset(r, 0, sizeof *r);
    pass(&w, text);
    w.emitting = 1;
    pass(&w, text);
    r->n_labels = w.n_labels;
    free(w.labels);
}

void reassembled_free(struct reassembled *r)
{
    free(r->sections);
    memset(r, 0, sizeof *r);
}
