/* tilewright emu: programs for the NPU on the emulated array. */
#include "cli/cli.h"

#include "base/log.h"
#include "cli/emu_arguments.h"
#include "cli/emu_control.h"
#include "cli/emu_program.h"
#include "cli/emu_report.h"
#include "emu/fault.h"
#include "emu/trace/chrome.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const char help_text[] = "Usage: tilewright emu run FILE [--insts FILE]... [--arg ARGUMENT]... [OPTION]...\n"
                                "Runs a program for the NPU, an xclbin or a PDI, on the emulated array.\n\n"
                                "  --insts FILE    control code: binary or hexadecimal text, transactions or the\n"
                                "                  older DPU sequence, or ELF; several run one after another\n"
                                "  --arg ARGUMENT  one for each buffer argument of the kernel, in its order:\n"
                                "                  in:FILE, out:BYTES:FILE, inout:FILE:FILE, or none\n"
                                "  --kernel NAME   of the xclbin, if it has several\n"
                                "  --repeat N      run all of it N times\n"
                                "  --clock GHZ     of the array, to show times; 1.0 if not given\n"
                                "  --limit CYCLES  a run that takes longer has failed; 2 s at 1 GHz if not given\n"
                                "  --strict        what the pipeline of a core does not forgive is an error\n"
                                "  --threads N     of the host; one for each processor if not given\n"
                                "  --trace FILE    write what happened when, for Perfetto or chrome://tracing\n"
                                "  --json          print the report as JSON\n\n"
                                "Prints what ran where and for how long; cycles and times are modelled, results\n"
                                "are exact. Files of outputs are written only if everything succeeds.\n\n"
                                "Example: tilewright emu run add_one.pdi --insts add_one_insts.txt \\\n"
                                "           --arg in:numbers.bin --arg out:4096:result.bin\n";

enum { INSTS_MAX = 64, RUNS_MAX = 10000, THREADS_MAX = 256 };

struct request {
    const char *path, *kernel, *trace;
    struct tw_option_list insts;
    struct tw_emu_arguments arguments;
    int32_t repeat;
    double clock_ghz;
    uint64_t limit;
    int32_t threads;
    int strict, json, help;
};

/* The work under way. */
struct work {
    struct tw_emu_program program;
    struct tw_buffers *buffers;
    struct tw_trace_record *record; /* NULL: not asked for */
    struct tw_firmware *firmware;
    size_t n_controls;
    struct tw_emu_control controls[INSTS_MAX];
    size_t n_runs;
    struct tw_emu_run *runs;
};

static void work_free(struct work *w)
{
    free(w->runs);
    for (size_t i = 0; i < w->n_controls; i++)
        tw_emu_control_close(&w->controls[i]);
    tw_firmware_free(w->firmware);
    tw_trace_record_free(w->record);
    tw_buffers_free(w->buffers);
    tw_emu_program_close(&w->program);
}

static int make_firmware(struct work *w, const struct request *r, struct tw_error *err)
{
    struct tw_firmware_options options = {
        .columns = w->program.columns,
        .host = tw_buffers_host(w->buffers),
        .strict = r->strict,
        .threads = (unsigned)r->threads,
    };
    int code = r->trace != NULL ? tw_trace_record_create(0, &w->record, err) : TW_OK;
    if (w->record != NULL)
        options.trace = tw_trace_record_hook(w->record);
    if (code == TW_OK)
        code = tw_firmware_create(&options, &w->firmware, err);
    if (code == TW_OK)
        code = tw_firmware_add_program(w->firmware, &w->program.pdi, err);
    return code < 0 ? code : TW_OK;
}

static int open_controls(struct work *w, const struct request *r, struct tw_error *err)
{
    int code = TW_OK;
    for (size_t i = 0; code == TW_OK && i < r->insts.n; i++) {
        struct tw_emu_control *control = &w->controls[w->n_controls++];
        code = tw_emu_control_open(r->insts.texts[i], r->arguments.addresses, r->arguments.n, control, err);
    }
    return code;
}

