/* Executing a command's control code, whatever form it comes in. */
#include "emu/cycles.h"
#include "emu/firmware/operation.h"
#include "emu/firmware/tell.h"
#include "npu1/control_code.h"
#include "npu1/dpu_sequence.h"

#include <inttypes.h>
#include <string.h>

const char *const tw_command_count_names[TW_COMMAND_COUNTS] = {
    "write", "block write", "mask write", "poll", "noop", "wait", "patch",
};

typedef int do_operation(struct tw_firmware *fw, const struct tw_control_op *op, struct tw_error *err);

static int do_nothing(struct tw_firmware *fw, const struct tw_control_op *op, struct tw_error *err)
{
    (void)op;
    return tw_firmware_pass(fw, TW_CYCLES_NOOP, err);
}

static int refuse(struct tw_firmware *fw, const struct tw_control_op *op, struct tw_error *err)
{
    fw->report->status = TW_FIRMWARE_INVALID_INSTRUCTION;
    return tw_fail(err, TW_E_UNSUPPORTED,
                   "the firmware of NPU1 is not known to take the code 0x%02x and answers with status 0x%x", op->code,
                   (unsigned)TW_FIRMWARE_INVALID_INSTRUCTION);
}

static const struct {
    do_operation *run;
    enum tw_command_count count;
} operations[] = {
    [TW_CONTROL_OP_WRITE] = {tw_operation_write, TW_COUNT_WRITE},
    [TW_CONTROL_OP_BLOCK_WRITE] = {tw_operation_block_write, TW_COUNT_BLOCK_WRITE},
    [TW_CONTROL_OP_MASK_WRITE] = {tw_operation_mask_write, TW_COUNT_MASK_WRITE},
    [TW_CONTROL_OP_POLL] = {tw_operation_poll, TW_COUNT_POLL},
    [TW_CONTROL_OP_NOOP] = {do_nothing, TW_COUNT_NOOP},
    [TW_CONTROL_OP_WAIT] = {tw_operation_wait, TW_COUNT_WAIT},
    [TW_CONTROL_OP_PATCH] = {tw_operation_patch, TW_COUNT_PATCH},
    [TW_CONTROL_OP_OTHER] = {refuse, TW_COMMAND_COUNTS},
};

static int execute_op(struct tw_firmware *fw, const struct tw_control_op *op, struct tw_error *err)
{
    struct tw_error why = {0};
    struct tw_command_report *report = fw->report;
    tw_firmware_tell(fw, TW_TRACE_BEGIN, TW_TRACE_OPERATION, op->name, op->address, (int64_t)report->operations);
    int code = operations[op->kind].run(fw, op, &why);
    if (code < 0)
        return tw_fail(err, code, "'%s', operation %" PRIu64 " (%s): %s", op->words.file, report->operations, op->name,
                       why.text);
    tw_firmware_tell_end(fw, TW_TRACE_END, TW_TRACE_OPERATION);
    report->operations++;
    report->counts[operations[op->kind].count]++;
    return TW_OK;
}

static int execute_transaction(struct tw_firmware *fw, struct tw_error *err)
{
    struct tw_control_code control;
    struct tw_control_op op;
    size_t at = 0;
    int more = 1, code = tw_control_code_open(&fw->command->control_code, &control, err);
    while (code == TW_OK && more == 1) {
        more = tw_control_code_next(&control, &at, &op, err);
        code = more == 1 ? execute_op(fw, &op, err) : more;
    }
    return code;
}

static int execute_sequence(struct tw_firmware *fw, struct tw_error *err)
{
    struct tw_dpu_sequence sequence;
    struct tw_control_op op;
    size_t at = 0;
    int more = 1, code = tw_dpu_sequence_open(&fw->command->control_code, &sequence, err);
    while (code == TW_OK && more == 1) {
        more = tw_dpu_sequence_next(&sequence, &at, &op, err);
        code = more == 1 ? execute_op(fw, &op, err) : more;
    }
    return code;
}

/* Only when a switch says so: what some public designs seem to need. */
static int release_cores(struct tw_firmware *fw, struct tw_error *err)
{
    enum { RESET = 2 /* in a core's control register */ };
    int code = TW_OK;
    for (unsigned column = 0; column < fw->options.columns; column++)
        for (unsigned row = TW_NPU1_CORE_ROW; code == TW_OK && row < TW_NPU1_ROWS; row++)
            code = tw_array_mask_write(fw->array, tw_tile_address(column, row, TW_CORE_CONTROL), RESET, 0, err);
    return code;
}

int tw_firmware_execute(struct tw_firmware *fw, const struct tw_command *command, struct tw_command_report *report,
                        struct tw_error *err)
{
    fw->command = command;
    fw->report = report;
    fw->has_waited = 0;
    memset(fw->queues, 0, sizeof fw->queues);
    int code = fw->unknown.launch_releases_reset ? release_cores(fw, err) : TW_OK;
    tw_firmware_tell(fw, TW_TRACE_BEGIN, TW_TRACE_LAUNCH, NULL, 0, 0);
    if (code == TW_OK)
        code = tw_firmware_launch(fw, TW_CYCLES_LAUNCH, err);
    tw_firmware_tell_end(fw, TW_TRACE_END, TW_TRACE_LAUNCH);
    if (code < 0 || command->control_code.size == 0)
        return code;
    if (command->opcode == TW_KERNEL_TRANSACTION)
        return execute_transaction(fw, err);
    if (command->opcode == TW_KERNEL_SEQUENCE)
        return execute_sequence(fw, err);
    return tw_fail(err, TW_E_UNSUPPORTED, "kernels of opcode %d are not modelled", (int)command->opcode);
}
