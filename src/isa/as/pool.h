/* Memory for many small things that go away together. */
#ifndef TW_ISA_AS_POOL_H
#define TW_ISA_AS_POOL_H

#include <stddef.h>

struct tw_pool_chunk;
struct tw_as_pool {
    struct tw_pool_chunk *last;
};

/* size bytes, zeroed and aligned for any type; NULL when there are none left. */
void *tw_as_pool_take(struct tw_as_pool *pool, size_t size);
/* A copy of size characters with a NUL behind it, or NULL. */
char *tw_as_pool_text(struct tw_as_pool *pool, const char *text, size_t size);
void tw_as_pool_release(struct tw_as_pool *pool);

#endif
