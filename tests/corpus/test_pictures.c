/*
 * Picture pipelines of 1280 x 720 pixels of four bytes, compiled by AMD's compiler (number 6 of the list in README.md),
 * give what their kernels are written to compute, byte for byte.
 */
#include "corpus/corpus.h"

#include "base/little_endian.h"
#include "base/random.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#define PIPELINES "AMDResearch+Riallto/0593d004/npu/lib/applications/binaries/"

enum { WIDTH = 1280, HEIGHT = 720, PIXELS = WIDTH * HEIGHT, PICTURE_BYTES = 4 * PIXELS };

static void open_pipeline(struct corpus *c, const char *program)
{
    struct tw_random r = {6};
    CORPUS_OPEN(c, program, NULL, PICTURE_BYTES, PICTURE_BYTES);
    uint8_t *in = c->arguments[0];
    for (size_t i = 0; i < PICTURE_BYTES; i++)
        in[i] = (uint8_t)tw_random_u64(&r);
}

/* Sets the words that a DPU sequence writes first, to rising or any other addresses: n of them, in its order. */
static void set_parameters(const struct tw_emu_control *control, const uint32_t *values, size_t n)
{
    enum { FIRST_OPERATION = 17 * 4, OPERATION = 3 * 4, VALUE = 2 * 4, WRITE = 2 };
    for (size_t i = 0; i < n; i++) {
        unsigned char *write = control->memory + FIRST_OPERATION + OPERATION * i;
        assert_int_equal(tw_load_u32(write) >> 24, WRITE);
        tw_store_u32(write + VALUE, values[i]);
    }
}

static uint8_t clamp(int x)
{
    return (uint8_t)(x < 0 ? 0 : x > 255 ? 255 : x);
}

/* ---- thresholds */

enum { THRESHOLD_TYPES = 5 };

/*
 * What the program does for each type of threshold. Types 0 and 1, and 3 and 4, are the other way round than in the
 * kernel's source as it was published later (0: 255 above the threshold). The comparison and the selection that decide
 * it are among the instructions recorded on silicon, and AMD's pipelines below choose their types accordingly.
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
    struct tw_emu_control control;
    struct corpus c;
    (void)state;
    open_pipeline(&c, PIPELINES "color_threshold_v1_720p.xclbin");
    corpus_open_control(&c, PIPELINES "color_threshold_v1_720p.seq", &control);
    for (unsigned type = 0; type < THRESHOLD_TYPES; type++) {
        const uint32_t parameters[5] = {limits[0], limits[1], limits[2], limits[3], type};
        const uint8_t *in = c.arguments[0], *out = c.arguments[1];
        size_t wrong = 0;
        set_parameters(&control, parameters, 5);
        corpus_run_control(&c, "color_threshold_v1_720p.seq", &control);
        for (size_t i = 0; i < PICTURE_BYTES; i++)
            wrong += out[i] != threshold(type, in[i], (uint8_t)limits[i % 4]);
        assert_int_equal(wrong, 0);
    }
    tw_emu_control_close(&control);
    corpus_close(&c);
}

/* ---- edges: gray, 3 x 3 filter, threshold, and the sum with the picture */

static const int weights[3][3] = {{0, 4096, 0}, {4096, -16384, 4096}, {-2048, 4096, 1024}};
enum { ALPHA = 16384, BETA = 8191, LIMIT = 40 };

/* With weights of 15 bits: 0.299, 0.587, 0.114. */
static uint8_t gray(const uint8_t *pixel)
{
    return (uint8_t)((9798 * pixel[0] + 19235 * pixel[1] + 3736 * pixel[2] + (1 << 14)) >> 15);
}

static int within(int i, int n)
{
    return i < 0 ? 0 : i >= n ? n - 1 : i;
}

/*
 * The kernel takes 32 pixels at a time with the upper 8 bits of its weights, and as the left neighbour of the first of
 * them the last but one of those before, from the third block on: so it is written.
 */
static uint8_t filtered(const uint8_t *picture, int y, int x)
{
    int sum = 0;
    for (int i = -1; i <= 1; i++)
        for (int j = -1; j <= 1; j++) {
            int from = j < 0 && x >= 64 && x % 32 == 0 ? x - 2 : within(x + j, WIDTH);
            sum += picture[within(y + i, HEIGHT) * WIDTH + from] * (weights[i + 1][j + 1] >> 8);
        }
    return clamp(sum >> 4);
}

