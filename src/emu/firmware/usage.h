/* What the array does during a command, and what bounds the command's time. */
#ifndef TW_EMU_FIRMWARE_USAGE_H
#define TW_EMU_FIRMWARE_USAGE_H

#include "emu/firmware/state.h"

/* A command begins: what has been counted before is not its own. */
void tw_usage_begin(struct tw_firmware *fw);
/* It has ended; report->cycles and its parts are known. Fills in usage and bound. */
void tw_usage_end(const struct tw_firmware *fw, struct tw_command_report *report);

#endif
