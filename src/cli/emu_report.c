#include "cli/emu_report.h"

#include <inttypes.h>
#include <jansson.h>

/* Microseconds that cycles take at a clock. */
static double microseconds(uint64_t cycles, double clock_ghz)
{
    return (double)cycles / clock_ghz / 1000;
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
    fprintf(to, "; %" PRIu64 " tokens\n", r->tokens);
}

static void print_run(const struct tw_emu_report *report, const struct tw_emu_run *run, FILE *to)
{
    const struct tw_command_report *r = &run->report;
    fprintf(to, "%s: %" PRIu64 " cycles modelled, %.1f us modelled at %.3g GHz; %" PRIu64 " of the cycles waiting\n",
            run->control != NULL ? run->control : "no control code", r->cycles,
            microseconds(r->cycles, report->clock_ghz), report->clock_ghz, r->wait_cycles);
    print_counts(r, to);
}

void tw_emu_report_text(const struct tw_emu_report *report, FILE *to)
{
    fprintf(to, "%s%s%s, %u columns\n", report->file, report->kernel[0] != '\0' ? ", kernel " : "", report->kernel,
            report->columns);
    for (size_t i = 0; i < report->n_runs; i++)
        print_run(report, &report->runs[i], to);
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
    return json_pack("{s:s?, s:I, s:f, s:I, s:b, s:I, s:o, s:I}", "control_code", run->control, "modelled_cycles",
                     (json_int_t)r->cycles, "modelled_microseconds", microseconds(r->cycles, report->clock_ghz),
                     "modelled_wait_cycles", (json_int_t)r->wait_cycles, "pdi_loaded", r->loaded, "operations",
                     (json_int_t)r->operations, "counts", counts_json(r), "tokens", (json_int_t)r->tokens);
}

static json_t *report_json(const struct tw_emu_report *report)
{
    json_t *runs = json_array();
    int lost = runs == NULL;
    for (size_t i = 0; !lost && i < report->n_runs; i++)
        lost = json_array_append_new(runs, run_json(report, &report->runs[i])) != 0;
    if (lost) {
        json_decref(runs);
        return NULL;
    }
    return json_pack("{s:s, s:s, s:i, s:f, s:o}", "file", report->file, "kernel", report->kernel, "columns",
                     (int)report->columns, "clock_ghz", report->clock_ghz, "runs", runs);
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
