/*
 * Any text as assembly, its lines also as a file that it includes: it ends, its messages have places, what is assembled
 * without an error decodes bundle by bundle and is listed.
 */
#include "isa/assembler.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The text itself, but not for ever. */
static int include(void *arg, const char *name, const char *from, struct tw_as_text *text, struct tw_error *err)
{
    struct tw_as_text *whole = arg;

    if (strcmp(name, "self") != 0 || strcmp(from, "self") == 0)
        return tw_fail(err, TW_E_NOT_FOUND, "there is no '%s'", name);
    *text = *whole;
    return 0;
}

static void check_messages(const struct tw_assembly *a)
{
    size_t errors = 0;

    for (size_t i = 0; i < a->n_messages; i++) {
        const struct tw_as_message *m = &a->messages[i];
        errors += m->severity == TW_SEVERITY_ERROR;
        if (m->text[0] == '\0' || m->place.file == NULL || m->place.column > 4097)
            abort();
    }
    if (errors != a->n_errors || errors > TW_AS_ERRORS_MAX)
        abort();
}

static void check_rows(const struct tw_assembly *a)
{
    struct tw_bundle bundle;

    for (size_t i = 0; i < a->n_rows; i++) {
        const struct tw_as_row *r = &a->rows[i];
        const struct tw_as_section *s = &a->sections[r->section];
        if (r->offset > s->size || r->size > s->size - r->offset)
            abort();
        if (r->is_bundle && tw_bundle_decode(s->bytes + r->offset, r->size, &bundle, NULL) != (int)r->size)
            abort();
    }
}

/* Uses out of time are those of bundles of a section, each with some smallest registers. */
static void check_old(const struct tw_assembly *a)
{
    for (size_t i = 0; i < a->n_old; i++) {
        const struct tw_as_old *o = &a->old[i];
        const struct tw_as_section *s = &a->sections[o->section];
        if (o->section >= a->n_sections || o->address < s->address || o->address - s->address >= s->size || o->n == 0)
            abort();
        for (size_t k = 0; k < o->n; k++)
            if (o->leaves[k] >= TW_R_COUNT || tw_registers[o->leaves[k]].n_leaves != 1)
                abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct tw_as_text whole = {"self", (const char *)data, size};
    const struct tw_as_options options = {.include = include, .arg = &whole, .one_program = (int)(size & 1)};
    struct tw_assembly *a = NULL;
    struct tw_error err;

    int code = tw_assemble("text", (const char *)data, size, &options, &a, &err);
    if (a == NULL)
        return 0;
    check_messages(a);
    if ((code == 0) != (a->n_errors == 0))
        abort();
    if (code == 0) {
        FILE *out = fopen("/dev/null", "w");
        check_rows(a);
        check_old(a);
        if (out != NULL) {
            tw_assembly_list(a, out);
            fclose(out);
        }
    }
    tw_assembly_free(a);
    return 0;
}
