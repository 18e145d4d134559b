/*
 * A table of calls that answers like a driver without a device behind it: every command completes at once. It counts
 * what it was asked, keeps no rules, and fails where it is told to.
 */
#ifndef TESTS_DEVICE_FAKE_DRIVER_H
#define TESTS_DEVICE_FAKE_DRIVER_H

#include "uapi/amdxdna.h"
#include "uapi/calls.h"
#include "uapi/query.h"

#include <stdatomic.h>

enum { FAKE_BUFFERS = 256, FAKE_LOG = 4096 };

struct fake_buffer {
    uint32_t kind; /* 0: free */
    uint64_t bytes;
    void *data;
    uint64_t address;
    int open, mapped;
};

struct fake_driver {
    struct tw_calls calls;
    /* What it does. */
    int open_errno;
    const char *name;
    int major, minor;
    struct {
        uint32_t number;
        int errno_value, skip, times; /* after skip calls, times calls fail */
    } fail[4];
    int no_flush, no_syncobj, no_timeline, no_wait, interrupt;
    int contexts_taken; /* what queries tell */
    unsigned columns;
    struct tw_xdna_firmware firmware;
    uint32_t end_state; /* of the next commands */
    uint32_t error_index;
    int running; /* this many waits find a command still running */
    /* What it saw. */
    struct fake_buffer buffers[FAKE_BUFFERS]; /* by handle */
    uint64_t heap_used;
    void *heap;
    uint32_t log[FAKE_LOG]; /* numbers of the ioctls, in order */
    unsigned n_log, flushes, syncs, closed;
    uint32_t packet[1024]; /* of the last command */
    uint32_t arguments[256], n_arguments;
    struct tw_xdna_create_context context;
    struct tw_xdna_cus cus;
    uint64_t sequence;
    unsigned contexts_open;
    uint32_t gem_closed[FAKE_BUFFERS];            /* handles, in order */
    unsigned n_gem_closed, closed_before_context; /* when the last context was destroyed */
};

void fake_driver_create(struct fake_driver *f);
/* What was not given back: buffers, mappings, contexts and open files. */
unsigned fake_driver_leaks(const struct fake_driver *f);
unsigned fake_driver_count(const struct fake_driver *f, uint32_t number);

#endif
