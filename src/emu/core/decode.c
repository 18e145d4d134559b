/* Bundles of program memory to what the core does: each once, when it is first reached. */
#include "emu/core/state.h"

/* ---- making */

void *tw_core_make(struct tw_core_maker *m, size_t count, size_t size)
{
    void *memory = tw_core_pool_get(&m->c->pools[0], count * size);

    m->failed |= memory == NULL;
    return memory;
}

/* Bytes of the flight, aligned as semantics.h says. */
uint16_t tw_core_take_flight(struct tw_core_maker *m, unsigned bytes)
{
    unsigned align = bytes > 32 ? 64 : bytes > 8 ? 32 : 8;
    unsigned at = (m->flight + align - 1) / align * align;

    if (at + bytes > CORE_FLIGHT_BYTES) {
        m->failed = 1;
        return 0;
    }
    m->flight = at + bytes;
    return (uint16_t)at;
}

static struct tw_core_push *push(struct tw_core_maker *m, enum tw_core_list list, unsigned delay)
{
    if (m->n_pushes == CORE_PUSHES_MAX || delay >= CORE_LATEST) {
        m->failed = 1;
        return NULL;
    }
    struct tw_core_push *p = &m->pushes[m->n_pushes++];
    *p = (struct tw_core_push){.list = (uint8_t)list, .delay = (uint8_t)delay};
    return p;
}

void tw_core_push_step(struct tw_core_maker *m, enum tw_core_list list, unsigned delay, struct tw_core_step step)
{
    struct tw_core_push *p = push(m, list, delay);

    if (p != NULL)
        p->step = step;
}

void tw_core_push_landing(struct tw_core_maker *m, enum tw_core_list list, unsigned delay,
                          struct tw_core_landing landing)
{
    struct tw_core_push *p = push(m, list, delay);

    if (p != NULL)
        p->landing = landing;
}

/* ---- values */

/* Operands that say where an access goes, by their names in aie2.instructions. */
static int is_address_name(const char *name)
{
    static const char *const names[] = {"ptr", "dj",        "imm",          "mod",         "ptr_out",
                                        "res", "count_out", "count_lo_out", "count_hi_out"};

    for (unsigned i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcmp(name, names[i]) == 0)
            return 1;
    return 0;
}

static struct tw_operand_cycle cycle_of(const struct tw_schedule_class *class, unsigned i)
{
    static const struct tw_operand_cycle first = {1, TW_BYPASS_NONE};
    return i<class->n_cycles &&class->cycles[i].cycle> 0 ? class->cycles[i] : first;
}

static int addresses(const struct tw_semantics *row)
{
    return row != NULL &&
           (row->action == TW_ACTION_LOAD || row->action == TW_ACTION_STORE || row->action == TW_ACTION_ADDRESS);
}

void tw_core_list_values(const struct tw_core *c, const struct tw_operation *operation, struct tw_core_values *values)
{
    const struct tw_instruction *in = &tw_instructions[operation->instruction];
    const struct tw_schedule_class *class = tw_operation_schedule(operation);
    int has_address = addresses(c->rows[operation->instruction]);
    unsigned n = 0;

    for (unsigned i = 0; i < in->n_operands; i++) {
        const struct tw_operand_info *o = &in->operands[i];
        struct tw_core_value *v = &values->value[n];
        *v = (struct tw_core_value){.cycle = cycle_of(class, n).cycle, .bypass = cycle_of(class, n).bypass};
        v->is_immediate = o->kind != TW_OPERAND_REGISTER;
        v->immediate = (uint32_t)operation->operands[i];
        v->reg = v->is_immediate ? 0 : (uint16_t)operation->operands[i];
        v->is_out = o->role == TW_OPERAND_OUT;
        v->is_address = has_address && is_address_name(o->name);
        n++;
    }
    for (unsigned i = 0; i < (unsigned)in->n_defs + in->n_uses; i++) {
        int is_def = i < in->n_defs;
        uint16_t reg = is_def ? in->defs[i] : in->uses[i - in->n_defs];
        values->value[n] = (struct tw_core_value){.reg = reg,
                                                  .is_out = (uint8_t)is_def,
                                                  .is_address = (uint8_t)(has_address && reg == TW_R_SP),
                                                  .cycle = cycle_of(class, n).cycle,
                                                  .bypass = cycle_of(class, n).bypass};
        n++;
    }
    values->n = n;
}

/* ---- the order of a bundle's operations */

static void add_leaves(const struct tw_core *c, struct tw_core_leaves *set, unsigned reg)
{
    for (unsigned k = 0; k < tw_registers[reg].n_leaves; k++)
        tw_core_leaf_add(set, c->places[tw_registers[reg].leaves[k]].leaf);
}

