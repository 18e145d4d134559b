#include "whisper/sound.h"

#include "whisper/wav_header.h"

#include <sndfile.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct sound_file {
    struct tw_sound sound; /* first: a struct tw_sound * is also a struct sound_file * */
    SNDFILE *handle;
    struct tw_input *input;
    struct tw_wav_view view;
    int64_t promised, delivered; /* frames */
    int64_t position;            /* in the view */
    struct tw_error failed;      /* code != 0: reading the input failed, which libsndfile cannot tell us */
    int ended;
};

static sf_count_t view_size(void *user)
{
    struct sound_file *f = user;
    return (sf_count_t)f->view.head_size + f->view.body_size;
}

static sf_count_t view_seek(sf_count_t offset, int whence, void *user)
{
    struct sound_file *f = user;
    int64_t base = whence == SEEK_SET ? 0 : whence == SEEK_CUR ? f->position : view_size(user);
    if (offset < -base || offset > INT64_MAX / 2 - base)
        return -1;
    f->position = base + offset;
    return f->position;
}

static sf_count_t view_tell(void *user)
{
    struct sound_file *f = user;
    return f->position;
}

/* Copies from the part of the view that position lies in; returns how many bytes, 0 at the end or after a failure. */
static int64_t copy_part(struct sound_file *f, unsigned char *dst, int64_t count)
{
    int64_t head = (int64_t)f->view.head_size;
    if (f->position < head) {
        int64_t n = count < head - f->position ? count : head - f->position;
        memcpy(dst, f->view.head + f->position, (size_t)n);
        return n;
    }
    int64_t at = f->position - head;
    int64_t left = f->view.body_size - at;
    if (left <= 0 || f->failed.code != 0)
        return 0;
    int64_t n =
        tw_input_read(f->input, f->view.body_offset + at, dst, (size_t)(count < left ? count : left), &f->failed);
    return n < 0 ? 0 : n;
}

static sf_count_t view_read(void *dst, sf_count_t count, void *user)
{
    struct sound_file *f = user;
    int64_t got = 0;
    while (got < count) {
        int64_t n = copy_part(f, (unsigned char *)dst + got, count - got);
        if (n == 0)
            break;
        got += n;
        f->position += n;
    }
    return got;
}

static sf_count_t view_write(const void *data, sf_count_t count, void *user)
{
    (void)data;
    (void)count;
    (void)user;
    return 0;
}

/*
 * Whether less came than the file promised. A few samples less are usual: the count is an estimate in some formats, and
 * is not known (the largest number there is) in others.
 */
static int is_short(const struct sound_file *f)
{
    return f->promised < SF_COUNT_MAX && f->delivered < f->promised - f->promised / 50;
}

/* A file damaged half way still has something to say; that there was more is a warning. */
static int64_t at_end(struct sound_file *f, struct tw_error *err)
{
    if (f->failed.code != 0)
        return tw_fail(err, f->failed.code, "%s", f->failed.text);
    if (!f->ended && (sf_error(f->handle) != SF_ERR_NO_ERROR || is_short(f)))
        snprintf(f->sound.warning, sizeof f->sound.warning,
                 "%.400s is damaged or cut off; only its first %.1f seconds can be read", tw_input_name(f->input),
                 (double)f->delivered / f->sound.rate);
    f->ended = 1;
    return 0;
}

static int64_t file_read(struct tw_sound *sound, float *dst, int64_t frames, struct tw_error *err)
{
    struct sound_file *f = (struct sound_file *)sound;
    sf_count_t n = f->ended ? 0 : sf_readf_float(f->handle, dst, frames);
    if (n <= 0)
        return at_end(f, err);
    f->delivered += n;
    return n;
}

static void file_close(struct tw_sound *sound)
{
    struct sound_file *f = (struct sound_file *)sound;
    if (f->handle != NULL)
        sf_close(f->handle);
    tw_input_close(f->input);
    free(f);
}

/* libsndfile's names read "WAV (Microsoft)": the part before the bracket. */
static void name_format(struct sound_file *f, int format)
{
    SF_FORMAT_INFO info = {.format = format & SF_FORMAT_TYPEMASK};
    const char *name = "sound file";
    if (sf_command(NULL, SFC_GET_FORMAT_INFO, &info, sizeof info) == 0 && info.name != NULL)
        name = info.name;
    snprintf(f->sound.format, sizeof f->sound.format, "%.*s", (int)strcspn(name, "("), name);
    size_t length = strlen(f->sound.format);
    while (length > 0 && f->sound.format[length - 1] == ' ')
        f->sound.format[--length] = '\0';
}

static int open_handle(struct sound_file *f, struct tw_error *err)
{
    const char *name = tw_input_name(f->input);
    SF_VIRTUAL_IO io = {view_size, view_seek, view_read, view_write, view_tell};
    SF_INFO info = {0};
    f->handle = sf_open_virtual(&io, SFM_READ, &info, f);
    if (f->failed.code != 0)
        return tw_fail(err, f->failed.code, "%s", f->failed.text);
    if (f->handle == NULL)
        return tw_fail(err, TW_E_FORMAT,
                       "%s is not a sound file of a known kind; convert it to WAV, FLAC, Ogg or MP3 (%s)", name,
                       sf_strerror(NULL));
    if (info.samplerate < TW_SOUND_RATE_MIN || info.samplerate > TW_SOUND_RATE_MAX)
        return tw_fail(err, TW_E_UNSUPPORTED, "%s has %d samples a second; %d to %d can be read", name, info.samplerate,
                       TW_SOUND_RATE_MIN, TW_SOUND_RATE_MAX);
    if (info.channels < 1 || info.channels > TW_SOUND_CHANNELS_MAX)
        return tw_fail(err, TW_E_UNSUPPORTED, "%s has %d channels; 1 to %d can be read", name, info.channels,
                       TW_SOUND_CHANNELS_MAX);
    f->sound.rate = info.samplerate;
    f->sound.channels = info.channels;
    f->promised = info.frames;
    name_format(f, info.format);
    return TW_OK;
}

int tw_sound_open_file(struct tw_input *input, struct tw_sound **sound, struct tw_error *err)
{
    *sound = NULL;
    if (tw_input_size(input) == 0)
        return tw_fail(err, TW_E_FORMAT, "%s is empty: there is no sound in it", tw_input_name(input));
    struct sound_file *f = calloc(1, sizeof *f);
    if (f == NULL)
        return tw_fail(err, TW_E_MEMORY, "no memory to open %s", tw_input_name(input));
    f->sound.read = file_read;
    f->sound.close = file_close;
    f->input = input;
    int rc = tw_wav_view_open(input, &f->view, err);
    if (rc == TW_OK)
        rc = open_handle(f, err);
    if (rc < 0) {
        f->input = NULL; /* still the caller's */
        file_close(&f->sound);
        return rc;
    }
    *sound = &f->sound;
    return TW_OK;
}
