#include "host/weight_store.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define BUCKETS 1024 /* a model has a few hundred weights */

struct tw_store_entry {
    struct tw_store_key key;
    size_t bytes;
    void *block, *data;
    unsigned pins;                        /* the maker's is one */
    int made;                             /* filled; until then others wait */
    int listed;                           /* can be found; forgotten entries cannot */
    struct tw_store_entry *next;          /* in its bucket; of entries taken out of the store, in a list of them */
    struct tw_store_entry *older, *newer; /* in the order of last use, while listed and not pinned */
};

struct tw_store {
    struct tw_store_memory memory;
    uint64_t budget;
    pthread_mutex_t lock; /* guards all below, and entries but for what block and data point to */
    pthread_cond_t changed;
    struct tw_store_counts counts;
    struct tw_store_entry *oldest, *newest;
    struct tw_store_entry *buckets[BUCKETS];
};

/* ---- what is found where; under the lock ---- */

static struct tw_store_entry **bucket_of(struct tw_store *s, const struct tw_store_key *key)
{
    uint64_t hash = (uint64_t)(uintptr_t)key->data * 0x9e3779b97f4a7c15u + key->bytes;
    for (size_t i = 0; i < sizeof key->words / sizeof key->words[0]; i++)
        hash = (hash ^ hash >> 29 ^ key->words[i]) * 0xbf58476d1ce4e5b9u;
    return &s->buckets[(hash ^ hash >> 32) % BUCKETS];
}

static int is_same(const struct tw_store_entry *e, const struct tw_store_key *key, size_t bytes)
{
    return e->bytes == bytes && e->key.data == key->data && e->key.bytes == key->bytes &&
           memcmp(e->key.words, key->words, sizeof key->words) == 0;
}

static struct tw_store_entry *find(struct tw_store *s, const struct tw_store_key *key, size_t bytes)
{
    struct tw_store_entry *e = *bucket_of(s, key);
    while (e != NULL && !is_same(e, key, bytes))
        e = e->next;
    return e;
}

static void append_unpinned(struct tw_store *s, struct tw_store_entry *e)
{
    e->older = s->newest;
    e->newer = NULL;
    *(s->newest != NULL ? &s->newest->newer : &s->oldest) = e;
    s->newest = e;
}

static void remove_unpinned(struct tw_store *s, struct tw_store_entry *e)
{
    *(e->older != NULL ? &e->older->newer : &s->oldest) = e->newer;
    *(e->newer != NULL ? &e->newer->older : &s->newest) = e->older;
}

/* The entry is found no more. When nobody holds it, it goes to *gone, whose memory is to be given back unlocked. */
static void unlist(struct tw_store *s, struct tw_store_entry *e, struct tw_store_entry **gone)
{
    struct tw_store_entry **at = bucket_of(s, &e->key);
    while (*at != e)
        at = &(*at)->next;
    *at = e->next;
    e->listed = 0;
    if (e->pins > 0)
        return;
    remove_unpinned(s, e);
    s->counts.bytes -= e->bytes;
    e->next = *gone;
    *gone = e;
}

/* Evicts the least recently used until `bytes` more are within the budget, or nothing is left to evict. */
static void evict(struct tw_store *s, size_t bytes, uint64_t budget, struct tw_store_entry **gone)
{
    while (s->oldest != NULL && (bytes > budget || s->counts.bytes > budget - bytes)) {
        unlist(s, s->oldest, gone);
        s->counts.evicted++;
    }
}

/* ---- not under the lock ---- */

static void give_back(struct tw_store *s, struct tw_store_entry *gone)
{
    while (gone != NULL) {
        struct tw_store_entry *next = gone->next;
        if (gone->block != NULL)
            s->memory.give(s->memory.arg, gone->block);
        free(gone);
        gone = next;
    }
}

/* Memory for e; when there is none, everything that nobody holds makes room. */
static int take(struct tw_store *s, struct tw_store_entry *e, struct tw_error *err)
{
    struct tw_store_entry *gone = NULL;
    int rc = s->memory.take(s->memory.arg, e->bytes, &e->block, &e->data, err);
    if (rc >= 0)
        return TW_OK;
    e->block = NULL;
    pthread_mutex_lock(&s->lock);
    evict(s, SIZE_MAX, 0, &gone);
    pthread_mutex_unlock(&s->lock);
    if (gone == NULL)
        return rc;
    give_back(s, gone);
    rc = s->memory.take(s->memory.arg, e->bytes, &e->block, &e->data, err);
    if (rc < 0)
        e->block = NULL;
    return rc < 0 ? rc : TW_OK;
}

/* What became of e is told to those who wait for it. */
static void settle(struct tw_store *s, struct tw_store_entry *e, int rc)
{
    pthread_mutex_lock(&s->lock);
    if (rc == TW_OK) {
        e->made = 1;
        s->counts.made++;
    } else {
        if (e->listed)
            unlist(s, e, NULL);
        s->counts.bytes -= e->bytes;
        e->next = NULL;
    }
    pthread_cond_broadcast(&s->changed);
    pthread_mutex_unlock(&s->lock);
    if (rc != TW_OK)
        give_back(s, e);
}

