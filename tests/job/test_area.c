/*
 * Lines of the area are flushed when they must be, and not else. The device's side is played: memory is what has been
 * written back, by a flush or because a cache was full, and what the device writes appears in the process only with a
 * flush.
 */
#include "base/random.h"
#include "device/device.h"
#include "emu/driver/driver.h"
#include "job/area.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { BYTES = 8 * 1024, LINES = BYTES / AREA_LINE, STEPS = 20000 };

/* A table of calls that passes all on, but flushes of the area. */
struct play {
    struct tw_calls inner;
    unsigned char *host;         /* the area as the process sees it */
    unsigned char memory[BYTES]; /* as the device sees it */
    unsigned char clean[BYTES];  /* what the process's caches have taken from memory or written to it */
    uint64_t flushed;            /* lines */
};

static int pass_open(void *context, const char *path, int flags)
{
    const struct play *p = context;
    return p->inner.open(p->inner.context, path, flags);
}

static int pass_ioctl(void *context, int fd, uint32_t request, void *argument)
{
    const struct play *p = context;
    return p->inner.ioctl(p->inner.context, fd, request, argument);
}

static int pass_mmap(void *context, void *address, size_t size, int protection, int flags, int fd, uint64_t offset,
                     void **mapped)
{
    const struct play *p = context;
    return p->inner.mmap(p->inner.context, address, size, protection, flags, fd, offset, mapped);
}

static int pass_munmap(void *context, void *address, size_t size)
{
    const struct play *p = context;
    return p->inner.munmap(p->inner.context, address, size);
}

static int pass_close(void *context, int fd)
{
    const struct play *p = context;
    return p->inner.close(p->inner.context, fd);
}

/* Writes a line back that the process has changed. */
static void write_back(struct play *p, size_t at)
{
    if (memcmp(p->host + at, p->clean + at, AREA_LINE) != 0)
        memcpy(p->memory + at, p->host + at, AREA_LINE);
    memcpy(p->clean + at, p->host + at, AREA_LINE);
}

static int flush(void *context, const void *address, size_t size)
{
    struct play *p = context;
    const unsigned char *from = address;
    if (p->host == NULL || from < p->host || from >= p->host + BYTES)
        return p->inner.flush(p->inner.context, address, size);
    const size_t first = (size_t)(from - p->host) / AREA_LINE, end = ((size_t)(from - p->host) + size - 1) / AREA_LINE;
    for (size_t at = first * AREA_LINE; at <= end * AREA_LINE; at += AREA_LINE) {
        write_back(p, at);
        memcpy(p->host + at, p->memory + at, AREA_LINE);
        memcpy(p->clean + at, p->memory + at, AREA_LINE);
        p->flushed++;
    }
    return 0;
}

struct bench {
    struct tw_emu_driver *driver;
    struct tw_device *device;
    struct play play;
    struct area area;
    unsigned char truth[BYTES];
    struct tw_random random;
};

static void set_up(struct bench *b)
{
    *b = (struct bench){.random = {1}};
    assert_int_equal(tw_emu_driver_create(NULL, &b->driver, NULL), 0);
    b->play.inner = *tw_emu_driver_calls(b->driver);
    const struct tw_calls calls = {&b->play, pass_open, pass_ioctl, pass_mmap, pass_munmap, pass_close, flush};
    assert_int_equal(tw_device_open_calls(&calls, "/dev/accel/accel0", NULL, &b->device, NULL), 0);
    assert_int_equal(area_reserve(&b->area, b->device, BYTES, NULL), 0);
    b->play.host = b->area.data;
}

static void tear_down(struct bench *b)
{
    area_free(&b->area);
    tw_device_close(b->device);
    tw_emu_driver_free(b->driver);
}

static size_t below(struct bench *b, size_t limit)
{
    return (size_t)tw_random_range(&b->random, 0, (int64_t)limit - 1);
}

static struct window any_window(struct bench *b)
{
    struct window w = {.rows = 1 + below(b, 5), .row_bytes = 1 + below(b, 200)};
    w.pitch = w.row_bytes + below(b, 300);
    w.offset = below(b, BYTES - (w.rows - 1) * w.pitch - w.row_bytes + 1);
    return w;
}

typedef void on_row(struct bench *b, size_t at, size_t bytes);

