/* Buffers that pass a core by locks: from the host through the core, which adds 1 to each word, and back to the host.
 */
#ifndef TESTS_EMU_ARRAY_BOARD_FIFO_H
#define TESTS_EMU_ARRAY_BOARD_FIFO_H

#include "emu/array/board.h"

/* Words of a buffer; where the host's results begin in its memory. */
enum { FIFO_WORDS = 8, FIFO_OUT = 0x1000 };

/*
 * Sets up core (0, 2) and the ways to it, and sends `rounds` buffers of the host's words 0, 3, 6, ...; after the last
 * one shim (0, 0) S2MM 1 sends a token. The core waits for more.
 */
void start_fifo(struct board *b, unsigned rounds);
/* The host's results are what the core computes. */
void assert_fifo_done(struct board *b, unsigned rounds);

#endif
