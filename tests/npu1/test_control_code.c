/* Control code in the transaction form: every operation of both versions, a writer, and what must be refused. */
#include "npu1/control_writer.h"

#include "base/little_endian.h"
#include "base/random.h"
#include "npu1/control_code.h"
#include "npu1/make_cdo.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static void words(struct made *m, const uint32_t *w, size_t n)
{
    for (size_t i = 0; i < n; i++)
        made_word(m, w[i]);
}

#define WORDS(m, ...) words(m, (const uint32_t[]){__VA_ARGS__}, sizeof((const uint32_t[]){__VA_ARGS__}) / 4)

static void begin(struct made *m, uint32_t first)
{
    WORDS(m, first, 0x104, 0, 0);
}

static void end(struct made *m, uint32_t n_ops)
{
    tw_store_u32(m->data + 8, n_ops);
    tw_store_u32(m->data + 12, (uint32_t)m->size);
}

enum first_word { VERSION_0_1 = 0x06030100, VERSION_1_0 = 0x06030001 };

/* A program that a compiler wrote for one column: two descriptors, and a wait. */
static const uint32_t compiled[] = {
    0x06030100, 0x00000101, 9,          0x148, 1,          0,          0x1d020,    48, 0x10,       0,    0,
    0,          0x80000000, 0x02000000, 0,     0x02000000, 0x81,       48,         0,  0,          0,    0,
    0x1d024,    0,          2,          0,     0,          0,          3,          0,  0x1d200,    0,    0xf00,
    0x1f00,     28,         0,          0,     0x1d204,    0,          0x80000001, 24, 1,          0,    0x1d000,
    48,         0x11,       0,          0,     0,          0x80000000, 0x02000000, 0,  0x02000000, 0x81, 48,
    0,          0,          0,          0,     0x1d004,    0,          0,          0,  0,          0,    3,
    0,          0x1d210,    0,          0xf00, 0x1f00,     28,         0,          0,  0x1d214,    0,    0x80000000,
    24,         0x80,       16,         0,     0x00010100,
};

static void a_compiled_program_is_read(void **state)
{
    static const enum tw_control_op_kind kinds[] = {
        TW_CONTROL_OP_BLOCK_WRITE, TW_CONTROL_OP_PATCH,       TW_CONTROL_OP_MASK_WRITE,
        TW_CONTROL_OP_WRITE,       TW_CONTROL_OP_BLOCK_WRITE, TW_CONTROL_OP_PATCH,
        TW_CONTROL_OP_MASK_WRITE,  TW_CONTROL_OP_WRITE,       TW_CONTROL_OP_WAIT};
    struct made m = {0};
    struct tw_control_code code;
    struct tw_control_op op;
    size_t at = 0;
    (void)state;
    words(&m, compiled, sizeof compiled / 4);
    assert_int_equal(m.size, 0x148);
    struct tw_view view = made_view(&m);
    assert_true(tw_control_code_recognise(&view));
    assert_int_equal(tw_control_code_open(&view, &code, NULL), 0);
    assert_int_equal(code.n_ops, 9);
    assert_int_equal(code.columns, 1);
    assert_int_equal(code.generation, TW_CONTROL_CODE_NPU1);
    for (unsigned i = 0; i < 9; i++) {
        assert_int_equal(tw_control_code_next(&code, &at, &op, NULL), 1);
        assert_int_equal(op.kind, kinds[i]);
        if (i == 0) {
            assert_int_equal(op.address, 0x1d020);
            assert_int_equal(op.n_words, 8);
            assert_int_equal(tw_load_u32(op.words.data), 0x10);
        } else if (i == 1) {
            assert_int_equal(op.address, 0x1d024);
            assert_int_equal(op.patch.argument, 2);
        } else if (i == 2) {
            assert_int_equal(op.mask, 0x1f00);
            assert_int_equal(op.value, 0xf00);
        }
    }
    assert_int_equal(op.wait.columns, 1);
    assert_int_equal(op.wait.rows, 1);
    assert_int_equal(op.wait.channel.direction, TW_S2MM);
    assert_int_equal(tw_control_code_next(&code, &at, &op, NULL), 0);
    made_free(&m);
}

