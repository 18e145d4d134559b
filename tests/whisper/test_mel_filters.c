/* Mel filters against a second way to compute them, and against single values of the published arrays. */
#include "whisper/model.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define BINS 201

static double mel(double hz)
{
    return hz < 1000 ? 3 * hz / 200 : 15 + 27 * log(hz / 1000) / log(6.4);
}

/* The frequency of a mel value, by halving instead of a formula. */
static double hz(double wanted)
{
    double low = 0, high = 9000;
    for (int i = 0; i < 80; i++) {
        double middle = (low + high) / 2;
        if (mel(middle) < wanted)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* A triangle over the edges a, b, c of area 1 (in Hz), at f. */
static double triangle(double a, double b, double c, double f)
{
    if (f <= a || f >= c)
        return 0;
    return 2 / (c - a) * (f < b ? (f - a) / (b - a) : (c - f) / (c - b));
}

static void filters_are_triangles(void **state)
{
    static float filters[128 * BINS];
    (void)state;
    for (int n = 80; n <= 128; n += 48) {
        tw_mel_filters(n, filters);
        for (int m = 0; m < n; m++) {
            double edges[3];
            for (int i = 0; i < 3; i++)
                edges[i] = hz(mel(8000) * (m + i) / (n + 1));
            for (int k = 0; k < BINS; k++) {
                double expected = triangle(edges[0], edges[1], edges[2], 40.0 * k);
                assert_true(fabs(filters[m * BINS + k] - expected) < 1e-7);
            }
        }
    }
}

static void published_values(void **state)
{
    static const struct {
        int bands, band, bin;
        float value;
    } known[] = {
        {80, 0, 1, 0.0248625949f},     {80, 10, 10, 0.0199082177f},    {80, 40, 43, 0.0147355665f},
        {80, 79, 192, 0.00316471187f}, {128, 0, 1, 0.0123739867f},     {128, 10, 6, 0.011289184f},
        {128, 64, 43, 0.0180915184f},  {128, 127, 195, 0.0050416016f},
    };
    static float filters[128 * BINS];
    (void)state;
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        tw_mel_filters(known[i].bands, filters);
        assert_true(fabsf(filters[known[i].band * BINS + known[i].bin] - known[i].value) < 1e-7f);
    }
}

static void the_highest_frequency_counts_nowhere(void **state)
{
    static float filters[80 * BINS];
    (void)state;
    tw_mel_filters(80, filters);
    for (int m = 0; m < 80; m++)
        assert_true(filters[m * BINS + BINS - 1] == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(filters_are_triangles),
        cmocka_unit_test(published_values),
        cmocka_unit_test(the_highest_frequency_counts_nowhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
