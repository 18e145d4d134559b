#include "emu/fault.h"
#include "emu/firmware/state.h"
#include "emu/firmware/tell.h"
#include "emu/firmware/usage.h"

#include <stdlib.h>

/* What a fault does to a new context. */
static int admit(const struct tw_firmware *fw, struct tw_error *err)
{
    if (!fw->options.is_admitted && tw_fault_hits(fw->options.faults, TW_FAULT_CONTEXT))
        return tw_fail(err, TW_E_BUSY, "the firmware refuses the context, a fault on purpose");
    if (tw_fault_hits(fw->options.faults, TW_FAULT_MEMORY))
        return tw_fail(err, TW_E_MEMORY, "no memory for the array, a fault on purpose");
    return TW_OK;
}

static int set_up(struct tw_firmware *fw, struct tw_error *err)
{
    int code = TW_OK;
    if (fw->options.faults == NULL) {
        code = tw_faults_from_environment(&fw->own_faults, err);
        fw->options.faults = fw->own_faults;
    }
    if (code == TW_OK)
        code = admit(fw, err);
    const struct tw_array_options array = {
        .columns = fw->options.columns,
        .host = fw->options.host,
        .kernels = fw->options.kernels,
        .unknown = &fw->unknown,
        .strict = fw->options.strict,
        .threads = fw->options.threads,
        .trace = fw->options.trace,
        .faults = fw->options.faults,
    };
    return code == TW_OK ? tw_array_create(&array, &fw->array, err) : code;
}

int tw_firmware_create(const struct tw_firmware_options *options, struct tw_firmware **firmware, struct tw_error *err)
{
    *firmware = NULL;
    if (options->columns == 0 || options->columns > TW_FIRMWARE_COLUMNS)
        return tw_fail(err, TW_E_ARGUMENT, "a partition has 1 to %d columns, not %u", TW_FIRMWARE_COLUMNS,
                       options->columns);
    struct tw_firmware *fw = calloc(1, sizeof *fw);
    if (fw == NULL)
        return tw_fail(err, TW_E_MEMORY, "no memory for the firmware's state");
    fw->options = *options;
    fw->unknown = options->unknown != NULL ? *options->unknown : tw_unknown_defaults;
    fw->loaded = TW_NO_PROGRAM;
    int code = set_up(fw, err);
    if (code < 0) {
        tw_firmware_free(fw);
        return code;
    }
    *firmware = fw;
    return TW_OK;
}

void tw_firmware_free(struct tw_firmware *firmware)
{
    if (firmware == NULL)
        return;
    tw_array_free(firmware->array);
    tw_faults_free(firmware->own_faults);
    free(firmware);
}

const struct tw_faults *tw_firmware_faults(const struct tw_firmware *firmware)
{
    return firmware->options.faults;
}

struct tw_array *tw_firmware_array(struct tw_firmware *firmware)
{
    return firmware->array;
}

int tw_firmware_add_program(struct tw_firmware *firmware, const struct tw_view *pdi, struct tw_error *err)
{
    if (firmware->n_programs == TW_FIRMWARE_PROGRAMS)
        return tw_view_fail(pdi, 0, TW_E_LIMIT, err, "a context has at most %d programs", TW_FIRMWARE_PROGRAMS);
    struct tw_pdi *program = &firmware->programs[firmware->n_programs];
    int code = tw_pdi_open(pdi, program, err);
    if (code == TW_OK)
        code = tw_firmware_check_program(firmware, program, err);
    return code < 0 ? code : (int)firmware->n_programs++;
}

/* Loads the command's program when another is, or none. */
static int ensure_loaded(struct tw_firmware *fw, unsigned program, uint64_t limit, struct tw_command_report *report,
                         struct tw_error *err)
{
    if (program >= fw->n_programs) {
        report->status = TW_FIRMWARE_LOAD_FAILED;
        return tw_fail(err, TW_E_ARGUMENT, "the command names program %u, but the context has %u", program,
                       fw->n_programs);
    }
    if (program == fw->loaded)
        return TW_OK;
    report->loaded = 1;
    if (!fw->unknown.load_keeps_array)
        tw_array_reset(fw->array);
    fw->loaded = TW_NO_PROGRAM;
    fw->end = tw_array_clock(fw->array) + limit;
    tw_firmware_tell(fw, TW_TRACE_BEGIN, TW_TRACE_LOAD, NULL, program, 0);
    int code = tw_firmware_load(fw, &fw->programs[program], err);
    tw_firmware_tell_end(fw, TW_TRACE_END, TW_TRACE_LOAD);
    if (code < 0)
        report->status = TW_FIRMWARE_LOAD_FAILED;
    else
        fw->loaded = program;
    return code;
}

static int run(struct tw_firmware *firmware, const struct tw_command *command, struct tw_command_report *report,
               struct tw_error *err)
{
    uint64_t limit = command->limit != 0 ? command->limit : TW_COMMAND_LIMIT;
    *report = (struct tw_command_report){.status = TW_FIRMWARE_OK};
    if (command->n_arguments > TW_FIRMWARE_ARGUMENTS)
        return tw_fail(err, TW_E_LIMIT, "a command has at most %d buffers, not %zu", TW_FIRMWARE_ARGUMENTS,
                       command->n_arguments);
    int code = ensure_loaded(firmware, command->program, limit, report, err);
    if (code < 0)
        return code;
    uint64_t begin = tw_array_clock(firmware->array);
    firmware->end = begin + limit;
    tw_usage_begin(firmware);
    code = tw_firmware_execute(firmware, command, report, err);
    report->cycles = tw_array_clock(firmware->array) - begin;
    tw_usage_end(firmware, report);
    if (code < 0 && report->status == TW_FIRMWARE_OK)
        report->status = TW_FIRMWARE_NO_ANSWER;
    return code;
}

int tw_firmware_run(struct tw_firmware *firmware, const struct tw_command *command, struct tw_command_report *report,
                    struct tw_error *err)
{
    struct tw_error why = {0};
    char faults[200];
    tw_firmware_tell(firmware, TW_TRACE_BEGIN, TW_TRACE_COMMAND, NULL, ++firmware->n_commands, command->program);
    int code = run(firmware, command, report, &why);
    tw_firmware_tell_end(firmware, TW_TRACE_END_ALL, TW_TRACE_COMMAND);
    if (code >= 0)
        return code;
    tw_faults_describe(firmware->options.faults, faults, sizeof faults);
    /* What the text may be too long for is its own end, not the faults. */
    return tw_fail(err, code, "%.*s%s", (int)(sizeof why.text - sizeof faults), why.text, faults);
}

int tw_firmware_run_chain(struct tw_firmware *firmware, const struct tw_command *commands, size_t n,
                          struct tw_command_report *reports, size_t *failed, struct tw_error *err)
{
    for (size_t i = 0; i < n; i++) {
        int code = tw_firmware_run(firmware, &commands[i], &reports[i], err);
        if (code < 0 && failed != NULL)
            *failed = i;
        if (code < 0)
            return code;
    }
    return TW_OK;
}
