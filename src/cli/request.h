/* What the user asks of `tilewright transcribe`, read from its command line and checked. */
#ifndef TW_CLI_REQUEST_H
#define TW_CLI_REQUEST_H

#include "whisper/audio.h"
#include "whisper/format.h"
#include "whisper/transcribe.h"

struct tw_request {
    char *const *inputs; /* paths, or "-": standard input, at most once */
    size_t n_inputs;
    const char *model;
    const char *device; /* "auto", "npu", "emu" or "cpu" */
    const char *folder; /* NULL: write to stdout */
    unsigned formats;   /* bits 1 << f, at least one; exactly one without a folder */
    int32_t threads;    /* 0: all processors */
    int verify;         /* prove all products of the array */
    int quiet;
    int help; /* nothing else was checked */
    struct tw_audio_options audio;
    struct tw_transcribe_options engine; /* callbacks are left to the command */
};

/* The strings point into argv, whose order changes. Fails with TW_E_ARGUMENT and a sentence for the user. */
int tw_request_read(int argc, char **argv, struct tw_request *request, struct tw_error *err);

/* The help text, ready for stdout. */
const char *tw_request_help(void);

#endif
