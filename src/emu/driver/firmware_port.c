#include "emu/driver/firmware_port.h"

#include "emu/firmware.h"

#include <stdlib.h>

struct port {
    const struct tw_unknown *unknown;
    int strict;
    struct tw_faults *faults;
};

static int create(void *arg, unsigned columns, const struct tw_host_memory *host, void **context, struct tw_error *err)
{
    const struct port *port = arg;
    struct tw_firmware_options options = {
        .columns = columns,
        .host = *host,
        .unknown = port->unknown,
        .strict = port->strict,
        .faults = port->faults,
        .is_admitted = 1,
    };
    struct tw_firmware *firmware;
    int r = tw_firmware_create(&options, &firmware, err);
    if (r == 0)
        *context = firmware;
    return r;
}

static void destroy(void *context)
{
    tw_firmware_free(context);
}

static int add_program(void *context, const unsigned char *pdi, size_t bytes, struct tw_error *err)
{
    struct tw_view view = {.data = pdi, .size = bytes, .file = "PDI of the context"};
    return tw_firmware_add_program(context, &view, err);
}

static int no_such_opcode(uint32_t opcode, struct tw_emu_result *result, struct tw_error *err)
{
    result->end = TW_EMU_FAILED;
    result->status = TW_FIRMWARE_INVALID_INSTRUCTION;
    return tw_fail(err, TW_E_UNSUPPORTED, "control code of kind %u is not modelled", opcode);
}

static int run(void *context, const struct tw_emu_work *work, struct tw_emu_result *result, struct tw_error *err)
{
    struct tw_command_report report = {0};
    struct tw_command command = {
        .program = (unsigned)work->program,
        .opcode = (enum tw_kernel_opcode)work->opcode,
        .host_patched = work->host_patched,
        .control_code = {.data = work->code, .size = work->code_bytes, .file = "control code"},
        .arguments = work->buffers,
        .n_arguments = work->n_buffers,
        .limit = work->limit,
    };
    if (work->opcode != TW_KERNEL_SEQUENCE && work->opcode != TW_KERNEL_TRANSACTION)
        return no_such_opcode(work->opcode, result, err);
    int r = tw_firmware_run(context, &command, &report, err);
    result->figures = (struct tw_emu_figures){.cycles = report.cycles,
                                              .launch_cycles = report.launch_cycles,
                                              .wait_cycles = report.wait_cycles,
                                              .read_bytes = report.usage.read_bytes,
                                              .write_bytes = report.usage.write_bytes,
                                              .bound = tw_bound_names[report.bound]};
    result->loaded = report.loaded;
    result->status = report.status;
    if (r == 0)
        result->end = TW_EMU_DONE;
    else
        result->end =
            report.status == TW_FIRMWARE_OK || report.status == TW_FIRMWARE_NO_ANSWER ? TW_EMU_HUNG : TW_EMU_FAILED;
    return r;
}

int tw_drv_port_create(const struct tw_emu_driver_options *options, void **made, struct tw_emu_firmware *firmware,
                       struct tw_error *err)
{
    struct port *port = malloc(sizeof *port);
    if (port == NULL)
        return tw_fail(err, TW_E_MEMORY, "out of memory");
    *port = (struct port){.unknown = options->unknown, .strict = options->strict, .faults = options->faults};
    *firmware = (struct tw_emu_firmware){
        .arg = port, .create = create, .destroy = destroy, .add_program = add_program, .run = run};
    *made = port;
    return 0;
}

void tw_drv_port_free(void *port)
{
    free(port);
}
