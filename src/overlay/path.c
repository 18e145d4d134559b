#include "overlay/path.h"

#include "npu1/lock.h"
#include "overlay/layout.h"
#include "overlay/memory_tile.h"

#include <string.h>

/*
 * Descriptors and locks of a memory tile. Channels of even number can use descriptors 0 to 23 only, the others those
 * from 24 on. Descriptors call the tile's own locks and memory by the numbers of a window over three tiles.
 */
enum memory_number {
    BD_A_IN = 0,
    BD_A_OUT = 2,
    BD_C_IN_EVEN = 4,
    BD_C_OUT = 6,
    BD_C_IN_ODD = 24,
    BD_B_IN = 26,
    BD_B_OUT = BD_B_IN + TW_OVERLAY_SEGMENTS,

    LOCK_A = 0,
    LOCK_C = 2,
    LOCK_B = LOCK_C + 2 * TW_OVERLAY_ROWS,

    OWN_LOCKS = 64,
    OWN_MEMORY = 0x80000
};

/* A pair of locks: EMPTY counts buffers to fill, FULL buffers to read. */
enum pair { EMPTY, FULL };

enum { NO_NEXT = 0xff };

struct transfer {
    unsigned number, next; /* descriptors; the last one of a ring names the first, that of a chain none */
    uint32_t address, words;
    unsigned acquire, release; /* locks */
    unsigned acquired, released;
    struct tw_bd_dimension dimensions[TW_BD_DIMENSIONS_MAX];
};

struct maker {
    enum tw_tile_kind kind;
    struct path *path;
    struct tw_error *err;
    int code;
};

/* A place for descriptor `number`; they stay in order. */
static struct path_bd *insert_bd(struct path *path, unsigned number)
{
    uint32_t at = path->n_bds++;
    for (; at > 0 && path->bds[at - 1].number > number; at--)
        path->bds[at] = path->bds[at - 1];
    path->bds[at].number = (uint8_t)number;
    return &path->bds[at];
}

static void add_bd(struct maker *m, const struct transfer *t)
{
    const int is_memory = m->kind == TW_TILE_MEMORY;
    struct path_bd *to = insert_bd(m->path, t->number);
    struct tw_bd bd = {
        .length = t->words,
        .address = t->address + (is_memory ? OWN_MEMORY : 0),
        .iteration = {.step = 1, .count = 1},
        .valid = 1,
        .use_next = t->next != NO_NEXT,
        .next = (uint8_t)(t->next != NO_NEXT ? t->next : 0),
        .acquire_enable = 1,
        .acquire_id = (uint8_t)(t->acquire + (is_memory ? OWN_LOCKS : 0)),
        .acquire_value = (int8_t) - (int)t->acquired,
        .release_id = (uint8_t)(t->release + (is_memory ? OWN_LOCKS : 0)),
        .release_value = (int8_t)t->released,
    };

    for (unsigned i = 0; i < TW_BD_DIMENSIONS_MAX; i++) {
        bd.dimensions[i] = t->dimensions[i];
        if (bd.dimensions[i].step == 0 && i < tw_bd_dimensions(m->kind))
            bd.dimensions[i].step = 1;
    }
    memset(to->words, 0, sizeof to->words);
    int code = tw_bd_encode(m->kind, &bd, to->words, m->code == 0 ? m->err : NULL);
    if (m->code == 0)
        m->code = code;
}

static void add_channel(struct maker *m, enum tw_dma_direction direction, unsigned number, unsigned first_bd)
{
    m->path->channels[m->path->n_channels++] = (struct path_channel){{direction, number}, (uint8_t)first_bd, 0};
}

static void add_lock(struct maker *m, unsigned number, unsigned value)
{
    m->path->locks[m->path->n_locks++] = (struct path_lock){(uint8_t)number, (uint8_t)value};
}

/* ---- Cores: two buffers of each operand, which the stream fills in turn; C leaves as one block. */