static int check_arguments(const struct work *w, const struct request *r, struct tw_error *err)
{
    int known = w->program.n_arguments >= 0;
    if (known && r->arguments.n > (size_t)w->program.n_arguments)
        return tw_fail(err, TW_E_ARGUMENT, "%zu arguments are given, but kernel %s of '%s' takes %d", r->arguments.n,
                       w->program.kernel, r->path, w->program.n_arguments);
    return TW_OK;
}

static int set_up(struct work *w, struct request *r, struct tw_error *err)
{
    int code = tw_emu_program_open(r->path, r->kernel, &w->program, err);
    if (code == TW_OK)
        code = tw_buffers_create(&w->buffers, err);
    if (code == TW_OK)
        code = tw_emu_arguments_make(&r->arguments, w->buffers, err);
    if (code == TW_OK)
        code = check_arguments(w, r, err);
    if (code == TW_OK)
        code = make_firmware(w, r, err);
    if (code == TW_OK)
        code = open_controls(w, r, err);
    if (code < 0)
        return code;
    w->runs = calloc((size_t)r->repeat * (r->insts.n > 0 ? r->insts.n : 1), sizeof *w->runs);
    return w->runs != NULL ? TW_OK : tw_fail(err, TW_E_MEMORY, "no memory for the report");
}

/* Runs control code, or (NULL) only loads the PDI. */
static int run_one(struct work *w, const struct request *r, const char *path, const struct tw_emu_control *control,
                   struct tw_error *err)
{
    struct tw_command command = {
        .opcode = TW_KERNEL_SEQUENCE,
        .arguments = r->arguments.addresses,
        .n_arguments = r->arguments.n,
        .limit = r->limit,
    };
    if (control != NULL) {
        command.opcode = control->opcode;
        command.host_patched = control->host_patched;
        command.control_code = control->code;
    }
    struct tw_emu_run *run = &w->runs[w->n_runs++];
    run->control = path;
    return tw_firmware_run(w->firmware, &command, &run->report, err);
}

static int run_all(struct work *w, const struct request *r, struct tw_error *err)
{
    int code = TW_OK;
    for (int32_t n = 0; code == TW_OK && n < r->repeat; n++) {
        if (r->insts.n == 0)
            code = run_one(w, r, NULL, NULL, err);
        for (size_t i = 0; code == TW_OK && i < r->insts.n; i++)
            code = run_one(w, r, r->insts.texts[i], &w->controls[i], err);
    }
    return code;
}

static int print_report(const struct work *w, const struct request *r, struct tw_error *err)
{
    const struct tw_emu_report report = {
        .file = r->path,
        .kernel = w->program.kernel,
        .columns = w->program.columns,
        .clock_ghz = r->clock_ghz,
        .n_runs = w->n_runs,
        .runs = w->runs,
        .array = tw_firmware_array(w->firmware),
    };
    if (r->json)
        return tw_emu_report_json(&report, stdout, err);
    tw_emu_report_text(&report, stdout);
    return TW_OK;
}

/* Of a run that failed too: it shows why. */
static int write_trace(const struct work *w, const struct request *r, struct tw_error *err)
{
    char loss[160];
    if (w->record == NULL)
        return TW_OK;
    int code = tw_trace_write_chrome(w->record, r->clock_ghz, r->trace, err);
    tw_trace_describe_loss(w->record, loss, sizeof loss);
    if (code == TW_OK && loss[0] != '\0')
        tw_note("'%s': %s", r->trace, loss);
    return code;
}

/* Nobody is to take results for good that were made wrong. */
static int check_faults(const struct work *w, struct tw_error *err)
{
    char faults[200];
    if (tw_faults_describe(tw_firmware_faults(w->firmware), faults, sizeof faults) == 0)
        return TW_OK;
    return tw_fail(err, TW_E_DEVICE, "the run came to its end, but its results are not to be trusted%s", faults);
}

