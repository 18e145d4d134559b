/* tilewright gemm: one matrix product, or a chain of them, with what it costs and what bounds it. */
#include "cli/cli.h"

#include "base/log.h"
#include "cli/gemm.h"
#include "cli/options.h"
#include "cli/ticker.h"
#include "device/device.h"
#include "overlay/shape.h"

#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char help_text[] = "Usage: tilewright gemm M K N [OPTION]...\n"
                                "Multiplies matrices of random numbers on the NPU: C[M x N] = A[M x K] B[K x N].\n\n"
                                "  --type bf16     in which the cores multiply (the only one so far)\n"
                                "  --a TYPE        of A in memory: f32, or bf16 if not given\n"
                                "  --out TYPE      of C in memory: bf16, or f32 if not given\n"
                                "  --bias, --gelu  add a row to all rows; then GELU\n"
                                "  --add           then add a matrix of fp32\n"
                                "  --chain COUNT   C becomes A of the next product, COUNT in all: M x K x N,\n"
                                "                  M x N x K, M x K x N, ... with bf16 in between; --bias, --gelu\n"
                                "                  and --add for each\n"
                                "  --check         compare C with float64 on the same operands, rounded to bf16\n"
                                "                  as the NPU does; of large ones, evenly spread rows\n"
                                "  --device DEVICE npu, emu (the emulator) or auto: TILEWRIGHT_DEVICE, else npu\n"
                                "  --clock GHZ     of the array, to show times; 1.0 if not given\n"
                                "  --threads N     of the host; one for each processor if not given\n"
                                "  --seed N        of the random numbers; 1 if not given\n"
                                "  --json          print the figures as JSON\n\n"
                                "Percent of the peak count M * N * K only. On emu, cycles are modelled.\n"
                                "Example: tilewright gemm 512 512 512 --device emu --check\n";

enum {
    PEAK = 16 * 128, /* multiplications a cycle: cores, and what each does */
    CHAIN_MAX = 200,
    THREADS_MAX = 256
};

/*
 * Sums of up to 4096 products in fp32 come far closer to float64 than the first, and a single wrong number does not;
 * squares of differences grow with the length of sums. What is rounded to bf16,
 * or goes through GELU, comes closer than the second; in a chain such differences add up.
 */
#define NMSE_OF_SUMS 1e-10
#define NMSE_OF_BF16 1e-5
enum { SUMMANDS = 4096 };

struct request {
    struct tw_gemm gemm;
    const char *type, *a, *out, *device;
    double clock_ghz;
    int check, json, help;
};

struct outcome {
    struct tw_gemm_figures figures;
    struct tw_gemm_proof proof;
};

/* ---- the command line */

static int read_type(const char *option, const char *word, const char *other, int *is_other, struct tw_error *err)
{
    const char *const usual = strcmp(other, "f32") == 0 ? "bf16" : "f32";
    *is_other = strcmp(word, other) == 0;
    if (*is_other || strcmp(word, usual) == 0)
        return TW_OK;
    return tw_fail(err, TW_E_ARGUMENT, "--%s takes f32 or bf16, not '%s'", option, word);
}

static int read_side(const char *name, const char *word, int32_t *side, struct tw_error *err)
{
    long n = strspn(word, "0123456789") == strlen(word) ? strtol(word, NULL, 10) : 0;
    if (n < 1 || n > TW_OVERLAY_SIDE_MAX)
        return tw_fail(err, TW_E_ARGUMENT, "%s is a whole number from 1 to %d, not '%s'", name, TW_OVERLAY_SIDE_MAX,
                       word);
    *side = (int32_t)n;
    return TW_OK;
}

static int read_words(struct request *r, char **operands, struct tw_error *err)
{
    if (strcmp(r->type, "bf16") != 0)
        return tw_fail(err, TW_E_ARGUMENT, "--type takes bf16, not '%s'", r->type);
    int code = read_side("M", operands[0], &r->gemm.rows, err);
    if (code == TW_OK)
        code = read_side("K", operands[1], &r->gemm.depth, err);
    if (code == TW_OK)
        code = read_side("N", operands[2], &r->gemm.columns, err);
    if (code == TW_OK)
        code = read_type("a", r->a, "f32", &r->gemm.a_f32, err);
    if (code == TW_OK)
        code = read_type("out", r->out, "bf16", &r->gemm.out_bf16, err);
    return code == TW_OK ? tw_device_kind_read(r->device, &r->gemm.device.kind, err) : code;
}

/* ---- figures */

