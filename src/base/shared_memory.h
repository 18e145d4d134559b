/* Memory of no file that can be mapped more than once, at addresses of the caller's choice. */
#ifndef TW_BASE_SHARED_MEMORY_H
#define TW_BASE_SHARED_MEMORY_H

#include "base/error.h"

/*
 * A file descriptor of empty shared memory, to be grown with ftruncate and mapped MAP_SHARED; closed by close(). Memory
 * that nobody has touched takes no room. Returns it, or TW_E_IO when the system has none.
 */
int tw_shared_memory_create(struct tw_error *err);

#endif
