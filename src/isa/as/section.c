/* Sections: their bytes, and values in them that come later. */
#include "isa/as/state.h"

#include <inttypes.h>
#include <string.h>

/* The first address of a kind of memory, and the first behind it. */
static const struct {
    uint32_t first, usual, end;
} memories[] = {
    [TW_SECTION_TEXT] = {0, 0, TW_PROGRAM_BYTES},
    [TW_SECTION_DATA] = {TW_DATA_SOUTH, TW_DATA_OWN, TW_DATA_OWN + TW_DATA_BYTES},
    [TW_SECTION_BSS] = {TW_DATA_SOUTH, TW_DATA_OWN, TW_DATA_OWN + TW_DATA_BYTES},
};

static int begins(struct tw_as_span name, const char *with)
{
    size_t n = strlen(with);
    return name.size >= n && memcmp(name.text, with, n) == 0 && (name.size == n || name.text[n] == '.');
}

static enum tw_section_kind kind_of(struct tw_as_span name)
{
    return begins(name, ".text") ? TW_SECTION_TEXT : begins(name, ".bss") ? TW_SECTION_BSS : TW_SECTION_DATA;
}

struct tw_as_part *tw_as_part(struct tw_as *a)
{
    return &a->parts[a->current];
}

static void update_dot(struct tw_as *a)
{
    const struct tw_as_part *p = tw_as_part(a);
    a->point.dot = p->address + (int64_t)p->size;
}

static int find(const struct tw_as *a, struct tw_as_span name)
{
    for (size_t i = 0; i < a->n_parts; i++)
        if (tw_as_equals(name, a->parts[i].name))
            return (int)i;
    return -1;
}

static int add(struct tw_as *a, struct tw_as_span name)
{
    if (a->n_parts == AS_SECTIONS_MAX)
        return -tw_as_fault(a, name.text, "more than %d sections", AS_SECTIONS_MAX);
    if (tw_grow(&a->parts, a->n_parts, &a->room_parts, sizeof *a->parts) != 0)
        return -tw_as_no_memory(a);
    struct tw_as_part *p = &a->parts[a->n_parts];
    memset(p, 0, sizeof *p);
    p->name = tw_as_pool_text(&a->pool, name.text, name.size);
    if (p->name == NULL)
        return -tw_as_no_memory(a);
    p->kind = kind_of(name);
    p->address = memories[p->kind].usual;
    return (int)a->n_parts++;
}

static int place(struct tw_as *a, const char *at, struct tw_as_part *p, int64_t address)
{
    if (address < memories[p->kind].first || address >= memories[p->kind].end)
        return tw_as_fault(a, at,
                           "section %s cannot lie at 0x%" PRIx64 ": its memory is from 0x%" PRIx32 " to 0x%" PRIx32,
                           p->name, (uint64_t)address, memories[p->kind].first, memories[p->kind].end - 1);
    if (p->placed && p->address != address)
        return tw_as_fault(a, at, "section %s lies at 0x%" PRIx64 " already", p->name, (uint64_t)p->address);
    p->address = address;
    p->placed = 1;
    return 0;
}

int tw_as_enter(struct tw_as *a, struct tw_as_span name, const int64_t *address)
{
    int number = find(a, name);

    if (number < 0)
        number = add(a, name);
    if (number < 0)
        return 1;
    a->current = number;
    int code = address == NULL ? 0 : place(a, name.text, tw_as_part(a), *address);
    update_dot(a);
    return code;
}

int tw_as_origin(struct tw_as *a, const char *at, int64_t address)
{
    struct tw_as_part *p = tw_as_part(a);

    if (p->size == 0 && !p->placed) {
        int code = place(a, at, p, address);
        update_dot(a);
        return code;
    }
    if (address < a->point.dot)
        return tw_as_fault(a, at, "0x%" PRIx64 " lies behind: the section has come to 0x%" PRIx64, (uint64_t)address,
                           (uint64_t)a->point.dot);
    return tw_as_put(a, at, NULL, (size_t)(address - a->point.dot));
}

/* ---- bytes */

/* Makes room for size more bytes, zeroed. Returns them, or NULL. */
static uint8_t *extend(struct tw_as *a, struct tw_as_part *p, size_t size)
{
    while (p->room < p->size + size) {
        size_t room = p->room;
        if (tw_grow(&p->bytes, room, &room, 1) != 0) {
            tw_as_no_memory(a);
            return NULL;
        }
        p->room = room;
    }
    return p->bytes + p->size;
}

