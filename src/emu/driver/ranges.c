#include "emu/driver/ranges.h"

#include <errno.h>
#include <stdlib.h>

static struct tw_range *new_range(uint64_t start, uint64_t size, struct tw_range *next)
{
    struct tw_range *r = malloc(sizeof *r);
    if (r != NULL)
        *r = (struct tw_range){.start = start, .size = size, .next = next};
    return r;
}

int tw_ranges_create(struct tw_ranges *ranges, uint64_t size)
{
    ranges->first = new_range(0, size, NULL);
    return ranges->first != NULL ? 0 : -ENOMEM;
}

void tw_ranges_free(struct tw_ranges *ranges)
{
    while (ranges->first != NULL) {
        struct tw_range *r = ranges->first;
        ranges->first = r->next;
        free(r);
    }
}

/* Cuts the range so that its first part has this size. */
static int split(struct tw_range *r, uint64_t size)
{
    if (r->size == size)
        return 0;
    struct tw_range *rest = new_range(r->start + size, r->size - size, r->next);
    if (rest == NULL)
        return -ENOMEM;
    r->size = size;
    r->next = rest;
    return 0;
}

static uint64_t lead(const struct tw_range *r, uint64_t align)
{
    return (align - r->start % align) % align;
}

int tw_ranges_take(struct tw_ranges *ranges, uint64_t size, uint64_t align, uint64_t *start)
{
    struct tw_range *best = NULL;
    for (struct tw_range *r = ranges->first; r != NULL; r = r->next) {
        uint64_t before = lead(r, align);
        if (!r->used && r->size >= before && r->size - before >= size && (best == NULL || r->size < best->size))
            best = r;
    }
    if (best == NULL)
        return -ENOSPC;
    uint64_t before = lead(best, align);
    if (before != 0) {
        if (split(best, before) < 0)
            return -ENOMEM;
        best = best->next;
    }
    if (split(best, size) < 0)
        return -ENOMEM;
    best->used = 1;
    *start = best->start;
    return 0;
}

static void merge_with_next(struct tw_range *r)
{
    struct tw_range *next = r->next;
    if (next == NULL || r->used || next->used)
        return;
    r->size += next->size;
    r->next = next->next;
    free(next);
}

void tw_ranges_give(struct tw_ranges *ranges, uint64_t start)
{
    struct tw_range *before = NULL;
    struct tw_range *r = ranges->first;
    while (r != NULL && (r->start != start || !r->used)) {
        before = r;
        r = r->next;
    }
    if (r == NULL)
        return;
    r->used = 0;
    merge_with_next(r);
    if (before != NULL)
        merge_with_next(before);
}

uint64_t tw_ranges_size(const struct tw_ranges *ranges, uint64_t start)
{
    for (const struct tw_range *r = ranges->first; r != NULL; r = r->next)
        if (r->start == start && r->used)
            return r->size;
    return 0;
}
