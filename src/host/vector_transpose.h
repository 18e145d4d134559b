/* Rows turned over in registers, for vector_kernels.h. */
#ifndef TW_HOST_VECTOR_TRANSPOSE_H
#define TW_HOST_VECTOR_TRANSPOSE_H

#include "host/vector.h"

#include <stdint.h>

/* At most LANES rows: squares of LANES by LANES are turned over in registers. */
static void transpose_some(const float *const *rows, int n_rows, int64_t n, float *dst, int64_t width)
{
    for (int64_t c = 0; c < n; c += LANES) {
        int64_t cols = n - c < LANES ? n - c : LANES;
        V v[LANES];
        EACH (r, LANES)
            v[r] = r < n_rows ? v_load_n(rows[r] + c, cols) : v_zero();
        turn_square(v);
        EACH (i, LANES)
            if (i < cols)
                v_store_n(dst + (c + i) * width, v[i], n_rows);
    }
}

/* Three rows become rows of three, side by side: the windows of a convolution. */
static void transpose_three(const float *const *rows, int64_t n, float *dst)
{
    int64_t c = 0;
    for (; c + LANES <= n; c += LANES) {
        V v[3] = {v_load(rows[0] + c), v_load(rows[1] + c), v_load(rows[2] + c)};
        mix_three(v);
        EACH (i, 3)
            v_store(dst + 3 * c + i * LANES, v[i]);
    }
    for (; c < n; c++)
        for (int r = 0; r < 3; r++)
            dst[3 * c + r] = rows[r][c];
}

static void transpose(const float *const *rows, int n_rows, int64_t n, float *dst, int64_t width)
{
    if (n_rows == 3 && width == 3) {
        transpose_three(rows, n, dst);
        return;
    }
    for (int r = 0; r < n_rows; r += LANES)
        transpose_some(rows + r, n_rows - r < LANES ? n_rows - r : LANES, n, dst + r, width);
}

#endif
