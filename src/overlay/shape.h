/* How a product is cut into blocks: the choice, and the figures it rests on. */
#ifndef TW_OVERLAY_SHAPE_H
#define TW_OVERLAY_SHAPE_H

#include "base/error.h"

#include <stdint.h>

/*
 * How B lies in the host's memory: as tw_overlay_pack_b has put it, or as any program has it, row after row or column
 * after column.
 */
enum tw_overlay_order { TW_OVERLAY_PACKED, TW_OVERLAY_BY_ROWS, TW_OVERLAY_BY_COLUMNS };

/* C[rows x columns] = A[rows x depth] * B[depth x columns], or that and D[rows x columns] */
struct tw_overlay_size {
    uint32_t rows, depth, columns;
    int bf16_out;                /* C in bf16 instead of fp32 */
    enum tw_overlay_order order; /* of B */
    int addend;                  /* D, in fp32, is added at the end: after bias and GELU, before C is rounded */
};

/* Sides that the overlay takes; larger products are to be cut by the caller. */
enum tw_overlay_limit { TW_OVERLAY_SIDE_MAX = 1 << 20 };

/*
 * Parts into which the memory tile cuts what it holds of B; they are filled and emptied one after another. And parts in
 * which what it does not hold passes, at most, and the places for them.
 */
enum tw_overlay_segments { TW_OVERLAY_SEGMENTS = 6, TW_OVERLAY_PASSING = 14, TW_OVERLAY_PLACES = 2 };

struct tw_overlay_shape {
    struct tw_overlay_size size;
    uint32_t m, n;  /* rows and columns of a core's block */
    uint32_t steps; /* of TW_JOB_DEPTH, depth rounded up */
    uint32_t chunk; /* numbers of a row of A that come at once; divides 32 * steps, and with an addend 8 * n */
    uint32_t row_panels, column_panels;
    /*
     * The memory tiles keep the first `kept` steps of a column panel of B while all panels of A pass: all of them, if
     * it is resident. Those behind come again with each panel of A, in an even number of equal parts, which pass
     * through two places in turn; if nothing is kept, block by block through all segments.
     */
    int resident;
    uint32_t kept;
    uint32_t passing, passing_blocks; /* parts and blocks of one; 0, 0 unless some steps are kept and some are not */
    uint32_t segments;
    uint32_t segment_blocks[TW_OVERLAY_SEGMENTS]; /* of what is kept: header first */
    uint64_t cycles;                              /* expected, without the command's own cost */
};

/*
 * The choice that is expected to take the fewest cycles. Fails with TW_E_SHAPE for a side of 0 or beyond
 * TW_OVERLAY_SIDE_MAX.
 */
int tw_overlay_choose(const struct tw_overlay_size *size, struct tw_overlay_shape *shape, struct tw_error *err);

/* The same with m and n given, both multiples of TW_JOB_UNIT up to TW_JOB_MAX; for tests and measurements. */
int tw_overlay_cut(const struct tw_overlay_size *size, uint32_t m, uint32_t n, struct tw_overlay_shape *shape,
                   struct tw_error *err);

/*
 * What the device reads and writes, in whole blocks: A has this many rows of at least this many numbers, all of them
 * beyond the product's depth zero (those of rows beyond the product's may be anything); C has as many rows, of at least
 * tw_overlay_width numbers, and so has D. B that is not packed has tw_overlay_depth rows and tw_overlay_width columns;
 * numbers beyond the product's depth must be finite.
 */
static inline uint32_t tw_overlay_height(const struct tw_overlay_shape *shape)
{
    return 4 * shape->m * shape->row_panels;
}
static inline uint32_t tw_overlay_depth(const struct tw_overlay_shape *shape)
{
    return 32 * shape->steps;
}
static inline uint32_t tw_overlay_width(const struct tw_overlay_shape *shape)
{
    return 4 * shape->n * shape->column_panels;
}

/* Blocks of the addend that come to a core by the way of A in each job: of 16 columns, for all cores of a row. */
static inline uint32_t tw_overlay_addend_blocks(const struct tw_overlay_shape *shape)
{
    return shape->size.addend ? shape->n / 4 : 0;
}

#endif