static void make_core_in(struct maker *m, unsigned channel, const uint32_t address[2], uint32_t words, unsigned lock)
{
    const unsigned first = 2 * channel;
    for (unsigned i = 0; i < 2; i++)
        add_bd(m, &(struct transfer){.number = first + i,
                                     .next = first + 1 - i,
                                     .address = address[i],
                                     .words = words,
                                     .acquire = lock + EMPTY,
                                     .acquired = 1,
                                     .release = lock + FULL,
                                     .released = 1});
    add_channel(m, TW_S2MM, channel, first);
    add_lock(m, lock + EMPTY, 2);
    add_lock(m, lock + FULL, 0);
}

static void make_core_a(struct maker *m, const struct tw_overlay_shape *s)
{
    static const uint32_t address[2] = {TW_JOB_A0, TW_JOB_A1};
    make_core_in(m, 0, address, s->m * TW_OVERLAY_STEP_BYTES / 4, TW_JOB_A_EMPTY);
}

static void make_core_b(struct maker *m, const struct tw_overlay_shape *s)
{
    static const uint32_t address[2] = {TW_JOB_B0, TW_JOB_B1};
    make_core_in(m, 1, address, s->n * TW_OVERLAY_STEP_BYTES / 4, TW_JOB_B_EMPTY);
}

enum core_number { BD_CORE_C = 4 };

static void make_core_c(struct maker *m, const struct tw_overlay_shape *s)
{
    add_bd(m, &(struct transfer){.number = BD_CORE_C,
                                 .next = BD_CORE_C,
                                 .address = tw_job_c_offset(s->m, s->n),
                                 .words = memory_block_c_bytes(s) / 4,
                                 .acquire = TW_JOB_C_FULL,
                                 .acquired = 1,
                                 .release = TW_JOB_C_EMPTY,
                                 .released = 1});
    add_channel(m, TW_MM2S, 0, BD_CORE_C);
    add_lock(m, TW_JOB_C_EMPTY, 1);
    add_lock(m, TW_JOB_C_FULL, 0);
}

/* ---- Memory tiles */

/* Chunks come as rows and leave as tiles of 4 rows and 8 numbers: [step of 8][tile row][row][8 numbers]. */
static void make_memory_a(struct maker *m, const struct tw_overlay_shape *s)
{
    const uint32_t row = s->chunk / 2;
    for (unsigned i = 0; i < 2; i++) {
        struct transfer in = {.number = BD_A_IN + i,
                              .next = BD_A_IN + 1 - i,
                              .address = i * memory_chunk_bytes(s),
                              .words = memory_chunk_bytes(s) / 4,
                              .acquire = LOCK_A + EMPTY,
                              .acquired = 1,
                              .release = LOCK_A + FULL,
                              .released = 1};
        struct transfer out = in;
        out.number = BD_A_OUT + i;
        out.next = BD_A_OUT + 1 - i;
        out.acquire = LOCK_A + FULL;
        out.release = LOCK_A + EMPTY;
        out.dimensions[0] = (struct tw_bd_dimension){.step = 1, .wrap = 4};
        out.dimensions[1] = (struct tw_bd_dimension){.step = row, .wrap = 4};
        out.dimensions[2] = (struct tw_bd_dimension){.step = 4 * row, .wrap = s->m / 4};
        out.dimensions[3] = (struct tw_bd_dimension){.step = 4};
        add_bd(m, &in);
        add_bd(m, &out);
    }
    add_channel(m, TW_S2MM, 0, BD_A_IN);
    add_channel(m, TW_MM2S, 0, BD_A_OUT);
    add_lock(m, LOCK_A + EMPTY, 2);
    add_lock(m, LOCK_A + FULL, 0);
}

/* A piece of memory for blocks of B, and how often it is read before it is filled again. */
struct segment {
    uint32_t address, blocks;
    unsigned lock, times;
    int is_first; /* if columns are kept, it has nothing but the header */
};

/*
 * B lies in memory as it leaves, in tiles of 8 x 4, or 4 x 8 where it came by columns. The header that comes first is
 * put in order by the same steps, which the host has reckoned with, or it has a segment of its own.
 */
