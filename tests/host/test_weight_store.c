/* The store of things made once: what is evicted when, what waits for what, and what is left when memory runs out. */
#include "host/weight_store.h"

#include "base/random.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

/* Memory that counts, and fails when told to. */
struct memory {
    atomic_size_t taken, blocks;
    atomic_int fail_when_over; /* 0: never; else take fails when more bytes would be taken */
    atomic_int refusals;
};

struct block {
    size_t bytes;
    unsigned char data[];
};

static int take(void *arg, size_t bytes, void **block, void **data, struct tw_error *err)
{
    struct memory *m = arg;
    int most = atomic_load(&m->fail_when_over);
    if (most != 0 && atomic_load(&m->taken) + bytes > (size_t)most) {
        atomic_fetch_add(&m->refusals, 1);
        return tw_fail(err, TW_E_HEAP, "full");
    }
    struct block *b = malloc(sizeof *b + bytes);
    assert_non_null(b);
    memset(b->data, 0xff, bytes);
    b->bytes = bytes;
    atomic_fetch_add(&m->taken, bytes);
    atomic_fetch_add(&m->blocks, 1);
    *block = b;
    *data = b->data;
    return TW_OK;
}

static void give(void *arg, void *block)
{
    struct memory *m = arg;
    struct block *b = block;
    atomic_fetch_sub(&m->taken, b->bytes);
    atomic_fetch_sub(&m->blocks, 1);
    memset(b->data, 0xdd, b->bytes);
    free(b);
}

struct store {
    struct memory memory;
    struct tw_store *store;
    struct tw_error err;
    unsigned char source[4096];
};

static int make(void **state, uint64_t budget)
{
    struct store *s = calloc(1, sizeof *s);
    *state = s;
    const struct tw_store_memory memory = {take, give, &s->memory};
    return s == NULL ? -1 : tw_store_create(&memory, budget, &s->store, &s->err);
}

static int make_300(void **state)
{
    return make(state, 300);
}

static int unmake(void **state)
{
    struct store *s = *state;
    tw_store_destroy(s->store);
    int left = atomic_load(&s->memory.blocks) != 0 || atomic_load(&s->memory.taken) != 0;
    free(s);
    return left;
}

/* What fill writes, and how often it did. */
struct filling {
    unsigned char value;
    size_t bytes;
    int code;
    atomic_int calls;
};

static int fill(void *arg, void *block, void *data, struct tw_error *err)
{
    struct filling *f = arg;
    assert_ptr_equal(((struct block *)block)->data, data);
    atomic_fetch_add(&f->calls, 1);
    if (f->code != TW_OK)
        return tw_fail(err, f->code, "not filled");
    memset(data, f->value, f->bytes);
    return TW_OK;
}

static struct tw_store_key key_of(struct store *s, int number)
{
    return (struct tw_store_key){s->source + 16 * number, 16, {7, [7] = (uint64_t)number}};
}

/* Gets entry `number` of 100 bytes; returns whether it was made now. */
static int get(struct store *s, int number, struct tw_store_entry **entry)
{
    struct tw_store_key key = key_of(s, number);
    struct filling f = {.value = (unsigned char)number, .bytes = 100};
    if (tw_store_get(s->store, &key, 100, fill, &f, entry, &s->err) != TW_OK)
        fail_msg("%s", s->err.text);
    const unsigned char *data = tw_store_data(*entry);
    assert_ptr_equal(((struct block *)tw_store_block(*entry))->data, data);
    for (int i = 0; i < 100; i++)
        assert_int_equal(data[i], number);
    return f.calls;
}

static int touch(struct store *s, int number)
{
    struct tw_store_entry *e;
    int made = get(s, number, &e);
    tw_store_release(s->store, e);
    return made;
}

static struct tw_store_counts counts(struct store *s)
{
    struct tw_store_counts c;
    tw_store_counts(s->store, &c);
    assert_int_equal(c.bytes, atomic_load(&s->memory.taken));
    return c;
}

