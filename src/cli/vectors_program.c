/* Recorded results of test programmes: which points can be compared, and the comparison. */
#include "cli/vectors_batch.h"

#include "base/log.h"
#include "base/memory.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define N(array) (sizeof(array) / sizeof((array)[0]))
#define PATH_SIZE 4096
#define POINT_BYTES_MAX 1024

#define PROGRAM_FILE "isa_program.tsv"
#define BATCHES_FILE "isa_batches.tsv"
#define INPUT_FILE "isa_input_lcg42.bin"

static const char unknown_register[] = "reads a register whose value nobody knows";
static const char not_reproducible[] = "no byte that is written and reproducible";

/* All that the results of a run need. */
struct suite {
    struct tw_table program, batches;
    struct tw_file_map input;
    unsigned point_id, out_offset;            /* columns of program */
    unsigned batch, run, in_start, in_size;   /* columns of batches */
    unsigned id, point, of_run, state, bytes; /* columns of the results */
    const struct tw_table *results;
    unsigned char *handled; /* of each result: it belongs to a batch */
    size_t n_aside;         /* compared results of points that have an operation left out which they do not depend on */
};

static int is_there(const char *folder, const char *name, char path[PATH_SIZE])
{
    FILE *file = NULL;
    if (folder != NULL && snprintf(path, PATH_SIZE, "%s/%s", folder, name) < PATH_SIZE)
        file = fopen(path, "rb");
    if (file != NULL)
        fclose(file);
    return file != NULL;
}

/* Results come in parts: programs may lie in one of the folders beside that of the results. */
static int is_beside(const char *folder, const char *name, char path[PATH_SIZE])
{
    char parent[PATH_SIZE], other[PATH_SIZE];
    struct dirent **entries = NULL;
    if (snprintf(parent, sizeof parent, "%s/..", folder) >= (int)sizeof parent)
        return 0;
    int found = 0, n = scandir(parent, &entries, NULL, alphasort);
    for (int i = 0; i < n; i++) {
        if (!found && entries[i]->d_name[0] != '.' &&
            snprintf(other, sizeof other, "%s/%s", parent, entries[i]->d_name) < (int)sizeof other)
            found = is_there(other, name, path);
        free(entries[i]);
    }
    free(entries);
    return found;
}

static int find_path(const struct tw_vectors *vectors, const char *name, char path[PATH_SIZE], struct tw_error *err)
{
    if (is_there(vectors->folder, name, path) || is_there(vectors->programs, name, path) ||
        is_beside(vectors->folder, name, path))
        return TW_OK;
    return tw_fail(err, TW_E_NOT_FOUND, "%s is neither there nor in a folder beside; --programs names one that has it",
                   name);
}

static int open_table(const struct tw_vectors *vectors, const char *name, struct tw_table *table, struct tw_error *err)
{
    char path[PATH_SIZE];
    int code = find_path(vectors, name, path, err);
    return code < 0 ? code : tw_table_open(path, name, table, err);
}

static int open_suite(const struct tw_vectors *vectors, const struct tw_table *results, struct suite *s,
                      struct tw_error *err)
{
    char path[PATH_SIZE];
    *s = (struct suite){.results = results};
    int code = open_table(vectors, PROGRAM_FILE, &s->program, err);
    if (code == TW_OK)
        code = open_table(vectors, BATCHES_FILE, &s->batches, err);
    if (code == TW_OK)
        code = find_path(vectors, INPUT_FILE, path, err);
    if (code == TW_OK)
        code = tw_file_map_open(path, &s->input, err);
    return code;
}

static void close_suite(struct suite *s)
{
    free(s->handled);
    tw_table_close(&s->program);
    tw_table_close(&s->batches);
    tw_file_map_close(&s->input);
}

static int find_columns(struct suite *s, struct tw_error *err)
{
    const struct tw_wanted_column program[] = {{&s->point_id, "id"}, {&s->out_offset, "out_off"}};
    const struct tw_wanted_column batches[] = {
        {&s->batch, "batch"}, {&s->run, "run"}, {&s->in_start, "in_start"}, {&s->in_size, "in_size"}};
    const struct tw_wanted_column results[] = {
        {&s->id, "id"}, {&s->point, "point"}, {&s->of_run, "run"}, {&s->state, "state"}, {&s->bytes, "bytes"}};
    int code = tw_vectors_columns(&s->program, program, N(program), err);
    if (code == TW_OK)
        code = tw_vectors_columns(&s->batches, batches, N(batches), err);
    return code == TW_OK ? tw_vectors_columns(s->results, results, N(results), err) : code;
}

