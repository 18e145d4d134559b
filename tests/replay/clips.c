#include "clips.h"

#include "base/random.h"
#include "whisper/audio.h"

#include <math.h>
#include <sndfile.h>
#include <stdlib.h>
#include <string.h>

#define PATH_ROOM 1024
#define LONG_SECONDS 180
#define SILENCE_SECONDS 10
#define PAUSE (TW_SAMPLE_RATE / 2) /* between the parts of the concatenation */
#define NOISE_DB 10.0
#define NOISE_SEED 10

struct source {
    const char *name;
    const char *file; /* in the data folder; NULL: the jfk clip */
    int raw;
    const char *said; /* NULL: the package does not tell */
};

static const struct source sources[] = {
    {"jfk", NULL, 0,
     "and so my fellow americans ask not what your country can do for you ask what you can do for your country"},
    {"austen-0870", "librivox/sense_and_sensibility_01_austen_64kb-0870.wav", 0,
     "and mister john dashwood had then leisure to consider how much there might be prudently in his power to do for "
     "them"},
    {"austen-0880", "librivox/sense_and_sensibility_01_austen_64kb-0880.wav", 0,
     "he was not an ill disposed young man"},
    {"austen-0890", "librivox/sense_and_sensibility_01_austen_64kb-0890.wav", 0,
     "unless to be rather cold hearted and rather selfish is to be ill disposed"},
    {"austen-0920", "librivox/sense_and_sensibility_01_austen_64kb-0920.wav", 0,
     "had he married a more a amiable woman he might have been made still more respectable than he was"},
    {"austen-0930", "librivox/sense_and_sensibility_01_austen_64kb-0930.wav", 0,
     "he might even have been made amiable himself"},
    {"cards-001", "cards/001.wav", 0, "ten of clubs"},
    {"cards-002", "cards/002.wav", 0, "four queen of clubs"},
    {"cards-003", "cards/003.wav", 0, "seven of clubs"},
    {"cards-004", "cards/004.wav", 0, "five five"},
    {"cards-005", "cards/005.wav", 0, "eight of spades four of clubs seven of hearts"},
    {"goforward", "goforward.raw", 1, "go forward ten meters"},
    {"numbers", "numbers.raw", 1, NULL},
    {"something", "something.raw", 1, NULL},
    {"digits", "tidigits/dhd.2934z.raw", 1, "two nine three four zero"},
};
#define SOURCES (sizeof sources / sizeof sources[0])

struct sound {
    int16_t *samples;
    size_t n;
};

static int16_t to_16_bits(double x)
{
    return (int16_t)lrint(x < -32768 ? -32768 : x > 32767 ? 32767 : x);
}

/* Appends what audio gives. */
static int append(struct sound *sound, struct tw_audio *audio, struct tw_error *err)
{
    float block[4096];
    int64_t n;
    while ((n = tw_audio_read(audio, block, 4096, err)) > 0) {
        int16_t *more = realloc(sound->samples, (sound->n + (size_t)n) * sizeof *more);
        if (more == NULL)
            return tw_fail(err, TW_E_MEMORY, "no memory for a clip");
        sound->samples = more;
        for (int64_t i = 0; i < n; i++)
            sound->samples[sound->n++] = to_16_bits((double)block[i] * 32768);
    }
    return (int)n;
}

static int append_silence(struct sound *sound, size_t n, struct tw_error *err)
{
    int16_t *more = realloc(sound->samples, (sound->n + n) * sizeof *more);
    if (more == NULL)
        return tw_fail(err, TW_E_MEMORY, "no memory for silence");
    sound->samples = more;
    memset(sound->samples + sound->n, 0, n * sizeof *more);
    sound->n += n;
    return TW_OK;
}

static int append_source(struct sound *sound, const struct source *source, const char *jfk, const char *data,
                         struct tw_error *err)
{
    char path[PATH_ROOM];
    struct tw_audio_options options = {.raw = source->raw};
    struct tw_audio *audio;
    if (source->file == NULL)
        snprintf(path, sizeof path, "%s", jfk);
    else
        snprintf(path, sizeof path, "%s/%s", data, source->file);
    int code = tw_audio_open(path, &options, &audio, err);
    if (code != TW_OK)
        return code;
    code = append(sound, audio, err);
    tw_audio_close(audio);
    return code;
}

/* Everything whose words are known, over and over until it is long enough; said gets the words. */
static int concatenate(struct sound *sound, FILE *said, const char *jfk, const char *data, struct tw_error *err)
{
    for (size_t i = 0; sound->n < (size_t)LONG_SECONDS * TW_SAMPLE_RATE; i++) {
        const struct source *source = &sources[i % SOURCES];
        if (source->said == NULL)
            continue;
        int code = append_source(sound, source, jfk, data, err);
        if (code == TW_OK)
            code = append_silence(sound, PAUSE, err);
        if (code != TW_OK)
            return code;
        fprintf(said, "%s\n", source->said);
    }
    return TW_OK;
}

/* A normal deviate that is the same on every machine: a sum of twelve uniform ones, which needs no library function. */
static double deviate(struct tw_random *random)
{
    double sum = -6;
    for (int i = 0; i < 12; i++)
        sum += tw_random_unit(random);
    return sum;
}

