/* One file over the network: checked, and there as a whole or not at all. */
#ifndef TW_WHISPER_DOWNLOAD_H
#define TW_WHISPER_DOWNLOAD_H

#include "base/error.h"

#include <stdint.h>

struct tw_download {
    const char *url;    /* https, or http or file where the user set the place himself (plain) */
    int plain;          /* accept http and file too */
    const char *sha256; /* 64 lower-case hex digits */
    uint64_t bytes;     /* exactly this many */
    /* As tw_model_get's; may be NULL. */
    int (*progress)(void *arg, double done, double total);
    void *arg;
};

/*
 * Fetches d into the file at path, whose folder exists. Fails with TW_E_NETWORK (nobody there, no answer, transfer
 * broken), TW_E_NOT_FOUND (the server has no such file), TW_E_FORMAT (size or digest differ), TW_E_IO (disk),
 * TW_E_CANCELLED; then nothing is left of it.
 */
int tw_download_file(const struct tw_download *d, const char *path, struct tw_error *err);

#endif