static void made_once(void **state)
{
    struct store *s = *state;
    struct tw_store_entry *first, *again;
    assert_int_equal(get(s, 1, &first), 1);
    assert_int_equal(get(s, 1, &again), 0);
    assert_ptr_equal(first, again);
    tw_store_release(s->store, again);
    tw_store_release(s->store, first);
    assert_int_equal(touch(s, 1), 0);
    assert_int_equal(counts(s).made, 1);
    assert_int_equal(counts(s).found, 2);
    assert_int_equal(counts(s).bytes_most, 100);
}

/* Every part of a key, and the size, tells entries apart. */
static void keys_differ(void **state)
{
    struct store *s = *state;
    struct filling f = {.bytes = 8};
    struct tw_store_entry *e[14];
    for (int i = 0; i < 12; i++) {
        struct tw_store_key key = {s->source, 16, {0}};
        size_t bytes = i == 11 ? 9 : 8;
        if (i == 1)
            key.data = s->source + 1;
        if (i == 2)
            key.bytes = 17;
        if (i >= 3 && i < 11)
            key.words[i - 3] = 1;
        assert_int_equal(tw_store_get(s->store, &key, bytes, fill, &f, &e[i], &s->err), TW_OK);
        assert_int_equal(f.calls, i + 1);
    }
    for (int i = 0; i < 12; i++)
        tw_store_release(s->store, e[i]);
}

/* Three fit: the one whose last use ended first goes first, whatever the order of making. */
static void least_recently_used_goes_first(void **state)
{
    struct store *s = *state;
    struct tw_store_entry *a, *b;
    for (int i = 1; i <= 3; i++)
        assert_int_equal(touch(s, i), 1);
    assert_int_equal(touch(s, 1), 0);
    assert_int_equal(touch(s, 4), 1); /* 2 goes */
    assert_int_equal(counts(s).evicted, 1);
    assert_int_equal(touch(s, 3), 0);
    assert_int_equal(touch(s, 1), 0);
    assert_int_equal(touch(s, 4), 0);
    assert_int_equal(touch(s, 2), 1); /* 3 goes */
    assert_int_equal(touch(s, 1), 0);
    assert_int_equal(touch(s, 4), 0);
    assert_int_equal(touch(s, 3), 1); /* 2 goes */
    /* The order of release counts, not that of getting. */
    get(s, 1, &a);
    get(s, 4, &b);
    tw_store_release(s->store, b);
    tw_store_release(s->store, a);
    assert_int_equal(touch(s, 5), 1); /* 3 goes */
    assert_int_equal(touch(s, 6), 1); /* 4 goes */
    assert_int_equal(touch(s, 1), 0);
    assert_int_equal(counts(s).evicted, 5);
    assert_int_equal(counts(s).bytes, 300);
    assert_int_equal(counts(s).bytes_most, 300);
}

static void pinned_entries_stay(void **state)
{
    struct store *s = *state;
    struct tw_store_entry *e[6];
    for (int i = 0; i < 3; i++)
        get(s, i, &e[i]);
    tw_store_release(s->store, e[1]);
    assert_int_equal(get(s, 3, &e[3]), 1); /* 1 goes, although 0 is older */
    assert_int_equal(counts(s).evicted, 1);
    /* All are held: over the budget rather than fail, and back within it as soon as they are released. */
    assert_int_equal(get(s, 4, &e[4]), 1);
    assert_int_equal(get(s, 5, &e[5]), 1);
    assert_int_equal(counts(s).bytes, 500);
    assert_int_equal(counts(s).bytes_most, 500);
    tw_store_release(s->store, e[0]);
    assert_int_equal(counts(s).bytes, 400);
    tw_store_release(s->store, e[2]);
    assert_int_equal(counts(s).bytes, 300);
    tw_store_release(s->store, e[4]);
    assert_int_equal(counts(s).bytes, 300);
    assert_int_equal(touch(s, 4), 0);
    tw_store_release(s->store, e[3]);
    tw_store_release(s->store, e[5]);
    assert_int_equal(counts(s).evicted, 3);
}

static void larger_than_the_budget(void **state)
{
    struct store *s = *state;
    struct filling f = {.bytes = 1000};
    struct tw_store_entry *e;
    struct tw_store_key key = {s->source, 16, {99}};
    touch(s, 1);
    assert_int_equal(tw_store_get(s->store, &key, 1000, fill, &f, &e, &s->err), TW_OK);
    assert_int_equal(counts(s).bytes, 1000);
    tw_store_release(s->store, e);
    assert_int_equal(counts(s).bytes, 0);
}

