#include "cli/emu_report.h"

#include "emu/cycles.h"

#include <inttypes.h>
#include <jansson.h>

enum { WORD_BYTES = 4 };

/* Microseconds that cycles take at a clock. */
static double microseconds(uint64_t cycles, double clock_ghz)
{
    return (double)cycles / clock_ghz / 1000;
}

/* What the host takes beside the array, by published runs. */
static double host_microseconds(const struct tw_command_report *r)
{
    return (TW_NS_COMMAND + (r->loaded ? TW_NS_PDI_LOAD : 0)) / 1000.0;
}

static void print_counts(const struct tw_command_report *r, FILE *to)
{
    const char *before = ": ";
    fprintf(to, "    %" PRIu64 " operations", r->operations);
    for (int i = 0; i < TW_COMMAND_COUNTS; i++) {
        if (r->counts[i] == 0)
            continue;
        fprintf(to, "%s%" PRIu64 " %s", before, r->counts[i], tw_command_count_names[i]);
        before = ", ";
    }
    fprintf(to, "; tokens: %" PRIu64 "\n", r->tokens);
}

/* What is neither launch nor waiting. */
static uint64_t control_cycles(const struct tw_command_report *r)
{
    return r->cycles - r->launch_cycles - r->wait_cycles;
}

static void print_run(const struct tw_emu_report *report, const struct tw_emu_run *run, FILE *to)
{
    const struct tw_command_report *r = &run->report;
    fprintf(to, "%s: %" PRIu64 " cycles modelled, %.1f us modelled at %.3g GHz\n",
            run->control != NULL ? run->control : "no control code", r->cycles,
            microseconds(r->cycles, report->clock_ghz), report->clock_ghz);
    fprintf(to,
            "    launch %" PRIu64 ", control code %" PRIu64 ", waiting %" PRIu64
            " cycles modelled; bounded by: %s; DDR read %" PRIu64 " bytes, written %" PRIu64 "\n",
            r->launch_cycles, control_cycles(r), r->wait_cycles, tw_bound_names[r->bound], r->usage.read_bytes,
            r->usage.write_bytes);
    print_counts(r, to);
    fprintf(to, "    not in these: %.0f us modelled for the host's dispatch%s\n", host_microseconds(r),
            r->loaded ? " and loading the PDI" : "");
}

/* ---- tiles: cores that ran, and what DMA moved through their tile */

typedef void visit_tile(void *arg, unsigned column, unsigned row, const struct tw_tile_counts *counts);

static int has_moved(const struct tw_tile_counts *c)
{
    return c->words_in > 0 || c->words_out > 0;
}

/* Calls visit for every tile in which anything happened. */
static void walk_tiles(const struct tw_emu_report *report, visit_tile *visit, void *arg)
{
    for (unsigned column = 0; column < report->columns; column++)
        for (unsigned row = 0; row < TW_NPU1_ROWS; row++) {
            struct tw_tile_counts c;
            int code = tw_array_counts(report->array, column, row, &c);
            if (code == TW_OK && (c.bundles > 0 || has_moved(&c) || c.enabled))
                visit(arg, column, row, &c);
        }
}

static const char *const kind_names[TW_TILE_KINDS] = {
    [TW_TILE_SHIM] = "shim", [TW_TILE_MEMORY] = "memory", [TW_TILE_CORE] = "core"};

static const char *const direction_names[] = {[TW_S2MM] = "S2MM", [TW_MM2S] = "MM2S"};
static const char *const stall_names[TW_STALLS] = {
    [TW_STALL_LOCK] = "locks",
    [TW_STALL_STREAM] = "streams",
    [TW_STALL_CASCADE] = "cascade",
    [TW_STALL_REGISTER] = "registers",
};

static void print_channels(FILE *to, const struct tw_tile_counts *c)
{
    const char *before = "DMA ";
    for (int direction = 0; direction < 2; direction++)
        for (unsigned i = 0; i < TW_DMA_CHANNELS_MAX; i++) {
            if (c->words[direction][i] == 0)
                continue;
            fprintf(to, "%s%s %u %" PRIu64 " bytes", before, direction_names[direction], i,
                    WORD_BYTES * c->words[direction][i]);
            before = ", ";
        }
}

static void print_core(FILE *to, const struct tw_tile_counts *c)
{
    fprintf(to, "%" PRIu64 " bundles; waited %" PRIu64 " cycles modelled for banks", c->bundles, c->bank_stalls);
    for (int i = 0; i < TW_STALLS; i++)
        if (i <= TW_STALL_STREAM || c->stalls[i] > 0)
            fprintf(to, ", %" PRIu64 " for %s", c->stalls[i], stall_names[i]);
    if (c->done)
        fputs("; done", to);
}

/* A visit_tile. */
static void print_tile(void *arg, unsigned column, unsigned row, const struct tw_tile_counts *c)
{
    enum tw_tile_kind kind = tw_tile_kind(row);
    fprintf(arg, "%s (%u, %u): ", kind_names[kind], column, row);
    print_channels(arg, c);
    if (kind == TW_TILE_CORE) {
        fputs(has_moved(c) ? "; " : "", arg);
        print_core(arg, c);
    }
    fputc('\n', arg);
}

