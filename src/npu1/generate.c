/* Turns the register table (npu1.registers) into npu1_registers.h and npu1_registers.c. Runs on the machine that
 * builds. */
#include <ctype.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum limits { TILES = 3, NAME = 96, LINE = 8192, ROWS = 600, FIELDS = 4096, REGISTERS = 4096, LISTS = 2, WORDS = 80 };

struct field {
    char name[NAME];
    unsigned low, bits;
};

/* A line of the table: registers that are alike. */
struct row {
    char pattern[512];
    unsigned tile, bits, line;
    uint32_t offset, reset, steps[LISTS];
    unsigned first_field, n_fields, n_registers;
};

struct one {
    char name[NAME];
    uint32_t offset;
    const struct row *row;
};

struct table {
    struct row rows[ROWS];
    struct field fields[FIELDS];
    struct one registers[REGISTERS];
    unsigned n_rows, n_fields, n_registers;
    unsigned tile, line, faults;
    const char *path;
};

static const char *const tile_names[TILES] = {"shim", "memory", "core"};

static void fault(struct table *t, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    fprintf(stderr, "%s:%u: ", t->path, t->line);
    vfprintf(stderr, fmt, args);
    fputc('\n', stderr);
    va_end(args);
    t->faults++;
}

static void copy_name(struct table *t, char *to, size_t room, const char *from, size_t size)
{
    if (size >= room) {
        fault(t, "the name '%.*s' is too long", (int)size, from);
        size = room - 1;
    }
    memcpy(to, from, size);
    to[size] = '\0';
}

/* ---- Names with lists: NAME{0..3}, NAME{A,B0..2} */

struct words {
    char word[WORDS][NAME];
    unsigned n;
};

/* Appends what an item of a list stands for: a word, A0..2, or 0..3. */
static void expand_item(struct table *t, const char *item, size_t size, struct words *w)
{
    char text[NAME];
    copy_name(t, text, sizeof text, item, size);
    char *dots = strstr(text, "..");
    unsigned first = 0, last = 0;
    if (dots != NULL) {
        last = (unsigned)strtoul(dots + 2, NULL, 10);
        while (dots > text && isdigit((unsigned char)dots[-1]))
            dots--;
        first = (unsigned)strtoul(dots, NULL, 10);
        *dots = '\0';
    }
    if (last < first || last - first >= WORDS - w->n) {
        fault(t, "the list '%.*s' is empty or too long", (int)size, item);
        return;
    }
    for (unsigned i = first; i <= last; i++)
        if (dots == NULL)
            memcpy(w->word[w->n++], text, sizeof text);
        else if (snprintf(w->word[w->n++], NAME, "%.80s%u", text, i) < 0)
            fault(t, "a name cannot be made");
}

/* The words of the list at *at, which is behind its '{'; *at moves behind its '}'. */
static void expand_list(struct table *t, const char **at, struct words *w)
{
    const char *end = strchr(*at, '}');
    w->n = 0;
    if (end == NULL) {
        fault(t, "a list without its end in '%s'", *at);
        *at += strlen(*at);
        return;
    }
    while (*at < end) {
        size_t size = strcspn(*at, ",}");
        expand_item(t, *at, size, w);
        *at += size + ((*at)[size] == ',');
    }
    *at = end + 1;
}

struct pattern {
    char text[LISTS + 1][NAME]; /* before, between and behind the lists */
    struct words lists[LISTS];
    unsigned n_lists;
};

static void split_pattern(struct table *t, const char *pattern, struct pattern *p)
{
    const char *at = pattern;
    memset(p, 0, sizeof *p);
    for (;;) {
        size_t size = strcspn(at, "{");
        copy_name(t, p->text[p->n_lists], NAME, at, size);
        at += size;
        if (*at == '\0')
            return;
        if (p->n_lists == LISTS) {
            fault(t, "more than %d lists in '%s'", LISTS, pattern);
            return;
        }
        at++;
        expand_list(t, &at, &p->lists[p->n_lists++]);
    }
}

static void append(struct table *t, char *to, const char *from)
{
    size_t size = strlen(to);
    copy_name(t, to + size, NAME - size, from, strlen(from));
}

static void join_name(struct table *t, char *to, const struct pattern *p, unsigned i, unsigned j)
{
    const unsigned index[LISTS] = {i, j};
    to[0] = '\0';
    for (unsigned k = 0; k < p->n_lists; k++) {
        append(t, to, p->text[k]);
        append(t, to, p->lists[k].word[index[k]]);
    }
    append(t, to, p->text[p->n_lists]);
}

