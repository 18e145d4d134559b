#include "image/xml.h"

#include <string.h>

void xml_begin(struct xml *x, const struct tw_view *view)
{
    *x = (struct xml){.view = *view};
}

int xml_is(struct xml_text a, const char *b)
{
    return strlen(b) == a.size && memcmp(a.text, b, a.size) == 0;
}

static int fail(const struct xml *x, size_t at, struct tw_error *err, const char *what)
{
    return tw_view_fail(&x->view, at, TW_E_FORMAT, err, "the XML text has %s", what);
}

static const char *text_at(const struct xml *x, size_t at)
{
    return (const char *)x->view.data + at;
}

static size_t left(const struct xml *x)
{
    return x->view.size - x->at;
}

static int begins_with(const struct xml *x, const char *what)
{
    size_t size = strlen(what);
    return left(x) >= size && memcmp(text_at(x, x->at), what, size) == 0;
}

/* Moves behind the next `what`. Returns 0 when there is none. */
static int skip_past(struct xml *x, const char *what)
{
    while (left(x) > 0 && !begins_with(x, what))
        x->at++;
    if (left(x) == 0)
        return 0;
    x->at += strlen(what);
    return 1;
}

static int is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

static int is_name(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-' ||
           c == '.' || c == ':';
}

/* Cuts a name off the front of a text. */
static struct xml_text take_name(struct xml_text *t)
{
    struct xml_text name = {t->text, 0};
    while (name.size < t->size && is_name(t->text[name.size]))
        name.size++;
    t->text += name.size;
    t->size -= name.size;
    return name;
}

static void skip_blanks(struct xml_text *t)
{
    while (t->size > 0 && is_blank(*t->text)) {
        t->text++;
        t->size--;
    }
}

/* Cuts NAME="VALUE" off the front. Returns 1, 0 at the end, -1 when it is nothing of the kind. */
static int take_attribute(struct xml_text *t, struct xml_text *name, struct xml_text *value)
{
    skip_blanks(t);
    if (t->size == 0)
        return 0;
    *name = take_name(t);
    if (name->size == 0 || t->size < 3 || t->text[0] != '=' || (t->text[1] != '"' && t->text[1] != '\''))
        return -1;
    const char *begin = t->text + 2, *end = memchr(begin, t->text[1], t->size - 2);
    if (end == NULL || memchr(begin, '<', (size_t)(end - begin)) != NULL)
        return -1;
    *value = (struct xml_text){begin, (size_t)(end - begin)};
    t->size -= (size_t)(end + 1 - t->text);
    t->text = end + 1;
    return t->size == 0 || is_blank(*t->text) ? 1 : -1;
}

/* The characters up to the '>' that ends a tag; one in quotes does not. Moves behind it; 0 when there is none. */
static int take_tag(struct xml *x, struct xml_text *tag)
{
    size_t begin = x->at;
    char quote = 0;
    for (; left(x) > 0; x->at++) {
        char c = *text_at(x, x->at);
        if (quote == 0 && c == '>') {
            *tag = (struct xml_text){text_at(x, begin), x->at - begin};
            x->at++;
            return 1;
        }
        if (quote != 0)
            quote = c == quote ? 0 : quote;
        else if (c == '"' || c == '\'')
            quote = c;
    }
    return 0;
}

static int begin_element(struct xml *x, struct xml_text tag, size_t at, struct xml_text *name, struct tw_error *err)
{
    struct xml_text ignored_name, ignored_value;
    int more;
    x->is_empty = tag.size > 0 && tag.text[tag.size - 1] == '/';
    tag.size -= (size_t)x->is_empty;
    *name = take_name(&tag);
    x->attributes = tag;
    while ((more = take_attribute(&tag, &ignored_name, &ignored_value)) == 1)
        ;
    if (name->size == 0 || more < 0)
        return fail(x, at, err, "a tag that cannot be read");
    if (x->depth == XML_DEPTH_MAX)
        return tw_view_fail(&x->view, at, TW_E_LIMIT, err, "XML elements more than %d deep", XML_DEPTH_MAX);
    x->open[x->depth++] = *name;
    return XML_ELEMENT;
}

static int end_element(struct xml *x, struct xml_text tag, size_t at, struct xml_text *name, struct tw_error *err)
{
    *name = take_name(&tag);
    skip_blanks(&tag);
    const struct xml_text *open = x->depth > 0 ? &x->open[x->depth - 1] : NULL;
    if (tag.size != 0 || open == NULL || open->size != name->size || memcmp(open->text, name->text, name->size) != 0)
        return fail(x, at, err, "an end of an element that is not the one that began last");
    return XML_ELEMENT_END;
}

int xml_next(struct xml *x, struct xml_text *name, struct tw_error *err)
{
    struct xml_text tag;
    if (x->is_empty) {
        x->is_empty = 0;
        *name = x->open[--x->depth];
        return XML_ELEMENT_END;
    }
    while (skip_past(x, "<")) {
        size_t at = x->at - 1;
        if (begins_with(x, "?") || begins_with(x, "!--")) {
            if (!skip_past(x, begins_with(x, "?") ? "?>" : "-->"))
                return fail(x, at, err, "a comment or instruction without its end");
            continue;
        }
        int is_end = begins_with(x, "/");
        x->at += (size_t)is_end;
        if (!take_tag(x, &tag))
            return fail(x, at, err, "a tag without its end");
        if (!is_end)
            return begin_element(x, tag, at, name, err);
        int event = end_element(x, tag, at, name, err);
        x->depth -= event >= 0;
        return event;
    }
    return x->depth == 0 ? XML_END : fail(x, x->view.size, err, "an element without its end");
}

/* The character of an entity, and how long its text is; 0 for one that is not known. */
static char read_entity(struct xml_text t, size_t *size)
{
    static const struct {
        const char *text;
        char c;
    } entities[] = {{"&lt;", '<'}, {"&gt;", '>'}, {"&amp;", '&'}, {"&quot;", '"'}, {"&apos;", '\''}};
    for (size_t i = 0; i < sizeof entities / sizeof entities[0]; i++) {
        *size = strlen(entities[i].text);
        if (t.size >= *size && memcmp(t.text, entities[i].text, *size) == 0)
            return entities[i].c;
    }
    return 0;
}

static int copy_value(const struct xml *x, struct xml_text value, char text[XML_TEXT_MAX], struct tw_error *err)
{
    size_t at = (size_t)(value.text - (const char *)x->view.data), n = 0;
    for (size_t i = 0; i < value.size; n++) {
        size_t size = 1;
        char c = value.text[i];
        if (c == '&')
            c = read_entity((struct xml_text){value.text + i, value.size - i}, &size);
        if (c == 0)
            return fail(x, at, err, "a character in an attribute that is not understood");
        if (n == XML_TEXT_MAX - 1)
            return tw_view_fail(&x->view, at, TW_E_LIMIT, err, "an XML attribute is longer than %d bytes",
                                XML_TEXT_MAX - 1);
        text[n] = c;
        i += size;
    }
    text[n] = '\0';
    return 1;
}

int xml_attribute(const struct xml *x, const char *name, char text[XML_TEXT_MAX], struct tw_error *err)
{
    struct xml_text rest = x->attributes, found, value;
    while (take_attribute(&rest, &found, &value) == 1)
        if (xml_is(found, name))
            return copy_value(x, value, text, err);
    return 0;
}
