#include "whisper/resample.h"

#include <samplerate.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK 8192

struct tw_resampler {
    int rate_in, rate_out;
    tw_sample_source *source;
    void *arg;
    SRC_STATE *state;
    float in[BLOCK];
    int64_t first, count; /* what is left in `in` */
    int64_t taken, made;  /* samples of the source, samples given out */
    int ended;
    int64_t total; /* to give out; known when ended */
};

int tw_resampler_create(int rate_in, int rate_out, tw_sample_source *source, void *arg, struct tw_resampler **resampler,
                        struct tw_error *err)
{
    *resampler = NULL;
    struct tw_resampler *r = calloc(1, sizeof *r);
    if (r == NULL)
        return tw_fail(err, TW_E_MEMORY, "no memory to change the sampling rate");
    r->rate_in = rate_in;
    r->rate_out = rate_out;
    r->source = source;
    r->arg = arg;
    int failed = 0;
    r->state = src_new(SRC_SINC_MEDIUM_QUALITY, 1, &failed);
    if (r->state == NULL) {
        free(r);
        return tw_fail(err, TW_E_MEMORY, "cannot change the sampling rate: %s", src_strerror(failed));
    }
    *resampler = r;
    return TW_OK;
}

void tw_resampler_destroy(struct tw_resampler *r)
{
    if (r == NULL)
        return;
    src_delete(r->state);
    free(r);
}

/* round(n * to / from) without overflow. */
static int64_t scaled(int64_t n, int64_t to, int64_t from)
{
    return n / from * to + (n % from * to + from / 2) / from;
}

/*
 * Past the end zeros follow for as long as the filter needs them to give out the last samples. (The library can end a
 * stream itself, but its count is then one off for some lengths.)
 */
static int refill(struct tw_resampler *r, struct tw_error *err)
{
    int64_t n = r->ended ? 0 : r->source(r->arg, r->in, BLOCK, err);
    if (n < 0)
        return (int)n;
    if (n == 0) {
        r->ended = 1;
        r->total = scaled(r->taken, r->rate_out, r->rate_in);
        memset(r->in, 0, sizeof r->in);
        n = BLOCK;
    } else {
        r->taken += n;
    }
    r->first = 0;
    r->count = n;
    return TW_OK;
}

int64_t tw_resampler_read(struct tw_resampler *r, float *dst, int64_t max, struct tw_error *err)
{
    for (;;) {
        if (r->count == 0) {
            int rc = refill(r, err);
            if (rc < 0)
                return rc;
        }
        int64_t room = r->ended && r->total - r->made < max ? r->total - r->made : max;
        if (room <= 0)
            return 0;
        SRC_DATA step = {.data_in = r->in + r->first,
                         .input_frames = (long)r->count,
                         .data_out = dst,
                         .output_frames = (long)(room < BLOCK ? room : BLOCK),
                         .src_ratio = (double)r->rate_out / r->rate_in};
        int failed = src_process(r->state, &step);
        if (failed != 0 || (step.input_frames_used == 0 && step.output_frames_gen == 0))
            return tw_fail(err, TW_E_STATE, "changing the sampling rate failed: %s",
                           failed != 0 ? src_strerror(failed) : "the library makes no progress");
        r->first += step.input_frames_used;
        r->count -= step.input_frames_used;
        r->made += step.output_frames_gen;
        if (step.output_frames_gen > 0)
            return step.output_frames_gen;
    }
}
