/*
 * Whatever happens to the device in whatever order, the client ends with one that works, or with the sentence that it
 * is lost; also from several threads at once.
 */
#include "base/random.h"
#include "device/copy_program.h"
#include "device/device.h"
#include "emu/driver/driver.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { INTERLEAVINGS = 200, STEPS = 14, CONTEXTS = 3, WORDS = 64, THREADS = 4, ROUNDS = 20 };

struct place {
    struct tw_context *context;
    struct copy_job copy, hang;
    struct tw_job *chain;
};

struct machine {
    struct tw_emu_driver *driver;
    struct tw_device *device;
    struct place places[CONTEXTS];
    struct tw_random random;
    struct tw_error err;
};

static int place_create(struct machine *m, struct place *p)
{
    *p = (struct place){0};
    int code = copy_context(m->device, 1, &p->context, &m->err);
    if (code == 0)
        code = copy_job_create(&p->copy, m->device, p->context, WORDS, &m->err);
    if (code == 0)
        code = copy_job_create(&p->hang, m->device, p->context, 0, &m->err);
    if (code == 0) {
        struct tw_job *const jobs[] = {p->copy.job, p->hang.job};
        code = tw_chain_create(jobs, 2, &p->chain, &m->err);
    }
    return code;
}

static void place_destroy(struct place *p)
{
    tw_job_destroy(p->chain);
    copy_job_destroy(&p->copy);
    copy_job_destroy(&p->hang);
    tw_context_destroy(p->context);
    *p = (struct place){0};
}

/* Each returns a code; a wrong result is TW_E_SHAPE, which nothing else gives. */

static int copy(struct machine *m, struct place *p)
{
    uint32_t seed = (uint32_t)tw_random_u64(&m->random);
    int code = copy_job_fill(&p->copy, seed, &m->err);
    if (code == 0)
        code = tw_job_run(p->copy.job, &m->err);
    if (code < 0)
        return code;
    return copy_job_check(&p->copy, seed, &m->err) == 0 ? TW_OK : TW_E_SHAPE;
}

static int hang(struct machine *m, struct place *p)
{
    return tw_job_run(p->hang.job, &m->err);
}

static int chain(struct machine *m, struct place *p)
{
    return tw_job_run(p->chain, &m->err);
}

/* Two commands at once, the first of which may hang or not. */
static int both(struct machine *m, struct place *p)
{
    int first = tw_job_submit(p->hang.job, &m->err);
    if (first < 0)
        return first;
    int second = tw_job_submit(p->copy.job, &m->err);
    first = tw_job_wait(p->hang.job, -1, &m->err);
    if (second == 0)
        second = tw_job_wait(p->copy.job, -1, &m->err);
    return first < 0 ? first : second;
}

static int suspend(struct machine *m, struct place *p)
{
    (void)p;
    tw_emu_driver_event(m->driver, TW_EMU_SUSPEND);
    return TW_OK;
}

static int reset(struct machine *m, struct place *p)
{
    (void)p;
    tw_emu_driver_event(m->driver, TW_EMU_RESET);
    return TW_OK;
}

static int hang_next(struct machine *m, struct place *p)
{
    (void)p;
    tw_emu_driver_event(m->driver, TW_EMU_HANG);
    return TW_OK;
}

static int renew(struct machine *m, struct place *p)
{
    place_destroy(p);
    return place_create(m, p);
}

static int (*const steps[])(struct machine *m, struct place *p) = {copy,    copy,  hang,      chain, both,
                                                                   suspend, reset, hang_next, renew};

static void assert_known(const struct machine *m, int code)
{
    static const int known[] = {0, TW_E_TIMEOUT, TW_E_ABORTED, TW_E_LOST};
    int found = 0;
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        found |= code == known[i];
    if (!found)
        fail_msg("code %d: %s", code, m->err.text);
    assert_true(code == 0 || m->err.text[0] != '\0');
}

