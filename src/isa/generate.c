/* Turns the instruction tables (aie2.*) into aie2_names.h and aie2_tables.c. Runs on the machine that builds. */
#include "isa/generate.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

const char *const slot_names[SLOTS] = {"ldb", "lda", "st", "alu", "mv", "vec", "lng", "nop"};
const unsigned slot_bits[SLOTS] = {16, 21, 21, 20, 22, 26, 42, 1};
const char *const flag_names[FLAGS] = {"load", "store", "branch", "delay", "lock", "stream", "sideeffect", "nop"};

void fault(struct tables *t, struct spot at, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    fprintf(stderr, "%s:%d: ", t->paths[at.file], at.line);
    vfprintf(stderr, fmt, args);
    fputc('\n', stderr);
    va_end(args);
    t->faults++;
}

/* The whole of a file with a NUL behind it, or NULL with a sentence on stderr. */
static char *load(const char *path)
{
    enum { LIMIT = 16 << 20 };
    FILE *f = fopen(path, "rb");
    char *text = f != NULL ? malloc(LIMIT) : NULL;
    size_t n = text != NULL ? fread(text, 1, LIMIT, f) : 0;
    int good = text != NULL && !ferror(f) && n < LIMIT;

    if (!good)
        fprintf(stderr, "generate: %s cannot be read: %s\n", path, n == LIMIT ? "too large" : strerror(errno));
    if (f != NULL)
        fclose(f);
    if (!good) {
        free(text);
        return NULL;
    }
    text[n] = '\0';
    if (memchr(text, '\0', n) != NULL) {
        fprintf(stderr, "generate: %s holds a zero byte; it is not text\n", path);
        free(text);
        return NULL;
    }
    return text;
}

static int write_file(const struct tables *t, const char *path, int (*write)(const struct tables *, FILE *))
{
    FILE *f = fopen(path, "wb");
    if (f == NULL) {
        fprintf(stderr, "generate: %s cannot be written: %s\n", path, strerror(errno));
        return 1;
    }
    int bad = write(t, f);
    if (fclose(f) != 0 || bad) {
        fprintf(stderr, "generate: writing %s failed\n", path);
        remove(path);
        return 1;
    }
    return 0;
}

static int generate(struct tables *t, char **arguments)
{
    for (int i = 0; i < FILE_COUNT; i++) {
        t->paths[i] = arguments[i];
        t->texts[i] = load(arguments[i]);
        if (t->texts[i] == NULL)
            return 1;
    }
    read_formats(t);
    read_registers(t);
    read_schedule(t);
    read_instructions(t);
    /* The checks rely on every line having been understood. */
    if (t->faults == 0)
        check_tables(t);
    if (t->faults > 0) {
        fprintf(stderr, "generate: %u faults in the tables; nothing was written\n", t->faults);
        return 1;
    }
    return write_file(t, arguments[FILE_COUNT], write_names) || write_file(t, arguments[FILE_COUNT + 1], write_tables);
}

int main(int argc, char **argv)
{
    if (argc != FILE_COUNT + 3) {
        fprintf(stderr, "usage: %s FORMATS REGISTERS INSTRUCTIONS SCHEDULE NAMES.h TABLES.c\n", argv[0]);
        return 2;
    }
    struct tables *t = calloc(1, sizeof *t);
    if (t == NULL) {
        fprintf(stderr, "generate: no memory\n");
        return 1;
    }
    int bad = generate(t, argv + 1);
    for (int i = 0; i < FILE_COUNT; i++)
        free(t->texts[i]);
    free(t);
    return bad;
}
