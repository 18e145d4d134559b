/*
 * AMD's and Peano's programs run in the emulator to the results that their operations define, exactly. Numbers refer to
 * the list in README.md.
 */
#include "corpus/corpus.h"

#include "base/half.h"
#include "base/little_endian.h"
#include "base/random.h"
#include "emu/cycles.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#define TIBREZUS "tibrezus+xdna-npu-toolkit/ef0ef97d/iron/builds/"
#define ADD_ONE "nod-ai+iree-amd-aie/7a351b8c/runtime/src/iree-amd-aie/aie_runtime/test/add_one_test/"
#define MATMUL_NAME "module_matmul_dispatch_0_amdaie_xclbin_fb"
#define MATMUL                                                                                                         \
    "nod-ai+iree-amd-aie/678942dd/build_tools/ci/print_ir_aie2xclbin/results_dir_tmp/" MATMUL_NAME "/" MATMUL_NAME
#define NOTEBOOKS "AMDResearch+Riallto/d40dae79/source/notebooks/"

/* ---- times */

/*
 * The published time of a call, in microseconds, is within 25 % of the model's: the last command at 1 GHz, the host's
 * part of it, and the new buffers that the author's script makes for each call (docs/emulator.md).
 */
static void assert_published(const struct tw_command_report *report, unsigned microseconds, unsigned new_buffers)
{
    enum { NEW_BUFFER = 47, THOUSAND = 1000 };
    uint64_t modelled = (report->cycles + TW_NS_COMMAND) / THOUSAND + (uint64_t)NEW_BUFFER * new_buffers;
    printf("%u us published, %u us modelled\n", microseconds, (unsigned)modelled);
    assert_in_range(modelled, microseconds * 3 / 4, microseconds * 5 / 4);
}

/* ---- operands and results */

static void fill_i16(int16_t *to, size_t n, int low, int high, uint64_t seed)
{
    struct tw_random r = {seed};
    for (size_t i = 0; i < n; i++)
        to[i] = (int16_t)tw_random_range(&r, low, high);
}

static void fill_i32(int32_t *to, size_t n, int64_t low, int64_t high, uint64_t seed)
{
    struct tw_random r = {seed};
    for (size_t i = 0; i < n; i++)
        to[i] = (int32_t)tw_random_range(&r, low, high);
}

/* c = a * b, modulo 2^32: a of m rows and k columns, b of k rows and n columns, both row-major. */
#define DEFINE_PRODUCT(name, type)                                                                                     \
    static void name(uint32_t *c, const type *a, const type *b, size_t m, size_t k, size_t n)                          \
    {                                                                                                                  \
        for (size_t row = 0; row < m; row++)                                                                           \
            for (size_t column = 0; column < n; column++) {                                                            \
                uint32_t sum = 0;                                                                                      \
                for (size_t i = 0; i < k; i++)                                                                         \
                    sum += (uint32_t)a[row * k + i] * (uint32_t)b[i * n + column];                                     \
                c[row * n + column] = sum;                                                                             \
            }                                                                                                          \
    }
DEFINE_PRODUCT(product_i16, int16_t)
DEFINE_PRODUCT(product_i32, int32_t)

static void assert_words(const uint32_t *got, const uint32_t *expected, size_t n)
{
    size_t wrong = 0, first = n;
    for (size_t i = 0; i < n; i++)
        if (got[i] != expected[i] && wrong++ == 0)
            first = i;
    if (wrong > 0)
        fail_msg("%zu of %zu words are wrong; word %zu is 0x%x, not 0x%x", wrong, n, first, got[first],
                 expected[first]);
}

/* ---- 1 */

static void add_one_to(struct corpus *c, uint32_t first)
{
    uint32_t *in = c->arguments[0], *out = c->arguments[1], expected[1024];
    for (uint32_t i = 0; i < 1024; i++) {
        in[i] = first + i;
        expected[i] = first + i + 1;
        out[i] = 0xdeadbeef;
    }
    corpus_run(c, ADD_ONE "add_one_insts.txt");
    assert_words(out, expected, 1024);
}

static void add_one(void **state)
{
    struct corpus c;
    (void)state;
    CORPUS_OPEN(&c, ADD_ONE "add_one.pdi", NULL, 4096, 4096);
    add_one_to(&c, 0);
    add_one_to(&c, 0xfeeded1e);
    corpus_close(&c);
}

