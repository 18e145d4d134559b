#include "host/panel.h"

#include <string.h>

int64_t tw_chunk_length(int64_t k)
{
    const int64_t block = 32;
    if (k <= TW_CHUNK)
        return k;
    return tw_round_up(tw_ceil_div(k, tw_ceil_div(k, TW_CHUNK)), block);
}

void tw_pack_rows(const struct tw_kernels *k, const struct tw_operand *x, int64_t first, int64_t count, int64_t from,
                  int64_t n, int width, float *panel, float *spare)
{
    if (count < width)
        memset(panel, 0, (size_t)(n * width) * sizeof *panel);
    for (int64_t r = 0; r < count; r += TW_TRANSPOSE_ROWS) {
        const float *rows[TW_TRANSPOSE_ROWS];
        int n_rows = (int)tw_least(count - r, TW_TRANSPOSE_ROWS);
        for (int i = 0; i < n_rows; i++)
            rows[i] = tw_row_read(k, x, first + r + i, from, n, spare + i * TW_CHUNK);
        k->transpose(rows, n_rows, n, panel + r, width);
    }
}

/* One row's numbers dealt out to panels that are `stride` floats apart. */
static void deal(const float *values, int64_t count, int width, float *panel, int64_t stride)
{
    for (int64_t c = 0; c < count; c += width) {
        int64_t here = tw_least(width, count - c);
        float *to = panel + c / width * stride;
        memcpy(to, values + c, (size_t)here * sizeof *to);
        memset(to + here, 0, (size_t)(width - here) * sizeof *to);
    }
}

void tw_pack_cols(const struct tw_kernels *k, const struct tw_operand *x, int64_t first, int64_t count, int64_t from,
                  int64_t n, int width, float *panels, float *spare)
{
    int64_t at_once = TW_PANEL_SPARE / width * width;
    for (int64_t c = 0; c < count; c += at_once) {
        int64_t cols = tw_least(at_once, count - c);
        for (int64_t p = 0; p < n; p++)
            deal(tw_row_read(k, x, from + p, first + c, cols, spare), cols, width, panels + c * n + p * width,
                 n * width);
    }
}
