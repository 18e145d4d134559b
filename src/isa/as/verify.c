/* Hands the code to the checker, and its findings to the messages. */
#include "isa/as/state.h"

#include <inttypes.h>
#include <stdlib.h>

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

static int64_t address_of(const struct tw_as *a, const struct tw_as_row_info *r)
{
    return a->parts[r->section].address + r->offset;
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

/* Sorts rows by address: those of a section are in order already. */
static int compare_rows(const void *left, const void *right)
{
    const struct tw_as_row_info *const *x = left, *const *y = right;
    return ((*x)->order > (*y)->order) - ((*x)->order < (*y)->order);
}

static void gather(struct program *p, int section)
{
    struct tw_as *a = p->a;

    for (size_t i = 0; i < a->n_rows; i++) {
        struct tw_as_row_info *r = &a->rows[i];
        if (!r->is_bundle || (section >= 0 && r->section != (uint32_t)section))
            continue;
        r->order = address_of(a, r);
        p->rows[p->n++] = r;
        p->foreign |= r->foreign;
    }
    if (section < 0)
        qsort(p->rows, p->n, sizeof *p->rows, compare_rows);
    for (size_t i = 0; i < p->n; i++) {
        const struct tw_as_row_info *r = p->rows[i];
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

/* Checks a section, or all of them as one program. */
static int verify(struct tw_as *a, int section)
{
    struct program p = {.a = a};
    struct tw_check_options options = {0, tell, &p};
    int code = 0;

    p.bundles = calloc(a->n_rows + 1, sizeof *p.bundles);
    p.rows = calloc(a->n_rows + 1, sizeof *p.rows);
    p.entries = calloc(a->n_parts + a->n_order + 1, sizeof *p.entries);
    if (p.bundles == NULL || p.rows == NULL || p.entries == NULL) {
        code = tw_as_no_memory(a);
    } else {
        gather(&p, section);
        list_entries(&p, section);
        options.foreign = p.foreign;
        struct tw_error err;
        if (tw_check(p.bundles, p.n, p.entries, p.n_entries, &options, &err) < 0)
            code = tw_as_no_memory(a);
    }
    free(p.bundles);
    free(p.rows);
    free(p.entries);
    return code;
}

int tw_as_verify(struct tw_as *a)
{
    if (is_one_program(a))
        return verify(a, -1);
    for (size_t i = 0; i < a->n_parts && !a->stop; i++)
        if (a->parts[i].kind == TW_SECTION_TEXT && verify(a, (int)i) != 0)
            return 1;
    return 0;
}
