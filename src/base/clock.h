/* A clock that never jumps. */
#ifndef TW_BASE_CLOCK_H
#define TW_BASE_CLOCK_H

/* Seconds since some fixed moment in the past. */
double tw_seconds(void);

#endif
