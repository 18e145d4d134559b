/*
 * The encoder of real models on real speech, against the same graph in float64: cosine at least 0.99999 over all
 * numbers and 0.999 for every position on the CPU, and 0.9999 and 0.9 with products on the emulated array, which
 * rounds operands to bf16. Without arguments it takes the models base and tiny.en and a shortened context, so that it
 * ends soon; `test_encoder_real MODEL CONTEXT [DEVICE [CLIP]]` measures any other, DEVICE being cpu, emu or npu. Models
 * that are not in the cache are skipped.
 */
#include "base/memory.h"
#include "host/host.h"
#include "host/reference.h"
#include "job/executor.h"
#include "tilewright.h"
#include "whisper/encoder.h"
#include "whisper/mel.h"
#include "whisper/model_store.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define PATH_ROOM 4096
#define SHORT_CONTEXT 200
#define SKIPPED 77

struct speech {
    const char *model;
    int32_t ctx;
    const char *device;
    const char *clip; /* NULL: the one in tests/data */
};

/* What the output has to reach. */
struct limits {
    double all, row; /* cosines */
};
static const struct limits exact = {0.99999, 0.999}, rounded = {0.9999, 0.9};

struct bench {
    struct tw_whisper_model *model;
    struct tw_host *host;
    struct tw_executor *array; /* NULL: the CPU does all */
    struct tw_graph *graph;
    float *mel, *out;
    double *exact;
};

static void must(int code, const struct tw_error *err)
{
    if (code != TW_OK)
        fail_msg("%s", err->text);
}

static void read_speech(struct bench *b, const char *clip, int64_t frames)
{
    char path[PATH_ROOM];
    struct tw_error err = {0};
    struct tw_audio *audio;
    struct tw_mel *mel;
    const char *source = getenv("TILEWRIGHT_SOURCE");
    snprintf(path, sizeof path, "%s/tests/data/jfk.wav", source == NULL ? "." : source);
    must(tw_audio_open(clip != NULL ? clip : path, NULL, &audio, &err), &err);
    must(tw_mel_create(audio, b->model->sizes.n_mels, b->model->mel_filters, NULL, &mel, &err), &err);
    must(tw_mel_read(mel, 0, frames, b->mel, &err), &err);
    tw_mel_destroy(mel);
    tw_audio_close(audio);
}

static void open_array(struct bench *b, const char *name)
{
    struct tw_error err = {0};
    struct tw_device *device;
    struct tw_device_options options = {.kind = strcmp(name, "npu") == 0 ? TW_DEVICE_NPU : TW_DEVICE_EMU};
    if (strcmp(name, "cpu") == 0)
        return;
    must(tw_device_open(&options, &device, &err), &err);
    must(tw_executor_open(device, NULL, &b->array, &err), &err);
    tw_device_close(device);
}

static void set_up(struct bench *b, const struct speech *s)
{
    char path[PATH_ROOM];
    struct tw_error err = {0};
    struct tw_host_options options = {0};
    must(tw_model_resolve(s->model, path, sizeof path, &err), &err);
    must(tw_model_open(path, &b->model, &err), &err);
    must(tw_host_create(&options, &b->host, &err), &err);
    open_array(b, s->device);
    size_t frames = 2 * (size_t)s->ctx, numbers = (size_t)s->ctx * (size_t)b->model->sizes.n_audio_state;
    b->graph = tw_graph_create();
    b->mel = tw_alloc(frames * (size_t)b->model->sizes.n_mels * sizeof *b->mel);
    b->out = tw_alloc(numbers * sizeof *b->out);
    b->exact = tw_alloc(numbers * sizeof *b->exact);
    assert_true(b->graph != NULL && b->mel != NULL && b->out != NULL && b->exact != NULL);
    read_speech(b, s->clip, (int64_t)frames);
}

static void tear_down(struct bench *b)
{
    tw_graph_destroy(b->graph);
    free(b->mel);
    free(b->out);
    free(b->exact);
    tw_executor_close(b->array);
    tw_host_destroy(b->host);
    tw_model_close(b->model);
}

/* The output's number in the graph: the one tensor that is bound to our memory. */
static tw_id find_output(const struct bench *b)
{
    for (tw_id id = 0; id < b->graph->n_tensors; id++)
        if (b->graph->tensors[id].data == (unsigned char *)b->out)
            return id;
    fail_msg("the encoder's graph does not write its output");
    return TW_NONE;
}

/* On the array, if there is one; leaves the graph. */
static void run(struct bench *b, int32_t ctx)
{
    struct tw_error err = {0};
    struct tw_runner *runner;
    struct tw_executor_counts counts;
    struct tw_encoder_io io = {.mel = b->mel, .out = b->out, .cross = NULL};
    must(tw_encoder_graph(b->graph, b->model, ctx, &io, &err), &err);
    must(tw_runner_create(b->array, b->host, &runner, &err), &err);
    must(tw_runner_run(runner, b->graph, &err), &err);
    tw_runner_counts(runner, &counts);
    tw_runner_destroy(runner);
    assert_true(counts.fallbacks == 0 && (counts.launches > 0) == (b->array != NULL));
}

static void encode(struct bench *b, int32_t ctx)
{
    struct tw_error err = {0};
    struct tw_reference *reference;
    run(b, ctx);
    must(tw_reference_run(b->graph, tw_host_pool(b->host), &reference, &err), &err);
    must(tw_reference_get(reference, find_output(b), b->exact, &err), &err);
    tw_reference_destroy(reference);
}

struct sums {
    double xy, xx, yy;
};

