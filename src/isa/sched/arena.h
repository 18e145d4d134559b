/* Memory that is given back all at once. */
#ifndef TW_ISA_SCHED_ARENA_H
#define TW_ISA_SCHED_ARENA_H

#include <stddef.h>

struct tw_arena_chunk;
struct tw_arena {
    struct tw_arena_chunk *last;
};

/* count * size zeroed bytes, aligned for any type; NULL when there are none left. Valid until tw_arena_release. */
void *tw_arena_alloc(struct tw_arena *a, size_t count, size_t size);
/* Where the arena stands, and back there: what was allocated since is gone. */
struct tw_arena tw_arena_mark(const struct tw_arena *a);
void tw_arena_rewind(struct tw_arena *a, struct tw_arena mark);
void tw_arena_release(struct tw_arena *a);

#endif
