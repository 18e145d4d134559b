/* Reads the text tables line by line. Names stay where they are in the text: the lines are cut up in place. */
#include "isa/generate.h"

#include <string.h>

#define COLUMNS 16
#define WORDS 1024

/* One line at a time of a file, without its comment. */
struct lines {
    struct tables *t;
    struct spot at;
    char *next;
};

static struct lines lines_of(struct tables *t, enum table_file file)
{
    return (struct lines){t, {file, 0}, t->texts[file]};
}

/* The next line that holds more than a comment, or NULL. */
static char *next_line(struct lines *l)
{
    while (*l->next != '\0') {
        char *line = l->next;
        char *end = line + strcspn(line, "\n");
        l->next = *end == '\0' ? end : end + 1;
        *end = '\0';
        l->at.line++;
        line[strcspn(line, "#")] = '\0';
        line += strspn(line, " \t\r");
        if (*line != '\0')
            return line;
    }
    return NULL;
}

/* Cuts text at spaces; returns the number of words, at most max + 1 (then there are more). */
static unsigned split_words(char *text, char **words, unsigned max)
{
    unsigned n = 0;
    for (;;) {
        text += strspn(text, " \t\r");
        if (*text == '\0')
            return n;
        if (n == max)
            return n + 1;
        words[n++] = text;
        text += strcspn(text, " \t\r");
        if (*text != '\0')
            *text++ = '\0';
    }
}

static char *trim(char *text)
{
    text += strspn(text, " \t\r");
    size_t n = strlen(text);
    while (n > 0 && strchr(" \t\r", text[n - 1]) != NULL)
        text[--n] = '\0';
    return text;
}

/* Cuts text at a character; as split_words. */
static unsigned split_at(char *text, char mark, char **parts, unsigned max)
{
    unsigned n = 0;
    for (;;) {
        char *cut = strchr(text, mark);
        if (n == max)
            return n + 1;
        if (cut != NULL)
            *cut = '\0';
        parts[n++] = trim(text);
        if (cut == NULL)
            return n;
        text = cut + 1;
    }
}

static int digit(char c)
{
    static const char digits[] = "0123456789abcdef";
    const char *found = c == '\0' ? NULL : strchr(digits, c);
    return found == NULL ? -1 : (int)(found - digits);
}

/* A decimal number of at most 9 digits; returns 0 when text is one. */
static int decimal(const char *text, unsigned *value)
{
    unsigned v = 0;
    size_t n = strlen(text);
    if (n == 0 || n > 9)
        return 1;
    for (size_t i = 0; i < n; i++) {
        int d = digit(text[i]);
        if (d < 0 || d > 9)
            return 1;
        v = v * 10 + (unsigned)d;
    }
    *value = v;
    return 0;
}

/* A number 0x... of at most 128 bits; returns 0 when text is one. */
static int hexadecimal(const char *text, struct wide *value)
{
    struct wide v = {{0, 0}};
    size_t n = strlen(text);
    if (n < 3 || n > 34 || text[0] != '0' || text[1] != 'x')
        return 1;
    for (size_t i = 2; i < n; i++) {
        int d = digit(text[i]);
        if (d < 0)
            return 1;
        v.word[1] = v.word[1] << 4 | v.word[0] >> 60;
        v.word[0] = v.word[0] << 4 | (uint64_t)d;
    }
    *value = v;
    return 0;
}

static int is_name(const char *text)
{
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_";
    return *text != '\0' && text[strspn(text, letters)] == '\0';
}

static int name_fits(struct lines *l, const char *what, const char *name)
{
    if (is_name(name))
        return 1;
    fault(l->t, l->at, "\"%s\" cannot be the name of a %s: letters, digits and _ only", name, what);
    return 0;
}

/* Whether there is room for one more. */
static int room(struct lines *l, const char *what, unsigned n, unsigned max)
{
    if (n < max)
        return 1;
    fault(l->t, l->at, "more than %u %s; raise the limit in generate.h", max, what);
    return 0;
}