static void order_b(const struct tw_overlay_shape *s, const struct segment *segment, struct transfer *in)
{
    const uint32_t step = 4 * s->n; /* words of 8 of k */
    const uint32_t depth = segment->blocks * TW_JOB_DEPTH;

    if (s->size.order == TW_OVERLAY_BY_ROWS) {
        in->dimensions[0] = (struct tw_bd_dimension){.step = 1, .wrap = 2};
        in->dimensions[1] = (struct tw_bd_dimension){.step = 16, .wrap = s->n / 4};
        in->dimensions[2] = (struct tw_bd_dimension){.step = 2, .wrap = 8};
        in->dimensions[3] = (struct tw_bd_dimension){.step = step};
    } else if (s->size.order == TW_OVERLAY_BY_COLUMNS && !segment->is_first) {
        in->dimensions[0] = (struct tw_bd_dimension){.step = 1, .wrap = 4};
        in->dimensions[1] = (struct tw_bd_dimension){.step = step, .wrap = depth / 8};
        in->dimensions[2] = (struct tw_bd_dimension){.step = 4, .wrap = s->n};
    }
}

static void add_segment_in(struct maker *m, const struct tw_overlay_shape *s, const struct segment *segment,
                           unsigned number, unsigned next)
{
    struct transfer in = {.number = number,
                          .next = next,
                          .address = segment->address,
                          .words = segment->blocks * memory_block_b_bytes(s) / 4,
                          .acquire = segment->lock + EMPTY,
                          .acquired = segment->times,
                          .release = segment->lock + FULL,
                          .released = segment->times};
    order_b(s, segment, &in);
    add_bd(m, &in);
    add_lock(m, segment->lock + EMPTY, segment->times);
    add_lock(m, segment->lock + FULL, 0);
}

static void add_segment_out(struct maker *m, const struct tw_overlay_shape *s, const struct segment *segment,
                            unsigned number, unsigned next)
{
    add_bd(m, &(struct transfer){.number = number,
                                 .next = next,
                                 .address = segment->address,
                                 .words = segment->blocks * memory_block_b_bytes(s) / 4,
                                 .acquire = segment->lock + FULL,
                                 .acquired = 1,
                                 .release = segment->lock + EMPTY,
                                 .released = 1});
}

/* The first descriptors of what passes, behind those of what is kept. */
static unsigned passing_in(const struct tw_overlay_shape *s)
{
    return BD_B_IN + s->segments;
}
static unsigned first_out(const struct tw_overlay_shape *s)
{
    return s->passing > 0 ? passing_in(s) + TW_OVERLAY_PLACES : BD_B_OUT;
}

/*
 * Each segment of what is kept counts in its own locks how often it is still to be read: once for each panel of A. When
 * it has been read for the last time, the next panel's segment may come, while others still pass. Returns where what
 * follows begins.
 */
static uint32_t make_kept(struct maker *m, const struct tw_overlay_shape *s)
{
    const unsigned times = s->kept > 0 ? s->row_panels : 1, last = s->segments - 1;
    const int is_chain = s->passing > 0;
    uint32_t at = memory_b_at(s);

    for (unsigned i = 0; i <= last; i++) {
        const struct segment segment = {at, s->segment_blocks[i], LOCK_B + 2 * i, times, i == 0 && s->kept > 0};
        add_segment_in(m, s, &segment, BD_B_IN + i, i < last ? BD_B_IN + i + 1 : is_chain ? NO_NEXT : BD_B_IN);
        add_segment_out(m, s, &segment, first_out(s) + i, first_out(s) + (i < last || is_chain ? i + 1 : 0));
        at += segment.blocks * memory_block_b_bytes(s);
    }
    return at;
}

