/* Telling whoever watches (emu/trace.h) what the firmware does. */
#ifndef TW_EMU_FIRMWARE_TELL_H
#define TW_EMU_FIRMWARE_TELL_H

#include "emu/firmware/state.h"

/* At the array's present time; name and numbers as emu/trace.h says for `what`, none for ends. */
static inline void tw_firmware_tell(const struct tw_firmware *fw, enum tw_trace_kind kind, enum tw_trace_what what,
                                    const char *name, int64_t first, int64_t second)
{
    const struct tw_trace_hook *hook = &fw->options.trace;
    if (hook->event == NULL)
        return;
    const struct tw_trace_event event = {
        .cycle = tw_array_clock(fw->array),
        .first = first,
        .second = second,
        .name = name,
        .kind = (uint8_t)kind,
        .unit = TW_TRACE_FIRMWARE,
        .what = (uint8_t)what,
    };
    hook->event(hook->arg, &event);
}

static inline void tw_firmware_tell_end(const struct tw_firmware *fw, enum tw_trace_kind kind, enum tw_trace_what what)
{
    tw_firmware_tell(fw, kind, what, NULL, 0, 0);
}

#endif
