#include "emu/core/trial.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

enum { POINTER = 0x78000, STACK = 0x7a000, STEP = 64 };

struct trial *trial_make(void)
{
    struct trial *t = calloc(1, sizeof *t);
    struct tw_core_options options = {.windows = {NULL, NULL, NULL, NULL}};

    assert_non_null(t);
    options.windows[TW_WINDOW_OWN] = t->memory;
    assert_int_equal(tw_core_create(&options, &t->core, NULL), 0);
    return t;
}

void trial_free(struct trial *t)
{
    tw_core_free(t->core);
    free(t);
}

const struct tw_semantics *trial_row(unsigned instruction)
{
    unsigned n;
    const struct tw_semantics *rows = tw_scalar_semantics(&n);

    for (unsigned i = 0; i < n; i++)
        if (rows[i].instruction == instruction)
            return &rows[i];
    rows = tw_vector_semantics(&n);
    for (unsigned i = 0; i < n; i++)
        if (rows[i].instruction == instruction)
            return &rows[i];
    return NULL;
}

int trial_is_plain(unsigned instruction)
{
    const struct tw_semantics *row = trial_row(instruction);

    return (tw_instructions[instruction].flags & TW_FLAG_NOP) == 0 &&
           (row->action == TW_ACTION_COMPUTE || row->action == TW_ACTION_LOAD || row->action == TW_ACTION_STORE ||
            row->action == TW_ACTION_ADDRESS);
}

/* ---- values */

static int has(const struct tw_operation *op, const char *part)
{
    return strstr(tw_instructions[op->instruction].mnemonic, part) != NULL;
}

/* Numbers for r registers that all the operations can do something with. */
static uint32_t number(struct tw_random *random, const struct tw_operation *ops, unsigned n)
{
    static const uint32_t floats[] = {28, 60}, integers[] = {776, 280, 792, 24, 26, 0x2fa, 808};
    uint64_t pick = tw_random_u64(random);

    for (unsigned i = 0; i < n; i++) {
        enum tw_slot slot = tw_instructions[ops[i].instruction].slot;
        if (slot == TW_SLOT_VEC)
            return has(&ops[i], ".f") ? floats[pick % 2] : integers[pick % 7];
        if (has(&ops[i], "vsh") || has(&ops[i], "vbcstshfl"))
            return (uint32_t)(pick % 48);
    }
    return (uint32_t)pick;
}

static uint32_t control(struct tw_random *random, unsigned reg)
{
    static const uint32_t roundings[] = {0, 1, 2, 3, 8, 9, 10, 11, 12, 13};
    uint64_t pick = tw_random_u64(random);

    if (reg == TW_R_crRnd)
        return roundings[pick % 10];
    if (reg == TW_R_crSat)
        return (uint32_t)(pick % 2);
    return (uint32_t)pick & ((1u << tw_registers[reg].bits) - 1);
}

static uint32_t word(struct tw_random *random, unsigned leaf, const struct tw_operation *ops, unsigned n)
{
    uint64_t pick = tw_random_u64(random);

    switch (tw_registers[leaf].group) {
    case TW_G_p:
        return POINTER + STEP * (uint32_t)(pick % 64);
    case TW_G_m:
    case TW_G_dj:
        return STEP * (uint32_t)(pick % 8);
    case TW_G_dn:
    case TW_G_dc:
        return (uint32_t)(pick % 3);
    case TW_G_s:
        return (uint32_t)(pick % 5);
    case TW_G_special:
        return leaf == TW_R_SP ? STACK : (uint32_t)(pick & 0xffff0);
    case TW_G_cr:
        return control(random, leaf);
    case TW_G_sr:
        return leaf == TW_R_srCarry ? (uint32_t)(pick & 1) : 0;
    case TW_G_r:
        return number(random, ops, n);
    case TW_G_wl:
    case TW_G_wh:
        if (has(&ops[0], "vldb.4x") || (n > 1 && has(&ops[1], "vldb.4x")))
            return POINTER + STEP * (uint32_t)(pick % 64);
        return (uint32_t)pick;
    default:
        return (uint32_t)pick;
    }
}

/* ---- programs */

void trial_randomize(struct trial *t, struct tw_random *random, const struct tw_operation *ops, unsigned n)
{
    for (unsigned r = 0; r < TW_R_COUNT; r++)
        for (unsigned i = 0; i < 8; i++)
            t->file[r][i] = word(random, r, ops, n);
    t->file[TW_R_LE][0] = 0x3ff0; /* no loop */
    t->file[TW_R_LC][0] = 0;
    for (unsigned i = 0; i < TW_DATA_BYTES; i++)
        t->before[i] = (uint8_t)tw_random_u64(random);
}