/* ---- 2 */

static void gemv_i16(void **state)
{
    enum { N = 288 };
    static uint32_t expected[N];
    struct corpus c;
    (void)state;
    CORPUS_OPEN(&c, TIBREZUS "gemv-288.xclbin", NULL, N * N * 2, N * 2, N * 4);
    for (uint64_t seed = 1; seed <= 2; seed++) {
        fill_i16(c.arguments[0], N * N, -100, 99, seed);
        fill_i16(c.arguments[1], N, -100, 99, seed + 10);
        product_i16(expected, c.arguments[0], c.arguments[1], N, N, 1);
        corpus_run(&c, TIBREZUS "gemv-288.insts.txt");
        assert_words(c.arguments[2], expected, N);
    }
    assert_published(&c.report, 376, 3);
    corpus_close(&c);
}

/* ---- 3 */

enum { ADDS = 4096 };

/* bf16 numbers whose sums are exact in fp32. */
static void fill_bf16(uint16_t *to, uint64_t seed)
{
    struct tw_random r = {seed};
    for (size_t i = 0; i < ADDS; i++)
        to[i] = tw_f32_to_bf16((float)tw_random_range(&r, -4096, 4096) / 1024);
}

/* Toward minus infinity: how a core rounds after reset, and these programs set no other mode. */
static uint16_t round_down(float x)
{
    uint32_t bits = tw_float_bits(x);
    int is_negative = bits >> 31 != 0, is_exact = (bits & 0xffff) == 0;
    return (uint16_t)((bits >> 16) + (is_negative && !is_exact));
}

static uint16_t sum_bf16(uint16_t a, uint16_t b)
{
    return round_down(tw_bf16_to_f32(a) + tw_bf16_to_f32(b));
}

static void assert_bf16(const uint16_t *got, const uint16_t *expected)
{
    size_t wrong = 0, first = 0;
    for (size_t i = 0; i < ADDS; i++)
        if (got[i] != expected[i] && wrong++ == 0)
            first = i;
    if (wrong > 0)
        fail_msg("%zu of %d sums are wrong; number %zu is 0x%04x, not 0x%04x", wrong, ADDS, first, got[first],
                 expected[first]);
}

static void add_bf16(void **state)
{
    static uint16_t expected[ADDS];
    struct corpus c;
    (void)state;
    CORPUS_OPEN(&c, TIBREZUS "fusion/single-add.xclbin", NULL, 2 * ADDS, 2 * ADDS, 2 * ADDS);
    const uint16_t *a = c.arguments[0], *b = c.arguments[1];
    fill_bf16(c.arguments[0], 1);
    fill_bf16(c.arguments[1], 2);
    for (size_t i = 0; i < ADDS; i++)
        expected[i] = sum_bf16(a[i], b[i]);
    corpus_run(&c, TIBREZUS "fusion/single-add.insts.bin");
    assert_bf16(c.arguments[2], expected);
    assert_published(&c.report, 275, 3);
    corpus_close(&c);
}

static void add_add_bf16(void **state)
{
    static uint16_t expected[ADDS];
    struct corpus c;
    (void)state;
    CORPUS_OPEN(&c, TIBREZUS "fusion/fused-add-add.xclbin", NULL, 2 * ADDS, 2 * ADDS, 2 * ADDS, 2 * ADDS);
    const uint16_t *a = c.arguments[0], *b = c.arguments[1], *d = c.arguments[2];
    for (int i = 0; i < 3; i++)
        fill_bf16(c.arguments[i], (uint64_t)i + 1);
    for (size_t i = 0; i < ADDS; i++)
        expected[i] = sum_bf16(sum_bf16(a[i], b[i]), d[i]);
    corpus_run(&c, TIBREZUS "fusion/fused-add-add.insts.bin");
    assert_bf16(c.arguments[3], expected);
    assert_published(&c.report, 323, 4);
    corpus_close(&c);
}

/* ---- 4 */

/* n x n matrices. */
static struct tw_command_report gemm_i16(size_t n, const char *program, const char *control)
{
    struct corpus c;
    CORPUS_OPEN(&c, program, NULL, n * n * 2, n * n * 2, n * n * 4);
    uint32_t *expected = calloc(n * n, 4);
    assert_non_null(expected);
    fill_i16(c.arguments[0], n * n, -100, 99, 1);
    fill_i16(c.arguments[1], n * n, -100, 99, 2);
    product_i16(expected, c.arguments[0], c.arguments[1], n, n, n);
    corpus_run(&c, control);
    assert_words(c.arguments[2], expected, n * n);
    free(expected);
    corpus_close(&c);
    return c.report;
}

