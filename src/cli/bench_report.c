#include "cli/bench_report.h"

#include "emu/cycles.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

/* Clocks of the array, in MHz, at which modelled cycles are shown. */
static const double clocks[] = {1000, 1600};
enum { CLOCKS = sizeof clocks / sizeof clocks[0] };

/* The model's parts, each as often as the model has it. */
struct totals {
    double launches;
    double array_ms[CLOCKS]; /* modelled; on silicon measured, all the same */
    double host_ms, host_best_ms, dispatch_ms;
};

static int is_modelled(const struct tw_bench_report *r)
{
    return strcmp(r->speech->device, "emu") == 0;
}

static double times(const struct tw_bench_report *r, enum tw_bench_part part)
{
    const struct tw_whisper_sizes *s = &r->speech->model->sizes;
    if (part == TW_BENCH_LAYER)
        return r->bench->layers < 2 ? 0 : (double)(s->n_audio_layer - 1) / (r->bench->layers - 1);
    return part == TW_BENCH_CROSS ? (double)s->n_text_layer / r->bench->crosses : 1;
}

static struct totals add_up(const struct tw_bench_report *r)
{
    struct totals t = {0};
    for (int part = 0; part < TW_BENCH_PARTS; part++) {
        const struct tw_bench_launches *l = &r->bench->parts[part];
        const double n = times(r, (enum tw_bench_part)part);
        t.launches += n * (double)l->launches;
        for (int c = 0; c < CLOCKS; c++)
            t.array_ms[c] += n * (is_modelled(r) ? (double)l->cycles / clocks[c] / 1e3 : l->seconds * 1e3);
    }
    for (size_t i = 0; i < r->bench->n_lines; i++) {
        const struct tw_bench_line *l = &r->bench->lines[i];
        t.host_ms += l->on_array ? 0 : times(r, l->part) * l->seconds * 1e3;
        t.host_best_ms += l->on_array ? 0 : times(r, l->part) * l->best * 1e3;
    }
    t.dispatch_ms = is_modelled(r) ? t.launches * TW_NS_COMMAND / 1e6 : 0;
    return t;
}

static double total(const struct totals *t, int clock)
{
    return t->array_ms[clock] + t->dispatch_ms + t->host_ms;
}

/* ---- Text */

static void print_part(const struct tw_bench_report *r, enum tw_bench_part part, FILE *to)
{
    const struct tw_whisper_sizes *s = &r->speech->model->sizes;
    const struct tw_bench *b = r->bench;
    if (part == TW_BENCH_START)
        fputs("before the layers\n", to);
    else if (part == TW_BENCH_FIRST)
        fprintf(to, "the first layer%s\n", r->speech->array != NULL ? ", whose scores stay f32" : "");
    else if (part == TW_BENCH_LAYER)
        fprintf(to, "each of the %d other layers\n", (int)s->n_audio_layer - 1);
    else if (part == TW_BENCH_END)
        fputs("after the layers\n", to);
    else
        fprintf(to, "the decoder's caches, %d of %d layers\n", (int)b->crosses, (int)s->n_text_layer);
}

/* By how much the cycles of that name differ between the layers that were run, in percent. */
static double spread(const struct tw_bench *b, const struct tw_bench_line *line)
{
    uint64_t least = line->cycles, most = line->cycles;
    for (size_t i = 0; i < b->n_lines; i++) {
        const struct tw_bench_line *l = &b->lines[i];
        if (l->part != line->part || !l->on_array || strcmp(l->name, line->name) != 0)
            continue;
        least = l->cycles < least ? l->cycles : least;
        most = l->cycles > most ? l->cycles : most;
    }
    return least > 0 ? 100 * (double)(most - least) / (double)least : 0;
}

