/*
 * A core that remembers ticks does what one does that works out each of them: random programs with loops and jumps, in
 * steps of random length, with all registers, memory, clocks, counts, requests and messages the same at every stop.
 */
#include "emu/core/machine.h"
#include "emu/core/state.h"
#include "emu/core/trial.h"
#include "isa/assembler.h"
#include "isa/random_operation.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

enum {
    PROGRAMS = 120,
    STOPS = 60,
    BODY_MAX = 40,
    COUNTER = TW_R_r7,
    TARGET = TW_R_p7,
    FIRST_MODE = 8,
    FIRST_INTEGER_MODE = 16
};
enum { AT_END = 16368 };                      /* a done for kernels to return to */
enum { FLOAT_MODE = 28, INTEGER_MODE = 776 }; /* bf16 4x8x4, int8 4x8x8 */

/* One core and its memory. */
struct side {
    struct tw_core *core;
    uint8_t memory[TW_WINDOWS][TW_DATA_BYTES];
    enum tw_core_state state;
    struct tw_error err;
};

struct pair {
    struct side slow, fast;
    unsigned with_memos; /* stops at which the fast one followed memos */
    uint64_t near, far;  /* cycles that it ran in its own memory, and beyond */
};

static void make_side(struct side *s, int strict, int slow)
{
    struct tw_core_options options = {.strict = strict, .slow = slow};

    for (unsigned i = 0; i < TW_WINDOWS; i++)
        options.windows[i] = s->memory[i];
    assert_int_equal(tw_core_create(&options, &s->core, NULL), 0);
}

static struct pair *make_pair(int strict)
{
    struct pair *p = calloc(1, sizeof *p);

    assert_non_null(p);
    make_side(&p->slow, strict, 1);
    make_side(&p->fast, strict, 0);
    return p;
}

static void free_pair(struct pair *p)
{
    tw_core_free(p->slow.core);
    tw_core_free(p->fast.core);
    free(p);
}

/* ---- comparing */

static void compare_registers(const struct pair *p)
{
    uint8_t slow[160], fast[160];

    for (unsigned r = 0; r < TW_R_COUNT; r++) {
        size_t bytes = tw_registers[r].bits <= 32 ? 4 : tw_registers[r].bits / 8u;
        if (tw_registers[r].n_leaves != 1)
            continue;
        assert_int_equal(tw_core_register_read(p->slow.core, (uint16_t)r, slow, bytes), 0);
        assert_int_equal(tw_core_register_read(p->fast.core, (uint16_t)r, fast, bytes), 0);
        if (memcmp(slow, fast, bytes) != 0)
            fail_msg("%s differs at cycle %llu, address 0x%x", tw_registers[r].name,
                     (unsigned long long)tw_core_clock(p->slow.core), (unsigned)tw_core_pc(p->slow.core));
    }
}

static void compare(const struct pair *p)
{
    struct tw_core_counts slow = tw_core_counts(p->slow.core), fast = tw_core_counts(p->fast.core);

    assert_int_equal(p->slow.state, p->fast.state);
    if (p->slow.state == TW_CORE_FAILED)
        assert_string_equal(p->slow.err.text, p->fast.err.text);
    assert_int_equal(tw_core_clock(p->slow.core), tw_core_clock(p->fast.core));
    assert_int_equal(tw_core_pc(p->slow.core), tw_core_pc(p->fast.core));
    assert_int_equal(slow.bundles, fast.bundles);
    assert_int_equal(slow.bank_stalls, fast.bank_stalls);
    assert_int_equal(slow.request_stalls, fast.request_stalls);
    compare_registers(p);
    assert_memory_equal(p->slow.memory, p->fast.memory, sizeof p->slow.memory);
}

/* ---- running */

