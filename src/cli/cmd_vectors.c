/* tilewright vectors: recorded results of the chip against the emulator. */
#include "cli/cli.h"

#include "base/log.h"
#include "cli/options.h"
#include "cli/vectors.h"
#include "emu/vector_kernels.h"

#include <dirent.h>
#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

static const char help_text[] = "Usage: tilewright vectors [OPTION]... DIR\n"
                                "Compares the emulated NPU with results recorded on the chip.\n\n"
                                "DIR holds tables of operands and results; those that are known by name are\n"
                                "checked, others are named and ignored. For each file one line says how many\n"
                                "cases passed, failed and were skipped; the last line is the sum. The exit code\n"
                                "is 0 only if nothing failed. Why cases were skipped is told on stderr.\n\n"
                                "  --programs DIR  where programs and inputs are that neither DIR nor a folder\n"
                                "                  beside it has\n"
                                "  --set NAME      functions to use: c, avx2 or avx512; the fastest if not given\n"
                                "  --verbose       tell of every failure, not only of five a file\n"
                                "  --json          print the numbers as JSON\n\n"
                                "Example: tilewright vectors recordings\n";

#define PATH_SIZE 4096

/* The kinds of files by name. */
static const struct kind {
    const char *name;
    tw_vectors_function *check;
} kinds[] = {
    {"bf16_mac_4x8x4.tsv", tw_vectors_bf16_mac},  {"int_mac.tsv", tw_vectors_int_mac},
    {"f32_to_bf16.tsv", tw_vectors_fp32_to_bf16}, {"bf16_to_f32.tsv", tw_vectors_bf16_to_fp32},
    {"bf16_floor_s32.tsv", tw_vectors_floor},     {"srs_ups_pack_silicon.tsv", tw_vectors_resize},
    {"shuffle_sweep.tsv", tw_vectors_shuffle},    {"isa_expect.tsv", tw_vectors_program},
    {"isa_conv.tsv", tw_vectors_chain},           {"model_srs.tsv", tw_vectors_model_srs},
    {"model_ups.tsv", tw_vectors_model_ups},      {"model_pack.tsv", tw_vectors_model_pack},
};

/* Files that hold no results themselves: inputs and programs of the others, and text. */
static const char *const companions[] = {"isa_program.tsv", "isa_batches.tsv", "isa_input_lcg42.bin", "jfk.wav",
                                         "README.md"};

/* Results of a whole model: rows of a fixed number of floats. Instructions cannot be checked with them. */
#define ENCODER_FILE "whisper_tiny_encoder_rows.f32"
#define ENCODER_ROW_BYTES (384u * 4u)

struct request {
    const char *folder, *programs, *set;
    int verbose, json, help;
};

struct work {
    const struct request *request;
    struct tw_vectors vectors;
    json_t *files; /* NULL: none wanted */
    json_t *unknown;
    size_t passed, failed, skipped;
};

static const struct kind *find_kind(const char *name)
{
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        if (strcmp(kinds[i].name, name) == 0)
            return &kinds[i];
    return NULL;
}

static int is_companion(const char *name)
{
    for (size_t i = 0; i < sizeof companions / sizeof companions[0]; i++)
        if (strcmp(companions[i], name) == 0)
            return 1;
    return 0;
}

/* Adds a file's numbers to the sum and tells of them. */
static int finish_file(struct work *work, const struct tw_vectors_report *r)
{
    work->passed += r->passed;
    work->failed += r->failed;
    work->skipped += r->skipped;
    for (unsigned i = 0; i < r->n_skips; i++)
        tw_note("%s: skipped %zu: %s", r->file, r->skips[i].count, r->skips[i].reason);
    if (work->files == NULL) {
        printf("%s: %zu passed, %zu failed, %zu skipped\n", r->file, r->passed, r->failed, r->skipped);
        return 0;
    }
    json_t *reasons = json_object();
    for (unsigned i = 0; i < r->n_skips; i++)
        json_object_set_new(reasons, r->skips[i].reason, json_integer((json_int_t)r->skips[i].count));
    json_t *file = json_pack("{s:s, s:I, s:I, s:I, s:o}", "name", r->file, "passed", (json_int_t)r->passed, "failed",
                             (json_int_t)r->failed, "skipped", (json_int_t)r->skipped, "reasons", reasons);
    return json_array_append_new(work->files, file);
}

static int check_table(struct work *work, const struct kind *kind, const char *path, struct tw_vectors_report *report,
                       struct tw_error *err)
{
    struct tw_table table;
    int code = tw_table_open(path, kind->name, &table, err);
    if (code < 0)
        return code;
    code = kind->check(&work->vectors, &table, report, err);
    tw_table_close(&table);
    return code;
}

