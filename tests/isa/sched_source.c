#include "isa/sched_source.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINES = 20000 };

static int starts(const char *line, const char *word)
{
    line += strspn(line, " \t");
    return strncmp(line, word, strlen(word)) == 0;
}

/* Directives of the assembler around a section. */
static int is_frame(const char *line)
{
    return starts(line, ".sched") || starts(line, ".endsched") || starts(line, ".text") || starts(line, ".global");
}

static void add(struct sched_source *s, const char *line, unsigned number)
{
    if (s->n < LINES)
        s->lines[s->n++] = (struct tw_source_line){line, strlen(line), "source", number};
}

int sched_source_from_text(const char *text, struct sched_source *source)
{
    unsigned number = 0;
    size_t repeat_first = 0;
    long repeats = 0;

    source->n = 0;
    source->text = malloc(strlen(text) + 1);
    source->lines = malloc(LINES * sizeof *source->lines);
    if (source->text == NULL || source->lines == NULL) {
        sched_source_free(source);
        return -1;
    }
    strcpy(source->text, text);
    for (char *line = source->text, *end; line != NULL; line = end) {
        end = strchr(line, '\n');
        if (end != NULL)
            *end++ = '\0';
        number++;
        if (starts(line, ".rept")) {
            repeats = strtol(line + strspn(line, " \t") + 5, NULL, 10);
            repeat_first = source->n;
        } else if (starts(line, ".endr")) {
            size_t count = source->n - repeat_first;
            for (long k = 1; k < repeats; k++)
                for (size_t i = 0; i < count; i++)
                    add(source, source->lines[repeat_first + i].text, source->lines[repeat_first + i].line);
        } else if (!is_frame(line)) {
            add(source, line, number);
        }
    }
    return 0;
}

int sched_source_from_file(const char *path, struct sched_source *source)
{
    static char text[1 << 20];
    FILE *f = fopen(path, "rb");

    if (f == NULL)
        return -1;
    size_t n = fread(text, 1, sizeof text - 1, f);
    fclose(f);
    text[n] = '\0';
    return sched_source_from_text(text, source);
}

void sched_source_free(struct sched_source *source)
{
    free(source->text);
    free(source->lines);
    memset(source, 0, sizeof *source);
}
