/* Decoding: known bundles, every word of the small slots against a plain search, and bytes that are no program. */
#include "isa/isa.h"

#include "base/random.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

static unsigned field(const struct tw_operand_info *o, uint64_t word)
{
    unsigned value = 0, at = 0;
    for (unsigned i = 0; i < o->n_ranges; i++)
        for (unsigned b = o->ranges[i].low; b <= o->ranges[i].high; b++)
            value |= (unsigned)(word >> b & 1) << at++;
    return value;
}

/* The rule itself: the fixed bits agree and every register field holds a listed value. */
static int matches(const struct tw_instruction *in, uint64_t word)
{
    if ((word & in->mask) != in->value)
        return 0;
    for (unsigned i = 0; i < in->n_operands; i++) {
        const struct tw_operand_info *o = &in->operands[i];
        if (o->n_ranges > 0 && o->kind == TW_OPERAND_REGISTER &&
            tw_register_classes[o->register_class].by_value[field(o, word)] < 0)
            return 0;
    }
    return 1;
}

/* The instructions of a slot stand together in the table. */
static unsigned first_of(enum tw_slot slot)
{
    unsigned i = 0;
    while (tw_instructions[i].slot != slot)
        i++;
    return i;
}

/* At most one instruction matches, and the decoder finds that one. */
static void check_word(enum tw_slot slot, unsigned first, uint64_t word)
{
    struct tw_operation op;
    int found = -1;

    for (unsigned i = first; i < TW_I_COUNT && tw_instructions[i].slot == slot; i++) {
        if (!matches(&tw_instructions[i], word))
            continue;
        if (found >= 0)
            fail_msg("0x%llx is both %s and %s", (unsigned long long)word, tw_instructions[found].name,
                     tw_instructions[i].name);
        found = (int)i;
    }
    int code = tw_operation_decode(slot, word, &op);
    assert_int_equal(code, found >= 0 ? 0 : TW_E_FORMAT);
    if (found >= 0)
        assert_int_equal(op.instruction, found);
}

static void every_word_of_ldb(void **state)
{
    (void)state;
    unsigned first = first_of(TW_SLOT_LDB);
    for (uint64_t word = 0; word < 1u << 16; word++)
        check_word(TW_SLOT_LDB, first, word);
}

static void every_word_of_alu(void **state)
{
    (void)state;
    unsigned first = first_of(TW_SLOT_ALU);
    for (uint64_t word = 0; word < 1u << 20; word++)
        check_word(TW_SLOT_ALU, first, word);
}

/* Whether some word of the bits that neither instruction fixes is both. */
static int overlap(const struct tw_instruction *a, const struct tw_instruction *b, unsigned bits)
{
    uint64_t all = ((uint64_t)1 << bits) - 1, fixed = a->mask | b->mask, part = 0;

    if (((a->value ^ b->value) & a->mask & b->mask) != 0)
        return 0;
    do {
        uint64_t word = a->value | b->value | part;
        if (matches(a, word) && matches(b, word))
            return 1;
        part = (part - (all & ~fixed)) & (all & ~fixed);
    } while (part != 0);
    return 0;
}

/* All words of all slots: only instructions whose fixed bits agree can share a word, and those are tried out. */
static void no_word_is_two_instructions(void **state)
{
    (void)state;
    static const unsigned bits[TW_SLOT_COUNT] = {16, 21, 21, 20, 22, 26, 42, 1};
    unsigned tried = 0;

    for (unsigned i = 0; i < TW_I_COUNT; i++)
        for (unsigned j = 0; j < i; j++) {
            const struct tw_instruction *a = &tw_instructions[i], *b = &tw_instructions[j];
            if (a->slot != b->slot)
                continue;
            tried += ((a->value ^ b->value) & a->mask & b->mask) == 0;
            if (overlap(a, b, bits[a->slot]))
                fail_msg("%s and %s share a word", a->name, b->name);
        }
    assert_true(tried > 0);
}

static void random_words(void **state)
{
    (void)state;
    struct tw_random random = {1};
    static const unsigned bits[TW_SLOT_COUNT] = {16, 21, 21, 20, 22, 26, 42, 1};

    for (unsigned s = 0; s < TW_SLOT_COUNT; s++) {
        unsigned first = first_of((enum tw_slot)s);
        for (int n = 0; n < 100000; n++)
            check_word((enum tw_slot)s, first, tw_random_u64(&random) & (((uint64_t)1 << bits[s]) - 1));
    }
}

