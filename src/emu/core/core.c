/* The core's outside: making one, its program, its registers, and what it says when it fails. */
#include "emu/core.h"

#include "emu/core/state.h"
#include "emu/vector_kernels.h"

#include "base/memory.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

static void add_rows(struct tw_core *c, const struct tw_semantics *rows, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        c->rows[rows[i].instruction] = &rows[i];
}

static void take_rows(struct tw_core *c)
{
    unsigned n;
    const struct tw_semantics *rows = tw_vector_semantics(&n);

    add_rows(c, rows, n);
    rows = tw_scalar_semantics(&n);
    add_rows(c, rows, n);
    rows = tw_core_other_semantics(&c->unknown, &n);
    add_rows(c, rows, n);
}

int tw_core_create(const struct tw_core_options *options, struct tw_core **core, struct tw_error *err)
{
    struct tw_core *c = *core = tw_alloc(sizeof *c);

    if (c == NULL)
        return tw_fail(err, TW_E_MEMORY, "no memory for a core's state (%zu bytes)", sizeof *c);
    memset(c, 0, sizeof *c);
    c->unknown = options->unknown != NULL ? *options->unknown : tw_unknown_defaults;
    c->kernels = options->kernels != NULL ? options->kernels : tw_vector_kernels_best(c->unknown.denormals_are_zero);
    c->strict = options->strict;
    c->without_memos = options->slow;
    snprintf(c->name, sizeof c->name, "%s", options->name != NULL ? options->name : "core");
    memcpy(c->windows, options->windows, sizeof c->windows);
    c->bank_notes = options->banks;
    take_rows(c);
    if (tw_core_place_registers(c) != 0) {
        tw_core_free(c);
        *core = NULL;
        return tw_fail(err, TW_E_LIMIT, "the register tables are larger than the emulator's register file");
    }
    tw_core_reset(c);
    return 0;
}

void tw_core_free(struct tw_core *c)
{
    if (c == NULL)
        return;
    tw_core_pool_free(&c->pools[0]);
    tw_core_pool_free(&c->pools[1]);
    tw_core_pool_free(&c->memo_pool);
    free(c->old);
    free(c);
}

void tw_core_reset(struct tw_core *c)
{
    tw_core_reset_registers(c);
    for (unsigned i = 0; i < CORE_RING; i++)
        memset(c->ticks[i].n, 0, sizeof c->ticks[i].n);
    memset(&c->pending, 0, sizeof c->pending);
    memset(&c->late, 0, sizeof c->late);
    memset(c->held, 0, sizeof c->held);
    c->held_at = 0;
    c->state = TW_CORE_RUNNING;
    c->pc = c->target = 0;
    c->delay_slots = c->ending = c->loop_end_set = c->asked = 0;
    c->banks = c->banks_twice = c->banks_thrice = 0;
    c->loop_set_at = 0;
    c->failed = 0;
    c->memo = NULL;
    c->n_issued = 0;
    c->life++;
    c->far = 0;
    for (unsigned i = 0; i < CORE_RING; i++)
        c->issued[i] = (struct tw_core_issued){NULL, i};
    c->tick += CORE_RING; /* nothing of what was under way is any more */
}

/* ---- program */

int tw_core_write_program(struct tw_core *c, uint32_t offset, const void *bytes, size_t size)
{
    if (offset % 4 != 0 || size % 4 != 0 || offset > TW_PROGRAM_BYTES || size > TW_PROGRAM_BYTES - offset)
        return TW_E_ARGUMENT;
    if (size > 0)
        memcpy(c->program + offset, bytes, size);
    tw_core_forget(c);
    return 0;
}

void tw_core_read_program(const struct tw_core *c, uint32_t offset, void *bytes, size_t size)
{
    size_t there = offset >= TW_PROGRAM_BYTES ? 0 : TW_PROGRAM_BYTES - offset;

    memset(bytes, 0, size);
    if (there > 0)
        memcpy(bytes, c->program + offset, size < there ? size : there);
}

