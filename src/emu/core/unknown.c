/* The choices that the emulator makes unless told otherwise; unknown.h says what they mean. */
#include "emu/unknown.h"

const struct tw_unknown tw_unknown_defaults = {
    .subtract_carry_is_borrow = 1, .loop_end_loses_part_words = 1, .queue_holds_running = 1};