/* Both get the same answer. */
static void answer(struct pair *p, struct tw_random *random)
{
    const struct tw_core_request *asked = tw_core_request(p->slow.core);
    struct tw_core_answer a = {.cycle = asked->cycle + (uint64_t)tw_random_range(random, 0, 5),
                               .success = (uint8_t)tw_random_range(random, 0, 1)};

    assert_memory_equal(asked, tw_core_request(p->fast.core), sizeof *asked);
    for (unsigned i = 0; i < 16; i++)
        a.data[i] = (uint32_t)tw_random_u64(random);
    tw_core_answer(p->slow.core, &a);
    tw_core_answer(p->fast.core, &a);
}

static void go(struct pair *p, uint64_t cycles)
{
    uint64_t until = tw_core_clock(p->slow.core) + cycles;

    /* A stop before other memories are reached changes nothing; nothing there is written before it. */
    tw_core_run_near(p->fast.core, until, &p->fast.err);
    for (unsigned i = 0; i < TW_WINDOWS; i++)
        if (i != TW_WINDOW_OWN)
            assert_memory_equal(p->slow.memory[i], p->fast.memory[i], TW_DATA_BYTES);
    p->near += tw_core_clock(p->fast.core) - tw_core_clock(p->slow.core);
    p->slow.state = tw_core_run(p->slow.core, until, &p->slow.err);
    p->far += tw_core_clock(p->slow.core) - tw_core_clock(p->fast.core);
    p->fast.state = tw_core_run(p->fast.core, until, &p->fast.err);
    p->with_memos += p->fast.core->memo != NULL;
}

/* To the end, or so many stops. */
static void run(struct pair *p, struct tw_random *random, unsigned stops)
{
    for (unsigned i = 0; i < stops; i++) {
        go(p, (uint64_t)tw_random_range(random, 1, i % 4 == 0 ? 900 : 40));
        compare(p);
        if (p->slow.state == TW_CORE_DONE || p->slow.state == TW_CORE_FAILED)
            return;
        if (p->slow.state == TW_CORE_REQUEST)
            answer(p, random);
    }
}

/* ---- random programs */

static int is_number(unsigned reg, unsigned from, unsigned to)
{
    return tw_registers[reg].group == TW_G_r && tw_registers[reg].number >= from && tw_registers[reg].number < to;
}

/* Pointers only walk, and modes, targets and loops stay as they are: else all programs end soon. */
static int may_write(const struct tw_operation *op, unsigned reg)
{
    int moves_pointers = trial_row(op->instruction)->action != TW_ACTION_COMPUTE;

    switch (tw_registers[tw_registers[reg].leaves[0]].group) {
    case TW_G_p:
    case TW_G_dc:
        return moves_pointers && reg != TARGET;
    case TW_G_r:
        return is_number(reg, 0, FIRST_MODE) && reg != COUNTER;
    case TW_G_m:
    case TW_G_dn:
    case TW_G_dj:
    case TW_G_s:
    case TW_G_cr:
    case TW_G_special:
        return 0;
    default:
        return 1;
    }
}

static int is_mode(unsigned reg, int of_float)
{
    if (tw_registers[reg].group != TW_G_r)
        return 1;
    return of_float ? is_number(reg, FIRST_MODE, FIRST_INTEGER_MODE) : is_number(reg, FIRST_INTEGER_MODE, 32);
}

static int is_too_special(const char *mnemonic)
{
    static const char *const parts[] = {"vldb.4x", "sparse", "compr"};

    for (unsigned i = 0; i < sizeof parts / sizeof parts[0]; i++)
        if (strstr(mnemonic, parts[i]) != NULL)
            return 1;
    return 0;
}

static int is_good(const struct tw_operation *op)
{
    const struct tw_instruction *in = &tw_instructions[op->instruction];
    int is_out, reg, is_float = strstr(in->mnemonic, ".f") != NULL;

    if (!trial_is_plain(op->instruction) || is_too_special(in->mnemonic))
        return 0;
    for (unsigned k = 0; k < trial_values(op); k++) {
        reg = trial_register(op, k, &is_out);
        if (reg >= 0 && is_out && !may_write(op, (unsigned)reg))
            return 0;
        if (reg < 0 || is_out)
            continue;
        if (reg == TARGET || (in->slot == TW_SLOT_VEC && !is_mode((unsigned)reg, is_float)))
            return 0;
    }
    return 1;
}