/* ---- Reading */

static void add_field(struct table *t, struct row *row, const char *name, unsigned low, unsigned bits)
{
    if (t->n_fields == FIELDS || low + bits > row->bits) {
        fault(t, "the field '%s' is one too many, or outside of the register", name);
        return;
    }
    struct field *f = &t->fields[t->n_fields++];
    copy_name(t, f->name, sizeof f->name, name, strlen(name));
    f->low = low;
    f->bits = bits;
    row->n_fields++;
}

/* NAME=HIGH:LOW, NAME=BIT, either with a list in the name and +STEP behind. */
static void read_field(struct table *t, struct row *row, char *token)
{
    static struct pattern p;
    char *place = strchr(token, '='), *end;
    if (place == NULL) {
        fault(t, "'%s' is no field", token);
        return;
    }
    *place++ = '\0';
    unsigned high = (unsigned)strtoul(place, &end, 10), low = high;
    if (*end == ':')
        low = (unsigned)strtoul(end + 1, &end, 10);
    unsigned bits = high - low + 1, step = bits;
    if (*end == '+')
        step = (unsigned)strtoul(end + 1, &end, 10);
    if (*end != '\0' || high < low) {
        fault(t, "'%s' is no place of a field", place);
        return;
    }
    split_pattern(t, token, &p);
    unsigned n = p.n_lists > 0 ? p.lists[0].n : 1;
    for (unsigned i = 0; i < n; i++) {
        char name[NAME];
        join_name(t, name, &p, i, 0);
        add_field(t, row, name, low + i * step, bits);
    }
}

static void read_like(struct table *t, struct row *row, const char *name)
{
    for (unsigned i = 0; i + 1 < t->n_rows; i++)
        if (name != NULL && t->rows[i].tile == row->tile && strcmp(t->rows[i].pattern, name) == 0) {
            row->first_field = t->rows[i].first_field;
            row->n_fields = t->rows[i].n_fields;
            return;
        }
    fault(t, "there is no register '%s' before this one", name != NULL ? name : "");
}

static void read_attributes(struct table *t, struct row *row)
{
    unsigned n_steps = 0;
    for (char *token = strtok(NULL, " \n"); token != NULL && strcmp(token, ":") != 0; token = strtok(NULL, " \n")) {
        if (token[0] == '+' && n_steps < LISTS)
            row->steps[n_steps++] = (uint32_t)strtoul(token + 1, NULL, 0);
        else if (strncmp(token, "bits=", 5) == 0)
            row->bits = (unsigned)strtoul(token + 5, NULL, 0);
        else if (strncmp(token, "reset=", 6) == 0)
            row->reset = (uint32_t)strtoul(token + 6, NULL, 0);
        else
            fault(t, "'%s' is not understood", token);
    }
    if (row->bits == 0 || row->bits % 32 != 0)
        fault(t, "a register of %u bits", row->bits);
}

static void add_registers(struct table *t, struct row *row)
{
    static struct pattern p;
    split_pattern(t, row->pattern, &p);
    unsigned outer = p.n_lists > 0 ? p.lists[0].n : 1, inner = p.n_lists > 1 ? p.lists[1].n : 1;
    for (unsigned i = 0; i < outer; i++)
        for (unsigned j = 0; j < inner; j++) {
            if (t->n_registers == REGISTERS) {
                fault(t, "too many registers");
                return;
            }
            struct one *r = &t->registers[t->n_registers++];
            join_name(t, r->name, &p, i, j);
            r->offset = row->offset + i * row->steps[0] + j * row->steps[1];
            r->row = row;
        }
    row->n_registers = outer * inner;
    for (unsigned i = 0; i < LISTS; i++)
        if ((row->steps[i] != 0) != (i < p.n_lists))
            fault(t, "'%s' has not as many lists as steps", row->pattern);
}

