/*
 * Control code in the transaction form (TXN), as the aie-rt driver and AMD's compilers write it: a header of 16 bytes,
 * then operations. Version 0.1 is what is written today, 1.0 an older form with shorter records.
 */
#ifndef TW_NPU1_CONTROL_CODE_H
#define TW_NPU1_CONTROL_CODE_H

#include "npu1/control_op.h"

enum tw_control_code_header {
    TW_CONTROL_CODE_HEADER_BYTES = 16,
    TW_CONTROL_CODE_NPU1 = 3, /* the generation of the device; other numbers occur in files for NPU1 too */
    TW_CONTROL_CODE_ROWS = 6,
    TW_CONTROL_CODE_MEMORY_ROWS = 1
};

struct tw_control_code {
    uint8_t major, minor, generation, rows, columns, memory_rows;
    uint32_t n_ops;
    struct tw_view ops;
};

/* Whether control code of a known version begins here. */
int tw_control_code_recognise(const struct tw_view *view);

/*
 * Checks the header and every operation: after it tw_control_code_next cannot fail. What is behind the header's total
 * size is ignored; so are fields that say nothing of use. Fails with TW_E_FORMAT, TW_E_UNSUPPORTED for another version.
 */
int tw_control_code_open(const struct tw_view *view, struct tw_control_code *code, struct tw_error *err);

/*
 * Reads the operation at *at (0 for the first) and moves *at behind it. Returns 1, or 0 at the end. An operation whose
 * length is not known is the last one: TW_CONTROL_OP_OTHER, with all the rest as its words.
 */
int tw_control_code_next(const struct tw_control_code *code, size_t *at, struct tw_control_op *op,
                         struct tw_error *err);

#endif