static void choose_operation(struct tw_random *random, unsigned slot, struct tw_operation *op)
{
    static const unsigned requests[] = {TW_I_MOV_mv_ss2scl, TW_I_MOV_mv_scl2ms};
    unsigned tries = 0;

    do {
        unsigned in = random_instruction(random, slot);
        if (slot == TW_SLOT_MV && tw_random_range(random, 0, 15) == 0)
            in = requests[tw_random_range(random, 0, 1)];
        random_operation(random, in, op);
        if (in == TW_I_MOV_mv_scl2ms || (in == TW_I_MOV_mv_ss2scl && is_number(op->operands[0], 0, FIRST_MODE)))
            return;
    } while (!is_good(op) && ++tries < 400);
    assert_true(tries < 400);
}

/* A program that is being made. */
struct text {
    uint8_t bytes[BODY_MAX * 3 * TW_BUNDLE_MAX];
    uint32_t size;
    struct tw_operation ops[BODY_MAX * 12];
    unsigned n_ops;
};

static void add_bundle(struct text *t, const struct tw_bundle *bundle)
{
    int bytes = tw_bundle_encode(bundle, t->bytes + t->size, NULL);

    assert_true(bytes > 0);
    t->size += (uint32_t)bytes;
}

static void add_random_bundle(struct text *t, struct tw_random *random)
{
    static const unsigned slots[] = {TW_SLOT_LDA, TW_SLOT_LDB, TW_SLOT_ALU, TW_SLOT_MV, TW_SLOT_ST, TW_SLOT_VEC};
    struct tw_bundle b;
    uint8_t trash[TW_BUNDLE_MAX];

    do {
        memset(&b, 0, sizeof b);
        b.format = -1;
        for (unsigned i = 0; i < 6; i++) {
            if (tw_random_range(random, 0, 2) != 0)
                continue;
            choose_operation(random, slots[i], &b.op[slots[i]]);
            b.slots |= (uint8_t)(1u << slots[i]);
        }
    } while (b.slots == 0 || tw_bundle_encode(&b, trash, NULL) <= 0);
    for (unsigned i = 0; i < TW_SLOT_COUNT; i++)
        if ((b.slots >> i & 1) != 0)
            t->ops[t->n_ops++] = b.op[i];
    add_bundle(t, &b);
}

static void add_alone(struct text *t, struct tw_operation op)
{
    unsigned slot = tw_instructions[op.instruction].slot;
    struct tw_bundle b = {.slots = (uint8_t)(1u << slot), .format = -1};

    b.op[slot] = op;
    add_bundle(t, &b);
}

static void align(struct text *t)
{
    while (t->size % TW_TARGET_ALIGN != 0)
        add_alone(t, (struct tw_operation){.instruction = TW_I_NOP});
}

/* A hardware loop, some bundles behind it, and a jump back over both that counts down; then done. */
static void write_program(struct text *t, struct tw_random *random, uint32_t *begin, uint32_t *end)
{
    int body = (int)tw_random_range(random, 0, BODY_MAX), tail = (int)tw_random_range(random, 0, 8);

    memset(t, 0, sizeof *t);
    *begin = t->size;
    for (int i = 0; i < body; i++)
        add_random_bundle(t, random);
    align(t);
    *end = t->size;
    add_random_bundle(t, random);
    for (int i = 0; i < tail; i++)
        add_random_bundle(t, random);
    add_alone(t, (struct tw_operation){.instruction = TW_I_JNZD, .operands = {COUNTER, COUNTER, TARGET}});
    for (int i = 0; i < TW_DELAY_SLOTS; i++)
        add_random_bundle(t, random);
    add_alone(t, (struct tw_operation){.instruction = TW_I_DONE});
    align(t);
}

static void set(struct pair *p, unsigned reg, const void *value, size_t bytes)
{
    assert_int_equal(tw_core_register_write(p->slow.core, (uint16_t)reg, value, bytes), 0);
    assert_int_equal(tw_core_register_write(p->fast.core, (uint16_t)reg, value, bytes), 0);
}

