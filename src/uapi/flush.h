/* Flushing of cache lines from user space, without which the NPU and the processor see different memory. */
#ifndef TW_UAPI_FLUSH_H
#define TW_UAPI_FLUSH_H

#include <stddef.h>

#define TW_FLUSH_STEP 64 /* bytes: no x86-64 processor has smaller lines */

/*
 * Writes every line that holds some of these bytes back to memory and forgets it, and waits until that is done. The
 * first argument is not used: these are entries of struct tw_calls.
 */
typedef int tw_flush_lines(void *context, const void *address, size_t size);

tw_flush_lines tw_flush_clflush;    /* every x86-64 */
tw_flush_lines tw_flush_clflushopt; /* newer ones: lines do not wait for each other */
tw_flush_lines tw_flush_none;       /* a processor that has neither: returns -EOPNOTSUPP */

/* The best that this processor has. */
tw_flush_lines *tw_flush_select(void);

#endif
