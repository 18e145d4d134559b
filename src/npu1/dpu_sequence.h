/*
 * Control code in the older form for kernels called with opcode 1 ("DPU sequence"): 17 words of prologue, then
 * operations of 2, 3 or 10 words with the code in the highest byte of the first. By files that AMD compiled.
 */
#ifndef TW_NPU1_DPU_SEQUENCE_H
#define TW_NPU1_DPU_SEQUENCE_H

#include "npu1/control_op.h"

enum tw_dpu_sequence_prologue { TW_DPU_SEQUENCE_MARK = 0x11 /* word 0 */, TW_DPU_SEQUENCE_PROLOGUE = 17 };

struct tw_dpu_sequence {
    uint32_t n_ops;
    struct tw_view ops;
};

/* Whether such a sequence begins here. */
int tw_dpu_sequence_recognise(const struct tw_view *view);

/* As tw_control_code_open; fails with TW_E_FORMAT, also for a code that does not exist. */
int tw_dpu_sequence_open(const struct tw_view *view, struct tw_dpu_sequence *sequence, struct tw_error *err);

/* As tw_control_code_next. The descriptor operation is a BLOCK_WRITE of all of a shim descriptor that is patched. */
int tw_dpu_sequence_next(const struct tw_dpu_sequence *sequence, size_t *at, struct tw_control_op *op,
                         struct tw_error *err);

#endif
