/*
 * Memory of the device for many pieces: a few large buffers that are cut up, because a command names each buffer that
 * it works on. Threads may share it.
 */
#ifndef TW_JOB_SLABS_H
#define TW_JOB_SLABS_H

#include "base/error.h"

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

struct slab;

/* A piece of a slab. */
struct piece {
    struct slab *slab;
    struct piece *next; /* of the same slab, further on */
    size_t offset, bytes;
};

struct slab {
    struct slab *next;
    struct tw_buffer *buffer;
    size_t bytes;
    uint64_t number;     /* no other slab ever has the same */
    struct piece *first; /* in the order of their places */
};

struct slabs {
    pthread_mutex_t lock;
    struct tw_device *device;
    struct slab *first;
    size_t bytes;
    uint64_t made;
};

void slabs_init(struct slabs *slabs, struct tw_device *device);
/* All pieces have been given back. */
void slabs_destroy(struct slabs *slabs);

/* Both have the form of struct tw_store_memory (host/weight_store.h), with arg the slabs and *block a struct piece.
 * A piece begins at a cache line of its own; nothing is flushed. Fails as tw_buffer_create does. */
int slabs_take(void *arg, size_t bytes, void **block, void **data, struct tw_error *err);
void slabs_give(void *arg, void *block);

#endif
