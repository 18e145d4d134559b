/*
 * The vector kernels that read alike for every instruction set. A kernels_<set>.c includes this file once, after it has
 * defined the vector V of LANES floats and the v_... operations on it, D, as many doubles, turn_square and mix_three.
 * The files below, one for each kind of kernel, need all that before them, and are there for this file alone.
 *
 * Where bf16 goes in and out, order does not matter, and numbers are taken as pairs (v_load_pairs, v_store_pairs): of
 * 2 * LANES neighbours one vector has those at even places and one those at odd ones, which takes an instruction each.
 * What is stored as pairs must be numbers, or NaNs that came from bf16 numbers.
 */
#include "host/kernels.h"
#include "host/pack_kernels.h"
#include "host/sum_kernels.h"
#include "host/vector_dots.h"
#include "host/vector_layer_norm.h"
#include "host/vector_numbers.h"
#include "host/vector_rows.h"
#include "host/vector_softmax.h"
#include "host/vector_tile.h"
#include "host/vector_transpose.h"
#include "host/vector_weigh.h"

#define VECTOR_KERNELS(set)                                                                                            \
    {                                                                                                                  \
        .name = #set, .packing = &tw_pack_kernels_##set, .sums = &tw_sum_kernels_##set, .tile_rows = MR,               \
        .tile_cols = NR, .widen = widen, .narrow = narrow, .transpose = transpose, .tile = tile, .dots = dots,         \
        .weigh = weigh, .softmax = softmax, .exp_row = exp_row, .exp_columns = exp_columns,                            \
        .scale_columns = scale_columns, .gelu = gelu, .scale = scale, .add = add, .layer_norm = layer_norm,            \
        .finish = finish                                                                                               \
    }
