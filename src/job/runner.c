#include "job/executor.h"

#include "base/clock.h"
#include "job/operands.h"
#include "job/planned.h"

#include <stdlib.h>

int tw_runner_create(struct tw_executor *array, struct tw_host *host, struct tw_runner **runner, struct tw_error *err)
{
    *runner = calloc(1, sizeof **runner);
    if (*runner == NULL)
        return tw_fail(err, TW_E_MEMORY, "no memory for a runner of graphs");
    (*runner)->array = array;
    (*runner)->host = host;
    return TW_OK;
}

void tw_runner_destroy(struct tw_runner *r)
{
    if (r == NULL)
        return;
    while (r->plans != NULL) {
        struct planned *p = r->plans;
        r->plans = p->next;
        planned_free(p);
    }
    area_free(&r->area);
    free(r);
}

static void count_host(struct tw_runner *r, const struct tw_graph *g, int32_t first, int32_t count, double seconds)
{
    r->counts.host_seconds += seconds;
    r->counts.operations_on_host += (uint64_t)count;
    for (int32_t i = first; i < first + count; i++)
        r->counts.products_on_host += g->ops[i].kind == TW_OP_PRODUCT;
}

static void tell(const struct tw_runner *r, const struct tw_runner_event *event)
{
    if (r->event != NULL)
        r->event(r->arg, event);
}

static int may_go_on(const struct tw_runner *r, struct tw_error *err)
{
    const int stop = r->stop != NULL && r->stop(r->stop_arg) != 0;
    return stop ? tw_fail(err, TW_E_CANCELLED, "stopped on request") : TW_OK;
}

/* ---- All by the CPU, in its own memory */

static int run_on_host(struct tw_runner *r, const struct tw_graph *g, struct tw_error *err)
{
    const double begin = tw_seconds();
    int code = may_go_on(r, err);
    if (code == 0)
        code = tw_host_run(r->host, g, err);
    if (code < 0)
        return code;
    const double seconds = tw_seconds() - begin;
    count_host(r, g, 0, g->n_ops, seconds);
    tell(r, &(struct tw_runner_event){.graph = g, .count = g->n_ops, .seconds = seconds, .original = g});
    return TW_OK;
}

/* ---- Steps of a plan, in the area */

struct run {
    struct tw_runner *runner;
    struct planned *planned;
    const struct tw_graph *original;
    int verify;
    uint64_t proved, failed; /* launches */
};

/* l: the launch that did it; NULL: the CPU. */
static void tell_step(const struct run *run, const struct tw_step *step, double seconds, const struct launch *l)
{
    tell(run->runner, &(struct tw_runner_event){.graph = run->planned->plan->graph,
                                                .first = step->first,
                                                .count = step->count,
                                                .seconds = seconds,
                                                .on_array = l != NULL,
                                                .modelled = l != NULL && l->is_modelled ? &l->modelled : NULL,
                                                .from = run->planned->plan->from,
                                                .original = run->original});
}

static int host_step(struct run *run, const struct tw_step *step, struct tw_error *err)
{
    struct tw_runner *r = run->runner;
    const struct tw_graph *g = run->planned->plan->graph;
    const double begin = tw_seconds();
    int code = operands_for_host(r, g, step->first, step->count, err);
    if (code == 0)
        code = tw_host_run_some(r->host, g, step->first, step->count, r->area.data, err);
    if (code < 0)
        return code;
    const double seconds = tw_seconds() - begin;
    count_host(r, g, step->first, step->count, seconds);
    tell_step(run, step, seconds, NULL);
    return TW_OK;
}

static int prepare(struct run *run, struct launch *l, struct tw_error *err)
{
    int code = launch_prepare(run->runner, l, err);
    if (code != TW_E_HEAP && code != TW_E_MEMORY)
        return code;
    launch_release(run->runner, l); /* what it holds already it would hold twice */
    planned_drop_others(run->runner, run->planned);
    return launch_prepare(run->runner, l, err);
}

static int verify(struct run *run, struct launch *l, struct tw_error *err)
{
    const double begin = tw_seconds();
    int code = launch_verify(run->runner, l, err);
    run->runner->counts.verify_seconds += tw_seconds() - begin;
    run->runner->counts.mismatches += code == TW_E_CHECKSUM;
    run->proved += code == 0;
    return code;
}