static void read_hex(struct lines *l, const char *column, const char *text, struct wide *value)
{
    if (hexadecimal(text, value) != 0)
        fault(l->t, l->at, "%s is \"%s\"; expected a number 0x...", column, text);
}

static void read_hex64(struct lines *l, const char *column, const char *text, uint64_t *value)
{
    struct wide v = {{0, 0}};
    read_hex(l, column, text, &v);
    if (v.word[1] != 0)
        fault(l->t, l->at, "%s %s has more than 64 bits", column, text);
    *value = v.word[0];
}

/* "low-high" or a single number. */
static int read_range(struct lines *l, char *text, struct bits *range)
{
    char *ends[2];
    unsigned n = split_at(text, '-', ends, 2);
    if (n < 1 || n > 2 || decimal(ends[0], &range->low) != 0 || decimal(ends[n - 1], &range->high) != 0 ||
        range->low > range->high || range->high > 127) {
        fault(l->t, l->at, "\"%s\" is no range of bits; expected low-high", text);
        return 1;
    }
    return 0;
}

static int find_slot(const char *name)
{
    for (int i = 0; i < SLOTS; i++)
        if (strcmp(slot_names[i], name) == 0)
            return i;
    return -1;
}

static int find_register(const struct tables *t, const char *name)
{
    for (unsigned i = 0; i < t->n_registers; i++)
        if (strcmp(t->registers[i].name, name) == 0)
            return (int)i;
    return -1;
}

static int find_class(const struct tables *t, const char *name)
{
    for (unsigned i = 0; i < t->n_classes; i++)
        if (strcmp(t->classes[i].name, name) == 0)
            return (int)i;
    return -1;
}

static int find_group(const struct tables *t, const char *name)
{
    for (unsigned i = 0; i < t->n_groups; i++)
        if (strcmp(t->groups[i], name) == 0)
            return (int)i;
    return -1;
}

static int find_unit(const struct tables *t, const char *name)
{
    for (unsigned i = 0; i < t->n_units; i++)
        if (strcmp(t->units[i], name) == 0)
            return (int)i;
    return -1;
}

static int find_schedule(const struct tables *t, const char *name)
{
    for (unsigned i = 0; i < t->n_schedules; i++)
        if (strcmp(t->schedules[i].name, name) == 0)
            return (int)i;
    return -1;
}

/* A register by name, with a fault when there is none. */
static int known_register(struct lines *l, const char *name)
{
    int r = find_register(l->t, name);
    if (r < 0)
        fault(l->t, l->at, "unknown register \"%s\"", name);
    return r;
}

/* ---- formats */

static void read_place(struct lines *l, struct format *f, char *word)
{
    char *sides[2];
    int slot = -1;

    if (split_at(word, '=', sides, 2) == 2)
        slot = find_slot(sides[0]);
    if (slot < 0) {
        fault(l->t, l->at, "\"%s\" is no slot; expected ldb, lda, st, alu, mv, vec, lng or nop, then =low-high", word);
        return;
    }
    if ((f->slots >> slot & 1) != 0)
        fault(l->t, l->at, "slot %s twice", slot_names[slot]);
    f->slots |= 1u << slot;
    read_range(l, sides[1], &f->place[slot]);
}

static void read_format(struct lines *l, char *line)
{
    char *words[COLUMNS];
    unsigned n = split_words(line, words, COLUMNS);
    struct tables *t = l->t;

    if (n < 6 || n > COLUMNS) {
        fault(t, l->at, "a format has the columns name, bytes, mask, value, unused and one or more slots");
        return;
    }
    if (!name_fits(l, "format", words[0]) || !room(l, "formats", t->n_formats, MAX_FORMATS))
        return;
    struct format *f = &t->formats[t->n_formats++];
    f->at = l->at;
    f->name = words[0];
    if (decimal(words[1], &f->bytes) != 0 || f->bytes < 2 || f->bytes > 16 || f->bytes % 2 != 0)
        fault(t, l->at, "a format has 2, 4, ... 16 bytes, not %s", words[1]);
    read_hex(l, "mask", words[2], &f->mask);
    read_hex(l, "value", words[3], &f->value);
    read_hex(l, "unused", words[4], &f->unused);
    for (unsigned i = 5; i < n; i++)
        read_place(l, f, words[i]);
}

