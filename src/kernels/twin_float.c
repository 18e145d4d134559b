#include "kernels/twin_float.h"

#include "base/half.h"

#include <math.h>
#include <string.h>

enum { TERMS = TW_TWIN_PAIRS + 1, SIGN_BF16 = 0x8000 };

/* ---- terms */
/* A term: mantissa * 2^(exponent - something common), exponent 0: zero. */
struct term {
    uint64_t mantissa;
    int exponent, negative;
};

struct sum {
    struct term terms[TERMS];
    unsigned n;
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

/* ---- sums */

/*
 * The sum of aligned terms to a float's pattern; greatest: their common exponent. tiny: the sign that a sum too small
 * for a float has as a zero.
 */
static uint32_t round_sum(const struct sum *s, int64_t total, int greatest, uint32_t tiny)
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
        return sign & tiny;
    return exponent >= 255 ? sign | 0x7f800000u : sign | (uint32_t)exponent << 23 | (uint32_t)mantissa;
}

/* Aligns the terms, each rounded, and adds them. */
static uint32_t add_terms(struct sum *s, uint32_t tiny)
{
    int greatest = 0;
    int64_t total = 0;

    for (unsigned i = 0; i < s->n; i++)
        greatest = s->terms[i].exponent > greatest ? s->terms[i].exponent : greatest;
    for (unsigned i = 0; i < s->n; i++) {
        int64_t aligned = (int64_t)shift_rounded(s->terms[i].mantissa, greatest - s->terms[i].exponent);
        total += s->terms[i].negative ? -aligned : aligned;
    }
    if (s->plus_infinity && s->minus_infinity)
        s->nan = 1;
    if (!s->nan && (s->plus_infinity || s->minus_infinity))
        return s->minus_infinity ? 0xff800000u : 0x7f800000u;
    return round_sum(s, total, greatest, tiny);
}

/*
 * ---- the same for ordinary numbers, in doubles: these hold every term, and a term added to a number of which the last
 * bit is one unit of the sum, and less that number, is rounded to whole units. Sums of units are exact.
 */

/* Exponents from 1 to 254, or zero. */
static int is_ordinary(uint32_t bits)
{
    return (bits >> 23 & 0xff) - 1 < 254 || (bits & 0x7fffffff) == 0;
}

static double power_of_2(int exponent)
{
    uint64_t bits = (uint64_t)(exponent + 1023) << 52;
    double power;
    memcpy(&power, &bits, sizeof power);
    return power;
}

static int larger(int a, int b)
{
    return a > b ? a : b;
}

/* The exponent of an ordinary term; 0: it is zero. */
static int accumulator_exponent(uint32_t acc)
{
    return (acc & 0x7fffffff) == 0 ? 0 : (int)(acc >> 23 & 0xff) + 128;
}

static int product_exponent(uint16_t a, uint16_t b)
{
    return (a & 0x7fff) == 0 || (b & 0x7fff) == 0 ? 0 : (a >> 7 & 0xff) + (b >> 7 & 0xff) + 1;
}

/* Returns 0 when the sum may be too small for a float, and add_terms has to see to it. */
static int add_ordinary(const double *terms, unsigned n, int greatest, uint32_t *sum)
{
    enum { UNIT = 278, LAST_BIT = 52 };
    const double rounder = 1.5 * power_of_2(greatest - UNIT + LAST_BIT);
    double total = 0;

    for (unsigned i = 0; i < n; i++)
        total += terms[i] + rounder - rounder;
    *sum = tw_float_bits((float)total);
    return total == 0 || fabs(total) > power_of_2(-125);
}

static int multiply_ordinary(uint32_t acc, unsigned n, const uint16_t *a, const uint16_t *b, uint32_t *sum)
{
    double terms[TERMS];
    int greatest = accumulator_exponent(acc), ordinary = is_ordinary(acc);

    for (unsigned i = 0; i < n; i++) {
        uint32_t x = (uint32_t)a[i] << 16, y = (uint32_t)b[i] << 16;
        ordinary &= is_ordinary(x) & is_ordinary(y);
        greatest = larger(greatest, product_exponent(a[i], b[i]));
        terms[i] = (double)tw_bits_float(x) * (double)tw_bits_float(y);
    }
    terms[n] = (double)tw_bits_float(acc);
    return ordinary && add_ordinary(terms, n + 1, greatest, sum);
}

static int add_two_ordinary(uint32_t a, uint32_t b, uint32_t *sum)
{
    const double terms[2] = {(double)tw_bits_float(a), (double)tw_bits_float(b)};
    return is_ordinary(a) && is_ordinary(b) &&
           add_ordinary(terms, 2, larger(accumulator_exponent(a), accumulator_exponent(b)), sum);
}

static uint32_t multiply(uint32_t acc, unsigned n, const uint16_t *a, const uint16_t *b)
{
    struct sum s = {.n = 0};
    uint32_t sum;

    if (multiply_ordinary(acc, n, a, b, &sum))
        return sum;
    for (; s.n < n; s.n++)
        s.terms[s.n] = product(&s, a[s.n], b[s.n]);
    s.terms[s.n] = accumulator(&s, acc);
    s.n++;
    return add_terms(&s, 0);
}

/* ---- operations */

uint32_t tw_twin_mac_bf16(uint32_t acc, const uint16_t a[TW_TWIN_PAIRS], const uint16_t b[TW_TWIN_PAIRS])
{
    return multiply(acc, TW_TWIN_PAIRS, a, b);
}

uint32_t tw_twin_mac_pair(uint32_t acc, uint16_t a0, uint16_t b0, uint16_t a1, uint16_t b1)
{
    const uint16_t a[2] = {a0, a1}, b[2] = {b0, b1};
    return multiply(acc, 2, a, b);
}

uint32_t tw_twin_msc_pair(uint32_t acc, uint16_t a0, uint16_t b0, uint16_t a1, uint16_t b1)
{
    return tw_twin_mac_pair(acc, a0 ^ SIGN_BF16, b0, a1 ^ SIGN_BF16, b1);
}

uint32_t tw_twin_add(uint32_t a, uint32_t b)
{
    struct sum s = {.n = 2};
    uint32_t sum;

    if (add_two_ordinary(a, b, &sum))
        return sum;
    s.terms[0] = accumulator(&s, a);
    s.terms[1] = accumulator(&s, b);
    return add_terms(&s, 0x80000000u);
}

uint32_t tw_twin_sub(uint32_t a, uint32_t b)
{
    return tw_twin_add(a, b ^ 0x80000000u);
}

uint16_t tw_twin_to_bf16(uint32_t value)
{
    uint32_t kept = value >> 16, rest = value & 0xffff;

    if ((value & 0x7fffffff) > 0x7f800000)
        return (uint16_t)(kept | ((kept & 0x7f) == 0));
    return (uint16_t)(kept + (rest > 0x8000 || (rest == 0x8000 && (kept & 1) != 0)));
}

static int is_nan(uint16_t value)
{
    return (value & 0x7fff) > 0x7f80;
}

/* Patterns to numbers in the same order. */
static int order_of(uint16_t value)
{
    return (value & SIGN_BF16) != 0 ? -1 - (value & 0x7fff) : value;
}

int tw_twin_less_bf16(uint16_t a, uint16_t b)
{
    return !is_nan(a) && !is_nan(b) && order_of(a) < order_of(b);
}
