#include "cli/gemm.h"

#include "base/clock.h"
#include "device/device.h"

/* The launch that took the most cycles so far, of which a run's bound is that. */
struct longest {
    uint64_t cycles;
    const char *bound;
};

static void look_at(void *arg, const struct tw_runner_event *event)
{
    struct longest *longest = arg;
    if (event->modelled == NULL || event->modelled->cycles < longest->cycles)
        return;
    longest->cycles = event->modelled->cycles;
    longest->bound = event->modelled->bound;
}

static tw_id bind_addend(struct tw_graph *graph, const struct tw_gemm *g, const struct tw_gemm_data *d, int32_t i)
{
    if (d->addend[i] == NULL || i >= g->chain)
        return TW_NONE;
    return tw_graph_bind(graph, "addend", TW_F32, tw_gemm_columns(g, i), g->rows, 1, d->addend[i]);
}

static int build(struct tw_graph *graph, const struct tw_gemm *g, const struct tw_gemm_data *d, struct tw_error *err)
{
    const struct tw_product_options options = {.gelu = g->gelu};
    tw_id b[2] = {TW_NONE, TW_NONE}, bias[2] = {TW_NONE, TW_NONE};
    tw_id addend[2] = {bind_addend(graph, g, d, 0), bind_addend(graph, g, d, 1)};
    tw_id x = tw_graph_bind(graph, "a", g->a_f32 ? TW_F32 : TW_BF16, g->depth, g->rows, 1, d->a);
    for (int32_t i = 0; i < 2 && i < g->chain; i++) {
        const int64_t columns = tw_gemm_columns(g, i);
        b[i] = tw_graph_constant(graph, "b", TW_BF16, tw_gemm_depth(g, i), columns, 1, d->b[i]);
        if (d->bias[i] != NULL)
            bias[i] = tw_graph_constant(graph, "bias", TW_F32, columns, 1, 1, d->bias[i]);
    }
    for (int32_t i = 0; i < g->chain; i++) {
        const int64_t columns = tw_gemm_columns(g, i);
        tw_id out = i + 1 < g->chain
                        ? tw_graph_temp(graph, "between", TW_BF16, columns, g->rows, 1)
                        : tw_graph_bind(graph, "c", g->out_bf16 ? TW_BF16 : TW_F32, columns, g->rows, 1, d->c);
        tw_graph_product_onto(graph, out, x, b[i % 2], bias[i % 2], addend[i % 2], options);
        x = out;
    }
    return tw_graph_finish(graph, err);
}

/* What the work needs, made in this order. */
struct work {
    struct tw_host *host;
    struct tw_device *device;
    struct tw_executor *array;
    struct tw_runner *runner;
    struct tw_graph *graph;
};

static int set_up(struct work *w, const struct tw_gemm *g, const struct tw_gemm_data *d, struct tw_error *err)
{
    const struct tw_host_options host = {.threads = (unsigned)g->threads};
    /* The result is compared with float64 instead, and a proof of GELU would be a launch that nobody asked for. */
    const struct tw_executor_options array = {.verify = TW_VERIFY_NONE};
    int code = tw_host_create(&host, &w->host, err);
    if (code == TW_OK)
        code = tw_device_open(&g->device, &w->device, err);
    if (code == TW_OK)
        code = tw_executor_open(w->device, &array, &w->array, err);
    if (code == TW_OK)
        code = tw_runner_create(w->array, w->host, &w->runner, err);
    if (code == TW_OK && (w->graph = tw_graph_create()) == NULL)
        code = tw_fail(err, TW_E_MEMORY, "no memory for a graph of %d products", g->chain);
    return code == TW_OK ? build(w->graph, g, d, err) : code;
}

static void tear_down(struct work *w)
{
    tw_graph_destroy(w->graph);
    tw_runner_destroy(w->runner);
    tw_executor_close(w->array);
    tw_device_close(w->device);
    tw_host_destroy(w->host);
}

static int check_place(const struct tw_gemm *g, const struct tw_executor_counts *c, struct tw_error *err)
{
    if (c->fallbacks > 0)
        return tw_fail(err, TW_E_DEVICE,
                       "the NPU computed %llu of %d products, and the processor the others, so that there is nothing "
                       "to measure",
                       (unsigned long long)c->products_on_array, g->chain);
    if (c->products_on_array < (uint64_t)g->chain)
        return tw_fail(err, TW_E_LIMIT,
                       "%d x %d x %d is too large for one product on the NPU; rows have to be shorter than 4 MiB",
                       g->rows, g->depth, g->columns);
    return TW_OK;
}

int tw_gemm_run(const struct tw_gemm *g, struct tw_gemm_data *data, struct tw_gemm_figures *figures,
                struct tw_error *err)
{
    struct work w = {0};
    struct longest longest = {0};
    *figures = (struct tw_gemm_figures){0};
    int code = set_up(&w, g, data, err);
    if (code == TW_OK) {
        tw_runner_watch(w.runner, 0, look_at, &longest);
        const double before = tw_seconds();
        code = tw_runner_run(w.runner, w.graph, err);
        figures->seconds = tw_seconds() - before;
    }
    if (code == TW_OK) {
        tw_runner_counts(w.runner, &figures->counts);
        figures->bound = longest.bound;
        figures->is_emulated = w.device->emulated != NULL;
        code = check_place(g, &figures->counts, err);
    }
    tear_down(&w);
    return code;
}