static double cosine(const struct sums *s)
{
    return s->xy / sqrt(s->xx * s->yy);
}

static void add_row(struct sums *s, const float *x, const double *y, int32_t n)
{
    for (int32_t i = 0; i < n; i++) {
        s->xy += (double)x[i] * y[i];
        s->xx += (double)x[i] * (double)x[i];
        s->yy += y[i] * y[i];
    }
}

static void check_cosines(const struct bench *b, const struct speech *s)
{
    const struct limits *limits = b->array != NULL ? &rounded : &exact;
    int32_t width = b->model->sizes.n_audio_state;
    struct sums all = {0};
    double worst = 1, largest = 0;
    for (int32_t row = 0; row < s->ctx; row++) {
        struct sums one = {0};
        const float *x = b->out + (size_t)row * (size_t)width;
        const double *y = b->exact + (size_t)row * (size_t)width;
        add_row(&one, x, y, width);
        add_row(&all, x, y, width);
        /* NaN must not pass for good. */
        worst = cosine(&one) >= worst ? worst : cosine(&one);
        for (int32_t i = 0; i < width; i++)
            largest = fmax(largest, fabs((double)x[i] - y[i]));
    }
    print_message(
        "%s on %s, %s, %d positions: cosine %.9f over all, %.9f in the worst position; largest difference %.3g\n",
        s->model, s->device, s->clip != NULL ? s->clip : "jfk.wav", (int)s->ctx, cosine(&all), worst, largest);
    assert_true(cosine(&all) >= limits->all);
    assert_true(worst >= limits->row);
}

static int is_there(const char *model)
{
    char path[PATH_ROOM];
    return tw_model_resolve(model, path, sizeof path, NULL) == TW_OK;
}

static void encoder_is_exact(void **state)
{
    const struct speech *s = *state;
    struct bench b = {0};
    if (!is_there(s->model)) {
        print_message("skipped: model %s is not in the cache; `tilewright model get %s` brings it\n", s->model,
                      s->model);
        skip();
    }
    set_up(&b, s);
    encode(&b, s->ctx);
    check_cosines(&b, s);
    tear_down(&b);
}

#define RECORDED_ROWS 1200
#define RECORDED_WIDTH 384
#define COSINE_RECORDED 0.9995

/* Every row but each fifth of the encoder's output for the clip, as an NPU gave it; NULL: not here. To be freed. */
static float *recorded_rows(void)
{
    char path[PATH_ROOM];
    const size_t count = (size_t)RECORDED_ROWS * RECORDED_WIDTH;
    const char *folder = getenv("TILEWRIGHT_RECORDINGS");
    snprintf(path, sizeof path, "%s/whisper_tiny_encoder_rows.f32", folder != NULL ? folder : ".");
    FILE *f = fopen(path, "rb");
    if (f == NULL)
        return NULL;
    float *rows = tw_alloc(count * sizeof *rows);
    assert_non_null(rows);
    assert_int_equal(fread(rows, sizeof *rows, count, f), count);
    fclose(f);
    return rows;
}

/* The whole window of the multilingual tiny model, against what another program's run on silicon gave. */
static void encoder_is_as_recorded(void **state)
{
    struct speech s = {"tiny", 1500, "emu", NULL};
    struct bench b = {0};
    struct sums all = {0};
    double numbers[RECORDED_WIDTH];
    (void)state;
    float *rows = recorded_rows();
    if (rows == NULL || !is_there(s.model)) {
        print_message("skipped: it takes the model tiny, and TILEWRIGHT_RECORDINGS with what an NPU gave for it\n");
        free(rows);
        skip();
    }
    set_up(&b, &s);
    run(&b, s.ctx);
    for (int32_t r = 0; r < s.ctx; r++) {
        const float *recorded = rows + (size_t)(r - (r + 1) / 5) * RECORDED_WIDTH;
        if (r % 5 == 4)
            continue;
        for (int i = 0; i < RECORDED_WIDTH; i++)
            numbers[i] = (double)recorded[i];
        add_row(&all, b.out + (size_t)r * RECORDED_WIDTH, numbers, RECORDED_WIDTH);
    }
    print_message("tiny on emu against silicon: cosine %.9f\n", cosine(&all));
    assert_true(cosine(&all) >= COSINE_RECORDED);
    tear_down(&b);
    free(rows);
}

static int measure(int argc, char **argv)
{
    struct speech one = {argv[1], (int32_t)strtol(argv[2], NULL, 10), argc > 3 ? argv[3] : "cpu",
                         argc > 4 ? argv[4] : NULL};
    const struct CMUnitTest tests[] = {cmocka_unit_test_prestate(encoder_is_exact, &one)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

int main(int argc, char **argv)
{
    struct speech base = {"base", SHORT_CONTEXT, "cpu", NULL}, tiny = {"tiny.en", SHORT_CONTEXT, "cpu", NULL},
                  array = {"tiny.en", SHORT_CONTEXT, "emu", NULL};
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(encoder_is_exact, &base),
        cmocka_unit_test_prestate(encoder_is_exact, &tiny),
        cmocka_unit_test_prestate(encoder_is_exact, &array),
        cmocka_unit_test(encoder_is_as_recorded),
    };
    if (argc >= 3)
        return measure(argc, argv);
    if (!is_there(base.model) && !is_there(tiny.model)) {
        puts("SKIPPED: neither model base nor tiny.en is in the cache; `tilewright model get base` brings one");
        return getenv("TILEWRIGHT_NO_SKIP") == NULL ? SKIPPED : 1;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
