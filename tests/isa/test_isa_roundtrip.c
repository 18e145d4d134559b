/* Every instruction and every format: encode, decode, print, parse and encode again give the same bits. */
#include "isa/parse.h"
#include "isa/random_operation.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#define TRIES 300

static void same_operation(const struct tw_operation *a, const struct tw_operation *b)
{
    assert_string_equal(tw_instructions[a->instruction].name, tw_instructions[b->instruction].name);
    for (unsigned i = 0; i < tw_instructions[a->instruction].n_operands; i++)
        assert_int_equal(a->operands[i], b->operands[i]);
}

/* Text of an operation, read without a hint of its slot. */
static void read_back(const struct tw_operation *op, uint64_t word)
{
    char text[TW_OPERATION_TEXT_MAX];
    struct tw_operation parsed;
    struct tw_error err = {0, ""};
    uint64_t again = 0;

    int n = tw_operation_print(op, text, sizeof text);
    assert_true(n > 0 && n == (int)strlen(text));
    int code = tw_operation_parse(text, (size_t)n, TW_SLOT_COUNT, NULL, &parsed, NULL, NULL, NULL, &err);
    if (code != 0)
        fail_msg("\"%s\": %s", text, err.text);
    same_operation(&parsed, op);
    assert_int_equal(tw_operation_encode(&parsed, &again, &err), 0);
    assert_true(again == word);
}

static void instructions(void **state)
{
    (void)state;
    struct tw_random random = {1};

    for (unsigned i = 0; i < TW_I_COUNT; i++) {
        const struct tw_instruction *in = &tw_instructions[i];
        for (int n = 0; n < TRIES; n++) {
            struct tw_operation op, decoded;
            uint64_t word = 0;
            random_operation(&random, i, &op);
            assert_int_equal(tw_operation_encode(&op, &word, NULL), 0);
            assert_true((word & in->mask) == in->value && (word & in->unused) == 0);
            assert_int_equal(tw_operation_decode(in->slot, word, &decoded), 0);
            same_operation(&decoded, &op);
            uint64_t noise = tw_random_u64(&random) & in->unused;
            assert_int_equal(tw_operation_decode(in->slot, word | noise, &decoded), 0);
            same_operation(&decoded, &op);
            read_back(&op, word);
        }
    }
}

static void same_bundle(const struct tw_bundle *a, const struct tw_bundle *b)
{
    assert_int_equal(a->slots, b->slots);
    for (unsigned s = 0; s < TW_SLOT_COUNT; s++)
        if ((a->slots >> s & 1) != 0)
            same_operation(&a->op[s], &b->op[s]);
}

/* Sets bits of a format that nothing uses. */
static void add_noise(struct tw_random *random, const struct tw_format *f, uint8_t *bytes)
{
    uint64_t noise[2] = {tw_random_u64(random) & f->unused[0], tw_random_u64(random) & f->unused[1]};
    for (unsigned i = 0; i < f->bytes; i++)
        bytes[i] |= (uint8_t)(noise[i / 8] >> i % 8 * 8);
}

static void read_bundle_back(const struct tw_bundle *bundle, const uint8_t *bytes, int size)
{
    char text[TW_BUNDLE_TEXT_MAX];
    struct tw_bundle parsed;
    struct tw_error err = {0, ""};
    size_t unresolved;
    uint8_t again[TW_BUNDLE_MAX];

    int n = tw_bundle_print(bundle, text, sizeof text);
    assert_true(n > 0 && n == (int)strlen(text));
    int code = tw_bundle_parse(text, (size_t)n, NULL, &parsed, NULL, &unresolved, NULL, &err);
    if (code != 0)
        fail_msg("\"%s\": %s", text, err.text);
    same_bundle(&parsed, bundle);
    assert_int_equal(tw_bundle_encode(&parsed, again, &err), size);
    assert_memory_equal(again, bytes, (size_t)size);
}

static void formats(void **state)
{
    (void)state;
    struct tw_random random = {2};

    for (int f = 0; f < TW_FORMAT_COUNT; f++)
        for (int n = 0; n < TRIES; n++) {
            struct tw_bundle bundle, decoded;
            uint8_t bytes[TW_BUNDLE_MAX];
            unsigned skip = 0;
            random_bundle(&random, f, &bundle);
            int size = tw_bundle_encode(&bundle, bytes, NULL);
            assert_int_equal(size, tw_formats[f].bytes);
            read_bundle_back(&bundle, bytes, size);
            add_noise(&random, &tw_formats[f], bytes);
            assert_int_equal(tw_bundle_decode(bytes, (size_t)size, &decoded, &skip), size);
            assert_int_equal(skip, size);
            assert_int_equal(decoded.format, f);
            same_bundle(&decoded, &bundle);
        }
}

/* Text order of slots does not matter, and what a bundle leaves out gets nops where the format has the slot. */
static void any_order_and_nops(void **state)
{
    (void)state;
    static const char *const pairs[][2] = {
        {"vmac.f bmh0, bmh0, x0, x2, r3; vlda wl0, [p0], #32", "vlda wl0, [p0], #32; vmac.f bmh0, bmh0, x0, x2, r3"},
        {"nopv; mov r0, r1; add r2, r3, r4", "add r2, r3, r4; mov r0, r1; nopv"},
        {"nopa; nops; nopx; nopm; nopv", "nopb; nopa; nops; nopx; nopm; nopv"},
        {"st r1, [p0, #4]; nopa; mov dj0, #0xcc; nopx", "nopa; st r1, [p0, #4]; nopx; mov dj0, #0xcc"},
    };
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
        struct tw_bundle bundle;
        uint8_t bytes[TW_BUNDLE_MAX];
        char text[TW_BUNDLE_TEXT_MAX];
        size_t unresolved;
        assert_int_equal(
            tw_bundle_parse(pairs[i][0], strlen(pairs[i][0]), NULL, &bundle, NULL, &unresolved, NULL, NULL), 0);
        int size = tw_bundle_encode(&bundle, bytes, NULL);
        assert_int_equal(tw_bundle_decode(bytes, (size_t)size, &bundle, NULL), size);
        assert_true(tw_bundle_print(&bundle, text, sizeof text) > 0);
        assert_string_equal(text, pairs[i][1]);
    }
}

/* The longest texts leave room in the buffers that the header promises to be enough. */
static void texts_fit(void **state)
{
    (void)state;
    struct tw_random random = {3};
    int longest = 0;

    for (unsigned s = 0; s < TW_SLOT_NOP; s++) {
        int in_slot = 0;
        for (unsigned i = 0; i < TW_I_COUNT; i++)
            for (int n = 0; n < 50 && tw_instructions[i].slot == s; n++) {
                struct tw_operation op;
                char text[TW_OPERATION_TEXT_MAX];
                random_operation(&random, i, &op);
                int length = tw_operation_print(&op, text, sizeof text);
                assert_true(length > 0);
                in_slot = length > in_slot ? length : in_slot;
            }
        longest += in_slot + 2;
    }
    assert_true(longest < TW_BUNDLE_TEXT_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(instructions),
        cmocka_unit_test(formats),
        cmocka_unit_test(any_order_and_nops),
        cmocka_unit_test(texts_fit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
