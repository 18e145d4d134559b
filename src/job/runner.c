#include "job/array.h"

#include "base/clock.h"

#include <stdlib.h>

struct tw_runner {
    struct tw_host *host;
    struct tw_array_counts counts;
    void (*event)(void *arg, const struct tw_runner_event *event);
    void *arg;
};

int tw_runner_create(struct tw_array *array, struct tw_host *host, struct tw_runner **runner, struct tw_error *err)
{
    (void)array;
    *runner = calloc(1, sizeof **runner);
    if (*runner == NULL)
        return tw_fail(err, TW_E_MEMORY, "no memory for a runner of graphs");
    (*runner)->host = host;
    return TW_OK;
}

void tw_runner_destroy(struct tw_runner *runner)
{
    free(runner);
}

static void count_host(struct tw_runner *r, const struct tw_graph *g, double seconds)
{
    r->counts.host_seconds += seconds;
    r->counts.operations_on_host += (uint64_t)g->n_ops;
    for (int32_t i = 0; i < g->n_ops; i++)
        r->counts.products_on_host += g->ops[i].kind == TW_OP_PRODUCT;
}

int tw_runner_run(struct tw_runner *runner, const struct tw_graph *g, struct tw_error *err)
{
    const double before = tw_seconds();
    int code = tw_host_run(runner->host, g, err);
    if (code < 0)
        return code;
    const double seconds = tw_seconds() - before;
    runner->counts.runs++;
    count_host(runner, g, seconds);
    if (runner->event != NULL)
        runner->event(runner->arg,
                      &(struct tw_runner_event){.graph = g, .count = g->n_ops, .seconds = seconds, .original = g});
    return TW_OK;
}

void tw_runner_counts(const struct tw_runner *runner, struct tw_array_counts *counts)
{
    *counts = runner->counts;
}

void tw_runner_watch(struct tw_runner *runner, int apart, void (*event)(void *arg, const struct tw_runner_event *event),
                     void *arg)
{
    (void)apart;
    runner->event = event;
    runner->arg = arg;
}
