/* Pieces of slabs lie apart, are found again after others are gone, and leave nothing behind. */
#include "base/random.h"
#include "job/machine.h"
#include "job/slabs.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

enum { PIECES = 40, STEPS = 3000, LARGE = 5 << 20 };

struct taken {
    struct piece *piece;
    unsigned char *data;
    size_t bytes;
    unsigned char value;
};

static void take(struct slabs *slabs, struct taken *t, size_t bytes, unsigned char value)
{
    void *block = NULL, *data = NULL;
    struct tw_error err = {0};
    if (slabs_take(slabs, bytes, &block, &data, &err) != 0)
        fail_msg("%s", err.text);
    *t = (struct taken){block, data, bytes, value};
    assert_int_equal((uintptr_t)data % 64, 0);
    assert_ptr_equal(data, (unsigned char *)tw_buffer_data(t->piece->slab->buffer) + t->piece->offset);
    assert_true(t->piece->offset + bytes <= tw_buffer_size(t->piece->slab->buffer));
    memset(data, value, bytes);
}

static void give(struct slabs *slabs, struct taken *t)
{
    for (size_t i = 0; i < t->bytes; i += 61)
        assert_int_equal(t->data[i], t->value);
    assert_int_equal(t->data[t->bytes - 1], t->value);
    slabs_give(slabs, t->piece);
    *t = (struct taken){0};
}

static void test_pieces(void **state)
{
    struct tw_random random = {1};
    struct taken pieces[PIECES] = {0};
    struct machine machine;
    struct slabs slabs;
    (void)state;
    machine_create(&machine, NULL, MACHINE_PLAIN);
    slabs_init(&slabs, machine.device);
    for (int step = 0; step < STEPS; step++) {
        struct taken *t = &pieces[tw_random_range(&random, 0, PIECES - 1)];
        if (t->piece != NULL)
            give(&slabs, t);
        else
            take(&slabs, t, (size_t)tw_random_range(&random, 1, 150000), (unsigned char)(step % 255 + 1));
    }
    assert_int_equal(slabs.made, 1); /* gaps are used again: never more than 3 MB at once */
    for (int i = 0; i < PIECES; i++)
        if (pieces[i].piece != NULL)
            give(&slabs, &pieces[i]);
    assert_null(slabs.first);
    assert_int_equal(slabs.bytes, 0);
    slabs_destroy(&slabs);
    tw_device_close(machine.device);
    machine_destroy(&machine);
}

static void test_large(void **state)
{
    struct taken large, small;
    struct machine machine;
    struct slabs slabs;
    (void)state;
    machine_create(&machine, NULL, MACHINE_PLAIN);
    slabs_init(&slabs, machine.device);
    take(&slabs, &small, 100, 1);
    take(&slabs, &large, LARGE, 2);
    assert_true(large.piece->slab != small.piece->slab && large.piece->slab->number != small.piece->slab->number);
    const uint64_t number = large.piece->slab->number;
    give(&slabs, &large);
    assert_int_equal(slabs.bytes, small.piece->slab->bytes);
    take(&slabs, &large, LARGE, 3);
    assert_true(large.piece->slab->number > number);
    give(&slabs, &small);
    give(&slabs, &large);
    slabs_destroy(&slabs);
    tw_device_close(machine.device);
    machine_destroy(&machine);
}

static void test_no_memory(void **state)
{
    void *block = NULL, *data = NULL;
    struct machine machine;
    struct slabs slabs;
    struct tw_error err = {0};
    (void)state;
    machine_create(&machine, "memory:1", MACHINE_PLAIN);
    slabs_init(&slabs, machine.device);
    assert_int_equal(slabs_take(&slabs, SIZE_MAX, &block, &data, &err), TW_E_MEMORY);
    assert_int_equal(slabs_take(&slabs, 10, &block, &data, &err), TW_E_MEMORY);
    assert_int_equal(slabs_take(&slabs, 10, &block, &data, &err), 0);
    slabs_give(&slabs, block);
    slabs_destroy(&slabs);
    tw_device_close(machine.device);
    machine_destroy(&machine);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pieces),
        cmocka_unit_test(test_large),
        cmocka_unit_test(test_no_memory),
    };
    return cmocka_run_group_tests_name("slabs", tests, NULL, NULL);
}