/* On the array; fails with what is to be told of it. */
static int try_launch(struct run *run, struct launch *l, const struct tw_step *step, struct tw_error *why)
{
    const double begin = tw_seconds();
    int code = prepare(run, l, why);
    if (code == 0)
        code = launch_run(run->runner, l, why);
    const double seconds = tw_seconds() - begin;
    if (code == 0 && run->verify)
        code = verify(run, l, why);
    launch_release(run->runner, l);
    if (code < 0)
        return code;
    run->runner->counts.products_on_array += l->matrices;
    tell_step(run, step, seconds, l);
    return TW_OK;
}

static int launch_step(struct run *run, const struct tw_step *step, struct launch *l, struct tw_error *err)
{
    struct tw_runner *r = run->runner;
    struct tw_error why = {0};
    if (executor_is_left_alone(r->array))
        return host_step(run, step, err);
    int code = try_launch(run, l, step, &why);
    if (code == 0) {
        executor_worked(r->array);
        return TW_OK;
    }
    run->failed++;
    r->counts.fallbacks++;
    executor_failed(r->array, l->context, &why);
    return host_step(run, step, err);
}

static int run_plan(struct run *run, struct tw_error *err)
{
    const struct tw_plan *plan = run->planned->plan;
    int code = TW_OK;
    for (int32_t i = 0; code == 0 && i < plan->n_steps; i++) {
        const struct tw_step *step = &plan->steps[i];
        code = may_go_on(run->runner, err);
        if (code == 0)
            code = step->kind == TW_STEP_LAUNCH ? launch_step(run, step, &run->planned->launches[i], err)
                                                : host_step(run, step, err);
    }
    if (code == 0 && run->proved > 0 && run->failed == 0)
        executor_is_proved(run->runner->array);
    return code;
}

/* All of a graph when there is no room for its temporaries; at the next run there may be. */
static int fall_back(struct tw_runner *r, const struct tw_graph *g, const struct tw_error *why, struct tw_error *err)
{
    r->counts.fallbacks++;
    executor_failed(r->array, 0, why);
    return run_on_host(r, g, err);
}

static int run_with_array(struct tw_runner *r, const struct tw_graph *g, struct tw_error *err)
{
    struct planned *planned = NULL;
    struct tw_error why = {0};
    int code = planned_find(r, g, &planned, err);
    if (code < 0)
        return code;
    if (planned->is_for_host)
        return run_on_host(r, g, err);
    if (area_reserve(&r->area, r->array->device, planned->plan->graph->work_bytes, &why) < 0)
        return fall_back(r, g, &why, err);
    struct run run = {.runner = r, .planned = planned, .original = g, .verify = executor_must_verify(r->array)};
    return run_plan(&run, err);
}

int tw_runner_run(struct tw_runner *r, const struct tw_graph *g, struct tw_error *err)
{
    if (!g->finished)
        return tw_fail(err, TW_E_STATE, "a graph can run only after tw_graph_finish has accepted it");
    const int alone = r->array == NULL || executor_is_left_alone(r->array);
    int code = alone ? run_on_host(r, g, err) : run_with_array(r, g, err);
    r->counts.runs += code == 0;
    return code;
}

void tw_runner_ask(struct tw_runner *r, int (*stop)(void *arg), void *arg)
{
    r->stop = stop;
    r->stop_arg = arg;
}

void tw_runner_counts(const struct tw_runner *r, struct tw_executor_counts *counts)
{
    *counts = r->counts;
    if (r->array == NULL)
        return;
    struct tw_store_counts weights;
    tw_store_counts(r->array->store, &weights);
    counts->weights_packed = weights.made;
    counts->weights_evicted = weights.evicted;
    counts->contexts = executor_context(r->array);
    counts->image_seconds = r->array->image_seconds;
}

void tw_runner_watch(struct tw_runner *r, int apart, void (*event)(void *arg, const struct tw_runner_event *event),
                     void *arg)
{
    r->apart = apart;
    r->event = event;
    r->arg = arg;
}
