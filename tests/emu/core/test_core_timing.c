/*
 * Each instruction alone: each of its results lands in the cycle that the tables say, and each operand is read in its
 * cycle, seen from outside: registers are looked at, and changed, between ticks.
 */
#include "emu/core/trial.h"
#include "isa/random_operation.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

enum { TRIALS = 4, LAST = 14, VALUE = 160 };

/* Registers and memory after an operation. */
struct outcome {
    uint8_t values[TW_VALUES_MAX][VALUE];
    uint8_t memory[TW_DATA_BYTES];
};

static void take(const struct trial *t, const struct tw_operation *op, struct outcome *o)
{
    int is_out;

    memset(o->values, 0, sizeof o->values);
    for (unsigned k = 0; k < trial_values(op); k++) {
        int reg = trial_register(op, k, &is_out);
        if (reg >= 0 && is_out)
            trial_read(t, (unsigned)reg, o->values[k]);
    }
    memcpy(o->memory, t->memory, sizeof o->memory);
}

static const char *text_of(const struct tw_operation *op)
{
    static char text[TW_OPERATION_TEXT_MAX];
    tw_operation_print(op, text, sizeof text);
    return text;
}

/* ---- results */

static void check_landing(const struct tw_operation *op, unsigned k, unsigned ticks, const uint8_t *now,
                          const uint8_t *before, const uint8_t *after)
{
    unsigned cycle = trial_cycle(op, k).cycle;
    const uint8_t *expected = ticks >= cycle ? after : before;

    if (memcmp(now, expected, VALUE) != 0)
        fail_msg("%s: value %u is not what it was to be %u ticks after its issue (cycle %u)", text_of(op), k, ticks,
                 cycle);
}

/* Stores reach memory in their last memory cycle. */
static void check_store(const struct trial *t, const struct tw_operation *op, unsigned ticks, const struct outcome *end)
{
    const uint8_t *expected = ticks >= tw_operation_schedule(op)->memory_last ? end->memory : t->before;

    if (memcmp(t->memory, expected, sizeof t->memory) != 0)
        fail_msg("%s: memory is not what it was to be %u ticks after its issue", text_of(op), ticks);
}

/* Returns 1 when a register or memory has changed. */
static int results_land_in_time(struct trial *t, const struct tw_operation *op, const struct outcome *end)
{
    static struct outcome now, begin;
    int is_out;

    trial_begin(t);
    take(t, op, &begin);
    for (unsigned ticks = 1; ticks <= LAST; ticks++) {
        trial_run(t, 1);
        take(t, op, &now);
        check_store(t, op, ticks, end);
        for (unsigned k = 0; k < trial_values(op); k++)
            if (trial_register(op, k, &is_out) >= 0 && is_out)
                check_landing(op, k, ticks, now.values[k], begin.values[k], end->values[k]);
    }
    return memcmp(&begin, end, sizeof begin) != 0;
}

/* ---- loads */

/* The outcome when all of memory changes after so many ticks, and changes back at the end. */
static void run_memory_changed(struct trial *t, const struct tw_operation *op, unsigned ticks, struct outcome *o)
{
    trial_begin(t);
    trial_run(t, ticks);
    for (unsigned i = 0; i < TW_DATA_BYTES; i++)
        t->memory[i] ^= 0x5a;
    trial_run(t, LAST - ticks);
    for (unsigned i = 0; i < TW_DATA_BYTES; i++)
        t->memory[i] ^= 0x5a;
    take(t, op, o);
}

static void memory_is_read_in_time(struct trial *t, const struct tw_operation *op, const struct outcome *end)
{
    static struct outcome first, last, late;
    unsigned cycle = tw_operation_schedule(op)->memory_first;

    if (trial_row(op->instruction)->action != TW_ACTION_LOAD)
        return;
    run_memory_changed(t, op, 0, &first);
    run_memory_changed(t, op, cycle - 1, &last);
    run_memory_changed(t, op, cycle, &late);
    if (memcmp(&first, &last, sizeof first) != 0 || memcmp(&late, end, sizeof late) != 0 ||
        memcmp(&first, end, sizeof first) == 0)
        fail_msg("%s: memory is not read in cycle %u", text_of(op), cycle);
}

/* ---- operands */

