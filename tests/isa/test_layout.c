/* Sizes and addresses: alignment without extra bundles, the loop's set-up distance, and what cannot be laid out. */
#include "isa/layout.h"
#include "isa/parse.h"

#include "base/random.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

static struct tw_placed one(const char *text, uint8_t flags)
{
    struct tw_placed p = {.flags = flags};
    struct tw_unresolved unresolved[TW_UNRESOLVED_MAX];
    struct tw_error err = {0, ""};
    size_t n;

    if (text[0] == '\0') {
        p.bundle.format = -1;
        return p;
    }
    if (tw_bundle_parse(text, strlen(text), NULL, &p.bundle, unresolved, &n, NULL, &err) != 0)
        fail_msg("\"%s\": %s", text, err.text);
    return p;
}

static void check_all(const struct tw_placed *p, size_t n, uint32_t address)
{
    for (size_t i = 0; i < n; i++) {
        struct tw_error err = {0, ""};
        uint8_t bytes[TW_BUNDLE_MAX];
        assert_int_equal(p[i].address, address);
        assert_int_equal(tw_bundle_encode(&p[i].bundle, bytes, &err), p[i].bytes);
        if (p[i].flags != 0)
            assert_int_equal(address % 16, 0);
        if (p[i].flags & TW_PLACE_LOOP_END)
            assert_int_equal(p[i].bytes, 16);
        address += p[i].bytes;
    }
}

static void smallest_without_rules(void **state)
{
    (void)state;
    struct tw_placed p[] = {one("", 0), one("mova r0, #1", 0), one("mova r0, #1; add r1, r2, r3", 0),
                            one("movxm r0, #1", 0)};
    struct tw_error err = {0, ""};

    assert_int_equal(tw_layout(p, 4, 6, &err), 0);
    check_all(p, 4, 6);
    assert_int_equal(p[0].bytes, 2);
    assert_int_equal(p[1].bytes, 4);
    assert_int_equal(p[2].bytes, 6);
    assert_int_equal(p[3].bytes, 6);
}

/* Five bundles of 4 bytes before a target: 12 bytes more have to be found, and not more. */
static void grows_to_a_target(void **state)
{
    (void)state;
    struct tw_placed p[6];
    struct tw_error err = {0, ""};

    for (int i = 0; i < 6; i++)
        p[i] = one("mova r0, #1", i == 5 ? TW_PLACE_ALIGN : 0);
    assert_int_equal(tw_layout(p, 6, 0, &err), 0);
    check_all(p, 6, 0);
    assert_int_equal(p[5].address, 32);
}

static void return_addresses_are_aligned(void **state)
{
    (void)state;
    struct tw_placed p[8];
    struct tw_error err = {0, ""};

    for (int i = 0; i < 8; i++)
        p[i] = one(i == 0 ? "jl #0x100" : "", 0);
    assert_int_equal(tw_layout(p, 8, 0, &err), 0);
    check_all(p, 8, 0);
    assert_int_equal(p[6].address % 16, 0);
    assert_int_not_equal(p[7].address % 16, 0);
}

static void set_up_is_far_from_the_loop_end(void **state)
{
    (void)state;
    struct tw_placed p[10];
    struct tw_error err = {0, ""};

    for (int i = 0; i < 10; i++)
        p[i] = one(i == 1 ? "movxm LE, #0" : "mova r0, #1", i == 8 ? TW_PLACE_ALIGN : i == 9 ? TW_PLACE_LOOP_END : 0);
    assert_int_equal(tw_layout(p, 10, 0, &err), 0);
    check_all(p, 10, 0);
    assert_true(p[9].address - (p[1].address + p[1].bytes) >= TW_LOOP_SETUP_BYTES);

    for (int i = 0; i < 10; i++)
        p[i] = one(i == 4 ? "movxm LE, #0" : "mova r0, #1", i == 9 ? TW_PLACE_LOOP_END : 0);
    assert_int_equal(tw_layout(p, 10, 0, &err), TW_E_FORMAT);
    assert_non_null(strstr(err.text, "bundle 9 ends a loop"));
}

static void fixed_formats_stay(void **state)
{
    (void)state;
    struct tw_error err = {0, ""};
    struct tw_placed p[] = {one("mova r0, #1", 0), one("mova r0, #1", TW_PLACE_ALIGN)};

    p[0].bundle.format = (int16_t)tw_format_find(p[0].bundle.slots, 1);
    assert_int_equal(tw_layout(p, 2, 0, &err), TW_E_FORMAT);
    assert_non_null(strstr(err.text, "bundles 0 to 0"));
    assert_int_equal(tw_layout(p, 2, 12, &err), 0);
    check_all(p, 2, 12);
}

static void what_cannot_be(void **state)
{
    (void)state;
    struct tw_error err = {0, ""};
    struct tw_placed p = one("mova r0, #1", TW_PLACE_ALIGN);

    assert_int_equal(tw_layout(&p, 1, 3, &err), TW_E_FORMAT);
    assert_int_equal(tw_layout(&p, 1, 2, &err), TW_E_FORMAT);
    assert_int_equal(tw_layout(&p, 1, TW_PROGRAM_BYTES, &err), TW_E_LIMIT);
    assert_int_equal(tw_layout(&p, 0, 0, &err), 0);
    p.bundle.slots |= 1u << TW_SLOT_NOP;
    assert_int_equal(tw_layout(&p, 1, 0, &err), TW_E_FORMAT);
    p.bundle.format = TW_FORMAT_COUNT;
    assert_int_equal(tw_layout(&p, 1, 0, &err), TW_E_FORMAT);
}

/* The least size of n free bundles that begin and end at aligned addresses, by trying all sizes. */
static uint32_t least(const struct tw_placed *p, size_t n, uint32_t at)
{
    uint32_t best = UINT32_MAX;

    if (n == 0)
        return at % 16 == 0 ? 0 : UINT32_MAX;
    for (int f = 0; f < TW_FORMAT_COUNT; f++) {
        if ((p->bundle.slots & ~(unsigned)tw_formats[f].slots) != 0)
            continue;
        uint32_t rest = least(p + 1, n - 1, at + tw_formats[f].bytes);
        if (rest != UINT32_MAX && rest + tw_formats[f].bytes < best)
            best = rest + tw_formats[f].bytes;
    }
    return best;
}

static void sizes_are_the_least(void **state)
{
    static const char *const texts[] = {"", "mova r0, #1", "movxm r0, #1", "vclr cm0; mova r1, #2",
                                        "mova r0, #1; add r1, r2, r3; mov r4, r5"};
    struct tw_random random = {7};

    (void)state;
    for (int round = 0; round < 40; round++) {
        struct tw_placed p[4];
        struct tw_error err = {0, ""};
        for (int i = 0; i < 4; i++)
            p[i] = one(texts[tw_random_range(&random, 0, 4)], i == 3 ? TW_PLACE_ALIGN : 0);
        assert_int_equal(tw_layout(p, 4, 32, &err), 0);
        check_all(p, 4, 32);
        assert_int_equal(p[3].address - 32, least(p, 3, 32));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(smallest_without_rules),       cmocka_unit_test(grows_to_a_target),
        cmocka_unit_test(return_addresses_are_aligned), cmocka_unit_test(set_up_is_far_from_the_loop_end),
        cmocka_unit_test(fixed_formats_stay),           cmocka_unit_test(what_cannot_be),
        cmocka_unit_test(sizes_are_the_least),
    };
    return cmocka_run_group_tests_name("layout", tests, NULL, NULL);
}
