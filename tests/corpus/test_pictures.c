/*
 * Picture pipelines for pixels of four bytes, compiled by AMD's compiler for two sizes of picture (number 6 of the list
 * in README.md), give what their kernels are written to compute, byte for byte.
 */
#include "corpus/pipeline.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#define PIPELINES "AMDResearch+Riallto/0593d004/npu/lib/applications/binaries/"

static const struct size sizes[] = {{"720p", 1280, 720}, {"1080p", 1920, 1080}};

static void open_pipeline(struct pipeline *p, const char *name, const struct size *size)
{
    char stem[140];
    snprintf(stem, sizeof stem, PIPELINES "%s_%s", name, size->name);
    pipeline_open(p, stem, size);
}

#define EACH_SIZE(size) (const struct size *size = sizes; size < sizes + sizeof sizes / sizeof sizes[0]; size++)

static uint8_t clamp(int x)
{
    return (uint8_t)(x < 0 ? 0 : x > 255 ? 255 : x);
}

static int within(int i, int n)
{
    return i < 0 ? 0 : i >= n ? n - 1 : i;
}

/* ---- thresholds */

enum { THRESHOLD_TYPES = 5 };

/*
 * What the program does for each type of threshold. Types 0 and 1, and 3 and 4, are the other way round than in the
 * kernel's source as it was published later (0: 255 above the threshold). The comparison and the selection that decide
 * it are among the instructions recorded on silicon, programs in test_notebooks.c whose very source is published use
 * both, and AMD's edges and colours below choose their types accordingly.
 */
static uint8_t threshold(unsigned type, uint8_t value, uint8_t limit)
{
    switch (type) {
    case 0:
        return value > limit ? 0 : 255;
    case 1:
        return value > limit ? 255 : 0;
    case 2:
        return value < limit ? value : limit;
    case 3:
        return value > limit ? 0 : value;
    default:
        return value > limit ? value : 0;
    }
}

static void threshold_rgba(void **state)
{
    static const uint32_t limits[4] = {200, 100, 50, 0};
    (void)state;
    for
        EACH_SIZE(size)
        {
            struct pipeline p;
            open_pipeline(&p, "color_threshold_v1", size);
            for (unsigned type = 0; type < THRESHOLD_TYPES; type++) {
                const uint32_t parameters[5] = {limits[0], limits[1], limits[2], limits[3], type};
                size_t wrong = 0;
                pipeline_set(&p, parameters, 5);
                pipeline_run(&p);
                for (size_t i = 0; i < 4 * p.pixels; i++)
                    wrong += p.out[i] != threshold(type, p.in[i], (uint8_t)limits[i % 4]);
                assert_int_equal(wrong, 0);
            }
            pipeline_close(&p);
        }
}

/* Each of four cores has a quarter of the picture's height, and limits and a type of its own. */
static void threshold_rgba_on_four_cores(void **state)
{
    static const uint32_t parameters[4][5] = {
        {127, 41, 205, 90, 0}, {3, 255, 128, 64, 1}, {200, 100, 50, 0, 2}, {17, 230, 99, 254, 4}};
    (void)state;
    for
        EACH_SIZE(size)
        {
            struct pipeline p;
            size_t wrong = 0;
            open_pipeline(&p, "color_threshold_v2", size);
            pipeline_set(&p, parameters[0], 4 * 5);
            pipeline_run(&p);
            for (size_t i = 0; i < 4 * p.pixels; i++) {
                const uint32_t *own = parameters[i / p.pixels];
                wrong += p.out[i] != threshold(own[4], p.in[i], (uint8_t)own[i % 4]);
            }
            assert_int_equal(wrong, 0);
            pipeline_close(&p);
        }
}

/* ---- edges: gray, 3 x 3 filter, threshold, and the sum with the picture */

static const int weights[3][3] = {{0, 4096, 0}, {4096, -16384, 4096}, {-2048, 4096, 1024}};
enum { ALPHA = 16384, BETA = 8191, LIMIT = 40 };

/* With weights of 15 bits: 0.299, 0.587, 0.114. */
static uint8_t gray(const uint8_t *pixel)
{
    return (uint8_t)((9798 * pixel[0] + 19235 * pixel[1] + 3736 * pixel[2] + (1 << 14)) >> 15);
}

static uint8_t *gray_picture(const struct pipeline *p)
{
    uint8_t *picture = malloc(p->pixels);
    assert_non_null(picture);
    for (size_t i = 0; i < p->pixels; i++)
        picture[i] = gray(p->in + 4 * i);
    return picture;
}

/*
 * The kernel takes 32 pixels at a time with the upper 8 bits of its weights, and as the left neighbour of the first of
 * them the last but one of those before, from the third block on: so it is written.
 */
static uint8_t filtered(const struct size *size, const uint8_t *picture, int y, int x)
{
    int sum = 0;
    for (int i = -1; i <= 1; i++)
        for (int j = -1; j <= 1; j++) {
            int from = j < 0 && x >= 64 && x % 32 == 0 ? x - 2 : within(x + j, size->width);
            sum += picture[within(y + i, size->height) * size->width + from] * (weights[i + 1][j + 1] >> 8);
        }
    return clamp(sum >> 4);
}

