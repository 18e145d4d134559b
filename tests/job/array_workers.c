#include "job/array_workers.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static void *work(void *arg)
{
    struct worker *w = arg;
    struct tw_host *host = NULL;
    struct tw_runner *runner = NULL;
    struct net n[2];
    const int count = w->is_mixed ? 2 : 1;
    assert_int_equal(tw_host_create(&(struct tw_host_options){.threads = 1}, &host, NULL), 0);
    assert_int_equal(tw_runner_create(w->array, host, &runner, NULL), 0);
    net_simple(&n[0], w->seed, 20, 40);
    if (w->is_mixed)
        net_random(&n[1], w->seed);
    for (int i = 0; i < 4; i++)
        net_again(&n[i % count], runner, host);
    tw_runner_counts(runner, &w->counts);
    for (int i = 0; i < count; i++)
        net_free(&n[i]);
    tw_runner_destroy(runner);
    tw_host_destroy(host);
    return NULL;
}

void work_at_once(struct worker *workers, int count)
{
    pthread_t threads[WORKERS_MAX];
    assert_true(count <= WORKERS_MAX);
    for (int i = 0; i < count; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, work, &workers[i]), 0);
    for (int i = 0; i < count; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
}
