/* The buffer arguments of an emulated kernel: what --arg says of each, and how they come from files and go to files. */
#ifndef TW_CLI_EMU_ARGUMENTS_H
#define TW_CLI_EMU_ARGUMENTS_H

#include "cli/options.h"
#include "emu/buffers.h"

enum { TW_EMU_ARGUMENTS_MAX = 64 };

struct tw_emu_argument {
    char *in; /* NULL: begins as zeros; to be freed */
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
 * Makes the buffers that the texts "in:FILE", "out:BYTES:FILE", "inout:FILE:FILE" and "none" ask for, and fills those
 * that begin as files. Fails with TW_E_ARGUMENT for another text, or as files and tw_buffers_add do. *arguments is
 * released with tw_emu_arguments_free in any case; the buffers are those of `buffers`.
 */
int tw_emu_arguments_make(const struct tw_option_list *texts, struct tw_buffers *buffers,
                          struct tw_emu_arguments *arguments, struct tw_error *err);
void tw_emu_arguments_free(struct tw_emu_arguments *arguments);

/* Writes the buffers that go to files; each file appears whole or not at all. */
int tw_emu_arguments_save(const struct tw_emu_arguments *arguments, struct tw_error *err);

#endif
