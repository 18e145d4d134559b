/* Memory for predecoded bundles, given back all at once. */
#include "emu/core/state.h"

#include "base/memory.h"

#include <stdlib.h>

enum { BLOCK_BYTES = 1 << 16, LINE = 64 };

struct tw_core_pool_block {
    struct tw_core_pool_block *next;
    size_t used; /* of bytes */
    alignas(64) uint8_t bytes[];
};

static struct tw_core_pool_block *take_block(struct tw_core_pool *pool)
{
    struct tw_core_pool_block *block = pool->spare;

    if (block != NULL)
        pool->spare = block->next;
    else
        block = tw_alloc(sizeof *block + BLOCK_BYTES);
    if (block == NULL)
        return NULL;
    block->used = 0;
    pool->used += BLOCK_BYTES;
    block->next = pool->blocks;
    pool->blocks = block;
    return block;
}

void *tw_core_pool_get(struct tw_core_pool *pool, size_t size)
{
    size_t padded = (size + 15) & ~(size_t)15;
    struct tw_core_pool_block *block = pool->blocks;

    if (padded > BLOCK_BYTES)
        return NULL;
    if (block != NULL && size >= LINE)
        block->used = (block->used + LINE - 1) / LINE * LINE;
    if (block == NULL || block->used + padded > BLOCK_BYTES)
        block = take_block(pool);
    if (block == NULL)
        return NULL;
    void *memory = block->bytes + block->used;
    block->used += padded;
    return memset(memory, 0, padded);
}

void tw_core_pool_empty(struct tw_core_pool *pool)
{
    while (pool->blocks != NULL) {
        struct tw_core_pool_block *block = pool->blocks;
        pool->blocks = block->next;
        block->next = pool->spare;
        pool->spare = block;
    }
    pool->used = 0;
}

void tw_core_pool_free(struct tw_core_pool *pool)
{
    tw_core_pool_empty(pool);
    while (pool->spare != NULL) {
        struct tw_core_pool_block *block = pool->spare;
        pool->spare = block->next;
        free(block);
    }
}
