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

void tw_pack_cols(const struct tw_kernels *k, const struct tw_operand *x, int64_t first, int64_t count, int64_t from,
                  int64_t n, int width, float *panel)
{
    size_t start = tw_row_bytes(x->type, first);
    for (int64_t p = 0; p < n; p++) {
        k->widen(x->type, tw_operand_row(x, from + p) + start, panel + p * width, count);
        for (int64_t i = count; i < width; i++)
            panel[p * width + i] = 0;
    }
}
