/* tilewright dis: the programs of the NPU's cores as assembly text. */
#include "cli/cli.h"

#include "base/file_map.h"
#include "base/log.h"
#include "cli/core_programs.h"
#include "cli/options.h"

#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

static const char help_text[] = "Usage: tilewright dis [--json] FILE\n"
                                "       tilewright dis [--json] --raw [--base ADDRESS] FILE\n"
                                "Disassembles the programs of NPU cores.\n\n"
                                "FILE is a core's ELF file, an xclbin or a PDI or CDO; from these all programs\n"
                                "of all cores are taken. The text gives the same bytes when assembled.\n\n"
                                "  --raw           FILE is bare program memory\n"
                                "  --base ADDRESS  --raw: where it begins, 0 if not given\n"
                                "  --json          only count, and print the numbers as JSON\n\n"
                                "The last line counts bundles, and places where there is none. The exit code\n"
                                "is 0 only if everything was decoded.\n\n"
                                "Example: tilewright dis design.xclbin\n";

struct request {
    const char *path;
    uint32_t base;
    int raw, json, help;
};

/* The work under way. */
struct work {
    FILE *out;     /* NULL: count only */
    json_t *cores; /* NULL: none wanted */
    size_t n_programs;
    struct tw_disassembly sum;
};

static size_t bytes_of(const struct tw_core_program *p)
{
    size_t bytes = 0;
    for (size_t i = 0; i < p->n_runs; i++)
        bytes += p->runs[i].size;
    return bytes;
}

/* Writes the heading of a program; prefix gets what its labels begin with. Sections and labels of a file are unique. */
static void write_heading(FILE *out, const struct tw_core_program *p, char *prefix, size_t size)
{
    if (p->column < 0) {
        fprintf(out, "// %zu bytes\n    .text\n", bytes_of(p));
        snprintf(prefix, size, "at");
    } else if (p->pdi < 0) {
        fprintf(out, "// column %d, row %d: %zu bytes\n    .section .text.c%d.r%d\n", p->column, p->row, bytes_of(p),
                p->column, p->row);
        snprintf(prefix, size, "c%d_r%d", p->column, p->row);
    } else {
        fprintf(out, "// pdi %d, column %d, row %d: %zu bytes\n    .section .text.p%d.c%d.r%d\n", p->pdi, p->column,
                p->row, bytes_of(p), p->pdi, p->column, p->row);
        snprintf(prefix, size, "p%d_c%d_r%d", p->pdi, p->column, p->row);
    }
}

static int add_json(json_t *cores, const struct tw_core_program *p, const struct tw_disassembly *d,
                    struct tw_error *err)
{
    json_t *core = json_object();
    int lost = core == NULL;
    lost |= json_object_set_new(core, "pdi", p->pdi < 0 ? json_null() : json_integer(p->pdi));
    lost |= json_object_set_new(core, "column", p->column < 0 ? json_null() : json_integer(p->column));
    lost |= json_object_set_new(core, "row", p->row < 0 ? json_null() : json_integer(p->row));
    lost |= json_object_set_new(core, "bytes", json_integer((json_int_t)bytes_of(p)));
    lost |= json_object_set_new(core, "bundles", json_integer((json_int_t)d->bundles));
    lost |= json_object_set_new(core, "undecoded", json_integer((json_int_t)d->undecoded));
    lost |= json_object_set_new(core, "filler", json_integer((json_int_t)d->filler));
    lost |= json_array_append_new(cores, core);
    return lost ? tw_fail(err, TW_E_MEMORY, "no memory for the list of cores") : TW_OK;
}

/* Registers of another version of the tables are not written. */
static void note_unknown(const struct tw_core_program *p)
{
    size_t unknown = 0;

    for (size_t i = 0; i < p->n_old; i++)
        unknown += tw_register_find(p->old[i].name, strlen(p->old[i].name)) < 0;
    if (unknown > 0)
        tw_note("%zu uses out of time are of registers that are not known here: they are left out", unknown);
}

/* A tw_core_program_visit. */
static int disassemble(void *arg, const struct tw_core_program *p, struct tw_error *err)
{
    struct work *work = arg;
    struct tw_disassembly d;
    char prefix[64] = "";

    if (work->n_programs++ == 0 && work->out != NULL)
        fputs("    .foreign\n", work->out);
    if (work->out != NULL)
        write_heading(work->out, p, prefix, sizeof prefix);
    note_unknown(p);
    const struct tw_disassemble_options options = {prefix, p->old, p->n_old};
    int code = tw_disassemble(p->runs, p->n_runs, &options, work->out, &d, err);
    if (code < 0)
        return code;
    if (work->out != NULL)
        fprintf(work->out, "// bundles: %zu undecoded: %zu filler: %zu bytes\n\n", d.bundles, d.undecoded, d.filler);
    work->sum.bundles += d.bundles;
    work->sum.undecoded += d.undecoded;
    work->sum.filler += d.filler;
    return work->cores != NULL ? add_json(work->cores, p, &d, err) : TW_OK;
}