/* The writer makes the same program word for word. */
static void the_writer_makes_the_same(void **state)
{
    static const uint32_t second[] = {0x10, 0, 0, 0, 0x80000000, 0x02000000, 0, 0x02000000};
    static const uint32_t first[] = {0x11, 0, 0, 0, 0x80000000, 0x02000000, 0, 0x02000000};
    struct tw_control_writer w;
    unsigned char *bytes;
    size_t size;
    (void)state;
    tw_control_writer_begin(&w, 1);
    tw_control_writer_block_write(&w, 0x1d020, second, 8);
    tw_control_writer_patch(&w, 0x1d024, &(struct tw_control_patch){2, 0});
    tw_control_writer_mask_write(&w, 0x1d200, 0x1f00, 0xf00);
    tw_control_writer_write(&w, 0x1d204, 0x80000001);
    tw_control_writer_block_write(&w, 0x1d000, first, 8);
    tw_control_writer_patch(&w, 0x1d004, &(struct tw_control_patch){0, 0});
    tw_control_writer_mask_write(&w, 0x1d210, 0x1f00, 0xf00);
    tw_control_writer_write(&w, 0x1d214, 0x80000000);
    tw_control_writer_wait(&w, &(struct tw_control_wait){.columns = 1, .rows = 1});
    assert_int_equal(tw_control_writer_finish(&w, &bytes, &size, NULL), 0);
    assert_int_equal(size, sizeof compiled);
    for (size_t i = 0; i < size / 4; i++)
        assert_int_equal(tw_load_u32(bytes + 4 * i), compiled[i]);
    free(bytes);
}

static struct tw_control_op only_op(struct made *m, uint32_t n_ops)
{
    struct tw_control_code code;
    struct tw_control_op op = {0};
    size_t at = 0;
    end(m, n_ops);
    struct tw_view view = made_view(m);
    struct tw_error err = {0};
    int result = tw_control_code_open(&view, &code, &err);
    assert_string_equal(err.text, "");
    assert_int_equal(result, 0);
    assert_int_equal(tw_control_code_next(&code, &at, &op, NULL), 1);
    return op;
}

/* Junk where nothing is to be read, as AMD's files have it. */
static void unused_places_may_hold_anything(void **state)
{
    struct made m = {0};
    (void)state;
    begin(&m, 0x06040100);
    WORDS(&m, 0xabcd0081, 48, 0x505bf0c0, 0x7ffe, 9, 0x1f2, 0x1d024, 0, 3, 0, 0x8000000, 1);
    struct tw_control_op op = only_op(&m, 1);
    assert_int_equal(op.kind, TW_CONTROL_OP_PATCH);
    assert_int_equal(op.patch.argument, 3);
    assert_true(op.patch.addend == 0x108000000);
    made_free(&m);
    begin(&m, VERSION_0_1);
    WORDS(&m, 0x000c0000, 77, 0x21f000, 88, 5, 24);
    op = only_op(&m, 1);
    assert_int_equal(op.kind, TW_CONTROL_OP_WRITE);
    assert_int_equal(op.address, 0x21f000);
    assert_int_equal(op.value, 5);
    made_free(&m);
    begin(&m, VERSION_0_1);
    WORDS(&m, 0x80, 16, 0x03020101, 0x07020304);
    op = only_op(&m, 1);
    assert_int_equal(op.wait.column, 2);
    assert_int_equal(op.wait.row, 1);
    assert_int_equal(op.wait.channel.direction, TW_MM2S);
    assert_int_equal(op.wait.channel.number, 7);
    assert_int_equal(op.wait.columns, 2);
    assert_int_equal(op.wait.rows, 3);
    made_free(&m);
}

