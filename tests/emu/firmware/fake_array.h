/* An array that only remembers what was done to it and when, in place of the real one. */
#ifndef TESTS_EMU_FIRMWARE_FAKE_ARRAY_H
#define TESTS_EMU_FIRMWARE_FAKE_ARRAY_H

#include "emu/array.h"

enum fake_kind { FAKE_WRITE, FAKE_MASK_WRITE, FAKE_TOKEN, FAKE_POLL };

struct fake_event {
    enum fake_kind kind;
    uint64_t clock;
    uint32_t address, mask, value; /* token: address is that of its tile, value the actor */
};

enum { FAKE_EVENTS_MAX = 4096 };

/* What all fake arrays together have seen, and what they are to answer. Zero it before each test. */
struct fake {
    unsigned created, freed, resets;
    struct tw_array_options options; /* of the last one created */
    size_t n;
    struct fake_event events[FAKE_EVENTS_MAX];
    int fail_create, fail_write_at; /* the error of the next creation; fail_write_at: number of the event, 0: none */
    uint64_t token_takes;           /* cycles until a token is there */
    int wait_code;                  /* what waits return */
    int busy;                       /* what status registers say of their channel */
    struct tw_tile_counts counts[TW_NPU1_ROWS]; /* of column 1, once anything has been done; all others do nothing */
};
extern struct fake fake;

#endif