static void set_word(struct pair *p, unsigned reg, uint32_t value)
{
    set(p, reg, &value, sizeof value);
}

static void begin(struct pair *p, const struct trial *t, uint32_t first, uint32_t last, uint32_t passes)
{
    tw_core_reset(p->slow.core);
    tw_core_reset(p->fast.core);
    for (unsigned r = 0; r < TW_R_COUNT; r++)
        if (tw_registers[r].n_leaves == 1 && tw_registers[r].group != TW_G_clock)
            set(p, r, t->file[r], tw_registers[r].bits <= 32 ? 4 : tw_registers[r].bits / 8u);
    for (unsigned i = 0; i < TW_WINDOWS; i++) {
        memcpy(p->slow.memory[i], t->before, TW_DATA_BYTES);
        memcpy(p->fast.memory[i], t->before, TW_DATA_BYTES);
    }
    set_word(p, TW_R_LS, first);
    set_word(p, TW_R_LE, last);
    set_word(p, TW_R_LC, passes);
    for (unsigned i = FIRST_MODE; i < 32; i++)
        set_word(p, TW_R_r0 + i, i < FIRST_INTEGER_MODE ? FLOAT_MODE : INTEGER_MODE);
    set_word(p, COUNTER, 30);
    set_word(p, TARGET, first);
    for (unsigned i = 0; i < 7; i++)
        set_word(p, TW_R_p0 + i,
                 passes % 2 == 0 ? TW_DATA_OWN + 0x8000 + 0x800 * i : TW_DATA_SOUTH + 0x10000 + 0x4000 * i);
}

/* Returns how many stops were with memos. */
static unsigned try_program(struct trial *t, struct tw_random *random, uint64_t *near, uint64_t *far)
{
    static struct text text;
    struct pair *p = make_pair(0);
    uint32_t first, last;

    write_program(&text, random, &first, &last);
    trial_randomize(t, random, text.ops, text.n_ops);
    assert_int_equal(tw_core_write_program(p->slow.core, 0, text.bytes, text.size), 0);
    assert_int_equal(tw_core_write_program(p->fast.core, 0, text.bytes, text.size), 0);
    for (int life = 0; life < 2; life++) {
        begin(p, t, first, last, (uint32_t)tw_random_range(random, 1, 40));
        run(p, random, STOPS);
        /* The same again while it runs: nothing of what was remembered may be used. */
        assert_int_equal(tw_core_write_program(p->slow.core, 0, text.bytes, text.size), 0);
        assert_int_equal(tw_core_write_program(p->fast.core, 0, text.bytes, text.size), 0);
        run(p, random, STOPS / 4);
    }
    unsigned with_memos = p->with_memos;
    *near += p->near;
    *far += p->far;
    free_pair(p);
    return with_memos;
}

static void random_programs(void **state)
{
    struct tw_random random = {2026};
    struct trial *t = trial_make();
    unsigned with_memos = 0;
    uint64_t near = 0, far = 0;

    (void)state;
    for (unsigned i = 0; i < PROGRAMS; i++)
        with_memos += try_program(t, &random, &near, &far);
    assert_true(with_memos > 10 * PROGRAMS);
    assert_true(near > 100 * PROGRAMS && far > 100 * PROGRAMS);
    trial_free(t);
}

/* ---- strict mode */

