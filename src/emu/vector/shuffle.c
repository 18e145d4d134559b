/*
 * vshuffle: the 128 bytes of two vectors are cut into blocks of rows x columns elements; in each block the row-major
 * matrix is written transposed; the result is the first or the last 64 bytes.
 */
#include "lanes.h"
#include "plain.h"

#include <string.h>

const struct tw_shuffle tw_shuffles[TW_SHUFFLE_MODES] = {
    {8, 64, 2, 0}, {8, 64, 2, 1},  {16, 32, 2, 0}, {16, 32, 2, 1}, {32, 16, 2, 0}, {32, 16, 2, 1}, {64, 8, 2, 0},
    {64, 8, 2, 1}, {128, 4, 2, 0}, {128, 4, 2, 1}, {256, 2, 2, 0}, {256, 2, 2, 1}, {128, 2, 4, 0}, {128, 2, 4, 1},
    {64, 2, 8, 0}, {64, 2, 8, 1},  {32, 2, 16, 0}, {32, 2, 16, 1}, {16, 2, 32, 0}, {16, 2, 32, 1}, {8, 2, 64, 0},
    {8, 2, 64, 1}, {512, 1, 2, 0}, {512, 1, 2, 1}, {16, 16, 4, 0}, {16, 16, 4, 1}, {16, 4, 16, 0}, {16, 4, 16, 1},
    {16, 8, 4, 0}, {16, 4, 8, 0},  {32, 8, 4, 0},  {32, 8, 4, 1},  {32, 4, 8, 0},  {32, 4, 8, 1},  {32, 4, 4, 0},
    {8, 8, 8, 0},  {8, 16, 4, 0},  {8, 4, 16, 0},  {16, 1, 2, 0},  {16, 4, 4, 0},  {16, 4, 2, 0},  {16, 2, 4, 0},
    {16, 8, 2, 0}, {16, 2, 8, 0},  {16, 16, 2, 0}, {16, 2, 16, 0}, {8, 8, 4, 0},   {8, 4, 8, 0},
};

/* Where byte `at` of the 128 result bytes comes from. */
static unsigned source(const struct tw_shuffle *s, unsigned at)
{
    unsigned size = s->bits / 8u;
    unsigned element = at / size;
    unsigned block = element / (s->rows * s->columns);
    unsigned inside = element % (s->rows * s->columns);
    unsigned column = inside / s->rows, row = inside % s->rows;
    return ((block * s->rows + row) * s->columns + column) * size + at % size;
}

void tw_plain_shuffle(unsigned mode, const void *a, const void *b, void *out)
{
    unsigned char in[2 * TW_X_BYTES], *to = out;
    const struct tw_shuffle *s = &tw_shuffles[mode];
    memcpy(in, a, TW_X_BYTES);
    memcpy(in + TW_X_BYTES, b, TW_X_BYTES);
    for (unsigned i = 0; i < TW_X_BYTES; i++)
        to[i] = in[mode == TW_SHUFFLE_SWAP ? i ^ 2u : source(s, i + (s->high ? TW_X_BYTES : 0))];
}
