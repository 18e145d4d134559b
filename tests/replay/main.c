/* replay: compares our transcripts with whisper.cpp's. See README.md. */
#include "array.h"
#include "clips.h"
#include "compare.h"

#include <stdlib.h>
#include <string.h>

#define EXIT_DIFFERENT 1
#define EXIT_BROKEN 2

static int usage(void)
{
    fputs("usage: replay make-clips JFK.wav POCKETSPHINX-TEST-DATA DIR\n"
          "       replay compare MODEL REFERENCES THREADS CLIP...\n"
          "       replay beam MODEL CLIP...\n"
          "       replay array MODEL DEVICE CLIP...\n",
          stderr);
    return EXIT_BROKEN;
}

static int finish(int code, int passed, const struct tw_error *err)
{
    if (code == TW_OK && fflush(stdout) == 0)
        return passed ? 0 : EXIT_DIFFERENT;
    fflush(stdout);
    fprintf(stderr, "replay: %s\n", code == TW_OK ? "the results could not be written" : err->text);
    return EXIT_BROKEN;
}

static int make_clips(char **argv)
{
    struct tw_error err = {0};
    return finish(replay_make_clips(argv[0], argv[1], argv[2], stdout, &err), 1, &err);
}

static int compare(int argc, char **argv)
{
    struct tw_error err = {0};
    int passed = 0;
    struct replay_request request = {.model = argv[0],
                                     .references = argv[1],
                                     .threads = (unsigned)strtoul(argv[2], NULL, 10),
                                     .clips = argv + 3,
                                     .n_clips = (size_t)(argc - 3)};
    int code = replay_compare(&request, &passed, &err);
    return finish(code, passed, &err);
}

static int beam(int argc, char **argv)
{
    struct tw_error err = {0};
    int passed = 0;
    struct replay_request request = {.model = argv[0], .clips = argv + 1, .n_clips = (size_t)(argc - 1)};
    int code = replay_beam(&request, &passed, &err);
    return finish(code, passed, &err);
}

static int array(int argc, char **argv)
{
    struct tw_error err = {0};
    int passed = 0;
    struct replay_request request = {.model = argv[0], .clips = argv + 2, .n_clips = (size_t)(argc - 2)};
    int code = replay_array(&request, argv[1], &passed, &err);
    return finish(code, passed, &err);
}

int main(int argc, char **argv)
{
    if (argc == 5 && strcmp(argv[1], "make-clips") == 0)
        return make_clips(argv + 2);
    if (argc >= 6 && strcmp(argv[1], "compare") == 0)
        return compare(argc - 2, argv + 2);
    if (argc >= 4 && strcmp(argv[1], "beam") == 0)
        return beam(argc - 2, argv + 2);
    if (argc >= 5 && strcmp(argv[1], "array") == 0)
        return array(argc - 2, argv + 2);
    return usage();
}
