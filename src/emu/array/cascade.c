/* The cascade: each core may send 512 bits to its southern or eastern neighbour and gets them from north or west. */
#include "emu/array/core_seat.h"
#include "emu/array/state.h"
#include "npu1_registers.h"

#include <string.h>

/* Bits of Accumulator_Control. */
enum { INPUT_FROM_WEST = 1, OUTPUT_TO_EAST = 2 };

static struct tw_tile *core_tile(const struct tw_array *a, int column, int row)
{
    struct tw_tile *t = tw_array_tile(a, column, row);
    return t != NULL && t->kind == TW_TILE_CORE ? t : NULL;
}

static int goes_east(const struct tw_tile *t)
{
    return (tw_tile_word(t, TW_REG_CORE_ACCUMULATOR_CONTROL) & OUTPUT_TO_EAST) != 0;
}

static int comes_from_west(const struct tw_tile *t)
{
    return (tw_tile_word(t, TW_REG_CORE_ACCUMULATOR_CONTROL) & INPUT_FROM_WEST) != 0;
}

struct tw_tile *tw_cascade_source(const struct tw_array *array, const struct tw_tile *tile)
{
    int west = comes_from_west(tile);
    struct tw_tile *source = core_tile(array, tile->column - west, tile->row + !west);
    return source != NULL && goes_east(source) == west ? source : NULL;
}

struct tw_tile *tw_cascade_target(const struct tw_array *array, const struct tw_tile *tile)
{
    int east = goes_east(tile);
    struct tw_tile *target = core_tile(array, tile->column + east, tile->row - !east);
    return target != NULL && comes_from_west(target) == east ? target : NULL;
}

static void wake(struct tw_array *a, struct tw_tile *t, uint64_t cycle)
{
    if (t != NULL && t->seat.waits)
        tw_array_wake(a, t->seat.actor, cycle);
}

void tw_cascade_changed(struct tw_array *array, struct tw_tile *tile)
{
    wake(array, tile, array->now);
    wake(array, tw_cascade_source(array, tile), array->now);
    wake(array, tw_cascade_target(array, tile), array->now);
}

int tw_cascade_read(struct tw_array *array, struct tw_tile *tile, uint32_t words[TW_CASCADE_WORDS], uint64_t *cycle)
{
    struct tw_tile *source = tw_cascade_source(array, tile);
    struct tw_cascade *c = source != NULL ? &source->seat.cascade : NULL;
    if (c == NULL || c->n == 0)
        return 0;
    uint64_t there = c->sent[0] + TW_CYCLES_CASCADE;
    *cycle = there > array->now ? there : array->now;
    memcpy(words, c->words[0], sizeof c->words[0]);
    c->n--;
    memmove(c->words, c->words + 1, c->n * sizeof c->words[0]);
    memmove(c->sent, c->sent + 1, c->n * sizeof c->sent[0]);
    wake(array, source, *cycle);
    return 1;
}

int tw_cascade_write(struct tw_array *array, struct tw_tile *tile, const uint32_t words[TW_CASCADE_WORDS],
                     uint64_t *cycle)
{
    struct tw_cascade *c = &tile->seat.cascade;
    if (c->n == TW_CASCADE_DEPTH)
        return 0;
    memcpy(c->words[c->n], words, sizeof c->words[0]);
    c->sent[c->n++] = array->now;
    *cycle = array->now;
    wake(array, tw_cascade_target(array, tile), array->now + TW_CYCLES_CASCADE);
    return 1;
}
