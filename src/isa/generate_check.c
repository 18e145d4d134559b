/* Checks of the tables that need more than one column or line: these are what makes encoding and decoding exact. */
#include "isa/generate.h"

#include <string.h>

/* Marks bits low..high of *seen; returns 1 when one of them was marked before. */
static int mark(struct wide *seen, unsigned low, unsigned high)
{
    int twice = 0;
    for (unsigned b = low; b <= high && b < 128; b++) {
        uint64_t bit = (uint64_t)1 << b % 64;
        twice |= (seen->word[b / 64] & bit) != 0;
        seen->word[b / 64] |= bit;
    }
    return twice;
}

/* Marks the bits of a mask; as mark. */
static int mark_mask(struct wide *seen, const struct wide *mask)
{
    int twice = (seen->word[0] & mask->word[0]) != 0 || (seen->word[1] & mask->word[1]) != 0;
    seen->word[0] |= mask->word[0];
    seen->word[1] |= mask->word[1];
    return twice;
}

/* Whether exactly the lowest `bits` bits are marked. */
static int is_full(const struct wide *seen, unsigned bits)
{
    struct wide all = {{0, 0}};
    mark(&all, 0, bits - 1);
    return seen->word[0] == all.word[0] && seen->word[1] == all.word[1];
}

/* ---- formats */

/* The size of a bundle by the low bits of its first byte; decode.c knows the same rule. */
static unsigned announced_bytes(unsigned first)
{
    static const unsigned char odd[16] = {0, 2, 0, 8, 0, 6, 0, 12, 0, 4, 0, 10, 0, 6, 0, 14};
    return first % 2 == 0 ? 16 : odd[first % 16];
}

static void check_format(struct tables *t, const struct format *f)
{
    struct wide seen = f->mask;
    int twice = mark_mask(&seen, &f->unused);

    for (int s = 0; s < SLOTS; s++) {
        if ((f->slots >> s & 1) == 0)
            continue;
        twice |= mark(&seen, f->place[s].low, f->place[s].high);
        if (f->place[s].high - f->place[s].low + 1 != slot_bits[s])
            fault(t, f->at, "slot %s has %u bits, not %u", slot_names[s], slot_bits[s],
                  f->place[s].high - f->place[s].low + 1);
    }
    if (twice)
        fault(t, f->at, "a bit of %s is in two of mask, unused and slots", f->name);
    if (!is_full(&seen, f->bytes * 8))
        fault(t, f->at, "the bits of %s in mask, unused and slots are not all of its %u", f->name, f->bytes * 8);
    if ((f->value.word[0] & ~f->mask.word[0]) != 0 || (f->value.word[1] & ~f->mask.word[1]) != 0)
        fault(t, f->at, "value of %s has bits outside mask", f->name);
    if (f->mask.word[1] != 0)
        fault(t, f->at, "mask of %s reaches beyond bit 63; the decoder's index looks at the low 64 only", f->name);
    if (announced_bytes((unsigned)f->value.word[0] & 15) != f->bytes)
        fault(t, f->at, "the lowest bits of %s announce %u bytes, not %u", f->name,
              announced_bytes((unsigned)f->value.word[0] & 15), f->bytes);
    if ((f->slots >> 6 & 1) != 0 && (f->slots & (1u << 3 | 1u << 4)) != 0)
        fault(t, f->at, "slot lng takes the place of alu and mv; %s has both", f->name);
}

static void check_formats(struct tables *t)
{
    for (unsigned i = 0; i < t->n_formats; i++) {
        const struct format *f = &t->formats[i];
        check_format(t, f);
        for (unsigned j = 0; j < i; j++) {
            const struct format *g = &t->formats[j];
            if (strcmp(f->name, g->name) == 0)
                fault(t, f->at, "format %s twice", f->name);
            if (f->slots == g->slots)
                fault(t, f->at, "%s and %s carry the same slots; text could not tell them apart", f->name, g->name);
            if (((f->value.word[0] ^ g->value.word[0]) & f->mask.word[0] & g->mask.word[0]) == 0)
                fault(t, f->at, "a bundle could be both %s and %s", f->name, g->name);
        }
    }
    if (t->n_formats == 0)
        fault(t, (struct spot){FILE_FORMATS, 1}, "no formats");
}

/* ---- registers */

static void check_class(struct tables *t, const struct reg_class *c)
{
    for (unsigned i = 0; i < 1u << c->bits; i++)
        for (unsigned j = 0; j < i; j++)
            if (c->by_value[i] >= 0 && c->by_value[i] == c->by_value[j])
                fault(t, c->at, "%s has %s at the values %u and %u", c->name, t->registers[c->by_value[i]].name, j, i);
}

/* ---- instructions */

/* Whether the syntax shows an operand, or one that is the same register. */
static int is_written(const struct instruction *in, unsigned operand)
{
    for (unsigned p = 0; p < in->n_pieces; p++) {
        int shown = in->pieces[p].operand;
        if (shown == (int)operand || (shown >= 0 && in->operands[shown].tied_to == (int)operand))
            return 1;
    }
    return 0;
}

