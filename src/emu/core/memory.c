/* Data memory as the core sees it, and its banks. */
#include "emu/core/act.h"

enum {
    LOGICAL_BANK_SHIFT = 14, /* 4 of 16 KiB, each two physical ones that take turns every 16 bytes */
    PHYSICAL_BANK_SHIFT = 4,
    PHYSICAL_BANK_BYTES = 16
};

/* The banks that an access uses, of all windows. */
static inline uint32_t banks_of(unsigned window, uint32_t offset, unsigned bytes)
{
    unsigned logical = offset >> LOGICAL_BANK_SHIFT & 3, physical = offset >> PHYSICAL_BANK_SHIFT & 1;
    uint32_t banks = bytes > PHYSICAL_BANK_BYTES ? 3u : 1u << physical;

    return banks << (2 * logical + TW_DATA_BANKS * window);
}

static inline void use_banks(struct tw_core *c, uint32_t banks)
{
    c->banks_thrice |= c->banks_twice & banks;
    c->banks_twice |= c->banks & banks;
    c->banks |= banks;
}

/* An address that the access can use, or the core has failed. */
static uint32_t misaligned(struct tw_core *c, const struct tw_core_op *op, uint32_t address, unsigned bytes)
{
    if (c->strict || c->unknown.misaligned_is_an_error)
        tw_core_fail(c, TW_E_ARGUMENT, op, "it accesses %u bytes at 0x%05x, which is not a multiple of %u", bytes,
                     (unsigned)address, bytes);
    return address & ~(uint32_t)(bytes - 1);
}

static uint8_t *nothing_there(struct tw_core *c, const struct tw_core_op *op, uint32_t address)
{
    tw_core_fail(c, TW_E_ARGUMENT, op, "it accesses 0x%05x, where the core has no memory", (unsigned)address);
    return NULL;
}

static inline uint32_t align(struct tw_core *c, const struct tw_core_op *op, uint32_t address, unsigned bytes)
{
    return (address & (bytes - 1)) == 0 ? address : misaligned(c, op, address, bytes);
}

/* The memory at an aligned address; NULL: the core has failed. alone: no other access of the tick can meet it. */
static inline uint8_t *reach(struct tw_core *c, const struct tw_core_op *op, uint32_t address, unsigned bytes,
                             int alone)
{
    uint32_t window = (address - TW_DATA_SOUTH) >> CORE_WINDOW_SHIFT, offset = address & (TW_DATA_BYTES - 1);

    if (window >= TW_WINDOWS || c->windows[window] == NULL)
        return nothing_there(c, op, address);
    if (!alone || c->bank_notes != NULL)
        use_banks(c, banks_of(window, offset, bytes));
    return c->windows[window] + offset;
}

static inline uint8_t *find(struct tw_core *c, const struct tw_core_op *op, uint32_t address, unsigned bytes)
{
    return reach(c, op, address, bytes, 0);
}

void tw_core_step_load(struct tw_core *c, const struct tw_core_step *step, struct tw_core_flight *f)
{
    const struct tw_core_op *op = step->op;
    unsigned bytes = op->row_bytes;
    const uint8_t *from = find(c, op, align(c, op, f->head.address, bytes), bytes);
    uint8_t *to = f->bytes + op->memory_at;

    if (from == NULL)
        return;
    tw_core_copy(to, from, bytes);
    if (bytes < op->memory_bytes)
        memset(to + bytes, 0, op->memory_bytes - bytes);
}

void tw_core_step_store(struct tw_core *c, const struct tw_core_step *step, struct tw_core_flight *f)
{
    const struct tw_core_op *op = step->op;
    unsigned bytes = op->row_bytes;
    uint8_t *to = find(c, op, align(c, op, f->head.address, bytes), bytes);

    if (to != NULL)
        tw_core_copy(to, f->bytes + op->memory_at, bytes);
}

/* ---- the same as acts, for the usual sizes: the flight is at act->to, the data at act->from */

static inline void load(struct tw_core *c, const struct tw_core_act *a, unsigned bytes, int alone)
{
    const uint8_t *from =
        reach(c, a->op, align(c, a->op, tw_core_flight_at(c, a->to)->head.address, bytes), bytes, alone);

    if (from != NULL)
        memcpy(tw_core_at(c, a->from), from, bytes);
}

static inline void store(struct tw_core *c, const struct tw_core_act *a, unsigned bytes, int alone)
{
    uint8_t *to = reach(c, a->op, align(c, a->op, tw_core_flight_at(c, a->to)->head.address, bytes), bytes, alone);

    if (to != NULL)
        memcpy(to, tw_core_at(c, a->from), bytes);
}

static const struct tw_core_act *load_4(struct tw_core *c, const struct tw_core_act *a)
{
    load(c, a, 4, 0);
    return a + 1;
}

static const struct tw_core_act *load_4_alone(struct tw_core *c, const struct tw_core_act *a)
{
    load(c, a, 4, 1);
    return a + 1;
}

static const struct tw_core_act *load_32(struct tw_core *c, const struct tw_core_act *a)
{
    load(c, a, 32, 0);
    return a + 1;
}

static const struct tw_core_act *load_32_alone(struct tw_core *c, const struct tw_core_act *a)
{
    load(c, a, 32, 1);
    return a + 1;
}

static const struct tw_core_act *store_4(struct tw_core *c, const struct tw_core_act *a)
{
    store(c, a, 4, 0);
    return a + 1;
}