/* take fails: what nobody holds makes room, then it fails for good, and nothing of the failure stays. */
static void memory_runs_out(void **state)
{
    struct store *s = *state;
    struct tw_store_entry *held, *e = NULL;
    struct tw_store_key key = key_of(s, 9);
    struct filling f = {.value = 9, .bytes = 100};
    get(s, 0, &held);
    touch(s, 1);
    touch(s, 2);
    atomic_store(&s->memory.fail_when_over, 250);
    tw_store_forget(s->store, s->source + 16, 16); /* 1, so that the budget would allow another */
    assert_int_equal(touch(s, 3), 1);              /* 2 is evicted although the budget would not ask for it */
    assert_int_equal(counts(s).evicted, 1);
    assert_int_equal(atomic_load(&s->memory.refusals), 1);
    atomic_store(&s->memory.fail_when_over, 150);
    assert_int_equal(tw_store_get(s->store, &key, 100, fill, &f, &e, &s->err), TW_E_HEAP);
    assert_string_equal(s->err.text, "full");
    assert_null(e);
    assert_int_equal(f.calls, 0);
    assert_int_equal(counts(s).bytes, 100);
    assert_int_equal(touch(s, 0), 0);
    /* Nothing left to evict: one try. */
    int before = atomic_load(&s->memory.refusals);
    assert_int_equal(tw_store_get(s->store, &key, 100, fill, &f, &e, &s->err), TW_E_HEAP);
    assert_int_equal(atomic_load(&s->memory.refusals), before + 1);
    atomic_store(&s->memory.fail_when_over, 0);
    assert_int_equal(touch(s, 9), 1);
    tw_store_release(s->store, held);
}

static void filling_fails(void **state)
{
    struct store *s = *state;
    struct tw_store_key key = key_of(s, 5);
    struct filling f = {.code = TW_E_FORMAT};
    struct tw_store_entry *e;
    assert_int_equal(tw_store_get(s->store, &key, 100, fill, &f, &e, &s->err), TW_E_FORMAT);
    assert_null(e);
    assert_string_equal(s->err.text, "not filled");
    assert_int_equal(counts(s).bytes, 0);
    assert_int_equal(counts(s).made, 0);
    assert_int_equal(touch(s, 5), 1);
    assert_int_equal(tw_store_get(s->store, &key, 0, fill, &f, &e, &s->err), TW_E_ARGUMENT);
    assert_null(e);
}

/* Sources that only touch the forgotten bytes stay; held entries are found no more but stay readable until released. */
static void forgetting(void **state)
{
    struct store *s = *state;
    struct tw_store_entry *held, *other;
    touch(s, 1);
    touch(s, 2);
    tw_store_forget(s->store, s->source + 32, 0);
    tw_store_forget(s->store, s->source, 16);
    tw_store_forget(s->store, s->source + 48, 1000);
    assert_int_equal(touch(s, 1) + touch(s, 2), 0);
    tw_store_forget(s->store, s->source + 31, 1);
    assert_int_equal(touch(s, 2), 0);
    assert_int_equal(touch(s, 1), 1);
    tw_store_forget(s->store, s->source, 33);
    assert_int_equal(counts(s).bytes, 0);
    get(s, 3, &held);
    tw_store_forget(s->store, s->source, sizeof s->source);
    assert_int_equal(counts(s).bytes, 100);
    assert_int_equal(get(s, 3, &other), 1);
    assert_ptr_not_equal(held, other);
    assert_int_equal(((unsigned char *)tw_store_data(held))[99], 3);
    tw_store_release(s->store, held);
    assert_int_equal(counts(s).bytes, 100);
    tw_store_release(s->store, other);
    assert_int_equal(touch(s, 3), 0);
    assert_int_equal(counts(s).evicted, 0);
}

enum { THREADS = 8 };

struct together {
    struct store *s;
    struct filling f;
    pthread_barrier_t start;
    struct tw_store_entry *entries[THREADS];
    atomic_int next;
};