void replay_add_noise(int16_t *samples, size_t n, double db, uint64_t seed)
{
    struct tw_random random = {seed};
    double power = 0;
    for (size_t i = 0; i < n; i++)
        power += (double)samples[i] * samples[i];
    double amplitude = n == 0 ? 0 : sqrt(power / (double)n * pow(10, -db / 10));
    for (size_t i = 0; i < n; i++)
        samples[i] = to_16_bits(samples[i] + amplitude * deviate(&random));
}

static int write_wav(const char *path, const struct sound *sound, struct tw_error *err)
{
    SF_INFO info = {.samplerate = TW_SAMPLE_RATE, .channels = 1, .format = SF_FORMAT_WAV | SF_FORMAT_PCM_16};
    SNDFILE *file = sf_open(path, SFM_WRITE, &info);
    if (file == NULL)
        return tw_fail(err, TW_E_IO, "cannot write '%s': %s", path, sf_strerror(NULL));
    sf_count_t n = sf_write_short(file, sound->samples, (sf_count_t)sound->n);
    if (sf_close(file) != 0 || n != (sf_count_t)sound->n)
        return tw_fail(err, TW_E_IO, "cannot write '%s'; is the disk full?", path);
    return TW_OK;
}

static FILE *open_said(const char *dir, const char *name, struct tw_error *err)
{
    char path[PATH_ROOM];
    snprintf(path, sizeof path, "%s/%s.txt", dir, name);
    FILE *file = fopen(path, "w");
    if (file == NULL)
        tw_fail(err, TW_E_IO, "cannot write '%s'", path);
    return file;
}

static int write_said(const char *dir, const char *name, const char *said, struct tw_error *err)
{
    if (said == NULL)
        return TW_OK;
    FILE *file = open_said(dir, name, err);
    if (file == NULL)
        return TW_E_IO;
    fprintf(file, "%s\n", said);
    return fclose(file) == 0 ? TW_OK : tw_fail(err, TW_E_IO, "cannot write the words of '%s' to '%s'", name, dir);
}

static int write_clip(const char *dir, const char *name, const struct sound *sound, FILE *list, struct tw_error *err)
{
    char path[PATH_ROOM];
    int length = snprintf(path, sizeof path, "%s/%s.wav", dir, name);
    if (length < 0 || (size_t)length >= sizeof path)
        return tw_fail(err, TW_E_LIMIT, "the folder's name is too long");
    int code = write_wav(path, sound, err);
    if (code == TW_OK)
        fprintf(list, "%s\n", path);
    return code;
}

static int make_source(const struct source *source, const char *jfk, const char *data, const char *dir, FILE *list,
                       struct tw_error *err)
{
    struct sound sound = {0};
    int code = append_source(&sound, source, jfk, data, err);
    if (code == TW_OK)
        code = write_clip(dir, source->name, &sound, list, err);
    if (code == TW_OK)
        code = write_said(dir, source->name, source->said, err);
    free(sound.samples);
    return code;
}

static int make_concatenation(const char *jfk, const char *data, const char *dir, FILE *list, struct tw_error *err)
{
    struct sound sound = {0};
    FILE *said = open_said(dir, "three-minutes", err);
    if (said == NULL)
        return TW_E_IO;
    int code = concatenate(&sound, said, jfk, data, err);
    if (fclose(said) != 0 && code == TW_OK)
        code = tw_fail(err, TW_E_IO, "cannot write the words of the concatenation to '%s'", dir);
    if (code == TW_OK)
        code = write_clip(dir, "three-minutes", &sound, list, err);
    free(sound.samples);
    return code;
}

static int make_noise(const char *jfk, const char *data, const char *dir, FILE *list, struct tw_error *err)
{
    struct sound sound = {0};
    int code = append_source(&sound, &sources[0], jfk, data, err);
    if (code == TW_OK) {
        replay_add_noise(sound.samples, sound.n, NOISE_DB, NOISE_SEED);
        code = write_clip(dir, "jfk-noise", &sound, list, err);
    }
    if (code == TW_OK)
        code = write_said(dir, "jfk-noise", sources[0].said, err);
    free(sound.samples);
    return code;
}

static int make_silence(const char *dir, FILE *list, struct tw_error *err)
{
    struct sound sound = {0};
    int code = append_silence(&sound, (size_t)SILENCE_SECONDS * TW_SAMPLE_RATE, err);
    if (code == TW_OK)
        code = write_clip(dir, "silence", &sound, list, err);
    free(sound.samples);
    return code;
}

int replay_make_clips(const char *jfk, const char *data, const char *dir, FILE *list, struct tw_error *err)
{
    int code = TW_OK;
    for (size_t i = 0; i < SOURCES && code == TW_OK; i++)
        code = make_source(&sources[i], jfk, data, dir, list, err);
    if (code == TW_OK)
        code = make_concatenation(jfk, data, dir, list, err);
    if (code == TW_OK)
        code = make_noise(jfk, data, dir, list, err);
    if (code == TW_OK)
        code = make_silence(dir, list, err);
    return code;
}
