#include "emu/array.h"

#include "emu/array/state.h"
#include "emu/array/trace.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void tw_array_fault(struct tw_array *array, int code, const char *format, ...)
{
    char text[sizeof array->fault.text];
    if (array->fault.code != 0)
        return;
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    tw_fail(&array->fault, code, "%s", text);
}

static struct tw_tile *numbered_tile(const struct tw_array *a, unsigned column, unsigned row)
{
    return column < TW_NPU1_COLUMNS && row < TW_NPU1_ROWS ? tw_array_tile(a, (int)column, (int)row) : NULL;
}

struct tw_core *tw_array_core(const struct tw_array *array, unsigned column, unsigned row)
{
    const struct tw_tile *t = numbered_tile(array, column, row);
    return t != NULL ? t->seat.core : NULL;
}

int tw_array_counts(const struct tw_array *array, unsigned column, unsigned row, struct tw_tile_counts *counts)
{
    const struct tw_tile *t = numbered_tile(array, column, row);
    memset(counts, 0, sizeof *counts);
    if (t == NULL)
        return TW_E_ARGUMENT;
    for (unsigned c = 0; c < t->n_channels; c++) {
        counts->words[TW_S2MM][c] = t->channels[TW_S2MM][c].words;
        counts->words[TW_MM2S][c] = t->channels[TW_MM2S][c].words;
        counts->words_in += t->channels[TW_S2MM][c].words;
        counts->words_out += t->channels[TW_MM2S][c].words;
    }
    if (t->kind != TW_TILE_CORE)
        return 0;
    struct tw_core_counts core = tw_core_counts(t->seat.core);
    counts->bundles = core.bundles;
    counts->bank_stalls = core.bank_stalls + t->seat.bank_stalls;
    counts->request_stalls = core.request_stalls - t->seat.bank_stalls;
    counts->dma_conflicts = t->banks->conflicts;
    tw_core_seat_stalls(array, t, counts->stalls);
    counts->enabled = t->seat.enabled;
    counts->done = t->seat.done;
    return 0;
}

/* ---- locks ---- */

static void grant(struct tw_array *a, unsigned actor)
{
    struct tw_tile *t = &a->tiles[actor / TW_ACTORS];
    unsigned own = actor % TW_ACTORS;
    if (own == TW_ACTOR_CORE)
        t->seat.granted = 1;
    else if (own < TW_ACTOR_MM2S)
        t->channels[TW_S2MM][own - TW_ACTOR_S2MM].granted = 1;
    else
        t->channels[TW_MM2S][own - TW_ACTOR_MM2S].granted = 1;
    tw_array_wake(a, actor, a->now + TW_CYCLES_RETRY);
}

void tw_array_lock_changed(struct tw_array *array, struct tw_tile *tile, unsigned lock)
{
    tw_trace_lock(array, tile, lock);
    for (int actor; (actor = tw_lock_grant(&tile->locks, lock)) >= 0;) {
        grant(array, (unsigned)actor);
        tw_trace_lock(array, tile, lock);
    }
}

void tw_array_lock_release(struct tw_array *array, struct tw_tile *tile, unsigned lock, int value)
{
    int before = tile->locks.values[lock];
    if (tw_lock_add(&tile->locks, lock, value) != 0)
        tw_array_fault(array, TW_E_ARGUMENT, "lock %u of tile (%u, %u), whose value is %d, cannot take %d more", lock,
                       tile->column, tile->row, before, value);
    tw_array_lock_changed(array, tile, lock);
}

/* ---- access by address ---- */

static struct tw_tile *tile_at(struct tw_array *a, uint32_t address, struct tw_error *err)
{
    struct tw_tile *t = tw_array_tile(a, (int)tw_tile_column(address), (int)tw_tile_row(address));
    if (t == NULL)
        tw_fail(err, TW_E_ARGUMENT, "address 0x%x means tile (%u, %u), which the partition of %u columns has not",
                (unsigned)address, tw_tile_column(address), tw_tile_row(address), a->options.columns);
    return t;
}

int tw_array_write(struct tw_array *array, uint32_t address, const uint32_t *words, size_t count, struct tw_error *err)
{
    while (count > 0) {
        struct tw_tile *t = tile_at(array, address, err);
        if (t == NULL)
            return TW_E_ARGUMENT;
        uint32_t n = tw_tile_write_memory(t, tw_tile_offset(address), words, count);
        int result = n > 0 ? 0 : tw_tile_write(array, t, tw_tile_offset(address), words[0], err);
        if (result != 0)
            return result;
        n = n > 0 ? n : 1;
        address += 4 * n;
        words += n;
        count -= n;
    }
    return 0;
}

