/* Resampling: lengths, alignment in time and faithfulness against sweeps that are known as functions of time. */
#include "whisper/resample.h"

#include "whisper/sound_tools.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define PI 3.14159265358979323846
#define RATE 16000

/* A sine whose frequency rises from 50 Hz to `top` in `seconds`, as a function of time. */
struct sweep {
    double top, seconds;
    int rate;
    int64_t count, next;
    int64_t piece; /* given out at once, at most */
};

static float sweep_at(const struct sweep *s, double t)
{
    return (float)(0.5 * sin(2 * PI * (50 * t + (s->top - 50) * t * t / (2 * s->seconds))));
}

static int64_t give_sweep(void *arg, float *dst, int64_t max, struct tw_error *err)
{
    (void)err;
    struct sweep *s = arg;
    int64_t n = s->count - s->next;
    if (n > max)
        n = max;
    if (n > s->piece)
        n = s->piece;
    for (int64_t i = 0; i < n; i++)
        dst[i] = sweep_at(s, (double)(s->next + i) / s->rate);
    s->next += n;
    return n;
}

/* Reads to the end in pieces of at most `max`. */
static float *resampled(struct sweep *s, int64_t max, size_t *count)
{
    struct tw_resampler *r;
    assert_int_equal(tw_resampler_create(s->rate, RATE, give_sweep, s, &r, NULL), TW_OK);
    size_t room = (size_t)(s->count * RATE / s->rate) + 100;
    float *out = malloc(room * sizeof *out);
    assert_non_null(out);
    *count = 0;
    int64_t n;
    while ((n = tw_resampler_read(r, out + *count, max < (int64_t)(room - *count) ? max : (int64_t)(room - *count),
                                  NULL)) > 0) {
        *count += (size_t)n;
        assert_true(*count <= room);
    }
    assert_int_equal(n, 0);
    assert_int_equal(tw_resampler_read(r, out, 1, NULL), 0);
    tw_resampler_destroy(r);
    return out;
}

/* Up to 84 % of what both rates can carry: above, the filter falls off. The first and last 20 ms miss what would lie
 * outside. */
static void sweeps_come_out_where_they_belong(void **state)
{
    (void)state;
    static const int rates[] = {8000, 11025, 12000, 22050, 24000, 32000, 44100, 48000, 96000, 192000, 7919};
    for (size_t i = 0; i < sizeof rates / sizeof rates[0]; i++) {
        int low = rates[i] < RATE ? rates[i] : RATE;
        struct sweep s = {0.42 * low, 1.5, rates[i], (int64_t)(1.5 * rates[i]), 0, 5000};
        size_t count;
        float *got = resampled(&s, 4096, &count);
        float *wanted = malloc(count * sizeof *wanted);
        assert_non_null(wanted);
        for (size_t k = 0; k < count; k++)
            wanted[k] = sweep_at(&s, (double)k / RATE);
        double db = snr(got + 320, wanted + 320, count - 640);
        if (db < 100)
            fail_msg("%d Hz: %g dB", rates[i], db);
        free(wanted);
        free(got);
    }
}

static void lengths_are_rounded(void **state)
{
    (void)state;
    static const int rates[] = {1000, 8000, 11025, 44100, 48000, 96000, 768000};
    static const int64_t counts[] = {0, 1, 2, 3, 10, 47, 48, 441, 999, 8192, 8193, 44100, 100000};
    for (size_t r = 0; r < sizeof rates / sizeof rates[0]; r++)
        for (size_t c = 0; c < sizeof counts / sizeof counts[0]; c++) {
            struct sweep s = {400, 1, rates[r], counts[c], 0, 1000000};
            size_t count;
            free(resampled(&s, 1000, &count));
            double exact = (double)counts[c] * RATE / rates[r];
            if (fabs((double)count - exact) > 0.5)
                fail_msg("%lld samples of %d Hz became %zu", (long long)counts[c], rates[r], count);
        }
}

/* A whole second that ends loud: its last samples must come, without delay. */
static void the_end_is_not_lost(void **state)
{
    (void)state;
    struct sweep s = {1000, 1, 44100, 44100, 0, 3000};
    size_t count;
    float *got = resampled(&s, 4096, &count);
    assert_int_equal(count, RATE);
    for (size_t k = count - 200; k < count - 60; k++)
        assert_true(fabs(got[k] - sweep_at(&s, (double)k / RATE)) < 0.01);
    free(got);
}

static void pieces_do_not_matter(void **state)
{
    (void)state;
    struct sweep s = {3000, 1, 22050, 22050, 0, 100000};
    size_t whole_count, count;
    float *whole = resampled(&s, 20000, &whole_count);
    static const int64_t pieces[] = {1, 7, 440, 8192};
    for (size_t i = 0; i < sizeof pieces / sizeof pieces[0]; i++) {
        s.next = 0;
        s.piece = pieces[i];
        float *got = resampled(&s, pieces[(i + 1) % 4], &count);
        assert_int_equal(count, whole_count);
        assert_memory_equal(got, whole, count * sizeof *got);
        free(got);
    }
    free(whole);
}

static int64_t give_error(void *arg, float *dst, int64_t max, struct tw_error *err)
{
    (void)max;
    int *calls = arg;
    dst[0] = 0.0f;
    return ++*calls < 3 ? 1 : tw_fail(err, TW_E_IO, "the disk is on fire");
}

static void errors_of_the_source_are_passed_on(void **state)
{
    (void)state;
    int calls = 0;
    struct tw_resampler *r;
    struct tw_error err = {0};
    float out[100];
    assert_int_equal(tw_resampler_create(8000, RATE, give_error, &calls, &r, &err), TW_OK);
    assert_int_equal(tw_resampler_read(r, out, 100, &err), TW_E_IO);
    assert_string_equal(err.text, "the disk is on fire");
    tw_resampler_destroy(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sweeps_come_out_where_they_belong),
        cmocka_unit_test(lengths_are_rounded),
        cmocka_unit_test(the_end_is_not_lost),
        cmocka_unit_test(pieces_do_not_matter),
        cmocka_unit_test(errors_of_the_source_are_passed_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