static double macs_per_cycle(const struct request *r, const struct outcome *o)
{
    return tw_gemm_macs(&r->gemm) / (double)o->figures.counts.cycles;
}

static const char *device_name(const struct outcome *o)
{
    return o->figures.is_emulated ? "emu" : "npu";
}

static void print_cost(const struct request *r, const struct outcome *o)
{
    const struct tw_executor_counts *c = &o->figures.counts;
    if (!o->figures.is_emulated) {
        printf("  %.3f ms measured for the NPU's part, %.3f ms for all\n", 1e3 * c->array_seconds,
               1e3 * o->figures.seconds);
        return;
    }
    printf("  %" PRIu64 " cycles modelled, %.1f us modelled at %.3g GHz; bounded by: %s\n", c->cycles,
           (double)c->cycles / r->clock_ghz / 1000, r->clock_ghz, o->figures.bound);
    printf("  %.1f MAC/cycle, %.1f %% of the peak of 16 cores\n", macs_per_cycle(r, o),
           100 * macs_per_cycle(r, o) / PEAK);
    printf("  DDR read %" PRIu64 " bytes, written %" PRIu64 "\n", c->read_bytes, c->write_bytes);
}

static void print_text(const struct request *r, const struct outcome *o)
{
    const struct tw_gemm *g = &r->gemm;
    const struct tw_executor_counts *c = &o->figures.counts;
    printf("%d x %d x %d, bf16, A %s, C %s%s%s%s", g->rows, g->depth, g->columns, g->a_f32 ? "f32" : "bf16",
           g->out_bf16 ? "bf16" : "f32", g->bias ? ", bias" : "", g->gelu ? ", GELU" : "", g->add ? ", addend" : "");
    if (g->chain > 1)
        printf(", a chain of %d", g->chain);
    printf("; %s\n", o->figures.is_emulated ? "emu: cycles are modelled" : "npu");
    print_cost(r, o);
    printf("  launches %" PRIu64 ", contexts %" PRIu64 "; image made in %.1f ms, control code in %.0f us\n",
           c->launches, c->contexts, 1e3 * c->image_seconds, 1e6 * c->control_seconds);
    if (r->check)
        printf("  nmse %.3g against float64, %s%d %srows\n", o->proof.nmse,
               o->proof.rows_checked == g->rows ? "all " : "", o->proof.rows_checked,
               o->proof.rows_checked == g->rows ? "" : "evenly spread ");
    if (o->figures.is_emulated)
        printf("  emulated in %.2f s\n", o->figures.seconds);
}

/* Figures that are not known are null. */
static json_t *integer_or_null(int known, uint64_t n)
{
    return known ? json_integer((json_int_t)n) : json_null();
}
static json_t *real_or_null(int known, double x)
{
    return known && isfinite(x) ? json_real(x) : json_null();
}

static json_t *figures_json(const struct request *r, const struct outcome *o)
{
    const struct tw_gemm *g = &r->gemm;
    const struct tw_executor_counts *c = &o->figures.counts;
    const int emu = o->figures.is_emulated;
    return json_pack(
        "{s:i, s:i, s:i, s:i, s:o, s:o, s:o, s:o, s:o, s:s?, s:I, s:I, s:f, s:f, s:o, s:o, s:f, s:s}", "m", g->rows,
        "k", g->depth, "n", g->columns, "chain", g->chain, "nmse", real_or_null(r->check, o->proof.nmse),
        "rows_checked", integer_or_null(r->check, (uint64_t)o->proof.rows_checked), "cycles",
        integer_or_null(emu, c->cycles), "mac_per_cycle", real_or_null(emu, macs_per_cycle(r, o)), "percent_of_peak",
        real_or_null(emu, 100 * macs_per_cycle(r, o) / PEAK), "bound", emu ? o->figures.bound : NULL, "launches",
        (json_int_t)c->launches, "contexts", (json_int_t)c->contexts, "image_ms", 1e3 * c->image_seconds, "control_us",
        1e6 * c->control_seconds, "ddr_read_bytes", integer_or_null(emu, c->read_bytes), "ddr_write_bytes",
        integer_or_null(emu, c->write_bytes), "seconds", o->figures.seconds, "device", device_name(o));
}

static int print_json(const struct request *r, const struct outcome *o, struct tw_error *err)
{
    json_t *all = figures_json(r, o);
    int is_lost = all == NULL || json_dumpf(all, stdout, JSON_INDENT(2)) != 0 || putchar('\n') == EOF;
    json_decref(all);
    return is_lost ? tw_fail(err, TW_E_IO, "the figures cannot be written as JSON") : TW_OK;
}