int tw_array_mask_write(struct tw_array *array, uint32_t address, uint32_t mask, uint32_t value, struct tw_error *err)
{
    struct tw_tile *t = tile_at(array, address, err);
    if (t == NULL)
        return TW_E_ARGUMENT;
    uint32_t before = 0;
    int result = tw_tile_present(array, t, tw_tile_offset(address), &before, err);
    if (result != 0)
        return result;
    return tw_tile_write(array, t, tw_tile_offset(address), (before & ~mask) | (value & mask), err);
}

int tw_array_read(struct tw_array *array, uint32_t address, uint32_t *value, struct tw_error *err)
{
    struct tw_tile *t = tile_at(array, address, err);
    return t != NULL ? tw_tile_read(array, t, tw_tile_offset(address), value, err) : TW_E_ARGUMENT;
}

/* ---- running ---- */

uint64_t tw_array_clock(const struct tw_array *array)
{
    return array->now;
}

static void act(struct tw_array *a, unsigned actor)
{
    struct tw_tile *t = &a->tiles[actor / TW_ACTORS];
    unsigned own = actor % TW_ACTORS;
    if (own == TW_ACTOR_CORE)
        tw_core_seat_act(a, t);
    else if (own == TW_ACTOR_CONTROL)
        tw_control_act(a, t);
    else if (own == TW_ACTOR_TOKENS)
        tw_token_port_act(a, t);
    else if (own < TW_ACTOR_MM2S)
        tw_dma_act(a, &t->channels[TW_S2MM][own - TW_ACTOR_S2MM]);
    else if (own < TW_ACTOR_PACKETS)
        tw_dma_act(a, &t->channels[TW_MM2S][own - TW_ACTOR_MM2S]);
    else
        tw_packets_act(a, &t->packets[own - TW_ACTOR_PACKETS]);
}

static int failed(const struct tw_array *a, struct tw_error *err)
{
    if (a->fault.code != 0 && err != NULL)
        *err = a->fault;
    return a->fault.code;
}

/* Lets the next actor act. Returns 1, or 0 when none wants to before `until` has passed, or when something failed. */
static int step(struct tw_array *a, uint64_t until)
{
    a->until = until;
    if (a->stale && a->fault.code == 0)
        tw_routes_trace(a);
    if (a->fault.code != 0 || a->queue.n == 0 || tw_event_first(&a->queue) > until)
        return 0;
    uint64_t time;
    int actor = tw_event_next(&a->queue, &time);
    a->now = time > a->now ? time : a->now;
    act(a, (unsigned)actor);
    return 1;
}

int tw_array_advance(struct tw_array *array, uint64_t until, struct tw_error *err)
{
    while (step(array, until)) {
    }
    tw_core_seats_join(array);
    if (array->fault.code == 0 && array->now < until)
        array->now = until;
    return failed(array, err);
}

/* Why nothing more happened: a failure, the limit, or because everything waits. */
static int stopped(struct tw_array *a, uint64_t until, struct tw_error *err)
{
    char text[400];
    tw_core_seats_join(a);
    if (a->fault.code != 0)
        return failed(a, err);
    tw_array_waits(a, text, sizeof text);
    if (a->queue.n > 0) {
        a->now = a->now < until ? until : a->now;
        return tw_fail(err, TW_E_LIMIT, "the limit of %llu cycles has passed%s%s", (unsigned long long)until,
                       text[0] != '\0' ? "; " : "", text);
    }
    return tw_fail(err, TW_E_STATE, "nothing can move any more: %s", text[0] != '\0' ? text : "nothing waits either");
}

int tw_array_wait_token(struct tw_array *array, const struct tw_token *token, uint64_t until, struct tw_error *err)
{
    if (token->column >= TW_NPU1_COLUMNS || token->row >= TW_NPU1_ROWS || token->actor >= TW_TOKEN_ACTORS)
        return tw_fail(err, TW_E_ARGUMENT, "no tile (%u, %u) sends tokens as actor %u", token->column, token->row,
                       token->actor);
    uint32_t *count = &array->tokens[token->column][token->row][token->actor];
    while (*count == 0)
        if (!step(array, until))
            return stopped(array, until, err);
    --*count;
    tw_core_seats_join(array);
    return 0;
}

int tw_array_wait_register(struct tw_array *array, uint32_t address, uint32_t mask, uint32_t expected, uint64_t until,
                           struct tw_error *err)
{
    for (;;) {
        uint32_t value;
        int result = tw_array_read(array, address, &value, err);
        if (result != 0 || (value & mask) == expected) {
            tw_core_seats_join(array);
            return result;
        }
        if (!step(array, until))
            return stopped(array, until, err);
    }
}

int tw_array_drain(struct tw_array *array, uint64_t until, struct tw_error *err)
{
    char text[4];
    while (step(array, until)) {
    }
    tw_core_seats_join(array);
    if (array->fault.code == 0 && array->queue.n == 0 && tw_array_waits(array, text, sizeof text) == 0)
        return 0;
    return stopped(array, until, err);
}
