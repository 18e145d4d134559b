/*
 * Picture pipelines that Riallto's notebooks build (number 7 of the list in README.md) give what their kernels say,
 * which are published with them, byte for byte.
 */
#include "corpus/pipeline.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

#define NOTEBOOKS "AMDResearch+Riallto/d40dae79/source/notebooks/"

static const struct size size_720p = {"720p", 1280, 720};
enum { LINE_BYTES = 4 * 1280 };

static void open_notebook(struct pipeline *p, const char *name)
{
    char stem[100];
    snprintf(stem, sizeof stem, NOTEBOOKS "%s", name);
    pipeline_open(p, stem, &size_720p);
}

static uint32_t limit_of(const uint32_t *limits, size_t i)
{
    return i % 4 == 3 ? 0 : limits[i % 4]; /* alpha has none */
}

/* A channel of a pixel from a channel and its limit. */
typedef uint8_t threshold(uint8_t value, uint32_t limit);

/* Thresholds: the library's kernel as the notebook prints it, and the one that the reader writes. */
static uint8_t white_below(uint8_t value, uint32_t limit)
{
    return value < limit ? 255 : 0;
}

static uint8_t white_above(uint8_t value, uint32_t limit)
{
    return value > limit ? 255 : 0;
}

static void three_channels(const char *name, threshold *expected)
{
    static const uint32_t parameters[4] = {LINE_BYTES, 128, 17, 250};
    struct pipeline p;
    size_t wrong = 0;
    open_notebook(&p, name);
    pipeline_set(&p, parameters, 4);
    pipeline_run(&p);
    for (size_t i = 0; i < 4 * p.pixels; i++)
        wrong += p.out[i] != expected(p.in[i], limit_of(parameters + 1, i));
    assert_int_equal(wrong, 0);
    pipeline_close(&p);
}

static void simple_application(void **state)
{
    (void)state;
    three_channels("SimpleApplication", white_below);
}

static void threshold_with_vectors(void **state)
{
    (void)state;
    three_channels("threshold_vec", white_above);
}

/* Four cores have a quarter of each line. */
static void scaled_up_threshold(void **state)
{
    enum { QUARTER = LINE_BYTES / 4 };
    static const uint32_t parameters[4][4] = {
        {QUARTER, 128, 17, 250}, {QUARTER, 1, 2, 3}, {QUARTER, 200, 100, 50}, {QUARTER, 254, 255, 0}};
    struct pipeline p;
    size_t wrong = 0;
    (void)state;
    open_notebook(&p, "ScaledUpThresholdApplication");
    pipeline_set(&p, parameters[0], 16);
    pipeline_run(&p);
    for (size_t i = 0; i < 4 * p.pixels; i++)
        wrong += p.out[i] != white_below(p.in[i], limit_of(parameters[i % LINE_BYTES / QUARTER] + 1, i));
    assert_int_equal(wrong, 0);
    pipeline_close(&p);
}

/* Red alone, without vectors. */
static void threshold_of_red(void **state)
{
    static const uint32_t parameters[2] = {LINE_BYTES, 128};
    struct pipeline p;
    size_t wrong = 0;
    (void)state;
    open_notebook(&p, "threshold");
    pipeline_set(&p, parameters, 2);
    pipeline_run(&p);
    for (size_t i = 0; i < 4 * p.pixels; i++)
        wrong += p.out[i] != (i % 4 != 0 ? p.in[i] : p.in[i] < parameters[1] ? 0 : 255);
    assert_int_equal(wrong, 0);
    pipeline_close(&p);
}

/* Pixels whose hue lies in a range stay; all others become black. */
static void color_detect(void **state)
{
    enum { LOW = 20, HIGH = 79 };
    static const uint32_t parameters[6] = {LINE_BYTES, LINE_BYTES / 4, LINE_BYTES / 4, LOW, HIGH, LINE_BYTES};
    struct pipeline p;
    size_t wrong = 0;
    (void)state;
    open_notebook(&p, "ColorDetectApplication");
    pipeline_set(&p, parameters, 6);
    pipeline_run(&p);
    for (size_t i = 0; i < p.pixels; i++) {
        unsigned hue = hue_of(p.in + 4 * i);
        int stays = hue >= LOW && hue <= HIGH;
        for (size_t at = 4 * i; at < 4 * i + 4; at++)
            wrong += p.out[at] != (stays || at % 4 == 3 ? p.in[at] : 0);
    }
    assert_int_equal(wrong, 0);
    pipeline_close(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(simple_application),  cmocka_unit_test(threshold_with_vectors),
        cmocka_unit_test(scaled_up_threshold), cmocka_unit_test(threshold_of_red),
        cmocka_unit_test(color_detect),
    };
    return corpus_is_there() ? cmocka_run_group_tests(tests, NULL, NULL) : CORPUS_SKIPPED;
}
