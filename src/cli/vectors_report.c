#include "cli/vectors_report.h"

#include "base/little_endian.h"
#include "base/log.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define FAILURES_TOLD 5 /* of a file, unless all are wanted */
#define LANES_TEXT 1200

void tw_report_pass(struct tw_vectors_report *report)
{
    report->passed++;
}

void tw_report_fail(struct tw_vectors_report *report, struct tw_field id, const char *expected, const char *got)
{
    if (report->verbose || report->failed < FAILURES_TOLD)
        tw_note("%s: %.*s: expected %s, got %s", report->file, (int)(id.size < 100 ? id.size : 100), id.text, expected,
                got);
    report->failed++;
}

void tw_report_skip(struct tw_vectors_report *report, size_t count, const char *reason)
{
    unsigned i = 0;
    report->skipped += count;
    while (i < report->n_skips && strncmp(report->skips[i].reason, reason, TW_SKIP_REASON_SIZE - 1) != 0)
        i++;
    if (i == TW_SKIP_REASONS_MAX) {
        i--;
        snprintf(report->skips[i].reason, TW_SKIP_REASON_SIZE, "other reasons");
    } else if (i == report->n_skips) {
        report->n_skips++;
        snprintf(report->skips[i].reason, TW_SKIP_REASON_SIZE, "%s", reason);
    }
    report->skips[i].count += count;
}

static uint64_t lane(const unsigned char *from, unsigned bits)
{
    switch (bits) {
    case 8:
        return from[0];
    case 16:
        return tw_load_u16(from);
    case 32:
        return tw_load_u32(from);
    default:
        return tw_load_u64(from);
    }
}

static void print_lanes(const void *from, unsigned bits, unsigned lanes, char text[LANES_TEXT])
{
    size_t at = 0;
    text[0] = '\0';
    for (unsigned i = 0; i < lanes && at + 20 < LANES_TEXT; i++)
        at += (size_t)snprintf(text + at, LANES_TEXT - at, "%s%0*" PRIx64, i > 0 ? " " : "", (int)(bits / 4),
                               lane((const unsigned char *)from + (size_t)i * bits / 8, bits));
}

static int is_nan(uint64_t x, unsigned bits)
{
    return bits == 32 ? (x & 0x7fffffffu) > 0x7f800000u : (x & 0x7fffu) > 0x7f80u;
}

static void report(struct tw_vectors_report *r, struct tw_field id, unsigned bits, unsigned lanes, int is_float,
                   const void *expected, const void *got)
{
    int same = 1;
    for (unsigned i = 0; i < lanes; i++) {
        uint64_t e = lane((const unsigned char *)expected + (size_t)i * bits / 8, bits);
        uint64_t g = lane((const unsigned char *)got + (size_t)i * bits / 8, bits);
        same &= e == g || (is_float && is_nan(e, bits) && is_nan(g, bits));
    }
    if (same) {
        tw_report_pass(r);
        return;
    }
    char expected_text[LANES_TEXT], got_text[LANES_TEXT];
    print_lanes(expected, bits, lanes, expected_text);
    print_lanes(got, bits, lanes, got_text);
    tw_report_fail(r, id, expected_text, got_text);
}

void tw_report_lanes(struct tw_vectors_report *r, struct tw_field id, unsigned bits, unsigned lanes,
                     const void *expected, const void *got)
{
    report(r, id, bits, lanes, 0, expected, got);
}

void tw_report_float_lanes(struct tw_vectors_report *r, struct tw_field id, unsigned bits, unsigned lanes,
                           const void *expected, const void *got)
{
    report(r, id, bits, lanes, 1, expected, got);
}

void tw_report_number(struct tw_vectors_report *r, struct tw_field id, uint64_t expected, uint64_t got)
{
    unsigned char e[8], g[8];
    tw_store_u64(e, expected);
    tw_store_u64(g, got);
    report(r, id, 64, 1, 0, e, g);
}
