#include "base/little_endian.h"
#include "whisper/sound.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK 65536

struct sound_raw {
    struct tw_sound sound; /* first: a struct tw_sound * is also a struct sound_raw * */
    struct tw_input *input;
    int64_t offset; /* of the end of block in the input */
    size_t filled, used;
    unsigned char block[BLOCK];
};

static int16_t sample_at(const unsigned char *p)
{
    int value = tw_load_u16(p);
    return (int16_t)(value < 32768 ? value : value - 65536);
}

/* Moves what is left to the front and reads on behind it. */
static int refill(struct sound_raw *r, struct tw_error *err)
{
    size_t left = r->filled - r->used;
    memmove(r->block, r->block + r->used, left);
    r->used = 0;
    r->filled = left;
    int64_t n = tw_input_read(r->input, r->offset, r->block + left, BLOCK - left, err);
    if (n < 0)
        return (int)n;
    r->filled += (size_t)n;
    r->offset += n;
    return TW_OK;
}

static int64_t raw_read(struct tw_sound *sound, float *dst, int64_t frames, struct tw_error *err)
{
    struct sound_raw *r = (struct sound_raw *)sound;
    size_t frame_bytes = 2 * (size_t)sound->channels;
    if (r->filled - r->used < frame_bytes) {
        int rc = refill(r, err);
        if (rc < 0)
            return rc;
    }
    int64_t whole = (int64_t)((r->filled - r->used) / frame_bytes);
    int64_t count = frames < whole ? frames : whole;
    const unsigned char *from = r->block + r->used;
    for (int64_t i = 0; i < count * sound->channels; i++)
        dst[i] = (float)sample_at(from + 2 * i) / 32768.0f;
    r->used += (size_t)count * frame_bytes;
    return count;
}

static void raw_close(struct tw_sound *sound)
{
    struct sound_raw *r = (struct sound_raw *)sound;
    tw_input_close(r->input);
    free(r);
}

static int check_options(int rate, int channels, struct tw_error *err)
{
    if (rate < TW_SOUND_RATE_MIN || rate > TW_SOUND_RATE_MAX)
        return tw_fail(err, TW_E_ARGUMENT, "raw sound of %d samples a second was asked for; %d to %d are possible",
                       rate, TW_SOUND_RATE_MIN, TW_SOUND_RATE_MAX);
    if (channels < 1 || channels > TW_SOUND_CHANNELS_MAX)
        return tw_fail(err, TW_E_ARGUMENT, "raw sound of %d channels was asked for; 1 to %d are possible", channels,
                       TW_SOUND_CHANNELS_MAX);
    return TW_OK;
}

int tw_sound_open_raw(struct tw_input *input, int rate, int channels, struct tw_sound **sound, struct tw_error *err)
{
    *sound = NULL;
    int rc = check_options(rate, channels, err);
    if (rc < 0)
        return rc;
    struct sound_raw *r = calloc(1, sizeof *r);
    if (r == NULL)
        return tw_fail(err, TW_E_MEMORY, "no memory to open %s", tw_input_name(input));
    r->sound.rate = rate;
    r->sound.channels = channels;
    snprintf(r->sound.format, sizeof r->sound.format, "raw 16-bit");
    r->sound.read = raw_read;
    r->sound.close = raw_close;
    r->input = input;
    rc = refill(r, err);
    if (rc == TW_OK && r->filled == 0)
        rc = tw_fail(err, TW_E_FORMAT, "%s is empty: there is no sound in it", tw_input_name(input));
    if (rc < 0) {
        free(r);
        return rc;
    }
    *sound = &r->sound;
    return TW_OK;
}
