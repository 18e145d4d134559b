#include "job/emulated_engine.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* May be called by any thread, which must not leave its function. */
static void no_warning(void *arg, const char *sentence)
{
    (void)arg;
    fprintf(stderr, "unexpected: %s\n", sentence);
    abort();
}

struct tw_device *emulated_device(int alone)
{
    const struct tw_device_options options = {.kind = TW_DEVICE_EMU, .alone = alone};
    struct tw_device *device = NULL;
    struct tw_error err = {0};
    if (tw_device_open(&options, &device, &err) != 0)
        fail_msg("%s", err.text);
    return device;
}

struct tw_engine *emulated_engine_on(struct tw_device *device, unsigned threads, enum tw_verify verify)
{
    const struct tw_engine_options options = {.threads = threads, .verify = verify, .warn = no_warning};
    struct tw_engine *engine = NULL;
    struct tw_error err = {0};
    if (tw_engine_open(device, &options, &engine, &err) != 0)
        fail_msg("%s", err.text);
    return engine;
}

struct tw_engine *emulated_engine(unsigned threads, enum tw_verify verify)
{
    struct tw_device *device = emulated_device(1);
    struct tw_engine *engine = emulated_engine_on(device, threads, verify);
    tw_device_close(device);
    return engine;
}

struct tw_engine_counts engine_counts(struct tw_engine *engine)
{
    struct tw_engine_counts counts;
    memset(&counts, 0xee, sizeof counts);
    tw_engine_counts(engine, &counts);
    return counts;
}

struct tw_engine_counts engine_expect_clean(struct tw_engine *engine)
{
    const struct tw_engine_counts c = engine_counts(engine);
    assert_int_equal(c.fallbacks, 0);
    assert_int_equal(c.mismatches, 0);
    assert_int_equal(c.products_on_host, 0);
    assert_true(c.launches > 0 && c.products_on_npu >= c.launches && c.cycles > 0);
    return c;
}
