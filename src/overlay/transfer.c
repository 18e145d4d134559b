#include "overlay/transfer.h"

#include "npu1/dma.h"
#include "overlay/layout.h"
#include "overlay/memory_tile.h"

/*
 * What the descriptors of a set are for, in the order in which they lie in a shim. When C of a group has been written,
 * everything that went into it has been read, so that tokens of C alone tell when a set is free again.
 */
enum role { ROLE_A, ROLE_D /* only with an addend */, ROLE_C, ROLE_HEADER, ROLE_BLOCKS, ROLES };

/* Limits of a shim descriptor (AM025). */
enum limit { BDS = 16, ITERATIONS = 64, ITERATION_STEP = 1 << 20 };

/* The array sees the host's memory 2 GiB higher; for the first five buffers the firmware adds that itself. */
#define HOST_OFFSET UINT64_C(0x80000000)
enum { OFFSET_ARGUMENTS = 5 };

void transfer_init(struct transfer *t, const struct tw_overlay_product *product)
{
    *t = (struct transfer){.product = product};
}

/* ---- Descriptors, whose numbers count from that of A in their set */

static unsigned bds_of_set(const struct tw_overlay_product *p)
{
    return p->shape.size.addend ? ROLES : ROLES - 1;
}

static unsigned number_of(const struct tw_overlay_product *p, enum role role)
{
    return role > ROLE_D && !p->shape.size.addend ? role - 1 : role;
}

unsigned transfer_sets(const struct tw_overlay_product *p)
{
    return BDS / bds_of_set(p);
}

/* Words from one row panel to the next. */
static uint64_t panel_step(const struct tw_overlay_product *p, uint32_t row_words)
{
    return (uint64_t)TW_OVERLAY_ROWS * p->shape.m * row_words;
}

uint32_t transfer_panels_max(const struct tw_overlay_product *p)
{
    const int steps_fit = panel_step(p, p->lda / 2) <= ITERATION_STEP &&
                          (!p->shape.size.addend || panel_step(p, p->ldd) <= ITERATION_STEP);
    const uint32_t panels = steps_fit ? ITERATIONS : 1;
    return p->shape.row_panels < panels ? p->shape.row_panels : panels;
}

/* Chunks of the rows of one core row, for each row panel: `words` of each row. */
static struct tw_bd chunks(const struct tw_overlay_product *p, uint32_t count, uint32_t words, uint32_t row_words)
{
    const struct tw_overlay_shape *s = &p->shape;
    return (struct tw_bd){
        .length = s->m * words,
        .dimensions = {{.step = 1, .wrap = s->chunk / 2}, {.step = row_words, .wrap = s->m}, {.step = s->chunk / 2}},
        .iteration = {.step = (uint32_t)panel_step(p, row_words), .count = count}};
}

/* Rows of one core column: row panels lie one behind the other, so they are all one walk. */
static struct tw_bd rows_of_c(const struct tw_overlay_product *p, uint32_t count)
{
    const struct tw_overlay_shape *s = &p->shape;
    const uint32_t bytes = s->size.bf16_out ? 2 : 4;
    return (struct tw_bd){.length = count * TW_OVERLAY_ROWS * memory_block_c_bytes(s) / 4,
                          .dimensions = {{.step = 1, .wrap = s->n * bytes / 4}, {.step = p->ldc * bytes / 4}}};
}

/* The blocks of one core column, as B's order has them. */
static struct tw_bd blocks_of_b(const struct tw_overlay_product *p)
{
    const struct tw_overlay_shape *s = &p->shape;
    const uint32_t depth = TW_JOB_DEPTH * (s->resident && s->segments > 1 ? s->segment_blocks[1] : 1);
    struct tw_bd bd = {.length = s->steps * memory_block_b_bytes(s) / 4};