void read_formats(struct tables *t)
{
    struct lines l = lines_of(t, FILE_FORMATS);
    for (char *line; (line = next_line(&l)) != NULL;)
        read_format(&l, line);
}

/* ---- registers */

static void read_group(struct lines *l, char **words, unsigned n)
{
    struct tables *t = l->t;
    if (n != 2) {
        fault(t, l->at, "expected: group NAME");
        return;
    }
    if (!name_fits(l, "group", words[1]) || !room(l, "groups", t->n_groups, MAX_GROUPS))
        return;
    if (find_group(t, words[1]) >= 0)
        fault(t, l->at, "group %s twice", words[1]);
    t->groups[t->n_groups++] = words[1];
}

/* Appends the smallest registers that a part consists of. */
static void add_leaves(struct lines *l, struct reg *r, const char *part)
{
    int p = known_register(l, part);
    if (p < 0)
        return;
    const struct reg *from = &l->t->registers[p];
    for (unsigned i = 0; i < from->n_leaves; i++) {
        if (r->n_leaves == MAX_LEAVES) {
            fault(l->t, l->at, "%s consists of more than %d smallest registers", r->name, MAX_LEAVES);
            return;
        }
        r->leaves[r->n_leaves++] = from->leaves[i];
    }
}

static void read_register(struct lines *l, char **words, unsigned n)
{
    struct tables *t = l->t;
    struct reg r = {.at = l->at};
    int group;

    if (n < 5 || n > WORDS) {
        fault(t, l->at, "expected: register NAME BITS GROUP NUMBER [PARTS] [as TEXT]");
        return;
    }
    r.name = r.text = words[1];
    group = find_group(t, words[3]);
    if (group < 0)
        fault(t, l->at, "unknown group \"%s\"", words[3]);
    r.group = group < 0 ? 0 : (unsigned)group;
    if (decimal(words[2], &r.bits) != 0 || r.bits == 0 || r.bits > 65535 || decimal(words[4], &r.number) != 0 ||
        r.number > 255)
        fault(t, l->at, "\"%s\" and \"%s\" are not the bits and the number of a register", words[2], words[4]);
    if (n > 6 && strcmp(words[n - 2], "as") == 0) {
        r.text = words[n - 1];
        n -= 2;
    }
    if (!name_fits(l, "register", r.name) || !name_fits(l, "register", r.text))
        return;
    if (find_register(t, r.name) >= 0)
        fault(t, l->at, "register %s twice", r.name);
    for (unsigned i = 5; i < n; i++)
        add_leaves(l, &r, words[i]);
    if (n == 5)
        r.leaves[r.n_leaves++] = t->n_registers;
    if (room(l, "registers", t->n_registers, MAX_REGISTERS))
        t->registers[t->n_registers++] = r;
}

static void read_class_value(struct lines *l, struct reg_class *c, char *word)
{
    char *sides[2];
    unsigned value;

    if (split_at(word, '=', sides, 2) != 2 || decimal(sides[0], &value) != 0) {
        fault(l->t, l->at, "\"%s\" is no entry of a class; expected VALUE=REGISTER", word);
        return;
    }
    if (value >> c->bits != 0) {
        fault(l->t, l->at, "value %u does not fit %u bits", value, c->bits);
        return;
    }
    if (c->by_value[value] >= 0)
        fault(l->t, l->at, "value %u twice", value);
    c->by_value[value] = (int16_t)known_register(l, sides[1]);
}

