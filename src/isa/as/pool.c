#include "isa/as/pool.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define CHUNK 65536

struct tw_pool_chunk {
    struct tw_pool_chunk *before;
    size_t used, room;
    max_align_t data[];
};

void *tw_as_pool_take(struct tw_as_pool *pool, size_t size)
{
    struct tw_pool_chunk *c = pool->last;

    if (size > SIZE_MAX / 2)
        return NULL;
    size = (size + sizeof(max_align_t) - 1) / sizeof(max_align_t) * sizeof(max_align_t);
    if (c == NULL || c->room - c->used < size) {
        size_t room = size > CHUNK ? size : CHUNK;
        c = calloc(1, sizeof *c + room);
        if (c == NULL)
            return NULL;
        c->room = room;
        c->before = pool->last;
        pool->last = c;
    }
    c->used += size;
    return (unsigned char *)c->data + (c->used - size);
}

char *tw_as_pool_text(struct tw_as_pool *pool, const char *text, size_t size)
{
    char *copy = tw_as_pool_take(pool, size + 1);

    if (copy != NULL && size > 0)
        memcpy(copy, text, size);
    return copy;
}

void tw_as_pool_release(struct tw_as_pool *pool)
{
    while (pool->last != NULL) {
        struct tw_pool_chunk *c = pool->last;
        pool->last = c->before;
        free(c);
    }
}