    if (s->size.order == TW_OVERLAY_BY_ROWS) {
        bd.dimensions[0] = (struct tw_bd_dimension){.step = 1, .wrap = s->n / 2};
        bd.dimensions[1] = (struct tw_bd_dimension){.step = p->ldb / 2};
    } else if (s->size.order == TW_OVERLAY_BY_COLUMNS) {
        bd.dimensions[0] = (struct tw_bd_dimension){.step = 1, .wrap = depth / 2};
        bd.dimensions[1] = (struct tw_bd_dimension){.step = p->ldb / 2, .wrap = s->n};
        bd.dimensions[2] = (struct tw_bd_dimension){.step = depth / 2};
    }
    return bd;
}

/* next: the number of the descriptor that follows it in the same task, or -1. */
static int encode(struct tw_bd bd, int next, uint32_t *words, struct tw_error *err)
{
    bd.valid = 1;
    bd.burst = 2;    /* 256 bytes */
    bd.ax_cache = 2; /* lets the memory controller combine accesses, as AMD's compilers set it */
    if (next >= 0) {
        bd.use_next = 1;
        bd.next = (uint8_t)next;
    }
    for (unsigned i = 0; i < tw_bd_dimensions(TW_TILE_SHIM); i++)
        if (bd.dimensions[i].step == 0)
            bd.dimensions[i].step = 1;
    if (bd.iteration.count <= 1) {
        bd.iteration.count = 1;
        bd.iteration.step = 1;
    }
    return tw_bd_encode(TW_TILE_SHIM, &bd, words, err);
}

/* Makes the words of a set for groups of `count` row panels. */
static int make_set(struct transfer *t, unsigned set, uint32_t count, struct tw_error *err)
{
    const struct tw_overlay_product *p = t->product;
    const struct tw_overlay_shape *s = &p->shape;
    const int first = (int)(set * bds_of_set(p));
    const struct tw_bd bds[ROLES] = {
        [ROLE_A] = chunks(p, count, tw_overlay_depth(s) / 2, p->lda / 2),
        [ROLE_D] = chunks(p, count, TW_OVERLAY_COLUMNS * s->n, p->ldd),
        [ROLE_C] = rows_of_c(p, count),
        [ROLE_HEADER] = {.length = memory_block_b_bytes(s) / 4},
        [ROLE_BLOCKS] = blocks_of_b(p),
    };
    const int next[ROLES] = {[ROLE_A] = s->size.addend ? first + (int)number_of(p, ROLE_D) : -1,
                             [ROLE_D] = -1,
                             [ROLE_C] = -1,
                             [ROLE_HEADER] = first + (int)number_of(p, ROLE_BLOCKS),
                             [ROLE_BLOCKS] = -1};

    for (unsigned role = 0; role < ROLES; role++) {
        if (role == ROLE_D && !s->size.addend)
            continue;
        uint32_t *words = &t->words[set][number_of(p, role) * tw_bd_words(TW_TILE_SHIM)];
        int code = encode(bds[role], next[role], words, err);
        if (code != 0)
            return code;
    }
    t->count[set] = count;
    return 0;
}

/* ---- Places */

static struct tw_overlay_place behind(struct tw_overlay_place place, uint64_t bytes)
{
    place.offset += bytes;
    return place;
}

static struct tw_overlay_place place_of_blocks(const struct tw_overlay_product *p, uint64_t panel)
{
    const struct tw_overlay_shape *s = &p->shape;
    const uint64_t first_column = panel * s->n;

    switch (s->size.order) {
    case TW_OVERLAY_BY_ROWS:
        return behind(p->b, first_column * 2);
    case TW_OVERLAY_BY_COLUMNS:
        return behind(p->b, first_column * 2 * p->ldb);
    case TW_OVERLAY_PACKED:
        break;
    }
    return behind(p->b, panel * s->steps * memory_block_b_bytes(s));
}

