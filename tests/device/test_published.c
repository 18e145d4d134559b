/*
 * Published programs through the client on the emulated kernel driver, whose memory is not coherent: alone, chained,
 * and from eight threads with six contexts.
 */
#include "device/device.h"
#include "device/published.h"
#include "emu/driver/driver.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

enum { CHAINED = 3, THREADS = 8, CONTEXTS = 6, ROUNDS = 3, SKIPPED = 77 };

struct machine {
    struct tw_emu_driver *driver;
    struct tw_device *device;
};

static int setup(void **state)
{
    struct machine *m = calloc(1, sizeof *m);
    struct tw_error err = {0};
    assert_non_null(m);
    assert_int_equal(tw_emu_driver_create(NULL, &m->driver, &err), 0);
    assert_int_equal(tw_device_open_calls(tw_emu_driver_calls(m->driver), "/dev/accel/accel0", NULL, &m->device, &err),
                     0);
    *state = m;
    return 0;
}

static int teardown(void **state)
{
    struct machine *m = *state;
    tw_device_close(m->device);
    tw_emu_driver_free(m->driver);
    free(m);
    return 0;
}

#define MUST(call)                                                                                                     \
    do {                                                                                                               \
        if ((call) != 0)                                                                                               \
            fail_msg("%s: %s", p->name, err.text);                                                                     \
    } while (0)

static void run_alone(struct machine *m, const struct published *p)
{
    struct tw_error err = {0};
    struct published_job j;
    struct tw_context *context = published_load(m->device, p);
    MUST(published_job_create(&j, m->device, context, p, &err));
    for (uint64_t seed = 0; seed < 2; seed++) {
        MUST(published_job_fill(&j, seed, &err));
        MUST(tw_job_run(j.job, &err));
        MUST(published_job_check(&j, &err));
    }
    published_job_destroy(&j);
    tw_context_destroy(context);
}

static void run_chained(struct machine *m, const struct published *p)
{
    struct tw_error err = {0};
    struct published_job j[CHAINED];
    struct tw_job *jobs[CHAINED], *chain = NULL;
    struct tw_context *context = published_load(m->device, p);
    for (unsigned i = 0; i < CHAINED; i++) {
        MUST(published_job_create(&j[i], m->device, context, p, &err));
        MUST(published_job_fill(&j[i], 10 + i, &err));
        jobs[i] = j[i].job;
    }
    MUST(tw_chain_create(jobs, CHAINED, &chain, &err));
    MUST(tw_job_run(chain, &err));
    for (unsigned i = 0; i < CHAINED; i++) {
        MUST(published_job_check(&j[i], &err));
        published_job_destroy(&j[i]);
    }
    tw_job_destroy(chain);
    tw_context_destroy(context);
}

static void test_alone(void **state)
{
    for (size_t i = 0; i < n_published; i++)
        run_alone(*state, &published[i]);
}

static void test_chained(void **state)
{
    for (size_t i = 0; i < n_published; i++)
        run_chained(*state, &published[i]);
}

struct worker {
    struct machine *machine;
    const struct published *what;
    struct tw_context *context;
    unsigned number;
    int code;
    struct tw_error err;
};

/* Each thread has a job and buffers of its own; some share a context. */
static void *work(void *arg)
{
    struct worker *w = arg;
    struct published_job j;
    w->code = published_job_create(&j, w->machine->device, w->context, w->what, &w->err);
    for (unsigned round = 0; w->code == 0 && round < ROUNDS; round++) {
        w->code = published_job_fill(&j, w->number * ROUNDS + round, &w->err);
        if (w->code == 0)
            w->code = tw_job_run(j.job, &w->err);
        if (w->code == 0)
            w->code = published_job_check(&j, &w->err);
    }
    published_job_destroy(&j);
    return NULL;
}

/* With the programs from number `first` on. */
static void run_threads(struct machine *m, size_t first)
{
    const struct published *programs = &published[first];
    struct tw_context *contexts[CONTEXTS];
    struct worker workers[THREADS];
    pthread_t threads[THREADS];
    for (unsigned i = 0; i < CONTEXTS; i++)
        contexts[i] = published_load(m->device, &programs[i]);
    for (unsigned i = 0; i < THREADS; i++) {
        workers[i] = (struct worker){
            .machine = m, .what = &programs[i % CONTEXTS], .context = contexts[i % CONTEXTS], .number = i};
        assert_int_equal(pthread_create(&threads[i], NULL, work, &workers[i]), 0);
    }
    for (unsigned i = 0; i < THREADS; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    for (unsigned i = 0; i < THREADS; i++)
        if (workers[i].code != 0)
            fail_msg("thread %u: %s", i, workers[i].err.text);
    for (unsigned i = 0; i < CONTEXTS; i++)
        tw_context_destroy(contexts[i]);
}

/* There are more programs than contexts: every one has its turn. */
static void test_threads(void **state)
{
    assert_true(n_published >= CONTEXTS);
    for (size_t first = 0; first + CONTEXTS <= n_published; first++)
        run_threads(*state, first);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_alone, setup, teardown),
        cmocka_unit_test_setup_teardown(test_chained, setup, teardown),
        cmocka_unit_test_setup_teardown(test_threads, setup, teardown),
    };
    const char *corpus = getenv("TILEWRIGHT_CORPUS");
    if (corpus == NULL || corpus[0] == '\0') {
        puts("SKIPPED: set TILEWRIGHT_CORPUS to a folder with published NPU programs to run them");
        return SKIPPED;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