void trial_program(struct trial *t, const struct tw_operation *ops, const unsigned *at, unsigned n)
{
    uint8_t program[TRIAL_TICKS * TW_BUNDLE_MAX + 16];
    size_t size = 0;
    unsigned next = 0;

    for (unsigned tick = 0; tick < TRIAL_TICKS; tick++) {
        struct tw_bundle b = {.slots = 1 << TW_SLOT_NOP, .format = -1, .op = {[TW_SLOT_NOP] = {TW_I_NOP, {0}}}};
        if (next < n && at[next] == tick) {
            unsigned slot = tw_instructions[ops[next].instruction].slot;
            b.slots = (uint8_t)(1u << slot);
            b.op[slot] = ops[next++];
        }
        int bytes = tw_bundle_encode(&b, program + size, NULL);
        assert_true(bytes > 0);
        size += (size_t)bytes;
    }
    assert_int_equal(next, n);
    assert_int_equal(tw_core_write_program(t->core, 0, program, (size + 3) & ~(size_t)3), 0);
}

void trial_begin(struct trial *t)
{
    tw_core_reset(t->core);
    tw_core_set_clock(t->core, 1000);
    memcpy(t->memory, t->before, sizeof t->memory);
    for (unsigned r = 0; r < TW_R_COUNT; r++) {
        unsigned bytes = tw_registers[r].bits <= 32 ? 4 : tw_registers[r].bits / 8u;
        if (tw_registers[r].n_leaves == 1 && tw_registers[r].group != TW_G_clock)
            assert_int_equal(tw_core_register_write(t->core, (uint16_t)r, t->file[r], bytes), 0);
    }
}

int trial_run(struct trial *t, unsigned ticks)
{
    for (unsigned i = 0; i < ticks; i++)
        if (tw_core_run(t->core, tw_core_clock(t->core) + 1, NULL) == TW_CORE_FAILED)
            return 1;
    return 0;
}

static unsigned size_of(unsigned reg)
{
    unsigned bytes = 0;

    for (unsigned i = 0; i < tw_registers[reg].n_leaves; i++) {
        unsigned bits = tw_registers[tw_registers[reg].leaves[i]].bits;
        bytes += bits <= 32 ? 4 : bits / 8;
    }
    return bytes;
}

void trial_read(const struct trial *t, unsigned reg, uint8_t bytes[160])
{
    memset(bytes, 0, 160);
    assert_int_equal(tw_core_register_read(t->core, (uint16_t)reg, bytes, size_of(reg)), 0);
}

void trial_change(struct trial *t, unsigned reg, struct tw_random *random)
{
    uint8_t bytes[160];

    trial_read(t, reg, bytes);
    unsigned group = tw_registers[tw_registers[reg].leaves[0]].group;
    /* Pointers stay aligned and inside; the modes of others stay known. */
    if (size_of(reg) >= 32)
        for (unsigned i = 0; i < size_of(reg); i++)
            bytes[i] ^= (uint8_t)tw_random_u64(random);
    else if (group == TW_G_p || group == TW_G_m || group == TW_G_dj || reg == TW_R_SP)
        bytes[0] ^= STEP;
    else
        bytes[0] ^= 1;
    assert_int_equal(tw_core_register_write(t->core, (uint16_t)reg, bytes, size_of(reg)), 0);
}

/* ---- operations */

int trial_overlap(unsigned a, unsigned b)
{
    for (unsigned i = 0; i < tw_registers[a].n_leaves; i++)
        for (unsigned k = 0; k < tw_registers[b].n_leaves; k++)
            if (tw_registers[a].leaves[i] == tw_registers[b].leaves[k])
                return 1;
    return 0;
}

unsigned trial_values(const struct tw_operation *op)
{
    const struct tw_instruction *in = &tw_instructions[op->instruction];
    return (unsigned)in->n_operands + in->n_defs + in->n_uses;
}

struct tw_operand_cycle trial_cycle(const struct tw_operation *op, unsigned k)
{
    const struct tw_schedule_class *class = tw_operation_schedule(op);
    return k < class->n_cycles ? class->cycles[k] : (struct tw_operand_cycle){1, TW_BYPASS_NONE};
}

int trial_register(const struct tw_operation *op, unsigned k, int *is_out)
{
    const struct tw_instruction *in = &tw_instructions[op->instruction];

    if (k < in->n_operands) {
        *is_out = in->operands[k].role == TW_OPERAND_OUT;
        return in->operands[k].kind == TW_OPERAND_REGISTER ? (int)op->operands[k] : -1;
    }
    k -= in->n_operands;
    *is_out = k < in->n_defs;
    return *is_out ? in->defs[k] : k - in->n_defs < in->n_uses ? in->uses[k - in->n_defs] : -1;
}
