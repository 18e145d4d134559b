#include "whisper/mel.h"

#include "base/memory.h"
#include "base/thread_pool.h"
#include "whisper/frame_store.h"
#include "whisper/spectrum.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define REFLECTED (TW_MEL_WINDOW / 2)
/* Frames computed before the input is read on: enough work for many threads, 1.3 MB of samples. */
#define BLOCK_FRAMES 2048
#define BLOCK_SAMPLES SAMPLES_OF(BLOCK_FRAMES)
/* The last block may have two frames more, and the frames transformed together may go beyond it. */
#define ROOM_FRAMES (BLOCK_FRAMES + TW_SPECTRUM_FRAMES)
#define ROOM_SAMPLES SAMPLES_OF(ROOM_FRAMES)
#define SAMPLES_OF(frames) ((frames)*TW_MEL_HOP + TW_MEL_WINDOW - TW_MEL_HOP)
#define BANDS_MAX 1024
#define SMALLEST 1e-10
#define LOG_SMALLEST (-10.0f)
#define RANGE 8.0f
#define LOG10_E 0.43429448190325182765

struct tw_mel {
    int bands;
    int64_t samples;
    float largest; /* log10 over the whole input and its padding */
    struct tw_frame_store *frames;
};

/* A band's filter is zero outside bins first .. end-1. */
struct band {
    int first, end;
};

/* Reading an input to its end. */
struct work {
    struct tw_mel *mel;
    struct tw_audio *audio;
    struct tw_pool *pool;
    const float *filters;
    struct band *bands;
    struct tw_spectrum *spectrum;
    double *scratch; /* scratch_size doubles for each worker */
    size_t scratch_size;
    float *samples; /* ROOM_SAMPLES, of the frames that come next */
    int64_t filled;
    float *values;       /* ROOM_FRAMES frames of mel->bands */
    int64_t block_count; /* frames to compute in this block */
};

static void find_bands(struct work *w)
{
    for (int b = 0; b < w->mel->bands; b++) {
        const float *filter = w->filters + (size_t)b * TW_MEL_BINS;
        int first = 0, end = TW_MEL_BINS;
        while (first < end && filter[first] == 0.0f)
            first++;
        while (end > first && filter[end - 1] == 0.0f)
            end--;
        w->bands[b] = (struct band){first, end};
    }
}

/* log10 of a filter's response to each of the frames whose spectra were computed together. */
static void band_values(const double *power, const float *filter, struct band band, double *logs)
{
    double sum[TW_SPECTRUM_FRAMES] = {0};
    for (int k = band.first; k < band.end; k++)
        for (int f = 0; f < TW_SPECTRUM_FRAMES; f++)
            sum[f] += filter[k] * power[k * TW_SPECTRUM_FRAMES + f];
    for (int f = 0; f < TW_SPECTRUM_FRAMES; f++)
        logs[f] = sum[f] > SMALLEST ? log(sum[f]) * LOG10_E : LOG_SMALLEST;
}

/* A tw_task: TW_SPECTRUM_FRAMES frames of the block. */
static void compute_frames(void *arg, size_t index, unsigned worker)
{
    const struct work *w = arg;
    int bands = w->mel->bands;
    int64_t first = (int64_t)index * TW_SPECTRUM_FRAMES;
    int64_t count = w->block_count - first < TW_SPECTRUM_FRAMES ? w->block_count - first : TW_SPECTRUM_FRAMES;
    double *power = w->scratch + worker * w->scratch_size;
    double *transform = power + TW_MEL_BINS * TW_SPECTRUM_FRAMES;
    tw_spectrum_power(w->spectrum, w->samples + first * TW_MEL_HOP, TW_MEL_HOP, transform, power);
    for (int b = 0; b < bands; b++) {
        double logs[TW_SPECTRUM_FRAMES];
        band_values(power, w->filters + (size_t)b * TW_MEL_BINS, w->bands[b], logs);
        for (int f = 0; f < count; f++)
            w->values[(first + f) * bands + b] = (float)logs[f];
    }
}

static int compute_block(struct work *w, struct tw_error *err)
{
    size_t tasks = (size_t)(w->block_count + TW_SPECTRUM_FRAMES - 1) / TW_SPECTRUM_FRAMES;
    if (w->pool != NULL)
        tw_pool_run(w->pool, tasks, compute_frames, w);
    else
        for (size_t i = 0; i < tasks; i++)
            compute_frames(w, i, 0);
    int64_t values = w->block_count * w->mel->bands;
    for (int64_t i = 0; i < values; i++)
        if (w->values[i] > w->mel->largest)
            w->mel->largest = w->values[i];
    return tw_frame_store_append(w->mel->frames, w->values, w->block_count, err);
}

/* Fills the block with samples; returns how many came, or a negative code. */
static int64_t fill(struct work *w, struct tw_error *err)
{
    int64_t n = tw_audio_read(w->audio, w->samples + w->filled, BLOCK_SAMPLES - w->filled, err);
    if (n > 0) {
        w->filled += n;
        w->mel->samples += n;
    }
    return n;
}

/* Puts samples 200, 199, ..., 1 before sample 0, as far as they are there, and zeros before them. */
static void reflect_start(struct work *w)
{
    float *start = w->samples + REFLECTED;
    int64_t there = w->mel->samples - 1 < REFLECTED ? w->mel->samples - 1 : REFLECTED;
    memset(w->samples, 0, REFLECTED * sizeof *w->samples);
    for (int64_t i = 1; i <= there; i++)
        start[-i] = start[i];
}

