/*
 * Published programs for the array, compiled by others, which are not ours to distribute: they lie in the folder that
 * TILEWRIGHT_CORPUS names, each under OWNER+REPOSITORY/COMMIT/PATH (README.md lists them). Running one in the emulator.
 */
#ifndef TESTS_CORPUS_CORPUS_H
#define TESTS_CORPUS_CORPUS_H

#include "cli/emu_control.h"
#include "cli/emu_program.h"
#include "emu/buffers.h"
#include "emu/firmware.h"

#include <stddef.h>
#include <stdint.h>

#define CORPUS_PATH 4096
enum { CORPUS_ARGUMENTS_MAX = 8, CORPUS_SKIPPED = 77 /* exit code of a test program */ };

/* Whether TILEWRIGHT_CORPUS is set; says so if not, and the test program then ends with CORPUS_SKIPPED. */
int corpus_is_there(void);

/* A program on an array of its own, with its buffers. */
struct corpus {
    struct tw_emu_program program;
    struct tw_buffers *buffers;
    struct tw_firmware *firmware;
    int number; /* of its PDI */
    size_t n_arguments;
    uint64_t addresses[CORPUS_ARGUMENTS_MAX];
    void *arguments[CORPUS_ARGUMENTS_MAX];
    struct tw_command_report report; /* of the last command */
};

/* Path of a file; skips the test with a sentence when it is not there. */
void corpus_path(const char *file, char path[CORPUS_PATH]);

/* Opens a PDI or xclbin (path inside the corpus folder) and makes buffers of these sizes; a size of 0: none. */
void corpus_open(struct corpus *c, const char *file, const char *kernel, const uint64_t *sizes, size_t n);
void corpus_close(struct corpus *c);

/* Runs control code from a file of the corpus; the test fails with the emulator's sentence unless it succeeds. */
void corpus_run(struct corpus *c, const char *file);

/* The two halves of corpus_run; the caller closes the control code. */
void corpus_open_control(const struct corpus *c, const char *file, struct tw_emu_control *control);
void corpus_run_control(struct corpus *c, const char *name, const struct tw_emu_control *control);
/* Control code that was hexadecimal text or an ELF file, to be changed before it runs. */
unsigned char *corpus_words(const struct tw_emu_control *control);

#define CORPUS_OPEN(c, file, kernel, ...)                                                                              \
    corpus_open(c, file, kernel, (const uint64_t[]){__VA_ARGS__}, sizeof((const uint64_t[]){__VA_ARGS__}) / 8)

#endif
