/* Reader of faster-whisper (CTranslate2) models, from memory. */
#ifndef TW_WHISPER_MODEL_CT2_H
#define TW_WHISPER_MODEL_CT2_H

#include "whisper/model.h"

struct tw_ct2_files {
    const char *name;  /* of the folder, for messages */
    const void *model; /* model.bin; must outlive the model */
    size_t model_size;
    const void *vocabulary; /* may go after the call */
    size_t vocabulary_size;
    int vocabulary_is_json;
};

/* As tw_model_open on a folder with these files. */
int tw_model_parse_ct2(const struct tw_ct2_files *files, struct tw_whisper_model **model, struct tw_error *err);

#endif
