/*
 * Models by name: a table of the published ones that this version reads, a cache folder, and the download into it.
 *
 * The cache is $TILEWRIGHT_CACHE, else $XDG_CACHE_HOME/tilewright, else $HOME/.cache/tilewright; models lie in its folder
 * models as ggml-NAME.bin.
 */
#ifndef TW_WHISPER_MODEL_STORE_H
#define TW_WHISPER_MODEL_STORE_H

#include "base/error.h"

#include <stddef.h>
#include <stdint.h>

struct tw_published_model {
    const char *name;   /* "base", "tiny.en", "large-v3-turbo-q5_0" */
    const char *sha256; /* 64 lower-case hex digits, of the hub's file */
    uint64_t bytes;     /* of the hub's file */
};

/* The table; *count entries, in order of size. */
const struct tw_published_model *tw_published_models(size_t *count);

/* dst gets the cache folder's models path. Fails with TW_E_NOT_FOUND when no home is known, TW_E_LIMIT when too long. */
int tw_model_cache_dir(char *dst, size_t size, struct tw_error *err);

/*
 * path gets where the cache has, or would have, the model `name`. Returns 1 when it is there, 0 when not or when its size
 * is not that of the published file; errors as above.
 */
int tw_model_cached(const char *name, char *path, size_t size, struct tw_error *err);

/*
 * What the user named, as a path: an existing file or folder as it is, else the cached model of that name (also one that
 * is not published: a file ggml-NAME.bin that somebody put there). A published name that is not in the cache fails with
 * TW_E_NOT_FOUND and says `tilewright model get NAME`.
 */
int tw_model_resolve(const char *name, char *path, size_t size, struct tw_error *err);

/*
 * Downloads a published model into the cache, checks its size and SHA-256 and moves it into place; nothing half-written
 * stays, whatever happens. progress (may be NULL) gets bytes done and total, at least once a second, and stops the
 * download by returning nonzero (TW_E_CANCELLED). An already cached model is left as it is. Fails with TW_E_NETWORK when
 * the hub cannot be reached, TW_E_NOT_FOUND for an unknown name or one that the hub no longer has, TW_E_FORMAT when what
 * came is not the published file, TW_E_IO for the disk. The variable TILEWRIGHT_HUB replaces the hub's address: a mirror
 * (http and file are accepted too, since the digest decides).
 */
int tw_model_get(const char *name, int (*progress)(void *arg, double done, double total), void *arg,
                 struct tw_error *err);

#endif
