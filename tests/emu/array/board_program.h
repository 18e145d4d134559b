/* Programs of cores from text. */
#ifndef TESTS_EMU_ARRAY_BOARD_PROGRAM_H
#define TESTS_EMU_ARRAY_BOARD_PROGRAM_H

#include "emu/array/board.h"

/* Assembles a text and writes it to a core's program memory; what the assembler says fails the test. */
void put_program(struct board *b, unsigned column, unsigned row, const char *text);
/* Out of reset and enabled. */
void start_core(struct board *b, unsigned column, unsigned row);

#endif
