#include "overlay/transfer.h"

#include "npu1/buffer_descriptor.h"
#include "npu1/dma.h"
#include "overlay/layout.h"
#include "overlay/memory_tile.h"
#include "overlay/pack.h"

/*
 * Descriptors of a set. When C of a group has been written, everything that went into it has been read, so that tokens
 * of C alone tell when a set is free again.
 */
enum descriptor { BD_A = 0, BD_C = TRANSFER_SETS, BD_B = 2 * TRANSFER_SETS /* two: header, blocks */ };

/* Limits of a shim descriptor (AM025). */
enum limit { ITERATIONS = 64, ITERATION_STEP = 1 << 20 };

/* The array sees the host's memory 2 GiB higher; for the first five buffers the firmware adds that itself. */
#define HOST_OFFSET UINT64_C(0x80000000)
enum { OFFSET_ARGUMENTS = 5 };

struct shim {
    struct tw_control_writer *w;
    unsigned column;
    struct tw_error *err;
};

/* Writes a descriptor whose address is a place in a buffer. */
static int put_bd(const struct shim *shim, unsigned number, struct tw_bd bd, const struct tw_overlay_place *place)
{
    uint32_t words[TW_BD_WORDS_MAX];
    const uint32_t at = tw_tile_address(shim->column, 0, tw_bd_offset(TW_TILE_SHIM, number));
    const struct tw_control_patch patch = {place->argument,
                                           place->offset + (place->argument >= OFFSET_ARGUMENTS ? HOST_OFFSET : 0)};

    bd.valid = 1;
    bd.burst = 2;    /* 256 bytes */
    bd.ax_cache = 2; /* lets the memory controller combine accesses, as AMD's compilers set it */
    for (unsigned i = 0; i < tw_bd_dimensions(TW_TILE_SHIM); i++)
        if (bd.dimensions[i].step == 0)
            bd.dimensions[i].step = 1;
    if (bd.iteration.count <= 1) {
        bd.iteration.count = 1;
        bd.iteration.step = 1;
    }
    int code = tw_bd_encode(TW_TILE_SHIM, &bd, words, shim->err);
    if (code != 0)
        return code;
    tw_control_writer_block_write(shim->w, at, words, tw_bd_words(TW_TILE_SHIM));
    tw_control_writer_patch(shim->w, at + 4, &patch);
    return 0;
}

static void put_task(const struct shim *shim, struct tw_dma_channel channel, struct tw_dma_task task)
{
    tw_control_writer_write(shim->w, tw_tile_address(shim->column, 0, tw_dma_queue_offset(TW_TILE_SHIM, channel)),
                            tw_dma_task_encode(&task));
}

static struct tw_overlay_place behind(struct tw_overlay_place place, uint64_t bytes)
{
    place.offset += bytes;
    return place;
}

/* Words from one row panel to the next. */
static uint64_t panel_step_a(const struct tw_overlay_product *p)
{
    return (uint64_t)TW_OVERLAY_ROWS * p->shape.m * (p->lda / 2);
}
static uint64_t panel_step_c(const struct tw_overlay_product *p)
{
    const uint32_t bytes = p->shape.size.bf16_out ? 2 : 4;
    return (uint64_t)TW_OVERLAY_ROWS * p->shape.m * ((uint64_t)p->ldc * bytes / 4);
}

uint32_t transfer_panels_max(const struct tw_overlay_product *p)
{
    const int steps_fit = panel_step_a(p) <= ITERATION_STEP && panel_step_c(p) <= ITERATION_STEP;
    const uint32_t panels = steps_fit ? ITERATIONS : 1;
    return p->shape.row_panels < panels ? p->shape.row_panels : panels;
}

/* Rows of one core row, chunk by chunk. */
static int put_a(const struct shim *shim, const struct tw_overlay_product *p, const struct group *g, unsigned set)
{
    const struct tw_overlay_shape *s = &p->shape;
    const uint64_t row = (uint64_t)g->first * TW_OVERLAY_ROWS * s->m + (uint64_t)shim->column * s->m;
    const struct tw_overlay_place place = behind(p->a, row * p->lda * 2);
    const struct tw_bd bd = {
        .length = s->m * tw_overlay_depth(s) / 2,
        .dimensions = {{.step = 1, .wrap = s->chunk / 2}, {.step = p->lda / 2, .wrap = s->m}, {.step = s->chunk / 2}},
        .iteration = {.step = (uint32_t)panel_step_a(p), .count = g->count}};
    return put_bd(shim, BD_A + set, bd, &place);
}