static void read_class_like(struct lines *l, struct reg_class *c, const char *other)
{
    int found = find_class(l->t, other);
    if (found < 0) {
        fault(l->t, l->at, "unknown class \"%s\"", other);
        return;
    }
    c->bits = l->t->classes[found].bits;
    memcpy(c->by_value, l->t->classes[found].by_value, sizeof c->by_value);
}

static void read_class(struct lines *l, char **words, unsigned n)
{
    struct tables *t = l->t;
    if (n < 4 || n > WORDS) {
        fault(t, l->at, "expected: class NAME BITS VALUE=REGISTER ..., or class NAME like OTHER");
        return;
    }
    if (!name_fits(l, "class", words[1]) || !room(l, "classes", t->n_classes, MAX_CLASSES))
        return;
    if (find_class(t, words[1]) >= 0)
        fault(t, l->at, "class %s twice", words[1]);
    struct reg_class *c = &t->classes[t->n_classes];
    c->at = l->at;
    c->name = words[1];
    memset(c->by_value, -1, sizeof c->by_value);
    if (strcmp(words[2], "like") == 0)
        read_class_like(l, c, words[3]);
    else if (decimal(words[2], &c->bits) != 0 || c->bits > MAX_CLASS_BITS)
        fault(t, l->at, "a class has 0 to %d bits, not %s", MAX_CLASS_BITS, words[2]);
    else if (c->bits == 0)
        c->by_value[0] = (int16_t)known_register(l, words[3]);
    else
        for (unsigned i = 3; i < n; i++)
            read_class_value(l, c, words[i]);
    t->n_classes++;
}

void read_registers(struct tables *t)
{
    struct lines l = lines_of(t, FILE_REGISTERS);
    char *words[WORDS];

    for (char *line; (line = next_line(&l)) != NULL;) {
        unsigned n = split_words(line, words, WORDS);
        if (strcmp(words[0], "group") == 0)
            read_group(&l, words, n);
        else if (strcmp(words[0], "register") == 0)
            read_register(&l, words, n);
        else if (strcmp(words[0], "class") == 0)
            read_class(&l, words, n);
        else
            fault(t, l.at, "\"%s\" begins no line of this file; expected group, register or class", words[0]);
    }
}

/* ---- schedule */

static void read_unit(struct lines *l, char *rest)
{
    struct tables *t = l->t;
    char *name = trim(rest);
    if (!name_fits(l, "unit", name) || !room(l, "units", t->n_units, MAX_UNITS))
        return;
    if (find_unit(t, name) >= 0)
        fault(t, l->at, "unit %s twice", name);
    t->units[t->n_units++] = name;
}

static int read_cycle_number(const char *text, unsigned *cycle)
{
    return decimal(text, cycle) != 0 || *cycle == 0 || *cycle > 255;
}

/* "name=cycle" or "name=cycle/bypass" */
static void read_cycle(struct lines *l, struct schedule *s, char *word)
{
    struct cycle *c = &s->cycles[s->n_cycles];
    char *sides[2], *parts[2] = {NULL, NULL};
    unsigned n = split_at(word, '=', sides, 2) == 2 ? split_at(sides[1], '/', parts, 2) : 0;

    if (!room(l, "cycles of a class", s->n_cycles, MAX_CYCLES))
        return;
    c->bypass = BYPASS_NONE;
    if (n == 2 && strcmp(parts[1], "vec") == 0)
        c->bypass = BYPASS_VEC;
    else if (n == 2 && strcmp(parts[1], "mov") == 0)
        c->bypass = BYPASS_MOV;
    else if (n != 1)
        n = 0;
    if (n == 0 || read_cycle_number(parts[0], &c->cycle)) {
        fault(l->t, l->at, "\"%s\" is no operand cycle; expected NAME=CYCLE, NAME=CYCLE/vec or NAME=CYCLE/mov", word);
        return;
    }
    c->name = sides[0];
    s->n_cycles++;
}

