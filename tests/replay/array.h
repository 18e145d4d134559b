/* Texts with the encoder on the NPU, or on the emulated one, beside those with all on the CPU. */
#ifndef REPLAY_ARRAY_H
#define REPLAY_ARRAY_H

#include "compare.h"

/*
 * Prints a line for each clip: whether the texts are the same, and where not, by how much: the CPU's tokens are forced
 * through the decoder behind the array's encoder, and each choice that it would have made otherwise is shown. device:
 * "npu" or "emu". *passed is 0 when too many texts differ, or one for more than rounding accounts for, or when the CPU
 * had to take over.
 */
int replay_array(const struct replay_request *request, const char *device, int *passed, struct tw_error *err);

#endif
