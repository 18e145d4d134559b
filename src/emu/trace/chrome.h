/* A record as a file that Perfetto, chrome://tracing and other viewers of Chrome's trace event format open. */
#ifndef TW_EMU_TRACE_CHROME_H
#define TW_EMU_TRACE_CHROME_H

#include "emu/trace/record.h"

/*
 * Writes the record as JSON: a process for each tile and one for the firmware, a thread for its core and each DMA
 * channel, a counter for each lock; times in microseconds of an array at clock_ghz (above 0). The file appears whole or
 * not at all. When the record was full it says so itself. Fails as tw_new_file_open and tw_new_file_write do.
 */
int tw_trace_write_chrome(struct tw_trace_record *record, double clock_ghz, const char *path, struct tw_error *err);

/* The sentence for a record that was full, "" when it was not. The text is cut to size. */
void tw_trace_describe_loss(struct tw_trace_record *record, char *text, size_t size);

#endif
