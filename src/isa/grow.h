/* Arrays that grow by doubling. */
#ifndef TW_ISA_GROW_H
#define TW_ISA_GROW_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/*
 * Room for one more element of size bytes behind the n of *array, a pointer to memory from malloc or NULL; *room counts
 * elements. Returns 0, or 1 when there is no memory.
 */
static inline int tw_grow(void *array, size_t n, size_t *room, size_t size)
{
    void *old, *bigger;
    size_t more = *room == 0 ? 32 : *room * 2;

    if (n < *room)
        return 0;
    if (more > SIZE_MAX / 2 / size)
        return 1;
    memcpy(&old, array, sizeof old);
    bigger = realloc(old, more * size);
    if (bigger == NULL)
        return 1;
    memcpy(array, &bigger, sizeof bigger);
    *room = more;
    return 0;
}

#endif
