/*
 * The register file is one block of bytes. Registers that others are made of lie next to each other, low part first, so
 * that each register an operand can name is one piece: x and q of one number for qx, the walks d(i) and d(i+4) for 3D
 * ones. Only what sparse loads write (qwl, qwh) is two pieces.
 */
#include "emu/core/state.h"

/* Bytes from one register of a file to the next. */
enum {
    X_SPARSE = 128, /* x0..x3, with q behind each */
    X_SPARSE_COUNT = 4,
    X_BYTES = 64,
    W_BYTES = 32,
    CM_BYTES = 128,
    AM_BYTES = 32,
    Q_HALF = 8,
    WALK = 16, /* m, dn, dj, dc */
    WALKS_INNER = 4,
    WORD = 4
};

enum {
    AT_X = 0,
    AT_X_PLAIN = AT_X + X_SPARSE * X_SPARSE_COUNT,
    AT_CM = AT_X_PLAIN + 8 * X_BYTES,
    AT_R = AT_CM + 9 * CM_BYTES,
    AT_WALKS = AT_R + 32 * WORD,
    AT_P = AT_WALKS + 8 * WALK,
    AT_S = AT_P + 8 * WORD,
    AT_SPECIAL = AT_S + 4 * WORD,
    AT_CR = AT_SPECIAL + 16 * WORD,
    AT_SR = AT_CR + 16 * WORD,
    AT_CLOCK = AT_SR + 16 * WORD,
    AT_END = AT_CLOCK + 8
};

static unsigned place_of_x(unsigned number)
{
    return number < X_SPARSE_COUNT ? AT_X + X_SPARSE * number : AT_X_PLAIN + X_BYTES * (number - X_SPARSE_COUNT);
}

/* d0 d4 d1 d5 ...: a 3D walk is one piece. */
static unsigned place_of_walk(unsigned number)
{
    return AT_WALKS + WALK * (2 * (number % WALKS_INNER) + number / WALKS_INNER);
}

/* The place of a register that has no parts; CORE_FILE_BYTES for an unknown file. */
static unsigned place_of_leaf(const struct tw_register *r)
{
    unsigned n = r->number;

    switch (r->group) {
    case TW_G_r:
        return AT_R + WORD * n;
    case TW_G_p:
        return AT_P + WORD * n;
    case TW_G_m:
        return place_of_walk(n);
    case TW_G_dn:
        return place_of_walk(n) + WORD;
    case TW_G_dj:
        return place_of_walk(n) + 2 * WORD;
    case TW_G_dc:
        return place_of_walk(n) + 3 * WORD;
    case TW_G_s:
        return AT_S + WORD * n;
    case TW_G_wl:
        return place_of_x(n);
    case TW_G_wh:
        return place_of_x(n) + W_BYTES;
    case TW_G_amll:
        return AT_CM + CM_BYTES * n;
    case TW_G_amlh:
        return AT_CM + CM_BYTES * n + AM_BYTES;
    case TW_G_amhl:
        return AT_CM + CM_BYTES * n + 2 * AM_BYTES;
    case TW_G_amhh:
        return AT_CM + CM_BYTES * n + 3 * AM_BYTES;
    case TW_G_ql:
        return place_of_x(n) + X_BYTES;
    case TW_G_qh:
        return place_of_x(n) + X_BYTES + Q_HALF;
    case TW_G_special:
        return AT_SPECIAL + WORD * n;
    case TW_G_cr:
        return AT_CR + WORD * n;
    case TW_G_sr:
        return AT_SR + WORD * n;
    case TW_G_clock:
        return AT_CLOCK;
    default:
        return CORE_FILE_BYTES;
    }
}

int tw_core_place_registers(struct tw_core *c)
{
    unsigned leaves = 0;

    _Static_assert((int)AT_END <= (int)CORE_FILE_BYTES, "the register file is too small");
    for (unsigned i = 0; i < TW_R_COUNT; i++) {
        const struct tw_register *r = &tw_registers[i];
        unsigned at = place_of_leaf(&tw_registers[r->leaves[0]]), bytes = 0;
        for (unsigned k = 0; k < r->n_leaves; k++)
            bytes += tw_registers[r->leaves[k]].bits <= 32 ? WORD : tw_registers[r->leaves[k]].bits / 8u;
        if (at + bytes > CORE_FILE_BYTES || leaves == CORE_LEAVES_MAX)
            return TW_E_LIMIT;
        c->places[i] = (struct tw_core_place){(uint16_t)at, (uint16_t)bytes, 0};
        if (r->n_leaves == 1) {
            c->leaf_registers[leaves] = (uint16_t)i;
            c->places[i].leaf = (uint8_t)leaves++;
        }
    }
    c->loop_count = tw_core_word(c, TW_R_LC);
    c->loop_start = tw_core_word(c, TW_R_LS);
    c->loop_end = tw_core_word(c, TW_R_LE);
    return 0;
}

/* Control, status and the like have a value before anything is written. */
static int has_reset_value(unsigned reg)
{
    unsigned group = tw_registers[reg].group;
    return group == TW_G_cr || group == TW_G_sr || group == TW_G_clock || reg == TW_R_CORE_ID;
}

void tw_core_reset_registers(struct tw_core *c)
{
    uint32_t id = *tw_core_word(c, TW_R_CORE_ID);

    memset(c->file, 0, sizeof c->file);
    memset(&c->written, 0, sizeof c->written);
    for (unsigned i = 0; i < TW_R_COUNT; i++)
        if (tw_registers[i].n_leaves == 1 && has_reset_value(i))
            tw_core_leaf_add(&c->written, c->places[i].leaf);
    *tw_core_word(c, TW_R_CORE_ID) = id;
    /* Core_CR is 0x1800 after a reset (AM025): the cascade is enabled in both directions. */
    *tw_core_word(c, TW_R_crMCDEn) = 1;
    *tw_core_word(c, TW_R_crSCDEn) = 1;
}

int tw_core_is_sticky(unsigned reg)
{
    return tw_registers[reg].group == TW_G_sr && reg != TW_R_srCarry && reg != TW_R_srMS0 && reg != TW_R_srSS0;
}
