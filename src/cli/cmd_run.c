/* tilewright run: a program for the NPU through the kernel's driver, on silicon or on the emulated one. */
#include "cli/cli.h"

#include "base/clock.h"
#include "base/file_map.h"
#include "base/log.h"
#include "cli/emu_arguments.h"
#include "cli/options.h"
#include "device/device.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

static const char help_text[] = "Usage: tilewright run FILE [--insts FILE]... [--arg ARGUMENT]... [OPTION]...\n"
                                "Runs a program for the NPU, an xclbin or a PDI, through the kernel's driver.\n\n"
                                "  --insts FILE    control code: binary or hexadecimal text, transactions or the\n"
                                "                  older DPU sequence, or ELF; several run one after another\n"
                                "  --arg ARGUMENT  one for each buffer argument of the kernel, in its order:\n"
                                "                  in:FILE, out:BYTES:FILE, inout:FILE:FILE, or none\n"
                                "  --kernel NAME   of the xclbin, if it has several\n"
                                "  --columns N     of the array; as the xclbin says if not given\n"
                                "  --repeat N      run all of it N times\n"
                                "  --chain         send all --insts as one command\n"
                                "  --device DEVICE npu, emu (the emulator) or auto: TILEWRIGHT_DEVICE, else npu\n"
                                "  --trace-ioctl FILE  write a line for each call to the driver\n"
                                "  --json          print the report as JSON\n\n"
                                "Times are wall time; with --device emu they are the emulator's own. Files of\n"
                                "outputs are written only if everything succeeds.\n\n"
                                "Example: tilewright run add_one.xclbin --insts insts.bin \\\n"
                                "           --arg in:numbers.bin --arg out:4096:result.bin\n";

enum { INSTS_MAX = 36, REPEATS_MAX = 1000000 };

struct request {
    const char *path, *kernel;
    struct tw_device_options device;
    struct tw_option_list insts;
    struct tw_emu_arguments arguments;
    int32_t repeat, columns;
    int chain, json, help;
};

/* The work under way. */
struct work {
    struct tw_device *device;
    struct tw_context *context;
    struct tw_buffer *buffers[TW_EMU_ARGUMENTS_MAX];
    struct tw_job *jobs[INSTS_MAX]; /* one for each file of control code, or the one without any */
    unsigned n_jobs;
    struct tw_job *chain; /* NULL: they run alone */
    unsigned commands;
    double seconds;
};

static void work_free(struct work *w)
{
    tw_job_destroy(w->chain);
    for (unsigned i = 0; i < w->n_jobs; i++)
        tw_job_destroy(w->jobs[i]);
    for (size_t i = 0; i < TW_EMU_ARGUMENTS_MAX; i++)
        tw_buffer_destroy(w->buffers[i]);
    tw_context_destroy(w->context);
    tw_device_close(w->device);
}

/* A tw_emu_buffer_function. */
static int make_buffer(void *arg, size_t index, struct tw_emu_argument *a, struct tw_error *err)
{
    struct work *w = arg;
    int code = tw_buffer_create(w->device, (size_t)a->size, &w->buffers[index], err);
    if (code == TW_OK)
        a->bytes = tw_buffer_data(w->buffers[index]);
    return code;
}

static int add_job(struct work *w, unsigned program, const char *path, const struct request *r, struct tw_error *err)
{
    struct tw_file_map map = {0};
    int code = path != NULL ? tw_file_map_open(path, &map, err) : TW_OK;
    if (code == TW_OK && path != NULL && map.size == 0)
        code = tw_fail(err, TW_E_FORMAT, "'%s' is empty; control code is not", path);
    if (code == TW_OK)
        code = tw_job_create(w->context, program, map.data, map.size, &w->jobs[w->n_jobs], err);
    tw_file_map_close(&map);
    if (code < 0)
        return code;
    struct tw_job *job = w->jobs[w->n_jobs++];
    for (size_t i = 0; code == TW_OK && i < r->arguments.n; i++)
        if (w->buffers[i] != NULL)
            code = tw_job_set_buffer(job, (unsigned)i, w->buffers[i], err);
    return code;
}

static int add_jobs(struct work *w, const struct request *r, struct tw_error *err)
{
    int program = tw_context_find(w->context, r->kernel, err);
    int code = program < 0 ? program : TW_OK;
    if (code == TW_OK && r->insts.n == 0)
        code = add_job(w, (unsigned)program, NULL, r, err);
    for (size_t i = 0; code == TW_OK && i < r->insts.n; i++)
        code = add_job(w, (unsigned)program, r->insts.texts[i], r, err);
    if (code == TW_OK && r->chain)
        code = tw_chain_create(w->jobs, w->n_jobs, &w->chain, err);
    return code;
}

static int set_up(struct work *w, struct request *r, struct tw_error *err)
{
    int code = tw_device_open(&r->device, &w->device, err);
    if (code == TW_OK)
        code = tw_context_load(w->device, r->path, (unsigned)r->columns, &w->context, err);
    if (code == TW_OK)
        code = tw_emu_arguments_fill(&r->arguments, make_buffer, w, err);
    for (size_t i = 0; code == TW_OK && i < r->arguments.n; i++)
        if (w->buffers[i] != NULL)
            code = tw_buffer_to_npu(w->buffers[i], 0, tw_buffer_size(w->buffers[i]), err);
    return code < 0 ? code : add_jobs(w, r, err);
}