static int meet(const struct tw_core_leaves *a, const struct tw_core_leaves *b)
{
    for (unsigned w = 0; w < CORE_LEAF_WORDS; w++)
        if ((a->words[w] & b->words[w]) != 0)
            return 1;
    return 0;
}

/* What an operation reads and writes in the first cycle. */
struct first_cycle {
    struct tw_core_leaves reads, writes;
};

static struct first_cycle first_cycle_of(const struct tw_core *c, const struct tw_core_values *values)
{
    struct first_cycle f;

    memset(&f, 0, sizeof f);
    for (unsigned i = 0; i < values->n; i++) {
        const struct tw_core_value *v = &values->value[i];
        if (!v->is_immediate && (v->cycle == 1 || !v->is_out))
            add_leaves(c, v->is_out ? &f.writes : &f.reads, v->reg);
    }
    return f;
}

/* One of the left slots whose results no other of them reads any more; -1 when each one's are read. */
static int find_free(const struct first_cycle *first, unsigned left)
{
    for (unsigned i = 0; i < TW_SLOT_COUNT; i++) {
        int is_free = (left >> i & 1) != 0;
        for (unsigned k = 0; k < TW_SLOT_COUNT && is_free; k++)
            is_free = k == i || (left >> k & 1) == 0 || !meet(&first[i].writes, &first[k].reads);
        if (is_free)
            return (int)i;
    }
    return -1;
}

static unsigned lowest(unsigned set)
{
    unsigned i = 0;
    while ((set >> i & 1) == 0)
        i++;
    return i;
}

/*
 * All operations of a bundle read before any of them writes. They are put in an order in which each may write its
 * first-cycle results straight into the registers; where they form a ring, one's results land at the end of the tick.
 */
static void prepare_operations(struct tw_core_maker *m, const struct tw_bundle *decoded, unsigned slots,
                               const struct tw_core_values *values)
{
    struct first_cycle first[TW_SLOT_COUNT];
    struct tw_core_bundle *b = m->bundle;
    unsigned n = 0;

    for (unsigned i = 0; i < TW_SLOT_COUNT; i++)
        if ((slots >> i & 1) != 0)
            first[i] = first_cycle_of(m->c, &values[i]);
    for (unsigned left = slots; left != 0; left &= left - 1)
        n++;
    b->ops = tw_core_make(m, n + 1, sizeof *b->ops);
    for (unsigned left = slots; left != 0 && !m->failed;) {
        int found = find_free(first, left);
        unsigned slot = found < 0 ? lowest(left) : (unsigned)found;
        left &= ~(1u << slot);
        b->ops[b->n_ops++] = tw_core_prepare(m, &decoded->op[slot], slot, &values[slot], found >= 0);
    }
}

/* ---- bundles */

static unsigned count_pushes(const struct tw_core_maker *m, enum tw_core_list list, unsigned delay)
{
    unsigned n = 0;

    for (unsigned i = 0; i < m->n_pushes; i++)
        n += m->pushes[i].list == list && m->pushes[i].delay == delay;
    return n;
}

/* The pushes of one list and delay next to each other, as landings or as steps. */
static const void *make_landings(struct tw_core_maker *m, enum tw_core_list list, unsigned delay, unsigned n)
{
    struct tw_core_landings *l = tw_core_make(m, 1, sizeof *l + n * sizeof *l->landing);

    for (unsigned i = 0; i < m->n_pushes && l != NULL; i++)
        if (m->pushes[i].list == list && m->pushes[i].delay == delay)
            l->landing[l->n++] = m->pushes[i].landing;
    return l;
}

static const void *make_steps(struct tw_core_maker *m, enum tw_core_list list, unsigned delay, unsigned n)
{
    struct tw_core_steps *s = tw_core_make(m, 1, sizeof *s + n * sizeof *s->step);

    for (unsigned i = 0; i < m->n_pushes && s != NULL; i++)
        if (m->pushes[i].list == list && m->pushes[i].delay == delay)
            s->step[s->n++] = m->pushes[i].step;
    return s;
}

static void make_mark(struct tw_core_maker *m, enum tw_core_list list, unsigned delay)
{
    struct tw_core_bundle *b = m->bundle;
    unsigned n = count_pushes(m, list, delay);
    int lands = list == CORE_LANDINGS || list == CORE_BYPASS;

    if (n == 0)
        return;
    const void *items = lands ? make_landings(m, list, delay, n) : make_steps(m, list, delay, n);
    b->marks[b->n_marks++] = (struct tw_core_mark){(uint8_t)list, (uint8_t)delay, items};
}

