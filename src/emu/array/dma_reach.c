/* What memory and which locks a DMA channel reaches. */
#include "emu/array/dma_channel.h"
#include "emu/array/state.h"
#include "emu/fault.h"

#include <string.h>

enum {
    MEMORY_TILE_WORDS = TW_MEMORY_TILE_BYTES / 4,
    MEMORY_TILE_LOCKS = 64,
    MEMORY_OWN_CHANNELS = 4, /* channels from here on reach their own tile only */
    HOST_ADDRESS_BITS = 48
};

static int fail(struct tw_array *a, struct tw_dma_engine *e, uint32_t status, const char *what, uint64_t which)
{
    char name[40];
    tw_dma_name(e, name, sizeof name);
    e->sticky |= status;
    tw_array_fault(a, TW_E_ARGUMENT, "%s, descriptor %u, %s: 0x%llx", name, e->number, what, (unsigned long long)which);
    return -1;
}

/* The memory tile that a window of west, own and east neighbour means. */
static struct tw_tile *neighbour(struct tw_array *a, const struct tw_dma_engine *e, uint64_t window)
{
    if (window != 1 && e->channel.number >= MEMORY_OWN_CHANNELS)
        return NULL;
    return tw_array_tile(a, e->tile->column + (int)window - 1, e->tile->row);
}

int tw_dma_lock(struct tw_array *array, struct tw_dma_engine *engine, unsigned id, struct tw_tile **tile,
                unsigned *lock)
{
    *tile = engine->tile;
    *lock = id;
    if (engine->tile->kind != TW_TILE_MEMORY) {
        if (id < tw_lock_count(engine->tile->kind))
            return 0;
        return fail(array, engine, TW_DMA_LOCK_UNAVAILABLE, "there is no such lock", id);
    }
    unsigned window = id / MEMORY_TILE_LOCKS;
    *lock = id % MEMORY_TILE_LOCKS;
    *tile = window < 3 ? neighbour(array, engine, window) : NULL;
    return *tile != NULL ? 0 : fail(array, engine, TW_DMA_LOCK_UNAVAILABLE, "the channel does not reach this lock", id);
}

static void copy_words(const struct tw_dma_engine *e, unsigned char *memory, uint32_t *words, size_t bytes)
{
    enum { USUAL = 16 }; /* bytes of a row of a tile of bf16 */
    unsigned char *to = e->channel.direction == TW_S2MM ? memory : (unsigned char *)words;
    const unsigned char *from = e->channel.direction == TW_S2MM ? (const unsigned char *)words : memory;
    if (bytes == USUAL)
        memcpy(to, from, USUAL);
    else
        memcpy(to, from, bytes);
}

/* Of words on their way to the host. */
static void flip_bits(const struct tw_array *a, uint32_t *words, uint32_t n)
{
    if (!tw_fault_is_set(a->options.faults, TW_FAULT_BIT))
        return;
    for (uint32_t i = 0; i < n; i++)
        words[i] = tw_fault_word(a->options.faults, words[i]);
}

static int fail_host(struct tw_array *a, struct tw_dma_engine *e, uint64_t address)
{
    const struct tw_host_memory *host = &a->options.host;
    char name[40], where[80] = "";
    tw_dma_name(e, name, sizeof name);
    if (host->describe != NULL)
        host->describe(host->arg, address, where, sizeof where);
    e->sticky |= TW_DMA_AXI_DECODE_ERROR;
    tw_array_fault(a, TW_E_ARGUMENT,
                   "%s, descriptor %u, there is no memory at the device address (AXI decode error): 0x%llx%s%s", name,
                   e->number, (unsigned long long)address, where[0] != '\0' ? ", " : "", where);
    return -1;
}

/* A run may go from one of the host's buffers into the next. */
static int copy_host(struct tw_array *a, struct tw_dma_engine *e, uint64_t address, uint32_t *words, uint32_t n)
{
    const struct tw_host_memory *host = &a->options.host;
    int write = e->channel.direction == TW_S2MM;
    if (address >> HOST_ADDRESS_BITS != 0)
        return fail(a, e, TW_DMA_AXI_DECODE_ERROR, "the device address is beyond 48 bits (AXI decode error)", address);
    unsigned char *all = host->find != NULL ? host->find(host->arg, address, (uint64_t)n * 4, write) : NULL;
    if (write)
        flip_bits(a, words, n);
    if (all != NULL) {
        copy_words(e, all, words, (size_t)n * 4);
        return 0;
    }
    for (uint32_t i = 0; i < n; i++, address += 4) {
        unsigned char *one = host->find != NULL ? host->find(host->arg, address, 4, write) : NULL;
        if (one == NULL)
            return fail_host(a, e, address);
        copy_words(e, one, words + i, 4);
    }
    return 0;
}

/* A run may go from one memory tile into the next one. */
static int copy_memory_tiles(struct tw_array *a, struct tw_dma_engine *e, uint64_t address, uint32_t *words, uint32_t n)
{
    while (n > 0) {
        uint64_t window = address / MEMORY_TILE_WORDS, offset = address % MEMORY_TILE_WORDS;
        struct tw_tile *tile = window < 3 ? neighbour(a, e, window) : NULL;
        if (tile == NULL)
            return fail(a, e, TW_DMA_MEMORY_UNAVAILABLE, "the channel does not reach the byte address", address * 4);
        uint32_t part = n < MEMORY_TILE_WORDS - offset ? n : (uint32_t)(MEMORY_TILE_WORDS - offset);
        copy_words(e, tile->memory + offset * 4, words, (size_t)part * 4);
        address += part;
        words += part;
        n -= part;
    }
    return 0;
}

int tw_dma_copy(struct tw_array *array, struct tw_dma_engine *engine, uint64_t address, uint32_t *words, uint32_t n)
{
    struct tw_tile *tile = engine->tile;
    if (tile->kind == TW_TILE_SHIM)
        return copy_host(array, engine, address * 4, words, n);
    if (tile->kind == TW_TILE_MEMORY)
        return copy_memory_tiles(array, engine, address, words, n);
    if (address >= tile->memory_bytes / 4 || n > tile->memory_bytes / 4 - address)
        return fail(array, engine, TW_DMA_MEMORY_UNAVAILABLE, "the byte address is outside the tile's memory",
                    address * 4);
    if (engine->channel.direction == TW_MM2S)
        tw_core_seat_join(array, tile);
    else if (tw_core_seat_takes_late(array, tile, (uint32_t)address, words, n))
        return 0;
    copy_words(engine, tile->memory + address * 4, words, (size_t)n * 4);
    return 0;
}
