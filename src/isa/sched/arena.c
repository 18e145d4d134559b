#include "isa/sched/arena.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

struct tw_arena_chunk {
    struct tw_arena_chunk *before;
    max_align_t data[];
};

void *tw_arena_alloc(struct tw_arena *a, size_t count, size_t size)
{
    size_t bytes;

    if (tw_mul_size(count, size, &bytes) != 0 || bytes > SIZE_MAX / 2)
        return NULL;
    struct tw_arena_chunk *c = calloc(1, sizeof *c + bytes);
    if (c == NULL)
        return NULL;
    c->before = a->last;
    a->last = c;
    return c->data;
}

struct tw_arena tw_arena_mark(const struct tw_arena *a)
{
    return *a;
}

void tw_arena_rewind(struct tw_arena *a, struct tw_arena mark)
{
    while (a->last != mark.last) {
        struct tw_arena_chunk *c = a->last;
        a->last = c->before;
        free(c);
    }
}

void tw_arena_release(struct tw_arena *a)
{
    tw_arena_rewind(a, (struct tw_arena){NULL});
}