static void read_register(struct table *t)
{
    char *name = strtok(NULL, " \n"), *offset = strtok(NULL, " \n");
    if (offset == NULL || t->tile == TILES || t->n_rows == ROWS) {
        fault(t, "a register without offset, before the first tile, or one too many");
        return;
    }
    struct row *row = &t->rows[t->n_rows++];
    *row = (struct row){.tile = t->tile, .bits = 32, .line = t->line, .first_field = t->n_fields};
    copy_name(t, row->pattern, sizeof row->pattern, name, strlen(name));
    row->offset = (uint32_t)strtoul(offset, NULL, 0);
    read_attributes(t, row);
    for (char *token = strtok(NULL, " \n"); token != NULL; token = strtok(NULL, " \n"))
        if (strcmp(token, "like") == 0)
            read_like(t, row, strtok(NULL, " \n"));
        else
            read_field(t, row, token);
    add_registers(t, row);
}

static void read_tile(struct table *t)
{
    const char *name = strtok(NULL, " \n");
    for (t->tile = 0; t->tile < TILES; t->tile++)
        if (name != NULL && strcmp(name, tile_names[t->tile]) == 0)
            return;
    fault(t, "there is no tile '%s'", name != NULL ? name : "");
}

static void read_line(struct table *t, char *text)
{
    char *word = strtok(text, " \n");
    if (word == NULL || word[0] == '#')
        return;
    if (strcmp(word, "tile") == 0)
        read_tile(t);
    else if (strcmp(word, "register") == 0)
        read_register(t);
    else
        fault(t, "'%s' is not understood", word);
}

/* Joins continued lines and reads each whole one. */
static void read_table(struct table *t, FILE *f)
{
    static char whole[LINE], line[LINE];
    unsigned number = 0;
    t->tile = TILES;
    while (fgets(line, sizeof line, f) != NULL) {
        number++;
        if (line[0] != ' ') {
            read_line(t, whole);
            whole[0] = '\0';
            t->line = number;
        }
        if (strlen(whole) + strlen(line) < sizeof whole)
            strcat(whole, line);
        else
            fault(t, "the line is too long");
    }
    read_line(t, whole);
}

/* ---- Checking */

static int by_place(const void *a, const void *b)
{
    const struct one *x = a, *y = b;
    if (x->row->tile != y->row->tile)
        return x->row->tile < y->row->tile ? -1 : 1;
    return x->offset < y->offset ? -1 : x->offset > y->offset;
}

static void check_fields(struct table *t, const struct row *row)
{
    for (unsigned i = 0; i < row->n_fields; i++)
        for (unsigned j = 0; j < i; j++) {
            const struct field *a = &t->fields[row->first_field + i], *b = &t->fields[row->first_field + j];
            t->line = row->line;
            if (a->low < b->low + b->bits && b->low < a->low + a->bits)
                fault(t, "the fields '%s' and '%s' overlap", a->name, b->name);
            if (strcmp(a->name, b->name) == 0)
                fault(t, "two fields '%s'", a->name);
        }
}

static void check_table(struct table *t)
{
    qsort(t->registers, t->n_registers, sizeof t->registers[0], by_place);
    for (unsigned i = 0; i < t->n_rows; i++)
        check_fields(t, &t->rows[i]);
    for (unsigned i = 0; i < t->n_registers; i++) {
        const struct one *r = &t->registers[i], *next = r + 1;
        t->line = r->row->line;
        if (r->offset % 4 != 0 || r->offset + r->row->bits / 8 > 1 << 20)
            fault(t, "'%s' is at no place of a tile", r->name);
        if (i + 1 < t->n_registers && next->row->tile == r->row->tile && r->offset + r->row->bits / 8 > next->offset)
            fault(t, "'%s' and '%s' overlap", r->name, next->name);
        for (unsigned j = 0; j < i; j++)
            if (t->registers[j].row->tile == r->row->tile && strcmp(t->registers[j].name, r->name) == 0)
                fault(t, "two registers '%s'", r->name);
    }
}

/* ---- Writing */

/* A name as part of a C constant: upper case, lists left out, anything else a single '_'. */
static void write_constant(FILE *f, const char *name)
{
    int pending = 0, any = 0;
    for (const char *c = name; *c != '\0'; c++) {
        if (*c == '{') {
            c = strchr(c, '}');
            pending = 1;
        } else if (!isalnum((unsigned char)*c)) {
            pending = 1;
        } else {
            if (pending && any)
                fputc('_', f);
            fputc(toupper((unsigned char)*c), f);
            pending = 0;
            any = 1;
        }
    }
}

static void begin_constant(FILE *f, const char *what, const struct row *row)
{
    fprintf(f, "    TW_%s_", what);
    write_constant(f, tile_names[row->tile]);
    fputc('_', f);
    write_constant(f, row->pattern);
}

