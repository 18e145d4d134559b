/*
 * Whisper's encoder on the emulated array, with random weights: windows of any length in any order come out as from the
 * CPU, but for the rounding of operands to bf16; also when the array fails. TILEWRIGHT_LONG is a number of windows, for
 * a longer run.
 */
#include "base/memory.h"
#include "job/array_rig.h"
#include "whisper/encoder.h"
#include "whisper/model_random.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

/* Contexts stay short, for the emulator's sake. */
enum { CTX_MAX = 48, WINDOWS = 5, GROUP = 2 };

/*
 * Operands of products are rounded to 8 bits of mantissa, which leaves errors of 2^-9 in each; after two layers the
 * sums of that stay below these bounds, while one wrong number in a row, or a row in the wrong place, does not.
 */
#define COSINE_LEAST 0.9998
#define RMS_MOST 0.016

static const struct tw_whisper_sizes sizes = {
    .n_vocab = 51864,
    .n_audio_ctx = CTX_MAX,
    .n_audio_state = 128,
    .n_audio_head = 2,
    .n_audio_layer = 2,
    .n_text_ctx = 16,
    .n_text_state = 128,
    .n_text_head = 2,
    .n_text_layer = 1,
    .n_mels = 80,
};

struct stage {
    struct rig rig;
    struct tw_whisper_model *model;
    struct tw_random random;
    struct tw_graph *g;
    float *mel, *out, *cross, *right_out, *right_cross;
    double worst_cosine, worst_rms;
};

static int windows(void)
{
    const char *longer = getenv("TILEWRIGHT_LONG");
    return longer != NULL ? atoi(longer) : WINDOWS;
}

static void must(int code, const struct tw_error *err)
{
    if (code < 0)
        fail_msg("%s", err->text);
}

static float *floats(size_t n)
{
    float *p = tw_alloc(n * sizeof *p);
    assert_non_null(p);
    return p;
}

static void begin(struct stage *s, uint64_t seed)
{
    struct tw_error err = {0};
    *s = (struct stage){.random = {seed}, .worst_cosine = 1};
    must(tw_model_random(&sizes, seed, &s->model, &err), &err);
    s->g = tw_graph_create();
    assert_non_null(s->g);
    size_t cross = tw_encoder_cross_size(s->model, CTX_MAX), out = (size_t)CTX_MAX * (size_t)sizes.n_audio_state;
    s->mel = floats(2 * (size_t)CTX_MAX * (size_t)sizes.n_mels);
    s->out = floats(out);
    s->right_out = floats(out);
    s->cross = floats(cross);
    s->right_cross = floats(cross);
}

static void end(struct stage *s)
{
    tw_graph_destroy(s->g);
    free(s->mel);
    free(s->out);
    free(s->right_out);
    free(s->cross);
    free(s->right_cross);
    tw_model_close(s->model);
}

static void poison(struct stage *s)
{
    for (size_t i = 0; i < (size_t)CTX_MAX * (size_t)sizes.n_audio_state; i++)
        s->out[i] = NAN;
    for (size_t i = 0; i < tw_encoder_cross_size(s->model, CTX_MAX); i++)
        s->cross[i] = NAN;
}

/* A row against the right one. NaN must not pass for good. */
static void check_row(struct stage *s, const float *x, const float *right, const char *what, int row)
{
    double xy = 0, xx = 0, yy = 0, dd = 0;
    for (int32_t i = 0; i < sizes.n_audio_state; i++) {
        xy += (double)x[i] * (double)right[i];
        xx += (double)x[i] * (double)x[i];
        yy += (double)right[i] * (double)right[i];
        dd += ((double)x[i] - (double)right[i]) * ((double)x[i] - (double)right[i]);
    }
    double cosine = xy / sqrt(xx * yy), rms = sqrt(dd / yy);
    if (!(cosine >= COSINE_LEAST) || !(rms <= RMS_MOST))
        fail_msg("%s, row %d: cosine %.6f, error %.4f of the row", what, row, cosine, rms);
    s->worst_cosine = fmin(s->worst_cosine, cosine);
    s->worst_rms = fmax(s->worst_rms, rms);
}

/* One window of noise with ctx positions, by the runner and by the CPU. */
static void encode(struct stage *s, int32_t ctx)
{
    struct tw_error err = {0};
    struct tw_encoder_io io = {.mel = s->mel, .out = s->out, .cross = s->cross};
    size_t numbers = (size_t)ctx * (size_t)sizes.n_audio_state, cross = tw_encoder_cross_size(s->model, ctx);
    for (size_t i = 0; i < 2 * (size_t)ctx * (size_t)sizes.n_mels; i++)
        s->mel[i] = (float)(2 * tw_random_unit(&s->random) - 0.7);
    must(tw_encoder_graph(s->g, s->model, ctx, &io, &err), &err);
    poison(s);
    must(tw_host_run(s->rig.host, s->g, &err), &err);
    memcpy(s->right_out, s->out, numbers * sizeof *s->out);
    memcpy(s->right_cross, s->cross, cross * sizeof *s->cross);
    poison(s);
    must(tw_runner_run(s->rig.runner, s->g, &err), &err);
    for (size_t i = 0; i < numbers; i += (size_t)sizes.n_audio_state)
        check_row(s, s->out + i, s->right_out + i, "output", (int)i / sizes.n_audio_state);
    for (size_t i = 0; i < cross; i += (size_t)sizes.n_text_state)
        check_row(s, s->cross + i, s->right_cross + i, "cache", (int)i / sizes.n_text_state);
}

