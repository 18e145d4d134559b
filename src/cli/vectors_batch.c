#include "cli/vectors_batch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Assembly text that grows, and which point each of its lines belongs to. */
struct text {
    char *bytes;
    size_t size, room;
    size_t *points; /* of line i + 1 */
    size_t n_lines, line_room;
};

static int grow(struct text *text, size_t bytes)
{
    if (text->size + bytes > text->room) {
        size_t room = 2 * text->room + bytes + 4096;
        char *grown = realloc(text->bytes, room);
        if (grown == NULL)
            return 0;
        text->bytes = grown;
        text->room = room;
    }
    if (text->n_lines == text->line_room) {
        size_t room = 2 * text->line_room + 256;
        size_t *grown = realloc(text->points, room * sizeof *grown);
        if (grown == NULL)
            return 0;
        text->points = grown;
        text->line_room = room;
    }
    return 1;
}

/* The number of an r register at `at`, or -1; *at moves behind it. */
static int register_number(struct tw_field line, size_t *at)
{
    int number = 0;
    size_t i = *at;
    if (i >= line.size || line.text[i++] != 'r' || (*at > 0 && line.text[*at - 1] != ' ' && line.text[*at - 1] != ':'))
        return -1;
    size_t first = i;
    while (i < line.size && i - first < 2 && line.text[i] >= '0' && line.text[i] <= '9')
        number = 10 * number + line.text[i++] - '0';
    *at = i;
    return i > first ? number : -1;
}

/* The public assembler's "r29:r28" is l6 here. Returns the pair's number, or -1 when there is none at `at`. */
static int register_pair(struct tw_field line, size_t *at)
{
    size_t i = *at;
    int high = register_number(line, &i), low = -1;
    if (high >= 17 && i < line.size && line.text[i] == ':') {
        i++;
        low = register_number(line, &i);
    }
    if (low < 16 || high != low + 1)
        return -1;
    *at = i;
    return (low - 16) / 2;
}

/* "#-1" of vextbcst: the public assembler writes five bits with a sign, this one without. -1: it is none. */
static int element_number(struct tw_field line, size_t *at)
{
    static const char broadcast[] = "vextbcst";
    struct tw_field rest = {line.text + *at + 1, line.size - *at - 1};
    int64_t number;
    if (line.text[*at] != '#' || line.size < sizeof broadcast ||
        memcmp(line.text, broadcast, sizeof broadcast - 1) != 0 || !tw_field_decimal(rest, &number) || number < -16 ||
        number >= 0)
        return -1;
    *at = line.size;
    return (int)number + 32;
}

/* One line of assembly, in the words of the assembler here; it never becomes longer. */
static int append_line(struct text *text, struct tw_field line, size_t point)
{
    if (!grow(text, line.size + 4))
        return 0;
    for (size_t at = 0; at < line.size;) {
        int pair = register_pair(line, &at), number = pair < 0 ? element_number(line, &at) : -1;
        char *to = text->bytes + text->size;
        if (pair >= 0)
            text->size += (size_t)snprintf(to, 4, "l%d", pair);
        else if (number >= 0)
            text->size += (size_t)snprintf(to, 4, "#%d", number);
        else
            text->bytes[text->size++] = line.text[at++];
    }
    text->bytes[text->size++] = '\n';
    text->points[text->n_lines++] = point;
    return 1;
}

/* "X *n" is n times X: takes the count off. At most 9999. */
static unsigned take_repeat(struct tw_field *instruction)
{
    size_t at = instruction->size;
    unsigned count = 0, scale = 1;
    while (at > 0 && scale < 10000 && instruction->text[at - 1] >= '0' && instruction->text[at - 1] <= '9') {
        count += scale * (unsigned)(instruction->text[--at] - '0');
        scale *= 10;
    }
    if (at < 2 || at == instruction->size || instruction->text[at - 1] != '*' || instruction->text[at - 2] != ' ')
        return 1;
    instruction->size = at - 2;
    return count;
}

/* The instructions of a point, one a line. */
static int append_point(struct text *text, struct tw_field instructions, size_t point)
{
    while (instructions.size > 0) {
        const char *stop = memchr(instructions.text, ';', instructions.size);
        struct tw_field one = {instructions.text,
                               stop != NULL ? (size_t)(stop - instructions.text) : instructions.size};
        size_t used = one.size + (stop != NULL);
        instructions = (struct tw_field){instructions.text + used, instructions.size - used};
        while (one.size > 0 && one.text[0] == ' ')
            one = (struct tw_field){one.text + 1, one.size - 1};
        for (unsigned repeat = take_repeat(&one); repeat > 0; repeat--)
            if (!append_line(text, one, point))
                return 0;
    }
    return 1;
}

