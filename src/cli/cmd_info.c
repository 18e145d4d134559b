/* tilewright info: the NPU that this machine has, or exactly what is missing. */
#include "cli/cli.h"

#include "base/log.h"
#include "cli/doctor.h"
#include "cli/options.h"
#include "device/device.h"

#include <inttypes.h>
#include <jansson.h>

static const char help_text[] = "Usage: tilewright info [--device DEVICE] [--json]\n"
                                "Shows the NPU: driver, firmware, array, clocks, contexts in use and memory, or\n"
                                "exactly what is missing (tilewright doctor shows all checks).\n\n"
                                "  --device DEVICE       npu, emu (the emulator) or auto: what TILEWRIGHT_DEVICE\n"
                                "                        says, else npu; auto if not given\n"
                                "  --json                print it as JSON\n"
                                "  --trace-ioctl FILE    write a line for each call to the driver\n\n"
                                "Example: tilewright info --json\n";

static const char *power_name(unsigned mode)
{
    static const char *const names[] = {"default", "low", "medium", "high", "turbo"};
    return mode < sizeof names / sizeof names[0] ? names[mode] : "unknown";
}

static void print_text(const struct tw_device *d, const struct tw_driver_facts *f)
{
    const struct tw_xdna_firmware *v = &f->firmware;
    printf("device     %s%s\n", d->node, d->emulated != NULL ? " (emulated)" : "");
    printf("driver     amdxdna, interface %d.%d\n", d->file.major, d->file.minor);
    printf("firmware   %u.%u.%u.%u\n", v->major, v->minor, v->patch, v->build);
    printf("array      %u columns of %u core rows, version %u.%u\n", f->array.columns, f->array.core.row_count,
           f->array.version.major, f->array.version.minor);
    printf("clocks     array %u MHz, controller %u MHz, power mode %s\n", f->clocks.array.mhz, f->clocks.npu.mhz,
           power_name(f->power.mode));
    printf("contexts   %u of %u in use\n", f->n_contexts, f->contexts_max);
    for (unsigned i = 0; i < f->n_contexts && i < TW_CONTEXTS_SHOWN; i++)
        printf("           pid %" PRId64 ", columns %u to %u: %" PRIu64 " commands done, %" PRIu64 " errors\n",
               f->contexts[i].pid, f->contexts[i].start_column,
               f->contexts[i].start_column + f->contexts[i].columns - 1, f->contexts[i].completions,
               f->contexts[i].errors);
    printf("memory     %" PRIu64 " bytes of this process, heap %d bytes\n", f->memory.total, TW_XDNA_HEAP_BYTES);
}

static json_t *contexts_json(const struct tw_driver_facts *f)
{
    json_t *list = json_array();
    for (unsigned i = 0; i < f->n_contexts && i < TW_CONTEXTS_SHOWN; i++)
        json_array_append_new(
            list, json_pack("{s:I, s:i, s:i, s:I, s:I}", "pid", (json_int_t)f->contexts[i].pid, "start_column",
                            (int)f->contexts[i].start_column, "columns", (int)f->contexts[i].columns, "completions",
                            (json_int_t)f->contexts[i].completions, "errors", (json_int_t)f->contexts[i].errors));
    return list;
}

static int print_json(json_t *all)
{
    int lost = all == NULL || json_dumpf(all, stdout, JSON_INDENT(2)) != 0 || putchar('\n') == EOF;
    json_decref(all);
    if (lost)
        tw_note("the device cannot be written as JSON");
    return lost ? TW_EXIT_FAILED : TW_EXIT_OK;
}