/* Parts that pass take the two places in turn. */
static void make_passing(struct maker *m, const struct tw_overlay_shape *s, uint32_t at)
{
    const unsigned out = first_out(s) + s->segments, last = s->passing - 1;
    struct segment places[TW_OVERLAY_PLACES];

    for (unsigned i = 0; i < TW_OVERLAY_PLACES; i++) {
        places[i] = (struct segment){at + i * s->passing_blocks * memory_block_b_bytes(s), s->passing_blocks,
                                     LOCK_B + 2 * (s->segments + i), 1, 0};
        add_segment_in(m, s, &places[i], passing_in(s) + i, i == 0 ? passing_in(s) + 1 : NO_NEXT);
    }
    for (unsigned i = 0; i <= last; i++)
        add_segment_out(m, s, &places[i % TW_OVERLAY_PLACES], out + i, i < last ? out + i + 1 : first_out(s));
}

static void make_memory_b(struct maker *m, const struct tw_overlay_shape *s)
{
    const uint32_t at = make_kept(m, s);
    add_channel(m, TW_S2MM, 1, BD_B_IN);
    add_channel(m, TW_MM2S, 1, first_out(s));
    if (s->passing > 0) {
        make_passing(m, s, at);
        m->path->channels[0].by_task = 1;
    }
}

/* Blocks come as tiles of 4 x 4, from each core into a place of its own, and leave as rows, one core after another. */
static void make_memory_c(struct maker *m, const struct tw_overlay_shape *s)
{
    const uint32_t row = s->size.bf16_out ? 2 : 4; /* words of a tile's row */
    const uint32_t tile = 4 * row, tiles = s->n / 4;

    for (unsigned r = 0; r < TW_OVERLAY_ROWS; r++) {
        const unsigned number = (r % 2 == 0 ? BD_C_IN_EVEN : BD_C_IN_ODD) + r / 2, lock = LOCK_C + 2 * r;
        struct transfer in = {.number = number,
                              .next = number,
                              .address = memory_c_at(s) + r * memory_block_c_bytes(s),
                              .words = memory_block_c_bytes(s) / 4,
                              .acquire = lock + EMPTY,
                              .acquired = 1,
                              .release = lock + FULL,
                              .released = 1};
        struct transfer out = in;
        out.number = BD_C_OUT + r;
        out.next = BD_C_OUT + (r + 1) % TW_OVERLAY_ROWS;
        out.acquire = lock + FULL;
        out.release = lock + EMPTY;
        out.dimensions[0] = (struct tw_bd_dimension){.step = 1, .wrap = row};
        out.dimensions[1] = (struct tw_bd_dimension){.step = tile, .wrap = tiles};
        out.dimensions[2] = (struct tw_bd_dimension){.step = row, .wrap = 4};
        out.dimensions[3] = (struct tw_bd_dimension){.step = tile * tiles};
        add_bd(m, &in);
        add_bd(m, &out);
        add_channel(m, TW_S2MM, 2 + r, number);
        add_lock(m, lock + EMPTY, 1);
        add_lock(m, lock + FULL, 0);
    }
    add_channel(m, TW_MM2S, 2, BD_C_OUT);
}

int path_make(enum overlay_path which, const struct tw_overlay_shape *shape, struct path *path, struct tw_error *err)
{
    static void (*const makers[PATHS])(struct maker * m, const struct tw_overlay_shape *s) = {
        [PATH_CORE_A] = make_core_a,     [PATH_CORE_B] = make_core_b,     [PATH_CORE_C] = make_core_c,
        [PATH_MEMORY_A] = make_memory_a, [PATH_MEMORY_B] = make_memory_b, [PATH_MEMORY_C] = make_memory_c,
    };
    struct maker maker = {.kind = path_kind(which), .path = path, .err = err};

    *path = (struct path){0};
    makers[which](&maker, shape);
    return maker.code;
}

/* ---- Comparing and writing */

static int bds_equal(const struct path *a, const struct path *b)
{
    for (uint32_t i = 0; i < a->n_bds; i++)
        if (a->bds[i].number != b->bds[i].number ||
            memcmp(a->bds[i].words, b->bds[i].words, sizeof a->bds[i].words) != 0)
            return 0;
    return 1;
}

int path_equal(const struct path *a, const struct path *b)
{
    if (a->n_bds != b->n_bds || a->n_locks != b->n_locks || !bds_equal(a, b))
        return 0;
    for (uint32_t i = 0; i < a->n_locks; i++)
        if (a->locks[i].number != b->locks[i].number || a->locks[i].value != b->locks[i].value)
            return 0;
    return 1;
}