/* The frames that begin before the end; those after it are silence and need no computing. Zeros follow the samples. */
static int finish(struct work *w, struct tw_error *err)
{
    w->block_count = (w->filled + TW_MEL_HOP - 1) / TW_MEL_HOP;
    int64_t read = SAMPLES_OF(w->block_count + TW_SPECTRUM_FRAMES - 1);
    int64_t end = read < ROOM_SAMPLES ? read : ROOM_SAMPLES;
    memset(w->samples + w->filled, 0, (size_t)(end - w->filled) * sizeof *w->samples);
    return compute_block(w, err);
}

static int run(struct work *w, struct tw_error *err)
{
    w->filled = REFLECTED;
    int64_t n = fill(w, err);
    if (n <= 0)
        return (int)n;
    reflect_start(w);
    while (w->filled == BLOCK_SAMPLES) {
        w->block_count = BLOCK_FRAMES;
        int rc = compute_block(w, err);
        if (rc < 0)
            return rc;
        int64_t done = BLOCK_FRAMES * TW_MEL_HOP;
        w->filled -= done;
        memmove(w->samples, w->samples + done, (size_t)w->filled * sizeof *w->samples);
        n = fill(w, err);
        if (n < 0)
            return (int)n;
    }
    return finish(w, err);
}

static void end_work(struct work *w)
{
    tw_spectrum_destroy(w->spectrum);
    free(w->bands);
    free(w->scratch);
    free(w->samples);
    free(w->values);
}

static int begin_work(struct work *w, struct tw_error *err)
{
    size_t bands = (size_t)w->mel->bands;
    size_t workers = w->pool != NULL ? tw_pool_size(w->pool) : 1;
    w->scratch_size = TW_MEL_BINS * TW_SPECTRUM_FRAMES + tw_spectrum_scratch_size();
    w->bands = calloc(bands, sizeof *w->bands);
    w->scratch = tw_alloc(workers * w->scratch_size * sizeof *w->scratch);
    w->samples = tw_alloc(ROOM_SAMPLES * sizeof *w->samples);
    w->values = tw_alloc(ROOM_FRAMES * bands * sizeof *w->values);
    if (w->bands == NULL || w->scratch == NULL || w->samples == NULL || w->values == NULL)
        return tw_fail(err, TW_E_MEMORY, "no memory for the mel spectrogram");
    find_bands(w);
    return tw_spectrum_create(&w->spectrum, err);
}

static int check_filters(int bands, const float *filters, struct tw_error *err)
{
    if (bands < 1 || bands > BANDS_MAX)
        return tw_fail(err, TW_E_ARGUMENT, "%d mel bands were asked for; 1 to %d are possible", bands, BANDS_MAX);
    for (int i = 0; i < bands * TW_MEL_BINS; i++)
        if (!isfinite(filters[i]))
            return tw_fail(err, TW_E_FORMAT, "the model's mel filter of band %d is not made of finite numbers",
                           i / TW_MEL_BINS);
    return TW_OK;
}

int tw_mel_create(struct tw_audio *audio, int n_mels, const float *filters, struct tw_pool *pool, struct tw_mel **mel,
                  struct tw_error *err)
{
    *mel = NULL;
    int rc = check_filters(n_mels, filters, err);
    if (rc < 0)
        return rc;
    struct tw_mel *m = calloc(1, sizeof *m);
    if (m == NULL)
        return tw_fail(err, TW_E_MEMORY, "no memory for the mel spectrogram");
    m->bands = n_mels;
    m->largest = LOG_SMALLEST;
    struct work w = {.mel = m, .audio = audio, .pool = pool, .filters = filters};
    rc = tw_frame_store_create(n_mels, &m->frames, err);
    if (rc == TW_OK)
        rc = begin_work(&w, err);
    if (rc == TW_OK)
        rc = run(&w, err);
    end_work(&w);
    if (rc < 0) {
        tw_mel_destroy(m);
        return rc;
    }
    *mel = m;
    return TW_OK;
}

void tw_mel_destroy(struct tw_mel *m)
{
    if (m == NULL)
        return;
    tw_frame_store_destroy(m->frames);
    free(m);
}

int64_t tw_mel_samples(const struct tw_mel *m)
{
    return m->samples;
}

int64_t tw_mel_frames(const struct tw_mel *m)
{
    return m->samples >= REFLECTED ? 1 + (m->samples - REFLECTED) / TW_MEL_HOP : 0;
}

int tw_mel_bands(const struct tw_mel *m)
{
    return m->bands;
}

static float normalised(float value, float floor)
{
    return ((value > floor ? value : floor) + 4.0f) / 4.0f;
}

int tw_mel_read(struct tw_mel *m, int64_t first, int64_t count, float *dst, struct tw_error *err)
{
    if (first < 0 || count < 0)
        return tw_fail(err, TW_E_ARGUMENT, "mel frames %lld and on were asked for", (long long)first);
    float floor = m->largest - RANGE;
    int64_t there = tw_frame_store_count(m->frames) - first;
    int64_t stored = there <= 0 ? 0 : there < count ? there : count;
    if (stored > 0) {
        int rc = tw_frame_store_read(m->frames, first, stored, dst, err);
        if (rc < 0)
            return rc;
    }
    for (int64_t i = 0; i < stored * m->bands; i++)
        dst[i] = normalised(dst[i], floor);
    float silence = normalised(LOG_SMALLEST, floor);
    for (int64_t i = stored * m->bands; i < count * m->bands; i++)
        dst[i] = silence;
    return TW_OK;
}