static int is_point_of(struct tw_field id, struct tw_field batch)
{
    return id.size > batch.size && id.text[batch.size] == '.' && memcmp(id.text, batch.text, batch.size) == 0;
}

static int collect(const struct tw_table *table, struct tw_batch *batch, struct text *text, struct tw_error *err)
{
    static const char first[] = "    .foreign", last[] = "    done";
    unsigned id, instructions;
    const struct tw_wanted_column wanted[] = {{&id, "id"}, {&instructions, "asm"}};
    int code = tw_vectors_columns(table, wanted, 2, err);
    if (code < 0)
        return code;
    batch->points = calloc(table->n_rows + 1, sizeof *batch->points);
    int fits = batch->points != NULL && append_line(text, (struct tw_field){first, sizeof first - 1}, 0);
    for (size_t row = 0; fits && row < table->n_rows; row++) {
        struct tw_field name = tw_table_field(table, row, id);
        if (!is_point_of(name, batch->name))
            continue;
        batch->points[batch->n_points].id = name;
        fits = append_point(text, tw_table_field(table, row, instructions), batch->n_points++);
    }
    /* What is on its way lands before the end. */
    fits = fits && append_point(text, (struct tw_field){"nop *12", 7}, batch->n_points) &&
           append_line(text, (struct tw_field){last, sizeof last - 1}, batch->n_points) &&
           append_point(text, (struct tw_field){"nop *12", 7}, batch->n_points);
    if (!fits)
        return tw_fail(err, TW_E_MEMORY, "no memory for the text of batch '%.*s'", (int)batch->name.size,
                       batch->name.text);
    if (batch->n_points == 0)
        return tw_fail(err, TW_E_FORMAT, "'%s' has no points of batch '%.*s'", table->name, (int)batch->name.size,
                       batch->name.text);
    return TW_OK;
}

/* Decodes what was assembled: one bundle a line. */
static int take_operations(struct tw_batch *batch, const struct text *text, struct tw_error *err)
{
    const struct tw_assembly *assembly = batch->assembly;
    batch->operations = calloc(assembly->n_rows + 1, sizeof *batch->operations);
    if (batch->operations == NULL)
        return tw_fail(err, TW_E_MEMORY, "no memory for %zu operations", assembly->n_rows);
    for (size_t i = 0; i < assembly->n_rows; i++) {
        const struct tw_as_row *row = &assembly->rows[i];
        const struct tw_as_section *section = &assembly->sections[row->section];
        struct tw_batch_operation *o = &batch->operations[batch->n_operations];
        if (!row->is_bundle || section->kind != TW_SECTION_TEXT || row->place.line == 0 ||
            row->place.line > text->n_lines)
            continue;
        batch->text = section;
        *o = (struct tw_batch_operation){row->offset, row->size, text->points[row->place.line - 1], {0}, 0};
        if (tw_bundle_decode(section->bytes + row->offset, row->size, &o->bundle, NULL) < 0)
            return tw_fail(err, TW_E_FORMAT, "batch '%.*s': a bundle of its own cannot be decoded",
                           (int)batch->name.size, batch->name.text);
        batch->n_operations++;
    }
    if (batch->text == NULL)
        return tw_fail(err, TW_E_FORMAT, "batch '%.*s' has no instructions", (int)batch->name.size, batch->name.text);
    return TW_OK;
}

int tw_batch_open(const struct tw_table *table, struct tw_field name, struct tw_batch *batch, struct tw_error *err)
{
    struct text text = {0};
    struct tw_error why = {0};
    *batch = (struct tw_batch){.name = name};
    int code = collect(table, batch, &text, err);
    if (code == TW_OK) {
        code = tw_assemble("line", text.bytes, text.size, NULL, &batch->assembly, &why);
        if (code < 0)
            tw_fail(err, code, "'%s', batch '%.*s' with one operation a line, %s", table->name, (int)name.size,
                    name.text, why.text);
    }
    if (code == TW_OK)
        code = take_operations(batch, &text, err);
    free(text.bytes);
    free(text.points);
    if (code < 0)
        tw_batch_close(batch);
    return code;
}

void tw_batch_close(struct tw_batch *batch)
{
    free(batch->points);
    free(batch->operations);
    tw_assembly_free(batch->assembly);
    *batch = (struct tw_batch){0};
}