static void the_older_version_is_read(void **state)
{
    struct made m = {0};
    (void)state;
    begin(&m, VERSION_1_0);
    WORDS(&m, 0, 0x21f000, 5);
    struct tw_control_op op = only_op(&m, 1);
    assert_int_equal(op.address, 0x21f000);
    assert_int_equal(op.value, 5);
    made_free(&m);
    begin(&m, VERSION_1_0);
    WORDS(&m, 1, 0x1d000, 20, 8, 9);
    op = only_op(&m, 1);
    assert_int_equal(op.address, 0x1d000);
    assert_int_equal(op.n_words, 2);
    assert_int_equal(tw_load_u32(op.words.data + 4), 9);
    made_free(&m);
    begin(&m, VERSION_1_0);
    WORDS(&m, 3, 0x1d200, 0xf00, 0x1f00);
    op = only_op(&m, 1);
    assert_int_equal(op.mask, 0x1f00);
    assert_int_equal(op.value, 0xf00);
    made_free(&m);
    begin(&m, VERSION_1_0);
    WORDS(&m, 0x81, 24, 0x1d004, 1, 0x40, 0);
    op = only_op(&m, 1);
    assert_int_equal(op.address, 0x1d004);
    assert_int_equal(op.patch.argument, 1);
    assert_true(op.patch.addend == 0x40);
    made_free(&m);
}

static void other_operations(void **state)
{
    struct made m = {0};
    (void)state;
    begin(&m, VERSION_0_1);
    WORDS(&m, 5);
    assert_int_equal(only_op(&m, 1).kind, TW_CONTROL_OP_NOOP);
    made_free(&m);
    begin(&m, VERSION_0_1);
    WORDS(&m, 4, 0, 0x232004, 0, 1, 0x100000, 28);
    struct tw_control_op op = only_op(&m, 1);
    assert_int_equal(op.kind, TW_CONTROL_OP_POLL);
    assert_int_equal(op.mask, 0x100000);
    made_free(&m);
    begin(&m, VERSION_0_1);
    WORDS(&m, 0x84, 12, 3, 5);
    op = only_op(&m, 2);
    assert_int_equal(op.kind, TW_CONTROL_OP_OTHER);
    assert_string_equal(op.name, "MERGE_SYNC");
    assert_int_equal(op.n_words, 2);
    made_free(&m);
    /* Nobody knows how long this one is: it is the last. */
    begin(&m, VERSION_0_1);
    WORDS(&m, 0x0c, 1, 2, 3);
    op = only_op(&m, 2);
    assert_int_equal(op.kind, TW_CONTROL_OP_OTHER);
    assert_int_equal(op.code, 0x0c);
    assert_int_equal(op.n_words, 3);
    made_free(&m);
}

static void refused(struct made *m, uint32_t n_ops, int code, const char *sentence)
{
    struct tw_control_code control;
    struct tw_error err = {0};
    if (m->size >= 16)
        end(m, n_ops);
    struct tw_view view = made_view(m);
    assert_int_equal(tw_control_code_open(&view, &control, &err), code);
    assert_non_null(strstr(err.text, sentence));
    made_free(m);
}

static void what_is_wrong_is_refused(void **state)
{
    struct made m = {0};
    (void)state;
    WORDS(&m, VERSION_0_1, 0x101, 0);
    refused(&m, 0, TW_E_FORMAT, "header");
    begin(&m, 0x06030200);
    refused(&m, 0, TW_E_UNSUPPORTED, "version 0.2");
    begin(&m, VERSION_0_1);
    WORDS(&m, 0, 0, 0x21f000, 0, 5);
    refused(&m, 1, TW_E_FORMAT, "operation");
    begin(&m, VERSION_0_1);
    WORDS(&m, 0, 0, 0x21f000, 0, 5, 28);
    refused(&m, 1, TW_E_FORMAT, "WRITE says that it has 28 bytes");
    begin(&m, VERSION_0_1);
    WORDS(&m, 1, 0, 0x1d000, 12);
    refused(&m, 1, TW_E_FORMAT, "BLOCKWRITE");
    begin(&m, VERSION_0_1);
    WORDS(&m, 1, 0, 0x1d000, 24, 1);
    refused(&m, 1, TW_E_FORMAT, "operation");
    begin(&m, VERSION_0_1);
    WORDS(&m, 1, 0, 0x1d000, 18, 1);
    refused(&m, 1, TW_E_FORMAT, "multiple of 4");
    begin(&m, VERSION_0_1);
    WORDS(&m, 0x90, 4);
    refused(&m, 1, TW_E_FORMAT, "has 4 bytes");
    begin(&m, VERSION_0_1);
    WORDS(&m, 5, 5);
    refused(&m, 3, TW_E_FORMAT, "2 operations of control code, but its header says 3");
    begin(&m, VERSION_0_1);
    WORDS(&m, 5, 5);
    refused(&m, 1, TW_E_FORMAT, "2 operations");
    begin(&m, VERSION_0_1);
    WORDS(&m, 5, 0x0c, 7);
    refused(&m, 1, TW_E_FORMAT, "2 operations");
}

