/* Words of 32 bits as text: hexadecimal, with or without 0x, between blanks or on lines of their own. */
#ifndef TW_NPU1_HEX_WORDS_H
#define TW_NPU1_HEX_WORDS_H

#include "base/view.h"

/* Whether the beginning looks like such a text, of at least one word. */
int tw_hex_words_recognise(const struct tw_view *view);

/*
 * The words as bytes, least significant first; *bytes is to be freed with free(). '#' and "//" begin a comment. Fails
 * with TW_E_FORMAT (saying in which line), TW_E_MEMORY.
 */
int tw_hex_words_read(const struct tw_view *view, unsigned char **bytes, size_t *size, struct tw_error *err);

#endif
