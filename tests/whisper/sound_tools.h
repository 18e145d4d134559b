/* What the tests of sound share: files in a folder of their own, WAV files byte by byte, programs at the end of a pipe.
 */
#ifndef SOUND_TOOLS_H
#define SOUND_TOOLS_H

#include "whisper/audio.h"

#include <stddef.h>
#include <stdint.h>

/* A new folder for this test; left_folder removes it with the files in it. Both are cmocka fixtures; *state is its
 * path. */
int new_folder(void **state);
int left_folder(void **state);

/* "folder/name" in memory that the next 8 calls leave alone. */
const char *path_in(const char *folder, const char *name);
void write_file(const char *path, const void *data, size_t size);

struct bytes {
    unsigned char *data;
    size_t size, room;
};
void append(struct bytes *bytes, const void *data, size_t size);
void append_number(struct bytes *bytes, uint64_t value, int size);
struct bytes whole_file(const char *path);

/*
 * A WAV file of 16-bit samples with any sizes in its header: `count` frames of pattern_sample().
 * riff_size, data_size: what the header says.
 */
struct bytes wav_file(int rate, int channels, size_t count, uint32_t riff_size, uint32_t data_size);
int16_t pattern_sample(size_t index);

/* All samples until the end, in a buffer that the caller frees. Checks that reading does not fail. */
float *read_all(struct tw_audio *audio, size_t *count);

/* Runs body(arg) in a new process with its output going to our standard input; stop_feeding() undoes that. */
struct feed {
    int saved_stdin;
    int process;
};
struct feed feed_stdin(void (*body)(int fd, const void *arg), const void *arg);
void stop_feeding(struct feed feed);
void write_to(int fd, const void *data, size_t size);

/* Peak resident memory of this process so far in KiB; -1 where it says nothing (sanitizers) or is not known. */
long peak_memory(void);

/* Signal to noise in dB: wanted against the difference of the two. */
double snr(const float *got, const float *wanted, size_t count);

#endif
