/* What `tilewright bench whisper` prints of its figures. */
#ifndef TW_CLI_BENCH_REPORT_H
#define TW_CLI_BENCH_REPORT_H

#include "cli/bench_encoder.h"

#include <stdio.h>

struct tw_bench_report {
    const struct tw_bench *bench;
    const struct tw_speech *speech;
    const char *what; /* "tiny, random weights": whose encoder it is */
    double seed_ms;   /* published for another program's encoder of these shapes on this NPU; 0: none */
};

void tw_bench_print(const struct tw_bench_report *report, FILE *to);

/* The same as one JSON object on a line. Fails with TW_E_MEMORY. */
int tw_bench_print_json(const struct tw_bench_report *report, FILE *to, struct tw_error *err);

#endif