/* Where in its buffer a descriptor's transfer begins. */
static struct tw_overlay_place place_of(const struct tw_overlay_product *p, const struct group *g, unsigned column,
                                        enum role role)
{
    const struct tw_overlay_shape *s = &p->shape;
    const uint64_t first_row = (uint64_t)g->first * TW_OVERLAY_ROWS * s->m;
    const uint64_t core_row = first_row + (uint64_t)column * s->m; /* shim c serves the rows of core row c */
    const uint64_t panel = (uint64_t)g->column_panel * TW_OVERLAY_COLUMNS + column;

    switch (role) {
    case ROLE_A:
        return behind(p->a, core_row * p->lda * 2);
    case ROLE_D:
        return behind(p->d, (core_row * p->ldd + (uint64_t)g->column_panel * TW_OVERLAY_COLUMNS * s->n) * 4);
    case ROLE_C:
        return behind(p->c, (first_row * p->ldc + panel * s->n) * (s->size.bf16_out ? 2 : 4));
    case ROLE_HEADER:
        return behind(p->headers, panel * memory_block_b_bytes(s));
    case ROLE_BLOCKS:
    case ROLES:
        break;
    }
    return place_of_blocks(p, panel);
}

/* ---- Tasks */

static void put_task(struct tw_control_writer *w, unsigned column, struct tw_dma_channel channel,
                     struct tw_dma_task task)
{
    tw_control_writer_write(w, tw_tile_address(column, 0, tw_dma_queue_offset(TW_TILE_SHIM, channel)),
                            tw_dma_task_encode(&task));
}

static void begin_column(struct tw_control_writer *w, const struct transfer *t, const struct group *g, unsigned column,
                         unsigned set)
{
    const struct tw_overlay_product *p = t->product;
    const int needs_b = !p->shape.resident || g->first == 0; /* else it is there */
    const enum role end = needs_b ? ROLES : ROLE_HEADER;
    const unsigned first = set * bds_of_set(p);
    const uint16_t count = (uint16_t)g->count;

    tw_control_writer_block_write(w, tw_tile_address(column, 0, tw_bd_offset(TW_TILE_SHIM, first)), t->words[set],
                                  number_of(p, end) * tw_bd_words(TW_TILE_SHIM));
    for (enum role role = 0; role < end; role++) {
        if (role == ROLE_D && !p->shape.size.addend)
            continue;
        const struct tw_overlay_place place = place_of(p, g, column, role);
        const struct tw_control_patch patch = {place.argument,
                                               place.offset + (place.argument >= OFFSET_ARGUMENTS ? HOST_OFFSET : 0)};
        tw_control_writer_patch(
            w, tw_tile_address(column, 0, tw_bd_offset(TW_TILE_SHIM, first + number_of(p, role)) + 4), &patch);
    }
    put_task(w, column, (struct tw_dma_channel){TW_S2MM, 0},
             (struct tw_dma_task){.bd = (uint8_t)(first + number_of(p, ROLE_C)), .repeat = 1, .token = 1});
    put_task(w, column, (struct tw_dma_channel){TW_MM2S, 0},
             (struct tw_dma_task){.bd = (uint8_t)(first + number_of(p, ROLE_A)), .repeat = count});
    if (needs_b)
        put_task(w, column, (struct tw_dma_channel){TW_MM2S, 1},
                 (struct tw_dma_task){.bd = (uint8_t)(first + number_of(p, ROLE_HEADER)),
                                      .repeat = p->shape.resident ? 1 : count});
}

int transfer_begin(struct tw_control_writer *w, struct transfer *t, const struct group *group, unsigned set,
                   struct tw_error *err)
{
    if (t->count[set] != group->count) {
        int code = make_set(t, set, group->count, err);
        if (code != 0)
            return code;
    }
    for (unsigned column = 0; column < TW_OVERLAY_COLUMNS; column++)
        begin_column(w, t, group, column, set);
    return 0;
}

void transfer_wait(struct tw_control_writer *w)
{
    const struct tw_control_wait wait = {.columns = TW_OVERLAY_COLUMNS, .rows = 1, .channel = {TW_S2MM, 0}};
    tw_control_writer_wait(w, &wait);
}
