/*
 * Uses out of time that are on purpose: what .old says is listed, and what scheduled programs do. For these a walk
 * through the bundles, with random turns at branches and loop ends, notes when each register is read and written; every
 * read that meets another write of its register under way, and every write that overtakes one, must be in the list.
 */
#include "base/random.h"
#include "isa/assemble.h"
#include "isa/random_sched.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#define NOPS5 "nop\nnop\nnop\nnop\nnop\n"
#define DONE NOPS5 "nop\ndone\n"

enum { TEXT = 1 << 16, PROGRAMS = 150, WALKS = 4, STEPS = 700, ACCESSES = 40 * STEPS, NEAR = 16 };

/* ---- what the text says */

static unsigned is_listed(const struct tw_assembly *a, uint32_t address, unsigned leaf)
{
    unsigned n = 0;

    for (size_t i = 0; i < a->n_old; i++)
        for (size_t k = 0; a->old[i].address == address && k < a->old[i].n; k++)
            n += a->old[i].leaves[k] == leaf;
    return n;
}

static size_t count_listed(const struct tw_assembly *a)
{
    size_t n = 0;

    for (size_t i = 0; i < a->n_old; i++)
        n += a->old[i].n;
    return n;
}

/* The text's list is one bundle, which lies at the address, with these n registers. */
static void lists(const char *text, uint32_t address, size_t n, const uint16_t *leaves)
{
    struct tw_assembly *a = assemble(text, NULL);

    assert_int_equal(a->n_errors, 0);
    if (count_listed(a) != n || a->n_old != (n > 0))
        fail_msg("%zu reads in %zu bundles of\n%s", count_listed(a), a->n_old, text);
    for (size_t i = 0; i < n; i++)
        assert_int_equal(is_listed(a, address, leaves[i]), 1);
    tw_assembly_free(a);
}

static void what_the_text_says(void **state)
{
    static const uint16_t r0[] = {TW_R_r0}, x0[] = {TW_R_wl0, TW_R_wh0}, s0[] = {TW_R_s0};

    (void)state;
    lists("lda r0, [p0, #0]\n" NOPS5 ".old r0\nadd r1, r0, r2\n" DONE, 14, 1, r0);
    lists("lda r0, [p0, #0]\n" NOPS5 "nop\nadd r1, r0, r2\n" DONE, 0, 0, NULL);
    /* a part of a register, and a register of which only a part is late */
    lists("vlda wl0, [p0, #0]\n.old x0\nvshuffle x1, x0, x0, r0\n" DONE, 4, 2, x0);
    lists("vlda wl0, [p0, #0]\n.old wl0\nvshuffle x1, x0, x0, r0\n" DONE, 4, 1, x0);
    /* a read that comes too late */
    lists(".old s0\nvlda.ups.s32.s16 bml0, s0, [p0, #0]\nnop\nmov s0, r1\n" DONE, 0, 1, s0);
    /* a write that a slower one overtakes: at the later bundle, whichever says so */
    lists("lda r0, [p0, #0]\nnop\nnop\n.old r0\nmov r0, r1\n" DONE, 8, 1, r0);
    lists("nop\nlda r1, [p0, #0]\nnop\nnop\nnop\nnop\nnop\nnop\nmov r0, r1\n" DONE, 0, 0, NULL);
    /* a register that the bundle has nothing to do with, and one that no known way makes true: the text's word */
    lists(".old r5\nadd r1, r0, r2\n" DONE, 0, 0, NULL);
    lists(".old r0\nadd r1, r0, r2\n" DONE, 0, 1, r0);
    /* other people's code says it in the same way; what is only found there is nobody's purpose */
    lists(".foreign\nlda r0, [p0, #0]\n.old r0\nadd r1, r0, r2\nadd r3, r0, r2\n" DONE, 4, 1, r0);
}

