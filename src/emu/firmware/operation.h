/* What the firmware does for one operation of control code. */
#ifndef TW_EMU_FIRMWARE_OPERATION_H
#define TW_EMU_FIRMWARE_OPERATION_H

#include "emu/firmware/state.h"
#include "npu1/control_op.h"

/* Let the time pass that an operation costs, then do it. All fail as tw_firmware_run says. */
int tw_operation_write(struct tw_firmware *fw, const struct tw_control_op *op, struct tw_error *err);
int tw_operation_block_write(struct tw_firmware *fw, const struct tw_control_op *op, struct tw_error *err);
int tw_operation_mask_write(struct tw_firmware *fw, const struct tw_control_op *op, struct tw_error *err);
int tw_operation_poll(struct tw_firmware *fw, const struct tw_control_op *op, struct tw_error *err);
int tw_operation_wait(struct tw_firmware *fw, const struct tw_control_op *op, struct tw_error *err);
int tw_operation_patch(struct tw_firmware *fw, const struct tw_control_op *op, struct tw_error *err);

/* Lets `cycles` pass; fails with TW_E_LIMIT when the command's time is up. */
int tw_firmware_pass(struct tw_firmware *fw, uint64_t cycles, struct tw_error *err);
/* The same; the time counts as part of the launch. */
int tw_firmware_launch(struct tw_firmware *fw, uint64_t cycles, struct tw_error *err);
/* TW_E_LIMIT, with what waits for what. */
int tw_firmware_time_is_up(const struct tw_firmware *fw, struct tw_error *err);

/* Before a write to the queue register of a channel: lets the time pass that the firmware takes between two of them. */
int tw_firmware_pass_gate(struct tw_firmware *fw, uint32_t address, struct tw_error *err);

#endif
