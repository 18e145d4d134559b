/* What each bundle reads, writes and occupies. */
#include "isa/check/state.h"

#include <string.h>

/* The bundle being looked at. */
struct reader {
    struct tw_check *c;
    struct tw_check_summary *s;
    const struct tw_operation *op;
    const struct tw_instruction *in;
    unsigned slot;
};

static int no_memory(struct tw_check *c)
{
    return tw_fail(c->err, TW_E_MEMORY, "no memory to check %u bundles", c->n);
}

/* ---- registers */

static int add_register(struct reader *r, unsigned reg, struct tw_operand_cycle t, int write)
{
    struct tw_check *c = r->c;
    const struct tw_register *info = &tw_registers[reg];

    for (unsigned i = 0; i < info->n_leaves; i++) {
        if (tw_grow(&c->accesses, c->n_accesses, &c->room_accesses, sizeof *c->accesses) != 0)
            return no_memory(c);
        uint16_t leaf = info->leaves[i];
        c->accesses[c->n_accesses++] =
            (struct tw_check_access){leaf, (uint16_t)reg, t.cycle, t.bypass, (uint8_t)r->slot, (uint8_t)write};
        r->s->n_accesses++;
        r->s->touched[leaf / 64] |= (uint64_t)1 << leaf % 64;
        if (write)
            r->s->written[leaf / 64] |= (uint64_t)1 << leaf % 64;
    }
    if (t.cycle > r->s->reach)
        r->s->reach = t.cycle;
    return 0;
}

static struct tw_operand_cycle cycle_of(const struct tw_schedule_class *class, unsigned i)
{
    static const struct tw_operand_cycle first = {1, TW_BYPASS_NONE};
    return i < class->n_cycles ? class->cycles[i] : first;
}

static int add_registers(struct reader *r, const struct tw_schedule_class *class)
{
    const struct tw_instruction *in = r->in;

    for (unsigned i = 0; i < in->n_operands; i++) {
        const struct tw_operand_info *o = &in->operands[i];
        if (o->kind == TW_OPERAND_REGISTER &&
            add_register(r, (unsigned)r->op->operands[i], cycle_of(class, i), o->role == TW_OPERAND_OUT) < 0)
            return TW_E_MEMORY;
    }
    for (unsigned i = 0; i < (unsigned)in->n_defs + in->n_uses; i++) {
        int write = i < in->n_defs;
        unsigned reg = write ? in->defs[i] : in->uses[i - in->n_defs];
        if (add_register(r, reg, cycle_of(class, in->n_operands + i), write) < 0)
            return TW_E_MEMORY;
    }
    return 0;
}

/* ---- units and memory */

static int add_units(struct reader *r, const struct tw_schedule_class *class)
{
    struct tw_check *c = r->c;

    for (unsigned i = 0; i < class->n_resources; i++) {
        const struct tw_resource_use *u = &class->resources[i];
        if (!tw_operation_takes_unit(r->op, u->unit))
            continue;
        if (tw_grow(&c->uses, c->n_uses, &c->room_uses, sizeof *c->uses) != 0)
            return no_memory(c);
        c->uses[c->n_uses++] = (struct tw_check_use){u->unit, u->first, u->last, u->avoid, (uint8_t)r->slot};
        r->s->n_uses++;
        if (u->last > r->s->reach)
            r->s->reach = u->last;
    }
    return 0;
}

static int add_memory(struct reader *r, const struct tw_schedule_class *class)
{
    struct tw_check *c = r->c;

    if (class->memory_first == 0)
        return 0;
    if (tw_grow(&c->memory, c->n_memory, &c->room_memory, sizeof *c->memory) != 0)
        return no_memory(c);
    int stores = (r->in->flags & TW_FLAG_STORE) != 0;
    c->memory[c->n_memory++] =
        (struct tw_check_memory){(uint8_t)r->slot, class->memory_first, class->memory_last, (uint8_t)stores};
    r->s->n_memory++;
    r->s->part_word |= stores && (r->in->flags & TW_FLAG_LOAD) != 0;
    if (class->memory_last > r->s->reach)
        r->s->reach = class->memory_last;
    return 0;
}

