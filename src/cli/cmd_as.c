/* tilewright as: assembly text to a core's ELF file. */
#include "cli/cli.h"

#include "base/file_map.h"
#include "base/log.h"
#include "base/new_file.h"
#include "cli/assembly_json.h"
#include "cli/options.h"
#include "image/core_elf.h"
#include "isa/assembler.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const char help_text[] = "Usage: tilewright as [OPTION]... IN.s -o OUT.elf\n"
                                "Assembles a program for one NPU core.\n\n"
                                "  -o, --output FILE  the ELF file to write; nothing is written after an error\n"
                                "  --raw              bare program memory instead of ELF, from the first text\n"
                                "                     section on, with zeros between sections; several programs\n"
                                "                     (text sections at the same place) one behind the other\n"
                                "  --only SECTION     of the text sections write only this: one core's program\n"
                                "                     of a text that 'tilewright dis' made of many\n"
                                "  -I, --include DIR  where included files are looked for that do not lie\n"
                                "                     beside the file that includes them\n"
                                "  --foreign          the code is not ours: what the checker finds is no error\n"
                                "  --notes            show the checker's notes too\n"
                                "  --listing          address, bytes and source, and what became of loops, on\n"
                                "                     standard output\n"
                                "  --json             sections, symbols, loops and messages as JSON there\n\n"
                                "Without -o, --listing and --json only look. IN.s may be - for standard input,\n"
                                "OUT.elf may be - for standard output.\n\n"
                                "Example: tilewright as --listing src/kernels/product_bf16.s -o product.elf\n";

struct request {
    const char *path, *output, *folder, *only;
    int raw, listing, json, foreign, notes, help;
};

/* A file that is being read, and those before it. */
struct source {
    struct source *before;
    struct tw_file_map map;
    char *name, *text; /* text: of standard input */
};

struct sources {
    struct source *last;
    const char *folder;
};

/* ---- reading */

static struct source *add_source(struct sources *s, const char *name, struct tw_error *err)
{
    struct source *f = calloc(1, sizeof *f);
    char *copy = strdup(name);

    if (f == NULL || copy == NULL) {
        free(f);
        free(copy);
        tw_fail(err, TW_E_MEMORY, "no memory to read '%s'", name);
        return NULL;
    }
    f->name = copy;
    f->before = s->last;
    s->last = f;
    return f;
}

static void release_sources(struct sources *s)
{
    while (s->last != NULL) {
        struct source *f = s->last;
        s->last = f->before;
        tw_file_map_close(&f->map);
        free(f->name);
        free(f->text);
        free(f);
    }
}

static int read_file(struct sources *s, const char *path, struct tw_as_text *text, struct tw_error *err)
{
    struct source *f = add_source(s, path, err);

    if (f == NULL)
        return TW_E_MEMORY;
    int code = tw_file_map_open(path, &f->map, err);
    if (code < 0)
        return code;
    *text = (struct tw_as_text){f->name, f->map.data == NULL ? "" : (const char *)f->map.data, f->map.size};
    return 0;
}

/* Grows by doubling up to what a text of this kind can be. */
static int read_standard_input(struct sources *s, struct tw_as_text *text, struct tw_error *err)
{
    enum { MOST = 1 << 26 };
    struct source *f = add_source(s, "<stdin>", err);
    size_t size = 0, room = 0, n = 1;

    if (f == NULL)
        return TW_E_MEMORY;
    while (n > 0 && size < MOST) {
        if (size == room) {
            room = room == 0 ? 65536 : room * 2;
            char *bigger = realloc(f->text, room);
            if (bigger == NULL)
                return tw_fail(err, TW_E_MEMORY, "no memory to read standard input");
            f->text = bigger;
        }
        n = fread(f->text + size, 1, room - size, stdin);
        size += n;
    }
    if (ferror(stdin))
        return tw_fail(err, TW_E_IO, "standard input cannot be read");
    if (size >= MOST)
        return tw_fail(err, TW_E_LIMIT, "standard input has more than %d bytes", MOST);
    *text = (struct tw_as_text){f->name, f->text, size};
    return 0;
}

/* folder/name, or name beside the file `from`. NULL when there is no memory. */
static char *join(const char *folder, const char *from, const char *name)
{
    const char *slash = folder == NULL ? strrchr(from, '/') : NULL;
    size_t head = folder != NULL ? strlen(folder) : slash != NULL ? (size_t)(slash - from) + 1 : 0;
    char *path = malloc(head + strlen(name) + 2);

    if (path == NULL)
        return NULL;
    if (name[0] == '/')
        head = 0;
    memcpy(path, folder != NULL ? folder : from, head);
    if (folder != NULL && head > 0 && path[head - 1] != '/')
        path[head++] = '/';
    memcpy(path + head, name, strlen(name) + 1);
    return path;
}

