#include "cli/bench_encoder.h"

#include "base/clock.h"
#include "base/memory.h"
#include "base/random.h"
#include "job/plan.h"
#include "tilewright.h"
#include "whisper/encoder.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NOISE_SEED = 1 };

/* One measurement under way. */
struct work {
    struct tw_bench *bench;
    const struct tw_speech *speech;
    struct tw_whisper_model model; /* the model with fewer layers */
    struct tw_graph *graph;
    float *mel, *encoded, *cross;
    struct place {
        enum tw_bench_part part;
        int32_t layer;
    } * places; /* of each operation of graph */
    int code;   /* of the events */
    struct tw_error *err;
};

/* ---- The encoder */

static void find_places(struct work *w)
{
    struct place at = {TW_BENCH_START, 0};
    int32_t layers = 0;
    for (int32_t i = 0; i < w->graph->n_ops; i++) {
        const struct tw_op *op = &w->graph->ops[i];
        const struct tw_tensor *out = &w->graph->tensors[op->out];
        if (op->kind == TW_OP_LAYER_NORM && strcmp(out->name, "attn norm") == 0) {
            at = (struct place){layers == 0 ? TW_BENCH_FIRST : TW_BENCH_LAYER, layers};
            layers++;
        } else if (out->data == (unsigned char *)w->encoded) {
            at = (struct place){TW_BENCH_END, 0};
        } else if (at.part == TW_BENCH_END) {
            at.part = TW_BENCH_CROSS;
        }
        w->places[i] = at;
    }
}

static int make_graph(struct work *w, struct tw_error *err)
{
    const struct tw_whisper_sizes *s = &w->model.sizes;
    const size_t numbers = 2 * (size_t)s->n_audio_ctx * (size_t)s->n_mels;
    struct tw_random random = {NOISE_SEED};
    w->graph = tw_graph_create();
    w->mel = tw_alloc(numbers * sizeof *w->mel);
    w->encoded = tw_alloc((size_t)s->n_audio_ctx * (size_t)s->n_audio_state * sizeof *w->encoded);
    w->cross = tw_alloc(tw_encoder_cross_size(&w->model, s->n_audio_ctx) * sizeof *w->cross);
    if (w->graph == NULL || w->mel == NULL || w->encoded == NULL || w->cross == NULL)
        return tw_fail(err, TW_E_MEMORY, "no memory for the encoder's input and output");
    for (size_t i = 0; i < numbers; i++)
        w->mel[i] = (float)(2 * tw_random_unit(&random) - 1);
    struct tw_encoder_io io = {.mel = w->mel, .out = w->encoded, .cross = w->cross};
    int code = tw_encoder_graph(w->graph, &w->model, s->n_audio_ctx, &io, err);
    if (code < 0)
        return code;
    w->places = calloc((size_t)w->graph->n_ops, sizeof *w->places);
    if (w->places == NULL)
        return tw_fail(err, TW_E_MEMORY, "no memory for the places of %d operations", (int)w->graph->n_ops);
    find_places(w);
    return TW_OK;
}

static void release(struct work *w)
{
    tw_graph_destroy(w->graph);
    free(w->mel);
    free(w->encoded);
    free(w->cross);
    free(w->places);
}

/* ---- Lines */

/* What people call an operation that was made for operation `from` of the encoder. */
static void name_operation(const struct work *w, int32_t from, const struct tw_op *op, char name[64])
{
    const struct tw_op *original = &w->graph->ops[from];
    const int is_same = op->kind == original->kind;
    const char *what = w->graph->tensors[original->out].name;
    if (original->kind == TW_OP_PRODUCT)
        what = w->graph->tensors[original->in[1]].name;
    if (original->kind == TW_OP_ATTENTION)
        what = "attention";
    if (op->kind == TW_OP_PRODUCT && is_same)
        snprintf(name, 64, "%s", what);
    else if (op->kind == TW_OP_PRODUCT)
        snprintf(name, 64, "%s", op->b_rows ? "attention mix" : "attention scores");
    else if (op->kind == TW_OP_ATTENTION)
        snprintf(name, 64, "%s", what);
    else
        snprintf(name, 64, "%s%s %s", tw_op_name(op->kind), is_same ? "" : " for", what);
}

/* The line that such an operation belongs to, made if it is the first; NULL without memory. */
static struct tw_bench_line *line_of(struct work *w, int32_t from, const struct tw_op *op, int on_array)
{
    struct tw_bench *b = w->bench;
    const struct place *at = &w->places[from];
    char name[64];
    name_operation(w, from, op, name);
    for (size_t i = 0; i < b->n_lines; i++) {
        struct tw_bench_line *l = &b->lines[i];
        if (l->part == at->part && l->layer == at->layer && l->on_array == on_array && strcmp(l->name, name) == 0)
            return l;
    }
    if (b->n_lines == b->room) {
        size_t room = 2 * b->room + 64;
        struct tw_bench_line *more = realloc(b->lines, room * sizeof *more);
        if (more == NULL)
            return NULL;
        b->lines = more;
        b->room = room;
    }
    struct tw_bench_line *l = &b->lines[b->n_lines++];
    *l = (struct tw_bench_line){.part = at->part, .layer = at->layer, .on_array = on_array};
    memcpy(l->name, name, sizeof name);
    return l;
}