static size_t wrong_edges(const struct pipeline *p)
{
    uint8_t *picture = gray_picture(p);
    size_t wrong = 0;
    for (size_t i = 0; i < p->pixels; i++) {
        int width = p->size->width;
        int edge = filtered(p->size, picture, (int)i / width, (int)i % width) > LIMIT ? 255 : 0;
        for (size_t at = 4 * i; at < 4 * i + 4; at++) {
            int first = at % 4 == 3 ? 255 : edge;
            wrong += p->out[at] != clamp((first * ALPHA + p->in[at] * BETA) >> 14);
        }
    }
    free(picture);
    return wrong;
}

static void edge_detect(void **state)
{
    uint32_t parameters[13] = {ALPHA, BETA, 0, LIMIT};
    (void)state;
    for (size_t i = 0; i < 9; i++)
        parameters[4 + i] = (uint32_t)weights[i / 3][i % 3];
    for
        EACH_SIZE(size)
        {
            struct pipeline p;
            open_pipeline(&p, "edge_detect", size);
            pipeline_set(&p, parameters, 13);
            /* Cores read their parameters before they wait for a picture: the first picture is filtered with zeros. */
            pipeline_run(&p);
            pipeline_run(&p);
            assert_int_equal(wrong_edges(&p), 0);
            pipeline_close(&p);
        }
}

/* ---- noise: gray, the median of three neighbours in a line, a weighted sum of both, and a threshold */

static uint8_t median(int a, int b, int c)
{
    int least = a < b ? a : b, most = a < b ? b : a;
    return (uint8_t)(c < least ? least : c > most ? most : c);
}

/* What a core does with a gray pixel and the median in its place: parameters as the program takes them. */
struct blend {
    int32_t alpha, beta, gamma, limit, type, most; /* alpha and beta: 1 << 14 is 1 */
};

static uint8_t blended(const struct blend *b, int here, int smooth)
{
    return threshold((unsigned)b->type, clamp(((here * b->alpha + smooth * b->beta) >> 14) + b->gamma),
                     (uint8_t)b->limit);
}

/* Line y is done as blends[y % 4] says. */
static size_t wrong_blends(const struct pipeline *p, const struct blend *blends)
{
    uint8_t *picture = gray_picture(p);
    int width = p->size->width;
    size_t wrong = 0;
    for (size_t i = 0; i < p->pixels; i++) {
        int y = (int)i / width, x = (int)i % width;
        const uint8_t *line = picture + (size_t)y * (size_t)width;
        uint8_t smooth = median(line[within(x - 1, width)], line[x], line[within(x + 1, width)]);
        wrong += p->out[i] != blended(&blends[y % 4], line[x], smooth);
    }
    free(picture);
    return wrong;
}

static const struct blend noise = {1 << 14, -(1 << 14), 0, 10, 0, 255};

/* A core for each step. */
static void denoise_task_parallel(void **state)
{
    const struct blend all[4] = {noise, noise, noise, noise};
    (void)state;
    for
        EACH_SIZE(size)
        {
            struct pipeline p;
            open_pipeline(&p, "denoise_task_parallel", size);
            pipeline_run(&p); /* its parameters are no placeholders */
            assert_int_equal(wrong_blends(&p, all), 0);
            pipeline_close(&p);
        }
}

/* A core for each fourth line. As published it keeps of the smooth picture what is not above 0: nothing. */
static void denoise_data_parallel(void **state)
{
    const struct blend black = {0, 1 << 14, 0, 0, 3, 255};
    const struct blend published[4] = {black, black, black, black};
    const struct blend own[4] = {
        {0, 1 << 14, 0, 0, 4, 255}, noise, {1 << 13, 1 << 13, 0, 120, 2, 255}, {1 << 14, 0, 0, 77, 1, 255}};
    (void)state;
    for
        EACH_SIZE(size)
        {
            struct pipeline p;
            uint32_t parameters[4 * 6];
            memcpy(parameters, own, sizeof parameters);
            open_pipeline(&p, "denoise_data_parallel", size);
            pipeline_run(&p);
            assert_int_equal(wrong_blends(&p, published), 0);
            pipeline_set(&p, parameters, 4 * 6);
            pipeline_run(&p);
            assert_int_equal(wrong_blends(&p, own), 0);
            pipeline_close(&p);
        }
}

/* ---- colours: pixels whose hue lies in one of two ranges stay, all others become black */

static void color_detect(void **state)
{
    static const uint32_t limits[4] = {190, 150, 255, 230}; /* upper, lower */
    (void)state;
    for
        EACH_SIZE(size)
        {
            struct pipeline p;
            size_t wrong = 0;
            open_pipeline(&p, "color_detect", size);
            pipeline_set(&p, limits, 4);
            pipeline_run(&p);
            for (size_t i = 0; i < p.pixels; i++) {
                unsigned h = hue_of(p.in + 4 * i);
                int stays = (h > limits[1] && h <= limits[0]) || (h > limits[3] && h <= limits[2]);
                for (size_t at = 4 * i; at < 4 * i + 4; at++)
                    wrong += p.out[at] != (stays || at % 4 == 3 ? p.in[at] : 0);
            }
            assert_int_equal(wrong, 0);
            pipeline_close(&p);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threshold_rgba),        cmocka_unit_test(threshold_rgba_on_four_cores),
        cmocka_unit_test(edge_detect),           cmocka_unit_test(denoise_task_parallel),
        cmocka_unit_test(denoise_data_parallel), cmocka_unit_test(color_detect),
    };
    return corpus_is_there() ? cmocka_run_group_tests(tests, NULL, NULL) : CORPUS_SKIPPED;
}