static int run_all(struct work *w, const struct request *r, struct tw_error *err)
{
    int code = TW_OK;
    double start = tw_seconds();
    for (int32_t n = 0; code == TW_OK && n < r->repeat; n++) {
        if (w->chain != NULL)
            code = tw_job_run(w->chain, err);
        for (unsigned i = 0; code == TW_OK && w->chain == NULL && i < w->n_jobs; i++)
            code = tw_job_run(w->jobs[i], err);
    }
    w->seconds = tw_seconds() - start;
    w->commands = (unsigned)r->repeat * (w->chain != NULL ? 1 : w->n_jobs);
    return code;
}

static int save(const struct work *w, const struct request *r, struct tw_error *err)
{
    int code = TW_OK;
    for (size_t i = 0; code == TW_OK && i < r->arguments.n; i++)
        if (w->buffers[i] != NULL && r->arguments.list[i].out != NULL)
            code = tw_buffer_from_npu(w->buffers[i], 0, tw_buffer_size(w->buffers[i]), err);
    return code < 0 ? code : tw_emu_arguments_save(&r->arguments, err);
}

static int print_report(const struct work *w, const struct request *r, struct tw_error *err)
{
    int emulated = w->device->emulated != NULL;
    double each = w->seconds / w->commands;
    if (!r->json) {
        printf("%s: %u command%s on %s%s, %.3f ms each%s\n", r->path, w->commands, w->commands == 1 ? "" : "s",
               w->device->node, emulated ? " (emulated)" : "", 1e3 * each, emulated ? " of the emulator's time" : "");
        return TW_OK;
    }
    json_t *all = json_pack("{s:s, s:s, s:b, s:i, s:i, s:f}", "file", r->path, "device", w->device->node, "emulated",
                            emulated, "commands", (int)w->commands, "jobs", (int)w->n_jobs, "seconds", w->seconds);
    int lost = all == NULL || json_dumpf(all, stdout, JSON_INDENT(2)) != 0 || putchar('\n') == EOF;
    json_decref(all);
    return lost ? tw_fail(err, TW_E_IO, "the report cannot be written as JSON") : TW_OK;
}

static int run(struct request *r)
{
    struct tw_error err = {0};
    struct work w;
    memset(&w, 0, sizeof w);
    int code = set_up(&w, r, &err);
    if (code == TW_OK)
        code = run_all(&w, r, &err);
    if (code == TW_OK)
        code = tw_device_check_trace(w.device, &err);
    if (code == TW_OK)
        code = save(&w, r, &err);
    if (code == TW_OK)
        code = print_report(&w, r, &err);
    work_free(&w);
    if (code < 0)
        tw_note("%s", err.text);
    return code < 0 ? TW_EXIT_FAILED : TW_EXIT_OK;
}

int tw_cmd_run(int argc, char **argv)
{
    const char *insts[INSTS_MAX], *texts[TW_EMU_ARGUMENTS_MAX], *device = "auto";
    struct tw_option_list arguments = {texts, 0, TW_EMU_ARGUMENTS_MAX};
    struct request r = {.insts = {insts, 0, INSTS_MAX}, .repeat = 1};
    const struct tw_option options[] = {
        {.name = "insts", .kind = TW_OPTION_LIST, .to.list = &r.insts},
        {.name = "arg", .kind = TW_OPTION_LIST, .to.list = &arguments},
        {.name = "kernel", .kind = TW_OPTION_TEXT, .to.text = &r.kernel},
        {.name = "columns", .kind = TW_OPTION_COUNT, .to.count = &r.columns, .low = 1, .high = TW_XDNA_COLUMNS},
        {.name = "repeat", .kind = TW_OPTION_COUNT, .to.count = &r.repeat, .low = 1, .high = REPEATS_MAX},
        {.name = "chain", .kind = TW_OPTION_FLAG, .to.flag = &r.chain},
        {.name = "device", .kind = TW_OPTION_TEXT, .to.text = &device},
        {.name = "trace-ioctl", .kind = TW_OPTION_TEXT, .to.text = &r.device.trace},
        {.name = "json", .kind = TW_OPTION_FLAG, .to.flag = &r.json},
        {.name = "help", .letter = 'h', .kind = TW_OPTION_FLAG, .to.flag = &r.help},
    };
    struct tw_error err = {0};
    int operands = tw_options_read(options, sizeof options / sizeof options[0], argc, argv, &err);
    if (operands < 0)
        return tw_usage_error("run", err.text);
    if (r.help) {
        fputs(help_text, stdout);
        return TW_EXIT_OK;
    }
    if (operands != 1)
        return tw_usage_error("run", "run takes one xclbin or PDI");
    if (tw_device_kind_read(device, &r.device.kind, &err) < 0)
        return tw_usage_error("run", err.text);
    r.path = argv[1];
    int exit_code = TW_EXIT_USAGE;
    if (tw_emu_arguments_read(&arguments, &r.arguments, &err) < 0 ||
        tw_emu_arguments_check(&r.arguments, r.insts.n, &err) < 0)
        tw_usage_error("run", err.text);
    else
        exit_code = run(&r);
    tw_emu_arguments_free(&r.arguments);
    return exit_code;
}
