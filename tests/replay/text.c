#include "text.h"

#include <stdlib.h>

void replay_put_token(FILE *to, const struct tw_vocab *vocab, int32_t token)
{
    if (token < vocab->text_size)
        fwrite(vocab->text[token].bytes, 1, vocab->text[token].size, to);
}

char *replay_end_text(FILE *to, char **text)
{
    if (fclose(to) == 0)
        return *text;
    free(*text);
    return NULL;
}

void replay_print_token(FILE *to, const struct tw_vocab *vocab, int32_t token)
{
    if (token >= vocab->timestamp_first)
        fprintf(to, "<%.2f s>", (token - vocab->timestamp_first) * 0.02);
    else if (token == vocab->end_of_text)
        fputs("<end of text>", to);
    else if (token >= vocab->text_size)
        fprintf(to, "<special %d>", (int)token);
    else {
        putc('\'', to);
        replay_put_token(to, vocab, token);
        putc('\'', to);
    }
}