static int slow_fill(void *arg, void *block, void *data, struct tw_error *err)
{
    /* Long enough that the others come while it is made; they must wait. */
    for (volatile int i = 0; i < 2000000; i++)
        continue;
    return fill(arg, block, data, err);
}

static void *get_same(void *arg)
{
    struct together *t = arg;
    struct tw_error err;
    struct tw_store_key key = key_of(t->s, 1);
    struct tw_store_entry *e;
    pthread_barrier_wait(&t->start);
    int rc = tw_store_get(t->s->store, &key, 100, slow_fill, &t->f, &e, &err);
    /* Already filled, whoever did it. */
    if (rc == TW_OK && ((unsigned char *)tw_store_data(e))[99] != 1)
        atomic_fetch_add(&t->f.calls, 100);
    t->entries[atomic_fetch_add(&t->next, 1)] = rc == TW_OK ? e : NULL;
    return NULL;
}

static void run_threads(struct together *t, void *(*work)(void *))
{
    pthread_t threads[THREADS];
    assert_int_equal(pthread_barrier_init(&t->start, NULL, THREADS), 0);
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, work, t), 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    pthread_barrier_destroy(&t->start);
}

static void one_fills_for_all(void **state)
{
    struct together t = {.s = *state, .f = {.value = 1, .bytes = 100}};
    run_threads(&t, get_same);
    assert_int_equal(atomic_load(&t.f.calls), 1);
    for (int i = 0; i < THREADS; i++) {
        assert_non_null(t.entries[i]);
        assert_ptr_equal(t.entries[i], t.entries[0]);
        assert_int_equal(((unsigned char *)tw_store_data(t.entries[i]))[99], 1);
        tw_store_release(t.s->store, t.entries[i]);
    }
    assert_int_equal(counts(t.s).found, THREADS - 1);
}

/* When filling fails, each of those who waited tries for himself. */
static void all_fail_for_themselves(void **state)
{
    struct together t = {.s = *state, .f = {.code = TW_E_FORMAT}};
    run_threads(&t, get_same);
    assert_int_equal(atomic_load(&t.f.calls), THREADS);
    for (int i = 0; i < THREADS; i++)
        assert_null(t.entries[i]);
    assert_int_equal(counts(t.s).bytes, 0);
}

static void *use_at_random(void *arg)
{
    struct together *t = arg;
    struct tw_random r = {(uint64_t)atomic_fetch_add(&t->next, 1)};
    pthread_barrier_wait(&t->start);
    for (int i = 0; i < 400; i++) {
        int number = (int)tw_random_range(&r, 0, 9);
        struct tw_store_key key = key_of(t->s, number);
        struct filling f = {.value = (unsigned char)number, .bytes = 100};
        struct tw_error err;
        struct tw_store_entry *e;
        if (tw_random_range(&r, 0, 20) == 0)
            tw_store_forget(t->s->store, key.data, 20);
        if (tw_store_get(t->s->store, &key, 100, fill, &f, &e, &err) != TW_OK)
            continue;
        const unsigned char *data = tw_store_data(e);
        if (data[0] != number || data[99] != number)
            atomic_fetch_add(&t->f.calls, 1);
        tw_store_release(t->s->store, e);
    }
    return NULL;
}

/* Threads that get, release and forget ten entries of which three fit, with memory that sometimes is not there. */
static void threads_at_random(void **state)
{
    struct together t = {.s = *state};
    atomic_store(&t.s->memory.fail_when_over, 600);
    run_threads(&t, use_at_random);
    assert_int_equal(atomic_load(&t.f.calls), 0);
    assert_true(counts(t.s).bytes <= 300);
    assert_true(counts(t.s).evicted > 0);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, make_300, unmake)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(made_once),
        TEST(keys_differ),
        TEST(least_recently_used_goes_first),
        TEST(pinned_entries_stay),
        TEST(larger_than_the_budget),
        TEST(memory_runs_out),
        TEST(filling_fails),
        TEST(forgetting),
        TEST(one_fills_for_all),
        TEST(all_fail_for_themselves),
        TEST(threads_at_random),
    };
    tw_store_destroy(NULL);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
