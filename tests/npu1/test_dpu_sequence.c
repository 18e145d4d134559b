/* DPU sequences, and words as hexadecimal text, which is how they come. */
#include "npu1/dpu_sequence.h"

#include "base/little_endian.h"
#include "npu1/hex_words.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

/* As AMD's compiler writes them: a parameter of a core, a descriptor, its queue, a wait. */
static const char text[] = "00000011\n01000405\n01000100\n0B590100\n000055FF\n00000001\n00000010\n314E5A5F\n"
                           "635F5F31\n676E696C\n39354E5F\n6E693131\n5F727473\n64726F77\n00004573\n07BD9630\n000055FF\n"
                           "02010200\n00005408\n00000002\n"
                           "06020131\n00000000\n000E1000\n00000040\n00070001\n00000000\n80000000\n00000000\n00000000\n"
                           "02000000\n"
                           "02000000\n0001D204\n80000001\n"
                           "03020001\n01030200\n";

struct words {
    unsigned char *bytes;
    size_t size;
};

static struct words read_text(const char *from)
{
    struct words w = {0};
    struct tw_view view = {(const unsigned char *)from, strlen(from), "made", 0};
    assert_true(tw_hex_words_recognise(&view));
    assert_int_equal(tw_hex_words_read(&view, &w.bytes, &w.size, NULL), 0);
    return w;
}

static void a_sequence_is_read(void **state)
{
    struct words w = read_text(text);
    struct tw_view view = {w.bytes, w.size, "made", 0};
    struct tw_dpu_sequence sequence;
    struct tw_control_op op;
    size_t at = 0;
    (void)state;
    assert_true(tw_dpu_sequence_recognise(&view));
    assert_int_equal(tw_dpu_sequence_open(&view, &sequence, NULL), 0);
    assert_int_equal(sequence.n_ops, 4);
    assert_int_equal(tw_dpu_sequence_next(&sequence, &at, &op, NULL), 1);
    assert_int_equal(op.kind, TW_CONTROL_OP_WRITE);
    assert_int_equal(op.address, 0x02205408);
    assert_int_equal(op.value, 2);
    assert_int_equal(tw_dpu_sequence_next(&sequence, &at, &op, NULL), 1);
    assert_int_equal(op.kind, TW_CONTROL_OP_BLOCK_WRITE);
    assert_int_equal(op.address, 0x0401d020);
    assert_int_equal(op.n_words, 8);
    assert_int_equal(tw_load_u32(op.words.data), 0xe1000);
    assert_int_equal(tw_load_u32(op.words.data + 28), 0x02000000);
    assert_true(op.is_patched);
    assert_int_equal(op.patch.argument, 3);
    assert_true(op.patch.addend == 0x100000040);
    assert_int_equal(tw_dpu_sequence_next(&sequence, &at, &op, NULL), 1);
    assert_int_equal(op.address, 0x1d204);
    assert_int_equal(op.value, 0x80000001);
    assert_false(op.is_patched);
    assert_int_equal(tw_dpu_sequence_next(&sequence, &at, &op, NULL), 1);
    assert_int_equal(op.kind, TW_CONTROL_OP_WAIT);
    assert_int_equal(op.wait.column, 2);
    assert_int_equal(op.wait.row, 0);
    assert_int_equal(op.wait.channel.direction, TW_MM2S);
    assert_int_equal(op.wait.channel.number, 1);
    assert_int_equal(op.wait.columns, 3);
    assert_int_equal(op.wait.rows, 2);
    assert_int_equal(tw_dpu_sequence_next(&sequence, &at, &op, NULL), 0);
    free(w.bytes);
}

static int open_changed(size_t word, uint32_t value, size_t size, struct tw_error *err)
{
    struct words w = read_text(text);
    struct tw_dpu_sequence sequence;
    tw_store_u32(w.bytes + 4 * word, value);
    /* A block of exactly this size. */
    unsigned char *bytes = malloc(size + 1);
    memcpy(bytes + 1, w.bytes, size);
    struct tw_view view = {bytes + 1, size, "made", 0};
    int code = tw_dpu_sequence_open(&view, &sequence, err);
    free(bytes);
    free(w.bytes);
    return code;
}

static void what_is_wrong_is_refused(void **state)
{
    struct words w = read_text(text);
    struct tw_error err = {0};
    (void)state;
    for (size_t size = 0; size < w.size; size++) {
        int whole = size == 68 || size == 80 || size == 120 || size == 132;
        err.text[0] = '\0';
        assert_int_equal(open_changed(1, 0, size, &err), whole ? 0 : TW_E_FORMAT);
        assert_int_equal(err.text[0] == '\0', whole);
    }
    assert_int_equal(open_changed(0, 0x12, w.size, &err), TW_E_FORMAT);
    assert_int_equal(open_changed(17, 0x07000000, w.size, &err), TW_E_FORMAT);
    assert_non_null(strstr(err.text, "0x07000000"));
    assert_int_equal(open_changed(17, 0x02050200, w.size, &err), TW_E_FORMAT);
    assert_non_null(strstr(err.text, "column 5"));
    assert_int_equal(open_changed(17, 0x02000600, w.size, &err), TW_E_FORMAT);
    assert_int_equal(open_changed(18, 0x100000, w.size, &err), TW_E_FORMAT);
    assert_int_equal(open_changed(20, 0x06050131, w.size, &err), TW_E_FORMAT);
    assert_int_equal(open_changed(20, 0x06020231, w.size, &err), TW_E_UNSUPPORTED);
    assert_int_equal(open_changed(20, 0x06020031, w.size, &err), 0);
    free(w.bytes);
}

static void hexadecimal_text(void **state)
{
    struct words w = read_text("# words\n 0x1 ff,DEADBEEF // behind\r\n\t0 # end");
    (void)state;
    assert_int_equal(w.size, 16);
    assert_int_equal(tw_load_u32(w.bytes), 1);
    assert_int_equal(tw_load_u32(w.bytes + 4), 0xff);
    assert_int_equal(tw_load_u32(w.bytes + 8), 0xdeadbeef);
    assert_int_equal(tw_load_u32(w.bytes + 12), 0);
    free(w.bytes);
    static const char *const wrong[] = {"", "\n\n# nothing\n", "12 xyz", "1\n2\n123456789", "0x", "1 2/3", "1 /"};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        struct tw_view view = {(const unsigned char *)wrong[i], strlen(wrong[i]), "made", 0};
        struct tw_error err = {0};
        assert_int_equal(tw_hex_words_read(&view, &w.bytes, &w.size, &err), TW_E_FORMAT);
        assert_non_null(strstr(err.text, "'made'"));
        if (i == 3)
            assert_non_null(strstr(err.text, "line 3"));
    }
    struct tw_view binary = {(const unsigned char *)"\0\1\3\6", 4, "made", 0};
    assert_false(tw_hex_words_recognise(&binary));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_sequence_is_read),
        cmocka_unit_test(what_is_wrong_is_refused),
        cmocka_unit_test(hexadecimal_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
