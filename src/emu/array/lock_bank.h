/*
 * The locks of one tile: counting semaphores of 0 to 63 with those who wait for them. By AM020. A request's value has
 * the sign of the hardware's: below 0 it waits until the lock is at least -value and takes that much; else until it is
 * exactly the value, and takes that.
 */
#ifndef TW_EMU_ARRAY_LOCK_BANK_H
#define TW_EMU_ARRAY_LOCK_BANK_H

#include <stdint.h>

enum tw_lock_bank_limit {
    TW_LOCKS_MAX = 64,
    TW_LOCK_WAITERS = 40 /* all cores and DMA channels that reach one tile's */
};

struct tw_lock_waiter {
    uint16_t actor;
    uint8_t lock;
    int8_t value;
};

struct tw_lock_bank {
    int8_t values[TW_LOCKS_MAX];
    uint64_t overflow, underflow; /* a bit for each lock */
    unsigned n_waiters;
    struct tw_lock_waiter waiters[TW_LOCK_WAITERS]; /* in the order in which they came */
};

/* Takes the lock now if that is possible: returns 1, else 0. */
int tw_lock_try(struct tw_lock_bank *bank, unsigned lock, int value);
/* Enters a waiter; it is no longer in when tw_lock_grant names it. Returns 0, or -1 when there are too many. */
int tw_lock_wait(struct tw_lock_bank *bank, unsigned actor, unsigned lock, int value);
/* The first waiter that can have the lock as it is now gets it: returns its actor, or -1. */
int tw_lock_grant(struct tw_lock_bank *bank, unsigned lock);
/* Takes an actor out of the list. */
void tw_lock_forget(struct tw_lock_bank *bank, unsigned actor);
/* Adds to the lock. Returns 0, or -1 when it would leave 0 to 63: a status bit is set and the lock stays as it is. */
int tw_lock_add(struct tw_lock_bank *bank, unsigned lock, int value);

#endif
