/* Tokens written as text. */
#ifndef REPLAY_TEXT_H
#define REPLAY_TEXT_H

#include "whisper/vocab.h"

#include <stdio.h>

/* The bytes of a text token; nothing for the others. */
void replay_put_token(FILE *to, const struct tw_vocab *vocab, int32_t token);
/* Closes a stream made by open_memstream over *text; returns the text, or NULL when there was no memory for it. */
char *replay_end_text(FILE *to, char **text);
/* A token for people: its text in quotes, or what it means. */
void replay_print_token(FILE *to, const struct tw_vocab *vocab, int32_t token);

#endif
