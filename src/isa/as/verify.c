/* Hands the code to the checker, and its findings to the messages. */
#include "isa/as/state.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The bundles of one program, as the checker takes them, and where each comes from. */
struct program {
    struct tw_as *a;
    struct tw_check_bundle *bundles;
    const struct tw_as_row_info **rows;
    size_t n;
    uint32_t *entries;
    size_t n_entries;
    int foreign;
};

static int overlap(const struct tw_as_part *a, const struct tw_as_part *b)
{
    return a->size > 0 && b->size > 0 && a->address < b->address + (int64_t)b->size &&
           b->address < a->address + (int64_t)a->size;
}

/* The sections are not only programs of different cores. */
static int must_not_overlap(const struct tw_as *a, const struct tw_as_part *p, const struct tw_as_part *q)
{
    int one_program = a->options != NULL && a->options->one_program;
    return one_program || p->kind != TW_SECTION_TEXT || q->kind != TW_SECTION_TEXT;
}

void tw_as_check_overlaps(struct tw_as *a)
{
    for (size_t i = 0; i < a->n_parts && !a->stop; i++)
        for (size_t k = 0; k < i; k++) {
            const struct tw_as_part *p = &a->parts[i], *q = &a->parts[k];
            if (!overlap(p, q) || !must_not_overlap(a, p, q))
                continue;
            int64_t from = p->address > q->address ? p->address : q->address;
            char text[256];
            snprintf(text, sizeof text, "section %s overlaps section %s at 0x%" PRIx64 "%s", p->name, q->name,
                     (uint64_t)from,
                     p->kind == TW_SECTION_TEXT ? ": programs of several cores cannot go into one file" : "");
            const struct tw_as_trace *trace =
                tw_as_trace_push(a, p->line->trace, tw_as_place_of(q->line, q->at), "section %s begins here", q->name);
            tw_as_message(a, TW_SEVERITY_ERROR, "overlap", p->line, p->at, trace, text);
            break;
        }
}

/* Whether the text sections are parts of one program: they do not lie on top of each other. */
static int is_one_program(const struct tw_as *a)
{
    for (size_t i = 0; i < a->n_parts; i++)
        for (size_t k = 0; k < i; k++)
            if (a->parts[i].kind == TW_SECTION_TEXT && a->parts[k].kind == TW_SECTION_TEXT &&
                overlap(&a->parts[i], &a->parts[k]))
                return 0;
    return 1;
}

static void tell(void *arg, const struct tw_finding *f)
{
    struct program *p = arg;
    const struct tw_as_row_info *row = f->bundle == TW_NO_BUNDLE ? NULL : p->rows[f->bundle];
    const struct tw_as_row_info *other = f->other == TW_NO_BUNDLE ? NULL : p->rows[f->other];
    const struct tw_as_trace *trace = row == NULL ? NULL : row->line->trace;

    if (other != NULL)
        trace = tw_as_trace_push(p->a, trace, tw_as_place_of(other->line, other->at), "the other bundle is here");
    tw_as_message(p->a, f->severity, tw_finding_names[f->kind], row == NULL ? NULL : row->line,
                  row == NULL ? NULL : row->at, trace, f->text);
}

/* A tw_check_options.on_purpose. */
static void keep_old(void *arg, size_t bundle, const uint16_t *leaves, size_t n)
{
    struct program *p = arg;
    struct tw_as *a = p->a;
    uint16_t *copy = tw_as_pool_take(&a->pool, n * sizeof *copy);

    if (copy == NULL || tw_grow(&a->out.old, a->out.n_old, &a->room_old, sizeof *a->out.old) != 0) {
        tw_as_no_memory(a);
        return;
    }
    memcpy(copy, leaves, n * sizeof *copy);
    a->out.old[a->out.n_old++] = (struct tw_as_old){p->rows[bundle]->section, p->bundles[bundle].address, n, copy};
}

/* Sorts rows by address: those of a section are in order already. */
static int compare_rows(const void *left, const void *right)
{
    const struct tw_as_row_info *const *x = left, *const *y = right;
    return ((*x)->order > (*y)->order) - ((*x)->order < (*y)->order);
}

