/* The vocabulary beside a CTranslate2 model: vocabulary.txt (a token per line) or vocabulary.json (a list of strings).
 */
#ifndef TW_WHISPER_VOCAB_FILE_H
#define TW_WHISPER_VOCAB_FILE_H

#include "whisper/vocab.h"

/*
 * Fills v->text (v laid out, text allocated) from a whole file in memory. Tokens are in GPT-2's byte alphabet; their
 * bytes go to *bytes, which the caller frees after the vocabulary's end (also after a failure). The file must have an
 * entry for every text token and <|endoftext|> behind them.
 */
int tw_vocab_read(struct tw_vocab *v, const void *data, size_t size, int json, const char *file, char **bytes,
                  struct tw_error *err);

#endif
