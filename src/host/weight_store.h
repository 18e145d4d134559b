/*
 * Things that are made once from a source and kept, such as packed weights: in memory that somebody else provides (a
 * device's, say), within a budget. All functions but create and destroy may be called by several threads at once.
 */
#ifndef TW_HOST_WEIGHT_STORE_H
#define TW_HOST_WEIGHT_STORE_H

#include "base/error.h"

#include <stddef.h>
#include <stdint.h>

/*
 * Where entries lie. take gives `bytes` of memory as a handle of its own and the address of the first byte, or fails
 * with a negative code; give takes the block back. Both are called by any thread, several at a time.
 */
struct tw_store_memory {
    int (*take)(void *arg, size_t bytes, void **block, void **data, struct tw_error *err);
    void (*give)(void *arg, void *block);
    void *arg;
};

struct tw_store;
struct tw_store_entry;

/* budget: bytes that unpinned entries are evicted to stay within. Fails with TW_E_MEMORY. */
int tw_store_create(const struct tw_store_memory *memory, uint64_t budget, struct tw_store **store,
                    struct tw_error *err);
/* Gives all memory back; nothing may be pinned or being made. NULL is nothing. */
void tw_store_destroy(struct tw_store *store);

/* What an entry was made from. Entries are the same when all of it is. */
struct tw_store_key {
    const void *data; /* memory of the source; not read, only for tw_store_forget */
    size_t bytes;
    uint64_t words[8]; /* whatever else makes it what it is */
};

/*
 * Finds the entry of this key, or makes it: takes `bytes` of memory and has fill(arg, block, data, err) write it;
 * others who want the same entry wait for it and do not fill it again. The entry stays where it is until
 * tw_store_release has been called as often as this. Least recently used entries that nobody holds make room first;
 * when all are held, the store goes over its budget rather than fail. When no memory can be taken, all entries that
 * nobody holds are given back and it is tried once more. Fails as take and fill do (after a failed fill nothing is
 * kept, and who waited for it tries for himself), or with TW_E_MEMORY. *entry is NULL then.
 */
int tw_store_get(struct tw_store *store, const struct tw_store_key *key, size_t bytes,
                 int (*fill)(void *arg, void *block, void *data, struct tw_error *err), void *arg,
                 struct tw_store_entry **entry, struct tw_error *err);
void tw_store_release(struct tw_store *store, struct tw_store_entry *entry);

/* An entry's memory: the handle that take gave, and the address of its bytes. */
void *tw_store_block(const struct tw_store_entry *entry);
void *tw_store_data(const struct tw_store_entry *entry);

/*
 * Entries whose source shares a byte with [from, from + bytes) are found no more: the source is gone or has changed.
 * Their memory is given back now, or when the last who holds it releases it. Includes entries that are being made.
 */
void tw_store_forget(struct tw_store *store, const void *from, size_t bytes);

struct tw_store_counts {
    uint64_t made, found, evicted; /* entries; forgotten ones are not evicted ones */
    uint64_t bytes, bytes_most;    /* of memory taken: now, and the most there ever was */
};
void tw_store_counts(struct tw_store *store, struct tw_store_counts *counts);

#endif
