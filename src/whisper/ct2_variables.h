/*
 * The container under a CTranslate2 model.bin: named variables with a shape and a number format, and names that stand
 * for other variables.
 */
#ifndef TW_WHISPER_CT2_VARIABLES_H
#define TW_WHISPER_CT2_VARIABLES_H

#include "base/error.h"

#include <stddef.h>
#include <stdint.h>

#define TW_CT2_RANK_MAX 4

enum tw_ct2_type { TW_CT2_F32, TW_CT2_I8, TW_CT2_I16, TW_CT2_I32, TW_CT2_F16, TW_CT2_BF16, TW_CT2_TYPE_COUNT };

struct tw_ct2_variable {
    const char *name; /* terminated, in the file */
    int rank;
    uint32_t dims[TW_CT2_RANK_MAX]; /* slowest first */
    enum tw_ct2_type type;
    const unsigned char *data; /* in the file, any alignment */
    uint64_t count;            /* numbers */
    int used;                  /* for the caller; 0 at first */
};

struct tw_ct2_variables {
    struct tw_ct2_variable *list; /* by name */
    size_t count;
};

/*
 * Reads a model.bin of a Whisper model from memory, which must outlive the result. Checks the whole extent; other
 * versions and other models are refused. Release with tw_ct2_variables_release, also after a failure.
 */
int tw_ct2_variables_read(const void *data, size_t size, const char *file, struct tw_ct2_variables *v,
                          struct tw_error *err);
void tw_ct2_variables_release(struct tw_ct2_variables *v);

/* NULL when there is none. */
struct tw_ct2_variable *tw_ct2_find(const struct tw_ct2_variables *v, const char *name);

/* "float16" and so on. */
const char *tw_ct2_type_name(enum tw_ct2_type type);

#endif
