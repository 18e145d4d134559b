/* The rules of decoding on a vocabulary of a hundred tokens, against the definition written out in double. */
#include "whisper/rules.h"

#include "base/random.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#define SIZE 130
#define TEXT 40
#define END TEXT
#define FIRST_TIME 51
#define STEPS (SIZE - FIRST_TIME)

static struct tw_token_text words[TEXT];

static struct tw_vocab small_vocab(void)
{
    static const char *const some[] = {" ", "a", "b", " -", "-", " (", "[", " c", "'", " '"};
    for (int i = 0; i < TEXT; i++) {
        words[i].bytes = some[i < 10 ? i : 1];
        words[i].size = (uint32_t)strlen(words[i].bytes);
    }
    return (struct tw_vocab){.size = SIZE, .text_size = TEXT, .text = words, .multilingual = 1, .languages = 3,
                             .end_of_text = END, .start = 41, .language_first = 42, .translate = 45, .transcribe = 46,
                             .start_lm = 47, .previous = 48, .no_speech = 49, .no_timestamps = 50,
                             .timestamp_first = FIRST_TIME};
}

struct fixture {
    struct tw_vocab vocab;
    struct tw_rules rules;
    float logits[SIZE];
};

static void fixture_start(struct fixture *f, int no_timestamps, int non_speech)
{
    struct tw_error err;
    f->vocab = small_vocab();
    /* 300 positions: a time step of 0.1 s, so that the first timestamp is at most step 10. */
    assert_int_equal(tw_rules_create(&f->rules, &f->vocab, 300, no_timestamps, non_speech, &err), TW_OK);
    for (int i = 0; i < SIZE; i++)
        f->logits[i] = 0;
}

static void apply(struct fixture *f, const int32_t *tokens, size_t n, int32_t lowest, float temperature)
{
    struct tw_rules_state state = {tokens, n, lowest};
    tw_rules_apply(&f->rules, &state, temperature, f->logits, NULL);
}

static int is_out(const struct fixture *f, int token)
{
    return f->logits[token] == -INFINITY;
}

static void test_specials_never_come(void **unused)
{
    (void)unused;
    struct fixture f;
    fixture_start(&f, 0, 0);
    f.logits[1] = 20; /* text wins, so that the timestamp rule hides nothing */
    int32_t before[] = {1};
    apply(&f, before, 1, 0, 0);
    for (int token = 41; token < FIRST_TIME; token++)
        assert_true(is_out(&f, token));
    assert_false(is_out(&f, END));
    assert_false(is_out(&f, 0));
    tw_rules_release(&f.rules);
}

static void test_first_token(void **unused)
{
    (void)unused;
    struct fixture f;
    fixture_start(&f, 0, 0);
    f.logits[1] = 20;
    apply(&f, NULL, 0, 0, 0);
    assert_true(is_out(&f, END));
    assert_true(is_out(&f, 0)); /* a blank */
    assert_false(is_out(&f, FIRST_TIME));
    assert_false(is_out(&f, FIRST_TIME + 10));
    assert_true(is_out(&f, FIRST_TIME + 11));
    tw_rules_release(&f.rules);
}

static void test_timestamps_in_pairs(void **unused)
{
    (void)unused;
    struct fixture f;
    int32_t closed[] = {1, FIRST_TIME + 5};
    int32_t pair[] = {1, FIRST_TIME + 5, FIRST_TIME + 5};
    int32_t opened[] = {FIRST_TIME};

    fixture_start(&f, 0, 0);
    apply(&f, closed, 2, FIRST_TIME + 5, 0);
    for (int token = 0; token < END; token++)
        assert_true(is_out(&f, token));
    assert_true(is_out(&f, FIRST_TIME + 4));
    assert_false(is_out(&f, FIRST_TIME + 5));
    tw_rules_release(&f.rules);

    fixture_start(&f, 0, 0);
    apply(&f, pair, 3, FIRST_TIME + 5, 0);
    for (int token = FIRST_TIME; token < SIZE; token++)
        assert_true(is_out(&f, token));
    assert_false(is_out(&f, 1));
    tw_rules_release(&f.rules);

    fixture_start(&f, 0, 0);
    apply(&f, opened, 1, 0, 0);
    assert_true(is_out(&f, FIRST_TIME + 3));
    assert_false(is_out(&f, 1));
    tw_rules_release(&f.rules);
}

static void test_mass_of_timestamps_forces_one(void **unused)
{
    (void)unused;
    struct fixture f;
    int32_t text[] = {1, 2};
    struct tw_rules_state state = {text, 2, 0};
    struct tw_rules_margin margin;

    /* Each timestamp alone is less likely than token 1, all together are likelier. */
    fixture_start(&f, 0, 0);
    f.logits[1] = logf((float)STEPS) - 0.01f;
    tw_rules_apply(&f.rules, &state, 0, f.logits, &margin);
    assert_true(margin.timestamp_mass > margin.best_text);
    assert_true(fabsf(margin.timestamp_mass - margin.best_text - 0.01f) < 1e-4f);
    assert_true(is_out(&f, 1));
    assert_true(is_out(&f, END));
    tw_rules_release(&f.rules);

    fixture_start(&f, 0, 0);
    f.logits[1] = logf((float)STEPS) + 0.01f;
    tw_rules_apply(&f.rules, &state, 0, f.logits, &margin);
    assert_true(margin.timestamp_mass < margin.best_text);
    assert_false(is_out(&f, 1));
    assert_false(is_out(&f, FIRST_TIME));
    tw_rules_release(&f.rules);
}

