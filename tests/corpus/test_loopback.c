/* AMD's programs without a core: loop-back through the shims of four columns, task tokens, and nothing at all. */
#include "corpus/corpus.h"

#include "base/little_endian.h"
#include "base/random.h"
#include "npu1/control_code.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#define RUNNER "amd+xdna-driver/ae9810e2/tools/bins/Runner/"

/* ---- 8 */

enum { PARTS = 8, PART_BYTES = 128 << 20, PART_WORDS = PART_BYTES / 4, SHORT_WORDS = 4096 };

/* Replaces the lengths of all descriptors; returns how many there are. */
static unsigned shorten(const struct tw_emu_control *control)
{
    struct tw_control_code code;
    struct tw_control_op op;
    size_t at = 0;
    unsigned n = 0;
    assert_int_equal(tw_control_code_open(&control->code, &code, NULL), 0);
    while (tw_control_code_next(&code, &at, &op, NULL) == 1) {
        if (op.kind != TW_CONTROL_OP_BLOCK_WRITE || tw_load_u32(op.words.data) != PART_WORDS)
            continue;
        tw_store_u32(corpus_words(control) + (op.words.data - control->code.data), SHORT_WORDS);
        n++;
    }
    return n;
}

/* In and out are 1 GiB, of which only the beginning of each part is touched. */
static void loopback(void **state)
{
    static const uint32_t untouched[16];
    struct tw_emu_control control;
    struct tw_random r = {8};
    struct corpus c;
    (void)state;
    CORPUS_OPEN(&c, RUNNER "df_bandwidth/validate_df_bandwidth_phx.xclbin", "DPU", (uint64_t)PARTS * PART_BYTES, 0,
                (uint64_t)PARTS * PART_BYTES);
    uint32_t *in = c.arguments[0], *out = c.arguments[2];
    for (size_t part = 0; part < PARTS; part++)
        for (size_t i = 0; i < SHORT_WORDS; i++)
            in[part * PART_WORDS + i] = (uint32_t)tw_random_u64(&r);
    corpus_open_control(&c, RUNNER "df_bandwidth/df_bw_phx.elf", &control);
    assert_int_equal(shorten(&control), 2 * PARTS);
    corpus_run_control(&c, "df_bw_phx.elf", &control);
    for (size_t part = 0; part < PARTS; part++) {
        assert_memory_equal(out + part * PART_WORDS, in + part * PART_WORDS, 4 * SHORT_WORDS);
        assert_memory_equal(out + part * PART_WORDS + SHORT_WORDS, untouched, sizeof untouched);
    }
    tw_emu_control_close(&control);
    corpus_close(&c);
}

/* ---- 9 */

static void tokens(const char *xclbin, const char *control, uint64_t expected)
{
    struct corpus c;
    CORPUS_OPEN(&c, xclbin, "DPU_ELF", 4, 0, 16);
    corpus_run(&c, control);
    assert_int_equal(c.report.tokens, expected);
    corpus_close(&c);
}

static void tokens_of_one_column(void **state)
{
    (void)state;
    tokens(RUNNER "tct_one_column/tct_one_col_phx.xclbin", RUNNER "tct_one_column/tct_1col.elf", 10000);
}

static void tokens_of_four_columns(void **state)
{
    (void)state;
    tokens(RUNNER "tct_all_column/tct_all_col_phx.xclbin", RUNNER "tct_all_column/tct_4col.elf", 20000);
}

/* ---- 11 */

static void bare_enable(void **state)
{
    struct corpus c;
    const struct tw_emu_control nothing = {.opcode = TW_KERNEL_SEQUENCE};
    (void)state;
    CORPUS_OPEN(&c, "amd+xdna-driver/ae9810e2/tools/bins/1502_00/validate.xclbin", "DPU_PDI_0", 0);
    corpus_run_control(&c, "validate.xclbin", &nothing);
    assert_int_equal(c.report.operations, 0);
    corpus_close(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(loopback),
        cmocka_unit_test(tokens_of_one_column),
        cmocka_unit_test(tokens_of_four_columns),
        cmocka_unit_test(bare_enable),
    };
    return corpus_is_there() ? cmocka_run_group_tests(tests, NULL, NULL) : CORPUS_SKIPPED;
}
