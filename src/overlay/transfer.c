#include "overlay/transfer.h"

#include "npu1/dma.h"
#include "overlay/layout.h"
#include "overlay/memory_tile.h"
#include "overlay/path.h"

/*
 * What the descriptors of a set are for, in the order in which they lie in a shim. When C of a group has been written,
 * everything that went into it has been read, so that tokens of C alone tell when a set is free again.
 */
enum role { ROLE_A, ROLE_D, ROLE_C, ROLE_PASSING, ROLE_HEADER, ROLE_BLOCKS, ROLES };

/* Limits of a shim descriptor (AM025). */
enum limit { BDS = 16, ITERATIONS = 64, ITERATION_STEP = 1 << 20, REPEATS = 256 /* of a task */ };

void transfer_init(struct transfer *t, const struct tw_overlay_product *product)
{
    *t = (struct transfer){.product = product};
}

/* ---- Descriptors, whose numbers count from that of A in their set */

static int is_used(const struct tw_overlay_shape *s, enum role role)
{
    return role == ROLE_D ? s->size.addend != 0 : role == ROLE_PASSING ? s->passing > 0 : 1;
}

/* Descriptors before that of a role. */
static unsigned number_of(const struct tw_overlay_shape *s, enum role role)
{
    unsigned n = 0;
    for (enum role r = 0; r < role; r++)
        n += (unsigned)is_used(s, r);
    return n;
}

unsigned transfer_bds(const struct tw_overlay_shape *s)
{
    return number_of(s, ROLES);
}