void tw_emu_report_text(const struct tw_emu_report *report, FILE *to)
{
    fprintf(to, "%s%s%s, %u columns\n", report->file, report->kernel[0] != '\0' ? ", kernel " : "", report->kernel,
            report->columns);
    for (size_t i = 0; i < report->n_runs; i++)
        print_run(report, &report->runs[i], to);
    walk_tiles(report, print_tile, to);
}

/* ---- JSON; a failure anywhere becomes a NULL in the end */

static json_t *counts_json(const struct tw_command_report *r)
{
    json_t *counts = json_object();
    for (int i = 0; i < TW_COMMAND_COUNTS; i++)
        if (json_object_set_new(counts, tw_command_count_names[i], json_integer((json_int_t)r->counts[i])) != 0) {
            json_decref(counts);
            return NULL;
        }
    return counts;
}

static json_t *run_json(const struct tw_emu_report *report, const struct tw_emu_run *run)
{
    const struct tw_command_report *r = &run->report;
    return json_pack("{s:s?, s:I, s:f, s:f, s:I, s:I, s:I, s:s, s:I, s:I, s:b, s:I, s:o, s:I}", "control_code",
                     run->control, "modelled_cycles", (json_int_t)r->cycles, "modelled_microseconds",
                     microseconds(r->cycles, report->clock_ghz), "modelled_host_microseconds", host_microseconds(r),
                     "modelled_launch_cycles", (json_int_t)r->launch_cycles, "modelled_control_code_cycles",
                     (json_int_t)control_cycles(r), "modelled_wait_cycles", (json_int_t)r->wait_cycles, "bounded_by",
                     tw_bound_names[r->bound], "ddr_bytes_read", (json_int_t)r->usage.read_bytes, "ddr_bytes_written",
                     (json_int_t)r->usage.write_bytes, "pdi_loaded", r->loaded, "operations", (json_int_t)r->operations,
                     "counts", counts_json(r), "tokens", (json_int_t)r->tokens);
}

struct tiles {
    json_t *list;
    int lost;
};

/* The bytes of all channels that have moved any. */
static json_t *channels_json(const struct tw_tile_counts *c)
{
    json_t *channels = json_array();
    int lost = channels == NULL;
    for (int direction = 0; direction < 2; direction++)
        for (unsigned i = 0; i < TW_DMA_CHANNELS_MAX && !lost; i++)
            if (c->words[direction][i] > 0)
                lost =
                    json_array_append_new(channels, json_pack("{s:s, s:i, s:I}", "direction",
                                                              direction_names[direction], "channel", (int)i, "bytes",
                                                              (json_int_t)(WORD_BYTES * c->words[direction][i]))) != 0;
    if (!lost)
        return channels;
    json_decref(channels);
    return NULL;
}

/* What a core was busy with and waited for; null for tiles that have none. */
static json_t *core_json(unsigned row, const struct tw_tile_counts *c)
{
    if (tw_tile_kind(row) != TW_TILE_CORE)
        return json_null();
    return json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:b}", "bundles", (json_int_t)c->bundles, "modelled_bank_stalls",
                     (json_int_t)c->bank_stalls, "modelled_lock_stalls", (json_int_t)c->stalls[TW_STALL_LOCK],
                     "modelled_stream_stalls", (json_int_t)c->stalls[TW_STALL_STREAM], "modelled_cascade_stalls",
                     (json_int_t)c->stalls[TW_STALL_CASCADE], "modelled_register_stalls",
                     (json_int_t)c->stalls[TW_STALL_REGISTER], "done", (int)c->done);
}

/* A visit_tile. */
static void add_tile(void *arg, unsigned column, unsigned row, const struct tw_tile_counts *c)
{
    struct tiles *tiles = arg;
    json_t *tile = json_pack("{s:s, s:i, s:i, s:o, s:o}", "kind", kind_names[tw_tile_kind(row)], "column", (int)column,
                             "row", (int)row, "channels", channels_json(c), "core", core_json(row, c));
    tiles->lost |= json_array_append_new(tiles->list, tile) != 0;
}

static json_t *report_json(const struct tw_emu_report *report)
{
    json_t *runs = json_array();
    struct tiles tiles = {json_array(), 0};
    walk_tiles(report, add_tile, &tiles);
    int lost = runs == NULL || tiles.lost;
    for (size_t i = 0; !lost && i < report->n_runs; i++)
        lost = json_array_append_new(runs, run_json(report, &report->runs[i])) != 0;
    if (lost) {
        json_decref(runs);
        json_decref(tiles.list);
        return NULL;
    }
    return json_pack("{s:s, s:s, s:i, s:f, s:o, s:o}", "file", report->file, "kernel", report->kernel, "columns",
                     (int)report->columns, "clock_ghz", report->clock_ghz, "runs", runs, "tiles", tiles.list);
}

int tw_emu_report_json(const struct tw_emu_report *report, FILE *to, struct tw_error *err)
{
    json_t *all = report_json(report);
    if (all == NULL)
        return tw_fail(err, TW_E_MEMORY, "the report cannot be written as JSON");
    int bad = json_dumpf(all, to, JSON_INDENT(2)) != 0 || fputc('\n', to) == EOF;
    json_decref(all);
    return bad ? tw_fail(err, TW_E_IO, "the report cannot be written") : TW_OK;
}
