/*
 * Writing control code: the transaction form, version 0.1, and of its operations only those that are known to run on
 * NPU1.
 *
 *     struct tw_control_writer w;
 *     tw_control_writer_begin(&w, 4);
 *     tw_control_writer_write(&w, address, value);
 *     ...
 *     if (tw_control_writer_finish(&w, &bytes, &size, &err) == 0)
 *         use and free(bytes)
 */
#ifndef TW_NPU1_CONTROL_WRITER_H
#define TW_NPU1_CONTROL_WRITER_H

#include "npu1/control_op.h"
#include "npu1/byte_list.h"

struct tw_control_writer {
    struct tw_byte_list list;
    uint32_t n_ops;
};

/* columns: of the partition, 1 to TW_NPU1_COLUMNS. */
void tw_control_writer_begin(struct tw_control_writer *w, unsigned columns);

/* Append an operation. What fails is told by finish. */
void tw_control_writer_write(struct tw_control_writer *w, uint32_t address, uint32_t value);
void tw_control_writer_block_write(struct tw_control_writer *w, uint32_t address, const uint32_t *words, size_t n);
void tw_control_writer_mask_write(struct tw_control_writer *w, uint32_t address, uint32_t mask, uint32_t value);
void tw_control_writer_wait(struct tw_control_writer *w, const struct tw_control_wait *wait);
/* address: of the descriptor's word 1 */
void tw_control_writer_patch(struct tw_control_writer *w, uint32_t address, const struct tw_control_patch *patch);

/*
 * Completes the header. *bytes is to be freed with free(). Fails with TW_E_MEMORY, or TW_E_LIMIT for more than 4 GiB;
 * in every case *w is released and may begin again.
 */
int tw_control_writer_finish(struct tw_control_writer *w, unsigned char **bytes, size_t *size, struct tw_error *err);

#endif