/* ---- the work */

static int multiply(const struct request *r, struct tw_gemm_data *data, struct outcome *o, struct tw_error *err)
{
    struct tw_ticker ticker;
    char what[60];
    snprintf(what, sizeof what, "%d x %d x %d", r->gemm.rows, r->gemm.depth, r->gemm.columns);
    tw_ticker_begin(&ticker, what, 0);
    int code = tw_gemm_data_make(&r->gemm, data, err);
    if (code == TW_OK)
        code = tw_gemm_run(&r->gemm, data, &o->figures, err);
    if (code == TW_OK && r->check)
        code = tw_gemm_check(&r->gemm, data, &o->proof, err);
    tw_ticker_end(&ticker);
    return code;
}

static int judge(const struct request *r, const struct outcome *o, struct tw_error *err)
{
    const int is_sum = !r->gemm.gelu && !r->gemm.out_bf16 && r->gemm.chain == 1;
    const double length = r->gemm.depth > SUMMANDS ? (double)r->gemm.depth / SUMMANDS : 1;
    const double limit = is_sum ? NMSE_OF_SUMS * length : NMSE_OF_BF16 * r->gemm.chain;
    if (!r->check || o->proof.nmse <= limit)
        return TW_OK;
    return tw_fail(err, TW_E_DEVICE, "the result is wrong: its nmse against float64 is %.3g, and %.0e is allowed",
                   o->proof.nmse, limit);
}

static int run(const struct request *r)
{
    struct tw_error err = {0};
    struct tw_gemm_data data = {0};
    struct outcome o = {0};
    int code = multiply(r, &data, &o, &err);
    tw_gemm_data_free(&data);
    if (code == TW_OK && r->json)
        code = print_json(r, &o, &err);
    else if (code == TW_OK)
        print_text(r, &o);
    if (code == TW_OK)
        code = judge(r, &o, &err);
    if (code < 0)
        tw_note("%s", err.text);
    return code < 0 ? TW_EXIT_FAILED : TW_EXIT_OK;
}

int tw_cmd_gemm(int argc, char **argv)
{
    struct request r = {
        .gemm = {.chain = 1, .seed = 1}, .type = "bf16", .a = "bf16", .out = "f32", .device = "auto", .clock_ghz = 1};
    const struct tw_option options[] = {
        {.name = "type", .kind = TW_OPTION_TEXT, .to.text = &r.type},
        {.name = "a", .kind = TW_OPTION_TEXT, .to.text = &r.a},
        {.name = "out", .kind = TW_OPTION_TEXT, .to.text = &r.out},
        {.name = "bias", .kind = TW_OPTION_FLAG, .to.flag = &r.gemm.bias},
        {.name = "gelu", .kind = TW_OPTION_FLAG, .to.flag = &r.gemm.gelu},
        {.name = "add", .kind = TW_OPTION_FLAG, .to.flag = &r.gemm.add},
        {.name = "chain", .kind = TW_OPTION_COUNT, .to.count = &r.gemm.chain, .low = 1, .high = CHAIN_MAX},
        {.name = "device", .kind = TW_OPTION_TEXT, .to.text = &r.device},
        {.name = "clock", .kind = TW_OPTION_REAL, .to.real = &r.clock_ghz, .low = 0.1, .high = 10},
        {.name = "check", .kind = TW_OPTION_FLAG, .to.flag = &r.check},
        {.name = "threads", .kind = TW_OPTION_COUNT, .to.count = &r.gemm.threads, .low = 1, .high = THREADS_MAX},
        {.name = "seed", .kind = TW_OPTION_SEED, .to.seed = &r.gemm.seed},
        {.name = "json", .kind = TW_OPTION_FLAG, .to.flag = &r.json},
        {.name = "help", .letter = 'h', .kind = TW_OPTION_FLAG, .to.flag = &r.help},
    };
    struct tw_error err = {0};
    int operands = tw_options_read(options, sizeof options / sizeof options[0], argc, argv, &err);
    if (operands < 0)
        return tw_usage_error("gemm", err.text);
    if (r.help) {
        fputs(help_text, stdout);
        return TW_EXIT_OK;
    }
    if (operands != 3)
        return tw_usage_error("gemm", "gemm takes three sides, M K N");
    if (read_words(&r, argv + 1, &err) < 0)
        return tw_usage_error("gemm", err.text);
    return run(&r);
}