static void write_row_constants(const struct table *t, const struct row *row, FILE *f)
{
    begin_constant(f, "REG", row);
    fprintf(f, " = 0x%05x,\n", row->offset);
    for (unsigned i = 0; i < LISTS && row->steps[i] != 0; i++) {
        begin_constant(f, "REG", row);
        fprintf(f, "_STEP%s = 0x%x,\n", i == 0 ? "" : "2", row->steps[i]);
    }
    for (unsigned i = 0; i < row->n_fields; i++) {
        const struct field *field = &t->fields[row->first_field + i];
        begin_constant(f, "FIELD", row);
        fputc('_', f);
        write_constant(f, field->name);
        fprintf(f, " = %u | %u << 8,\n", field->low, field->bits);
    }
}

static void write_header(const struct table *t, FILE *f)
{
    fputs("/* Generated from npu1.registers. */\n#ifndef NPU1_REGISTERS_H\n#define NPU1_REGISTERS_H\n\n"
          "/* Offsets in a tile, steps of arrays, and fields as npu1/bits.h takes them. */\nenum tw_npu1_registers {\n",
          f);
    for (unsigned i = 0; i < t->n_rows; i++)
        write_row_constants(t, &t->rows[i], f);
    fputs("};\n\n#endif\n", f);
}

static void write_registers(const struct table *t, unsigned tile, FILE *f)
{
    fprintf(f, "static const struct tw_tile_register %s_registers[] = {\n", tile_names[tile]);
    for (unsigned i = 0; i < t->n_registers; i++) {
        const struct one *r = &t->registers[i];
        if (r->row->tile == tile)
            fprintf(f, "    {0x%05x, %u, %u, 0x%x, \"%s\", fields + %u},\n", r->offset, r->row->bits, r->row->n_fields,
                    r->row->reset, r->name, r->row->first_field);
    }
    fputs("};\n\n", f);
}

static void write_source(const struct table *t, FILE *f)
{
    fputs("/* Generated from npu1.registers. */\n#include \"npu1/registers.h\"\n\n"
          "static const struct tw_tile_register_field fields[] = {\n",
          f);
    for (unsigned i = 0; i < t->n_fields; i++)
        fprintf(f, "    {\"%s\", %u, %u},\n", t->fields[i].name, t->fields[i].low, t->fields[i].bits);
    fputs("};\n\n", f);
    for (unsigned tile = 0; tile < TILES; tile++)
        write_registers(t, tile, f);
    fputs("const struct tw_tile_register *tw_tile_registers(enum tw_tile_kind kind, unsigned *count)\n{\n    switch "
          "(kind) {\n",
          f);
    static const char *const kinds[TILES] = {"TW_TILE_SHIM", "TW_TILE_MEMORY", "TW_TILE_CORE"};
    for (unsigned tile = 0; tile < TILES; tile++)
        fprintf(f,
                "    case %s:\n        *count = sizeof %s_registers / sizeof %s_registers[0];\n"
                "        return %s_registers;\n",
                kinds[tile], tile_names[tile], tile_names[tile], tile_names[tile]);
    fputs("    default:\n        *count = 0;\n        return 0;\n    }\n}\n", f);
}

static int write_file(const struct table *t, const char *path, void (*write)(const struct table *, FILE *))
{
    FILE *f = fopen(path, "wb");
    if (f == NULL) {
        fprintf(stderr, "generate: %s cannot be written\n", path);
        return 1;
    }
    write(t, f);
    int bad = ferror(f);
    bad |= fclose(f);
    if (bad)
        fprintf(stderr, "generate: writing %s failed\n", path);
    return bad != 0;
}

int main(int argc, char **argv)
{
    static struct table t;
    if (argc != 4) {
        fprintf(stderr, "usage: %s TABLE HEADER.h SOURCE.c\n", argv[0]);
        return 2;
    }
    FILE *f = fopen(argv[1], "rb");
    if (f == NULL) {
        fprintf(stderr, "generate: %s cannot be read\n", argv[1]);
        return 1;
    }
    t.path = argv[1];
    read_table(&t, f);
    fclose(f);
    check_table(&t);
    if (t.faults > 0) {
        fprintf(stderr, "generate: %u faults in the table; nothing was written\n", t.faults);
        return 1;
    }
    return write_file(&t, argv[2], write_header) || write_file(&t, argv[3], write_source);
}