static void check_operand(struct tables *t, const struct instruction *in, unsigned number)
{
    const struct operand *o = &in->operands[number];

    if (o->role == ROLE_TIED &&
        (in->operands[o->tied_to].role != ROLE_OUT || in->operands[o->tied_to].reg_class != o->reg_class))
        fault(t, in->at, "operand %s is not tied to an output of its class", o->name);
    if (o->leaf_of >= 0 && in->operands[o->leaf_of].role != ROLE_INOUT)
        fault(t, in->at, "operand %s is a leaf of %s, which is not inout", o->name, in->operands[o->leaf_of].name);
    if (o->n_ranges > 0 && !is_written(in, number))
        fault(t, in->at, "the syntax does not show operand %s", o->name);
    if (o->role == ROLE_OUT && number > 0 && in->operands[number - 1].role != ROLE_OUT)
        fault(t, in->at, "output %s stands after an input", o->name);
    if (o->kind != KIND_REGISTER && o->role != ROLE_IN)
        fault(t, in->at, "operand %s is an immediate and can only be read", o->name);
    if (o->kind != KIND_REGISTER && o->n_ranges == 0)
        fault(t, in->at, "operand %s lacks its bits", o->name);
}

static void check_bits(struct tables *t, const struct instruction *in)
{
    struct wide seen = {{in->mask, 0}}, unused = {{in->unused, 0}};
    int twice = mark_mask(&seen, &unused);

    for (unsigned i = 0; i < in->n_operands; i++)
        for (unsigned r = 0; r < in->operands[i].n_ranges; r++)
            twice |= mark(&seen, in->operands[i].ranges[r].low, in->operands[i].ranges[r].high);
    if (twice)
        fault(t, in->at, "a bit of %s is in two of mask, unused and operands", in->name);
    if (!is_full(&seen, slot_bits[in->slot]))
        fault(t, in->at, "the bits of %s in mask, unused and operands are not all %u of slot %s", in->name,
              slot_bits[in->slot], slot_names[in->slot]);
    if ((in->value & ~in->mask) != 0)
        fault(t, in->at, "value of %s has bits outside mask", in->name);
}

/* The names that an instruction has for the cycles of its class: operands, then registers without one. */
static const char *cycle_name(const struct tables *t, const struct instruction *in, unsigned i)
{
    if (i < in->n_operands)
        return in->operands[i].name;
    i -= in->n_operands;
    if (i < in->n_defs)
        return t->registers[in->defs[i]].name;
    return t->registers[in->uses[i - in->n_defs]].name;
}

static void check_cycles(struct tables *t, const struct instruction *in)
{
    const struct schedule *s = &t->schedules[in->schedule];
    unsigned n = in->n_operands + in->n_defs + in->n_uses;

    if (n < s->n_required || n > s->n_cycles) {
        fault(t, in->at, "%s has %u operands and registers, schedule class %s has cycles for %u to %u", in->name, n,
              s->name, s->n_required, s->n_cycles);
        return;
    }
    for (unsigned i = s->n_required; i < n; i++)
        if (strcmp(cycle_name(t, in, i), s->cycles[i].name) != 0)
            fault(t, in->at, "%s has %s where schedule class %s has %s", in->name, cycle_name(t, in, i), s->name,
                  s->cycles[i].name);
}

static void check_instructions(struct tables *t)
{
    for (unsigned i = 0; i < t->n_instructions; i++) {
        const struct instruction *in = &t->instructions[i];
        for (unsigned j = 0; j < in->n_operands; j++)
            check_operand(t, in, j);
        check_bits(t, in);
        check_cycles(t, in);
        for (unsigned j = 0; j < i; j++)
            if (strcmp(in->name, t->instructions[j].name) == 0)
                fault(t, in->at, "instruction %s twice", in->name);
    }
}

static void check_variants(struct tables *t)
{
    for (unsigned i = 0; i < t->n_variants; i++) {
        const struct variant *v = &t->variants[i];
        const struct schedule *from = &t->schedules[v->from], *to = &t->schedules[v->to];
        if (from->n_cycles != to->n_cycles)
            fault(t, v->at, "%s has %u cycles, its variant %s has %u", from->name, from->n_cycles, to->name,
                  to->n_cycles);
        for (unsigned c = 0; c < v->n_conditions; c++)
            if (v->operand[c] >= from->n_cycles)
                fault(t, v->at, "%s has no operand %u", from->name, v->operand[c]);
    }
}

/* Every slot that a format carries needs its nop, to fill what a program leaves empty. */
static void check_nops(struct tables *t)
{
    const unsigned nop = 1u << 7;
    for (unsigned s = 0; s < SLOTS; s++) {
        unsigned n = 0;
        for (unsigned i = 0; i < t->n_instructions; i++)
            n += t->instructions[i].slot == s && (t->instructions[i].flags & nop) != 0;
        if (n != 1)
            fault(t, (struct spot){FILE_INSTRUCTIONS, 1}, "slot %s has %u instructions with the flag nop, not one",
                  slot_names[s], n);
    }
}

void check_tables(struct tables *t)
{
    check_formats(t);
    for (unsigned i = 0; i < t->n_classes; i++)
        check_class(t, &t->classes[i]);
    check_instructions(t);
    check_variants(t);
    check_nops(t);
}