static void read_cycles(struct lines *l, struct schedule *s, char *column)
{
    char *words[MAX_CYCLES + 2];
    unsigned n = split_words(column, words, MAX_CYCLES + 1);
    int optional = 0;

    if (n == 1 && strcmp(words[0], "-") == 0)
        return;
    for (unsigned i = 0; i < n; i++) {
        if (strcmp(words[i], "/") == 0 && !optional) {
            optional = 1;
            s->n_required = s->n_cycles;
        } else {
            read_cycle(l, s, words[i]);
        }
    }
    if (!optional)
        s->n_required = s->n_cycles;
}

/* "UNIT@cycle" or "UNIT@first-last", with "!" in front when the unit is avoided, not held */
static void read_unit_use(struct lines *l, struct schedule *s, char *word)
{
    char *sides[2];
    struct unit_use *u = &s->units[s->n_units];
    struct bits range = {0, 0};
    int unit;

    if (!room(l, "units of a class", s->n_units, MAX_USES))
        return;
    u->avoid = word[0] == '!';
    if (split_at(word + u->avoid, '@', sides, 2) != 2) {
        fault(l->t, l->at, "\"%s\" is no use of a unit; expected UNIT@CYCLE or UNIT@FIRST-LAST", word);
        return;
    }
    unit = find_unit(l->t, sides[0]);
    if (unit < 0)
        fault(l->t, l->at, "unknown unit \"%s\"", sides[0]);
    u->unit = unit < 0 ? 0 : (unsigned)unit;
    if (read_range(l, sides[1], &range) == 0 && range.low == 0)
        fault(l->t, l->at, "cycles count from 1");
    u->first = range.low;
    u->last = range.high;
    s->n_units++;
}

static void read_memory(struct lines *l, struct schedule *s, char *column)
{
    char *words[4];
    unsigned n = split_words(column, words, 4);
    unsigned cycle = 0;

    if (n == 1 && strcmp(words[0], "-") == 0)
        return;
    for (unsigned i = 0; i < n; i++) {
        if (n > 4 || read_cycle_number(words[i], &cycle) || cycle < s->memory_last) {
            fault(l->t, l->at, "the last column holds the cycles of memory access in ascending order, or -");
            return;
        }
        if (i == 0)
            s->memory_first = cycle;
        s->memory_last = cycle;
    }
}

static void read_schedule_class(struct lines *l, char *rest)
{
    struct tables *t = l->t;
    char *columns[4], *words[MAX_USES + 1];

    if (split_at(rest, '|', columns, 4) != 4) {
        fault(t, l->at, "expected: class NAME | OPERANDS / OPTIONAL | UNITS | MEMORY");
        return;
    }
    if (!name_fits(l, "schedule class", columns[0]) || !room(l, "schedule classes", t->n_schedules, MAX_SCHEDULES))
        return;
    if (find_schedule(t, columns[0]) >= 0)
        fault(t, l->at, "schedule class %s twice", columns[0]);
    struct schedule *s = &t->schedules[t->n_schedules++];
    s->at = l->at;
    s->name = columns[0];
    read_cycles(l, s, columns[1]);
    unsigned n = split_words(columns[2], words, MAX_USES + 1);
    if (n != 1 || strcmp(words[0], "-") != 0)
        for (unsigned i = 0; i < n && i <= MAX_USES; i++)
            read_unit_use(l, s, words[i]);
    read_memory(l, s, columns[3]);
}

/* "OPERAND=GROUP,GROUP" */
static void read_condition(struct lines *l, struct variant *v, char *word)
{
    char *sides[2], *names[MAX_GROUPS];
    unsigned n;

    if (!room(l, "conditions of a variant", v->n_conditions, MAX_CONDITIONS))
        return;
    if (split_at(word, '=', sides, 2) != 2 || decimal(sides[0], &v->operand[v->n_conditions]) != 0 ||
        (n = split_at(sides[1], ',', names, MAX_GROUPS)) > MAX_GROUPS) {
        fault(l->t, l->at, "\"%s\" is no condition; expected OPERAND=GROUP,...", word);
        return;
    }
    for (unsigned i = 0; i < n; i++) {
        int group = find_group(l->t, names[i]);
        if (group < 0)
            fault(l->t, l->at, "unknown group \"%s\"", names[i]);
        else
            v->groups[v->n_conditions] |= (uint64_t)1 << group;
    }
    v->n_conditions++;
}

