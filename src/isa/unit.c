/* Which of its schedule class's units an operation takes. */
#include "isa/isa.h"

#include <string.h>

#define G(name) ((uint64_t)1 << TW_G_##name)

/*
 * Ports of register files. The schedule classes cover operations that reach several files (moves, loads and stores of
 * any scalar register), and then name more ports than one such operation takes: programs that AMD compiled show that a
 * port only counts for an operation with a register of its file. Those that are not here count always.
 */
static const struct {
    uint16_t unit;
    uint8_t write;
    uint64_t groups;
} ports[] = {
    {TW_U_R_WX_PORT, 1, G(r)},
    {TW_U_R_WA_PORT, 1, G(r)},
    {TW_U_RS_WM_PORT, 1, G(r) | G(s)},
    {TW_U_P_WM_PORT, 1, G(p)},
    {TW_U_M_WM_PORT, 1, G(m)},
    {TW_U_DJ_WM_PORT, 1, G(dj)},
    {TW_U_DN_WM_PORT, 1, G(dn)},
    {TW_U_DC_WM_PORT, 1, G(dc)},
    {TW_U_W_WM_PORT, 1, G(wl) | G(wh) | G(ql) | G(qh)},
    {TW_U_CM_WM_PORT, 1, G(amll) | G(amlh) | G(amhl) | G(amhh)},
    {TW_U_P_RM_PORT, 0, G(p)},
    {TW_U_R_RV_PORT, 0, G(r)},
};

/* Whether an operation reads or writes a register of some files; the pointer of an access to memory has its own port.
 */
static int touches(const struct tw_operation *op, int write, uint64_t groups)
{
    const struct tw_instruction *in = &tw_instructions[op->instruction];

    for (unsigned i = 0; i < in->n_operands; i++) {
        const struct tw_operand_info *o = &in->operands[i];
        if (o->kind != TW_OPERAND_REGISTER || (o->role == TW_OPERAND_OUT) != write || strcmp(o->name, "ptr") == 0)
            continue;
        const struct tw_register *reg = &tw_registers[op->operands[i]];
        for (unsigned k = 0; k < reg->n_leaves; k++)
            if ((groups >> tw_registers[reg->leaves[k]].group & 1) != 0)
                return 1;
    }
    return 0;
}

int tw_operation_takes_unit(const struct tw_operation *op, unsigned unit)
{
    for (unsigned i = 0; i < sizeof ports / sizeof ports[0]; i++)
        if (ports[i].unit == unit)
            return touches(op, ports[i].write, ports[i].groups);
    return 1;
}
