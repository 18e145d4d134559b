#include "isa/sched_source.h"

#include <stdlib.h>
#include <string.h>

int sched_source_split(const char *text, struct sched_source *source)
{
    size_t most = 1;

    for (const char *c = text; *c != '\0'; c++)
        most += *c == '\n';
    source->n = 0;
    source->lines = malloc(most * sizeof *source->lines);
    if (source->lines == NULL)
        return -1;
    while (*text != '\0') {
        size_t size = strcspn(text, "\n");
        source->lines[source->n] = (struct tw_source_line){text, size, "source", (unsigned)source->n + 1};
        source->n++;
        text += size + (text[size] != '\0');
    }
    return 0;
}

void sched_source_free(struct sched_source *source)
{
    free(source->lines);
    memset(source, 0, sizeof *source);
}
