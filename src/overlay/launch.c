#include "overlay/launch.h"

#include "npu1/control_writer.h"
#include "overlay/area.h"
#include "overlay/layout.h"
#include "overlay/path.h"
#include "overlay/transfer.h"

#include <stdlib.h>

struct tw_overlay_launch {
    struct tw_control_writer w;
    int is_set; /* paths say what tiles hold; before, nothing is known of them */
    struct path paths[PATHS];
    /* Blocks of A and B that each core has had: it takes its two buffers in turn, whatever they are blocks of. */
    uint64_t blocks_a, blocks_b;
    /* The last product; of all products and of it how many groups are under way; the descriptors of the next group. */
    struct tw_overlay_product last;
    unsigned under_way, of_last, next_set;
};

int tw_overlay_launch_begin(struct tw_overlay_launch **launch, struct tw_error *err)
{
    *launch = calloc(1, sizeof **launch);
    if (*launch == NULL)
        return tw_fail(err, TW_E_MEMORY, "no memory for control code");
    tw_control_writer_begin(&(*launch)->w, TW_OVERLAY_COLUMNS);
    return 0;
}

void tw_overlay_launch_free(struct tw_overlay_launch *launch)
{
    if (launch == NULL)
        return;
    tw_byte_list_free(&launch->w.list);
    free(launch);
}

/* Waits until no more than so many groups are under way. */
static void wait_for(struct tw_overlay_launch *launch, unsigned groups)
{
    for (; launch->under_way > groups; launch->under_way--)
        transfer_wait(&launch->w);
}

int tw_overlay_launch_end(struct tw_overlay_launch *launch, unsigned char **bytes, size_t *size, struct tw_error *err)
{
    wait_for(launch, 0);
    int code = tw_control_writer_finish(&launch->w, bytes, size, err);
    free(launch);
    return code;
}

/* ---- Tiles */

/* What is to be done for a product: its paths, and which of them are not yet as they must be. */
struct change {
    struct path paths[PATHS];
    int is_needed[PATHS];
};

static int make_change(const struct tw_overlay_launch *launch, const struct tw_overlay_shape *shape,
                       struct change *change, struct tw_error *err)
{
    for (unsigned i = 0; i < PATHS; i++) {
        int code = path_make((enum overlay_path)i, shape, &change->paths[i], err);
        if (code != 0)
            return code;
        change->is_needed[i] = !launch->is_set || !path_equal(&launch->paths[i], &change->paths[i]);
    }
    /* Where a core's channel begins anew it fills the buffer that the core reads next. */
    change->paths[PATH_CORE_A].channels[0].first_bd += launch->blocks_a % 2;
    change->paths[PATH_CORE_B].channels[0].first_bd += launch->blocks_b % 2;
    return 0;
}

typedef void path_action(struct tw_control_writer *w, unsigned column, unsigned row, const struct path *path);

/* Does something to the paths that change, of all cores or of all memory tiles. */
static void do_tiles(struct tw_overlay_launch *launch, const struct change *change, enum tw_tile_kind kind,
                     path_action *action)
{
    const unsigned first = kind == TW_TILE_CORE ? TW_NPU1_CORE_ROW : TW_NPU1_CORE_ROW - 1;
    const unsigned rows = kind == TW_TILE_CORE ? TW_OVERLAY_ROWS : 1;

    for (unsigned column = 0; column < TW_OVERLAY_COLUMNS; column++)
        for (unsigned row = first; row < first + rows; row++)
            for (unsigned i = 0; i < PATHS; i++)
                if (change->is_needed[i] && path_kind((enum overlay_path)i) == kind)
                    action(&launch->w, column, row, &change->paths[i]);
}

enum core_control { CORE_RUN = 1, CORE_RESET = 2 };

static void control_cores(struct tw_overlay_launch *launch, enum core_control value)
{
    for (unsigned column = 0; column < TW_OVERLAY_COLUMNS; column++)
        for (unsigned row = 0; row < TW_OVERLAY_ROWS; row++)
            tw_control_writer_write(&launch->w, tw_tile_address(column, TW_NPU1_CORE_ROW + row, TW_CORE_CONTROL),
                                    value);
}

/*
 * Memory tiles take data before cores are ready, and send none. In the first product of a launch cores stand still
 * until all is set; later they wait for a job, and what they need for it is as it must be before any can come.
 */
static void set_memory_tiles(struct tw_overlay_launch *launch, const struct change *change)
{
    if (!launch->is_set)
        control_cores(launch, CORE_RESET);
    else
        do_tiles(launch, change, TW_TILE_CORE, path_stop);
    do_tiles(launch, change, TW_TILE_MEMORY, path_stop);
    do_tiles(launch, change, TW_TILE_MEMORY, path_set);
    do_tiles(launch, change, TW_TILE_MEMORY, path_start_in);
}

static void set_cores(struct tw_overlay_launch *launch, const struct change *change)
{
    if (!launch->is_set)
        do_tiles(launch, change, TW_TILE_CORE, path_stop);
    do_tiles(launch, change, TW_TILE_CORE, path_set);
    do_tiles(launch, change, TW_TILE_CORE, path_start_in);
    do_tiles(launch, change, TW_TILE_CORE, path_start_out);
    if (!launch->is_set)
        control_cores(launch, CORE_RUN);
    do_tiles(launch, change, TW_TILE_MEMORY, path_start_out);
    launch->is_set = 1;
    for (unsigned i = 0; i < PATHS; i++)
        launch->paths[i] = change->paths[i];
}

/* ---- Products */

/* Words from one row to the next that a shim's descriptor can say (AM025). */
enum { ROW_WORDS_MAX = 1 << 20 };