static void known_bundles(void **state)
{
    (void)state;
    /* As AMD's assembler encodes and its disassembler writes them. */
    static const struct {
        uint8_t bytes[16];
        int size;
        const char *text;
    } known[] = {
        {{0x19, 0x20, 0x03, 0x38}, 4, "paddb [sp], #0x20"},
        {{0x99, 0xc2, 0xff, 0x0f}, 4, "st lr, [sp, #-4]"},
        {{0x15, 0x01, 0x00, 0xd8, 0x00, 0x00}, 6, "jl #0x1b0"},
        {{0x77, 0x10, 0x12, 0x1a, 0xc0, 0x01, 0x80, 0x7e, 0xff, 0x0f, 0x06, 0x00},
         12,
         "mova r24, #0x0; st p7, [sp, #-8]; movxm p0, #0x70424"},
        {{0x3b, 0xc9, 0xff, 0x27, 0x28, 0x06, 0x00, 0x00, 0x56, 0x00},
         10,
         "st r24, [p0, #0]; movx r0, #0x31; mov r1, #-0x1"},
        {{0x01, 0x00}, 2, "nop"},
        {{0x23, 0x78, 0x00, 0x00, 0x04, 0x00, 0x00, 0x00}, 8, "nopa; nopv"},
        {{0x55, 0xfc, 0x9f, 0xfc, 0xff, 0x7f}, 6, "movxm r25, #0x7ffffffe"},
        {{0x43, 0x28, 0x3b, 0x1f, 0x04, 0x8c, 0x33, 0x00}, 8, "add r24, r25, r24; mov p0, p7"},
        {{0x3d, 0x05, 0x02, 0x20, 0xb0, 0x00}, 6, "st m0, [p0], #8; movx r1, #0x1"},
        {{0x2f, 0x78, 0x00, 0x00, 0xb4, 0x19, 0x61, 0x00, 0x00, 0x82, 0x06, 0x00, 0x00, 0x00},
         14,
         "nopa; st r1, [p0, #4]; mov dj0, #0xcc; nopv"},
        {{0xc0, 0x03, 0x00, 0x88, 0x03, 0x00, 0x88, 0x06, 0x00, 0xa1, 0x02, 0x00, 0x00, 0x00, 0xfc, 0xff},
         16,
         "paddb [sp], #-0x20; nopa; st dj0, [p0, #0]; movx r0, #0x34; nopm; nopv"},
    };
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        struct tw_bundle bundle;
        char text[TW_BUNDLE_TEXT_MAX];
        uint8_t bytes[TW_BUNDLE_MAX];
        assert_int_equal(tw_bundle_decode(known[i].bytes, sizeof known[i].bytes, &bundle, NULL), known[i].size);
        assert_int_equal(tw_bundle_print(&bundle, text, sizeof text), strlen(known[i].text));
        assert_string_equal(text, known[i].text);
        assert_int_equal(tw_bundle_encode(&bundle, bytes, NULL), known[i].size);
        assert_memory_equal(bytes, known[i].bytes, (size_t)known[i].size);
    }
}

static void cut_short(void **state)
{
    (void)state;
    static const uint8_t whole[16] = {0xc0, 0x03, 0x00, 0x88, 0x03};
    struct tw_bundle bundle;
    unsigned skip;

    for (size_t size = 0; size < sizeof whole; size++) {
        uint8_t *exact = test_malloc(size + 1); /* memory checkers see a read behind the end */
        memcpy(exact, whole, size);
        skip = 99;
        assert_int_equal(tw_bundle_decode(exact, size, &bundle, &skip), TW_E_FORMAT);
        assert_int_equal(skip, 0);
        test_free(exact);
    }
    assert_int_equal(tw_bundle_decode(whole, 16, &bundle, &skip), 16);
}

static void not_a_program(void **state)
{
    (void)state;
    struct tw_bundle bundle;
    unsigned skip;
    /* The vec slot alone, with vmac to cm8 and to cm9, which there is not. */
    uint64_t word = tw_instructions[TW_I_VMAC_vmac_cm_core_dense].value | 8u << 4;
    uint32_t bits = (uint32_t)(word << 6) | 9u;
    uint8_t four[4] = {(uint8_t)bits, (uint8_t)(bits >> 8), (uint8_t)(bits >> 16), (uint8_t)(bits >> 24)};
    assert_int_equal(tw_bundle_decode(four, 4, &bundle, &skip), 4);
    assert_int_equal(bundle.op[TW_SLOT_VEC].operands[0], TW_R_cm8);
    four[1] |= 1u << 2;
    assert_int_equal(tw_bundle_decode(four, 4, &bundle, &skip), TW_E_FORMAT);
    assert_int_equal(skip, 4);

    struct tw_random random = {4};
    unsigned good = 0, bad = 0;
    for (int n = 0; n < 200000; n++) {
        uint8_t bytes[16], again[TW_BUNDLE_MAX];
        for (unsigned i = 0; i < sizeof bytes; i++)
            bytes[i] = (uint8_t)tw_random_u64(&random);
        int size = tw_bundle_decode(bytes, sizeof bytes, &bundle, &skip);
        if (size < 0) {
            bad++;
            assert_int_equal(size, TW_E_FORMAT);
            assert_int_equal(skip, tw_bundle_size(bytes[0]));
            continue;
        }
        good++;
        assert_int_equal(tw_bundle_encode(&bundle, again, NULL), size);
    }
    assert_true(good > 1000 && bad > 1000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_bundles),     cmocka_unit_test(every_word_of_ldb),
        cmocka_unit_test(every_word_of_alu), cmocka_unit_test(no_word_is_two_instructions),
        cmocka_unit_test(random_words),      cmocka_unit_test(cut_short),
        cmocka_unit_test(not_a_program),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