static int32_t any_context(struct stage *s)
{
    return (int32_t)tw_random_range(&s->random, 1, CTX_MAX);
}

/* Pages that the process has; sanitizers keep what is freed, so there it says nothing. */
static long resident_bytes(void)
{
    long pages = 0;
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    FILE *f = fopen("/proc/self/statm", "r");
    if (f == NULL || fscanf(f, "%*s %ld", &pages) != 1)
        pages = 0;
    if (f != NULL)
        fclose(f);
#endif
    return pages * sysconf(_SC_PAGESIZE);
}

static void any_order(void **state)
{
    struct stage s;
    (void)state;
    begin(&s, 1);
    assert_int_equal(rig_open(&s.rig, NULL, NULL, MACHINE_PLAIN), 0);
    encode(&s, CTX_MAX); /* memory has its size now */
    for (int i = 0; i < GROUP; i++)
        encode(&s, any_context(&s));
    long before = resident_bytes();
    for (int i = GROUP + 1; i < windows(); i++)
        encode(&s, any_context(&s));
    assert_true(resident_bytes() <= before + (8 << 20));
    const struct tw_executor_counts c = rig_counts(&s.rig);
    print_message("%d windows: worst cosine %.6f, worst error %.4f of a row; %llu launches, %llu products\n", windows(),
                  s.worst_cosine, s.worst_rms, (unsigned long long)c.launches, (unsigned long long)c.products_on_array);
    assert_true(c.fallbacks == 0 && c.mismatches == 0 && c.products_on_host == 0);
    assert_int_equal(c.contexts, 1);
    assert_true(c.launches <= (uint64_t)windows() * (4 * 2 + 4));
    rig_close(&s.rig);
    end(&s);
}

/* All kinds of faults, at any time; a machine for a few windows each. */
static void any_fault(void **state)
{
    static const struct tw_executor_options all = {.verify = TW_VERIFY_ALL};
    static const struct {
        const char *name;
        int64_t most; /* occurrences among which one is hit; about what a group of windows has */
    } kinds[] = {{"token", 400}, {"bit", 400000}, {"core", 20000}, {"context", 2}, {"memory", 60}};
    struct stage s;
    uint64_t fallbacks = 0;
    (void)state;
    begin(&s, 2);
    for (int i = 0; i < windows(); i += GROUP) {
        char fault[64];
        size_t kind = (size_t)tw_random_range(&s.random, 0, sizeof kinds / sizeof kinds[0] - 1);
        snprintf(fault, sizeof fault, "%s:%lld:seed=%d", kinds[kind].name,
                 (long long)tw_random_range(&s.random, 1, kinds[kind].most), i);
        int code = rig_open(&s.rig, fault, &all, MACHINE_PLAIN);
        for (int j = 0; j < GROUP && code == TW_OK; j++)
            encode(&s, any_context(&s));
        if (code == TW_OK)
            fallbacks += rig_counts(&s.rig).fallbacks;
        rig_close(&s.rig);
    }
    print_message("worst cosine %.6f, worst error %.4f of a row; %llu launches failed\n", s.worst_cosine, s.worst_rms,
                  (unsigned long long)fallbacks);
    assert_true(fallbacks > 0);
    end(&s);
}

/* Other weights at the same addresses, as when a model is closed and another is opened. */
static void forgotten_model(void **state)
{
    struct stage s;
    struct tw_whisper_model *other;
    struct tw_error err = {0};
    (void)state;
    begin(&s, 3);
    must(tw_model_random(&sizes, 4, &other, &err), &err);
    assert_int_equal(rig_open(&s.rig, NULL, NULL, MACHINE_PLAIN), 0);
    encode(&s, 20);
    tw_encoder_forget(s.rig.array, s.model);
    for (int32_t i = 0; i < sizes.n_audio_layer; i++) {
        const struct tw_matrix *to = &s.model->encoder[i].mlp_up.weight, *from = &other->encoder[i].mlp_up.weight;
        memcpy((void *)(uintptr_t)to->data, from->data, (size_t)to->rows * tw_row_bytes(to->type, to->cols));
        memcpy((void *)(uintptr_t)s.model->encoder[i].mlp_up.bias, other->encoder[i].mlp_up.bias,
               (size_t)to->rows * sizeof(float));
    }
    encode(&s, 20);
    tw_model_close(other);
    rig_close(&s.rig);
    end(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_order),
        cmocka_unit_test(any_fault),
        cmocka_unit_test(forgotten_model),
    };
    return cmocka_run_group_tests_name("encoder on the array", tests, NULL, NULL);
}