static void test_without_timestamps(void **unused)
{
    (void)unused;
    struct fixture f;
    fixture_start(&f, 1, 0);
    apply(&f, NULL, 0, 0, 0);
    for (int token = FIRST_TIME; token < SIZE; token++)
        assert_true(is_out(&f, token));
    assert_false(is_out(&f, 1));
    tw_rules_release(&f.rules);
}

static void test_symbols_are_suppressed_on_request(void **unused)
{
    (void)unused;
    struct fixture f;
    int32_t text[] = {1};
    for (int on = 0; on < 2; on++) {
        fixture_start(&f, 0, on);
        f.logits[1] = 20;
        apply(&f, text, 1, 0, 0);
        assert_int_equal(is_out(&f, 3), on); /* " -" */
        assert_int_equal(is_out(&f, 5), on); /* " (" */
        assert_int_equal(is_out(&f, 6), on); /* "[" */
        assert_int_equal(is_out(&f, 9), on); /* " '" */
        assert_false(is_out(&f, 4));         /* "-" inside a word stays */
        assert_false(is_out(&f, 8));         /* and "'" */
        assert_false(is_out(&f, 7));
        tw_rules_release(&f.rules);
    }
}

static void test_log_probabilities(void **unused)
{
    (void)unused;
    struct tw_random random = {11};
    int32_t text[] = {1, 2};
    for (int round = 0; round < 200; round++) {
        struct fixture f;
        double wanted[SIZE], sum = 0;
        float temperature = round % 2 ? 0.0f : 0.7f;
        fixture_start(&f, 0, 0);
        for (int i = 0; i < SIZE; i++) {
            f.logits[i] = (float)(tw_random_unit(&random) * 40 - 20);
            wanted[i] = (double)f.logits[i] / (temperature > 0 ? (double)temperature : 1.0);
        }
        f.logits[1] = 100;
        wanted[1] = 100 / (temperature > 0 ? (double)temperature : 1.0);
        apply(&f, text, 2, 0, temperature);
        for (int i = 0; i < SIZE; i++)
            sum += is_out(&f, i) ? 0 : exp(wanted[i] - wanted[1]);
        for (int i = 0; i < SIZE; i++)
            if (!is_out(&f, i))
                assert_true(fabs((double)f.logits[i] - (wanted[i] - wanted[1] - log(sum))) < 2e-5);
        tw_rules_release(&f.rules);
    }
}

static void test_log_sum_exp(void **unused)
{
    (void)unused;
    struct tw_random random = {5};
    float x[3000] = {0};
    assert_true(tw_log_sum_exp(x, 0) == -INFINITY);
    for (int round = 0; round < 300; round++) {
        size_t n = (size_t)tw_random_range(&random, 1, 3000);
        double spread = pow(10, (double)tw_random_range(&random, -3, 2)), top = -INFINITY, sum = 0;
        for (size_t i = 0; i < n; i++) {
            x[i] = (float)((tw_random_unit(&random) - 0.5) * spread);
            if (i % 7 == 3)
                x[i] = -INFINITY;
            top = fmax(top, (double)x[i]);
        }
        for (size_t i = 0; i < n; i++)
            sum += exp((double)x[i] - top);
        double wanted = top + log(sum);
        assert_true(fabs((double)tw_log_sum_exp(x, n) - wanted) <= 1e-6 + 2e-7 * fabs(wanted));
    }
    for (size_t i = 0; i < 40; i++)
        x[i] = -INFINITY;
    assert_true(tw_log_sum_exp(x, 40) == -INFINITY);
    x[39] = 3;
    assert_true(fabsf(tw_log_sum_exp(x, 40) - 3) < 1e-6f);
}

static void test_argmax_takes_the_first(void **unused)
{
    (void)unused;
    float x[] = {-INFINITY, 1, 3, 3, 2};
    assert_int_equal(tw_argmax(x, 5), 2);
    assert_int_equal(tw_argmax(x, 1), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_specials_never_come),
        cmocka_unit_test(test_first_token),
        cmocka_unit_test(test_timestamps_in_pairs),
        cmocka_unit_test(test_mass_of_timestamps_forces_one),
        cmocka_unit_test(test_without_timestamps),
        cmocka_unit_test(test_symbols_are_suppressed_on_request),
        cmocka_unit_test(test_log_probabilities),
        cmocka_unit_test(test_log_sum_exp),
        cmocka_unit_test(test_argmax_takes_the_first),
    };
    return cmocka_run_group_tests_name("rules", tests, NULL, NULL);
}