int tw_core_expect_old(struct tw_core *c, uint32_t address, const uint16_t *registers, size_t count)
{
    struct tw_core_old *grown = realloc(c->old, (c->n_old + 1) * sizeof *c->old);

    if (grown == NULL)
        return TW_E_MEMORY;
    c->old = grown;
    c->old[c->n_old] = (struct tw_core_old){.address = address};
    for (size_t i = 0; i < count; i++) {
        if (registers[i] >= TW_R_COUNT)
            return TW_E_ARGUMENT;
        for (unsigned k = 0; k < tw_registers[registers[i]].n_leaves; k++)
            tw_core_leaf_add(&c->old[c->n_old].leaves, c->places[tw_registers[registers[i]].leaves[k]].leaf);
    }
    c->n_old++;
    tw_core_forget(c);
    return 0;
}

struct tw_core_bundle *tw_core_fetch(struct tw_core *c)
{
    if (c->pc < TW_PROGRAM_BYTES && c->pc % 2 == 0)
        return tw_core_decode(c, c->pc);
    tw_core_fail(c, TW_E_FORMAT, NULL,
                 "there is no program memory at this address; a jump or a missing return has led here");
    return NULL;
}

/* ---- state */

const struct tw_core_request *tw_core_request(const struct tw_core *c)
{
    return &c->request;
}

uint64_t tw_core_clock(const struct tw_core *c)
{
    return c->clock;
}

void tw_core_set_clock(struct tw_core *c, uint64_t cycle)
{
    c->clock = cycle;
}

uint32_t tw_core_pc(const struct tw_core *c)
{
    return c->pc;
}

struct tw_core_counts tw_core_counts(const struct tw_core *c)
{
    return c->counts;
}

/* Copies between a value and the register file, leaf by leaf. */
static int access_register(struct tw_core *c, unsigned reg, uint8_t *to, const uint8_t *from, size_t size)
{
    size_t at = 0;

    if (reg >= TW_R_COUNT || size != c->places[reg].bytes)
        return TW_E_ARGUMENT;
    for (unsigned i = 0; i < tw_registers[reg].n_leaves; i++) {
        unsigned leaf = tw_registers[reg].leaves[i];
        uint8_t *place = c->file + c->places[leaf].offset;
        if (to != NULL)
            memcpy(to + at, place, c->places[leaf].bytes);
        if (from != NULL)
            memcpy(place, from + at, c->places[leaf].bytes);
        if (from != NULL && c->places[leaf].bytes == sizeof(uint32_t))
            *tw_core_word(c, leaf) &= tw_core_mask(leaf);
        if (from != NULL)
            tw_core_leaf_add(&c->written, c->places[leaf].leaf);
        at += c->places[leaf].bytes;
    }
    return 0;
}

int tw_core_register_read(const struct tw_core *c, uint16_t reg, void *value, size_t size)
{
    /* The copy goes one way only; the core stays as it is. */
    return access_register((struct tw_core *)(uintptr_t)c, reg, value, NULL, size);
}

int tw_core_register_write(struct tw_core *c, uint16_t reg, const void *value, size_t size)
{
    return access_register(c, reg, NULL, value, size);
}

/* ---- failing */

void tw_core_fail(struct tw_core *c, int code, const struct tw_core_op *op, const char *fmt, ...)
{
    char reason[512], text[TW_OPERATION_TEXT_MAX] = "";
    uint32_t address = op != NULL ? op->bundle->address : c->pc;
    va_list args;

    if (c->failed)
        return;
    c->failed = 1;
    c->pc = address;
    va_start(args, fmt);
    vsnprintf(reason, sizeof reason, fmt, args);
    va_end(args);
    if (op != NULL)
        tw_operation_print(op->operation, text, sizeof text);
    tw_fail(&c->error, code, "%s, address 0x%05x, cycle %" PRIu64 "%s%s%s: %s", c->name, (unsigned)address, c->clock,
            text[0] != '\0' ? ", '" : "", text, text[0] != '\0' ? "'" : "", reason);
}
