/*
 * Who acts next. Each actor of the array has a number and at most one time at which it wants to act; the earliest goes
 * first, of several the one with the smallest number: so the order never depends on how things came about.
 */
#ifndef TW_EMU_ARRAY_EVENT_QUEUE_H
#define TW_EMU_ARRAY_EVENT_QUEUE_H

#include <stdint.h>

enum { TW_EVENT_ACTORS = 1200 };

struct tw_event_queue {
    unsigned n;
    uint64_t heap[TW_EVENT_ACTORS];  /* times with their actors below: what is less goes first */
    uint16_t place[TW_EVENT_ACTORS]; /* in the heap, + 1; 0: not in it */
};

/* The actor wants to act at `time`, which is below 2^53, unless it wants to act earlier anyway. */
void tw_event_wake(struct tw_event_queue *queue, unsigned actor, uint64_t time);
/* Takes the first actor out and gives its time; -1: nobody wants to act. */
int tw_event_next(struct tw_event_queue *queue, uint64_t *time);
/* The time of the first, without taking it; UINT64_MAX: nobody. */
uint64_t tw_event_first(const struct tw_event_queue *queue);

#endif
