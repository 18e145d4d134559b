#include "kernels/twin_product.h"

enum {
    TILE_ROWS = 4,
    TILE_DEPTH = 8,
    GROUP_ROWS = 2,     /* tiles */
    GROUP_COLUMNS = 16, /* numbers: 4 tiles of 4, or 2 of 8 */
    ROW_GROUPS = TW_PRODUCT_SIZE / (GROUP_ROWS * TILE_ROWS),
    STEPS = TW_PRODUCT_SIZE / TILE_DEPTH
};

/* ---- layouts */

unsigned tw_product_place_a(unsigned row, unsigned k)
{
    unsigned group = row / (GROUP_ROWS * TILE_ROWS), tile = row / TILE_ROWS % GROUP_ROWS;
    unsigned tiles = (group * STEPS + k / TILE_DEPTH) * GROUP_ROWS + tile;

    return (tiles * TILE_ROWS + row % TILE_ROWS) * TILE_DEPTH + k % TILE_DEPTH;
}

unsigned tw_product_place_b(unsigned k, unsigned column, unsigned tile_columns, int *last)
{
    unsigned width = GROUP_COLUMNS / tile_columns, half = TILE_DEPTH / 2;
    unsigned group = column / GROUP_COLUMNS, tile = column % GROUP_COLUMNS / width;
    unsigned pieces = (group * STEPS + k / TILE_DEPTH) * tile_columns + tile;

    *last = k % TILE_DEPTH >= half;
    return (pieces * half + k % half) * width + column % width;
}

unsigned tw_product_place_c(unsigned row, unsigned column, unsigned tile_columns)
{
    unsigned width = GROUP_COLUMNS / tile_columns;
    unsigned group = column / GROUP_COLUMNS * ROW_GROUPS + row / (GROUP_ROWS * TILE_ROWS);
    unsigned tile = column % GROUP_COLUMNS / width * GROUP_ROWS + row / TILE_ROWS % GROUP_ROWS;

    return ((group * tile_columns * GROUP_ROWS + tile) * TILE_ROWS + row % TILE_ROWS) * width + column % width;
}

/* ---- bf16 */

/* A term: mantissa * 2^(exponent - something common), exponent 0: zero. */
struct term {
    uint64_t mantissa;
    int exponent, negative;
};

struct sum {
    struct term terms[TILE_DEPTH + 1];
    int nan, plus_infinity, minus_infinity;
};

static void note_infinity(struct sum *s, int negative)
{
    if (negative)
        s->minus_infinity = 1;
    else
        s->plus_infinity = 1;
}

static struct term product(struct sum *s, uint16_t a, uint16_t b)
{
    unsigned ea = a >> 7 & 0xff, eb = b >> 7 & 0xff, ma = a & 0x7f, mb = b & 0x7f;
    int zero_a = ea == 0 && ma == 0, zero_b = eb == 0 && mb == 0, negative = (a ^ b) >> 15;
    struct term t = {0, 0, negative};

    if ((ea == 0xff && ma != 0) || (eb == 0xff && mb != 0) || (ea == 0xff && zero_b) || (eb == 0xff && zero_a))
        s->nan = 1;
    else if (ea == 0xff || eb == 0xff)
        note_infinity(s, negative);
    if (zero_a || zero_b)
        return t;
    /* Units of the accumulator's last bit: a product's point lies 9 bits further left. */
    t.mantissa = (uint64_t)(ma | (ea != 0) << 7) * (mb | (eb != 0) << 7) * 512;
    t.exponent = (int)(ea > 1 ? ea : 1) + (int)(eb > 1 ? eb : 1) + 1;
    return t;
}

static struct term accumulator(struct sum *s, uint32_t acc)
{
    unsigned e = acc >> 23 & 0xff, m = acc & 0x7fffff;
    struct term t = {0, 0, (int)(acc >> 31)};

    if (e == 0xff && m != 0)
        s->nan = 1;
    else if (e == 0xff)
        note_infinity(s, t.negative);
    if (e == 0 && m == 0)
        return t;
    t.mantissa = m | (uint32_t)(e != 0) << 23;
    t.exponent = (int)(e > 1 ? e : 1) + 128;
    return t;
}