/* The outcome when a register changes after so many ticks. */
static void run_changed(struct trial *t, const struct tw_operation *op, unsigned reg, unsigned ticks, uint64_t seed,
                        struct outcome *o)
{
    struct tw_random random = {seed};

    trial_begin(t);
    trial_run(t, ticks);
    trial_change(t, reg, &random);
    trial_run(t, LAST - ticks);
    take(t, op, o);
}

/* Whether another operand or a result is in the same register. */
static int is_shared(const struct tw_operation *op, unsigned k, unsigned reg)
{
    int is_out;

    for (unsigned i = 0; i < trial_values(op); i++) {
        int other = trial_register(op, i, &is_out);
        if (i != k && other >= 0 && trial_overlap(reg, (unsigned)other))
            return 1;
    }
    return 0;
}

/* The exception mask is read when the function is called: it decides on flags alone. */
static int is_exempt(unsigned reg)
{
    return reg == TW_R_crFPMask || tw_registers[reg].group == TW_G_clock;
}

/* Returns 1 when the operand could be looked at, and mattered. */
static int operand_is_read_in_time(struct trial *t, const struct tw_operation *op, unsigned k,
                                   const struct outcome *end)
{
    static struct outcome first, last, late;
    int is_out, reg = trial_register(op, k, &is_out);
    unsigned cycle = trial_cycle(op, k).cycle;

    if (reg < 0 || is_out || is_exempt((unsigned)reg) || is_shared(op, k, (unsigned)reg))
        return 0;
    run_changed(t, op, (unsigned)reg, 0, k + 1, &first);
    run_changed(t, op, (unsigned)reg, cycle - 1, k + 1, &last);
    run_changed(t, op, (unsigned)reg, cycle, k + 1, &late);
    if (memcmp(&first, &last, sizeof first) != 0)
        fail_msg("%s: operand %u is read before its cycle %u", text_of(op), k, cycle);
    if (memcmp(end, &late, sizeof late) != 0)
        fail_msg("%s: operand %u is read after its cycle %u", text_of(op), k, cycle);
    return memcmp(&first, end, sizeof first) != 0;
}

/* ---- all instructions */

struct counts {
    unsigned instructions, changed, operands, mattered;
};

static void try_instruction(struct trial *t, unsigned instruction, struct tw_random *random, struct counts *counts)
{
    static struct outcome end;
    unsigned at = 0;
    int changed = 0, mattered[TW_VALUES_MAX] = {0}, tried = 0;

    for (unsigned i = 0; i < TRIALS; i++) {
        struct tw_operation op;
        random_operation(random, instruction, &op);
        trial_randomize(t, random, &op, 1);
        trial_program(t, &op, &at, 1);
        trial_begin(t);
        if (trial_run(t, LAST) != 0)
            continue; /* not modelled */
        tried++;
        take(t, &op, &end);
        changed |= results_land_in_time(t, &op, &end);
        memory_is_read_in_time(t, &op, &end);
        for (unsigned k = 0; k < trial_values(&op); k++)
            mattered[k] |= operand_is_read_in_time(t, &op, k, &end);
    }
    counts->instructions += tried > 0;
    counts->changed += (unsigned)changed;
    for (unsigned k = 0; k < TW_VALUES_MAX; k++)
        counts->mattered += (unsigned)mattered[k];
}

static void each_instruction_keeps_its_times(void **state)
{
    struct trial *t = trial_make();
    struct tw_random random = {11};
    struct counts counts = {0, 0, 0, 0};
    unsigned plain = 0;

    (void)state;
    for (unsigned i = 0; i < TW_I_COUNT; i++) {
        if (!trial_is_plain(i))
            continue;
        plain++;
        try_instruction(t, i, &random, &counts);
    }
    print_message("%u of %u instructions tried, %u did something, %u operands mattered\n", counts.instructions, plain,
                  counts.changed, counts.mattered);
    /* All but the 16 loads that decompress are modelled. */
    assert_int_equal(counts.instructions, plain - 16);
    assert_true(counts.changed >= counts.instructions - 4);
    assert_true(counts.mattered >= 1000);
    trial_free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(each_instruction_keeps_its_times)};
    return cmocka_run_group_tests_name("core timing", tests, NULL, NULL);
}
