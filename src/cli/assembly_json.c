#include "cli/assembly_json.h"

#include <jansson.h>
#include <string.h>

/* Text as JSON; bytes that are no UTF-8 become question marks. */
static json_t *text(const char *s)
{
    json_t *value = json_string(s);
    char plain[1024];
    size_t n = 0;

    if (value != NULL)
        return value;
    for (; s[n] != '\0' && n + 1 < sizeof plain; n++)
        plain[n] = (unsigned char)s[n] < 0x80 ? s[n] : '?';
    plain[n] = '\0';
    return json_string(plain);
}

/* Appends what json_pack gave; remembers a failure. */
static void append(json_t *array, json_t *value, int *lost)
{
    *lost |= value == NULL || json_array_append_new(array, value) != 0;
}

static json_t *place(const struct tw_as_place *p)
{
    return json_pack("{s:o, s:I, s:I}", "file", text(p->file), "line", (json_int_t)p->line, "column",
                     (json_int_t)p->column);
}

static json_t *sections(const struct tw_assembly *a, int *lost)
{
    static const char *const kinds[] = {"text", "data", "bss"};
    json_t *array = json_array();

    for (size_t i = 0; i < a->n_sections; i++) {
        const struct tw_as_section *s = &a->sections[i];
        append(array,
               json_pack("{s:o, s:s, s:I, s:I, s:I}", "name", text(s->name), "kind", kinds[s->kind], "address",
                         (json_int_t)s->address, "size", (json_int_t)s->size, "bundles", (json_int_t)s->n_bundles),
               lost);
    }
    return array;
}

static json_t *symbols(const struct tw_assembly *a, int *lost)
{
    json_t *array = json_array();

    for (size_t i = 0; i < a->n_symbols; i++) {
        const struct tw_as_symbol *s = &a->symbols[i];
        json_t *section = s->section < 0 ? json_null() : text(a->sections[s->section].name);
        append(array,
               json_pack("{s:o, s:I, s:o, s:b}", "name", text(s->name), "value", (json_int_t)s->value, "section",
                         section, "global", s->global),
               lost);
    }
    return array;
}

/* ---- loops */

static json_t *registers(const struct tw_loop_report *l, int *lost)
{
    json_t *object = json_object();

    for (unsigned f = 0; f < TW_FILE_COUNT; f++)
        *lost |= json_object_set_new(object, tw_sched_file_names[f], json_integer(l->registers[f])) != 0;
    return object;
}

static json_t *loop(const struct tw_sched_code *code, const struct tw_loop_report *l, int *lost)
{
    json_int_t bytes = 0;

    for (size_t i = l->first; i < l->first + l->bundles && i < code->n_bundles; i++)
        bytes += code->bundles[i].bytes;
    json_int_t address = l->first < code->n_bundles ? code->bundles[l->first].address : 0;
    return json_pack("{s:I, s:I, s:I, s:I, s:I, s:s, s:s, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:o}", "line",
                     (json_int_t)l->line, "trips", (json_int_t)l->trips, "operations", (json_int_t)l->operations,
                     "interval", (json_int_t)l->interval, "bound", (json_int_t)l->bound, "bound_by", l->bound_by,
                     "above", l->above, "stages", (json_int_t)l->stages, "copies", (json_int_t)l->copies, "passes",
                     (json_int_t)l->passes, "before", (json_int_t)l->before, "after", (json_int_t)l->after, "bundles",
                     (json_int_t)l->bundles, "address", address, "bytes", bytes, "registers", registers(l, lost));
}

static json_t *scheduled(const struct tw_assembly *a, int *lost)
{
    json_t *array = json_array();

    for (size_t i = 0; i < a->n_scheduled; i++) {
        const struct tw_as_scheduled *s = &a->scheduled[i];
        json_t *loops = json_array();
        for (size_t k = 0; k < s->code->n_loops; k++)
            append(loops, loop(s->code, &s->code->loops[k], lost), lost);
        append(array,
               json_pack("{s:o, s:o, s:I, s:I, s:I, s:o}", "place", place(&s->place), "section",
                         text(a->sections[s->section].name), "address",
                         (json_int_t)a->sections[s->section].address + s->offset, "size", (json_int_t)s->size,
                         "bundles", (json_int_t)s->code->n_bundles, "loops", loops),
               lost);
    }
    return array;
}

/* ---- messages */

static json_t *messages(const struct tw_assembly *a, int *lost)
{
    json_t *array = json_array();

    for (size_t i = 0; i < a->n_messages; i++) {
        const struct tw_as_message *m = &a->messages[i];
        json_t *trace = json_array();
        for (const struct tw_as_trace *t = m->trace; t != NULL; t = t->next)
            append(trace, json_pack("{s:o, s:o}", "place", place(&t->place), "text", text(t->text)), lost);
        append(array,
               json_pack("{s:s, s:s, s:o, s:o, s:o}", "severity", tw_severity_names[m->severity], "kind", m->kind,
                         "place", place(&m->place), "text", text(m->text), "trace", trace),
               lost);
    }
    return array;
}

int tw_assembly_print_json(const struct tw_assembly *a, FILE *out)
{
    int lost = 0;
    json_t *all =
        json_pack("{s:o, s:o, s:o, s:o, s:o, s:I, s:I}", "source", text(a->source_name), "sections", sections(a, &lost),
                  "symbols", symbols(a, &lost), "scheduled", scheduled(a, &lost), "messages", messages(a, &lost),
                  "errors", (json_int_t)a->n_errors, "warnings", (json_int_t)a->n_warnings);

    lost |= all == NULL || json_dumpf(all, out, JSON_INDENT(2)) != 0 || fputc('\n', out) == EOF;
    json_decref(all);
    return lost;
}
