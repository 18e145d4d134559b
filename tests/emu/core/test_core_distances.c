/*
 * Pairs of operations, one for each schedule class: at the least distance of rules.h the reader gets the new value, one
 * bundle sooner the old one. What is right is told by the reader alone in a register that holds either.
 */
#include "emu/core/trial.h"
#include "isa/random_operation.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

enum { VALUE = 160, SAMPLES = 12, TRIES = 8 };

/* An operation of each class that can be had. */
struct sample {
    const struct tw_schedule_class *class;
    struct tw_operation op;
};

static unsigned collect(struct tw_random *random, struct sample *samples)
{
    unsigned n = 0;

    for (unsigned i = 0; i < TW_I_COUNT; i++) {
        for (unsigned k = 0; k < SAMPLES && trial_is_plain(i); k++) {
            struct tw_operation op;
            random_operation(random, i, &op);
            const struct tw_schedule_class *class = tw_operation_schedule(&op);
            unsigned known = 0;
            while (known < n && samples[known].class != class)
                known++;
            if (known < n || strstr(tw_instructions[i].mnemonic, "compr") ||
                strstr(tw_instructions[i].mnemonic, "sparse"))
                continue;
            samples[n++] = (struct sample){class, op};
        }
    }
    return n;
}

/* ---- a pair */

struct pair {
    struct tw_operation ops[2]; /* writer, reader */
    unsigned output, input;     /* values of theirs */
    unsigned reg;               /* that the output writes and the input reads */
};

/* Whether two operations meet in no other register than by the pair's two values. */
static int meet_only_there(const struct pair *p)
{
    const struct tw_operation *w = &p->ops[0], *r = &p->ops[1];
    int w_out, r_out;

    for (unsigned i = 0; i < trial_values(w); i++) {
        int a = trial_register(w, i, &w_out);
        for (unsigned k = 0; k < trial_values(r) && a >= 0; k++) {
            int b = trial_register(r, k, &r_out);
            if (b < 0 || (!w_out && !r_out) || (i == p->output && k == p->input))
                continue;
            if (trial_overlap((unsigned)a, (unsigned)b))
                return 0;
        }
    }
    return 1;
}

/* Puts a register into the reader's operand; other operands get new ones until they do not meet. Returns 0 if it can.
 */
static int join(struct tw_random *random, struct pair *p)
{
    const struct tw_instruction *in = &tw_instructions[p->ops[1].instruction];
    const struct tw_schedule_class *class = tw_operation_schedule(&p->ops[1]);

    for (unsigned i = 0; i < TRIES; i++) {
        if (p->input < in->n_operands) {
            const struct tw_operand_info *o = &in->operands[p->input];
            if (o->role == TW_OPERAND_TIED || o->bits == 0 || !tw_operand_fits(o, p->reg))
                return 1;
            p->ops[1].operands[p->input] = p->reg;
            tw_operation_complete(&p->ops[1]);
        } else {
            int is_out;
            if (trial_register(&p->ops[1], p->input, &is_out) != (int)p->reg)
                return 1;
        }
        if (meet_only_there(p) && tw_operation_schedule(&p->ops[1]) == class)
            return 0;
        random_operation(random, p->ops[1].instruction, &p->ops[1]);
    }
    return 1;
}

/* What the reader leaves. */
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

/* The reader alone, with the register as it is after the writer, or as before. Returns 1 when it is not modelled. */
static int alone(struct trial *t, const struct pair *p, const uint8_t *value, struct outcome *o)
{
    unsigned at = 0, bytes = 0;

    for (unsigned i = 0; i < tw_registers[p->reg].n_leaves; i++) {
        unsigned bits = tw_registers[tw_registers[p->reg].leaves[i]].bits;
        bytes += bits <= 32 ? 4 : bits / 8;
    }
    trial_program(t, &p->ops[1], &at, 1);
    trial_begin(t);
    tw_core_register_write(t->core, (uint16_t)p->reg, value, bytes);
    int failed = trial_run(t, TRIAL_TICKS - 1);
    take(t, &p->ops[1], o);
    return failed;
}

static int together(struct trial *t, const struct pair *p, unsigned distance, struct outcome *o)
{
    unsigned at[2] = {0, distance};

    trial_program(t, p->ops, at, 2);
    trial_begin(t);
    int failed = trial_run(t, TRIAL_TICKS - 1);
    take(t, &p->ops[1], o);
    return failed;
}