static void load(struct pair *p, const char *name, const char *text, size_t size)
{
    struct tw_assembly *assembly = NULL;
    uint8_t program[TW_PROGRAM_BYTES] = {0};

    if (tw_assemble(name, text, size, NULL, &assembly, &p->slow.err) != 0)
        fail_msg("%s", p->slow.err.text);
    memcpy(program, assembly->sections[0].bytes, assembly->sections[0].size);
    struct tw_bundle end = {
        .slots = 1 << TW_SLOT_ALU, .format = -1, .op = {[TW_SLOT_ALU] = {.instruction = TW_I_DONE}}};
    assert_true(tw_bundle_encode(&end, program + AT_END, NULL) > 0);
    assert_int_equal(tw_core_write_program(p->slow.core, 0, program, sizeof program), 0);
    assert_int_equal(tw_core_write_program(p->fast.core, 0, program, sizeof program), 0);
    for (size_t i = 0; i < assembly->n_old; i++) {
        const struct tw_as_old *old = &assembly->old[i];
        assert_int_equal(tw_core_expect_old(p->slow.core, old->address, old->leaves, old->n), 0);
        assert_int_equal(tw_core_expect_old(p->fast.core, old->address, old->leaves, old->n), 0);
    }
    tw_assembly_free(assembly);
}

/* A product kernel on random numbers, twice: the second time all of it has been before. */
static void run_kernel(const char *name)
{
    enum { SOURCE = 1 << 17 };
    static char text[SOURCE];
    const char *root = getenv("TILEWRIGHT_SOURCE");
    char path[1024];
    struct tw_random random = {8};
    struct pair *p = make_pair(1);

    snprintf(path, sizeof path, "%s/src/kernels/%s", root != NULL ? root : ".", name);
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    load(p, name, text, fread(text, 1, sizeof text, f));
    fclose(f);
    for (unsigned i = 0; i < TW_DATA_BYTES; i++)
        p->slow.memory[TW_WINDOW_OWN][i] = p->fast.memory[TW_WINDOW_OWN][i] = (uint8_t)tw_random_u64(&random);
    for (int life = 0; life < 2; life++) {
        tw_core_reset(p->slow.core);
        tw_core_reset(p->fast.core);
        for (unsigned i = 0; i < 4; i++)
            set_word(p, TW_R_p0 + i, TW_DATA_OWN + 0x4000 * i);
        set_word(p, TW_R_lr, AT_END);
        run(p, &random, 1000);
        assert_int_equal(p->fast.state, TW_CORE_DONE);
    }
    assert_true(p->with_memos > 3);
    free_pair(p);
}

static void kernels(void **state)
{
    (void)state;
    run_kernel("product_bf16.s");
    run_kernel("product_int8.s");
}

/* What follows a loop that has been remembered breaks a rule: by a value that the loop has not landed yet, by one that
 * it still reads. */
static void verdicts(void **state)
{
    static const char *const behind[][2] = {{"add r8, r7, r2\n", "before its value has landed"},
                                            {"nop\n add r8, r7, r2\n", NULL},
                                            {"mova r7, #5\n", "an earlier operation's result lands"},
                                            {"st r1, [p2, #0]\n", "not a multiple of 4"}};

    (void)state;
    for (unsigned i = 0; i < sizeof behind / sizeof behind[0]; i++) {
        char text[1024];
        struct tw_random random = {i};
        struct pair *p = make_pair(1);
        int size = snprintf(
            text, sizeof text,
            ".foreign\n.text\n movxm r0, #200\n movxm p1, #loop\n movxm p2, #0x70002\n mova r1, #0\n movx r2, #3\n"
            " nop\n nop\n.align 16\nloop:\n jnzd r0, r0, p1\n add r1, r1, r2\n nop\n nop\n"
            " nop\n mul r7, r1, r2\n %s nop\n nop\n done\n",
            behind[i][0]);
        load(p, "loop", text, (size_t)size);
        run(p, &random, 10000);
        if (behind[i][1] == NULL && p->fast.state != TW_CORE_DONE)
            fail_msg("%s", p->fast.err.text);
        if (behind[i][1] != NULL && (p->fast.state != TW_CORE_FAILED || strstr(p->fast.err.text, behind[i][1]) == NULL))
            fail_msg("%s: '%s'", behind[i][0], p->fast.err.text);
        assert_true(p->with_memos > 3);
        free_pair(p);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(random_programs), cmocka_unit_test(kernels),
                                       cmocka_unit_test(verdicts)};
    return cmocka_run_group_tests_name("core memos", tests, NULL, NULL);
}
