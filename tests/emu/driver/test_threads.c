/* Eight threads, six contexts, and somebody who puts the device to sleep and pulls its plug. */
#include "emu/driver/rig.h"

#include "base/random.h"

#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <string.h>
#include <cmocka.h>

enum { THREADS = 8, SHARED_CONTEXTS = 4, ROUNDS = 60, BYTES = 4096 };

struct shop {
    struct rig rig;
    struct rig_context contexts[SHARED_CONTEXTS];
    struct rig_buffer copy;
    int disturbed; /* failures are allowed */
    atomic_uint failures, completed;
};

struct worker {
    struct shop *shop;
    unsigned number;
    pthread_t thread;
};

/* cmocka's checks are for the main thread alone. */
static void expect(struct shop *shop, int holds)
{
    if (!holds)
        atomic_fetch_add(&shop->failures, 1);
}

static void one_command(struct shop *shop, const struct rig *rig, const struct rig_context *c,
                        const struct rig_buffer *command, const struct rig_buffer buffers[2], unsigned char value)
{
    uint32_t handles[2] = {buffers[0].handle, buffers[1].handle};
    uint64_t sequence;
    memset(buffers[0].host, value, BYTES);
    rig->calls->flush(rig->calls->context, buffers[0].host, BYTES);
    rig_packet(command, &shop->copy, buffers, 2);
    expect(shop, rig_submit(rig, c->handle, command, handles, 2, &sequence) == 0);
    expect(shop, rig_wait(rig, c->syncobj, sequence, INT64_MAX) == 0);
    enum tw_packet_state state = tw_packet_state(rig_word(command, 0));
    if (state != TW_PACKET_COMPLETED) {
        expect(shop, shop->disturbed);
        return;
    }
    rig->calls->flush(rig->calls->context, buffers[1].host, BYTES);
    expect(shop, buffers[1].host[0] == value && buffers[1].host[BYTES - 1] == value);
    atomic_fetch_add(&shop->completed, 1);
}

static void *work(void *arg)
{
    const struct worker *w = arg;
    struct shop *shop = w->shop;
    struct rig *rig = &shop->rig;
    struct rig_buffer command = rig_buffer(rig, TW_XDNA_COMMAND, BYTES);
    struct rig_buffer buffers[2];
    for (unsigned i = 0; i < 2; i++)
        buffers[i] = rig_buffer(rig, TW_XDNA_SHARE, BYTES);
    for (unsigned i = 0; i < ROUNDS; i++)
        one_command(shop, rig, &shop->contexts[(w->number + i) % SHARED_CONTEXTS], &command, buffers,
                    (unsigned char)(w->number * 31 + i + 1));
    rig_unmap(rig, &command);
    for (unsigned i = 0; i < 2; i++) {
        rig_unmap(rig, &buffers[i]);
        rig_close_buffer(rig, buffers[i].handle);
    }
    rig_close_buffer(rig, command.handle);
    return NULL;
}

/* Contexts that come and go meanwhile. */
static void *churn(void *arg)
{
    struct shop *shop = arg;
    for (unsigned i = 0; i < ROUNDS; i++) {
        struct tw_xdna_create_context made;
        int r = rig_try_context(&shop->rig, 4, &made);
        expect(shop, r == 0);
        if (r == 0)
            expect(shop, rig_destroy(&shop->rig, made.handle) == 0);
    }
    return NULL;
}

static void *disturb(void *arg)
{
    struct shop *shop = arg;
    struct tw_random random = {7};
    for (unsigned i = 0; i < ROUNDS; i++)
        tw_emu_driver_event(shop->rig.driver, (enum tw_emu_event)tw_random_range(&random, TW_EMU_SUSPEND, TW_EMU_HANG));
    return NULL;
}

static void run_shop(int disturbed, int coherent)
{
    struct shop shop = {.disturbed = disturbed};
    struct worker workers[THREADS];
    pthread_t others[3];
    rig_with_heap(&shop.rig, &(struct tw_emu_driver_options){.coherent = coherent});
    for (unsigned i = 0; i < SHARED_CONTEXTS; i++)
        shop.contexts[i] = rig_context(&shop.rig, 1);
    shop.copy = rig_code(&shop.rig, DO_COPY, BYTES);
    for (unsigned i = 0; i < THREADS; i++) {
        workers[i] = (struct worker){.shop = &shop, .number = i};
        assert_int_equal(pthread_create(&workers[i].thread, NULL, work, &workers[i]), 0);
    }
    const unsigned n_others = disturbed ? 3 : 2;
    for (unsigned i = 0; i < n_others; i++)
        assert_int_equal(pthread_create(&others[i], NULL, i < 2 ? churn : disturb, &shop), 0);
    for (unsigned i = 0; i < THREADS; i++)
        pthread_join(workers[i].thread, NULL);
    for (unsigned i = 0; i < n_others; i++)
        pthread_join(others[i], NULL);
    assert_int_equal(atomic_load(&shop.failures), 0);
    if (!disturbed)
        assert_int_equal(atomic_load(&shop.completed), THREADS * ROUNDS);
    rig_free(&shop.rig);
}

static void undisturbed(void **state)
{
    (void)state;
    run_shop(0, 0);
    run_shop(0, 1);
}

static void disturbed(void **state)
{
    (void)state;
    run_shop(1, 0);
}

/* Several files of one process: opened, used and closed side by side. */
static void *own_file(void *arg)
{
    struct shop *shop = arg;
    for (unsigned i = 0; i < 5; i++) {
        struct rig rig;
        struct tw_xdna_create_context made;
        rig_second(&rig, &shop->rig);
        (void)rig_try_context(&rig, 4, &made);
        rig_free(&rig);
    }
    return NULL;
}

static void files(void **state)
{
    struct shop shop = {.disturbed = 0};
    pthread_t threads[THREADS];
    (void)state;
    rig_create(&shop.rig, NULL);
    for (unsigned i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, own_file, &shop), 0);
    for (unsigned i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    rig_free(&shop.rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(undisturbed), cmocka_unit_test(disturbed),
                                       cmocka_unit_test(files)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
