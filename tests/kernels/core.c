#include "kernels/core.h"

#include "kernels/twin_float.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FLIGHT = 16, PENDING = 64, IN_FLIGHT = 128, LINE = 32, LONGEST = 1000000, BANKS = 4, BANK_BYTES = 16384 };

/* The content of a smallest register; scalars use the first 4 bytes. */
struct content {
    uint8_t bytes[LINE];
};

/* A write that lands in a cycle. */
struct landing {
    long cycle;
    int bypass;
    struct content content;
};

struct leaf {
    struct content now;
    struct landing pending[PENDING];
    int n;
};

/* An operation under way, with what it has read. */
struct flight {
    const struct tw_operation *op;
    struct tw_operation copy;
    long issued;
    uint32_t address;
    uint8_t s1[2 * LINE], s2[2 * LINE], acc[4 * LINE], data[LINE];
};

struct core {
    struct leaf leaves[TW_R_COUNT];
    struct flight flights[IN_FLIGHT];
    int n_flights;
    uint8_t memory[CORE_MEMORY];
    long cycle;
    unsigned banks; /* in use in this cycle */
    char *text;
    int failed;
};

struct core *core_make(void)
{
    return calloc(1, sizeof(struct core));
}

void core_free(struct core *c)
{
    free(c);
}

uint8_t *core_memory(struct core *c)
{
    return c->memory;
}

static void fail(struct core *c, const char *fmt, ...) TW_PRINTF(2, 3);
static void fail(struct core *c, const char *fmt, ...)
{
    va_list args;

    if (c->failed)
        return;
    c->failed = 1;
    va_start(args, fmt);
    vsnprintf(c->text, 256, fmt, args);
    va_end(args);
}

/* ---- registers */

static struct content read_leaf(const struct core *c, uint16_t leaf, int bypass)
{
    const struct leaf *l = &c->leaves[leaf];
    struct content value = l->now;

    for (int i = 0; i < l->n; i++)
        if (l->pending[i].cycle == c->cycle && bypass != TW_BYPASS_NONE && l->pending[i].bypass == bypass)
            value = l->pending[i].content;
    return value;
}

static void land_leaf(struct core *c, uint16_t leaf, long cycle, int bypass, const void *bytes, size_t size)
{
    struct leaf *l = &c->leaves[leaf];

    if (l->n == PENDING) {
        fail(c, "too many writes of %s are under way", tw_registers[leaf].name);
        return;
    }
    struct landing *w = &l->pending[l->n++];
    memset(w, 0, sizeof *w);
    w->cycle = cycle;
    w->bypass = bypass;
    memcpy(w->content.bytes, bytes, size);
}

/* Lets the writes of the cycle that ends become visible. */
static void land_all(struct core *c)
{
    for (int r = 0; r < TW_R_COUNT; r++) {
        struct leaf *l = &c->leaves[r];
        int kept = 0;
        for (int i = 0; i < l->n; i++)
            if (l->pending[i].cycle == c->cycle)
                l->now = l->pending[i].content;
            else
                l->pending[kept++] = l->pending[i];
        l->n = kept;
    }
}

static uint32_t read_scalar(const struct core *c, int64_t reg)
{
    struct content value = read_leaf(c, tw_registers[reg].leaves[0], TW_BYPASS_NONE);
    uint32_t v;
    memcpy(&v, value.bytes, sizeof v);
    return v;
}

static void read_wide(const struct core *c, int64_t reg, int bypass, uint8_t *to)
{
    for (unsigned i = 0; i < tw_registers[reg].n_leaves; i++) {
        struct content value = read_leaf(c, tw_registers[reg].leaves[i], bypass);
        memcpy(to + (size_t)i * LINE, value.bytes, LINE);
    }
}

static struct tw_operand_cycle cycle_of(const struct tw_operation *op, unsigned operand)
{
    const struct tw_schedule_class *s = tw_operation_schedule(op);
    static const struct tw_operand_cycle first = {1, TW_BYPASS_NONE};
    return operand < s->n_cycles ? s->cycles[operand] : first;
}

static void write_scalar(struct core *c, const struct flight *f, unsigned operand, uint32_t value)
{
    struct tw_operand_cycle t = cycle_of(f->op, operand);
    land_leaf(c, tw_registers[f->op->operands[operand]].leaves[0], f->issued + t.cycle - 1, t.bypass, &value,
              sizeof value);
}