static int same_field(struct tw_field a, struct tw_field b)
{
    return a.size == b.size && memcmp(a.text, b.text, a.size) == 0;
}

/*
 * Bytes of a result: pairs of digits; ".." (not written) and "??" (not reproducible) cannot be compared. Returns how
 * many there are; -1 when the field is something else.
 */
static int read_bytes(struct tw_field field, unsigned char bytes[POINT_BYTES_MAX], unsigned char known[POINT_BYTES_MAX])
{
    if (field.size == 0 || field.size % 2 != 0 || field.size / 2 > POINT_BYTES_MAX)
        return -1;
    for (size_t i = 0; i < field.size / 2; i++) {
        struct tw_field pair = {field.text + 2 * i, 2};
        known[i] = tw_field_bytes(pair, bytes + i, 1) == 1;
        if (!known[i] && !tw_field_is(pair, "..") && !tw_field_is(pair, "??"))
            return -1;
    }
    return (int)(field.size / 2);
}

static void bytes_text(const unsigned char *bytes, const unsigned char *known, int n, char *text)
{
    for (int i = 0; i < n; i++) {
        if (known[i])
            snprintf(text + 2 * i, 3, "%02x", bytes[i]);
        else
            memcpy(text + 2 * i, "..", 3);
    }
}

static void compare(struct tw_vectors_report *report, struct tw_field id, struct tw_field field,
                    const unsigned char *memory, uint64_t room)
{
    unsigned char expected[POINT_BYTES_MAX], known[POINT_BYTES_MAX];
    int n = read_bytes(field, expected, known), compared = 0, same = 1;
    if (n < 0 || (uint64_t)n > room) {
        tw_report_fail(report, id, "bytes inside the output", "a case that cannot be read");
        return;
    }
    for (int i = 0; i < n; i++) {
        compared += known[i];
        same &= !known[i] || expected[i] == memory[i];
    }
    if (compared == 0) {
        tw_report_skip(report, 1, not_reproducible);
    } else if (same) {
        tw_report_pass(report);
    } else {
        char wanted[2 * POINT_BYTES_MAX + 1], got[2 * POINT_BYTES_MAX + 1];
        bytes_text(expected, known, n, wanted);
        bytes_text(memory, known, n, got);
        tw_report_fail(report, id, wanted, got);
    }
}

/* The batch's point of that name, and where its output lies. */
static const struct tw_batch_point *find_point(const struct suite *s, const struct tw_batch *batch,
                                               struct tw_field name, int64_t *offset)
{
    for (size_t row = 0; row < s->program.n_rows; row++)
        if (same_field(tw_table_field(&s->program, row, s->point_id), name) &&
            tw_field_decimal(tw_table_field(&s->program, row, s->out_offset), offset))
            for (size_t i = 0; i < batch->n_points; i++)
                if (same_field(batch->points[i].id, name))
                    return &batch->points[i];
    return NULL;
}

/* Skips a result that depends on what nobody knows. */
static int skip_unknown(const struct suite *s, struct tw_vectors_report *report, size_t row)
{
    struct tw_field state = tw_table_field(s->results, row, s->state);
    if (memchr(state.text, '!', state.size) == NULL)
        return 0;
    tw_report_skip(report, 1, unknown_register);
    return 1;
}

static void check_result(struct suite *s, const struct tw_batch *batch, const unsigned char *memory,
                         struct tw_vectors_report *report, size_t row)
{
    struct tw_field id = tw_table_field(s->results, row, s->id);
    int64_t offset = 0;
    if (skip_unknown(s, report, row))
        return;
    const struct tw_batch_point *point = find_point(s, batch, tw_table_field(s->results, row, s->point), &offset);
    if (point == NULL || offset < 0 || offset >= TW_BATCH_OUTPUT_MAX) {
        tw_report_fail(report, id, "a point of a programme", "no such point");
        return;
    }
    if (point->unknown != NULL && point->is_fault) {
        tw_report_fail(report, id, "a result", point->unknown);
        return;
    }
    if (point->unknown != NULL) {
        tw_report_skip(report, 1, point->unknown);
        return;
    }
    s->n_aside += point->reason[0] != '\0';
    compare(report, id, tw_table_field(s->results, row, s->bytes), memory + TW_BATCH_OUTPUT + offset,
            TW_BATCH_OUTPUT_MAX - (uint64_t)offset);
}

