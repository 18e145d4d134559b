/*
 * Ctrl-C and termination. A thread waits for the signals, so that no handler and no global is needed. Normally a signal
 * ends the process at once with exit code 128 + its number; around work that stops on request it only raises a flag
 * (a second signal then ends the process), and while files are put in place it waits.
 */
#ifndef TW_CLI_INTERRUPT_H
#define TW_CLI_INTERRUPT_H

#include "base/error.h"

struct tw_interrupt;

/*
 * Blocks SIGINT, SIGTERM and SIGHUP (those that are not ignored) in this thread and the threads it will create, and
 * starts the waiting thread. Call it before other threads are created. Destroying leaves the signals blocked.
 */
int tw_interrupt_create(struct tw_interrupt **interrupt, struct tw_error *err);
void tw_interrupt_destroy(struct tw_interrupt *interrupt);

/* From begin to end a first signal only raises the flag. */
void tw_interrupt_polite_begin(struct tw_interrupt *interrupt);
void tw_interrupt_polite_end(struct tw_interrupt *interrupt);

/* The signal that raised the flag, or 0. Any thread may ask. */
int tw_interrupt_signal(const struct tw_interrupt *interrupt);

/*
 * Ends the process if a signal has raised the flag, with its exit code: once what had to be finished is, and while
 * threads may be at work that nobody needs any more. Nothing that stdout holds back is written.
 */
void tw_interrupt_obey(struct tw_interrupt *interrupt);

/* From hold to release no signal ends the process. For short work that must not be left half done. */
void tw_interrupt_hold(struct tw_interrupt *interrupt);
void tw_interrupt_release(struct tw_interrupt *interrupt);

#endif
