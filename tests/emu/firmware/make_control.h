/* Control code (transactions of version 0.1) made in memory, written by hand and not with the reader's tables. */
#ifndef TESTS_EMU_FIRMWARE_MAKE_CONTROL_H
#define TESTS_EMU_FIRMWARE_MAKE_CONTROL_H

#include "npu1/make_cdo.h"

void control_begin(struct made *m);
void control_write(struct made *m, uint32_t address, uint32_t value);
void control_mask_write(struct made *m, uint32_t address, uint32_t mask, uint32_t value);
void control_poll(struct made *m, uint32_t address, uint32_t mask, uint32_t value);
void control_block(struct made *m, uint32_t address, const uint32_t *words, uint32_t n);
void control_noop(struct made *m);
/* Waits for a token of each of columns x rows tiles; direction 0: S2MM, 1: MM2S. */
void control_wait(struct made *m, unsigned column, unsigned row, unsigned columns, unsigned rows, unsigned direction,
                  unsigned channel);
void control_patch(struct made *m, uint32_t address, uint64_t argument, uint64_t addend);
/* Any words; they count as one operation. */
void control_words(struct made *m, const uint32_t *words, uint32_t n);
/* Writes the header's counts. */
void control_end(struct made *m);

/* A shim descriptor of `length` words in one row. */
void control_shim_descriptor(struct made *m, uint32_t address, uint32_t length);

#endif