/* The register's value before and after the writer. */
static int written(struct trial *t, const struct pair *p, uint8_t before[VALUE], uint8_t after[VALUE])
{
    unsigned at = 0;

    trial_program(t, &p->ops[0], &at, 1);
    trial_begin(t);
    trial_read(t, p->reg, before);
    int failed = trial_run(t, TRIAL_TICKS - 1);
    trial_read(t, p->reg, after);
    return failed;
}

static void compare(const struct pair *p, unsigned distance, const char *which, const struct outcome *got,
                    const struct outcome *expected)
{
    char texts[2][TW_OPERATION_TEXT_MAX];

    /* A writer that also stores changes memory by itself. */
    int stores = (tw_instructions[p->ops[0].instruction].flags & TW_FLAG_STORE) != 0;
    if (memcmp(got, expected, stores ? offsetof(struct outcome, memory) : sizeof *got) == 0)
        return;
    for (unsigned i = 0; i < 2; i++)
        tw_operation_print(&p->ops[i], texts[i], sizeof texts[i]);
    fail_msg("'%s', and %u bundles later '%s': it does not get the %s value of %s", texts[0], distance, texts[1], which,
             tw_registers[p->reg].name);
}

struct counts {
    unsigned pairs, told, bypassed;
};

static void try_pair(struct trial *t, struct tw_random *random, const struct pair *p, struct counts *counts)
{
    static struct outcome old, new, got;
    uint8_t before[VALUE], after[VALUE];
    struct tw_operand_cycle w = trial_cycle(&p->ops[0], p->output), r = trial_cycle(&p->ops[1], p->input);
    int same = w.bypass != TW_BYPASS_NONE && w.bypass == r.bypass;
    int least = tw_distance_raw(w.cycle, r.cycle, same);

    if (least < 1)
        return;
    trial_randomize(t, random, p->ops, 2);
    if (written(t, p, before, after) || alone(t, p, before, &old) || alone(t, p, after, &new))
        return; /* with these values it is not modelled, or an address lies outside */
    counts->pairs++;
    counts->told += memcmp(&old, &new, sizeof old) != 0;
    counts->bypassed += (unsigned)same;
    assert_int_equal(together(t, p, (unsigned)least, &got), 0);
    compare(p, (unsigned)least, "new", &got, &new);
    if (least < 2)
        return;
    assert_int_equal(together(t, p, (unsigned)least - 1, &got), 0);
    compare(p, (unsigned)least - 1, "old", &got, &old);
}

/* Reads of the exception masks are early: see test_core_timing.c. Stores and loads of one pair may touch one place. */
static int is_exempt(unsigned reg)
{
    return reg == TW_R_crFPMask || tw_registers[reg].group == TW_G_sr;
}

static int both_touch_memory(const struct pair *p)
{
    return tw_operation_schedule(&p->ops[0])->memory_first != 0 &&
           tw_operation_schedule(&p->ops[1])->memory_first != 0 &&
           ((tw_instructions[p->ops[0].instruction].flags | tw_instructions[p->ops[1].instruction].flags) &
            TW_FLAG_STORE) != 0;
}

static void try_samples(struct trial *t, struct tw_random *random, const struct sample *writer,
                        const struct sample *reader, struct counts *counts)
{
    int w_out, r_out;

    for (unsigned i = 0; i < trial_values(&writer->op); i++) {
        int reg = trial_register(&writer->op, i, &w_out);
        for (unsigned k = 0; k < trial_values(&reader->op) && reg >= 0 && w_out && !is_exempt((unsigned)reg); k++) {
            struct pair p = {{writer->op, reader->op}, i, k, (unsigned)reg};
            if (trial_register(&reader->op, k, &r_out) < 0 || r_out || both_touch_memory(&p) || join(random, &p) != 0)
                continue;
            try_pair(t, random, &p, counts);
        }
    }
}

static void least_distances_are_exact(void **state)
{
    static struct sample samples[TW_SCHEDULE_COUNT];
    struct trial *t = trial_make();
    struct tw_random random = {5};
    struct counts counts = {0, 0, 0};
    unsigned n = collect(&random, samples);

    (void)state;
    for (unsigned i = 0; i < n; i++)
        for (unsigned k = 0; k < n; k++)
            try_samples(t, &random, &samples[i], &samples[k], &counts);
    print_message("%u classes, %u pairs, %u of them tell old and new apart, %u with a bypass\n", n, counts.pairs,
                  counts.told, counts.bypassed);
    assert_true(counts.told >= 3000 && counts.bypassed >= 300);
    trial_free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(least_distances_are_exact)};
    return cmocka_run_group_tests_name("core distances", tests, NULL, NULL);
}