/* A tw_as_options.include. */
static int include(void *arg, const char *name, const char *from, struct tw_as_text *text, struct tw_error *err)
{
    struct sources *s = arg;
    char *path = join(NULL, from, name);
    int code = path == NULL ? tw_fail(err, TW_E_MEMORY, "no memory to read '%s'", name) : read_file(s, path, text, err);

    free(path);
    if (code != TW_E_NOT_FOUND || s->folder == NULL)
        return code;
    path = join(s->folder, from, name);
    code = path == NULL ? tw_fail(err, TW_E_MEMORY, "no memory to read '%s'", name) : read_file(s, path, text, err);
    free(path);
    return code;
}

/* ---- messages */

static void print_place(const struct tw_as_place *p)
{
    fprintf(stderr, "%s:", p->file);
    if (p->line > 0)
        fprintf(stderr, "%u:", p->line);
    if (p->column > 0)
        fprintf(stderr, "%u:", p->column);
}

static void print_messages(const struct tw_assembly *a, int notes)
{
    size_t hidden = 0;

    for (size_t i = 0; i < a->n_messages; i++) {
        const struct tw_as_message *m = &a->messages[i];
        if (m->severity == TW_SEVERITY_NOTE && !notes && strcmp(m->kind, "limit") != 0) {
            hidden++;
            continue;
        }
        print_place(&m->place);
        fprintf(stderr, " %s: %s\n", tw_severity_names[m->severity], m->text);
        for (const struct tw_as_trace *t = m->trace; t != NULL; t = t->next) {
            print_place(&t->place);
            fprintf(stderr, " note: %s\n", t->text);
        }
    }
    if (hidden > 0)
        tw_note("%zu note%s; --notes shows them", hidden, hidden == 1 ? "" : "s");
}

/* ---- writing */

/* A device or a pipe is written to as it is. */
static int is_stream(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode);
}

static int write_stream(FILE *f, const char *name, const void *bytes, size_t size, struct tw_error *err)
{
    if (f == NULL)
        return tw_fail_errno(err, TW_E_IO, errno, "'%s' cannot be opened", name);
    int lost = fwrite(bytes, 1, size, f) != size;
    lost |= (f == stdout ? fflush(f) : fclose(f)) != 0;
    return lost ? tw_fail_errno(err, TW_E_IO, errno, "'%s' cannot be written", name) : 0;
}

static int write_file(const char *path, const void *bytes, size_t size, struct tw_error *err)
{
    struct tw_new_file f;

    if (strcmp(path, "-") == 0)
        return write_stream(stdout, "standard output", bytes, size, err);
    if (is_stream(path))
        return write_stream(fopen(path, "wb"), path, bytes, size, err);
    int code = tw_new_file_open(path, &f, err);

    if (code < 0)
        return code;
    code = tw_new_file_write(&f, bytes, size, err);
    if (code == 0)
        return tw_new_file_finish(&f, err);
    tw_new_file_abandon(&f);
    return code;
}

/* Of a text with the programs of several cores one may be asked for. */
static int is_wanted(const struct request *r, const struct tw_as_section *s)
{
    return s->size > 0 && (r->only == NULL || s->kind != TW_SECTION_TEXT || strcmp(s->name, r->only) == 0);
}

static int check_only(const struct request *r, const struct tw_assembly *a, struct tw_error *err)
{
    for (size_t i = 0; i < a->n_sections; i++)
        if (r->only == NULL || (a->sections[i].kind == TW_SECTION_TEXT && strcmp(a->sections[i].name, r->only) == 0))
            return 0;
    return tw_fail(err, TW_E_NOT_FOUND, "'%s' has no text section %s", a->source_name, r->only);
}

/* Where the program memory that the wanted sections take begins and ends, and how many bytes they are. */
static int measure_raw(const struct request *r, const struct tw_assembly *a, uint32_t *first, uint32_t *end,
                       size_t *sum, struct tw_error *err)
{
    *first = UINT32_MAX;
    *end = 0;
    *sum = 0;
    for (size_t i = 0; i < a->n_sections; i++) {
        const struct tw_as_section *s = &a->sections[i];
        if (!is_wanted(r, s))
            continue;
        if (s->kind != TW_SECTION_TEXT)
            return tw_fail(err, TW_E_ARGUMENT,
                           "section %s is no program memory: --raw cannot write it; leave --raw out for an ELF file",
                           s->name);
        *first = s->address < *first ? s->address : *first;
        *end = s->address + s->size > *end ? s->address + s->size : *end;
        *sum += s->size;
    }
    return 0;
}

