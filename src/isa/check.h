/*
 * The static checker: reads a program as the core would run it and reports what the exposed pipeline does not forgive.
 * It follows fall-through, branches behind their delay slots, calls and returns, and the back edges of hardware loops.
 * Where paths meet, what may be in flight on any of them counts. docs/isa.md lists the findings.
 */
#ifndef TW_ISA_CHECK_H
#define TW_ISA_CHECK_H

#include "isa/isa.h"

enum tw_severity { TW_SEVERITY_NOTE, TW_SEVERITY_WARNING, TW_SEVERITY_ERROR };

enum tw_finding_kind {
    TW_FINDING_OLD_VALUE,  /* a read before the result has landed: it gets the old value */
    TW_FINDING_NEW_VALUE,  /* a read so late in the pipeline that it gets what a later operation wrote */
    TW_FINDING_OVERTAKEN,  /* a slow write lands after a later, faster one and replaces it */
    TW_FINDING_SAME_WRITE, /* two writes of one register in one cycle */
    TW_FINDING_UNIT,       /* two operations need one port or unit in one cycle */
    TW_FINDING_MEMORY,     /* an access to the place of a store that is not done yet */
    TW_FINDING_LOCK,       /* a memory access too near a lock operation */
    TW_FINDING_DONE,       /* a memory access too near done */
    TW_FINDING_DELAY_SLOT, /* what may not stand in delay slots */
    TW_FINDING_LOOP,       /* the place of a hardware loop, or the distance from its set-up */
    TW_FINDING_TARGET,     /* a jump to a place that cannot be its target */
    TW_FINDING_FLOW,       /* execution leaves the program, or cannot be followed */
    TW_FINDING_SIZE,       /* the program is larger than program memory */
    TW_FINDING_COUNT
};

/* "old-value", "unit" and so on, for machines. */
extern const char *const tw_finding_names[TW_FINDING_COUNT];
extern const char *const tw_severity_names[3];

#define TW_FINDING_TEXT_MAX 512
#define TW_NO_BUNDLE SIZE_MAX
#define TW_CHECK_OLD_MAX TW_R_COUNT

struct tw_finding {
    enum tw_finding_kind kind;
    enum tw_severity severity;
    size_t bundle;                  /* where; TW_NO_BUNDLE: the whole program */
    size_t other;                   /* the bundle that it conflicts with, or TW_NO_BUNDLE */
    char text[TW_FINDING_TEXT_MAX]; /* one sentence, with the other bundle's address */
};

enum tw_check_flag {
    TW_CHECK_SCHEDULED =
        1 /* the scheduler made it and has proved what its reads get: order of values is not asked for */
};

/* One bundle of the program. */
struct tw_check_bundle {
    const uint8_t *code; /* decodable, of size bytes */
    uint32_t address;    /* even */
    uint8_t size;
    uint8_t flags;
    uint16_t n_old;
    const uint16_t *old; /* TW_R_*: registers that it reads before or after their time on purpose */
};

struct tw_check_options {
    /* The code is not ours: reads of old values are notes, and nothing is worse than a warning. */
    int foreign;
    /* Told about each finding once, in the order of bundles. */
    void (*finding)(void *arg, const struct tw_finding *finding);
    /*
     * May be NULL. Told about each bundle that deals with registers out of their time on purpose, in the order of
     * bundles: the smallest registers (TW_R_* of leaves, n <= TW_CHECK_OLD_MAX) that the bundle says so of, and reads
     * or writes; those that a scheduled one reads while another bundle's write of them is under way, or behind one that
     * was issued later; and those that it writes before an earlier bundle's write lands.
     */
    void (*on_purpose)(void *arg, size_t bundle, const uint16_t *leaves, size_t n);
    void *arg;
};

/*
 * Checks n bundles, which stand in the order of their addresses and do not overlap. entries are the addresses where
 * execution may begin with nothing in flight; code that is not reached from them is checked as if it began there.
 * Returns the number of findings that are errors. Fails with TW_E_FORMAT for a bundle that does not decode or stands
 * out of order, TW_E_MEMORY.
 */
int tw_check(const struct tw_check_bundle *bundles, size_t n, const uint32_t *entries, size_t n_entries,
             const struct tw_check_options *options, struct tw_error *err);

#endif