/* All lengths shorter than the whole are refused, and no word makes the reader leave its bounds. */
static void damage(void **state)
{
    static const uint32_t wild[] = {0, 1, 4, 5, 0x7f, 0x80, 0x81, 0xff, 0x7fffffff, 0xffffffff, 0xfffffffc};
    (void)state;
    for (size_t size = 0; size < sizeof compiled; size++) {
        struct tw_control_code code;
        struct tw_error err = {0};
        unsigned char *bytes = malloc(size + 1);
        memcpy(bytes + 1, compiled, size);
        struct tw_view view = {bytes + 1, size, "made", 0};
        assert_true(tw_control_code_open(&view, &code, &err) < 0);
        assert_true(err.text[0] != '\0');
        assert_false(tw_control_code_recognise(&view));
        free(bytes);
    }
    for (size_t i = 0; i < sizeof compiled / 4; i++)
        for (size_t j = 0; j < sizeof wild / 4; j++) {
            struct tw_control_code code;
            struct tw_control_op op;
            uint32_t changed[sizeof compiled / 4];
            size_t at = 0;
            memcpy(changed, compiled, sizeof compiled);
            changed[i] = wild[j];
            struct tw_view view = {(const unsigned char *)changed, sizeof changed, "made", 0};
            if (tw_control_code_open(&view, &code, NULL) == 0)
                while (tw_control_code_next(&code, &at, &op, NULL) == 1)
                    assert_true(op.words.size == 4 * (size_t)op.n_words);
        }
}

/* Random operations there and back. */
static void what_is_written_is_read(void **state)
{
    struct tw_random random = {11};
    (void)state;
    for (unsigned round = 0; round < 50; round++) {
        struct tw_control_writer w;
        struct tw_control_code code;
        struct tw_control_op op;
        struct tw_random again;
        unsigned char *bytes;
        size_t size, at = 0, n = (size_t)tw_random_range(&random, 0, 200);
        again = random;
        tw_control_writer_begin(&w, 4);
        for (size_t i = 0; i < n; i++) {
            uint32_t a = (uint32_t)tw_random_u64(&random), b = (uint32_t)tw_random_u64(&random), data[5] = {a, b};
            if (a % 3 == 0)
                tw_control_writer_write(&w, a, b);
            else if (a % 3 == 1)
                tw_control_writer_mask_write(&w, a, b, a ^ b);
            else
                tw_control_writer_block_write(&w, a, data, b % 6);
        }
        assert_int_equal(tw_control_writer_finish(&w, &bytes, &size, NULL), 0);
        struct tw_view view = {bytes, size, "made", 0};
        assert_int_equal(tw_control_code_open(&view, &code, NULL), 0);
        assert_int_equal(code.n_ops, n);
        for (size_t i = 0; i < n; i++) {
            uint32_t a = (uint32_t)tw_random_u64(&again), b = (uint32_t)tw_random_u64(&again);
            assert_int_equal(tw_control_code_next(&code, &at, &op, NULL), 1);
            assert_int_equal(op.address, a);
            if (a % 3 == 0)
                assert_int_equal(op.value, b);
            else if (a % 3 == 1)
                assert_true(op.mask == b && op.value == (a ^ b));
            else
                assert_int_equal(op.n_words, b % 6);
        }
        free(bytes);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_compiled_program_is_read),
        cmocka_unit_test(the_writer_makes_the_same),
        cmocka_unit_test(unused_places_may_hold_anything),
        cmocka_unit_test(the_older_version_is_read),
        cmocka_unit_test(other_operations),
        cmocka_unit_test(what_is_wrong_is_refused),
        cmocka_unit_test(damage),
        cmocka_unit_test(what_is_written_is_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