static int belongs(const struct suite *s, size_t result, struct tw_field batch, struct tw_field run)
{
    struct tw_field point = tw_table_field(s->results, result, s->point);
    return same_field(tw_table_field(s->results, result, s->of_run), run) && point.size > batch.size &&
           point.text[batch.size] == '.' && memcmp(point.text, batch.text, batch.size) == 0;
}

/* How many results a recorded run has here. */
static size_t count_results(const struct suite *s, struct tw_field name, struct tw_field run)
{
    size_t n = 0;
    for (size_t i = 0; i < s->results->n_rows; i++)
        n += (size_t)belongs(s, i, name, run);
    return n;
}

static int run_batch(const struct tw_vectors *vectors, struct suite *s, size_t row, unsigned char *memory,
                     struct tw_vectors_report *report, struct tw_error *err)
{
    struct tw_field name = tw_table_field(&s->batches, row, s->batch), run = tw_table_field(&s->batches, row, s->run);
    struct tw_batch batch;
    int64_t start, size;
    if (count_results(s, name, run) == 0)
        return TW_OK;
    if (!tw_field_decimal(tw_table_field(&s->batches, row, s->in_start), &start) ||
        !tw_field_decimal(tw_table_field(&s->batches, row, s->in_size), &size) || start < 0 || size < 0 ||
        (uint64_t)start > s->input.size || (uint64_t)size > s->input.size - (uint64_t)start)
        return tw_fail(err, TW_E_FORMAT, "'%s': batch '%.*s' has no input inside %s", s->batches.name, (int)name.size,
                       name.text, INPUT_FILE);
    int code = tw_batch_open(&s->program, name, &batch, err);
    if (code < 0)
        return code;
    code = tw_batch_run(vectors, &batch, s->input.data + start, (size_t)size, memory, err);
    for (size_t i = 0; code == TW_OK && i < s->results->n_rows; i++) {
        if (!belongs(s, i, name, run))
            continue;
        check_result(s, &batch, memory, report, i);
        s->handled[i] = 1;
    }
    tw_batch_close(&batch);
    return code;
}

static void fail_result(const struct suite *s, size_t row, struct tw_vectors_report *report, const char *sentence)
{
    if (!skip_unknown(s, report, row))
        tw_report_fail(report, tw_table_field(s->results, row, s->id), "a result", sentence);
}

/* A run that breaks off is a failure of each of its results. */
static void fail_batch(const struct suite *s, size_t row, struct tw_vectors_report *report, const char *sentence)
{
    struct tw_field name = tw_table_field(&s->batches, row, s->batch), run = tw_table_field(&s->batches, row, s->run);
    for (size_t i = 0; i < s->results->n_rows; i++) {
        if (!belongs(s, i, name, run) || s->handled[i])
            continue;
        fail_result(s, i, report, sentence);
        s->handled[i] = 1;
    }
}

static int run_suite(const struct tw_vectors *vectors, struct suite *s, struct tw_vectors_report *report,
                     struct tw_error *err)
{
    unsigned char *memory = tw_alloc(TW_BATCH_MEMORY);
    s->handled = calloc(s->results->n_rows + 1, 1);
    if (memory == NULL || s->handled == NULL) {
        free(memory);
        return tw_fail(err, TW_E_MEMORY, "no memory for a core's data");
    }
    for (size_t row = 0; row < s->batches.n_rows; row++) {
        struct tw_error why = {0};
        if (run_batch(vectors, s, row, memory, report, &why) < 0)
            fail_batch(s, row, report, why.text);
    }
    for (size_t i = 0; i < s->results->n_rows; i++)
        if (!s->handled[i])
            fail_result(s, i, report, "a run that " BATCHES_FILE " does not list");
    if (s->n_aside > 0)
        tw_note("%s: %zu compared though an operation that is not modelled was left out: they do not depend on it",
                report->file, s->n_aside);
    free(memory);
    return TW_OK;
}

int tw_vectors_program(const struct tw_vectors *vectors, const struct tw_table *table, struct tw_vectors_report *report,
                       struct tw_error *err)
{
    struct suite s;
    int code = open_suite(vectors, table, &s, err);
    if (code == TW_OK)
        code = find_columns(&s, err);
    if (code == TW_OK)
        code = run_suite(vectors, &s, report, err);
    close_suite(&s);
    return code;
}
