/* Sizes and addresses of bundles: least total size under rules of alignment, by dynamic programming. */
#include "isa/layout.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define PHASES 8 /* even addresses modulo 16 */
#define UNREACHED UINT32_MAX
#define SIZES 9 /* bytes / 2 of a bundle: 1 .. 8 */

/* The format that gives a bundle each size, -1: none. */
struct sizes {
    int16_t format[SIZES];
    uint8_t floor; /* bytes / 2 that it shall at least have */
    uint8_t align;
};

struct layout {
    struct tw_placed *bundles;
    size_t n;
    struct sizes *sizes;
    uint32_t (*cost)[PHASES]; /* bundle, phase of its address -> least bytes since the segment's start */
    uint8_t (*size)[PHASES];  /* and the size of the bundle before that leads there */
    struct tw_error *err;
};

/* Registers that hold an address or a count of the hardware loop. */
static int is_loop_register(int64_t reg)
{
    return reg == TW_R_LC || reg == TW_R_LS || reg == TW_R_LE;
}

static int has_loop_register(const struct tw_operation *op, int only_written)
{
    const struct tw_instruction *in = &tw_instructions[op->instruction];

    for (unsigned i = 0; i < in->n_operands; i++)
        if (in->operands[i].kind == TW_OPERAND_REGISTER && is_loop_register(op->operands[i]) &&
            (!only_written || in->operands[i].role == TW_OPERAND_OUT))
            return 1;
    return 0;
}

int tw_writes_loop_register(const struct tw_operation *op)
{
    return has_loop_register(op, 1);
}

int tw_names_loop_register(const struct tw_operation *op)
{
    return has_loop_register(op, 0);
}

static int writes_loop_register(const struct tw_bundle *b)
{
    for (unsigned s = 0; s < TW_SLOT_COUNT; s++)
        if ((b->slots >> s & 1) != 0 && tw_writes_loop_register(&b->op[s]))
            return 1;
    return 0;
}

static int calls(const struct tw_bundle *b)
{
    return ((b->slots >> TW_SLOT_LNG & 1) != 0 && b->op[TW_SLOT_LNG].instruction == TW_I_JL) ||
           ((b->slots >> TW_SLOT_ALU & 1) != 0 && b->op[TW_SLOT_ALU].instruction == TW_I_JL_IND);
}

/* ---- what each bundle may become */

/* Returns how many sizes a bundle can have. */
static unsigned find_sizes(const struct tw_placed *p, struct sizes *s)
{
    unsigned n = 0;

    for (unsigned i = 0; i < SIZES; i++)
        s->format[i] = -1;
    if (p->bundle.format >= 0) {
        s->format[tw_formats[p->bundle.format].bytes / 2] = p->bundle.format;
        return 1;
    }
    for (int f = 0; f < TW_FORMAT_COUNT; f++) {
        unsigned slots = tw_formats[f].slots, half = tw_formats[f].bytes / 2u;
        int wanted = slots == p->bundle.slots;
        if ((p->bundle.slots & ~slots) != 0 || (s->format[half] >= 0 && !wanted))
            continue;
        n += s->format[half] < 0;
        s->format[half] = (int16_t)f;
    }
    return n;
}

static int prepare(struct layout *l)
{
    for (size_t i = 0; i < l->n; i++) {
        struct tw_placed *p = &l->bundles[i];
        if (p->bundle.format >= TW_FORMAT_COUNT)
            return tw_fail(l->err, TW_E_FORMAT, "bundle %zu: there is no format number %d", i, p->bundle.format);
        if (find_sizes(p, &l->sizes[i]) == 0)
            return tw_fail(l->err, TW_E_FORMAT, "bundle %zu: no format carries its slots together", i);
        l->sizes[i].align |= p->flags != 0;
        if (p->flags & TW_PLACE_LOOP_END)
            l->sizes[i].floor = TW_LOOP_END_BYTES / 2;
        if (calls(&p->bundle))
            l->sizes[i + TW_DELAY_SLOTS + 1 < l->n ? i + TW_DELAY_SLOTS + 1 : l->n].align = 1;
    }
    return 0;
}

/* ---- one segment: from a known address to the next aligned bundle */

static size_t segment_end(const struct layout *l, size_t first)
{
    size_t end = first + 1;

    while (end < l->n && l->sizes[end].align == 0)
        end++;
    return end;
}

/* Extends all ways to reach a bundle's address by its possible sizes. */
static void extend(struct layout *l, size_t i)
{
    for (unsigned phase = 0; phase < PHASES; phase++) {
        uint32_t cost = l->cost[i][phase];
        for (unsigned half = l->sizes[i].floor > 0 ? l->sizes[i].floor : 1; cost != UNREACHED && half < SIZES; half++) {
            unsigned to = (phase + half) % PHASES;
            if (l->sizes[i].format[half] >= 0 && cost + 2 * half < l->cost[i + 1][to]) {
                l->cost[i + 1][to] = cost + 2 * half;
                l->size[i + 1][to] = (uint8_t)half;
            }
        }
    }
}

/* The cheapest phase to end a segment in, or -1. */
static int best_phase(const struct layout *l, size_t end)
{
    int best = -1;

    for (int phase = 0; phase < PHASES; phase++)
        if (l->cost[end][phase] != UNREACHED && (best < 0 || l->cost[end][phase] < l->cost[end][best]))
            best = phase;
    if (l->sizes[end].align != 0)
        return l->cost[end][0] != UNREACHED ? 0 : -1;
    return best;
}