/* Whether programs of several cores lie on top of each other. */
static int programs_overlap(const struct request *r, const struct tw_assembly *a)
{
    for (size_t i = 0; i < a->n_sections; i++)
        for (size_t k = 0; k < i; k++) {
            const struct tw_as_section *s = &a->sections[i], *t = &a->sections[k];
            if (s->kind == TW_SECTION_TEXT && t->kind == TW_SECTION_TEXT && is_wanted(r, s) && is_wanted(r, t) &&
                s->address < t->address + t->size && t->address < s->address + s->size)
                return 1;
        }
    return 0;
}

static int write_raw(const struct request *r, const struct tw_assembly *a, struct tw_error *err)
{
    uint32_t first, end;
    size_t sum, at = 0;
    int code = measure_raw(r, a, &first, &end, &sum, err), apart = programs_overlap(r, a);

    if (code < 0)
        return code;
    size_t size = apart || sum == 0 ? sum : end - first;
    unsigned char *bytes = calloc(1, size + 1);
    if (bytes == NULL)
        return tw_fail(err, TW_E_MEMORY, "no memory for %zu bytes of program", size);
    for (size_t i = 0; i < a->n_sections; i++) {
        const struct tw_as_section *s = &a->sections[i];
        if (!is_wanted(r, s))
            continue;
        memcpy(bytes + (apart ? at : s->address - first), s->bytes, s->size);
        at += s->size;
    }
    if (sum > 0 && !apart && first > 0)
        tw_note("the file begins with address 0x%" PRIx32 " of program memory", first);
    code = write_file(r->output, bytes, size, err);
    free(bytes);
    return code;
}

static size_t list_segments(const struct request *r, const struct tw_assembly *a, struct tw_elf_segment *segments)
{
    size_t n = 0;

    for (size_t i = 0; i < a->n_sections; i++) {
        const struct tw_as_section *s = &a->sections[i];
        struct tw_elf_segment *to = &segments[n];
        if (!is_wanted(r, s))
            continue;
        n++;
        memset(to, 0, sizeof *to);
        to->name = s->name;
        to->address = s->address;
        to->bytes = s->size;
        to->data.data = s->bytes;
        to->data.size = s->bytes == NULL ? 0 : s->size;
    }
    return n;
}

/* Numbers that do not fit into 32 bits have no place in the file. */
static size_t list_symbols(const struct request *r, const struct tw_assembly *a, struct tw_elf_symbol *symbols)
{
    size_t n = 0;

    for (size_t i = 0; i < a->n_symbols; i++) {
        const struct tw_as_symbol *s = &a->symbols[i];
        enum tw_elf_symbol_kind kind = TW_ELF_NOTYPE;
        if (s->value < INT32_MIN || s->value > UINT32_MAX ||
            (r->only != NULL && s->section >= 0 && !is_wanted(r, &a->sections[s->section])))
            continue;
        if (s->section >= 0 && s->global)
            kind = a->sections[s->section].kind == TW_SECTION_TEXT ? TW_ELF_FUNCTION : TW_ELF_OBJECT;
        symbols[n++] = (struct tw_elf_symbol){s->name, (uint32_t)s->value, 0, kind, s->global};
    }
    return n;
}

static size_t count_old(const struct tw_assembly *a)
{
    size_t n = 0;

    for (size_t i = 0; i < a->n_old; i++)
        n += a->old[i].n;
    return n;
}

static size_t list_old(const struct request *r, const struct tw_assembly *a, struct tw_elf_old *reads)
{
    size_t n = 0;

    for (size_t i = 0; i < a->n_old; i++)
        for (size_t k = 0; k < a->old[i].n && is_wanted(r, &a->sections[a->old[i].section]); k++)
            reads[n++] = (struct tw_elf_old){a->old[i].address, tw_registers[a->old[i].leaves[k]].name};
    return n;
}

static int write_elf(const struct request *r, const struct tw_assembly *a, struct tw_error *err)
{
    struct tw_elf_segment *segments = calloc(a->n_sections + 1, sizeof *segments);
    struct tw_elf_symbol *symbols = calloc(a->n_symbols + 1, sizeof *symbols);
    struct tw_elf_old *reads = calloc(count_old(a) + 1, sizeof *reads);
    unsigned char *bytes = NULL;
    size_t size;
    int code = TW_E_MEMORY;

    if (segments == NULL || symbols == NULL || reads == NULL) {
        tw_fail(err, code, "no memory for the ELF file of '%s'", a->source_name);
    } else {
        struct tw_elf_program program = {segments, list_segments(r, a, segments), symbols, list_symbols(r, a, symbols),
                                         reads,    list_old(r, a, reads)};
        code = tw_core_elf_write(&program, &bytes, &size, err);
    }
    if (code == 0)
        code = write_file(r->output, bytes, size, err);
    free(segments);
    free(symbols);
    free(reads);
    free(bytes);
    return code;
}

/* ---- the command */

