#include "wer.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PATH_ROOM 4096

/* A text as normalised words, each ended by a zero. */
struct words {
    char *bytes;
    size_t size;
    char **at; /* count of them */
    size_t count;
};

static const char *const small_numbers[] = {
    "zero",     "one",     "two",     "three",     "four",     "five",     "six",
    "seven",    "eight",   "nine",    "ten",       "eleven",   "twelve",   "thirteen",
    "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen", "twenty",
};

/* No number's words are longer than this per byte of digits, with the zero. */
#define GROWTH 10

static void put_word(struct words *w, const char *word, size_t size)
{
    w->at[w->count++] = w->bytes + w->size;
    memmove(w->bytes + w->size, word, size); /* letters already lie there */
    w->size += size;
    w->bytes[w->size++] = 0;
}

static void put_number(struct words *w, const char *digits, size_t size)
{
    size_t value = 0;
    for (size_t i = 0; i < size && value <= 20; i++)
        value = value * 10 + (size_t)(digits[i] - '0');
    if (value <= 20 && (digits[0] != '0' || size == 1)) {
        put_word(w, small_numbers[value], strlen(small_numbers[value]));
        return;
    }
    for (size_t i = 0; i < size; i++) {
        const char *name = small_numbers[digits[i] - '0'];
        put_word(w, name, strlen(name));
    }
}

/* Letters, apostrophes left out; and every byte of other alphabets. */
static int is_letter(unsigned char c)
{
    return isalpha(c) || c >= 0x80 || c == '\'';
}

static size_t put_letters(struct words *w, const char *text)
{
    size_t n = 0;
    char *start = w->bytes + w->size, *end = start;
    for (; is_letter((unsigned char)text[n]); n++)
        if (text[n] != '\'')
            *end++ = (char)tolower((unsigned char)text[n]);
    if (end > start)
        put_word(w, start, (size_t)(end - start));
    return n;
}

static size_t bracket_end(const char *text)
{
    char closing = text[0] == '[' ? ']' : ')';
    const char *end = strchr(text, closing);
    return end == NULL ? 1 : (size_t)(end - text) + 1;
}

static int split(const char *text, struct words *w, struct tw_error *err)
{
    size_t size = strlen(text);
    w->bytes = malloc(GROWTH * (size + 1));
    w->at = malloc((size + 1) * sizeof *w->at);
    if (w->bytes == NULL || w->at == NULL)
        return tw_fail(err, TW_E_MEMORY, "no memory for the words of a text");
    for (size_t i = 0; i < size;) {
        size_t digits = strspn(text + i, "0123456789");
        if (digits > 0) {
            put_number(w, text + i, digits);
            i += digits;
        } else if (is_letter((unsigned char)text[i])) {
            i += put_letters(w, text + i);
        } else {
            i += text[i] == '[' || text[i] == '(' ? bracket_end(text + i) : 1;
        }
    }
    return TW_OK;
}

static void release(struct words *w)
{
    free(w->bytes);
    free(w->at);
}

/* row[j]: the errors between the words of a done so far and the first j words of b. */
static void next_row(size_t *row, const char *word, const struct words *b)
{
    size_t corner = row[0]++;
    for (size_t j = 1; j <= b->count; j++) {
        size_t best = corner + (strcmp(word, b->at[j - 1]) != 0);
        corner = row[j];
        if (row[j] + 1 < best)
            best = row[j] + 1;
        if (row[j - 1] + 1 < best)
            best = row[j - 1] + 1;
        row[j] = best;
    }
}

static int distance(const struct words *a, const struct words *b, size_t *errors, struct tw_error *err)
{
    size_t *row = malloc((b->count + 1) * sizeof *row);
    if (row == NULL)
        return tw_fail(err, TW_E_MEMORY, "no memory to compare two texts");
    for (size_t j = 0; j <= b->count; j++)
        row[j] = j;
    for (size_t i = 0; i < a->count; i++)
        next_row(row, a->at[i], b);
    *errors = row[b->count];
    free(row);
    return TW_OK;
}

int replay_word_errors(const char *said, const char *heard, struct replay_wer *wer, struct tw_error *err)
{
    struct words a = {0}, b = {0};
    int code = split(said, &a, err);
    if (code == TW_OK)
        code = split(heard, &b, err);
    if (code == TW_OK)
        code = distance(&a, &b, &wer->errors, err);
    wer->words = a.count;
    release(&a);
    release(&b);
    return code;
}

static FILE *open_said(const char *clip)
{
    char path[PATH_ROOM];
    const char *dot = strrchr(clip, '.');
    size_t n = dot == NULL ? strlen(clip) : (size_t)(dot - clip);
    if (n + sizeof ".txt" > sizeof path)
        return NULL;
    memcpy(path, clip, n);
    memcpy(path + n, ".txt", sizeof ".txt");
    return fopen(path, "r");
}

char *replay_said(const char *clip)
{
    FILE *file = open_said(clip);
    if (file == NULL)
        return NULL;
    char *text = NULL;
    size_t room = 0;
    if (getdelim(&text, &room, 0, file) < 0) {
        free(text);
        text = NULL;
    }
    fclose(file);
    return text;
}

void replay_print_wer(const struct replay_wer *wer)
{
    printf("%5.1f %% ", wer->words > 0 ? 100.0 * (double)wer->errors / (double)wer->words : 0);
}

void replay_add_wer(struct replay_wer *to, const struct replay_wer *wer)
{
    to->errors += wer->errors;
    to->words += wer->words;
}