/* Adds operation op of g, which was made for operation `from` of the encoder, to its line. */
static struct tw_bench_line *add(struct work *w, const struct tw_graph *g, const struct tw_op *op, int32_t from,
                                 int on_array)
{
    struct tw_bench_line *l = line_of(w, from, op, on_array);
    if (l == NULL) {
        w->code = tw_fail(w->err, TW_E_MEMORY, "no memory for the figures of an operation");
        return NULL;
    }
    l->count++;
    if (op->kind != TW_OP_PRODUCT)
        return l;
    const struct tw_tensor *a = &g->tensors[op->in[0]], *out = &g->tensors[op->out];
    l->rows = out->rows;
    l->depth = a->cols;
    l->columns = out->cols;
    l->n = out->batch;
    l->macs += (double)out->rows * (double)a->cols * (double)out->cols * (double)out->batch;
    return l;
}

/* ---- The array */

/* Each product had a launch of its own. */
static void on_product(void *arg, const struct tw_runner_event *e)
{
    struct work *w = arg;
    if (!e->on_array || w->code < 0)
        return;
    struct tw_bench_line *l = add(w, e->graph, &e->graph->ops[e->first], e->from[e->first], 1);
    if (l == NULL)
        return;
    l->seconds += e->seconds;
    if (e->modelled == NULL)
        return;
    l->cycles += e->modelled->cycles - e->modelled->launch_cycles;
    l->bound = e->modelled->bound;
}

static void on_launch(void *arg, const struct tw_runner_event *e)
{
    struct work *w = arg;
    if (!e->on_array)
        return;
    struct tw_bench_launches *part = &w->bench->parts[w->places[e->from[e->first]].part];
    part->launches++;
    part->cycles += e->modelled != NULL ? e->modelled->cycles : 0;
    part->seconds += e->seconds;
}

static int run_array(struct work *w, int apart, void (*event)(void *arg, const struct tw_runner_event *event))
{
    struct tw_runner *runner;
    struct tw_executor_counts counts;
    int code = tw_runner_create(w->speech->array, w->speech->host, &runner, w->err);
    if (code < 0)
        return code;
    tw_runner_watch(runner, apart, event, w);
    code = tw_runner_run(runner, w->graph, w->err);
    tw_runner_counts(runner, &counts);
    tw_runner_destroy(runner);
    if (code == TW_OK && counts.fallbacks > 0)
        code = tw_fail(w->err, TW_E_DEVICE, "%llu launches failed on the array; there are no figures for them",
                       (unsigned long long)counts.fallbacks);
    return code < 0 ? code : w->code;
}

/* ---- The CPU */

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* rounds in ascending order; what the operation computes is not looked at. */
static int time_operation(struct work *w, const struct tw_graph *g, int32_t op, unsigned char *memory,
                          double rounds[TW_BENCH_ROUNDS])
{
    for (int i = 0; i < TW_BENCH_ROUNDS; i++) {
        double began = tw_seconds();
        int code = tw_host_run_some(w->speech->host, g, op, 1, memory, w->err);
        if (code < 0)
            return code;
        rounds[i] = tw_seconds() - began;
    }
    qsort(rounds, TW_BENCH_ROUNDS, sizeof rounds[0], ascending);
    return TW_OK;
}

/* Operations first .. first + count - 1 of g, whose memory has gone through a whole run. */
static int time_step(struct work *w, const struct tw_graph *g, const int32_t *from, const struct tw_step *step,
                     unsigned char *memory)
{
    for (int32_t i = step->first; i < step->first + step->count; i++) {
        double rounds[TW_BENCH_ROUNDS];
        int code = time_operation(w, g, i, memory, rounds);
        struct tw_bench_line *l = code < 0 ? NULL : add(w, g, &g->ops[i], from != NULL ? from[i] : i, 0);
        if (l == NULL)
            return code < 0 ? code : w->code;
        l->seconds += rounds[TW_BENCH_ROUNDS / 2];
        l->best += rounds[0];
    }
    return TW_OK;
}

static int time_steps(struct work *w, const struct tw_graph *g, const int32_t *from, const struct tw_step *steps,
                      int32_t n_steps)
{
    unsigned char *memory = tw_alloc(g->work_bytes);
    if (memory == NULL)
        return tw_fail(w->err, TW_E_MEMORY, "no memory for the encoder's temporary numbers");
    int code = tw_host_run_some(w->speech->host, g, 0, g->n_ops, memory, w->err);
    for (int32_t i = 0; i < n_steps && code == TW_OK; i++)
        if (steps[i].kind == TW_STEP_HOST)
            code = time_step(w, g, from, &steps[i], memory);
    free(memory);
    return code;
}

static int run_host(struct work *w)
{
    const struct tw_step all = {TW_STEP_HOST, 0, w->graph->n_ops};
    if (w->speech->array == NULL)
        return time_steps(w, w->graph, NULL, &all, 1);
    struct tw_plan *plan;
    int code = tw_plan_make(w->graph, NULL, &plan, w->err);
    if (code < 0)
        return code;
    code = time_steps(w, plan->graph, plan->from, plan->steps, plan->n_steps);
    tw_plan_free(plan);
    return code;
}

int tw_bench_encoder(struct tw_bench *bench, const struct tw_speech *speech, int32_t layers, int32_t crosses,
                     struct tw_error *err)
{
    struct work w = {.bench = bench, .speech = speech, .model = *speech->model, .err = err};
    w.model.sizes.n_audio_layer = layers;
    w.model.sizes.n_text_layer = crosses;
    *bench = (struct tw_bench){.ctx = w.model.sizes.n_audio_ctx, .layers = layers, .crosses = crosses};
    int code = make_graph(&w, err);
    if (code == TW_OK && speech->array != NULL)
        code = run_array(&w, 1, on_product);
    if (code == TW_OK && speech->array != NULL)
        code = run_array(&w, 0, on_launch);
    if (code == TW_OK)
        code = run_host(&w);
    release(&w);
    return code;
}

void tw_bench_release(struct tw_bench *bench)
{
    free(bench->lines);
    *bench = (struct tw_bench){0};
}
