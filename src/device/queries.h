/* Questions to the driver. What a version of it cannot answer is left zero. */
#ifndef TW_DEVICE_QUERIES_H
#define TW_DEVICE_QUERIES_H

#include "device/driver_file.h"
#include "uapi/query.h"

/* One answer of GET_INFO; `room` bytes of zeros before it. Returns 0 or a negative errno value. */
int tw_query(const struct tw_driver_file *file, enum tw_xdna_query query, void *answer, uint32_t room);

enum { TW_CONTEXTS_SHOWN = 32 };

struct tw_driver_facts {
    struct tw_xdna_aie_metadata array;
    struct tw_xdna_firmware firmware;
    struct tw_xdna_clocks clocks;
    struct tw_xdna_power power;
    struct tw_xdna_memory_use memory; /* of this process */
    unsigned contexts_max;
    int contexts_known; /* the driver told of contexts */
    unsigned n_contexts;
    struct tw_xdna_context_info contexts[TW_CONTEXTS_SHOWN];
};

/* The contexts in use, of all processes: the later kernels' query, else the older one. */
void tw_query_contexts(const struct tw_driver_file *file, struct tw_driver_facts *facts);

/* Whether no context before number i is of the same process. */
int tw_facts_first_of_process(const struct tw_driver_facts *facts, unsigned i);

/* All of it. */
void tw_query_facts(const struct tw_driver_file *file, struct tw_driver_facts *facts);

#endif
