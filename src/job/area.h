/*
 * The memory of a graph's temporaries, which both the NPU and this process work on, and what must be done because the
 * NPU does not see caches: for each line it is noted whether the processor may hold it changed, or the NPU has changed
 * it since, and only such lines are flushed.
 */
#ifndef TW_JOB_AREA_H
#define TW_JOB_AREA_H

#include "base/error.h"

#include <stddef.h>

struct area {
    struct tw_buffer *buffer; /* NULL: none yet */
    unsigned char *data;
    size_t bytes;
    unsigned char *lines; /* enum line of each */
};

enum { AREA_LINE = 64 };

/* Part of the area: row after row. */
struct window {
    size_t offset, row_bytes, rows, pitch;
};

/* Makes room for `bytes`; what was in it is lost when it grows. Fails as tw_buffer_create does, then it is empty. */
int area_reserve(struct area *area, struct tw_device *device, size_t bytes, struct tw_error *err);
void area_free(struct area *area);

/* To be called before it happens. Windows lie inside the area. Fail with TW_E_IO. */
int area_host_reads(struct area *area, const struct window *window, struct tw_error *err);
int area_host_writes(struct area *area, const struct window *window, struct tw_error *err);
int area_npu_reads(struct area *area, const struct window *window, struct tw_error *err);
int area_npu_writes(struct area *area, const struct window *window, struct tw_error *err);

#endif