static int known_schedule(struct lines *l, const char *name)
{
    int s = find_schedule(l->t, name);
    if (s < 0)
        fault(l->t, l->at, "unknown schedule class \"%s\"", name);
    return s < 0 ? 0 : s;
}

static void read_variant(struct lines *l, char *rest)
{
    struct tables *t = l->t;
    char *columns[3], *words[MAX_CONDITIONS + 1];

    if (split_at(rest, '|', columns, 3) != 3) {
        fault(t, l->at, "expected: variant CLASS | OPERAND=GROUP,... | OTHER");
        return;
    }
    if (!room(l, "variants", t->n_variants, MAX_VARIANTS))
        return;
    struct variant *v = &t->variants[t->n_variants++];
    v->at = l->at;
    v->from = (unsigned)known_schedule(l, columns[0]);
    v->to = (unsigned)known_schedule(l, columns[2]);
    unsigned n = split_words(columns[1], words, MAX_CONDITIONS + 1);
    for (unsigned i = 0; i < n && i <= MAX_CONDITIONS; i++)
        read_condition(l, v, words[i]);
}

void read_schedule(struct tables *t)
{
    struct lines l = lines_of(t, FILE_SCHEDULE);
    for (char *line; (line = next_line(&l)) != NULL;) {
        char *rest = line + strcspn(line, " \t");
        if (*rest != '\0')
            *rest++ = '\0';
        if (strcmp(line, "unit") == 0)
            read_unit(&l, rest);
        else if (strcmp(line, "class") == 0)
            read_schedule_class(&l, rest);
        else if (strcmp(line, "variant") == 0)
            read_variant(&l, rest);
        else
            fault(t, l.at, "\"%s\" begins no line of this file; expected unit, class or variant", line);
    }
}

/* ---- instructions */

static int find_operand(const struct instruction *in, const char *name, size_t length)
{
    for (unsigned i = 0; i < in->n_operands; i++)
        if (strlen(in->operands[i].name) == length && memcmp(in->operands[i].name, name, length) == 0)
            return (int)i;
    return -1;
}

static int read_role(const char *text, enum role *role)
{
    static const char *const names[] = {"in", "out", "tied", "inout"};
    for (int i = 0; i < 4; i++)
        if (strcmp(names[i], text) == 0) {
            *role = (enum role)i;
            return 0;
        }
    return 1;
}

/* uimmN, simmN, nimmN, addrN, the first three perhaps with xS behind; returns 0 when text is one. */
static int read_immediate_type(struct operand *o, char *text)
{
    char *parts[2];
    unsigned n;

    if (strncmp(text, "addr", 4) == 0)
        o->kind = KIND_ADDRESS;
    else if (strncmp(text + 1, "imm", 3) == 0 && strchr("usn", text[0]) != NULL)
        o->kind = KIND_IMMEDIATE;
    else
        return 1;
    o->is_signed = text[0] == 's';
    o->is_negative = text[0] == 'n';
    n = split_at(text + 4, 'x', parts, 2);
    o->scale = 1;
    return n > 2 || decimal(parts[0], &o->bits) != 0 || o->bits == 0 || o->bits > 32 ||
           (n == 2 && (decimal(parts[1], &o->scale) != 0 || o->scale == 0 || o->scale > 255));
}

static void read_type(struct lines *l, struct operand *o, char *text)
{
    o->reg_class = find_class(l->t, text);
    if (o->reg_class >= 0) {
        o->kind = KIND_REGISTER;
        o->bits = l->t->classes[o->reg_class].bits;
        return;
    }
    char copy[32] = "";
    if (strlen(text) >= 4 && strlen(text) < sizeof copy) {
        memcpy(copy, text, strlen(text));
        if (read_immediate_type(o, copy) == 0)
            return;
    }
    fault(l->t, l->at,
          "unknown type \"%s\" of operand %s: not a register class, uimmN, simmN, simmNxS, nimmNxS or addrN", text,
          o->name);
}