static int is_b_wide_enough(const struct tw_overlay_product *p)
{
    const enum tw_overlay_order order = p->shape.size.order;
    if (order == TW_OVERLAY_PACKED)
        return 1;
    return p->ldb % 2 == 0 && p->ldb / 2 <= ROW_WORDS_MAX &&
           p->ldb >= (order == TW_OVERLAY_BY_ROWS ? tw_overlay_width(&p->shape) : tw_overlay_depth(&p->shape));
}

static int check(const struct tw_overlay_product *p, struct tw_error *err)
{
    const struct tw_overlay_shape *s = &p->shape;
    const uint64_t row_c = (uint64_t)p->ldc * (s->size.bf16_out ? 2 : 4) / 4;
    const uint64_t places =
        p->a.offset | p->b.offset | p->c.offset | p->headers.offset | (s->size.addend ? p->d.offset : 0);

    if (p->lda % 2 != 0 || p->lda < tw_overlay_depth(s))
        return tw_fail(err, TW_E_SHAPE,
                       "rows of A are %u numbers apart; the overlay reads an even number of %u or more", p->lda,
                       tw_overlay_depth(s));
    if ((s->size.bf16_out && p->ldc % 2 != 0) || p->ldc < tw_overlay_width(s))
        return tw_fail(err, TW_E_SHAPE,
                       "rows of C are %u numbers apart; the overlay writes an even number of %u or more", p->ldc,
                       tw_overlay_width(s));
    if (s->size.addend && (p->ldd < tw_overlay_width(s) || p->ldd > ROW_WORDS_MAX))
        return tw_fail(err, TW_E_SHAPE,
                       "rows of the addend are %u numbers apart; the overlay reads %u or more, and can step over 4 MiB",
                       p->ldd, tw_overlay_width(s));
    if (!is_b_wide_enough(p))
        return tw_fail(err, TW_E_SHAPE,
                       "rows or columns of B are %u numbers apart; the overlay reads an even number, whole blocks of "
                       "them, and can step over 4 MiB",
                       p->ldb);
    if (p->lda / 2 > ROW_WORDS_MAX || row_c > ROW_WORDS_MAX)
        return tw_fail(err, TW_E_SHAPE, "rows of A and C are %u and %u numbers apart; the overlay can step over 4 MiB",
                       p->lda, p->ldc);
    if (places % 4 != 0)
        return tw_fail(err, TW_E_ARGUMENT, "a product's operands must begin at multiples of 4 bytes in their buffers");
    return 0;
}

/* The next group behind one; returns 0 when that was the last. */
static int next_group(const struct tw_overlay_product *p, struct group *g)
{
    const struct tw_overlay_shape *s = &p->shape;
    const uint32_t most = transfer_panels_max(p);

    g->first += g->count;
    if (g->first == s->row_panels) {
        g->first = 0;
        g->column_panel++;
    }
    g->count = s->row_panels - g->first < most ? s->row_panels - g->first : most;
    return g->column_panel < s->column_panels;
}

/* Counts the blocks that cores will have had. */
static void count_blocks(struct tw_overlay_launch *launch, const struct tw_overlay_shape *s)
{
    const uint64_t jobs = (uint64_t)s->row_panels * s->column_panels;
    launch->blocks_a += jobs * (s->steps + tw_overlay_addend_blocks(s));
    launch->blocks_b += jobs * (s->steps + 1);
}

/*
 * Whether a product may begin while the last one is under way: its blocks go the same way, by descriptors of the same
 * sets, and it does not need what is not yet written.
 */
static int goes_on(const struct tw_overlay_launch *launch, const struct tw_overlay_product *p,
                   const struct change *change)
{
    for (unsigned i = 0; i < PATHS; i++)
        if (change->is_needed[i])
            return 0;
    return transfer_bds(&p->shape) == transfer_bds(&launch->last.shape) &&
           transfer_sets(&p->shape) == transfer_sets(&launch->last.shape) && area_is_independent(p, &launch->last);
}

/* Begins all groups of a product. */
static int begin_groups(struct tw_overlay_launch *launch, const struct tw_overlay_product *p,
                        const struct change *change, struct tw_error *err)
{
    struct transfer transfer;
    struct group group = {0, 0, transfer_panels_max(p)};
    const unsigned sets = transfer_sets(&p->shape);
    uint64_t n = 0;

    transfer_init(&transfer, p);
    do {
        wait_for(launch, sets - 1);
        int code = transfer_begin(&launch->w, &transfer, &group, launch->next_set, err);
        if (code != 0)
            return code;
        if (n == 0)
            set_cores(launch, change);
        launch->next_set = (launch->next_set + 1) % sets;
        launch->under_way++;
        n++;
    } while (next_group(p, &group));
    launch->of_last = n < launch->under_way ? (unsigned)n : launch->under_way;
    return 0;
}

static int append(struct tw_overlay_launch *launch, const struct tw_overlay_product *p, struct tw_error *err)
{
    struct change change;

    int code = check(p, err);
    if (code == 0)
        code = make_change(launch, &p->shape, &change, err);
    if (code != 0)
        return code;
    if (goes_on(launch, p, &change)) {
        wait_for(launch, launch->of_last);
    } else {
        wait_for(launch, 0);
        launch->next_set = 0;
    }
    set_memory_tiles(launch, &change);
    code = begin_groups(launch, p, &change, err);
    count_blocks(launch, &p->shape);
    launch->last = *p;
    return code;
}

int tw_overlay_product(struct tw_overlay_launch *launch, const struct tw_overlay_product *product, struct tw_error *err)
{
    struct tw_overlay_product p = *product;
    /* All but size, m and n of a shape follow from these; what the caller has there is not trusted. */
    int code = tw_overlay_cut(&product->shape.size, product->shape.m, product->shape.n, &p.shape, err);
    return code == 0 ? append(launch, &p, err) : code;
}
