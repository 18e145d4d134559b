/* The kernels that are no products, run on the emulator: bit for bit their twins, and nothing else is written. */
#include "base/half.h"
#include "base/random.h"
#include "kernels/call.h"
#include "kernels/twin_filter_int16.h"
#include "kernels/twin_softmax_row.h"
#include "kernels/twin_strided_copy.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

enum { BANK = 16384, IN = 0, OUT = BANK, WORK = 2 * BANK };

static uint8_t memory[TW_DATA_BYTES], expected[TW_DATA_BYTES];

static void fill_memory(struct tw_random *random)
{
    for (unsigned i = 0; i < TW_DATA_BYTES; i++)
        memory[i] = (uint8_t)tw_random_u64(random);
}

/* ---- copy */

static void check_copy(struct machine *m, uint32_t pieces, uint32_t row, int32_t step, int32_t jump, uint32_t first)
{
    const struct call_register registers[] = {
        {TW_R_p0, TW_DATA_OWN + IN + first}, {TW_R_p1, TW_DATA_OWN + OUT}, {TW_R_r0, pieces}, {TW_R_r1, row},
        {TW_R_r2, (uint32_t)step},           {TW_R_r3, (uint32_t)jump}};

    memcpy(expected, memory, sizeof memory);
    tw_twin_strided_copy(memory + IN + first, expected + OUT, pieces, row, step, jump);
    call_kernel(m, registers, 6, memory);
    assert_memory_equal(memory, expected, sizeof memory);
}

static void copies(void **state)
{
    struct tw_random random = {1};

    (void)state;
    fill_memory(&random);
    struct machine *m = call_make("strided_copy");
    check_copy(m, 16, 3, 64, 96, 0);
    check_copy(m, 100, 0, 0x20000, 96, 32); /* rows of one piece */
    check_copy(m, 60, 4, 2048, 64 - 4 * 2048, 32);
    check_copy(m, 45, 8, -64, 8 * 64 + 32, 8 * 64);
    check_copy(m, 512, 1000, 32, 0, 0); /* one row */
    machine_free(m);
}

/* ---- filter */

static void filters(void **state)
{
    enum { TAPS = WORK, MOST = 100 };
    static int16_t in[(MOST + 1) * TW_FILTER_BLOCK], out[MOST * TW_FILTER_BLOCK];
    struct machine *m = call_make("filter_int16");
    struct tw_random random = {2};

    (void)state;
    for (unsigned shift = 0; shift < 32; shift += 1 + shift % 3) {
        uint32_t blocks = shift == 0 ? 16 : (uint32_t)tw_random_range(&random, 16, MOST);
        const struct call_register registers[] = {{TW_R_p0, TW_DATA_OWN + IN},
                                                  {TW_R_p1, TW_DATA_OWN + TAPS},
                                                  {TW_R_p2, TW_DATA_OWN + OUT},
                                                  {TW_R_r0, blocks},
                                                  {TW_R_r1, shift}};
        int16_t taps[TW_FILTER_TAPS];
        fill_memory(&random);
        if (shift % 2 == 1) /* the least number among others: some sums are saturated */
            memset(memory + IN + 64, 0x80, 100);
        memset(memory + TAPS + 6, 0, 2);
        memcpy(in, memory + IN, sizeof in);
        memcpy(taps, memory + TAPS, sizeof taps);
        tw_twin_filter_int16(in, taps, out, blocks, shift);
        memcpy(expected, memory, sizeof memory);
        memcpy(expected + OUT, out, blocks * TW_FILTER_BLOCK * sizeof out[0]);
        call_kernel(m, registers, 5, memory);
        assert_memory_equal(memory, expected, sizeof memory);
    }
    machine_free(m);
}

/* ---- softmax */

static void check_softmax(struct machine *m, const uint16_t *row, uint32_t blocks, struct tw_random *random)
{
    enum { MOST = BANK / 2 };
    static uint16_t out[MOST];
    const struct call_register registers[] = {
        {TW_R_p0, TW_DATA_OWN + IN}, {TW_R_p1, TW_DATA_OWN + OUT}, {TW_R_p2, TW_DATA_OWN + WORK}, {TW_R_r0, blocks}};
    size_t bytes = (size_t)blocks * TW_SOFTMAX_BLOCK * sizeof out[0];

    fill_memory(random);
    memcpy(memory + IN, row, bytes);
    tw_twin_softmax_row(row, out, blocks);
    memcpy(expected, memory, sizeof memory);
    memcpy(expected + OUT, out, bytes);
    call_kernel(m, registers, 4, memory);
    memcpy(expected + WORK, memory + WORK, 64); /* the kernel's own */
    assert_memory_equal(memory, expected, sizeof memory);
}

static void softmaxes(void **state)
{
    enum { MOST = 64 * TW_SOFTMAX_BLOCK };
    static const uint16_t edges[] = {0x0000, 0x8000, 0x0001, 0x807f, 0xff80, 0xff7f, 0x4480, 0xc480, 0x3f80};
    static const float spreads[] = {0.5f, 8, 60, 1000};
    static uint16_t row[MOST];
    struct machine *m = call_make("softmax_row");
    struct tw_random random = {3};

    (void)state;
    for (uint32_t blocks = 12; blocks <= 64; blocks += 4)
        for (unsigned kind = 0; kind < 2; kind++) {
            float spread = spreads[blocks / 4 % 4];
            for (unsigned i = 0; i < blocks * TW_SOFTMAX_BLOCK; i++) {
                row[i] = tw_f32_to_bf16(spread * (float)(2 * tw_random_unit(&random) - 1));
                if (kind == 1 && tw_random_range(&random, 0, 7) == 0)
                    row[i] = edges[tw_random_range(&random, 0, 8)];
            }
            check_softmax(m, row, blocks, &random);
        }
    machine_free(m);
}

/* One greatest number in each lane, among others that hardly count. */
static void softmax_lanes(void **state)
{
    static uint16_t row[12 * TW_SOFTMAX_BLOCK];
    struct machine *m = call_make("softmax_row");
    struct tw_random random = {4};

    (void)state;
    for (unsigned lane = 0; lane < 2 * TW_SOFTMAX_BLOCK; lane++) {
        for (unsigned i = 0; i < 12 * TW_SOFTMAX_BLOCK; i++)
            row[i] = tw_f32_to_bf16(-2 - (float)tw_random_unit(&random));
        row[lane * 5] = tw_f32_to_bf16(1);
        check_softmax(m, row, 12, &random);
    }
    machine_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(copies), cmocka_unit_test(filters), cmocka_unit_test(softmaxes),
                                       cmocka_unit_test(softmax_lanes)};
    return cmocka_run_group_tests_name("rows", tests, NULL, NULL);
}
