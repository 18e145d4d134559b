/*
 * The loop of sum_kernels.h over vectors of LANES doubles, for every instruction set. Whoever includes this is compiled
 * for one of them, and defines LANES, D, a vector of so many doubles, and
 *     INLINE D floats(const unsigned char *p)    LANES floats from there, as doubles
 *     INLINE D halves(const unsigned char *p)    LANES bf16
 */
#include "host/sum_kernels.h"

#include <string.h>

#define ROWS 4 /* at once: the sums of columns are loaded and stored once for all of them */

INLINE D load(const double *p)
{
    D v;
    memcpy(&v, p, sizeof v);
    return v;
}

INLINE void store(double *p, D v)
{
    memcpy(p, &v, sizeof v);
}

INLINE D numbers(enum tw_type type, const unsigned char *p)
{
    return type == TW_BF16 ? halves(p) : floats(p);
}

INLINE double number(enum tw_type type, const unsigned char *p)
{
    float x;
    uint16_t half;
    if (type == TW_F32) {
        memcpy(&x, p, sizeof x);
    } else {
        memcpy(&half, p, sizeof half);
        const uint32_t bits = (uint32_t)half << 16;
        memcpy(&x, &bits, sizeof x);
    }
    return (double)x;
}

INLINE double total(D v)
{
    double sum = 0;
    for (int i = 0; i < LANES; i++)
        sum += v[i];
    return sum;
}

/* The columns that fill no vector. */
static void add_rest(enum tw_type type, const unsigned char *x, size_t stride, int64_t rows, int64_t from, int64_t n,
                     const struct tw_sums *s)
{
    const size_t bytes = type == TW_F32 ? sizeof(float) : sizeof(uint16_t);
    for (int64_t r = 0; r < rows; r++)
        for (int64_t c = from; c < n; c++) {
            const double v = number(type, x + (size_t)r * stride + (size_t)c * bytes);
            if (s->left != NULL)
                s->columns[c] += s->left[r] * v;
            if (s->right != NULL)
                s->rows[r] += s->right[c] * v;
            if (s->row_squares != NULL)
                s->row_squares[r] += v * v;
            if (s->column_squares != NULL)
                s->column_squares[c] += v * v;
        }
}

/* `rows` (a constant) rows; so are what is wanted and the type. */
INLINE void add_some(enum tw_type type, const unsigned char *x, size_t stride, int rows, int64_t n, int left, int right,
                     int row_squares, int column_squares, const struct tw_sums *s)
{
    const size_t bytes = type == TW_F32 ? sizeof(float) : sizeof(uint16_t);
    D sum[ROWS] = {{0}}, squares[ROWS] = {{0}};
    int64_t c = 0;
    for (; c + LANES <= n; c += LANES) {
        D v[ROWS], weight = right ? load(s->right + c) : sum[0], column = left ? load(s->columns + c) : sum[0];
        D column_square = column_squares ? load(s->column_squares + c) : sum[0];
        EACH (r, rows) {
            v[r] = numbers(type, x + (size_t)r * stride + (size_t)c * bytes);
            if (left)
                column += v[r] * s->left[r];
            if (right)
                sum[r] += v[r] * weight;
            if (row_squares)
                squares[r] += v[r] * v[r];
            if (column_squares)
                column_square += v[r] * v[r];
        }
        if (left)
            store(s->columns + c, column);
        if (column_squares)
            store(s->column_squares + c, column_square);
    }
    EACH (r, rows) {
        if (right)
            s->rows[r] += total(sum[r]);
        if (row_squares)
            s->row_squares[r] += total(squares[r]);
    }
    add_rest(type, x, stride, rows, c, n, s);
}

/* What checksum.c asks for has loops of its own; the last one stands for whatever else. */
INLINE void add_wanted(enum tw_type type, const unsigned char *x, size_t stride, int rows, int64_t n,
                       const struct tw_sums *s)
{
    const int left = s->left != NULL, right = s->right != NULL;
    const int row_squares = s->row_squares != NULL, column_squares = s->column_squares != NULL;
    if (left && right && !row_squares && !column_squares)
        add_some(type, x, stride, rows, n, 1, 1, 0, 0, s);
    else if (left && right && row_squares && !column_squares)
        add_some(type, x, stride, rows, n, 1, 1, 1, 0, s);
    else if (left && right && !row_squares && column_squares)
        add_some(type, x, stride, rows, n, 1, 1, 0, 1, s);
    else if (left && right && row_squares && column_squares)
        add_some(type, x, stride, rows, n, 1, 1, 1, 1, s);
    else if (left && !right && row_squares && !column_squares)
        add_some(type, x, stride, rows, n, 1, 0, 1, 0, s);
    else if (!left && right && !row_squares && !column_squares)
        add_some(type, x, stride, rows, n, 0, 1, 0, 0, s);
    else
        add_rest(type, x, stride, rows, 0, n, s);
}

static struct tw_sums from_row(const struct tw_sums *s, int64_t row)
{
    struct tw_sums t = *s;
    if (t.left != NULL)
        t.left += row;
    if (t.right != NULL)
        t.rows += row;
    if (t.row_squares != NULL)
        t.row_squares += row;
    return t;
}

static void add(enum tw_type type, const unsigned char *x, size_t stride, int64_t rows, int64_t n,
                const struct tw_sums *sums)
{
    for (int64_t r = 0; r < rows;) {
        const struct tw_sums s = from_row(sums, r);
        const unsigned char *from = x + (size_t)r * stride;
        const int whole = rows - r >= ROWS;
        if (whole && type == TW_F32)
            add_wanted(TW_F32, from, stride, ROWS, n, &s);
        else if (whole)
            add_wanted(TW_BF16, from, stride, ROWS, n, &s);
        else if (type == TW_F32)
            add_wanted(TW_F32, from, stride, 1, n, &s);
        else
            add_wanted(TW_BF16, from, stride, 1, n, &s);
        r += whole ? ROWS : 1;
    }
}
