/* The product kernels in strict mode are their twins bit for bit, over random numbers and edges. */
#include "base/half.h"
#include "base/random.h"
#include "emu/core/machine.h"
#include "kernels/twin_product.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

enum { BLOCK = TW_PRODUCT_SIZE * TW_PRODUCT_SIZE, A = 0, B_FIRST = 16384, B_LAST = 32768, C = 49152, AT_END = 16368 };

/* What a return from the kernel leads to. */
static void put_done(struct machine *m)
{
    struct tw_bundle end = {
        .slots = 1 << TW_SLOT_ALU, .format = -1, .op = {[TW_SLOT_ALU] = {.instruction = TW_I_DONE}}};
    uint8_t bytes[TW_BUNDLE_MAX] = {0};

    assert_true(tw_bundle_encode(&end, bytes, NULL) > 0);
    assert_int_equal(tw_core_write_program(m->core, AT_END, bytes, sizeof bytes), 0);
}

/* Runs a kernel over the own memory; returns the bundles issued. */
static uint64_t run(const char *path, uint8_t *memory)
{
    struct machine *m = machine_load(path, MACHINE_STRICT);

    put_done(m);
    memcpy(m->memory[TW_WINDOW_OWN], memory, TW_DATA_BYTES);
    machine_set(m, TW_R_p0, TW_DATA_OWN + A);
    machine_set(m, TW_R_p1, TW_DATA_OWN + B_FIRST);
    machine_set(m, TW_R_p2, TW_DATA_OWN + B_LAST);
    machine_set(m, TW_R_p3, TW_DATA_OWN + C);
    machine_set(m, TW_R_lr, AT_END);
    machine_finish(m);
    memcpy(memory, m->memory[TW_WINDOW_OWN], TW_DATA_BYTES);
    struct tw_core_counts counts = tw_core_counts(m->core);
    assert_int_equal(counts.bank_stalls, 0);
    machine_free(m);
    return counts.bundles;
}

struct operands {
    uint16_t a[BLOCK], b[2][BLOCK / 2];
    uint32_t c[BLOCK];
};

static void compare_bf16(struct operands *o, struct tw_random *random)
{
    static uint8_t memory[TW_DATA_BYTES], before[TW_DATA_BYTES];

    for (unsigned i = 0; i < TW_DATA_BYTES; i++)
        memory[i] = (uint8_t)tw_random_u64(random);
    memcpy(memory + A, o->a, sizeof o->a);
    memcpy(memory + B_FIRST, o->b[0], sizeof o->b[0]);
    memcpy(memory + B_LAST, o->b[1], sizeof o->b[1]);
    memcpy(memory + C, o->c, sizeof o->c);
    memcpy(before, memory, sizeof before);
    uint64_t bundles = run("src/kernels/product_bf16.s", memory);
    tw_twin_product_bf16(o->a, o->b[0], o->b[1], o->c);
    assert_memory_equal(memory + C, o->c, sizeof o->c);
    assert_memory_equal(memory, before, C); /* nothing else is written */
    assert_true(2048 >= 0.93 * (double)bundles);
}

static uint16_t ordinary_bf16(struct tw_random *random)
{
    return tw_f32_to_bf16((float)(tw_random_unit(random) * 4 - 2));
}

static void bf16_of_ordinary_numbers(void **state)
{
    static struct operands o;
    struct tw_random random = {1};

    (void)state;
    for (unsigned i = 0; i < BLOCK; i++) {
        o.a[i] = ordinary_bf16(&random);
        o.b[i % 2][i / 2] = ordinary_bf16(&random);
        o.c[i] = tw_float_bits((float)(tw_random_unit(&random) - 0.5));
    }
    compare_bf16(&o, &random);
}

/* Any exponents, denormals, infinities, NaNs among ordinary ones. */
static uint16_t edge_bf16(struct tw_random *random)
{
    static const uint16_t edges[] = {0x0000, 0x8000, 0x0001, 0x807f, 0x0080, 0x7f7f, 0xff7f, 0x7f80, 0xff80, 0x7fc0};
    uint64_t pick = tw_random_u64(random);

    return pick % 64 == 0 ? edges[pick / 64 % 10] : (uint16_t)(pick >> 16);
}

static void bf16_of_edges(void **state)
{
    static struct operands o;
    struct tw_random random = {3};

    (void)state;
    for (unsigned i = 0; i < BLOCK; i++) {
        o.a[i] = edge_bf16(&random);
        o.b[i % 2][i / 2] = i % 5 == 0 ? edge_bf16(&random) : ordinary_bf16(&random);
        o.c[i] = (uint32_t)tw_random_u64(&random);
    }
    compare_bf16(&o, &random);
}

static void int8_is_its_twin(void **state)
{
    struct tw_random random = {2};
    static uint8_t memory[TW_DATA_BYTES], before[TW_DATA_BYTES];
    static int8_t a[BLOCK], b[2][BLOCK / 2];
    static uint32_t c[BLOCK];

    (void)state;
    for (unsigned i = 0; i < TW_DATA_BYTES; i++)
        memory[i] = (uint8_t)tw_random_u64(&random);
    memset(memory + A, 0x80, 64); /* the least number against itself */
    memset(memory + B_FIRST, 0x80, 64);
    memcpy(a, memory + A, sizeof a);
    memcpy(b[0], memory + B_FIRST, sizeof b[0]);
    memcpy(b[1], memory + B_LAST, sizeof b[1]);
    memcpy(c, memory + C, sizeof c);
    memcpy(before, memory, sizeof before);
    uint64_t bundles = run("src/kernels/product_int8.s", memory);
    tw_twin_product_int8(a, b[0], b[1], c);
    assert_memory_equal(memory + C, c, sizeof c);
    assert_memory_equal(memory, before, C);
    assert_true(1024 >= 0.70 * (double)bundles);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(bf16_of_ordinary_numbers), cmocka_unit_test(bf16_of_edges),
                                       cmocka_unit_test(int8_is_its_twin)};
    return cmocka_run_group_tests_name("core products", tests, NULL, NULL);
}
