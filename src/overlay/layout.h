/* The overlay's array: how many cores, and what a step of a job moves. kernels/job.h says what is inside a core. */
#ifndef TW_OVERLAY_LAYOUT_H
#define TW_OVERLAY_LAYOUT_H

#include "kernels/job.h"

enum tw_overlay_array {
    TW_OVERLAY_COLUMNS = 4,
    TW_OVERLAY_ROWS = 4, /* of cores */
    TW_OVERLAY_CORES = TW_OVERLAY_COLUMNS * TW_OVERLAY_ROWS
};

/* Bytes of a step in one row of a block of A, or one column of a block of B. */
enum tw_overlay_bytes { TW_OVERLAY_STEP_BYTES = 2 * TW_JOB_DEPTH };

#endif
