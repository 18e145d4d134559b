/* make_sound_seeds FOLDER: small sounds of many forms for fuzz_audio, each behind the byte that it starts with. */
#include <math.h>
#include <sndfile.h>
#include <stdio.h>
#include <stdlib.h>

#define FRAMES 400

static const int formats[] = {
    SF_FORMAT_WAV | SF_FORMAT_PCM_16,    SF_FORMAT_WAV | SF_FORMAT_FLOAT,           SF_FORMAT_WAV | SF_FORMAT_ULAW,
    SF_FORMAT_WAV | SF_FORMAT_IMA_ADPCM, SF_FORMAT_WAV | SF_FORMAT_MS_ADPCM,        SF_FORMAT_WAV | SF_FORMAT_GSM610,
    SF_FORMAT_WAVEX | SF_FORMAT_PCM_24,  SF_FORMAT_RF64 | SF_FORMAT_PCM_16,         SF_FORMAT_W64 | SF_FORMAT_PCM_16,
    SF_FORMAT_AIFF | SF_FORMAT_PCM_16,   SF_FORMAT_AU | SF_FORMAT_PCM_16,           SF_FORMAT_CAF | SF_FORMAT_PCM_16,
    SF_FORMAT_CAF | SF_FORMAT_ALAC_16,   SF_FORMAT_FLAC | SF_FORMAT_PCM_16,         SF_FORMAT_OGG | SF_FORMAT_VORBIS,
    SF_FORMAT_OGG | SF_FORMAT_OPUS,      SF_FORMAT_MPEG | SF_FORMAT_MPEG_LAYER_III, SF_FORMAT_VOC | SF_FORMAT_PCM_16,
    SF_FORMAT_AVR | SF_FORMAT_PCM_16,
};

/* The file at path, preceded by the byte `kind`; size_from .. size_from+3 set to `fill` when size_from > 0. */
static int prefix(const char *path, const char *to, int kind, long size_from, int fill)
{
    FILE *in = fopen(path, "rb"), *out = fopen(to, "wb");
    if (in == NULL || out == NULL)
        return -1;
    fputc(kind, out);
    int c;
    for (long at = 0; (c = fgetc(in)) != EOF; at++)
        fputc(size_from > 0 && at >= size_from && at < size_from + 4 ? fill : c, out);
    fclose(in);
    return fclose(out);
}

/* Formats that this libsndfile does not write are left out. */
static int write_sound(const char *path, int format, int rate, int channels)
{
    SF_INFO info = {.samplerate = rate, .channels = channels, .format = format};
    float samples[FRAMES * 2];
    for (int i = 0; i < FRAMES * channels; i++)
        samples[i] = 0.4f * sinf(0.11f * (float)(i / channels));
    SNDFILE *f = sf_open(path, SFM_WRITE, &info);
    if (f == NULL)
        return 0;
    sf_writef_float(f, samples, FRAMES);
    sf_close(f);
    return 1;
}

int main(int argc, char **argv)
{
    if (argc != 2) {
        fprintf(stderr, "usage: make_sound_seeds FOLDER\n");
        return 2;
    }
    char sound[4096], seed[4096];
    snprintf(sound, sizeof sound, "%s/.sound", argv[1]);
    int failed = 0;
    for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++) {
        snprintf(seed, sizeof seed, "%s/sound-%02zu", argv[1], i);
        if (write_sound(sound, formats[i], i % 3 == 0 ? 44100 : 16000, 1 + (int)(i % 2)))
            failed |= prefix(sound, seed, 0, 0, 0);
    }
    write_sound(sound, formats[0], 16000, 1);
    static const struct {
        int kind, fill;
    } variants[] = {{0, 0}, {0, 0xff}, {1, 0}, {2, 0}};
    for (size_t i = 0; i < sizeof variants / sizeof variants[0]; i++) {
        snprintf(seed, sizeof seed, "%s/variant-%zu", argv[1], i);
        failed |= prefix(sound, seed, variants[i].kind, 40, variants[i].fill);
    }
    remove(sound);
    return failed != 0;
}