/* ---- addresses of code */

static int tracked(unsigned reg)
{
    if (reg >= TW_R_p0 && reg <= TW_R_p7)
        return CHECK_P0 + (int)(reg - TW_R_p0);
    return reg == TW_R_LS ? CHECK_LS : reg == TW_R_LE ? CHECK_LE : reg == TW_R_lr ? CHECK_LR : -1;
}

/* The number of an address in the list, or CHECK_ANY when the list is full or it is no address of code. */
static uint8_t value_number(struct tw_check *c, int64_t address)
{
    if (address < 0 || address >= TW_PROGRAM_BYTES)
        return CHECK_ANY;
    for (uint32_t i = 0; i < c->n_values; i++)
        if (c->values[i] == (uint32_t)address)
            return (uint8_t)(CHECK_FIRST_VALUE + i);
    if (c->n_values == CHECK_VALUES_MAX)
        return CHECK_ANY;
    c->values[c->n_values++] = (uint32_t)address;
    return (uint8_t)(CHECK_FIRST_VALUE + c->n_values - 1);
}

static int add_move(struct reader *r, int register_number, uint8_t value)
{
    struct tw_check *c = r->c;

    if (tw_grow(&c->moves, c->n_moves, &c->room_moves, sizeof *c->moves) != 0)
        return no_memory(c);
    c->moves[c->n_moves++] = (struct tw_check_move){(uint8_t)register_number, value};
    r->s->n_moves++;
    return 0;
}

/* Whether an operation only moves an immediate into its one output; *value gets it. */
static int is_constant(const struct reader *r, int64_t *value)
{
    unsigned outputs = 0, immediates = 0;

    if (r->in->n_uses > 0 || r->in->n_defs > 0 || (r->in->flags & TW_FLAG_LOAD) != 0)
        return 0;
    for (unsigned i = 0; i < r->in->n_operands; i++) {
        const struct tw_operand_info *o = &r->in->operands[i];
        if (o->kind == TW_OPERAND_REGISTER) {
            if (o->role != TW_OPERAND_OUT)
                return 0;
            outputs++;
        } else {
            immediates++;
            *value = r->op->operands[i];
        }
    }
    return outputs == 1 && immediates == 1;
}

/* Notes what an operation does to registers whose values are followed. */
static int add_moves(struct reader *r, size_t first_access)
{
    struct tw_check *c = r->c;
    int64_t value = 0;
    int constant = is_constant(r, &value);

    for (size_t i = first_access; i < c->n_accesses; i++) {
        const struct tw_check_access *a = &c->accesses[i];
        int number = a->write ? tracked(a->leaf) : -1;
        r->s->sets_loop |= a->write && (a->leaf == TW_R_LC || a->leaf == TW_R_LS || a->leaf == TW_R_LE);
        if (number >= 0 && add_move(r, number, constant ? value_number(c, value) : CHECK_ANY) < 0)
            return TW_E_MEMORY;
    }
    return 0;
}

/* ---- branches */

static void add_branch(struct reader *r)
{
    struct tw_check_summary *s = r->s;
    unsigned in = r->op->instruction;

    s->branches++;
    s->branch = in == TW_I_JL || in == TW_I_JL_IND                                 ? CHECK_CALL
                : in == TW_I_J_jump_imm || in == TW_I_J_jump_ind || in == TW_I_RET ? CHECK_JUMP
                                                                                   : CHECK_CONDITION;
    s->tracked_target = in == TW_I_RET ? CHECK_LR : -1;
    for (unsigned i = 0; i < r->in->n_operands; i++) {
        const struct tw_operand_info *o = &r->in->operands[i];
        if (o->kind == TW_OPERAND_ADDRESS)
            s->target = (uint32_t)r->op->operands[i];
        else if (o->kind == TW_OPERAND_REGISTER && o->role == TW_OPERAND_IN &&
                 tw_registers[r->op->operands[i]].group == TW_G_p)
            s->tracked_target = (int8_t)tracked((unsigned)r->op->operands[i]);
    }
}

