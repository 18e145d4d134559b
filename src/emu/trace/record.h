/*
 * A record of what happened, of bounded size: what begins first is kept, what begins after the record is full is only
 * counted. chrome.h writes it to a file.
 */
#ifndef TW_EMU_TRACE_RECORD_H
#define TW_EMU_TRACE_RECORD_H

#include "base/error.h"
#include "emu/trace.h"

#include <stddef.h>

/* Entries that a record keeps unless told otherwise: a file of about 70 MB, which trace viewers still open. */
#define TW_TRACE_ENTRIES 500000u

/* One thing that happened: it lasted (its kind is TW_TRACE_BEGIN), had a value, or was a moment. */
struct tw_trace_entry {
    struct tw_trace_event
        event;          /* the event it began with; RUN: numbers are those of the time itself, 0 if unfinished */
    uint64_t end;       /* cycle; that of the event for values and moments */
    uint32_t number;    /* in the order in which they came */
    uint8_t unfinished; /* had not ended when the record did */
};

struct tw_trace_record;

/* most: how many entries it keeps, 0: TW_TRACE_ENTRIES. Fails with TW_E_MEMORY. */
int tw_trace_record_create(size_t most, struct tw_trace_record **record, struct tw_error *err);
void tw_trace_record_free(struct tw_trace_record *record);

/* For the options of an array or a firmware, which the record outlives. */
struct tw_trace_hook tw_trace_record_hook(struct tw_trace_record *record);

/*
 * Ends what has not ended, and gives all entries in the order in which they began, those around others before them;
 * they live as long as the record. Nothing more is recorded after that.
 */
const struct tw_trace_entry *tw_trace_record_entries(struct tw_trace_record *record, size_t *n);
/* How many are left out because the record was full; a lack of memory makes it full too. */
uint64_t tw_trace_record_lost(const struct tw_trace_record *record);

#endif