static void scheduled_code(void **state)
{
    static const char text[] = ".sched\n.reg p %a, %b\n.reg wl %v\n.in %a = p0, %b = p1\n.loop 40\n"
                               "vld %v, [%a], #32 @a:0\nvst %v, [%b], #32 @b:1\n.endloop\n.endsched\n" DONE;
    struct tw_assembly *a = assemble(text, NULL);
    unsigned stores = 0;

    (void)state;
    assert_int_equal(a->n_errors, 0);
    assert_true(count_listed(a) > 0);
    for (size_t i = 0; i < a->n_old; i++) {
        assert_int_equal(a->old[i].section, 0);
        assert_true(i == 0 || a->old[i - 1].address < a->old[i].address);
        for (size_t k = 0; k < a->old[i].n; k++)
            stores += tw_registers[a->old[i].leaves[k]].group == TW_G_wl;
    }
    assert_true(stores > 0 && stores == count_listed(a)); /* nothing else is late here */
    tw_assembly_free(a);
}

/* ---- the walk */

struct access {
    uint32_t address;
    long issued;
    int leaf, cycle, bypass, slot, write;
};

struct walk {
    const struct tw_assembly *assembly;
    struct tw_random *random;
    struct access accesses[ACCESSES];
    size_t n;
    int64_t loop_start, loop_end, passes;
};

static void note(struct walk *w, const struct access *like, unsigned reg, struct tw_operand_cycle t, int write)
{
    for (unsigned i = 0; i < tw_registers[reg].n_leaves; i++) {
        assert_true(w->n < ACCESSES);
        struct access *a = &w->accesses[w->n++];
        *a = *like;
        a->leaf = tw_registers[reg].leaves[i];
        a->cycle = t.cycle;
        a->bypass = t.bypass;
        a->write = write;
    }
}

static void note_operation(struct walk *w, const struct access *like, const struct tw_operation *op)
{
    const struct tw_instruction *in = &tw_instructions[op->instruction];
    const struct tw_schedule_class *class = tw_operation_schedule(op);
    static const struct tw_operand_cycle first = {1, TW_BYPASS_NONE};
    unsigned n = in->n_operands;

    for (unsigned i = 0; i < n + in->n_defs + in->n_uses; i++) {
        struct tw_operand_cycle t = i < class->n_cycles ? class->cycles[i] : first;
        if (i >= n)
            note(w, like, i < n + in->n_defs ? in->defs[i - n] : in->uses[i - n - in->n_defs], t, i < n + in->n_defs);
        else if (in->operands[i].kind == TW_OPERAND_REGISTER)
            note(w, like, (unsigned)op->operands[i], t, in->operands[i].role == TW_OPERAND_OUT);
    }
    if (n == 2 && op->operands[0] == TW_R_LS)
        w->loop_start = op->operands[1];
    else if (n == 2 && op->operands[0] == TW_R_LE)
        w->loop_end = op->operands[1];
    else if (op->operands[0] == TW_R_LC)
        w->passes = (int64_t)tw_random_range(w->random, 1, 6);
}

/* Where a branch in the bundle leads: -1: on, -2: out of the program. */
static int64_t target_of(struct walk *w, const struct tw_bundle *b)
{
    for (unsigned slot = 0; slot < TW_SLOT_COUNT; slot++) {
        if ((b->slots >> slot & 1) == 0 || (tw_instructions[b->op[slot].instruction].flags & TW_FLAG_BRANCH) == 0)
            continue;
        const struct tw_operation *op = &b->op[slot];
        const struct tw_instruction *in = &tw_instructions[op->instruction];
        for (unsigned i = 0; i < in->n_operands; i++)
            if (in->operands[i].kind == TW_OPERAND_ADDRESS)
                return op->instruction != TW_I_J_jump_imm && tw_random_range(w->random, 0, 1) == 0 ? -1
                                                                                                   : op->operands[i];
        return -2;
    }
    return -1;
}

