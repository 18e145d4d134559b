/* The kinds of registers that scheduled text can ask for. */
#include "isa/sched/program.h"

#define G(name) ((uint64_t)1 << TW_G_##name)

const struct tw_sched_kind tw_sched_kinds[] = {
    {"r", G(r), 1, 1, {{"", 0, 1, 0}}},
    {"l", G(l), 2, 3, {{"", 0, 2, 0}, {"l", 0, 1, 0}, {"h", 1, 1, 0}}},
    {"p", G(p), 1, 1, {{"", 0, 1, 0}}},
    {"m", G(m), 1, 1, {{"", 0, 1, 0}}},
    {"dn", G(dn), 1, 1, {{"", 0, 1, 0}}},
    {"dj", G(dj), 1, 1, {{"", 0, 1, 0}}},
    {"dc", G(dc), 1, 1, {{"", 0, 1, 0}}},
    {"s", G(s), 1, 1, {{"", 0, 1, 0}}},
    {"d", G(d), 4, 5, {{"", 0, 4, 0}, {"m", 0, 1, 0}, {"dn", 1, 1, 0}, {"dj", 2, 1, 0}, {"dc", 3, 1, 0}}},
    {"d3",
     G(d3),
     8,
     9,
     {{"", 0, 8, 0},
      {"m", 0, 1, 0},
      {"dn", 1, 1, 0},
      {"dj", 2, 1, 0},
      {"dc", 3, 1, 0},
      {"m2", 4, 1, 0},
      {"dn2", 5, 1, 0},
      {"dj2", 6, 1, 0},
      {"dc2", 7, 1, 0}}},
    {"wl", G(wl), 1, 2, {{"", 0, 1, 0}, {"x", 0, 1, 1}}},
    {"wh", G(wh), 1, 2, {{"", 0, 1, 0}, {"x", 0, 1, 1}}},
    {"x", G(x), 2, 3, {{"", 0, 2, 0}, {"l", 0, 1, 0}, {"h", 1, 1, 0}}},
    {"am", G(amll) | G(amlh) | G(amhl) | G(amhh), 1, 1, {{"", 0, 1, 0}}},
    {"bm", G(bml) | G(bmh), 2, 3, {{"", 0, 2, 0}, {"l", 0, 1, 0}, {"h", 1, 1, 0}}},
    {"cm",
     G(cm),
     4,
     7,
     {{"", 0, 4, 0},
      {"l", 0, 2, 0},
      {"h", 2, 2, 0},
      {"ll", 0, 1, 0},
      {"lh", 1, 1, 0},
      {"hl", 2, 1, 0},
      {"hh", 3, 1, 0}}},
};
const unsigned tw_sched_kind_count = sizeof tw_sched_kinds / sizeof tw_sched_kinds[0];

/* The x register around a half. */
static int around(uint16_t half)
{
    for (int x = TW_R_x0; x <= TW_R_x11; x++)
        if (tw_registers[x].leaves[0] == half || tw_registers[x].leaves[1] == half)
            return x;
    return -1;
}

static int has_leaves(int reg, const uint16_t *leaves, unsigned count)
{
    if (tw_registers[reg].n_leaves != count)
        return 0;
    for (unsigned i = 0; i < count; i++)
        if (tw_registers[reg].leaves[i] != leaves[i])
            return 0;
    return 1;
}

int tw_sched_part(const struct tw_sched_program *p, uint16_t reg, const struct tw_sched_part *part)
{
    const struct tw_register *r = &tw_registers[reg];

    if (part->wide)
        return around(reg);
    if (part->first == 0 && part->count == r->n_leaves)
        return reg;
    for (int sub = p->first_with[r->leaves[part->first]]; sub >= 0; sub = p->next_of[sub])
        if (has_leaves(sub, r->leaves + part->first, part->count))
            return sub;
    return -1;
}

void tw_sched_list_registers(struct tw_sched_program *p)
{
    for (int reg = 0; reg < TW_R_COUNT; reg++)
        p->first_with[reg] = -1;
    for (int reg = TW_R_COUNT - 1; reg >= 0; reg--) {
        uint16_t leaf = tw_registers[reg].leaves[0];
        p->next_of[reg] = p->first_with[leaf];
        p->first_with[leaf] = (int16_t)reg;
    }
    for (unsigned k = 0; k < tw_sched_kind_count; k++)
        for (int reg = 0; reg < TW_R_COUNT; reg++)
            if ((tw_sched_kinds[k].groups >> tw_registers[reg].group & 1) != 0 && p->n_registers[k] < SCHED_CANDIDATES)
                p->registers[k][p->n_registers[k]++] = (uint16_t)reg;
    /* r16 and up fit more operands than the others: they come first where any will do, as placeholders. */
    for (unsigned i = 0; i < 32; i++)
        p->registers[0][i] = (uint16_t)(TW_R_r0 + (i + 16) % 32);
}