static void write_wide(struct core *c, const struct flight *f, unsigned operand, const uint8_t *bytes)
{
    struct tw_operand_cycle t = cycle_of(f->op, operand);
    const struct tw_register *reg = &tw_registers[f->op->operands[operand]];
    for (unsigned i = 0; i < reg->n_leaves; i++)
        land_leaf(c, reg->leaves[i], f->issued + t.cycle - 1, t.bypass, bytes + (size_t)i * LINE, LINE);
}

void core_set_pointer(struct core *c, int reg, uint32_t value)
{
    memcpy(c->leaves[reg].now.bytes, &value, sizeof value);
}

/* ---- operations */

static unsigned find_operand(const struct tw_operation *op, const char *name)
{
    const struct tw_instruction *in = &tw_instructions[op->instruction];

    for (unsigned i = 0; i < in->n_operands; i++)
        if (strcmp(in->operands[i].name, name) == 0)
            return i;
    return TW_OPERANDS_MAX;
}

static uint32_t wrap20(uint32_t v)
{
    return v & 0xfffff;
}

/* The address of an access, and the walk of its pointer. */
static void take_address(struct core *c, struct flight *f)
{
    const struct tw_operation *op = f->op;
    unsigned out = find_operand(op, "ptr_out"), count = find_operand(op, "count_out"), imm = find_operand(op, "imm");

    f->address = read_scalar(c, op->operands[find_operand(op, "ptr")]);
    if (out == TW_OPERANDS_MAX)
        return;
    if (count == TW_OPERANDS_MAX) {
        write_scalar(c, f, out, wrap20(f->address + (uint32_t)op->operands[imm]));
        return;
    }
    /* leaves of a walk: m, dn, dj, dc */
    const uint16_t *walk = tw_registers[op->operands[find_operand(op, "mod")]].leaves;
    uint32_t m = read_scalar(c, walk[0]), dn = read_scalar(c, walk[1]), dj = read_scalar(c, walk[2]),
             dc = read_scalar(c, walk[3]);
    int turn = wrap20(dc) == wrap20(dn);
    write_scalar(c, f, out, wrap20(f->address + (turn ? m : dj)));
    write_scalar(c, f, count, turn ? 0 : dc + 1);
}

static int known_access(unsigned in)
{
    return in == TW_I_VLDB_dmw_ldb_ag_pstm_nrm_imm || in == TW_I_VLDB_2D || in == TW_I_VLDA_dmw_lda_w_ag_pstm_nrm_imm ||
           in == TW_I_VLDA_2D_dmw_lda_w || in == TW_I_VLDA_dmw_lda_am_ag_pstm_nrm_imm ||
           in == TW_I_VST_dmw_sts_am_ag_pstm_nrm_imm;
}

static void begin(struct core *c, struct flight *f)
{
    const struct tw_operation *op = f->op;
    unsigned in = op->instruction;
    unsigned last = tw_instructions[in].n_operands - 1u;

    if (in == TW_I_MOVA_lda_cg || in == TW_I_MOVX_alu_cg || in == TW_I_MOV_mv_cg || in == TW_I_MOVXM_lng_cg) {
        write_scalar(c, f, 0, (uint32_t)op->operands[last]);
    } else if (in == TW_I_MOV_mv_scl) {
        write_scalar(c, f, 0, read_scalar(c, op->operands[1]));
    } else if (known_access(in)) {
        take_address(c, f);
        if ((tw_instructions[in].flags & TW_FLAG_STORE) != 0)
            read_wide(c, op->operands[find_operand(op, "src")], TW_BYPASS_NONE, f->data);
    } else if (in == TW_I_VMAC_F_vmac_bm_core_dense || in == TW_I_VMAC_vmac_cm_core_dense) {
        read_wide(c, op->operands[2], TW_BYPASS_NONE, f->s1);
        read_wide(c, op->operands[3], TW_BYPASS_NONE, f->s2);
        uint32_t conf = read_scalar(c, op->operands[4]);
        if (conf != (in == TW_I_VMAC_F_vmac_bm_core_dense ? 28u : 776u))
            fail(c, "configuration %u", (unsigned)conf);
    } else if ((tw_instructions[in].flags & TW_FLAG_NOP) == 0 && in != TW_I_RET) {
        fail(c, "%s is not modelled", tw_instructions[in].name);
    }
}

/* Data memory, in the operation's cycle. */
static void access_memory(struct core *c, struct flight *f)
{
    int store = (tw_instructions[f->op->instruction].flags & TW_FLAG_STORE) != 0;
    unsigned bank = 1u << f->address / BANK_BYTES % BANKS;

    if (f->address > CORE_MEMORY - LINE || f->address % LINE != 0) {
        fail(c, "address %#x", (unsigned)f->address);
        return;
    }
    if ((c->banks & bank) != 0)
        fail(c, "two accesses to the bank of %#x in cycle %ld", (unsigned)f->address, c->cycle);
    c->banks |= bank;
    if (store)
        memcpy(c->memory + f->address, f->data, LINE);
    else
        write_wide(c, f, 0, c->memory + f->address);
}