static int run(struct request *r)
{
    struct tw_error err = {0};
    struct work *w = calloc(1, sizeof *w);
    if (w == NULL) {
        tw_note("no memory to run '%s'", r->path);
        return TW_EXIT_FAILED;
    }
    int code = set_up(w, r, &err);
    if (code == TW_OK) {
        code = run_all(w, r, &err);
        int written = write_trace(w, r, code == TW_OK ? &err : NULL);
        code = code == TW_OK ? written : code;
    }
    if (code == TW_OK)
        code = check_faults(w, &err);
    if (code == TW_OK)
        code = tw_emu_arguments_save(&r->arguments, &err);
    if (code == TW_OK)
        code = print_report(w, r, &err);
    work_free(w);
    free(w);
    if (code < 0)
        tw_note("%s", err.text);
    return code < 0 ? TW_EXIT_FAILED : TW_EXIT_OK;
}

static int is_trace(const struct request *r, const char *path)
{
    return path != NULL && strcmp(path, r->trace) == 0;
}

/* The trace is no file that the run reads or writes. */
static int check_trace(const struct request *r, struct tw_error *err)
{
    if (r->trace == NULL)
        return TW_OK;
    int is_one = is_trace(r, r->path);
    for (size_t i = 0; i < r->insts.n; i++)
        is_one |= is_trace(r, r->insts.texts[i]);
    for (size_t i = 0; i < r->arguments.n; i++)
        is_one |= is_trace(r, r->arguments.list[i].in) || is_trace(r, r->arguments.list[i].out);
    return is_one ? tw_fail(err, TW_E_ARGUMENT, "--trace would replace '%s', a file of the run", r->trace) : TW_OK;
}

int tw_cmd_emu(int argc, char **argv)
{
    const char *insts[INSTS_MAX], *arguments[TW_EMU_ARGUMENTS_MAX];
    struct tw_option_list texts = {arguments, 0, TW_EMU_ARGUMENTS_MAX};
    struct request r = {
        .insts = {insts, 0, INSTS_MAX},
        .repeat = 1,
        .clock_ghz = 1.0,
    };
    const struct tw_option options[] = {
        {.name = "insts", .kind = TW_OPTION_LIST, .to.list = &r.insts},
        {.name = "arg", .kind = TW_OPTION_LIST, .to.list = &texts},
        {.name = "kernel", .kind = TW_OPTION_TEXT, .to.text = &r.kernel},
        {.name = "repeat", .kind = TW_OPTION_COUNT, .to.count = &r.repeat, .low = 1, .high = RUNS_MAX},
        {.name = "clock", .kind = TW_OPTION_REAL, .to.real = &r.clock_ghz, .low = 0.1, .high = 10},
        {.name = "limit", .kind = TW_OPTION_SEED, .to.seed = &r.limit},
        {.name = "threads", .kind = TW_OPTION_COUNT, .to.count = &r.threads, .low = 1, .high = THREADS_MAX},
        {.name = "trace", .kind = TW_OPTION_TEXT, .to.text = &r.trace},
        {.name = "strict", .kind = TW_OPTION_FLAG, .to.flag = &r.strict},
        {.name = "json", .kind = TW_OPTION_FLAG, .to.flag = &r.json},
        {.name = "help", .letter = 'h', .kind = TW_OPTION_FLAG, .to.flag = &r.help},
    };
    struct tw_error err = {0};
    int operands = tw_options_read(options, sizeof options / sizeof options[0], argc, argv, &err);
    if (operands < 0)
        return tw_usage_error("emu", err.text);
    if (r.help) {
        fputs(help_text, stdout);
        return TW_EXIT_OK;
    }
    if (operands < 1 || strcmp(argv[1], "run") != 0)
        return tw_usage_error("emu", "emu takes an action, which is run");
    if (operands != 2)
        return tw_usage_error("emu", "emu run takes one xclbin or PDI");
    r.path = argv[2];
    int code = tw_emu_arguments_read(&texts, &r.arguments, &err);
    if (code == TW_OK)
        code = tw_emu_arguments_check(&r.arguments, r.insts.n, &err);
    if (code == TW_OK)
        code = check_trace(&r, &err);
    int exit_code = code < 0 ? tw_usage_error("emu", err.text) : run(&r);
    tw_emu_arguments_free(&r.arguments);
    return exit_code;
}
