/* Tokens of a Whisper model: byte strings of the text tokens and the numbers of the special ones. */
#ifndef TW_WHISPER_VOCAB_H
#define TW_WHISPER_VOCAB_H

#include "base/error.h"

#include <stddef.h>
#include <stdint.h>

#define TW_LANGUAGES_MAX 100

struct tw_token_text {
    const char *bytes; /* not terminated; may be a part of a UTF-8 sequence */
    uint32_t size;
};

struct tw_vocab {
    int32_t size;      /* all tokens, special ones included (n_vocab) */
    int32_t text_size; /* tokens below this number are text: end_of_text == text_size, 50256 (.en) or 50257 */
    struct tw_token_text *text; /* text_size of them */
    int multilingual;
    int32_t languages; /* 99 or 100; 0 for .en models */
    /* Special tokens. */
    int32_t end_of_text, start, language_first, translate, transcribe, start_lm, previous, no_speech, no_timestamps,
        timestamp_first; /* <|0.00|>; 1501 of them, 0.02 s apart */
    /* Lookup from bytes to token for tw_vocab_encode; private. */
    uint32_t *hash;
    uint32_t hash_mask;
};

/* Fills the special numbers and language count from size (51864: .en; 51865: 99 languages; 51866: 100 languages). */
int tw_vocab_layout(struct tw_vocab *v, int32_t size, struct tw_error *err);
/* Builds the lookup; text and text_size are set. Release with tw_vocab_release (frees hash only). */
int tw_vocab_index(struct tw_vocab *v, struct tw_error *err);
void tw_vocab_release(struct tw_vocab *v);

/*
 * Text to tokens as whisper.cpp does for its initial prompt: split by GPT-2's pattern, then the longest known token from
 * each position. Returns the number of tokens (which may exceed max; only max are stored), or a negative code.
 */
int64_t tw_vocab_encode(const struct tw_vocab *v, const char *text, size_t size, int32_t *tokens, size_t max,
                        struct tw_error *err);

/* Code ("en") and English name ("english") of language number i in [0, 100), in Whisper's order; NULL outside. */
const char *tw_language_code(int32_t i);
const char *tw_language_name(int32_t i);
/* Number of a language given by code or name (any case), or -1. */
int32_t tw_language_find(const char *code_or_name);

#endif
