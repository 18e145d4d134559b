/*
 * Models by name: a table of the published ones, a cache folder, and the download into it.
 *
 * The cache is $TILEWRIGHT_CACHE, else $XDG_CACHE_HOME/tilewright, else $HOME/.cache/tilewright; models lie in its folder
 * models as ggml-NAME.bin.
 */
#ifndef TW_WHISPER_MODEL_STORE_H
#define TW_WHISPER_MODEL_STORE_H

#include "base/error.h"

#include <stddef.h>

struct tw_published_model {
    const char *name;   /* "base", "tiny.en", "large-v3-turbo-q5_0" */
    const char *sha256; /* 64 hex digits, of the hub's file; NULL when not known */
    const char *size;   /* for people: "142 MiB" */
};

/* The table; *count entries, in order of size. */
const struct tw_published_model *tw_published_models(size_t *count);

/* dst gets the cache folder's models path. Fails with TW_E_NOT_FOUND when no home is known, TW_E_LIMIT when too long. */
int tw_model_cache_dir(char *dst, size_t size, struct tw_error *err);

/*
 * What the user named, as a path: an existing file or folder as it is, else the cached model of that name. A known name
 * that is not in the cache fails with TW_E_NOT_FOUND and says `tilewright model get NAME`.
 */
int tw_model_resolve(const char *name, char *path, size_t size, struct tw_error *err);

/*
 * Downloads a published model into the cache, checks its SHA-256 and moves it into place; nothing half-written stays,
 * whatever happens. progress (may be NULL) gets bytes done and total (0: unknown), and stops the download by returning
 * nonzero (TW_E_CANCELLED). An already cached model is left as it is.
 */
int tw_model_get(const char *name, int (*progress)(void *arg, double done, double total), void *arg,
                 struct tw_error *err);

#endif
