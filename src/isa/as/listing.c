/* The listing: address, bytes and source. */
#include "isa/as/state.h"

#include <inttypes.h>

enum { BYTES_IN_LINE = 16, ROWS_OF_DATA = 4 };

static void list_bytes(const struct tw_as_section *s, const struct tw_as_row *r, uint32_t from, FILE *out)
{
    uint32_t n = r->size - from < BYTES_IN_LINE ? r->size - from : BYTES_IN_LINE;

    fprintf(out, "%05" PRIx32 " ", s->address + r->offset + from);
    for (uint32_t i = 0; i < BYTES_IN_LINE; i++)
        if (i < n && s->bytes != NULL)
            fprintf(out, " %02x", s->bytes[r->offset + from + i]);
        else
            fputs("   ", out);
}

/* The source of hand-written lines; the bundle itself where the scheduler made it. */
static void list_source(const struct tw_as_section *s, const struct tw_as_row *r, FILE *out)
{
    struct tw_bundle bundle;
    char text[TW_BUNDLE_TEXT_MAX];
    struct tw_as_span source = tw_as_trim((struct tw_as_span){r->text, r->text_size});

    if (r->scheduled && tw_bundle_decode(s->bytes + r->offset, r->size, &bundle, NULL) > 0 &&
        tw_bundle_print(&bundle, text, sizeof text) > 0)
        fprintf(out, "  %s", text);
    else
        fprintf(out, "  %.*s", (int)source.size, source.text);
    fprintf(out, "  // %s:%u\n", r->place.file, r->place.line);
}

static void list_row(const struct tw_as_section *s, const struct tw_as_row *r, FILE *out)
{
    uint32_t shown = s->bytes == NULL                         ? 0
                     : r->size < ROWS_OF_DATA * BYTES_IN_LINE ? r->size
                                                              : ROWS_OF_DATA * BYTES_IN_LINE;

    list_bytes(s, r, 0, out);
    list_source(s, r, out);
    for (uint32_t at = BYTES_IN_LINE; at < shown; at += BYTES_IN_LINE) {
        list_bytes(s, r, at, out);
        fputc('\n', out);
    }
    if (r->size > shown && r->size > BYTES_IN_LINE)
        fprintf(out, "       %" PRIu32 " bytes in all\n", r->size);
}

void tw_assembly_list(const struct tw_assembly *assembly, FILE *out)
{
    for (size_t i = 0; i < assembly->n_sections; i++) {
        const struct tw_as_section *s = &assembly->sections[i];
        if (s->size == 0)
            continue;
        fprintf(out, "section %s at 0x%05" PRIx32 ", %" PRIu32 " bytes", s->name, s->address, s->size);
        if (s->n_bundles > 0)
            fprintf(out, ", %zu bundles", s->n_bundles);
        fputc('\n', out);
        for (size_t k = 0; k < assembly->n_rows; k++)
            if (assembly->rows[k].section == i)
                list_row(s, &assembly->rows[k], out);
    }
    for (size_t i = 0; i < assembly->n_scheduled; i++) {
        const struct tw_as_scheduled *s = &assembly->scheduled[i];
        fprintf(out, "scheduled at %s:%u\n", s->place.file, s->place.line);
        tw_sched_report(s->code, out);
    }
}
