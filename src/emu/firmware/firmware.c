#include "emu/firmware/state.h"

#include <stdlib.h>

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
    const struct tw_array_options array = {
        .columns = options->columns,
        .host = options->host,
        .kernels = options->kernels,
        .unknown = &fw->unknown,
        .strict = options->strict,
    };
    int code = tw_array_create(&array, &fw->array, err);
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
    free(firmware);
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
    int code = tw_firmware_load(fw, &fw->programs[program], err);
    if (code < 0)
        report->status = TW_FIRMWARE_LOAD_FAILED;
    else
        fw->loaded = program;
    return code;
}

int tw_firmware_run(struct tw_firmware *firmware, const struct tw_command *command, struct tw_command_report *report,
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
    code = tw_firmware_execute(firmware, command, report, err);
    report->cycles = tw_array_clock(firmware->array) - begin;
    if (code < 0 && report->status == TW_FIRMWARE_OK)
        report->status = TW_FIRMWARE_NO_ANSWER;
    return code;
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