enum channel_control { CHANNEL_RUN = 0, CHANNEL_RESET = 2 };

/*
 * Each register is written by itself, and resets end before descriptors are written: that is the order in which AMD's
 * programs set up a tile.
 */
void path_stop(struct tw_control_writer *w, unsigned column, unsigned row, const struct path *path)
{
    const enum tw_tile_kind kind = tw_tile_kind(row);
    for (uint32_t i = 0; i < path->n_channels; i++) {
        uint32_t offset = tw_dma_control_offset(kind, path->channels[i].channel);
        tw_control_writer_write(w, tw_tile_address(column, row, offset), CHANNEL_RESET);
        tw_control_writer_write(w, tw_tile_address(column, row, offset), CHANNEL_RUN);
    }
    for (uint32_t i = 0; i < path->n_locks; i++)
        tw_control_writer_write(w, tw_tile_address(column, row, tw_lock_offset(kind, path->locks[i].number)),
                                path->locks[i].value);
}

/* Writes descriptors i, i + 1, ... that lie one behind the other at once; returns how many they were. */
static uint32_t set_bds(struct tw_control_writer *w, unsigned column, unsigned row, const struct path *path, uint32_t i)
{
    const enum tw_tile_kind kind = tw_tile_kind(row);
    const unsigned words = tw_bd_words(kind), first = path->bds[i].number;
    uint32_t all[PATH_BDS * TW_BD_WORDS_MAX], n = 0;

    do {
        memcpy(&all[n * words], path->bds[i + n].words, 4 * words);
        n++;
    } while (i + n < path->n_bds && path->bds[i + n].number == first + n &&
             tw_bd_offset(kind, first + n) == tw_bd_offset(kind, first) + 4 * words * n);
    tw_control_writer_block_write(w, tw_tile_address(column, row, tw_bd_offset(kind, first)), all, n * words);
    return n;
}

void path_set(struct tw_control_writer *w, unsigned column, unsigned row, const struct path *path)
{
    for (uint32_t i = 0; i < path->n_bds;)
        i += set_bds(w, column, row, path, i);
}

static void start(struct tw_control_writer *w, unsigned column, unsigned row, const struct path *path,
                  enum tw_dma_direction direction)
{
    const enum tw_tile_kind kind = tw_tile_kind(row);
    for (uint32_t i = 0; i < path->n_channels; i++) {
        const struct path_channel *c = &path->channels[i];
        const struct tw_dma_task task = {.bd = c->first_bd, .repeat = 1};
        if (c->channel.direction == direction && !c->by_task)
            tw_control_writer_write(w, tw_tile_address(column, row, tw_dma_queue_offset(kind, c->channel)),
                                    tw_dma_task_encode(&task));
    }
}

void path_start_in(struct tw_control_writer *w, unsigned column, unsigned row, const struct path *path)
{
    start(w, column, row, path, TW_S2MM);
}

void path_start_out(struct tw_control_writer *w, unsigned column, unsigned row, const struct path *path)
{
    start(w, column, row, path, TW_MM2S);
}

void path_take_b(struct tw_control_writer *w, unsigned column, const struct tw_overlay_shape *shape, int with_kept,
                 uint32_t row_panels)
{
    const unsigned row = TW_NPU1_CORE_ROW - 1;
    const struct tw_dma_channel channel = {TW_S2MM, 1};
    const uint32_t queue = tw_tile_address(column, row, tw_dma_queue_offset(TW_TILE_MEMORY, channel));
    const uint32_t times = row_panels * (shape->passing / TW_OVERLAY_PLACES);
    const struct tw_dma_task kept = {.bd = BD_B_IN, .repeat = 1},
                             passing = {.bd = (uint8_t)passing_in(shape), .repeat = (uint16_t)times};

    if (with_kept)
        tw_control_writer_write(w, queue, tw_dma_task_encode(&kept));
    tw_control_writer_write(w, queue, tw_dma_task_encode(&passing));
}