static void make_marks(struct tw_core_maker *m)
{
    unsigned n = 0;

    for (unsigned list = 0; list < CORE_LISTS; list++)
        for (unsigned delay = 0; delay < CORE_LATEST; delay++)
            n += count_pushes(m, (enum tw_core_list)list, delay) > 0;
    m->bundle->marks = tw_core_make(m, n + 1, sizeof *m->bundle->marks);
    for (unsigned list = 0; list < CORE_LISTS && !m->failed; list++)
        for (unsigned delay = 0; delay < CORE_LATEST; delay++)
            make_mark(m, (enum tw_core_list)list, delay);
}

/* The address behind n bundles from here on; CORE_NO_LINK when program memory ends or holds something else. */
static uint32_t skip_bundles(const struct tw_core *c, uint32_t address, unsigned n)
{
    for (; n > 0; n--) {
        unsigned bytes = address < TW_PROGRAM_BYTES ? tw_bundle_size(c->program[address]) : 0;
        if (bytes == 0)
            return CORE_NO_LINK;
        address += bytes;
    }
    return address;
}

static void note_kind(struct tw_core_bundle *b, const struct tw_operation *op)
{
    const struct tw_instruction *in = &tw_instructions[op->instruction];

    b->branches += (in->flags & TW_FLAG_BRANCH) != 0;
    b->ends |= op->instruction == TW_I_DONE;
    b->part_word |= (in->flags & TW_FLAG_STORE) != 0 && (in->flags & TW_FLAG_LOAD) != 0;
    for (unsigned i = 0; i < in->n_operands; i++) {
        const struct tw_operand_info *o = &in->operands[i];
        if (o->kind == TW_OPERAND_REGISTER && o->role == TW_OPERAND_OUT)
            b->sets_loop |= op->operands[i] == TW_R_LC || op->operands[i] == TW_R_LS || op->operands[i] == TW_R_LE;
    }
}

static struct tw_core_bundle *make_bundle(struct tw_core *c, uint32_t address, const struct tw_bundle *decoded,
                                          unsigned bytes)
{
    struct tw_core_maker m = {.c = c};
    struct tw_core_values values[TW_SLOT_COUNT];
    unsigned slots = 0;
    struct tw_core_bundle *b = m.bundle = tw_core_make(&m, 1, sizeof *b);

    if (b == NULL)
        return NULL;
    b->address = address;
    b->next = address + bytes;
    b->number = c->n_decoded++;
    for (unsigned i = 0; i < TW_SLOT_COUNT; i++) {
        if ((decoded->slots >> i & 1) == 0 || (tw_instructions[decoded->op[i].instruction].flags & TW_FLAG_NOP) != 0)
            continue;
        slots |= 1u << i;
        tw_core_list_values(c, &decoded->op[i], &values[i]);
        note_kind(b, &decoded->op[i]);
    }
    if (b->branches > 0)
        b->link = skip_bundles(c, b->next, TW_DELAY_SLOTS);
    prepare_operations(&m, decoded, slots, values);
    if (!m.failed)
        make_marks(&m);
    if (m.failed || (c->strict && tw_core_prepare_hazards(&m, decoded, slots, values) != 0))
        return NULL;
    return b;
}

struct tw_core_bundle *tw_core_decode(struct tw_core *c, uint32_t address)
{
    struct tw_bundle decoded;
    uint32_t left = TW_PROGRAM_BYTES - address;
    int bytes = tw_bundle_decode(c->program + address, left < TW_BUNDLE_MAX ? left : TW_BUNDLE_MAX, &decoded, NULL);

    if (bytes < 0) {
        tw_core_fail(c, TW_E_FORMAT, NULL, "there is no instruction at this address; check that the program is whole");
        return NULL;
    }
    struct tw_core_bundle *b = make_bundle(c, address, &decoded, (unsigned)bytes);
    if (b == NULL) {
        tw_core_fail(c, TW_E_MEMORY, NULL, "no memory to decode the bundle");
        return NULL;
    }
    c->at[address / 2] = b;
    c->decoded = 1;
    return b;
}

/*
 * What is under way still refers to bundles, for up to CORE_RING ticks: so there are two pools, and the one that was in
 * use before is emptied only when that time is over.
 */
void tw_core_forget(struct tw_core *c)
{
    tw_core_memo_leave(c);
    tw_core_memo_forget(c);
    if (!c->decoded)
        return;
    memset(c->at, 0, sizeof c->at);
    c->decoded = 0;
    if (c->tick - c->emptied < CORE_RING)
        return;
    struct tw_core_pool before = c->pools[1];
    tw_core_pool_empty(&before);
    c->pools[1] = c->pools[0];
    c->pools[0] = before;
    c->emptied = c->tick;
}
