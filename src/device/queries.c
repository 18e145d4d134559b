#include "device/queries.h"

#include <string.h>
#include <unistd.h>

int tw_query(const struct tw_driver_file *file, enum tw_xdna_query query, void *answer, uint32_t room)
{
    memset(answer, 0, room);
    struct tw_xdna_info info = {.query = query, .bytes = room, .buffer = (uint64_t)(uintptr_t)answer};
    int result = tw_driver_call(file, TW_XDNA_GET_INFO, &info);
    if (result < 0)
        memset(answer, 0, room);
    return result;
}

/* *n elements at most in, as many as there are out, up to that. */
static int query_array(const struct tw_driver_file *file, enum tw_xdna_array_query query, void *elements,
                       uint32_t element_bytes, unsigned *n)
{
    struct tw_xdna_array array = {
        .query = query, .element_bytes = element_bytes, .elements = *n, .buffer = (uint64_t)(uintptr_t)elements};
    int result = tw_driver_call(file, TW_XDNA_GET_ARRAY, &array);
    if (result == 0 && array.elements < *n)
        *n = array.elements;
    return result;
}

/* The later form of an entry begins as the older one. */
_Static_assert(offsetof(struct tw_xdna_context_entry, errors) == offsetof(struct tw_xdna_context_info, errors),
               "entries begin alike");

static int contexts_by_array(const struct tw_driver_file *file, struct tw_driver_facts *facts)
{
    struct tw_xdna_context_entry entries[TW_CONTEXTS_SHOWN];
    memset(entries, 0, sizeof entries);
    unsigned n = TW_CONTEXTS_SHOWN;
    int result = query_array(file, TW_XDNA_ARRAY_CONTEXTS, entries, sizeof entries[0], &n);
    if (result < 0)
        return result;
    for (unsigned i = 0; i < n; i++)
        memcpy(&facts->contexts[i], &entries[i], sizeof facts->contexts[i]);
    facts->n_contexts = n;
    return 0;
}

static int contexts_by_info(const struct tw_driver_file *file, struct tw_driver_facts *facts)
{
    struct tw_xdna_info info = {.query = TW_XDNA_QUERY_CONTEXTS,
                                .bytes = sizeof facts->contexts,
                                .buffer = (uint64_t)(uintptr_t)facts->contexts};
    int result = tw_driver_call(file, TW_XDNA_GET_INFO, &info);
    if (result < 0)
        return result;
    size_t n = info.bytes / sizeof facts->contexts[0];
    facts->n_contexts = n < TW_CONTEXTS_SHOWN ? (unsigned)n : TW_CONTEXTS_SHOWN;
    return 0;
}

void tw_query_contexts(const struct tw_driver_file *file, struct tw_driver_facts *facts)
{
    facts->n_contexts = 0;
    facts->contexts_known = contexts_by_array(file, facts) == 0 || contexts_by_info(file, facts) == 0;
}

int tw_facts_first_of_process(const struct tw_driver_facts *facts, unsigned i)
{
    for (unsigned k = 0; k < i; k++)
        if (facts->contexts[k].pid == facts->contexts[i].pid)
            return 0;
    return 1;
}

void tw_query_facts(const struct tw_driver_file *file, struct tw_driver_facts *facts)
{
    struct tw_xdna_resources resources;
    *facts = (struct tw_driver_facts){.contexts_max = TW_XDNA_CONTEXTS};
    tw_query(file, TW_XDNA_QUERY_AIE_METADATA, &facts->array, sizeof facts->array);
    tw_query(file, TW_XDNA_QUERY_FIRMWARE, &facts->firmware, sizeof facts->firmware);
    tw_query(file, TW_XDNA_QUERY_CLOCKS, &facts->clocks, sizeof facts->clocks);
    tw_query(file, TW_XDNA_QUERY_POWER_MODE, &facts->power, sizeof facts->power);
    if (tw_query(file, TW_XDNA_QUERY_RESOURCES, &resources, sizeof resources) == 0 && resources.contexts_max > 0 &&
        resources.contexts_max <= UINT32_MAX)
        facts->contexts_max = (unsigned)resources.contexts_max;
    unsigned one = 1;
    facts->memory.pid = getpid();
    query_array(file, TW_XDNA_ARRAY_MEMORY, &facts->memory, sizeof facts->memory, &one);
    tw_query_contexts(file, facts);
}