static int failed(const struct tw_error *err)
{
    tw_note("%s", err->text);
    return TW_EXIT_FAILED;
}

/* What helps against the errors. */
static void hint(const struct request *r, const struct tw_assembly *a)
{
    for (size_t i = 0; i < a->n_messages; i++)
        if (strcmp(a->messages[i].kind, "overlap") == 0 && programs_overlap(r, a)) {
            tw_note("--only SECTION writes the program of one core, --raw all of them");
            return;
        }
}

static int give(const struct request *r, const struct tw_assembly *a)
{
    struct tw_error err = {0};
    int code = 0;

    if (a->n_errors == 0)
        code = check_only(r, a, &err);
    if (code == 0 && a->n_errors == 0 && r->output != NULL)
        code = r->raw ? write_raw(r, a, &err) : write_elf(r, a, &err);
    if (code < 0)
        return failed(&err);
    if (r->listing && a->n_errors == 0)
        tw_assembly_list(a, stdout);
    if (r->json && tw_assembly_print_json(a, stdout) != 0) {
        tw_note("the results cannot be written as JSON");
        return TW_EXIT_FAILED;
    }
    if (a->n_errors == 0)
        return TW_EXIT_OK;
    hint(r, a);
    tw_note("%zu error%s%s", a->n_errors, a->n_errors == 1 ? "" : "s",
            r->output != NULL ? "; nothing was written" : "");
    return TW_EXIT_FAILED;
}

static int run(const struct request *r)
{
    struct sources sources = {NULL, r->folder};
    const struct tw_as_options options = {include, &sources, r->foreign,
                                          r->output != NULL && !r->raw && r->only == NULL};
    struct tw_assembly *assembly = NULL;
    struct tw_as_text text;
    struct tw_error err = {0};

    int code = strcmp(r->path, "-") == 0 ? read_standard_input(&sources, &text, &err)
                                         : read_file(&sources, r->path, &text, &err);
    if (code == 0)
        code = tw_assemble(text.name, text.text, text.size, &options, &assembly, &err);
    int exit_code = TW_EXIT_FAILED;
    if (assembly == NULL) {
        exit_code = failed(&err);
    } else {
        print_messages(assembly, r->notes);
        exit_code = give(r, assembly);
    }
    tw_assembly_free(assembly);
    release_sources(&sources);
    return exit_code;
}

static int is_same_file(const char *a, const char *b)
{
    struct stat x, y;
    return stat(a, &x) == 0 && stat(b, &y) == 0 && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

static const char *fault_of(const struct request *r, int operands)
{
    if (operands != 1)
        return "as takes one file";
    if (r->output == NULL && !r->listing && !r->json)
        return "say where to write, by -o, or what to show: --listing or --json";
    if (r->listing && r->json)
        return "--listing and --json do not go together";
    if ((r->raw || r->only != NULL) && r->output == NULL)
        return r->raw ? "--raw needs -o" : "--only needs -o";
    if (r->output != NULL && strcmp(r->output, "-") == 0 && (r->listing || r->json))
        return "only one thing goes to standard output: -o -, --listing or --json";
    if (r->output != NULL && !is_stream(r->output) && is_same_file(r->path, r->output))
        return "the file to write is the one to read";
    return NULL;
}

int tw_cmd_as(int argc, char **argv)
{
    struct request r = {0};
    const struct tw_option options[] = {
        {.name = "output", .letter = 'o', .kind = TW_OPTION_TEXT, .to.text = &r.output},
        {.name = "include", .letter = 'I', .kind = TW_OPTION_TEXT, .to.text = &r.folder},
        {.name = "only", .kind = TW_OPTION_TEXT, .to.text = &r.only},
        {.name = "raw", .kind = TW_OPTION_FLAG, .to.flag = &r.raw},
        {.name = "foreign", .kind = TW_OPTION_FLAG, .to.flag = &r.foreign},
        {.name = "notes", .kind = TW_OPTION_FLAG, .to.flag = &r.notes},
        {.name = "listing", .kind = TW_OPTION_FLAG, .to.flag = &r.listing},
        {.name = "json", .kind = TW_OPTION_FLAG, .to.flag = &r.json},
        {.name = "help", .letter = 'h', .kind = TW_OPTION_FLAG, .to.flag = &r.help},
    };
    struct tw_error err = {0};
    int operands = tw_options_read(options, sizeof options / sizeof options[0], argc, argv, &err);
    if (operands < 0)
        return tw_usage_error("as", err.text);
    if (r.help) {
        fputs(help_text, stdout);
        return TW_EXIT_OK;
    }
    r.path = operands > 0 ? argv[1] : "";
    const char *fault = fault_of(&r, operands);
    return fault != NULL ? tw_usage_error("as", fault) : run(&r);
}
