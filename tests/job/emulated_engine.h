/* Engines on an emulated machine, for tests through the public functions. */
#ifndef TW_TESTS_JOB_EMULATED_ENGINE_H
#define TW_TESTS_JOB_EMULATED_ENGINE_H

#include "tilewright.h"

/* On a machine of its own; a warning fails the test. threads: 0: all. */
struct tw_engine *emulated_engine(unsigned threads, enum tw_verify verify);
/* The same on a device that others use, too. */
struct tw_engine *emulated_engine_on(struct tw_device *device, unsigned threads, enum tw_verify verify);
struct tw_device *emulated_device(int alone);

struct tw_engine_counts engine_counts(struct tw_engine *engine);
/* Expects that all products so far were computed by the NPU, and returns the counts. */
struct tw_engine_counts engine_expect_clean(struct tw_engine *engine);

#endif