int tw_as_put(struct tw_as *a, const char *at, const void *bytes, size_t size)
{
    struct tw_as_part *p = tw_as_part(a);
    size_t left = (size_t)(memories[p->kind].end - p->address) - p->size;

    if (size > left) {
        if (!p->full)
            tw_as_fault(a, at,
                        "section %s is full: it begins at 0x%" PRIx64 " and its memory ends at 0x%" PRIx32
                        "; %zu bytes are left",
                        p->name, (uint64_t)p->address, memories[p->kind].end, left);
        p->full = 1;
        return 1;
    }
    p->placed = 1;
    if (size == 0)
        return 0;
    if (p->size == 0) {
        p->line = a->line;
        p->at = at;
    }
    if (p->kind != TW_SECTION_BSS) {
        uint8_t *to = extend(a, p, size);
        if (to == NULL)
            return 1;
        if (bytes != NULL)
            memcpy(to, bytes, size);
        else
            memset(to, 0, size);
    } else if (bytes != NULL) {
        return tw_as_fault(a, at, "section %s holds zeros only: give it room by .space", p->name);
    }
    p->size += size;
    update_dot(a);
    return 0;
}

struct tw_as_row_info *tw_as_row(struct tw_as *a, const char *at, uint32_t offset, size_t size)
{
    if (tw_grow(&a->rows, a->n_rows, &a->room_rows, sizeof *a->rows) != 0) {
        tw_as_no_memory(a);
        return NULL;
    }
    struct tw_as_row_info *r = &a->rows[a->n_rows++];
    *r = (struct tw_as_row_info){.line = a->line, .at = at, .section = (uint32_t)a->current, .offset = offset};
    r->size = (uint32_t)size;
    r->foreign = (uint8_t)a->foreign;
    return r;
}

static int pad_code(struct tw_as *a, const char *at, size_t size)
{
    uint8_t nops[TW_BUNDLE_MAX];

    if (size % 2 != 0 && tw_as_put(a, at, NULL, 1) != 0)
        return 1;
    for (size -= size % 2; size > 0;) {
        size_t n = size % TW_BUNDLE_MAX == 0 ? TW_BUNDLE_MAX : size % TW_BUNDLE_MAX;
        uint32_t offset = (uint32_t)tw_as_part(a)->size;
        tw_as_nops(n, nops);
        if (tw_as_put(a, at, nops, n) != 0)
            return 1;
        struct tw_as_row_info *r = tw_as_row(a, at, offset, n);
        if (r == NULL)
            return 1;
        r->is_bundle = 1;
        tw_as_part(a)->n_bundles++;
        size -= n;
    }
    return 0;
}

int tw_as_align(struct tw_as *a, const char *at, uint64_t align)
{
    uint64_t beyond = (uint64_t)a->point.dot & (align - 1);

    if (beyond == 0)
        return 0;
    if (tw_as_part(a)->kind == TW_SECTION_TEXT)
        return pad_code(a, at, (size_t)(align - beyond));
    return tw_as_put(a, at, NULL, (size_t)(align - beyond));
}

/* ---- values that come later */

struct tw_as_fixup *tw_as_fixup(struct tw_as *a, enum tw_as_fixup_kind kind, uint32_t offset, size_t size,
                                struct tw_as_span text)
{
    if (tw_grow(&a->fixups, a->n_fixups, &a->room_fixups, sizeof *a->fixups) != 0) {
        tw_as_no_memory(a);
        return NULL;
    }
    struct tw_as_fixup *f = &a->fixups[a->n_fixups++];
    *f = (struct tw_as_fixup){.kind = kind, .section = (uint32_t)a->current, .offset = offset, .point = a->point};
    f->size = (uint32_t)size;
    f->line = a->line;
    f->text = text;
    return f;
}

int tw_as_later(struct tw_as *a, const struct tw_as_point *point, struct tw_as_span text, int64_t *value)
{
    struct tw_as_span name;
    struct tw_error err;
    const char *fault = text.text;
    int code = tw_as_evaluate(a, point, text, value, &name, &fault, &err);

    if (code > 0)
        return tw_as_fault(a, name.text, "%.*s is not defined", tw_as_width(name), name.text);
    return code < 0 ? tw_as_fault(a, fault, "%s", err.text) : 0;
}

int tw_as_check_number(struct tw_as *a, const char *at, int64_t value, size_t size)
{
    int64_t end = (int64_t)1 << 8 * size;

    if (value >= -end / 2 && value < end)
        return 0;
    return tw_as_fault(a, at, "%" PRId64 " does not fit into %zu bytes", value, size);
}

void tw_as_store(uint8_t *to, int64_t value, size_t size)
{
    for (size_t i = 0; i < size; i++)
        to[i] = (uint8_t)((uint64_t)value >> 8 * i);
}

static void resolve_number(struct tw_as *a, const struct tw_as_fixup *f)
{
    int64_t value;

    if (tw_as_later(a, &f->point, f->text, &value) == 0 && tw_as_check_number(a, f->text.text, value, f->size) == 0)
        tw_as_store(a->parts[f->section].bytes + f->offset, value, f->size);
}

void tw_as_resolve(struct tw_as *a)
{
    for (size_t i = 0; i < a->n_fixups && !a->stop; i++) {
        const struct tw_as_fixup *f = &a->fixups[i];
        a->line = f->line;
        if (f->kind == AS_FIX_NUMBER)
            resolve_number(a, f);
        else if (f->kind == AS_FIX_BUNDLE)
            tw_as_resolve_bundle(a, f);
        else
            tw_as_resolve_operand(a, f);
    }
}