/* "mod[3]": the operand and the leaf */
static void read_leaf(struct lines *l, struct operand *o, const char **group, char *text)
{
    char *open = strchr(text, '[');
    char *close = strchr(open, ']');
    if (close == NULL || close[1] != '\0') {
        fault(l->t, l->at, "\"%s\" is no leaf; expected OPERAND[K]", text);
        return;
    }
    *open = *close = '\0';
    *group = text;
    if (decimal(open + 1, &o->leaf) != 0 || o->leaf >= MAX_LEAVES)
        fault(l->t, l->at, "\"%s\" is no number of a leaf", open + 1);
    o->bits = 0;
}

static void read_ranges(struct lines *l, struct operand *o, char *text)
{
    char *parts[MAX_RANGES];
    unsigned n = split_at(text, ',', parts, MAX_RANGES);
    unsigned total = 0;

    if (n > MAX_RANGES) {
        fault(l->t, l->at, "operand %s has more than %d pieces", o->name, MAX_RANGES);
        return;
    }
    for (unsigned i = 0; i < n; i++) {
        if (read_range(l, parts[i], &o->ranges[i]) != 0)
            return;
        total += o->ranges[i].high - o->ranges[i].low + 1;
    }
    o->n_ranges = n;
    if (total != o->bits)
        fault(l->t, l->at, "operand %s has a field of %u bits but its type has %u", o->name, total, o->bits);
}

/* What an operand's fourth column may name and only a later operand settles. */
struct reference {
    const char *tied, *leaf;
};

static void read_operand(struct lines *l, struct instruction *in, struct reference *ref, char *word)
{
    char *parts[4];
    unsigned n = split_at(word, ':', parts, 4);
    struct operand *o = &in->operands[in->n_operands];

    if (n < 3 || n > 4 || !is_name(parts[0]) || read_role(parts[1], &o->role) != 0) {
        fault(l->t, l->at, "\"%s\" is no operand; expected NAME:ROLE:TYPE:BITS with a role in, out, tied or inout",
              word);
        return;
    }
    o->name = parts[0];
    o->tied_to = o->leaf_of = -1;
    if (find_operand(in, o->name, strlen(o->name)) >= 0)
        fault(l->t, l->at, "operand %s twice", o->name);
    read_type(l, o, parts[2]);
    if (n == 3 && o->bits != 0)
        fault(l->t, l->at, "operand %s lacks its bits", o->name);
    else if (n == 4 && parts[3][0] == '=')
        ref->tied = parts[3] + 1;
    else if (n == 4 && strchr(parts[3], '[') != NULL)
        read_leaf(l, o, &ref->leaf, parts[3]);
    else if (n == 4)
        read_ranges(l, o, parts[3]);
    if ((o->role == ROLE_TIED) != (ref->tied != NULL))
        fault(l->t, l->at, "operand %s: role tied and =OTHER go together", o->name);
    in->n_operands++;
}

static int resolve(struct lines *l, struct instruction *in, const char *name)
{
    int found = name == NULL ? -1 : find_operand(in, name, strlen(name));
    if (name != NULL && found < 0)
        fault(l->t, l->at, "there is no operand \"%s\"", name);
    return found;
}

static void read_operands(struct lines *l, struct instruction *in, char *column)
{
    char *words[MAX_OPERANDS];
    struct reference refs[MAX_OPERANDS] = {{NULL, NULL}};
    unsigned n = split_words(column, words, MAX_OPERANDS);

    if (n == 1 && strcmp(words[0], "-") == 0)
        return;
    if (n > MAX_OPERANDS) {
        fault(l->t, l->at, "more than %d operands", MAX_OPERANDS);
        return;
    }
    for (unsigned i = 0; i < n; i++)
        read_operand(l, in, &refs[in->n_operands], words[i]);
    for (unsigned i = 0; i < in->n_operands; i++) {
        in->operands[i].tied_to = resolve(l, in, refs[i].tied);
        in->operands[i].leaf_of = resolve(l, in, refs[i].leaf);
        if (in->operands[i].role == ROLE_TIED)
            in->operands[i].bits = 0;
    }
}