static size_t wrong_edges(const uint8_t *in, const uint8_t *out)
{
    uint8_t *picture = malloc(PIXELS);
    size_t wrong = 0;
    assert_non_null(picture);
    for (size_t i = 0; i < PIXELS; i++)
        picture[i] = gray(in + 4 * i);
    for (int y = 0; y < HEIGHT; y++)
        for (int x = 0; x < WIDTH; x++) {
            size_t at = 4 * ((size_t)y * WIDTH + (size_t)x);
            int edge = filtered(picture, y, x) > LIMIT ? 255 : 0;
            for (size_t channel = 0; channel < 4; channel++) {
                int first = channel == 3 ? 255 : edge;
                wrong += out[at + channel] != clamp((first * ALPHA + in[at + channel] * BETA) >> 14);
            }
        }
    free(picture);
    return wrong;
}

static void edge_detect(void **state)
{
    uint32_t parameters[13] = {ALPHA, BETA, 0, LIMIT};
    struct tw_emu_control control;
    struct corpus c;
    (void)state;
    for (size_t i = 0; i < 9; i++)
        parameters[4 + i] = (uint32_t)weights[i / 3][i % 3];
    open_pipeline(&c, PIPELINES "edge_detect_720p.xclbin");
    corpus_open_control(&c, PIPELINES "edge_detect_720p.seq", &control);
    set_parameters(&control, parameters, 13);
    /* Cores read their parameters before they wait for a picture: the first picture is filtered with zeros. */
    corpus_run_control(&c, "edge_detect_720p.seq", &control);
    corpus_run_control(&c, "edge_detect_720p.seq", &control);
    assert_int_equal(wrong_edges(c.arguments[0], c.arguments[1]), 0);
    tw_emu_control_close(&control);
    corpus_close(&c);
}

/* ---- noise: gray, the median of three neighbours in a line, the difference, and a threshold */

static uint8_t median(int a, int b, int c)
{
    int least = a < b ? a : b, most = a < b ? b : a;
    return (uint8_t)(c < least ? least : c > most ? most : c);
}

static void denoise(void **state)
{
    enum { NOISE_LIMIT = 10 };
    struct corpus c;
    size_t wrong = 0;
    (void)state;
    open_pipeline(&c, PIPELINES "denoise_task_parallel_720p.xclbin");
    corpus_run(&c, PIPELINES "denoise_task_parallel_720p.seq"); /* its parameters are no placeholders */
    const uint8_t *in = c.arguments[0], *out = c.arguments[1];
    for (int y = 0; y < HEIGHT; y++)
        for (int x = 0; x < WIDTH; x++) {
            const uint8_t *line = in + 4 * y * WIDTH;
            int here = gray(line + 4 * x);
            int smooth = median(gray(line + 4 * within(x - 1, WIDTH)), here, gray(line + 4 * within(x + 1, WIDTH)));
            wrong += out[y * WIDTH + x] != threshold(0, clamp(here - smooth), NOISE_LIMIT);
        }
    assert_int_equal(wrong, 0);
    corpus_close(&c);
}

/* ---- colours: pixels whose hue lies in one of two ranges stay, all others become black */

/* In 256ths of a circle: red 0, green 85, blue 170; 85 * 512 over the range of the three comes from a table. */
static uint8_t hue(const uint8_t *pixel)
{
    int r = pixel[0], g = pixel[1], b = pixel[2];
    int most = r > g ? (r > b ? r : b) : (g > b ? g : b), least = r < g ? (r < b ? r : b) : (g < b ? g : b);
    if (most == least)
        return 0;
    int inverse = 85 * 512 / (most - least);
    if (most == g)
        return (uint8_t)((171 * 512 + (b - r) * inverse) >> 10);
    if (most == r)
        return (uint8_t)((512 + (g - b) * inverse) >> 10);
    return (uint8_t)((341 * 512 + (r - g) * inverse) >> 10);
}

static void color_detect(void **state)
{
    static const uint32_t limits[4] = {190, 150, 255, 230}; /* upper, lower */
    struct tw_emu_control control;
    struct corpus c;
    size_t wrong = 0;
    (void)state;
    open_pipeline(&c, PIPELINES "color_detect_720p.xclbin");
    corpus_open_control(&c, PIPELINES "color_detect_720p.seq", &control);
    set_parameters(&control, limits, 4);
    corpus_run_control(&c, "color_detect_720p.seq", &control);
    const uint8_t *in = c.arguments[0], *out = c.arguments[1];
    for (size_t i = 0; i < PIXELS; i++) {
        unsigned h = hue(in + 4 * i);
        int stays = (h > limits[1] && h <= limits[0]) || (h > limits[3] && h <= limits[2]);
        for (size_t channel = 0; channel < 4; channel++)
            wrong += out[4 * i + channel] != (stays || channel == 3 ? in[4 * i + channel] : 0);
    }
    assert_int_equal(wrong, 0);
    tw_emu_control_close(&control);
    corpus_close(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threshold_rgba),
        cmocka_unit_test(edge_detect),
        cmocka_unit_test(denoise),
        cmocka_unit_test(color_detect),
    };
    return corpus_is_there() ? cmocka_run_group_tests(tests, NULL, NULL) : CORPUS_SKIPPED;
}