/* A new entry, listed and held by the caller, with room for it in the budget as far as there can be; NULL: no memory.
 */
static struct tw_store_entry *add(struct tw_store *s, const struct tw_store_key *key, size_t bytes,
                                  struct tw_store_entry **gone)
{
    struct tw_store_entry *e = calloc(1, sizeof *e), **bucket = bucket_of(s, key);
    if (e == NULL)
        return NULL;
    evict(s, bytes, s->budget, gone);
    *e = (struct tw_store_entry){.key = *key, .bytes = bytes, .pins = 1, .listed = 1, .next = *bucket};
    *bucket = e;
    s->counts.bytes += bytes;
    if (s->counts.bytes > s->counts.bytes_most)
        s->counts.bytes_most = s->counts.bytes;
    return e;
}

/* The entry that is there, pinned, once whoever makes it is done; NULL when it has to be made. */
static struct tw_store_entry *wait_for(struct tw_store *s, const struct tw_store_key *key, size_t bytes)
{
    struct tw_store_entry *e;
    while ((e = find(s, key, bytes)) != NULL && !e->made)
        pthread_cond_wait(&s->changed, &s->lock);
    if (e == NULL)
        return NULL;
    s->counts.found++;
    if (e->pins++ == 0)
        remove_unpinned(s, e);
    return e;
}

int tw_store_get(struct tw_store *s, const struct tw_store_key *key, size_t bytes,
                 int (*fill)(void *arg, void *block, void *data, struct tw_error *err), void *arg,
                 struct tw_store_entry **entry, struct tw_error *err)
{
    struct tw_store_entry *gone = NULL;
    *entry = NULL;
    if (bytes == 0)
        return tw_fail(err, TW_E_ARGUMENT, "an entry of no bytes was to be stored");
    pthread_mutex_lock(&s->lock);
    struct tw_store_entry *e = wait_for(s, key, bytes);
    int there = e != NULL;
    if (!there)
        e = add(s, key, bytes, &gone);
    pthread_mutex_unlock(&s->lock);
    give_back(s, gone);
    if (e == NULL)
        return tw_fail(err, TW_E_MEMORY, "no memory to keep an entry of %zu bytes", bytes);
    if (!there) {
        int rc = take(s, e, err);
        if (rc == TW_OK)
            rc = fill(arg, e->block, e->data, err);
        rc = rc < 0 ? rc : TW_OK;
        settle(s, e, rc);
        if (rc != TW_OK)
            return rc;
    }
    *entry = e;
    return TW_OK;
}

void tw_store_release(struct tw_store *s, struct tw_store_entry *e)
{
    struct tw_store_entry *gone = NULL;
    pthread_mutex_lock(&s->lock);
    if (--e->pins == 0 && e->listed) {
        append_unpinned(s, e);
        evict(s, 0, s->budget, &gone);
    } else if (e->pins == 0) {
        s->counts.bytes -= e->bytes;
        e->next = NULL;
        gone = e;
    }
    pthread_mutex_unlock(&s->lock);
    give_back(s, gone);
}

void *tw_store_block(const struct tw_store_entry *e)
{
    return e->block;
}

void *tw_store_data(const struct tw_store_entry *e)
{
    return e->data;
}

static int overlaps(const struct tw_store_key *key, const void *from, size_t bytes)
{
    uintptr_t a = (uintptr_t)key->data, b = (uintptr_t)from;
    return a <= b ? b - a < key->bytes && bytes > 0 : a - b < bytes && key->bytes > 0;
}

void tw_store_forget(struct tw_store *s, const void *from, size_t bytes)
{
    struct tw_store_entry *gone = NULL;
    pthread_mutex_lock(&s->lock);
    for (size_t i = 0; i < BUCKETS; i++)
        for (struct tw_store_entry *e = s->buckets[i], *next; e != NULL; e = next) {
            next = e->next;
            if (overlaps(&e->key, from, bytes))
                unlist(s, e, &gone);
        }
    pthread_cond_broadcast(&s->changed);
    pthread_mutex_unlock(&s->lock);
    give_back(s, gone);
}

void tw_store_counts(struct tw_store *s, struct tw_store_counts *counts)
{
    pthread_mutex_lock(&s->lock);
    *counts = s->counts;
    pthread_mutex_unlock(&s->lock);
}

int tw_store_create(const struct tw_store_memory *memory, uint64_t budget, struct tw_store **store,
                    struct tw_error *err)
{
    struct tw_store *s = *store = calloc(1, sizeof *s);
    if (s != NULL && pthread_mutex_init(&s->lock, NULL) == 0) {
        s->memory = *memory;
        s->budget = budget;
        if (pthread_cond_init(&s->changed, NULL) == 0)
            return TW_OK;
        pthread_mutex_destroy(&s->lock);
    }
    free(s);
    *store = NULL;
    return tw_fail(err, TW_E_MEMORY, "no memory for a store");
}

void tw_store_destroy(struct tw_store *s)
{
    if (s == NULL)
        return;
    for (size_t i = 0; i < BUCKETS; i++)
        give_back(s, s->buckets[i]);
    pthread_cond_destroy(&s->changed);
    pthread_mutex_destroy(&s->lock);
    free(s);
}