static void print_product(const struct tw_bench_report *r, const struct tw_bench_line *l, FILE *to)
{
    char size[48];
    snprintf(size, sizeof size, "%lld x %lld x %lld x %lld", (long long)(l->count * l->n), (long long)l->rows,
             (long long)l->depth, (long long)l->columns);
    fprintf(to, "  %-18s %-24s", l->name, size);
    if (!is_modelled(r)) {
        fprintf(to, " %10.1f %10.1f\n", l->seconds * 1e6, l->macs / l->seconds / 1e9);
        return;
    }
    fprintf(to, " %10llu %9.1f %9.1f %9.1f  %s", (unsigned long long)l->cycles, (double)l->cycles / 1e3,
            (double)l->cycles / 1.6e3, l->macs / (double)l->cycles, l->bound);
    if (spread(r->bench, l) > 0)
        fprintf(to, ", %.2f %% apart between layers", spread(r->bench, l));
    fputc('\n', to);
}

static void print_lines(const struct tw_bench_report *r, int on_array, FILE *to)
{
    int part = -1;
    for (size_t i = 0; i < r->bench->n_lines; i++) {
        const struct tw_bench_line *l = &r->bench->lines[i];
        if (l->on_array != on_array || l->layer > 1) /* like layer 1 */
            continue;
        if ((int)l->part != part)
            print_part(r, l->part, to);
        part = (int)l->part;
        if (on_array)
            print_product(r, l, to);
        else
            fprintf(to, "  %-32s %5d %10.1f %10.1f\n", l->name, (int)l->count, l->seconds * 1e6, l->best * 1e6);
    }
}

static void print_head(const struct tw_bench_report *r, FILE *to)
{
    const struct tw_whisper_sizes *s = &r->speech->model->sizes;
    fprintf(to,
            "%s: encoder of %d layers, width %d, %d heads; a window of %d positions, with the caches of %d decoder "
            "layers\n",
            r->what, (int)s->n_audio_layer, (int)s->n_audio_state, (int)s->n_audio_head, (int)r->bench->ctx,
            (int)s->n_text_layer);
    if (r->bench->layers < s->n_audio_layer)
        fprintf(to,
                "%d of its %d layers were run, and all but the first count %g times: products of the same sizes take "
                "the same cycles\n",
                (int)r->bench->layers, (int)s->n_audio_layer, times(r, TW_BENCH_LAYER));
    if (r->bench->crosses < s->n_text_layer)
        fprintf(to, "the caches of %d decoder layers were run, and count %d times\n", (int)r->bench->crosses,
                (int)(s->n_text_layer / r->bench->crosses));
}

static void print_totals(const struct tw_bench_report *r, FILE *to)
{
    const struct totals t = add_up(r);
    fputs("\nmilliseconds for the window, nothing overlapped   at 1.0 GHz  at 1.6 GHz\n", to);
    if (r->speech->array != NULL)
        fprintf(to, "  %-46s %10.1f  %10.1f\n", is_modelled(r) ? "array, modelled" : "array, measured", t.array_ms[0],
                t.array_ms[1]);
    if (t.dispatch_ms > 0)
        fprintf(to, "  %4.0f launches, %.2f ms each by published runs    %10.1f  %10.1f\n", t.launches,
                TW_NS_COMMAND / 1e6, t.dispatch_ms, t.dispatch_ms);
    fprintf(to, "  CPU, measured: %3u threads, %-6s kernels         %10.1f  %10.1f\n", tw_host_threads(r->speech->host),
            tw_host_kernels(r->speech->host), t.host_ms, t.host_ms);
    fprintf(to, "  %-46s %10.1f  %10.1f\n", "together", total(&t, 0), total(&t, 1));
    fprintf(to, "  %-46s %10.1f  %10.1f\n", "together, with the best of the CPU's rounds",
            total(&t, 0) - t.host_ms + t.host_best_ms, total(&t, 1) - t.host_ms + t.host_best_ms);
    if (r->seed_ms > 0)
        fprintf(to, "  %-46s %10.0f  %9.1fx\n", "whisper-xdna, published, without conv. and caches", r->seed_ms,
                r->seed_ms / total(&t, 1));
}

