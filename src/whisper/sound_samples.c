#include "whisper/audio.h"
#include "whisper/sound.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct sound_samples {
    struct tw_sound sound; /* first: a struct tw_sound * is also a struct sound_samples * */
    const float *next;
    size_t left;
};

static int64_t samples_read(struct tw_sound *sound, float *dst, int64_t frames, struct tw_error *err)
{
    (void)err;
    struct sound_samples *s = (struct sound_samples *)sound;
    size_t n = (uint64_t)frames < s->left ? (size_t)frames : s->left;
    if (n == 0)
        return 0;
    memcpy(dst, s->next, n * sizeof *dst);
    s->next += n;
    s->left -= n;
    return (int64_t)n;
}

static void samples_close(struct tw_sound *sound)
{
    free(sound);
}

int tw_sound_open_samples(const float *samples, size_t count, struct tw_sound **sound, struct tw_error *err)
{
    *sound = NULL;
    struct sound_samples *s = calloc(1, sizeof *s);
    if (s == NULL)
        return tw_fail(err, TW_E_MEMORY, "no memory to open %zu samples", count);
    s->sound.rate = TW_SAMPLE_RATE;
    s->sound.channels = 1;
    snprintf(s->sound.format, sizeof s->sound.format, "samples");
    s->sound.read = samples_read;
    s->sound.close = samples_close;
    s->next = samples;
    s->left = count;
    *sound = &s->sound;
    return TW_OK;
}