static void gemm_on_one_core(void **state)
{
    (void)state;
    struct tw_command_report report =
        gemm_i16(256, TIBREZUS "gemm-256-1col.xclbin", TIBREZUS "gemm-256-1col.insts.txt");
    assert_published(&report, 820, 0);
    assert_published(&report, 1100, 3);
}

static void gemm_on_four_columns(void **state)
{
    (void)state;
    gemm_i16(512, TIBREZUS "gemm-512-4col.xclbin", TIBREZUS "gemm-512-4col.insts.txt");
}

/* ---- 5 */

static void matmul_i32(void **state)
{
    enum { N = 64 };
    static uint32_t expected[N * N];
    struct corpus c;
    (void)state;
    CORPUS_OPEN(&c, MATMUL ".xclbin", NULL, N * N * 4, N * N * 4, N * N * 4);
    fill_i32(c.arguments[0], N * N, -1000, 1000, 1);
    fill_i32(c.arguments[1], N * N, -1000, 1000, 2);
    product_i32(expected, c.arguments[0], c.arguments[1], N, N, N);
    corpus_run(&c, MATMUL ".ipu.txt");
    assert_words(c.arguments[2], expected, N * N);
    corpus_close(&c);
}

/* ---- 7 */

enum { LINES = 720, LINE_WORDS = 1280, WORDS = LINES * LINE_WORDS };

/* The kernel copies as many bytes of a line as a word in its memory says; the control code writes it first. */
static void set_line_bytes(const struct tw_emu_control *control, uint32_t bytes)
{
    enum { FIRST_OPERATION = 17 * 4, WRITE_TO_ROW_2 = 0x02000200, NUMBER_AT = 0x5408, AS_PUBLISHED = 2 };
    unsigned char *write = corpus_words(control) + FIRST_OPERATION;
    assert_int_equal(tw_load_u32(write), WRITE_TO_ROW_2);
    assert_int_equal(tw_load_u32(write + 4), NUMBER_AT);
    assert_int_equal(tw_load_u32(write + 8), AS_PUBLISHED);
    tw_store_u32(write + 8, bytes);
}

static void passthrough(void **state)
{
    struct tw_emu_control control;
    struct corpus c;
    (void)state;
    CORPUS_OPEN(&c, NOTEBOOKS "passthrough.xclbin", NULL, 4 * WORDS, 4 * WORDS);
    fill_i32(c.arguments[0], WORDS, INT32_MIN, INT32_MAX, 1);
    corpus_open_control(&c, NOTEBOOKS "passthrough.seq", &control);
    set_line_bytes(&control, 4 * LINE_WORDS);
    corpus_run_control(&c, "passthrough.seq, whole lines", &control);
    assert_words(c.arguments[1], c.arguments[0], WORDS);
    tw_emu_control_close(&control);
    corpus_close(&c);
}

/* The control code as it was published says 2 bytes of each line. */
static void passthrough_of_two_bytes(void **state)
{
    struct corpus c;
    (void)state;
    CORPUS_OPEN(&c, NOTEBOOKS "passthrough.xclbin", NULL, 4 * WORDS, 4 * WORDS);
    fill_i32(c.arguments[0], WORDS, INT32_MIN, INT32_MAX, 1);
    corpus_run(&c, NOTEBOOKS "passthrough.seq");
    const uint32_t *in = c.arguments[0], *out = c.arguments[1];
    for (size_t i = 0; i < WORDS; i++)
        assert_int_equal(out[i], i % LINE_WORDS == 0 ? in[i] & 0xffff : 0);
    corpus_close(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(add_one),      cmocka_unit_test(gemv_i16),         cmocka_unit_test(add_bf16),
        cmocka_unit_test(add_add_bf16), cmocka_unit_test(gemm_on_one_core), cmocka_unit_test(gemm_on_four_columns),
        cmocka_unit_test(matmul_i32),   cmocka_unit_test(passthrough),      cmocka_unit_test(passthrough_of_two_bytes),
    };
    return corpus_is_there() ? cmocka_run_group_tests(tests, NULL, NULL) : CORPUS_SKIPPED;
}