void tw_bench_print(const struct tw_bench_report *r, FILE *to)
{
    print_head(r, to);
    if (r->speech->array != NULL && is_modelled(r))
        fputs("\nproducts on the array         matrices x sizes          cycles    us at 1.0    at 1.6  MAC/cycle  "
              "bound by (all modelled)\n",
              to);
    else if (r->speech->array != NULL)
        fputs("\nproducts on the array         matrices x sizes         us    GMAC/s (measured)\n", to);
    print_lines(r, 1, to);
    fprintf(to, "\non the CPU (measured)              times  us, median of %d   best\n", TW_BENCH_ROUNDS);
    print_lines(r, 0, to);
    print_totals(r, to);
}

/* ---- JSON */

static const char *const part_names[TW_BENCH_PARTS] = {"start", "first layer", "layer", "end", "caches"};

static json_t *json_line(const struct tw_bench_report *r, const struct tw_bench_line *l)
{
    json_t *o = json_pack("{s:s, s:i, s:s, s:i}", "part", part_names[l->part], "layer", (int)l->layer, "name", l->name,
                          "operations", (int)l->count);
    int failed = o == NULL;
    if (l->macs > 0)
        failed |= json_object_set_new(o, "size",
                                      json_pack("[I, I, I, I]", (json_int_t)(l->count * l->n), (json_int_t)l->rows,
                                                (json_int_t)l->depth, (json_int_t)l->columns));
    if (l->on_array && is_modelled(r))
        failed |= json_object_update_new(o, json_pack("{s:I, s:f, s:f, s:f, s:s}", "cycles", (json_int_t)l->cycles,
                                                      "us_at_1000_mhz", (double)l->cycles / 1e3, "us_at_1600_mhz",
                                                      (double)l->cycles / 1.6e3, "mac_per_cycle",
                                                      l->macs / (double)l->cycles, "bound", l->bound));
    else
        failed |= json_object_update_new(
            o, json_pack("{s:f, s:f}", "us_measured", l->seconds * 1e6, "us_best", l->best * 1e6));
    if (!failed)
        return o;
    json_decref(o);
    return NULL;
}

static json_t *json_lines(const struct tw_bench_report *r, int on_array)
{
    json_t *list = json_array();
    for (size_t i = 0; i < r->bench->n_lines; i++)
        if (r->bench->lines[i].on_array == on_array &&
            json_array_append_new(list, json_line(r, &r->bench->lines[i])) != 0) {
            json_decref(list);
            return NULL;
        }
    return list;
}

static json_t *json_totals(const struct tw_bench_report *r)
{
    const struct totals t = add_up(r);
    json_t *o =
        json_pack("{s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:f}", "launches", t.launches, "array_at_1000_mhz",
                  t.array_ms[0], "array_at_1600_mhz", t.array_ms[1], "dispatch", t.dispatch_ms, "cpu", t.host_ms,
                  "cpu_best", t.host_best_ms, "total_at_1000_mhz", total(&t, 0), "total_at_1600_mhz", total(&t, 1));
    if (r->seed_ms > 0 && json_object_set_new(o, "published_elsewhere", json_real(r->seed_ms)) != 0) {
        json_decref(o);
        return NULL;
    }
    return o;
}

int tw_bench_print_json(const struct tw_bench_report *r, FILE *to, struct tw_error *err)
{
    const struct tw_whisper_sizes *s = &r->speech->model->sizes;
    json_t *root =
        json_pack("{s:s, s:s, s:i, s:i, s:i, s:i, s:i, s:i, s:o, s:o, s:o}", "encoder", r->what, "device",
                  r->speech->device, "width", (int)s->n_audio_state, "layers", (int)s->n_audio_layer, "layers_run",
                  (int)r->bench->layers, "decoder_layers", (int)s->n_text_layer, "decoder_layers_run",
                  (int)r->bench->crosses, "threads", (int)tw_host_threads(r->speech->host), "array", json_lines(r, 1),
                  "cpu", json_lines(r, 0), "milliseconds", json_totals(r));
    char *line = root == NULL ? NULL : json_dumps(root, JSON_REAL_PRECISION(7));
    json_decref(root);
    if (line == NULL)
        return tw_fail(err, TW_E_MEMORY, "there is no memory to write the figures as JSON");
    fprintf(to, "%s\n", line);
    free(line);
    return TW_OK;
}