static void multiply_bf16(struct core *c, const struct flight *f)
{
    uint16_t a[32], b[32], x[8], y[8];
    uint32_t sums[16];

    memcpy(a, f->s1, sizeof a);
    memcpy(b, f->s2, sizeof b);
    memcpy(sums, f->acc, sizeof sums);
    for (unsigned i = 0; i < 16; i++) {
        for (unsigned t = 0; t < 8; t++) {
            x[t] = a[8 * (i / 4) + t];
            y[t] = b[4 * t + i % 4];
        }
        sums[i] = tw_twin_mac_bf16(sums[i], x, y);
    }
    write_wide(c, f, 0, (const uint8_t *)sums);
}

static void multiply_int8(struct core *c, const struct flight *f)
{
    uint32_t sums[32];

    memcpy(sums, f->acc, sizeof sums);
    for (unsigned i = 0; i < 32; i++)
        for (unsigned t = 0; t < 8; t++)
            sums[i] += (uint32_t)((int8_t)f->s1[8 * (i / 8) + t] * (int8_t)f->s2[8 * t + i % 8]);
    write_wide(c, f, 0, (const uint8_t *)sums);
}

/* What an operation does in a cycle after its issue. */
static void advance(struct core *c, struct flight *f)
{
    const struct tw_schedule_class *s = tw_operation_schedule(f->op);
    long cycle = c->cycle - f->issued + 1;
    unsigned in = f->op->instruction;
    int bf16 = in == TW_I_VMAC_F_vmac_bm_core_dense;

    if (s->memory_first != 0 && cycle == s->memory_first)
        access_memory(c, f);
    if (!bf16 && in != TW_I_VMAC_vmac_cm_core_dense)
        return;
    struct tw_operand_cycle acc = cycle_of(f->op, 1);
    if (cycle != acc.cycle)
        return;
    read_wide(c, f->op->operands[1], acc.bypass, f->acc);
    (bf16 ? multiply_bf16 : multiply_int8)(c, f);
}

/* ---- bundles */

static void issue(struct core *c, const struct tw_bundle *b)
{
    for (unsigned slot = 0; slot < TW_SLOT_COUNT; slot++) {
        if ((b->slots >> slot & 1) == 0 || c->n_flights == IN_FLIGHT)
            continue;
        struct flight *f = &c->flights[c->n_flights++];
        f->copy = b->op[slot];
        f->issued = c->cycle;
    }
    for (int i = 0; i < c->n_flights; i++) {
        struct flight *f = &c->flights[i];
        f->op = &f->copy;
        if (f->issued == c->cycle)
            begin(c, f);
    }
    /* Results of a bypass arrive before the cycle's other reads: early writers go first. */
    for (int i = 0; i < c->n_flights; i++)
        advance(c, &c->flights[i]);
}

static void end_cycle(struct core *c)
{
    int kept = 0;

    land_all(c);
    for (int i = 0; i < c->n_flights; i++)
        if (c->cycle - c->flights[i].issued < FLIGHT)
            c->flights[kept++] = c->flights[i];
    c->n_flights = kept;
    c->banks = 0;
    c->cycle++;
}

static int returns(const struct tw_bundle *b)
{
    return (b->slots >> TW_SLOT_ALU & 1) != 0 && b->op[TW_SLOT_ALU].instruction == TW_I_RET;
}

long core_run(struct core *c, const uint8_t *program, uint32_t size, char text[256])
{
    long left = LONGEST;
    uint32_t at = 0;

    c->text = text;
    while (at < size && left-- > 0 && !c->failed) {
        struct tw_bundle b;
        int n = tw_bundle_decode(program + at, size - at, &b, NULL);
        if (n < 0) {
            fail(c, "no bundle at %#x", (unsigned)at);
            break;
        }
        issue(c, &b);
        uint32_t count = read_scalar(c, TW_R_LC), end = read_scalar(c, TW_R_LE);
        int loops = at == end && count > 0;
        if (returns(&b) && left > TW_DELAY_SLOTS)
            left = TW_DELAY_SLOTS;
        at += (uint32_t)n;
        end_cycle(c);
        if (loops) {
            count--;
            memcpy(c->leaves[TW_R_LC].now.bytes, &count, sizeof count);
            at = count > 0 ? read_scalar(c, TW_R_LS) : at;
        }
    }
    return c->failed ? -1 : c->cycle;
}