/* Takes rows as the bundles of the program. */
static void take_rows(struct program *p, size_t n)
{
    const struct tw_as *a = p->a;

    p->n = n;
    for (size_t i = 0; i < n; i++) {
        const struct tw_as_row_info *r = p->rows[i];
        p->foreign |= r->foreign;
        p->bundles[i] = (struct tw_check_bundle){.code = a->parts[r->section].bytes + r->offset,
                                                 .address = (uint32_t)r->order,
                                                 .size = (uint8_t)r->size,
                                                 .flags = r->scheduled ? TW_CHECK_SCHEDULED : 0,
                                                 .n_old = r->n_old,
                                                 .old = r->old};
    }
}

static void list_entries(struct program *p, int section)
{
    const struct tw_as *a = p->a;

    for (size_t i = 0; i < a->n_parts; i++)
        if (a->parts[i].kind == TW_SECTION_TEXT && (section < 0 || section == (int)i))
            p->entries[p->n_entries++] = (uint32_t)a->parts[i].address;
    for (size_t i = 0; i < a->n_order; i++) {
        const struct tw_as_name *n = a->order[i];
        if (n->state == AS_LABEL && n->global && (section < 0 || section == n->section) &&
            a->parts[n->section].kind == TW_SECTION_TEXT)
            p->entries[p->n_entries++] = (uint32_t)n->history.list[0].value;
    }
}

/* Checks n rows: those of a section, or all (section < 0). */
static int verify(struct tw_as *a, const struct tw_as_row_info **rows, size_t n, int section)
{
    struct program p = {.a = a, .rows = rows};
    struct tw_check_options options = {.finding = tell, .on_purpose = keep_old, .arg = &p};
    struct tw_error err;
    int code = 0;

    p.bundles = calloc(n + 1, sizeof *p.bundles);
    p.entries = calloc(a->n_parts + a->n_order + 1, sizeof *p.entries);
    if (p.bundles != NULL && p.entries != NULL) {
        take_rows(&p, n);
        list_entries(&p, section);
        options.foreign = p.foreign;
        code = tw_check(p.bundles, p.n, p.entries, p.n_entries, &options, &err);
    }
    if (p.bundles == NULL || p.entries == NULL || code < 0)
        code = tw_as_no_memory(a);
    free(p.bundles);
    free(p.entries);
    return code;
}

/* The bundles' rows, section by section, each in the order of its addresses; ends[i] is where section i ends. */
static const struct tw_as_row_info **sort_rows(struct tw_as *a, size_t *ends)
{
    const struct tw_as_row_info **rows = calloc(a->n_rows + 1, sizeof *rows);
    size_t sum = 0;

    if (rows == NULL)
        return NULL;
    for (size_t i = 0; i < a->n_rows; i++)
        ends[a->rows[i].section] += a->rows[i].is_bundle;
    for (size_t i = 0; i < a->n_parts; i++) {
        size_t n = ends[i];
        ends[i] = sum;
        sum += n;
    }
    for (size_t i = 0; i < a->n_rows; i++) {
        struct tw_as_row_info *r = &a->rows[i];
        r->order = a->parts[r->section].address + r->offset;
        if (r->is_bundle)
            rows[ends[r->section]++] = r;
    }
    return rows;
}

int tw_as_verify(struct tw_as *a)
{
    size_t ends[AS_SECTIONS_MAX] = {0};
    const struct tw_as_row_info **rows = sort_rows(a, ends);
    int code = 0;

    if (rows == NULL)
        return tw_as_no_memory(a);
    if (is_one_program(a)) {
        size_t n = ends[a->n_parts - 1];
        qsort(rows, n, sizeof *rows, compare_rows);
        code = verify(a, rows, n, -1);
    } else {
        for (size_t i = 0, first = 0; i < a->n_parts && !a->stop && code >= 0; first = ends[i++])
            if (a->parts[i].kind == TW_SECTION_TEXT)
                code = verify(a, rows + first, ends[i] - first, (int)i);
    }
    free(rows);
    return code < 0;
}
