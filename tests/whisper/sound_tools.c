#include "whisper/sound_tools.h"

#include <dirent.h>
#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

int new_folder(void **state)
{
    char path[] = "/tmp/tilewright-test-XXXXXX";
    if (mkdtemp(path) == NULL)
        return -1;
    *state = strdup(path);
    return *state == NULL;
}

int left_folder(void **state)
{
    DIR *dir = opendir(*state);
    if (dir == NULL)
        return -1;
    struct dirent *entry;
    while ((entry = readdir(dir)) != NULL)
        if (entry->d_name[0] != '.')
            unlinkat(dirfd(dir), entry->d_name, 0);
    closedir(dir);
    int rc = rmdir(*state);
    free(*state);
    return rc;
}

const char *path_in(const char *folder, const char *name)
{
    static char paths[8][256];
    static int next;
    char *path = paths[next++ % 8];
    snprintf(path, sizeof paths[0], "%s/%s", folder, name);
    return path;
}

void write_file(const char *path, const void *data, size_t size)
{
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(data, 1, size, f), size);
    assert_int_equal(fclose(f), 0);
}

void append(struct bytes *bytes, const void *data, size_t size)
{
    if (size > bytes->room - bytes->size) {
        bytes->room = 2 * bytes->room + size + 64;
        bytes->data = realloc(bytes->data, bytes->room);
        assert_non_null(bytes->data);
    }
    memcpy(bytes->data + bytes->size, data, size);
    bytes->size += size;
}

void append_number(struct bytes *bytes, uint64_t value, int size)
{
    unsigned char digits[8];
    for (int i = 0; i < size; i++)
        digits[i] = (unsigned char)(value >> 8 * i);
    append(bytes, digits, (size_t)size);
}

struct bytes whole_file(const char *path)
{
    struct bytes bytes = {0};
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    char block[4096];
    size_t n;
    while ((n = fread(block, 1, sizeof block, f)) > 0)
        append(&bytes, block, n);
    fclose(f);
    return bytes;
}

int16_t pattern_sample(size_t index)
{
    return (int16_t)((int)(index * 7919u % 60001u) - 30000);
}

struct bytes wav_file(int rate, int channels, size_t count, uint32_t riff_size, uint32_t data_size)
{
    struct bytes b = {0};
    append(&b, "RIFF", 4);
    append_number(&b, riff_size, 4);
    append(&b, "WAVEfmt ", 8);
    append_number(&b, 16, 4);
    append_number(&b, 1, 2);
    append_number(&b, (uint64_t)channels, 2);
    append_number(&b, (uint64_t)rate, 4);
    append_number(&b, (uint64_t)rate * (uint64_t)channels * 2, 4);
    append_number(&b, (uint64_t)channels * 2, 2);
    append_number(&b, 16, 2);
    append(&b, "data", 4);
    append_number(&b, data_size, 4);
    for (size_t i = 0; i < count; i++)
        for (int c = 0; c < channels; c++)
            append_number(&b, (uint16_t)pattern_sample(i), 2);
    return b;
}

float *read_all(struct tw_audio *audio, size_t *count)
{
    struct tw_error err = {0};
    float *samples = NULL;
    size_t room = 0, filled = 0;
    for (;;) {
        if (filled == room) {
            room = room > 0 ? 2 * room : 65536;
            samples = realloc(samples, room * sizeof *samples);
            assert_non_null(samples);
        }
        int64_t n = tw_audio_read(audio, samples + filled, (int64_t)(room - filled), &err);
        if (n < 0)
            fail_msg("reading failed: %s", err.text);
        if (n == 0)
            break;
        filled += (size_t)n;
    }
    *count = filled;
    return samples;
}

void write_to(int fd, const void *data, size_t size)
{
    const char *from = data;
    while (size > 0) {
        ssize_t n = write(fd, from, size);
        if (n <= 0)
            _exit(0);
        from += n;
        size -= (size_t)n;
    }
}

struct feed feed_stdin(void (*body)(int fd, const void *arg), const void *arg)
{
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    struct feed feed = {.saved_stdin = dup(STDIN_FILENO)};
    feed.process = fork();
    assert_true(feed.process >= 0);
    if (feed.process == 0) {
        signal(SIGPIPE, SIG_DFL);
        close(ends[0]);
        body(ends[1], arg);
        _exit(0);
    }
    close(ends[1]);
    assert_int_equal(dup2(ends[0], STDIN_FILENO), STDIN_FILENO);
    close(ends[0]);
    return feed;
}

void stop_feeding(struct feed feed)
{
    if (feed.saved_stdin >= 0) {
        dup2(feed.saved_stdin, STDIN_FILENO);
        close(feed.saved_stdin);
    } else {
        close(STDIN_FILENO);
    }
    waitpid(feed.process, NULL, 0);
}

#if defined(__has_feature)
#define HAS(feature) __has_feature(feature)
#else
#define HAS(feature) 0
#endif

long peak_memory(void)
{
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    return -1;
#else
    if (HAS(address_sanitizer) || HAS(thread_sanitizer) || HAS(memory_sanitizer))
        return -1;
    FILE *f = fopen("/proc/self/status", "r");
    char line[256];
    long kib = -1;
    while (f != NULL && fgets(line, sizeof line, f) != NULL)
        if (sscanf(line, "VmHWM: %ld kB", &kib) == 1)
            break;
    if (f != NULL)
        fclose(f);
    return kib;
#endif
}

double snr(const float *got, const float *wanted, size_t count)
{
    double signal = 0, noise = 1e-30;
    for (size_t i = 0; i < count; i++) {
        signal += (double)wanted[i] * wanted[i];
        noise += ((double)got[i] - wanted[i]) * ((double)got[i] - wanted[i]);
    }
    return 10 * log10(signal / noise);
}