/* ---- bundles */

static int summarise_operation(struct reader *r)
{
    struct tw_check *c = r->c;
    const struct tw_schedule_class *class = tw_operation_schedule(r->op);
    size_t first = c->n_accesses;

    if (add_registers(r, class) < 0 || add_units(r, class) < 0 || add_memory(r, class) < 0 || add_moves(r, first) < 0)
        return TW_E_MEMORY;
    if ((r->in->flags & TW_FLAG_BRANCH) != 0)
        add_branch(r);
    r->s->lock |= (r->in->flags & TW_FLAG_LOCK) != 0;
    if (r->s->lock && r->s->reach < TW_LOCK_CYCLE_AFTER)
        r->s->reach = TW_LOCK_CYCLE_AFTER;
    r->s->done |= r->op->instruction == TW_I_DONE;
    return 0;
}

static int summarise(struct tw_check *c, uint32_t i)
{
    const struct tw_check_bundle *b = &c->bundles[i];
    struct tw_check_summary *s = &c->summaries[i];
    struct tw_bundle bundle;

    if ((i > 0 && b->address < b[-1].address + b[-1].size) ||
        tw_bundle_decode(b->code, b->size, &bundle, NULL) != b->size)
        return tw_fail(c->err, TW_E_FORMAT,
                       "bundle %u at 0x%x does not decode or lies before the end of the one before", i, b->address);
    s->accesses = (uint32_t)c->n_accesses;
    s->uses = (uint32_t)c->n_uses;
    s->memory = (uint32_t)c->n_memory;
    s->moves = (uint32_t)c->n_moves;
    s->tracked_target = -1;
    s->follows = i > 0 && b->address == b[-1].address + b[-1].size;
    for (unsigned slot = 0; slot < TW_SLOT_COUNT; slot++) {
        if ((bundle.slots >> slot & 1) == 0)
            continue;
        const struct tw_operation *op = &bundle.op[slot];
        struct reader r = {c, s, op, &tw_instructions[op->instruction], slot};
        if (summarise_operation(&r) < 0)
            return TW_E_MEMORY;
    }
    if (s->n_memory > 0 && s->reach < TW_DONE_DISTANCE)
        s->reach = TW_DONE_DISTANCE;
    return 0;
}

/* A call leaves the address behind its delay slots in lr. */
static void set_links(struct tw_check *c)
{
    for (uint32_t i = 0; i < c->n; i++) {
        const struct tw_check_summary *s = &c->summaries[i];
        uint32_t back = i + TW_DELAY_SLOTS + 1;
        if (s->branch != CHECK_CALL || back >= c->n)
            continue;
        for (unsigned m = 0; m < s->n_moves; m++)
            if (c->moves[s->moves + m].tracked == CHECK_LR)
                c->moves[s->moves + m].value = value_number(c, c->bundles[back].address);
    }
}

/* Notes which bundles lie at addresses of the list. */
static void set_values(struct tw_check *c)
{
    for (uint32_t i = 0; i < c->n; i++)
        c->summaries[i].value = CHECK_ANY;
    for (uint32_t v = 0; v < c->n_values; v++) {
        int32_t i = tw_check_find(c, c->values[v]);
        if (i >= 0)
            c->summaries[i].value = (uint8_t)(CHECK_FIRST_VALUE + v);
    }
}

int tw_check_summarise(struct tw_check *c)
{
    for (uint32_t i = 0; i < c->n; i++) {
        int code = summarise(c, i);
        if (code < 0)
            return code;
    }
    set_links(c);
    set_values(c);
    return 0;
}
