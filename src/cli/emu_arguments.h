/* The buffer arguments of an emulated kernel: what --arg says of each, and how they come from files and go to files. */
#ifndef TW_CLI_EMU_ARGUMENTS_H
#define TW_CLI_EMU_ARGUMENTS_H

#include "cli/options.h"
#include "emu/buffers.h"

enum { TW_EMU_ARGUMENTS_MAX = 64 };

struct tw_emu_argument {
    char *in;        /* NULL: begins as zeros; to be freed */
    const char *out; /* NULL: not written to a file */
    uint64_t size;   /* 0: no buffer */
    uint64_t address;
    unsigned char *bytes;
};

struct tw_emu_arguments {
    size_t n;
    struct tw_emu_argument list[TW_EMU_ARGUMENTS_MAX];
    uint64_t addresses[TW_EMU_ARGUMENTS_MAX]; /* 0: no buffer */
};

/*
 * Reads the texts "in:FILE", "out:BYTES:FILE", "inout:FILE:FILE" and "none"; fails with TW_E_ARGUMENT for another one.
 * *arguments is released with tw_emu_arguments_free in any case; names of outputs point into the texts.
 */
int tw_emu_arguments_read(const struct tw_option_list *texts, struct tw_emu_arguments *arguments, struct tw_error *err);
/*
 * Mistakes in all of them together: buffers without control code, as nothing else gives their addresses to the array,
 * and two outputs in one file. TW_E_ARGUMENT.
 */
int tw_emu_arguments_check(const struct tw_emu_arguments *arguments, size_t n_control, struct tw_error *err);
void tw_emu_arguments_free(struct tw_emu_arguments *arguments);

/* Makes the buffer of argument number index, a->size bytes of zeros: sets a->bytes and a->address. */
typedef int tw_emu_buffer_function(void *arg, size_t index, struct tw_emu_argument *a, struct tw_error *err);

/* Makes buffers with a function of the caller's, and fills those that begin as files. Fails as files and make do. */
int tw_emu_arguments_fill(struct tw_emu_arguments *arguments, tw_emu_buffer_function *make, void *arg,
                          struct tw_error *err);

/*
 * Makes the buffers, which are those of `buffers`, and fills those that begin as files. Fails as files and
 * tw_buffers_add do.
 */
int tw_emu_arguments_make(struct tw_emu_arguments *arguments, struct tw_buffers *buffers, struct tw_error *err);

/* Writes the buffers that go to files: either all files appear, or none where one cannot be written. */
int tw_emu_arguments_save(const struct tw_emu_arguments *arguments, struct tw_error *err);

#endif
