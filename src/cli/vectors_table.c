#include "cli/vectors_table.h"

#include <stdlib.h>
#include <string.h>

/* What is left to read. */
struct rest {
    const char *at, *end;
};

static int next_line(struct rest *rest, struct tw_field *line)
{
    if (rest->at == rest->end)
        return 0;
    const char *stop = memchr(rest->at, '\n', (size_t)(rest->end - rest->at));
    const char *end = stop != NULL ? stop : rest->end;
    *line = (struct tw_field){rest->at, (size_t)(end - rest->at)};
    if (line->size > 0 && line->text[line->size - 1] == '\r')
        line->size--;
    rest->at = stop != NULL ? stop + 1 : rest->end;
    return 1;
}

/* The next line that is neither a comment nor empty. */
static int next_row(struct rest *rest, struct tw_field *line)
{
    while (next_line(rest, line))
        if (line->size > 0 && line->text[0] != '#')
            return 1;
    return 0;
}

/* Cuts a line at its tabs; those beyond room are not stored. Returns how many fields it has. */
static unsigned cut(struct tw_field line, struct tw_field *fields, unsigned room)
{
    unsigned n = 0;
    struct rest rest = {line.text, line.text + line.size};
    for (;;) {
        const char *tab = memchr(rest.at, '\t', (size_t)(rest.end - rest.at));
        const char *end = tab != NULL ? tab : rest.end;
        if (n < room)
            fields[n] = (struct tw_field){rest.at, (size_t)(end - rest.at)};
        n++;
        if (tab == NULL)
            return n;
        rest.at = tab + 1;
    }
}

static int read_rows(struct tw_table *table, struct rest rest, struct tw_error *err)
{
    struct rest again = rest;
    struct tw_field line;
    size_t rows = 0;
    while (next_row(&again, &line))
        rows++;
    if (rows == 0)
        return TW_OK;
    table->fields = calloc(rows * table->n_columns, sizeof *table->fields);
    if (table->fields == NULL)
        return tw_fail(err, TW_E_MEMORY, "no memory for the %zu rows of '%s'", rows, table->name);
    while (next_row(&rest, &line))
        cut(line, table->fields + table->n_rows++ * table->n_columns, table->n_columns);
    for (size_t i = 0; i < rows * table->n_columns; i++)
        if (table->fields[i].text == NULL)
            table->fields[i].text = "";
    return TW_OK;
}

int tw_table_open(const char *path, const char *name, struct tw_table *table, struct tw_error *err)
{
    *table = (struct tw_table){.name = name};
    int code = tw_file_map_open(path, &table->map, err);
    if (code < 0)
        return code;
    const char *text = table->map.size > 0 ? (const char *)table->map.data : "";
    struct rest rest = {text, text + table->map.size};
    struct tw_field line;
    if (!next_row(&rest, &line))
        code = tw_fail(err, TW_E_FORMAT, "'%s' has no line that names its columns", name);
    else if ((table->n_columns = cut(line, table->columns, TW_TABLE_COLUMNS_MAX)) > TW_TABLE_COLUMNS_MAX)
        code = tw_fail(err, TW_E_FORMAT, "'%s' has %u columns; at most %d can be read", name, table->n_columns,
                       TW_TABLE_COLUMNS_MAX);
    else
        code = read_rows(table, rest, err);
    if (code < 0)
        tw_table_close(table);
    return code;
}

void tw_table_close(struct tw_table *table)
{
    free(table->fields);
    table->fields = NULL;
    table->n_rows = 0;
    tw_file_map_close(&table->map);
}

int tw_table_column(const struct tw_table *table, const char *name, unsigned *column, struct tw_error *err)
{
    for (unsigned i = 0; i < table->n_columns; i++) {
        if (tw_field_is(table->columns[i], name)) {
            *column = i;
            return TW_OK;
        }
    }
    return tw_fail(err, TW_E_FORMAT, "'%s' has no column '%s'", table->name, name);
}

int tw_field_is(struct tw_field field, const char *text)
{
    return field.size == strlen(text) && memcmp(field.text, text, field.size) == 0;
}

int tw_field_decimal(struct tw_field field, int64_t *value)
{
    int negative = field.size > 0 && field.text[0] == '-';
    uint64_t limit = (uint64_t)INT64_MAX + (unsigned)negative, sum = 0;
    if (field.size == (size_t)negative)
        return 0;
    for (size_t i = (size_t)negative; i < field.size; i++) {
        unsigned digit = (unsigned)(field.text[i] - '0');
        if (digit > 9 || sum > (limit - digit) / 10)
            return 0;
        sum = 10 * sum + digit;
    }
    *value = (int64_t)(negative ? -sum : sum);
    return 1;
}

/* -1: not a digit */
static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

int tw_field_hex(struct tw_field field, uint64_t *value)
{
    uint64_t sum = 0;
    if (field.size == 0 || field.size > 16)
        return 0;
    for (size_t i = 0; i < field.size; i++) {
        int digit = hex_digit(field.text[i]);
        if (digit < 0)
            return 0;
        sum = sum << 4 | (unsigned)digit;
    }
    *value = sum;
    return 1;
}

int tw_field_lanes(struct tw_field field, unsigned digits, unsigned char *to, size_t size)
{
    size_t bytes = digits / 2, at = 0;
    int n = 0;
    while (at < field.size) {
        uint64_t value;
        if (field.text[at] == ' ') {
            at++;
            continue;
        }
        struct tw_field number = {field.text + at, digits};
        if (field.size - at < digits || !tw_field_hex(number, &value) || ((size_t)n + 1) * bytes > size)
            return -1;
        for (size_t i = 0; i < bytes; i++)
            to[(size_t)n * bytes + i] = (unsigned char)(value >> 8 * i);
        at += digits;
        n++;
    }
    return n;
}
