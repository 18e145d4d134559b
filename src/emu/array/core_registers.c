/* The core's registers as addresses of its tile, for those who look at it from outside. By AM025. */
#include "base/little_endian.h"
#include "emu/array/core_seat.h"
#include "emu/array/state.h"
#include "isa/isa.h"
#include "npu1_registers.h"

/* Registers of one file: where the first lies, the distance, how many, and bytes of each. */
static const struct file {
    uint32_t offset, step;
    uint16_t n, first, bytes;
} files[] = {
    {TW_REG_CORE_CORE_AMLL_PART, TW_REG_CORE_CORE_AMLL_PART_STEP, 9, TW_R_amll0, 32},
    {TW_REG_CORE_CORE_AMLH_PART, TW_REG_CORE_CORE_AMLH_PART_STEP, 9, TW_R_amlh0, 32},
    {TW_REG_CORE_CORE_AMHL_PART, TW_REG_CORE_CORE_AMHL_PART_STEP, 9, TW_R_amhl0, 32},
    {TW_REG_CORE_CORE_AMHH_PART, TW_REG_CORE_CORE_AMHH_PART_STEP, 9, TW_R_amhh0, 32},
    {TW_REG_CORE_CORE_WL_PART, TW_REG_CORE_CORE_WL_PART_STEP, 12, TW_R_wl0, 32},
    {TW_REG_CORE_CORE_WH_PART, TW_REG_CORE_CORE_WH_PART_STEP, 12, TW_R_wh0, 32},
    {TW_REG_CORE_CORE_R, TW_REG_CORE_CORE_R_STEP, 32, TW_R_r0, 4},
    {TW_REG_CORE_CORE_M, TW_REG_CORE_CORE_M_STEP, 8, TW_R_m0, 4},
    {TW_REG_CORE_CORE_DN, TW_REG_CORE_CORE_DN_STEP, 8, TW_R_dn0, 4},
    {TW_REG_CORE_CORE_DJ, TW_REG_CORE_CORE_DJ_STEP, 8, TW_R_dj0, 4},
    {TW_REG_CORE_CORE_DC, TW_REG_CORE_CORE_DC_STEP, 8, TW_R_dc0, 4},
    {TW_REG_CORE_CORE_P, TW_REG_CORE_CORE_P_STEP, 8, TW_R_p0, 4},
    {TW_REG_CORE_CORE_S, TW_REG_CORE_CORE_S_STEP, 4, TW_R_s0, 4},
    {TW_REG_CORE_CORE_Q, TW_REG_CORE_CORE_Q_STEP, 4, TW_R_q0, 16},
    {TW_REG_CORE_CORE_SP, 16, 1, TW_R_SP, 4},
    {TW_REG_CORE_CORE_LR, 16, 1, TW_R_lr, 4},
    {TW_REG_CORE_CORE_LS, 16, 1, TW_R_LS, 4},
    {TW_REG_CORE_CORE_LE, 16, 1, TW_R_LE, 4},
    {TW_REG_CORE_CORE_LC, 16, 1, TW_R_LC, 4},
    {TW_REG_CORE_CORE_DP, 16, 1, TW_R_DP, 4},
};

/* Control and status are fields that the instruction set has as registers of their own. */
static const struct part {
    uint32_t offset;
    uint16_t reg;
    uint8_t low;
} parts[] = {
    {TW_REG_CORE_CORE_CR, TW_R_crSat, 0},         {TW_REG_CORE_CORE_CR, TW_R_crRnd, 2},
    {TW_REG_CORE_CORE_CR, TW_R_crFPMask, 6},      {TW_REG_CORE_CORE_CR, TW_R_crMCDEn, 11},
    {TW_REG_CORE_CORE_CR, TW_R_crSCDEn, 12},      {TW_REG_CORE_CORE_CR, TW_R_crVaddSign, 13},
    {TW_REG_CORE_CORE_CR, TW_R_crUnpackSign, 14}, {TW_REG_CORE_CORE_CR, TW_R_crPackSign, 15},
    {TW_REG_CORE_CORE_CR, TW_R_crUPSSign, 16},    {TW_REG_CORE_CORE_CR, TW_R_crSRSSign, 17},
    {TW_REG_CORE_CORE_CR, TW_R_crF2IMask, 18},    {TW_REG_CORE_CORE_CR, TW_R_crF2FMask, 23},
    {TW_REG_CORE_CORE_SR, TW_R_srCarry, 0},       {TW_REG_CORE_CORE_SR, TW_R_srSS0, 1},
    {TW_REG_CORE_CORE_SR, TW_R_srMS0, 3},         {TW_REG_CORE_CORE_SR, TW_R_srSRS_of, 4},
    {TW_REG_CORE_CORE_SR, TW_R_srUPS_of, 5},      {TW_REG_CORE_CORE_SR, TW_R_srCompr_uf, 6},
    {TW_REG_CORE_CORE_SR, TW_R_srFPFlags, 7},     {TW_REG_CORE_CORE_SR, TW_R_srF2IFlags, 12},
    {TW_REG_CORE_CORE_SR, TW_R_srF2FFlags, 17},   {TW_REG_CORE_CORE_SR, TW_R_srSparse_of, 22},
};

/* The file that an offset lies in; its register and the word of it. */
static const struct file *file_at(uint32_t offset, uint16_t *reg, uint32_t *word)
{
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        const struct file *f = &files[i];
        uint32_t distance = offset - f->offset;
        if (offset < f->offset || distance / f->step >= f->n || distance % f->step >= f->bytes)
            continue;
        *reg = (uint16_t)(f->first + distance / f->step);
        *word = distance % f->step;
        return f;
    }
    return NULL;
}

enum { REGISTER_BYTES = 32 /* the largest */ };

int tw_core_seat_read(const struct tw_core_seat *seat, uint32_t offset, uint32_t *value)
{
    unsigned char bytes[REGISTER_BYTES] = {0};
    uint16_t reg;
    uint32_t word;
    const struct file *f = file_at(offset, &reg, &word);
    if (f != NULL) {
        tw_core_register_read(seat->core, reg, bytes, f->bytes);
        *value = tw_load_u32(bytes + word);
        return 1;
    }
    int found = 0;
    *value = 0;
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        if (parts[i].offset == offset) {
            uint32_t field = 0;
            tw_core_register_read(seat->core, parts[i].reg, &field, sizeof field);
            *value |= field << parts[i].low;
            found = 1;
        }
    return found;
}

int tw_core_seat_write(struct tw_core_seat *seat, uint32_t offset, uint32_t value)
{
    unsigned char bytes[REGISTER_BYTES] = {0};
    uint16_t reg;
    uint32_t word;
    const struct file *f = file_at(offset, &reg, &word);
    if (f != NULL) {
        tw_core_register_read(seat->core, reg, bytes, f->bytes);
        tw_store_u32(bytes + word, value);
        tw_core_register_write(seat->core, reg, bytes, f->bytes);
        return 1;
    }
    int found = 0;
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        if (parts[i].offset == offset) {
            uint32_t field = value >> parts[i].low & (UINT32_MAX >> (32 - tw_registers[parts[i].reg].bits));
            tw_core_register_write(seat->core, parts[i].reg, &field, sizeof field);
            found = 1;
        }
    return found;
}
