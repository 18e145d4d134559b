/* What became of the cases of one file of recorded results. */
#ifndef TW_CLI_VECTORS_REPORT_H
#define TW_CLI_VECTORS_REPORT_H

#include "cli/vectors_table.h"

#include <stddef.h>

#define TW_SKIP_REASONS_MAX 32
#define TW_SKIP_REASON_SIZE 128

struct tw_skip {
    char reason[TW_SKIP_REASON_SIZE];
    size_t count;
};

struct tw_vectors_report {
    const char *file;
    int verbose; /* tell of every failure, not only of the first few */
    size_t passed, failed, skipped;
    struct tw_skip skips[TW_SKIP_REASONS_MAX]; /* reasons beyond these share the last */
    unsigned n_skips;
};

void tw_report_pass(struct tw_vectors_report *report);
/* Says on stderr which case failed, and the two texts. */
void tw_report_fail(struct tw_vectors_report *report, struct tw_field id, const char *expected, const char *got);
/* `count` cases cannot be tested. */
void tw_report_skip(struct tw_vectors_report *report, size_t count, const char *reason);

/* Compares lanes of `bits` bits (8, 16, 32, 64) and reports pass or fail. */
void tw_report_lanes(struct tw_vectors_report *report, struct tw_field id, unsigned bits, unsigned lanes,
                     const void *expected, const void *got);
/* The same for fp32 (32) or bf16 (16) lanes: any NaN equals any other. */
void tw_report_float_lanes(struct tw_vectors_report *report, struct tw_field id, unsigned bits, unsigned lanes,
                           const void *expected, const void *got);
void tw_report_number(struct tw_vectors_report *report, struct tw_field id, uint64_t expected, uint64_t got);

#endif