static int disassemble_raw(struct work *work, const struct request *r, const struct tw_view *file, struct tw_error *err)
{
    if (file->size == 0)
        return tw_fail(err, TW_E_FORMAT, "'%s' is empty", r->path);
    if (file->size > TW_PROGRAM_BYTES - r->base)
        return tw_fail(err, TW_E_LIMIT, "'%s' has %zu bytes, but program memory ends %d bytes behind 0x%x", r->path,
                       file->size, (int)(TW_PROGRAM_BYTES - r->base), r->base);
    const struct tw_code_run run = {r->base, file->data, file->size};
    const struct tw_core_program program = {-1, -1, -1, &run, 1, NULL, 0};
    return disassemble(work, &program, err);
}

/* The text ends before the last line, which is none of the program: .end says so to the assembler. */
static int print_sum(const struct work *work)
{
    const struct tw_disassembly *sum = &work->sum;
    if (work->cores == NULL) {
        printf("    .end\nbundles: %zu undecoded: %zu\n", sum->bundles, sum->undecoded);
        return TW_EXIT_OK;
    }
    json_t *all = json_pack("{s:O, s:I, s:I, s:I}", "cores", work->cores, "bundles", (json_int_t)sum->bundles,
                            "undecoded", (json_int_t)sum->undecoded, "filler", (json_int_t)sum->filler);
    int lost = all == NULL || json_dumpf(all, stdout, JSON_INDENT(2)) != 0 || putchar('\n') == EOF;
    json_decref(all);
    if (lost)
        tw_note("the numbers cannot be written as JSON");
    return lost ? TW_EXIT_FAILED : TW_EXIT_OK;
}

static int run(const struct request *r)
{
    struct tw_error err = {0};
    struct tw_file_map map;
    struct work work = {.out = r->json ? NULL : stdout, .cores = r->json ? json_array() : NULL};
    int code = tw_file_map_open(r->path, &map, &err);
    if (code == 0) {
        struct tw_view file = {map.data, map.size, r->path, 0};
        code = r->raw ? disassemble_raw(&work, r, &file, &err) : tw_core_programs(&file, disassemble, &work, &err);
        tw_file_map_close(&map);
    }
    int exit_code = TW_EXIT_FAILED;
    if (code < 0)
        tw_note("%s", err.text);
    else
        exit_code = print_sum(&work);
    json_decref(work.cores);
    if (exit_code == TW_EXIT_OK && work.n_programs == 0)
        tw_note("'%s' holds no program of a core", r->path);
    if (exit_code == TW_EXIT_OK && work.sum.undecoded > 0) {
        tw_note("'%s': %zu places hold no bundle", r->path, work.sum.undecoded);
        exit_code = TW_EXIT_FAILED;
    }
    return exit_code;
}

static int read_address(const char *text, uint32_t *address, struct tw_error *err)
{
    char *end = NULL;
    errno = 0;
    unsigned long n = strtoul(text, &end, 0);
    int clean = text[0] >= '0' && text[0] <= '9' && *end == '\0' && errno == 0;
    if (!clean || n >= TW_PROGRAM_BYTES || n % 2 != 0)
        return tw_fail(err, TW_E_ARGUMENT, "--base takes an even address below 0x%x, not '%s'", TW_PROGRAM_BYTES, text);
    *address = (uint32_t)n;
    return TW_OK;
}

int tw_cmd_dis(int argc, char **argv)
{
    struct request r = {0};
    const char *base = NULL;
    const struct tw_option options[] = {
        {.name = "json", .kind = TW_OPTION_FLAG, .to.flag = &r.json},
        {.name = "raw", .kind = TW_OPTION_FLAG, .to.flag = &r.raw},
        {.name = "base", .kind = TW_OPTION_TEXT, .to.text = &base},
        {.name = "help", .letter = 'h', .kind = TW_OPTION_FLAG, .to.flag = &r.help},
    };
    struct tw_error err = {0};
    int operands = tw_options_read(options, sizeof options / sizeof options[0], argc, argv, &err);
    if (operands < 0)
        return tw_usage_error("dis", err.text);
    if (r.help) {
        fputs(help_text, stdout);
        return TW_EXIT_OK;
    }
    if (operands != 1)
        return tw_usage_error("dis", "dis takes one file");
    if (base != NULL && !r.raw)
        return tw_usage_error("dis", "--base is for --raw; other files say themselves where programs lie");
    if (base != NULL && read_address(base, &r.base, &err) < 0)
        return tw_usage_error("dis", err.text);
    r.path = argv[1];
    return run(&r);
}
