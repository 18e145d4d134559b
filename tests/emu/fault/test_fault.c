/* Texts that name faults, and which occurrences they hit. */
#include "emu/fault.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static struct tw_faults *read(const char *text)
{
    struct tw_faults *faults = NULL;
    struct tw_error err = {0};
    if (tw_faults_create(text, &faults, &err) != 0)
        fail_msg("%s", err.text);
    return faults;
}

static void one_occurrence(void **state)
{
    struct tw_faults *f = read("token:3,context:1");
    (void)state;
    assert_true(tw_fault_hits(f, TW_FAULT_CONTEXT));
    for (int i = 1; i <= 20; i++) {
        assert_int_equal(tw_fault_hits(f, TW_FAULT_TOKEN), i == 3);
        assert_false(tw_fault_hits(f, TW_FAULT_CONTEXT));
        assert_false(tw_fault_hits(f, TW_FAULT_CORE));
    }
    assert_true(tw_fault_is_set(f, TW_FAULT_TOKEN));
    assert_false(tw_fault_is_set(f, TW_FAULT_MEMORY));
    assert_int_equal(tw_fault_count(f, TW_FAULT_TOKEN), 1);
    assert_int_equal(tw_fault_count(f, TW_FAULT_CORE), 0);
    char text[100];
    assert_int_equal(tw_faults_describe(f, text, sizeof text), 2);
    assert_string_equal(text, " (faults on purpose: token 1, context 1)");
    assert_int_equal(tw_faults_describe(f, text, 8), 2);
    assert_string_equal(text, " (fault");
    tw_faults_free(f);
}

enum { DRAWS = 10000 };

/* A bit for each of many occurrences. */
static unsigned draw(const char *text, uint8_t hits[DRAWS])
{
    struct tw_faults *f = read(text);
    unsigned n = 0;
    for (int i = 0; i < DRAWS; i++)
        n += hits[i] = (uint8_t)tw_fault_hits(f, TW_FAULT_CORE);
    assert_int_equal(tw_fault_count(f, TW_FAULT_CORE), n);
    tw_faults_free(f);
    return n;
}

static void probabilities(void **state)
{
    static uint8_t one[DRAWS], other[DRAWS];
    (void)state;
    assert_in_range(draw("core:0.1:seed=7", one), 850, 1150);
    assert_in_range(draw("core:0.1:seed=7", other), 850, 1150);
    assert_memory_equal(one, other, DRAWS);
    assert_in_range(draw("core:.1:seed=8", other), 850, 1150);
    assert_memory_not_equal(one, other, DRAWS);
    assert_in_range(draw("core:0.1", one), 850, 1150);
    draw("core:0.1:seed=0", other);
    assert_memory_equal(one, other, DRAWS);
    assert_int_equal(draw("core:1.0", one), DRAWS);
    assert_int_equal(draw("core:1.", one), DRAWS);
    assert_int_equal(draw("core:0.0000000001:seed=18446744073709551", one), 0);
}

static unsigned ones(uint32_t word)
{
    unsigned n = 0;
    for (; word != 0; word &= word - 1)
        n++;
    return n;
}

/* One bit at a time, any of the 32. */
static void bits(void **state)
{
    struct tw_faults *f = read("bit:0.5"), *same = read("bit:0.5"), *third = read("bit:3:seed=5");
    uint32_t all = 0;
    (void)state;
    for (uint32_t i = 0; i < 1000; i++) {
        uint32_t word = tw_fault_word(f, i * 0x01234567u);
        assert_true(ones(word ^ i * 0x01234567u) <= 1);
        assert_int_equal(tw_fault_word(same, i * 0x01234567u), word);
        all |= word ^ i * 0x01234567u;
        assert_int_equal(tw_fault_word(third, 0) != 0, i == 2);
    }
    assert_int_equal(all, UINT32_MAX);
    assert_int_equal(tw_fault_word(NULL, 17), 17);
    tw_faults_free(f);
    tw_faults_free(same);
    tw_faults_free(third);
}

static void no_faults(void **state)
{
    char text[8] = "x";
    (void)state;
    assert_null(read(NULL));
    assert_null(read(""));
    assert_false(tw_fault_hits(NULL, TW_FAULT_TOKEN));
    assert_false(tw_fault_is_set(NULL, TW_FAULT_TOKEN));
    assert_int_equal(tw_faults_describe(NULL, text, sizeof text), 0);
    assert_string_equal(text, "");
    tw_faults_free(NULL);
    struct tw_faults *f = read("token:9");
    assert_int_equal(tw_faults_describe(f, text, sizeof text), 0);
    assert_string_equal(text, "");
    tw_faults_free(f);
}

static void bad_texts(void **state)
{
    static const char *const bad[] = {
        "token",
        "token:",
        ":3",
        "tokens:3",
        "token:0",
        "token:-1",
        "token:0x3",
        "token:3.",
        "token:1.1",
        "token:0.0",
        "token:.",
        "token:0..1",
        "token:1e-3",
        "token:3:7",
        "token:3 ",
        "token:3,",
        ",token:3",
        "token:3,,",
        "token:3:seed=",
        "token:3:seed=x",
        "token:3:seed",
        "token:3:seed=1:seed=2",
        "token:3,token:4",
        "bit:0.5;token:3",
        "token:99999999999999999999",
        "TOKEN:3",
        ",",
        "token:0.1:seed=000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000001",
    };
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct tw_faults *f = NULL;
        struct tw_error err = {0};
        if (tw_faults_create(bad[i], &f, &err) != TW_E_ARGUMENT)
            fail_msg("'%s' is taken", bad[i]);
        assert_null(f);
        assert_non_null(strstr(err.text, "KIND:WHEN"));
    }
}

static void environment(void **state)
{
    struct tw_faults *f = NULL;
    struct tw_error err = {0};
    (void)state;
    unsetenv(TW_FAULT_VARIABLE);
    assert_int_equal(tw_faults_from_environment(&f, &err), 0);
    assert_null(f);
    setenv(TW_FAULT_VARIABLE, "memory:2", 1);
    assert_int_equal(tw_faults_from_environment(&f, &err), 0);
    assert_true(tw_fault_is_set(f, TW_FAULT_MEMORY));
    tw_faults_free(f);
    setenv(TW_FAULT_VARIABLE, "memory", 1);
    assert_int_equal(tw_faults_from_environment(&f, &err), TW_E_ARGUMENT);
    assert_non_null(strstr(err.text, "TILEWRIGHT_EMU_FAULT"));
    unsetenv(TW_FAULT_VARIABLE);
}

enum { THREADS = 4, EACH = DRAWS / THREADS };

static void *hit_many(void *arg)
{
    for (int i = 0; i < EACH; i++)
        tw_fault_hits(arg, TW_FAULT_CORE);
    return NULL;
}

/* Whichever thread gets which, the same number goes wrong. */
static void threads(void **state)
{
    static uint8_t hits[DRAWS];
    struct tw_faults *f = read("core:0.1:seed=7");
    pthread_t thread[THREADS];
    (void)state;
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&thread[i], NULL, hit_many, f), 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(thread[i], NULL);
    assert_int_equal(tw_fault_count(f, TW_FAULT_CORE), draw("core:0.1:seed=7", hits));
    tw_faults_free(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_occurrence), cmocka_unit_test(probabilities), cmocka_unit_test(bits),
        cmocka_unit_test(no_faults),      cmocka_unit_test(bad_texts),     cmocka_unit_test(environment),
        cmocka_unit_test(threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
