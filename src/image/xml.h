/*
 * Reading XML as the metadata of xclbins holds it: elements and attributes in a strict form, without a document type
 * and without entities of its own. Text between elements is skipped.
 */
#ifndef TW_IMAGE_XML_H
#define TW_IMAGE_XML_H

#include "base/view.h"

enum xml_limit { XML_DEPTH_MAX = 64, XML_TEXT_MAX = 256 };

/* Characters of the text itself; not ended by a NUL. */
struct xml_text {
    const char *text;
    size_t size;
};

struct xml {
    struct tw_view view;
    size_t at;
    unsigned depth;
    struct xml_text open[XML_DEPTH_MAX]; /* the names of open elements */
    int is_empty;                        /* the last one has no contents: its end comes next */
    struct xml_text attributes;          /* of the last one that began */
};

enum xml_event { XML_END, XML_ELEMENT, XML_ELEMENT_END };

void xml_begin(struct xml *x, const struct tw_view *view);

/*
 * The next beginning or end of an element, *name its name; xml.depth counts it in both cases. Returns an event, or
 * fails with TW_E_FORMAT, TW_E_LIMIT (too deep).
 */
int xml_next(struct xml *x, struct xml_text *name, struct tw_error *err);

int xml_is(struct xml_text a, const char *b);

/*
 * An attribute of the element that began last: copied, with its entities replaced, to `text` of XML_TEXT_MAX bytes.
 * Returns 1, or 0 when there is none. Fails with TW_E_FORMAT, TW_E_LIMIT (too long).
 */
int xml_attribute(const struct xml *x, const char *name, char text[XML_TEXT_MAX], struct tw_error *err);

#endif