static void each_row(struct bench *b, const struct window *w, on_row *what)
{
    for (size_t row = 0; row < w->rows; row++)
        what(b, w->offset + row * w->pitch, w->row_bytes);
}

static void fill_truth(struct bench *b, size_t at, size_t bytes)
{
    for (size_t i = at; i < at + bytes; i++)
        b->truth[i] = (unsigned char)tw_random_u64(&b->random);
}

static void host_writes(struct bench *b, size_t at, size_t bytes)
{
    fill_truth(b, at, bytes);
    memcpy(b->play.host + at, b->truth + at, bytes);
}

static void npu_writes(struct bench *b, size_t at, size_t bytes)
{
    fill_truth(b, at, bytes);
    memcpy(b->play.memory + at, b->truth + at, bytes);
}

static void host_reads(struct bench *b, size_t at, size_t bytes)
{
    assert_memory_equal(b->play.host + at, b->truth + at, bytes);
}

static void npu_reads(struct bench *b, size_t at, size_t bytes)
{
    assert_memory_equal(b->play.memory + at, b->truth + at, bytes);
}

static void any_access(struct bench *b)
{
    static int (*const before[])(struct area *, const struct window *, struct tw_error *) = {
        area_host_reads, area_host_writes, area_npu_reads, area_npu_writes};
    static on_row *const accesses[] = {host_reads, host_writes, npu_reads, npu_writes};
    const struct window w = any_window(b);
    const size_t which = below(b, 4);
    assert_int_equal(before[which](&b->area, &w, NULL), 0);
    each_row(b, &w, accesses[which]);
}

static void test_any_order(void **state)
{
    struct bench *b = malloc(sizeof *b);
    (void)state;
    assert_non_null(b);
    set_up(b);
    for (int step = 0; step < STEPS; step++) {
        any_access(b);
        write_back(&b->play, below(b, LINES) * AREA_LINE); /* a cache is full, and lets a line go when it likes */
    }
    tear_down(b);
    free(b);
}

/* What has not changed hands is not flushed. */
static void test_not_too_much(void **state)
{
    const struct window w = {.offset = 128, .row_bytes = 256, .rows = 3, .pitch = 512};
    struct bench *b = malloc(sizeof *b);
    (void)state;
    assert_non_null(b);
    set_up(b);
    assert_int_equal(area_npu_reads(&b->area, &w, NULL), 0);
    assert_int_equal(area_npu_writes(&b->area, &w, NULL), 0);
    assert_int_equal(area_npu_reads(&b->area, &w, NULL), 0);
    assert_int_equal(b->play.flushed, 0);
    assert_int_equal(area_host_reads(&b->area, &w, NULL), 0);
    assert_int_equal(b->play.flushed, 12);
    assert_int_equal(area_host_reads(&b->area, &w, NULL), 0);
    assert_int_equal(area_npu_reads(&b->area, &w, NULL), 0);
    assert_int_equal(b->play.flushed, 12);
    assert_int_equal(area_host_writes(&b->area, &w, NULL), 0);
    assert_int_equal(b->play.flushed, 12);
    assert_int_equal(area_npu_reads(&b->area, &w, NULL), 0);
    assert_int_equal(b->play.flushed, 24);
    tear_down(b);
    free(b);
}

/* A larger one takes the place of a smaller one. */
static void test_grows(void **state)
{
    struct area area = {0};
    struct bench *b = malloc(sizeof *b);
    struct tw_error err = {0};
    (void)state;
    assert_non_null(b);
    set_up(b);
    assert_int_equal(area_reserve(&area, b->device, 100, NULL), 0);
    const struct tw_buffer *first = area.buffer;
    assert_int_equal(area_reserve(&area, b->device, 99, NULL), 0);
    assert_ptr_equal(area.buffer, first);
    assert_int_equal(area_reserve(&area, b->device, 100000, NULL), 0);
    assert_int_equal(area.bytes, 100000);
    assert_int_equal(tw_buffer_size(area.buffer), 100000);
    assert_int_equal(area_reserve(&area, b->device, SIZE_MAX / 2, &err), TW_E_MEMORY);
    assert_true(area.bytes == 0 && area.buffer == NULL && err.text[0] != '\0');
    area_free(&area);
    tear_down(b);
    free(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_any_order),
        cmocka_unit_test(test_not_too_much),
        cmocka_unit_test(test_grows),
    };
    return cmocka_run_group_tests_name("area", tests, NULL, NULL);
}