static void interleave(uint64_t seed)
{
    struct machine m = {.random = {seed}};
    struct tw_emu_driver_options options = {.recovery = seed % 4 == 0 ? TW_EMU_STAYS_REFUSED : TW_EMU_RECOVERS};
    assert_int_equal(tw_emu_driver_create(&options, &m.driver, &m.err), 0);
    assert_int_equal(tw_device_open_calls(tw_emu_driver_calls(m.driver), "/dev/accel/accel0", NULL, &m.device, &m.err),
                     0);
    for (int i = 0; i < CONTEXTS; i++)
        assert_int_equal(place_create(&m, &m.places[i]), 0);
    for (int step = 0; step < STEPS; step++) {
        struct place *p = &m.places[tw_random_range(&m.random, 0, CONTEXTS - 1)];
        size_t what = (size_t)tw_random_range(&m.random, 0, sizeof steps / sizeof steps[0] - 1);
        int code = p->chain != NULL || steps[what] == renew ? steps[what](&m, p) : place_create(&m, p);
        assert_known(&m, code);
        if (p->chain == NULL)
            place_destroy(p);
    }
    /* A hang that was ordered may still come; after it, all works or is said to be lost. */
    for (int i = 0; i < CONTEXTS; i++) {
        struct place *p = &m.places[i];
        int code = p->chain != NULL ? copy(&m, p) : place_create(&m, p);
        for (int again = 0; again < STEPS && (code == TW_E_TIMEOUT || code == TW_E_ABORTED); again++)
            code = copy(&m, p);
        assert_true(code == 0 || (code == TW_E_LOST && strstr(m.err.text, "modprobe amdxdna") != NULL));
    }
    /* As loading the driver anew does. */
    tw_emu_driver_event(m.driver, TW_EMU_RESET);
    for (int i = 0; i < CONTEXTS; i++) {
        assert_int_equal(renew(&m, &m.places[i]), 0);
        assert_int_equal(copy(&m, &m.places[i]), 0);
        place_destroy(&m.places[i]);
    }
    tw_device_close(m.device);
    tw_emu_driver_free(m.driver);
}

static void test_interleavings(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < INTERLEAVINGS; seed++)
        interleave(seed);
}

struct worker {
    struct tw_device *device;
    struct tw_context *context;
    uint32_t number;
    int wrong; /* a code that must not be, or a wrong result */
    struct tw_error err;
};

/* Makes and gives back objects of its own all the while. */
static void *work(void *arg)
{
    struct worker *w = arg;
    for (uint32_t round = 0; round < ROUNDS && w->wrong == 0; round++) {
        struct copy_job j;
        uint32_t seed = w->number * ROUNDS + round;
        int code = copy_job_create(&j, w->device, w->context, WORDS, &w->err);
        if (code == 0)
            code = copy_job_fill(&j, seed, &w->err);
        if (code == 0)
            code = tw_job_run(j.job, &w->err);
        if (code == 0)
            code = copy_job_check(&j, seed, &w->err) == 0 ? 0 : TW_E_SHAPE;
        copy_job_destroy(&j);
        if (code != 0 && code != TW_E_ABORTED && code != TW_E_TIMEOUT)
            w->wrong = code;
    }
    return NULL;
}

/* Threads share one device and two contexts, while the machine sleeps and its device is reset and hangs. */
static void test_threads(void **state)
{
    static const enum tw_emu_event events[] = {TW_EMU_SUSPEND, TW_EMU_RESET, TW_EMU_HANG};
    struct machine m = {0};
    struct worker workers[THREADS];
    pthread_t threads[THREADS];
    (void)state;
    assert_int_equal(tw_emu_driver_create(NULL, &m.driver, &m.err), 0);
    assert_int_equal(tw_device_open_calls(tw_emu_driver_calls(m.driver), "/dev/accel/accel0", NULL, &m.device, &m.err),
                     0);
    for (int i = 0; i < 2; i++)
        assert_int_equal(place_create(&m, &m.places[i]), 0);
    for (uint32_t i = 0; i < THREADS; i++) {
        workers[i] = (struct worker){.device = m.device, .context = m.places[i % 2].context, .number = i};
        assert_int_equal(pthread_create(&threads[i], NULL, work, &workers[i]), 0);
    }
    for (int i = 0; i < 12; i++)
        tw_emu_driver_event(m.driver, events[i % 3]);
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    for (int i = 0; i < THREADS; i++)
        if (workers[i].wrong != 0)
            fail_msg("thread %d: code %d, %s", i, workers[i].wrong, workers[i].err.text);
    for (int i = 0; i < 2; i++)
        place_destroy(&m.places[i]);
    tw_device_close(m.device);
    tw_emu_driver_free(m.driver);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_interleavings),
        cmocka_unit_test(test_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
