/*
 * Tables of recorded results as text: lines that begin with "#" are comments, the first other line names the columns,
 * then one case a line; columns are separated by tabs.
 */
#ifndef TW_CLI_VECTORS_TABLE_H
#define TW_CLI_VECTORS_TABLE_H

#include "base/file_map.h"

#include <stddef.h>
#include <stdint.h>

#define TW_TABLE_COLUMNS_MAX 32

/* A field: text inside the file's mapping, without a NUL. */
struct tw_field {
    const char *text;
    size_t size;
};

struct tw_table {
    struct tw_file_map map;
    const char *name; /* of the file, for messages; the caller's */
    unsigned n_columns;
    struct tw_field columns[TW_TABLE_COLUMNS_MAX];
    size_t n_rows;
    struct tw_field *fields; /* row by row, n_columns each; missing ones are empty */
};

/* Fails with what tw_file_map_open says, TW_E_FORMAT without a line of names or with too many, TW_E_MEMORY. */
int tw_table_open(const char *path, const char *name, struct tw_table *table, struct tw_error *err);
void tw_table_close(struct tw_table *table);

/* The number of a column by its name; fails with TW_E_FORMAT when it is not there. */
int tw_table_column(const struct tw_table *table, const char *name, unsigned *column, struct tw_error *err);

static inline struct tw_field tw_table_field(const struct tw_table *table, size_t row, unsigned column)
{
    return table->fields[row * table->n_columns + column];
}

int tw_field_is(struct tw_field field, const char *text);

/* Whole-field numbers; return 0 when the field is something else. */
int tw_field_decimal(struct tw_field field, int64_t *value);
int tw_field_hex(struct tw_field field, uint64_t *value);

/*
 * Numbers of `digits` hexadecimal digits each, with or without spaces between them, as lanes of digits / 2 bytes.
 * Returns how many there are; -1 when the field is something else or they do not fit into `size` bytes.
 */
int tw_field_lanes(struct tw_field field, unsigned digits, unsigned char *to, size_t size);
/* Bytes as pairs of digits, in the order of memory. */
static inline int tw_field_bytes(struct tw_field field, unsigned char *to, size_t size)
{
    return tw_field_lanes(field, 2, to, size);
}

#endif