static const struct tw_core_act *store_4_alone(struct tw_core *c, const struct tw_core_act *a)
{
    store(c, a, 4, 1);
    return a + 1;
}

static const struct tw_core_act *store_32(struct tw_core *c, const struct tw_core_act *a)
{
    store(c, a, 32, 0);
    return a + 1;
}

static const struct tw_core_act *store_32_alone(struct tw_core *c, const struct tw_core_act *a)
{
    store(c, a, 32, 1);
    return a + 1;
}

void tw_core_act_access(const struct tw_core *c, struct tw_core_act *act, struct tw_core_flight *f, int alone)
{
    static const struct {
        tw_core_step_function *step;
        uint8_t bytes;
        tw_core_act_function *run[2];
    } ways[] = {{tw_core_step_load, 4, {load_4, load_4_alone}},
                {tw_core_step_load, 32, {load_32, load_32_alone}},
                {tw_core_step_store, 4, {store_4, store_4_alone}},
                {tw_core_step_store, 32, {store_32, store_32_alone}}};
    const struct tw_core_step *step = act->step;
    struct tw_core_op *op = step->op;

    for (unsigned i = 0; i < sizeof ways / sizeof ways[0]; i++) {
        int widens = step->run == tw_core_step_load && op->memory_bytes > op->row_bytes;
        if (step->run != ways[i].step || op->row_bytes != ways[i].bytes || widens)
            continue;
        act->run = ways[i].run[alone];
        act->from = tw_core_offset(c, f->bytes + op->memory_at);
        act->op = op;
        return;
    }
}

static const struct tw_core_act *load_32_32(struct tw_core *c, const struct tw_core_act *a)
{
    return load_32(c, load_32(c, a));
}

static const struct tw_core_act *load_32_copy(struct tw_core *c, const struct tw_core_act *a)
{
    return tw_core_act_copy_64(c, load_32(c, a));
}

static const struct tw_core_act *load_32_32_copy(struct tw_core *c, const struct tw_core_act *a)
{
    return load_32_copy(c, load_32(c, a));
}

tw_core_act_function *tw_core_act_join_accesses(tw_core_act_function *first, tw_core_act_function *second)
{
    static const struct tw_core_act_join joins[] = {{load_32, load_32, load_32_32},
                                                    {load_32, tw_core_act_copy_64, load_32_copy},
                                                    {load_32, load_32_copy, load_32_32_copy}};

    return tw_core_act_find_join(joins, sizeof joins / sizeof joins[0], first, second);
}

/* ---- stores of 8 and 16 bits: a word is read, changed and written back */

enum { PART_WORD = 4 };

void tw_core_step_part_load(struct tw_core *c, const struct tw_core_step *step, struct tw_core_flight *f)
{
    const struct tw_core_op *op = step->op;

    f->head.address = align(c, op, f->head.address, op->row_bytes);
    const uint8_t *from = find(c, op, f->head.address & ~(uint32_t)(PART_WORD - 1), PART_WORD);
    if (from != NULL)
        memcpy(f->bytes + op->memory_at, from, PART_WORD);
}

void tw_core_step_part_store(struct tw_core *c, const struct tw_core_step *step, struct tw_core_flight *f)
{
    const struct tw_core_op *op = step->op;
    uint8_t *to = find(c, op, f->head.address & ~(uint32_t)(PART_WORD - 1), PART_WORD);

    if (to == NULL || f->head.is_lost)
        return;
    memcpy(f->bytes + op->memory_at + f->head.address % PART_WORD, f->bytes + op->data_at, op->row_bytes);
    memcpy(to, f->bytes + op->memory_at, PART_WORD);
}

/*
 * ---- tables: four addresses at once. A table lies in memory twice, in rows of 16 bytes that take turns, so that two
 * reads find theirs in different banks. Its addresses count both copies: an address is that of 32 bytes, and half of
 * what is left over is the place in the row of 16. So AMD's programs use them (a table of 16-bit values is addressed in
 * steps of 4 bytes, and only then gives theirs); what is read beyond a row's end nobody has shown: zeros here.
 */

enum { TABLE_READS = 4, TABLE_BYTES = 8, TABLE_ROW = 16 };

static void read_table(struct tw_core *c, const struct tw_core_op *op, uint32_t address, unsigned copy, uint8_t *to)
{
    uint32_t row = (address & ~(uint32_t)(2 * TABLE_ROW - 1)) + copy * TABLE_ROW;
    uint32_t place = address % (2 * TABLE_ROW) / 2, bytes = TABLE_ROW - place;
    const uint8_t *from = find(c, op, row, TABLE_ROW);

    memset(to, 0, TABLE_BYTES);
    if (from != NULL)
        memcpy(to, from + place, bytes < TABLE_BYTES ? bytes : TABLE_BYTES);
}

void tw_core_step_table(struct tw_core *c, const struct tw_core_step *step, struct tw_core_flight *f)
{
    const struct tw_core_op *op = step->op;
    unsigned mask = (unsigned)op->row->b - 1, half = (unsigned)op->row->c;

    for (unsigned i = 0; i < TABLE_READS && !c->failed; i++) {
        uint32_t address;
        memcpy(&address, f->bytes + op->data_at + (size_t)(half * TABLE_READS + i) * sizeof address, sizeof address);
        address &= ((1u << TW_ADDRESS_BITS) - 1) & ~mask;
        read_table(c, op, address, i % 2, f->bytes + op->memory_at + (size_t)i * TABLE_BYTES);
    }
}