static void take_walk(struct walk *w)
{
    const struct tw_as_section *s = &w->assembly->sections[0];
    int64_t at = 0, target = -1;
    int left = 0; /* delay slots */

    w->n = 0;
    w->loop_end = -1;
    for (long step = 0; step < STEPS && at >= 0 && at < (int64_t)s->size; step++) {
        struct tw_bundle b;
        int size = tw_bundle_decode(s->bytes + at, s->size - (size_t)at, &b, NULL);
        assert_true(size > 0);
        for (unsigned slot = 0; slot < TW_SLOT_COUNT; slot++)
            if ((b.slots >> slot & 1) != 0)
                note_operation(w, &(struct access){.address = (uint32_t)at, .issued = step, .slot = (int)slot},
                               &b.op[slot]);
        int64_t branch = target_of(w, &b);
        if (branch != -1) {
            target = branch;
            left = TW_DELAY_SLOTS + 1;
        }
        int64_t next = at == w->loop_end && --w->passes > 0 ? w->loop_start : at + size;
        at = left > 0 && --left == 0 ? target : next;
    }
}

/* Whether a write lands no later than an earlier one of its register, which is under way. */
static int overtakes(const struct access *write, const struct access *slow)
{
    return write->leaf == slow->leaf && slow->write && slow->issued < write->issued &&
           slow->issued + slow->cycle > write->issued + write->cycle;
}

/* Whether a read meets a write, not of its own operation, that is under way or has come in between. */
static int meets(const struct access *read, const struct access *write)
{
    int bypass = read->bypass != TW_BYPASS_NONE && read->bypass == write->bypass;
    long visible = write->issued + write->cycle - bypass; /* from then on the new value is there */
    long reads = read->issued + read->cycle - 1;

    if (read->leaf != write->leaf || (read->issued == write->issued && read->slot == write->slot))
        return 0;
    if (write->issued < read->issued)
        return visible > reads;
    if (write->issued == read->issued)
        return read->cycle > 1 || visible <= reads;
    return write->issued <= reads;
}

/* Returns how many uses meet writes. */
static unsigned check_walk(const struct walk *w, unsigned long seed)
{
    unsigned n = 0;

    for (size_t i = 0; i < w->n; i++) {
        const struct access *r = &w->accesses[i];
        size_t k = i;
        while (k > 0 && w->accesses[k - 1].issued + NEAR > r->issued)
            k--;
        for (; k < w->n && w->accesses[k].issued < r->issued + NEAR; k++) {
            const struct access *x = &w->accesses[k];
            if (r->write ? !overtakes(r, x) : !x->write || !meets(r, x))
                continue;
            n++;
            if (is_listed(w->assembly, r->address, (unsigned)r->leaf) != 1)
                fail_msg("program %lu: the use of %s at %#x meets a write at %#x and is not listed", seed,
                         tw_registers[r->leaf].name, (unsigned)r->address, (unsigned)x->address);
        }
    }
    return n;
}

static void every_read_that_meets_a_write_is_listed(void **state)
{
    static char body[TEXT], text[TEXT + 64];
    static struct walk w;
    struct tw_random random = {1};
    unsigned met = 0;

    (void)state;
    for (unsigned long seed = 0; seed < PROGRAMS; seed++) {
        random_sched_text(seed, body, sizeof body);
        snprintf(text, sizeof text, ".sched\n%s\n.endsched\n" DONE, body);
        struct tw_assembly *a = assemble(text, NULL);
        w.assembly = a;
        w.random = &random;
        for (unsigned i = 0; a->n_errors == 0 && i < WALKS; i++) {
            take_walk(&w);
            met += check_walk(&w, seed);
        }
        tw_assembly_free(a);
    }
    print_message("%u uses met writes\n", met);
    assert_true(met > 1000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(what_the_text_says), cmocka_unit_test(scheduled_code),
                                       cmocka_unit_test(every_read_that_meets_a_write_is_listed)};
    return cmocka_run_group_tests_name("old_uses", tests, NULL, NULL);
}
