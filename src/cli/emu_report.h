/* What an emulated run did, as text or JSON. All times are modelled, and say so. */
#ifndef TW_CLI_EMU_REPORT_H
#define TW_CLI_EMU_REPORT_H

#include "emu/firmware.h"

#include <stdio.h>

/* One command that was run. */
struct tw_emu_run {
    const char *control; /* file of its control code; NULL: none */
    struct tw_command_report report;
};

struct tw_emu_report {
    const char *file, *kernel;
    unsigned columns;
    double clock_ghz;
    size_t n_runs;
    const struct tw_emu_run *runs;
    const struct tw_array *array; /* after the last one */
};

void tw_emu_report_text(const struct tw_emu_report *report, FILE *to);
/* Fails with TW_E_MEMORY or TW_E_IO. */
int tw_emu_report_json(const struct tw_emu_report *report, FILE *to, struct tw_error *err);

#endif