static int put_c(const struct shim *shim, const struct tw_overlay_product *p, const struct group *g, unsigned set)
{
    const struct tw_overlay_shape *s = &p->shape;
    const uint32_t bytes = s->size.bf16_out ? 2 : 4;
    const uint64_t row = (uint64_t)g->first * TW_OVERLAY_ROWS * s->m;
    const uint64_t column = ((uint64_t)g->column_panel * TW_OVERLAY_COLUMNS + shim->column) * s->n;
    const struct tw_overlay_place place = behind(p->c, (row * p->ldc + column) * bytes);
    const struct tw_bd bd = {.length = TW_OVERLAY_ROWS * memory_block_c_bytes(s) / 4,
                             .dimensions = {{.step = 1, .wrap = s->n * bytes / 4}, {.step = p->ldc * bytes / 4}},
                             .iteration = {.step = (uint32_t)panel_step_c(p), .count = g->count}};
    return put_bd(shim, BD_C + set, bd, &place);
}

/* The blocks of one core column, as B's order has them. */
static int put_blocks(const struct shim *shim, const struct tw_overlay_product *p, uint64_t panel, unsigned number)
{
    const struct tw_overlay_shape *s = &p->shape;
    const uint32_t depth = TW_JOB_DEPTH * (s->resident && s->segments > 1 ? s->segment_blocks[1] : 1);
    struct tw_bd bd = {.length = s->steps * memory_block_b_bytes(s) / 4};
    uint64_t bytes = panel * s->n * 2; /* where it begins, if B is in rows */

    switch (s->size.order) {
    case TW_OVERLAY_BY_ROWS:
        bd.dimensions[0] = (struct tw_bd_dimension){.step = 1, .wrap = s->n / 2};
        bd.dimensions[1] = (struct tw_bd_dimension){.step = p->ldb / 2};
        break;
    case TW_OVERLAY_BY_COLUMNS:
        bd.dimensions[0] = (struct tw_bd_dimension){.step = 1, .wrap = depth / 2};
        bd.dimensions[1] = (struct tw_bd_dimension){.step = p->ldb / 2, .wrap = s->n};
        bd.dimensions[2] = (struct tw_bd_dimension){.step = depth / 2};
        bytes *= p->ldb;
        break;
    case TW_OVERLAY_PACKED:
        bytes = panel * bd.length * 4;
        break;
    }
    const struct tw_overlay_place place = behind(p->b, bytes);
    return put_bd(shim, number, bd, &place);
}

static int put_b(const struct shim *shim, const struct tw_overlay_product *p, const struct group *g, unsigned set)
{
    const struct tw_overlay_shape *s = &p->shape;
    const uint64_t panel = (uint64_t)g->column_panel * TW_OVERLAY_COLUMNS + shim->column;
    const uint32_t header = memory_block_b_bytes(s);
    const struct tw_overlay_place header_place = behind(p->headers, panel * header);
    const unsigned number = BD_B + 2 * set;

    int code = put_bd(shim, number, (struct tw_bd){.length = header / 4, .use_next = 1, .next = (uint8_t)(number + 1)},
                      &header_place);
    if (code == 0)
        code = put_blocks(shim, p, panel, number + 1);
    return code;
}

static int begin_column(const struct shim *shim, const struct tw_overlay_product *p, const struct group *g,
                        unsigned set)
{
    const uint16_t count = (uint16_t)g->count;
    int code = put_c(shim, p, g, set);

    if (code == 0)
        code = put_a(shim, p, g, set);
    if (code != 0)
        return code;
    put_task(shim, (struct tw_dma_channel){TW_S2MM, 0},
             (struct tw_dma_task){.bd = (uint8_t)(BD_C + set), .repeat = count, .token = 1});
    put_task(shim, (struct tw_dma_channel){TW_MM2S, 0},
             (struct tw_dma_task){.bd = (uint8_t)(BD_A + set), .repeat = count});
    if (p->shape.resident && g->first > 0)
        return 0; /* it is there */
    code = put_b(shim, p, g, set);
    if (code == 0)
        put_task(shim, (struct tw_dma_channel){TW_MM2S, 1},
                 (struct tw_dma_task){.bd = (uint8_t)(BD_B + 2 * set), .repeat = p->shape.resident ? 1 : count});
    return code;
}

int transfer_begin(struct tw_control_writer *w, const struct tw_overlay_product *p, const struct group *group,
                   unsigned set, struct tw_error *err)
{
    for (unsigned column = 0; column < TW_OVERLAY_COLUMNS; column++) {
        const struct shim shim = {w, column, err};
        int code = begin_column(&shim, p, group, set);
        if (code != 0)
            return code;
    }
    return 0;
}

void transfer_wait(struct tw_control_writer *w)
{
    const struct tw_control_wait wait = {.columns = TW_OVERLAY_COLUMNS, .rows = 1, .channel = {TW_S2MM, 0}};
    tw_control_writer_wait(w, &wait);
}