unsigned transfer_sets(const struct tw_overlay_shape *s)
{
    /* Where B passes in part, each group takes two tasks of a channel that has a queue for four. */
    return s->passing > 0 ? TW_DMA_QUEUE_DEPTH / 2 : BDS / transfer_bds(s);
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
    const uint32_t tasks = p->shape.passing > 0 ? REPEATS / (p->shape.passing / TW_OVERLAY_PLACES) : ITERATIONS;
    const uint32_t panels = !steps_fit ? 1 : tasks < ITERATIONS ? tasks : ITERATIONS;
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

/* Blocks of one core column, as B's order has them; of columns, `part` blocks at once. */
static struct tw_bd blocks_of_b(const struct tw_overlay_product *p, uint32_t blocks, uint32_t part)
{
    const struct tw_overlay_shape *s = &p->shape;
    const uint32_t words = part * TW_JOB_DEPTH / 2;
    struct tw_bd bd = {.length = blocks * memory_block_b_bytes(s) / 4};

    if (s->size.order == TW_OVERLAY_BY_ROWS) {
        bd.dimensions[0] = (struct tw_bd_dimension){.step = 1, .wrap = s->n / 2};
        bd.dimensions[1] = (struct tw_bd_dimension){.step = p->ldb / 2};
    } else if (s->size.order == TW_OVERLAY_BY_COLUMNS) {
        bd.dimensions[0] = (struct tw_bd_dimension){.step = 1, .wrap = words};
        bd.dimensions[1] = (struct tw_bd_dimension){.step = p->ldb / 2, .wrap = s->n};
        bd.dimensions[2] = (struct tw_bd_dimension){.step = words};
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

static struct tw_bd make_bd(const struct tw_overlay_product *p, enum role role, uint32_t count)
{
    const struct tw_overlay_shape *s = &p->shape;

    switch (role) {
    case ROLE_A:
        return chunks(p, count, tw_overlay_depth(s) / 2, p->lda / 2);
    case ROLE_D:
        return chunks(p, count, TW_OVERLAY_COLUMNS * s->n, p->ldd);
    case ROLE_C:
        return rows_of_c(p, count);
    case ROLE_PASSING:
        return blocks_of_b(p, s->steps - s->kept, s->passing_blocks);
    case ROLE_HEADER:
        return (struct tw_bd){.length = memory_block_b_bytes(s) / 4};
    case ROLE_BLOCKS:
    case ROLES:
        break;
    }
    /* With the header in a segment of its own, if they are columns. */
    return s->kept == 0 ? blocks_of_b(p, s->steps, 1)
                        : blocks_of_b(p, s->kept, s->segment_blocks[s->segments > 1 ? 1 : 0]);
}

/* The role whose descriptor is next in the same task; ROLES: none. */
static enum role role_behind(const struct tw_overlay_shape *s, enum role role)
{
    return role == ROLE_HEADER ? ROLE_BLOCKS : role == ROLE_A && s->size.addend ? ROLE_D : ROLES;
}

/* Makes the words of a set for groups of `count` row panels. */
static int make_set(struct transfer *t, unsigned set, uint32_t count, struct tw_error *err)
{
    const struct tw_overlay_shape *s = &t->product->shape;
    const unsigned first = set * transfer_bds(s);
    uint32_t *words = t->words[set];

    for (enum role role = 0; role < ROLES; role++) {
        if (!is_used(s, role))
            continue;
        const enum role next = role_behind(s, role);
        int code = encode(make_bd(t->product, role, count), next == ROLES ? -1 : (int)(first + number_of(s, next)),
                          words, err);
        if (code != 0)
            return code;
        words += tw_bd_words(TW_TILE_SHIM);
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

/* Where B of a core column begins, from step `step` on. */
static struct tw_overlay_place place_of_blocks(const struct tw_overlay_product *p, uint64_t panel, uint64_t step)
{
    const struct tw_overlay_shape *s = &p->shape;
    const uint64_t column = panel * s->n, k = step * TW_JOB_DEPTH;

    switch (s->size.order) {
    case TW_OVERLAY_BY_ROWS:
        return behind(p->b, 2 * (k * p->ldb + column));
    case TW_OVERLAY_BY_COLUMNS:
        return behind(p->b, 2 * (column * p->ldb + k));
    case TW_OVERLAY_PACKED:
        break;
    }
    return behind(p->b, (panel * s->steps + step) * memory_block_b_bytes(s));
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
    case ROLE_PASSING:
        return place_of_blocks(p, panel, s->kept);
    case ROLE_HEADER:
        return behind(p->headers, panel * memory_block_b_bytes(s));
    case ROLE_BLOCKS:
    case ROLES:
        break;
    }
    return place_of_blocks(p, panel, 0);
}

/* ---- Tasks */

/* A group's descriptors in the shim of one column. */
struct shim {
    struct tw_control_writer *w;
    const struct transfer *t;
    const struct group *group;
    unsigned column, first; /* the first one's number */
};

/* Writes the descriptors of roles up to `end`, and their addresses. */
static void put_bds(const struct shim *shim, const uint32_t *words, enum role end)
{
    const struct tw_overlay_product *p = shim->t->product;
    uint32_t at = tw_tile_address(shim->column, 0, tw_bd_offset(TW_TILE_SHIM, shim->first));
    const uint32_t step = tw_bd_offset(TW_TILE_SHIM, 1) - tw_bd_offset(TW_TILE_SHIM, 0);

    tw_control_writer_block_write(shim->w, at, words, number_of(&p->shape, end) * tw_bd_words(TW_TILE_SHIM));
    for (enum role role = 0; role < end; role++) {
        if (!is_used(&p->shape, role))
            continue;
        const struct tw_overlay_place place = place_of(p, shim->group, shim->column, role);
        const uint64_t above = place.argument >= TW_CONTROL_OFFSET_ARGUMENTS ? TW_CONTROL_HOST_OFFSET : 0;
        const struct tw_control_patch patch = {place.argument, place.offset + above};
        tw_control_writer_patch(shim->w, at + 4, &patch);
        at += step;
    }
}

static void put_task(const struct shim *shim, enum tw_dma_direction direction, unsigned channel, enum role role,
                     uint32_t repeat)
{
    const struct tw_dma_task task = {.bd = (uint8_t)(shim->first + number_of(&shim->t->product->shape, role)),
                                     .repeat = (uint16_t)repeat,
                                     .token = role == ROLE_C};
    const uint32_t queue = tw_dma_queue_offset(TW_TILE_SHIM, (struct tw_dma_channel){direction, channel});
    tw_control_writer_write(shim->w, tw_tile_address(shim->column, 0, queue), tw_dma_task_encode(&task));
}

static void begin_column(const struct shim *shim, unsigned set)
{
    const struct tw_overlay_shape *s = &shim->t->product->shape;
    const uint32_t count = shim->group->count;
    const int is_new = s->kept == 0 || shim->group->first == 0; /* else what is kept of B is there */

    put_bds(shim, shim->t->words[set], is_new ? ROLES : ROLE_HEADER);
    put_task(shim, TW_S2MM, 0, ROLE_C, 1);
    put_task(shim, TW_MM2S, 0, ROLE_A, count);
    if (is_new)
        put_task(shim, TW_MM2S, 1, ROLE_HEADER, s->kept == 0 ? count : 1);
    if (s->passing > 0) {
        put_task(shim, TW_MM2S, 1, ROLE_PASSING, count);
        path_take_b(shim->w, shim->column, s, is_new, count);
    }
}

int transfer_begin(struct tw_control_writer *w, struct transfer *t, const struct group *group, unsigned set,
                   struct tw_error *err)
{
    if (t->count[set] != group->count) {
        int code = make_set(t, set, group->count, err);
        if (code != 0)
            return code;
    }
    for (unsigned column = 0; column < TW_OVERLAY_COLUMNS; column++) {
        const struct shim shim = {w, t, group, column, set * transfer_bds(&t->product->shape)};
        begin_column(&shim, set);
    }
    return 0;
}

void transfer_wait(struct tw_control_writer *w)
{
    const struct tw_control_wait wait = {.columns = TW_OVERLAY_COLUMNS, .rows = 1, .channel = {TW_S2MM, 0}};
    tw_control_writer_wait(w, &wait);
}