/* value / 2^by, to nearest, ties to even. */
static uint64_t shift_rounded(uint64_t value, int by)
{
    if (by <= 0)
        return value;
    if (by > 62)
        return 0;
    uint64_t kept = value >> by, rest = value & (((uint64_t)1 << by) - 1), half = (uint64_t)1 << (by - 1);
    return kept + (rest > half || (rest == half && (kept & 1) != 0));
}

static int leading_one(uint64_t value)
{
    int k = -1;

    for (; value != 0; value >>= 1)
        k++;
    return k;
}

/* The sum of aligned terms to a float's pattern; greatest: their common exponent. */
static uint32_t round_sum(const struct sum *s, int64_t total, int greatest)
{
    uint32_t sign = total < 0 ? 0x80000000u : 0;
    uint64_t size = total < 0 ? (uint64_t)-total : (uint64_t)total;

    if (greatest == 0 || total == 0)
        return s->nan ? 0x7f800001u : 0;
    int k = leading_one(size);
    uint64_t mantissa = k > 23 ? shift_rounded(size, k - 23) : size << (23 - k);
    k += (int)(mantissa >> 24);
    mantissa = (mantissa >> (mantissa >> 24)) & 0x7fffff;
    int exponent = greatest + k - 151, outside = exponent <= 0 || exponent >= 255;
    if (s->nan)
        return sign | 0x7f800000u | (outside ? 0 : (uint32_t)mantissa) | 1;
    if (exponent <= 0)
        return 0;
    return exponent >= 255 ? sign | 0x7f800000u : sign | (uint32_t)exponent << 23 | (uint32_t)mantissa;
}

uint32_t tw_twin_mac_bf16(uint32_t acc, const uint16_t a[8], const uint16_t b[8])
{
    struct sum s = {.nan = 0};
    int greatest = 0;
    int64_t total = 0;

    s.terms[TILE_DEPTH] = accumulator(&s, acc);
    for (unsigned i = 0; i < TILE_DEPTH; i++)
        s.terms[i] = product(&s, a[i], b[i]);
    for (unsigned i = 0; i <= TILE_DEPTH; i++)
        greatest = s.terms[i].exponent > greatest ? s.terms[i].exponent : greatest;
    for (unsigned i = 0; i <= TILE_DEPTH; i++) {
        int64_t aligned = (int64_t)shift_rounded(s.terms[i].mantissa, greatest - s.terms[i].exponent);
        total += s.terms[i].negative ? -aligned : aligned;
    }
    if (s.plus_infinity && s.minus_infinity)
        s.nan = 1;
    if (!s.nan && (s.plus_infinity || s.minus_infinity))
        return s.minus_infinity ? 0xff800000u : 0x7f800000u;
    return round_sum(&s, total, greatest);
}

void tw_twin_product_bf16(const uint16_t *a, const uint16_t *b_first, const uint16_t *b_last, uint32_t *c)
{
    for (unsigned row = 0; row < TW_PRODUCT_SIZE; row++)
        for (unsigned column = 0; column < TW_PRODUCT_SIZE; column++) {
            uint32_t *sum = &c[tw_product_place_c(row, column, 4)];
            for (unsigned step = 0; step < STEPS; step++) {
                uint16_t x[TILE_DEPTH], y[TILE_DEPTH];
                for (unsigned i = 0; i < TILE_DEPTH; i++) {
                    unsigned k = step * TILE_DEPTH + i;
                    int last;
                    unsigned place = tw_product_place_b(k, column, 4, &last);
                    x[i] = a[tw_product_place_a(row, k)];
                    y[i] = (last ? b_last : b_first)[place];
                }
                *sum = tw_twin_mac_bf16(*sum, x, y);
            }
        }
}

/* ---- int8 */

void tw_twin_product_int8(const int8_t *a, const int8_t *b_first, const int8_t *b_last, uint32_t *c)
{
    for (unsigned row = 0; row < TW_PRODUCT_SIZE; row++)
        for (unsigned column = 0; column < TW_PRODUCT_SIZE; column++) {
            uint32_t *sum = &c[tw_product_place_c(row, column, 2)];
            for (unsigned k = 0; k < TW_PRODUCT_SIZE; k++) {
                int last;
                unsigned place = tw_product_place_b(k, column, 2, &last);
                *sum += (uint32_t)(a[tw_product_place_a(row, k)] * (last ? b_last : b_first)[place]);
            }
        }
}
