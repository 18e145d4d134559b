#include "job/area.h"

#include <stdlib.h>
#include <string.h>

enum line {
    LINE_HOST = 1, /* the processor may hold it, changed: it would land on what the NPU writes, which sees it not */
    LINE_NPU = 2   /* the NPU has changed it: the processor may hold what was there before */
};

int area_reserve(struct area *area, struct tw_device *device, size_t bytes, struct tw_error *err)
{
    if (bytes <= area->bytes)
        return TW_OK;
    area_free(area);
    int code = tw_buffer_create(device, bytes, &area->buffer, err);
    if (code < 0)
        return code;
    area->lines = calloc((bytes + AREA_LINE - 1) / AREA_LINE, 1);
    if (area->lines == NULL) {
        area_free(area);
        return tw_fail(err, TW_E_MEMORY, "no memory for the lines of %zu bytes of temporaries", bytes);
    }
    area->data = tw_buffer_data(area->buffer);
    area->bytes = bytes;
    return TW_OK;
}

void area_free(struct area *area)
{
    tw_buffer_destroy(area->buffer);
    free(area->lines);
    *area = (struct area){0};
}

/* A run of lines that are to be flushed together. */
struct run {
    struct area *area;
    size_t first, end;
};

static int flush(struct run *run, struct tw_error *err)
{
    if (run->first == run->end)
        return TW_OK;
    const size_t from = run->first * AREA_LINE, end = run->end * AREA_LINE;
    memset(run->area->lines + run->first, 0, run->end - run->first);
    run->first = run->end;
    const size_t size = (end < run->area->bytes ? end : run->area->bytes) - from;
    return tw_buffer_to_npu(run->area->buffer, from, size, err);
}

/* A flush settles a line for both, whoever changed it. */
static int settle_lines(struct run *run, size_t first, size_t end, enum line mark, struct tw_error *err)
{
    int code = TW_OK;
    for (size_t i = first; code == 0 && i < end; i++) {
        if (!(run->area->lines[i] & mark))
            continue;
        if (i != run->end) {
            code = flush(run, err);
            run->first = i;
        }
        run->end = i + 1;
    }
    return code;
}

static size_t first_line(const struct window *w, size_t row)
{
    return (w->offset + row * w->pitch) / AREA_LINE;
}

static size_t end_line(const struct window *w, size_t row)
{
    return (w->offset + row * w->pitch + w->row_bytes + AREA_LINE - 1) / AREA_LINE;
}

static int settle(struct area *area, const struct window *w, enum line mark, struct tw_error *err)
{
    struct run run = {.area = area};
    int code = TW_OK;
    for (size_t row = 0; code == 0 && row < w->rows; row++)
        code = settle_lines(&run, first_line(w, row), end_line(w, row), mark, err);
    return code < 0 ? code : flush(&run, err);
}

static void mark_lines(struct area *area, const struct window *w, enum line mark)
{
    for (size_t row = 0; row < w->rows; row++)
        memset(area->lines + first_line(w, row), mark, end_line(w, row) - first_line(w, row));
}

int area_host_reads(struct area *area, const struct window *window, struct tw_error *err)
{
    return settle(area, window, LINE_NPU, err);
}

int area_host_writes(struct area *area, const struct window *window, struct tw_error *err)
{
    int code = settle(area, window, LINE_NPU, err);
    if (code == 0)
        mark_lines(area, window, LINE_HOST);
    return code;
}

int area_npu_reads(struct area *area, const struct window *window, struct tw_error *err)
{
    return settle(area, window, LINE_HOST, err);
}

int area_npu_writes(struct area *area, const struct window *window, struct tw_error *err)
{
    int code = settle(area, window, LINE_HOST, err);
    if (code == 0)
        mark_lines(area, window, LINE_NPU);
    return code;
}