static int place_segment(struct layout *l, size_t first, size_t end, uint32_t *address)
{
    for (size_t i = first; i <= end; i++)
        memset(l->cost[i], 0xff, sizeof l->cost[i]);
    l->cost[first][*address / 2 % PHASES] = 0;
    for (size_t i = first; i < end; i++)
        extend(l, i);

    int phase = best_phase(l, end);
    if (phase < 0)
        return tw_fail(l->err, TW_E_FORMAT,
                       "bundles %zu to %zu: their fixed sizes do not bring what follows to an address divisible by %d",
                       first, end - 1, TW_TARGET_ALIGN);
    for (size_t i = end; i > first; i--) {
        unsigned half = l->size[i][phase];
        l->bundles[i - 1].bytes = (uint8_t)(2 * half);
        phase = (phase + PHASES - (int)half) % PHASES;
    }
    for (size_t i = first; i < end; i++) {
        l->bundles[i].address = *address;
        *address += l->bundles[i].bytes;
    }
    return 0;
}

static int place_all(struct layout *l, uint32_t address)
{
    if (l->n > 0 && l->sizes[0].align != 0 && address % TW_TARGET_ALIGN != 0)
        return tw_fail(l->err, TW_E_FORMAT,
                       "bundle 0 must lie at an address divisible by %d, and the code begins at 0x%" PRIx32,
                       TW_TARGET_ALIGN, address);
    for (size_t first = 0, end; first < l->n; first = end) {
        end = segment_end(l, first);
        int code = place_segment(l, first, end, &address);
        if (code < 0)
            return code;
        if (address > TW_PROGRAM_BYTES)
            return tw_fail(l->err, TW_E_LIMIT, "the code ends at 0x%" PRIx32 ": program memory has %d bytes", address,
                           TW_PROGRAM_BYTES);
    }
    return 0;
}

/* ---- the distance from loop set-up to loop end */

/* The last bundle before a loop end that writes LC, LS or LE, or the loop end itself when there is none. */
static size_t last_setup(const struct layout *l, size_t end)
{
    for (size_t i = end; i > 0; i--)
        if (writes_loop_register(&l->bundles[i - 1].bundle))
            return i - 1;
    return end;
}

/* Makes a bundle between a set-up and its loop's end larger: the one nearest to the end that can be. */
static int raise_floors(struct layout *l, size_t setup, size_t end)
{
    size_t i = end;

    while (i > setup + 1) {
        struct sizes *s = &l->sizes[--i];
        unsigned half = l->bundles[i].bytes / 2u + 1;
        while (half < SIZES && s->format[half] < 0)
            half++;
        if (half < SIZES) {
            s->floor = (uint8_t)half;
            return 0;
        }
    }
    return tw_fail(l->err, TW_E_FORMAT,
                   "bundle %zu ends a loop and is less than %d bytes behind bundle %zu, which writes LC, LS or LE", end,
                   TW_LOOP_SETUP_BYTES, setup);
}

/* Returns 1 when a floor was raised, 0 when all loops are far enough from their set-up, or a code. */
static int check_loops(struct layout *l)
{
    for (size_t end = 0; end < l->n; end++) {
        if ((l->bundles[end].flags & TW_PLACE_LOOP_END) == 0)
            continue;
        size_t setup = last_setup(l, end);
        if (setup == end ||
            l->bundles[end].address - l->bundles[setup].address - l->bundles[setup].bytes >= TW_LOOP_SETUP_BYTES)
            continue;
        int code = raise_floors(l, setup, end);
        return code < 0 ? code : 1;
    }
    return 0;
}

static int layout(struct layout *l, uint32_t address)
{
    int code = prepare(l);

    if (code < 0)
        return code;
    do {
        code = place_all(l, address);
        if (code == 0)
            code = check_loops(l);
    } while (code > 0);
    if (code < 0)
        return code;
    for (size_t i = 0; i < l->n; i++)
        l->bundles[i].bundle.format = l->sizes[i].format[l->bundles[i].bytes / 2];
    return 0;
}

int tw_layout(struct tw_placed *bundles, size_t n, uint32_t address, struct tw_error *err)
{
    struct layout l = {bundles, n, NULL, NULL, NULL, err};
    int code;

    if (address % 2 != 0)
        return tw_fail(err, TW_E_FORMAT, "code cannot begin at the odd address 0x%" PRIx32, address);
    if (n > TW_PROGRAM_BYTES / 2)
        return tw_fail(err, TW_E_LIMIT, "%zu bundles do not fit into program memory of %d bytes", n, TW_PROGRAM_BYTES);
    l.sizes = calloc(n + 1, sizeof *l.sizes);
    l.cost = calloc(n + 1, sizeof *l.cost);
    l.size = calloc(n + 1, sizeof *l.size);
    if (l.sizes == NULL || l.cost == NULL || l.size == NULL)
        code = tw_fail(err, TW_E_MEMORY, "no memory to lay out %zu bundles", n);
    else
        code = layout(&l, address);
    free(l.sizes);
    free(l.cost);
    free(l.size);
    return code;
}
