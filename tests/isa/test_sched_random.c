/*
 * Random programs. tw_schedule itself proves each of its results by simulation and fails with TW_E_STATE when that
 * shows a difference; here the result is also laid out, encoded, and looked at by the checker for programs in general.
 */
#include "isa/check.h"
#include "isa/random_sched.h"
#include "isa/sched_source.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

enum { PROGRAMS = 500, TEXT = 65536 };

static void put_target(struct tw_sched_code *code, const struct tw_sched_fixup *f, uint32_t end)
{
    assert_true(f->target >= 0);
    code->bundles[f->bundle].bundle.op[f->slot].operands[f->operand] =
        (size_t)f->target < code->n_bundles ? code->bundles[f->target].address : end;
}

/* A program that does not end in a return runs on into nothing, which is not the scheduler's fault. */
static void note_error(void *arg, const struct tw_finding *finding)
{
    if (finding->severity == TW_SEVERITY_ERROR && finding->kind != TW_FINDING_FLOW)
        snprintf(arg, TW_FINDING_TEXT_MAX, "%s", finding->text);
}

/* Lays out and encodes, and lets the checker look: units, delay slots, loop places. */
static void encode(unsigned long seed, struct tw_sched_code *code)
{
    struct tw_error err = {0, ""};
    static uint8_t bytes[TW_PROGRAM_BYTES];
    static struct tw_check_bundle list[TW_PROGRAM_BYTES / 2];
    char text[TW_FINDING_TEXT_MAX] = "";
    uint32_t entry = 0, at = 0;

    if (tw_layout(code->bundles, code->n_bundles, 0, &err) < 0)
        fail_msg("program %lu: %s", seed, err.text);
    const struct tw_placed *last = &code->bundles[code->n_bundles - 1];
    for (size_t i = 0; i < code->n_fixups; i++)
        put_target(code, &code->fixups[i], last->address + last->bytes);
    for (size_t i = 0; i < code->n_bundles; i++) {
        int n = tw_bundle_encode(&code->bundles[i].bundle, bytes + at, &err);
        if (n != code->bundles[i].bytes || at != code->bundles[i].address)
            fail_msg("program %lu, bundle %zu: %s", seed, i, err.text);
        list[i] = (struct tw_check_bundle){bytes + at, at, (uint8_t)n, TW_CHECK_SCHEDULED, 0, NULL};
        at += (uint32_t)n;
    }
    const struct tw_check_options options = {.finding = note_error, .arg = text};
    if (tw_check(list, code->n_bundles, &entry, 1, &options, &err) < 0)
        fail_msg("program %lu: %s", seed, err.text);
    if (text[0] != '\0')
        fail_msg("program %lu: %s", seed, text);
}

static void proofs_hold(void **state)
{
    char *text = malloc(TEXT);
    unsigned loops = 0, above = 0, short_of_registers = 0;

    (void)state;
    assert_non_null(text);
    for (unsigned long seed = 0; seed < PROGRAMS; seed++) {
        struct tw_error err = {0, ""};
        struct sched_source source;
        struct tw_sched_code *code = NULL;
        random_sched_text(seed, text, TEXT);
        assert_int_equal(sched_source_split(text, &source), 0);
        int result = tw_schedule(source.lines, source.n, NULL, &code, &err);
        if (result < 0 && result != TW_E_LIMIT)
            fail_msg("program %lu: code %d, %s\n%s", seed, result, err.text, text);
        short_of_registers += result == TW_E_LIMIT;
        for (size_t l = 0; result == 0 && l < code->n_loops; l++) {
            assert_true(code->loops[l].interval >= code->loops[l].bound);
            above += code->loops[l].interval > code->loops[l].bound;
            loops++;
        }
        if (result == 0)
            encode(seed, code);
        tw_sched_free(code);
        sched_source_free(&source);
    }
    free(text);
    print_message("%u loops, %u of them above their bound; registers ran out in %u of %d programs\n", loops, above,
                  short_of_registers, PROGRAMS);
    assert_true(loops > PROGRAMS);
    assert_true(above < loops / 4);
    assert_true(short_of_registers < PROGRAMS / 50);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(proofs_hold)};
    return cmocka_run_group_tests_name("sched_random", tests, NULL, NULL);
}
