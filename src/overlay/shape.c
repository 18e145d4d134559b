#include "overlay/shape.h"

#include "npu1/lock.h"
#include "overlay/memory_tile.h"

/*
 * The figures of the choice, in cycles and bytes. The array's own (4 bytes a cycle of each stream, DDR) are those of
 * docs/emulator.md; a step of the core program was counted, what a block takes beside its steps is estimated.
 */
enum figure {
    MAC_GROUP = 64,       /* of one group of 16 x 16 numbers of C in a step */
    STEP_OVERHEAD = 82,   /* of a step: locks, filling and emptying the loop */
    BLOCK_OVERHEAD = 600, /* of a block: the header, the epilogue's beginning */
    EPILOGUE_TILE = 4,    /* of 4 x 4 numbers in the epilogue */
    STREAM_BYTES = 4,
    DDR_READ = 16,
    DDR_WRITE = 16,
    DDR_BOTH = 21,
    TASK = 3000 /* that control code takes to begin a panel */
};

static uint32_t divide_up(uint32_t a, uint32_t b)
{
    return (a + b - 1) / b;
}

static uint64_t greater(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* As long as possible, so that DDR is read in long rows, and so that whole chunks make up the depth, and a row of D. */
static uint32_t choose_chunk(const struct tw_overlay_shape *s)
{
    uint32_t chunk = 4;
    while (s->steps % chunk != 0 || tw_overlay_addend_blocks(s) % chunk != 0)
        chunk--;
    return chunk * TW_JOB_DEPTH;
}

/* What a shim can read of a column at once (AM025: the wrap of a dimension, in words). */
enum { COLUMN_MAX = 2 * 1023 };

/* Of columns all segments but the header's must be equal: as many as `kept` steps allow, at most `most`, or 0. */
static uint32_t column_segments(uint32_t kept, uint32_t most)
{
    uint32_t n = most;
    while (kept % n != 0)
        n--;
    return kept / n * TW_JOB_DEPTH <= COLUMN_MAX ? n : 0;
}

static void cut_columns(struct tw_overlay_shape *s, uint32_t most)
{
    s->segments = most;
    s->segment_blocks[0] = 1;
    for (uint32_t i = 1; i < most; i++)
        s->segment_blocks[i] = s->kept / (most - 1);
}

/* What is kept, with the header, in equal parts. */
static void cut_evenly(struct tw_overlay_shape *s, uint32_t most)
{
    const uint32_t blocks = 1 + s->kept;
    s->segments = blocks < most ? blocks : most;
    for (uint32_t i = 0; i < s->segments; i++)
        s->segment_blocks[i] = (i + 1) * blocks / s->segments - i * blocks / s->segments;
}

/* Keeps `kept` steps in up to `most` segments; returns whether that can be. */
static int keep(struct tw_overlay_shape *s, uint32_t kept, uint32_t most)
{
    s->kept = kept;
    if (s->size.order != TW_OVERLAY_BY_COLUMNS) {
        cut_evenly(s, most);
        return 1;
    }
    const uint32_t n = column_segments(kept, most - 1);
    if (n > 0)
        cut_columns(s, 1 + n);
    return n > 0;
}

/* Segments of what is kept when the rest passes; more would leave too few descriptors for that. */
enum { KEPT_SEGMENTS = 3 };

/* Whether `kept` steps can be kept while the others pass in parts of so many blocks. */
static int can_keep(const struct tw_overlay_shape *s, uint32_t kept, uint32_t blocks)
{
    return s->size.order != TW_OVERLAY_BY_COLUMNS ||
           (column_segments(kept, KEPT_SEGMENTS - 1) > 0 && blocks * TW_JOB_DEPTH <= COLUMN_MAX);
}

/*
 * Cuts a panel for which there is not room: the fewest steps pass for which there is, if any are kept then. The more
 * parts they pass in, the less room the two places for them take.
 */
static int keep_a_part(struct tw_overlay_shape *s)
{
    const uint32_t room = memory_b_room(s) / memory_block_b_bytes(s);
    uint32_t best = s->steps;

    for (uint32_t parts = TW_OVERLAY_PASSING; parts > TW_OVERLAY_PLACES; parts -= 2) {
        const uint32_t blocks = divide_up(1 + s->steps - room, parts - TW_OVERLAY_PLACES);
        if (parts * blocks >= best || !can_keep(s, s->steps - parts * blocks, blocks))
            continue;
        best = parts * blocks;
        s->passing = parts;
        s->passing_blocks = blocks;
    }
    return best < s->steps && keep(s, s->steps - best, KEPT_SEGMENTS);
}

/* Cuts the stream of B: a whole panel or its beginning stays, or single blocks pass through a ring. */
static void choose_segments(struct tw_overlay_shape *s)
{
    const int fits = (1 + s->steps) * memory_block_b_bytes(s) <= memory_b_room(s);

    if (s->row_panels <= TW_LOCK_VALUE_TOP) {
        s->resident = fits && keep(s, s->steps, TW_OVERLAY_SEGMENTS);
        if (s->resident || (!fits && keep_a_part(s)))
            return;
    }
    s->kept = 0;
    s->segments = TW_OVERLAY_SEGMENTS;
    for (uint32_t i = 0; i < TW_OVERLAY_SEGMENTS; i++)
        s->segment_blocks[i] = 1;
}

/* What cores and streams take for all blocks of one core, if DDR keeps up. */
static uint64_t core_cycles(const struct tw_overlay_shape *s)
{
    const uint64_t groups = (uint64_t)(s->m / TW_JOB_UNIT) * (s->n / TW_JOB_UNIT);
    const uint64_t stream = greater(s->m, s->n) * TW_OVERLAY_STEP_BYTES / STREAM_BYTES;
    const uint64_t step = greater(groups * MAC_GROUP + STEP_OVERHEAD, stream);
    const uint64_t out = memory_block_c_bytes(s) / STREAM_BYTES;
    const uint64_t addend = (uint64_t)tw_overlay_addend_blocks(s) * s->m * TW_OVERLAY_STEP_BYTES / STREAM_BYTES;
    const uint64_t block = s->steps * step + BLOCK_OVERHEAD + groups * 16 * EPILOGUE_TILE + out + addend;
    /* Four blocks of a column leave by one stream. */
    return s->row_panels * s->column_panels * greater(block, TW_OVERLAY_ROWS * out);
}

static uint64_t ddr_cycles(const struct tw_overlay_shape *s)
{
    const uint64_t a = (uint64_t)tw_overlay_height(s) * tw_overlay_depth(s) * 2 * s->column_panels;
    const uint64_t steps_b = s->kept + (uint64_t)(s->steps - s->kept) * s->row_panels; /* of a column panel */
    const uint64_t b = tw_overlay_width(s) * steps_b * TW_OVERLAY_STEP_BYTES;
    const uint64_t c = (uint64_t)tw_overlay_height(s) * tw_overlay_width(s) * (s->size.bf16_out ? 2 : 4);
    const uint64_t d = s->size.addend ? (uint64_t)tw_overlay_height(s) * tw_overlay_width(s) * 4 : 0;
    return greater(greater((a + b + d) / DDR_READ, c / DDR_WRITE), (a + b + c + d) / DDR_BOTH);
}

static void cut(const struct tw_overlay_size *size, uint32_t m, uint32_t n, struct tw_overlay_shape *s)
{
    *s = (struct tw_overlay_shape){.size = *size, .m = m, .n = n};
    s->steps = divide_up(size->depth, TW_JOB_DEPTH);
    s->chunk = choose_chunk(s);
    s->row_panels = divide_up(size->rows, TW_OVERLAY_ROWS * m);
    s->column_panels = divide_up(size->columns, TW_OVERLAY_COLUMNS * n);
    choose_segments(s);
    s->cycles = greater(core_cycles(s), ddr_cycles(s)) + (uint64_t)s->column_panels * TASK;
}

static int check(const struct tw_overlay_size *size, struct tw_error *err)
{
    const uint32_t sides[3] = {size->rows, size->depth, size->columns};
    for (unsigned i = 0; i < 3; i++)
        if (sides[i] == 0 || sides[i] > TW_OVERLAY_SIDE_MAX)
            return tw_fail(err, TW_E_SHAPE,
                           "a product of %u x %u and %u x %u numbers does not fit the overlay: sides are 1 to %d",
                           size->rows, size->depth, size->depth, size->columns, TW_OVERLAY_SIDE_MAX);
    if (size->order > TW_OVERLAY_BY_COLUMNS)
        return tw_fail(err, TW_E_ARGUMENT, "B cannot be in order %d: it is packed, in rows or in columns",
                       (int)size->order);
    return 0;
}

int tw_overlay_cut(const struct tw_overlay_size *size, uint32_t m, uint32_t n, struct tw_overlay_shape *shape,
                   struct tw_error *err)
{
    int code = check(size, err);
    if (code != 0)
        return code;
    if (m == 0 || n == 0 || m > TW_JOB_MAX || n > TW_JOB_MAX || m % TW_JOB_UNIT != 0 || n % TW_JOB_UNIT != 0)
        return tw_fail(err, TW_E_SHAPE, "blocks of %u x %u do not fit a core: sides are multiples of %d up to %d", m, n,
                       TW_JOB_UNIT, TW_JOB_MAX);
    cut(size, m, n, shape);
    return 0;
}

int tw_overlay_choose(const struct tw_overlay_size *size, struct tw_overlay_shape *shape, struct tw_error *err)
{
    int code = check(size, err);
    if (code != 0)
        return code;
    *shape = (struct tw_overlay_shape){.cycles = UINT64_MAX};
    for (uint32_t m = TW_JOB_UNIT; m <= TW_JOB_MAX; m += TW_JOB_UNIT)
        for (uint32_t n = TW_JOB_UNIT; n <= TW_JOB_MAX; n += TW_JOB_UNIT) {
            struct tw_overlay_shape candidate;
            cut(size, m, n, &candidate);
            if (candidate.cycles < shape->cycles)
                *shape = candidate;
        }
    return 0;
}