static int skip_encoder(const char *path, struct tw_vectors_report *report, struct tw_error *err)
{
    struct tw_file_map map;
    int code = tw_file_map_open(path, &map, err);
    if (code < 0)
        return code;
    tw_report_skip(report, map.size / ENCODER_ROW_BYTES, "results of a whole model, not of an instruction");
    tw_file_map_close(&map);
    return TW_OK;
}

static int check_file(struct work *work, const char *name)
{
    struct tw_vectors_report report = {.file = name, .verbose = work->request->verbose};
    struct tw_error err = {0};
    char path[PATH_SIZE];
    const struct kind *kind = find_kind(name);
    int code, encoder = strcmp(name, ENCODER_FILE) == 0;
    if (kind == NULL && !encoder) {
        if (!is_companion(name)) {
            tw_note("%s: not a file of recorded results that is known here: ignored", name);
            if (work->unknown != NULL)
                json_array_append_new(work->unknown, json_string(name));
        }
        return 0;
    }
    if (snprintf(path, sizeof path, "%s/%s", work->request->folder, name) >= (int)sizeof path)
        code = tw_fail(&err, TW_E_LIMIT, "the path of '%s' is too long", name);
    else
        code = encoder ? skip_encoder(path, &report, &err) : check_table(work, kind, path, &report, &err);
    if (code < 0) {
        tw_note("%s", err.text);
        report.failed++;
    }
    return finish_file(work, &report);
}

static int print_sum(struct work *work)
{
    if (work->files == NULL) {
        printf("%zu passed, %zu failed, %zu skipped\n", work->passed, work->failed, work->skipped);
        return 0;
    }
    json_t *all =
        json_pack("{s:O, s:O, s:I, s:I, s:I}", "files", work->files, "unknown", work->unknown, "passed",
                  (json_int_t)work->passed, "failed", (json_int_t)work->failed, "skipped", (json_int_t)work->skipped);
    int lost = all == NULL || json_dumpf(all, stdout, JSON_INDENT(2)) != 0 || putchar('\n') == EOF;
    json_decref(all);
    return lost;
}

static int is_visible(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

static int check_folder(struct work *work)
{
    struct dirent **names = NULL;
    int lost = 0, n = scandir(work->request->folder, &names, is_visible, alphasort);
    if (n < 0) {
        struct tw_error err;
        tw_fail_errno(&err, TW_E_IO, errno, "the folder '%s' cannot be read", work->request->folder);
        tw_note("%s", err.text);
        return TW_EXIT_FAILED;
    }
    for (int i = 0; i < n; i++) {
        lost |= check_file(work, names[i]->d_name);
        free(names[i]);
    }
    free(names);
    if (lost != 0 || print_sum(work) != 0) {
        tw_note("the numbers cannot be written as JSON");
        return TW_EXIT_FAILED;
    }
    return work->failed == 0 ? TW_EXIT_OK : TW_EXIT_FAILED;
}

/* The table of functions of a name; NULL: the fastest. */
static const struct tw_vector_kernels *find_kernels(const char *name)
{
    static const char *const names[TW_KERNEL_SETS] = {"c", "avx2", "avx512"};
    if (name == NULL)
        return tw_vector_kernels_best(0);
    for (int set = 0; set < TW_KERNEL_SETS; set++)
        if (strcmp(names[set], name) == 0)
            return tw_vector_kernels_of((enum tw_kernel_set)set, 0);
    return NULL;
}

int tw_cmd_vectors(int argc, char **argv)
{
    struct request r = {0};
    const struct tw_option options[] = {
        {.name = "programs", .kind = TW_OPTION_TEXT, .to.text = &r.programs},
        {.name = "set", .kind = TW_OPTION_TEXT, .to.text = &r.set},
        {.name = "verbose", .letter = 'v', .kind = TW_OPTION_FLAG, .to.flag = &r.verbose},
        {.name = "json", .kind = TW_OPTION_FLAG, .to.flag = &r.json},
        {.name = "help", .letter = 'h', .kind = TW_OPTION_FLAG, .to.flag = &r.help},
    };
    struct tw_error err = {0};
    int operands = tw_options_read(options, sizeof options / sizeof options[0], argc, argv, &err);
    if (operands < 0)
        return tw_usage_error("vectors", err.text);
    if (r.help) {
        fputs(help_text, stdout);
        return TW_EXIT_OK;
    }
    if (operands != 1)
        return tw_usage_error("vectors", "vectors takes one folder");
    r.folder = argv[1];
    struct work work = {.request = &r, .vectors = {r.folder, r.programs, find_kernels(r.set)}};
    if (work.vectors.kernels == NULL)
        return tw_usage_error("vectors", "--set takes c, or avx2 or avx512 where the processor has them");
    if (r.json) {
        work.files = json_array();
        work.unknown = json_array();
    }
    int code = check_folder(&work);
    json_decref(work.files);
    json_decref(work.unknown);
    return code;
}
