#include "cli/tree.h"

#include <inttypes.h>

static void write_text(const struct tw_tree *t, const char *text)
{
    for (const char *c = text; *c != '\0'; c++) {
        if (t->json && (*c == '"' || *c == '\\'))
            fputc('\\', t->out);
        fputc(*c < ' ' || *c > '~' ? '?' : *c, t->out);
    }
}

static void indent(const struct tw_tree *t)
{
    for (unsigned i = 0; i < t->depth; i++)
        fputs("  ", t->out);
}

void tw_tree_begin(struct tw_tree *t, const char *name)
{
    if (t->out != NULL && t->json) {
        if (t->depth > 0)
            fputs(t->has_contents[t->depth - 1] ? ",\n" : ", \"contents\": [\n", t->out);
        indent(t);
        fputs("{\"node\": \"", t->out);
        write_text(t, name);
        fputc('"', t->out);
    } else if (t->out != NULL) {
        if (t->depth > 0 && !t->has_contents[t->depth - 1])
            fputc('\n', t->out);
        indent(t);
        write_text(t, name);
    }
    if (t->depth > 0)
        t->has_contents[t->depth - 1] = 1;
    t->has_contents[t->depth++] = 0;
}

void tw_tree_end(struct tw_tree *t)
{
    int has_contents = t->has_contents[--t->depth];
    if (t->out == NULL)
        return;
    if (t->json) {
        fputs(has_contents ? "]}" : "}", t->out);
        if (t->depth == 0)
            fputc('\n', t->out);
    } else if (!has_contents) {
        fputc('\n', t->out);
    }
}

/* Begins a property. */
static void key(const struct tw_tree *t, const char *name, int is_plain)
{
    if (t->json)
        fprintf(t->out, ", \"%s\": ", name);
    else if (is_plain)
        fputc(' ', t->out);
    else
        fprintf(t->out, " %s=", name);
}

static void text_property(struct tw_tree *t, const char *name, const char *text, int is_plain)
{
    if (t->out == NULL)
        return;
    key(t, name, is_plain);
    if (t->json)
        fputc('"', t->out);
    write_text(t, text);
    if (t->json)
        fputc('"', t->out);
}

void tw_tree_text(struct tw_tree *t, const char *name, const char *text)
{
    text_property(t, name, text, 0);
}

void tw_tree_plain(struct tw_tree *t, const char *name, const char *text)
{
    text_property(t, name, text, 1);
}

void tw_tree_number(struct tw_tree *t, const char *name, uint64_t number)
{
    if (t->out == NULL)
        return;
    key(t, name, 0);
    fprintf(t->out, "%" PRIu64, number);
}

void tw_tree_hex(struct tw_tree *t, const char *name, uint64_t number)
{
    if (t->out == NULL)
        return;
    key(t, name, 0);
    fprintf(t->out, t->json ? "%" PRIu64 : "0x%" PRIx64, number);
}