static unsigned read_implicit(struct lines *l, unsigned *registers, char *column)
{
    char *words[MAX_IMPLICIT];
    unsigned n = split_words(column, words, MAX_IMPLICIT);

    if (n == 1 && strcmp(words[0], "-") == 0)
        return 0;
    if (n > MAX_IMPLICIT) {
        fault(l->t, l->at, "more than %d registers without an operand", MAX_IMPLICIT);
        return 0;
    }
    for (unsigned i = 0; i < n; i++) {
        int r = known_register(l, words[i]);
        registers[i] = r < 0 ? 0 : (unsigned)r;
    }
    return n;
}

static void read_flags(struct lines *l, struct instruction *in, char *column)
{
    char *words[FLAGS];
    unsigned n = split_words(column, words, FLAGS);

    if (n == 1 && strcmp(words[0], "-") == 0)
        return;
    for (unsigned i = 0; i < n && i < FLAGS; i++) {
        unsigned f = 0;
        while (f < FLAGS && strcmp(flag_names[f], words[i]) != 0)
            f++;
        if (f == FLAGS)
            fault(l->t, l->at, "unknown flag \"%s\"", words[i]);
        else
            in->flags |= 1u << f;
    }
}

/* Cuts the syntax at its operands: literal text, operand, literal text, ... */
static void read_syntax(struct lines *l, struct instruction *in)
{
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_";
    const char *at = in->syntax;

    while (*at != '\0') {
        if (!room(l, "pieces of syntax", in->n_pieces, MAX_PIECES))
            return;
        struct piece *p = &in->pieces[in->n_pieces++];
        p->text = at;
        p->length = strcspn(at, "$");
        p->operand = -1;
        at += p->length;
        if (*at == '\0')
            return;
        size_t n = strspn(at + 1, letters);
        p->operand = find_operand(in, at + 1, n);
        if (p->operand < 0)
            fault(l->t, l->at, "the syntax names an operand $%.*s that there is not", (int)n, at + 1);
        at += 1 + n;
    }
}

static void read_instruction(struct lines *l, char *line)
{
    struct tables *t = l->t;
    char *columns[11];
    int slot;

    if (split_at(line, '|', columns, 11) != 11) {
        fault(t, l->at,
              "an instruction has 11 columns: slot | name | syntax | mask | value | unused | operands | defs | "
              "uses | flags | schedule");
        return;
    }
    if (!name_fits(l, "instruction", columns[1]) || !room(l, "instructions", t->n_instructions, MAX_INSTRUCTIONS))
        return;
    slot = find_slot(columns[0]);
    if (slot < 0) {
        fault(t, l->at, "unknown slot \"%s\"", columns[0]);
        return;
    }
    struct instruction *in = &t->instructions[t->n_instructions++];
    in->at = l->at;
    in->slot = (unsigned)slot;
    in->name = columns[1];
    in->syntax = columns[2];
    read_hex64(l, "mask", columns[3], &in->mask);
    read_hex64(l, "value", columns[4], &in->value);
    read_hex64(l, "unused", columns[5], &in->unused);
    read_operands(l, in, columns[6]);
    in->n_defs = read_implicit(l, in->defs, columns[7]);
    in->n_uses = read_implicit(l, in->uses, columns[8]);
    read_flags(l, in, columns[9]);
    in->schedule = (unsigned)known_schedule(l, columns[10]);
    read_syntax(l, in);
}

void read_instructions(struct tables *t)
{
    struct lines l = lines_of(t, FILE_INSTRUCTIONS);
    for (char *line; (line = next_line(&l)) != NULL;)
        read_instruction(&l, line);
}