static int print_device_json(const struct tw_device *d, const struct tw_driver_facts *f)
{
    const struct tw_xdna_firmware *v = &f->firmware;
    char firmware[64], driver[32];
    snprintf(firmware, sizeof firmware, "%u.%u.%u.%u", v->major, v->minor, v->patch, v->build);
    snprintf(driver, sizeof driver, "%d.%d", d->file.major, d->file.minor);
    return print_json(
        json_pack("{s:s, s:b, s:s, s:s, s:{s:i, s:i}, s:{s:i, s:i}, s:s, s:{s:i, s:i, s:o}, s:{s:I, s:i}}", "device",
                  d->node, "emulated", d->emulated != NULL, "driver", driver, "firmware", firmware, "array", "columns",
                  (int)f->array.columns, "core_rows", (int)f->array.core.row_count, "mhz", "array",
                  (int)f->clocks.array.mhz, "controller", (int)f->clocks.npu.mhz, "power", power_name(f->power.mode),
                  "contexts", "used", (int)f->n_contexts, "limit", (int)f->contexts_max, "list", contexts_json(f),
                  "memory", "process", (json_int_t)f->memory.total, "heap", (int)TW_XDNA_HEAP_BYTES));
}

/* Nothing opens: the first check that fails says more than the attempt did. */
static int print_missing(const struct tw_error *err, int json)
{
    const struct tw_calls calls = tw_system_calls();
    const struct tw_patient patient = {.root = "", .calls = &calls};
    struct tw_diagnosis diagnosis;
    tw_doctor_examine(&patient, &diagnosis);
    int failed = !tw_doctor_healthy(&diagnosis);
    const struct tw_check *c = failed ? &diagnosis.checks[diagnosis.first] : NULL;
    if (json) {
        print_json(json_pack("{s:n, s:{s:s, s:s, s:s}}", "device", "missing", "check", c != NULL ? c->name : "open",
                             "text", c != NULL ? c->text : err->text, "mend", c != NULL ? c->mend : ""));
    } else if (c != NULL) {
        printf("no NPU: %s: %s\n", c->name, c->text);
        printf("mend:   %s\n", c->mend);
    } else {
        printf("no NPU: %s\n", err->text);
    }
    tw_flush_stdout(); /* the exit code is the same */
    return TW_EXIT_FAILED;
}

static int show(const struct tw_device_options *o, int json)
{
    struct tw_error err = {0};
    struct tw_driver_facts facts;
    struct tw_device *device = NULL;
    int code = tw_device_open(o, &device, &err);
    int looked_for = o->kind != TW_DEVICE_EMU && code != TW_E_ARGUMENT && code != TW_E_MEMORY;
    if (code < 0 && looked_for)
        return print_missing(&err, json);
    if (code < 0) {
        tw_note("%s", err.text);
        return TW_EXIT_FAILED;
    }
    tw_query_facts(&device->file, &facts);
    if (tw_device_check_trace(device, &err) < 0) {
        tw_note("%s", err.text);
        tw_device_close(device);
        return TW_EXIT_FAILED;
    }
    int exit_code = TW_EXIT_OK;
    if (json)
        exit_code = print_device_json(device, &facts);
    else
        print_text(device, &facts);
    tw_device_close(device);
    return exit_code;
}

int tw_cmd_info(int argc, char **argv)
{
    int json = 0, help = 0;
    const char *device = "auto";
    struct tw_device_options o = {.kind = TW_DEVICE_AUTO};
    const struct tw_option options[] = {
        {.name = "device", .kind = TW_OPTION_TEXT, .to.text = &device},
        {.name = "json", .kind = TW_OPTION_FLAG, .to.flag = &json},
        {.name = "trace-ioctl", .kind = TW_OPTION_TEXT, .to.text = &o.trace},
        {.name = "help", .letter = 'h', .kind = TW_OPTION_FLAG, .to.flag = &help},
    };
    struct tw_error err = {0};
    int operands = tw_options_read(options, sizeof options / sizeof options[0], argc, argv, &err);
    if (operands < 0)
        return tw_usage_error("info", err.text);
    if (help) {
        fputs(help_text, stdout);
        return TW_EXIT_OK;
    }
    if (operands > 0)
        return tw_usage_error("info", "info takes no operands");
    if (tw_device_kind_read(device, &o.kind, &err) < 0)
        return tw_usage_error("info", err.text);
    return show(&o, json);
}
