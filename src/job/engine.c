#include "job/engine.h"

#include <stdlib.h>

static int set_up(struct tw_engine *e, struct tw_device *device, const struct tw_engine_options *o,
                  struct tw_error *err)
{
    const struct tw_host_options host = {.threads = o->threads};
    const struct tw_executor_options array = {
        .weight_bytes = o->weight_bytes, .verify = o->verify, .warn = o->warn, .arg = o->arg};
    int code = tw_host_create(&host, &e->host, err);
    if (code == 0 && device != NULL)
        code = tw_executor_open(device, &array, &e->array, err);
    if (code == 0)
        code = tw_runner_create(e->array, e->host, &e->runner, err);
    if (code == 0 && (e->product = tw_graph_create()) == NULL)
        code = tw_fail(err, TW_E_MEMORY, "no memory for an engine");
    return code;
}

int tw_engine_open(struct tw_device *device, const struct tw_engine_options *options, struct tw_engine **engine,
                   struct tw_error *err)
{
    const struct tw_engine_options none = {0}, *o = options != NULL ? options : &none;
    *engine = NULL;
    if (o->threads > TW_POOL_MAX)
        return tw_fail(err, TW_E_ARGUMENT, "an engine with %u threads was asked for; it takes up to %d", o->threads,
                       TW_POOL_MAX);
    if ((int)o->verify < TW_VERIFY_FIRST || o->verify > TW_VERIFY_NONE)
        return tw_fail(err, TW_E_ARGUMENT, "there is no way %d to prove products", (int)o->verify);
    struct tw_engine *e = calloc(1, sizeof *e);
    if (e == NULL)
        return tw_fail(err, TW_E_MEMORY, "no memory for an engine");
    pthread_mutex_init(&e->lock, NULL);
    int code = set_up(e, device, o, err);
    if (code < 0)
        tw_engine_close(e);
    else
        *engine = e;
    return code;
}

void tw_engine_close(struct tw_engine *engine)
{
    if (engine == NULL)
        return;
    tw_graph_destroy(engine->product);
    tw_runner_destroy(engine->runner);
    tw_executor_close(engine->array);
    tw_host_destroy(engine->host);
    pthread_mutex_destroy(&engine->lock);
    free(engine);
}

int tw_engine_run(struct tw_engine *engine, const struct tw_graph *g, struct tw_error *err)
{
    if (engine == NULL || g == NULL)
        return tw_fail(err, TW_E_ARGUMENT, "there is no %s to run", engine == NULL ? "engine" : "graph");
    if (!g->finished)
        return tw_fail(err, TW_E_STATE, "the graph is not finished; call tw_graph_finish before it is run");
    pthread_mutex_lock(&engine->lock);
    int code = tw_runner_run(engine->runner, g, err);
    pthread_mutex_unlock(&engine->lock);
    return code;
}

void tw_engine_forget(struct tw_engine *engine, const void *from, size_t bytes)
{
    if (engine == NULL || engine->array == NULL)
        return;
    pthread_mutex_lock(&engine->lock);
    tw_executor_forget(engine->array, from, bytes);
    pthread_mutex_unlock(&engine->lock);
}

void tw_engine_counts(struct tw_engine *engine, struct tw_engine_counts *counts)
{
    struct tw_executor_counts c;
    if (counts == NULL)
        return;
    *counts = (struct tw_engine_counts){0};
    if (engine == NULL)
        return;
    pthread_mutex_lock(&engine->lock);
    tw_runner_counts(engine->runner, &c);
    pthread_mutex_unlock(&engine->lock);
    *counts = (struct tw_engine_counts){.runs = c.runs,
                                        .launches = c.launches,
                                        .products_on_npu = c.products_on_array,
                                        .products_on_host = c.products_on_host,
                                        .fallbacks = c.fallbacks,
                                        .mismatches = c.mismatches,
                                        .cycles = c.cycles,
                                        .read_bytes = c.read_bytes,
                                        .write_bytes = c.write_bytes};
}
