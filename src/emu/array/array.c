#include "emu/array.h"

#include "emu/array/state.h"
#include "npu1/registers.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
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

/* ---- building ---- */

static struct tw_stream *add_stream(struct tw_array *a, struct tw_tile *t, struct tw_port port, unsigned actor,
                                    unsigned own)
{
    struct tw_stream *s = &a->streams[a->n_streams++];
    s->tile = t;
    s->slave = (uint8_t)tw_switch_index(t->kind, TW_SLAVE, port);
    s->actor = (uint16_t)(t->number * TW_ACTORS + actor);
    s->own = (uint8_t)own;
    s->capacity = (uint16_t)(own + TW_WORDS_SLAVE);
    return s;
}

static struct tw_port out_port(const struct tw_tile *t, unsigned channel)
{
    if (t->kind == TW_TILE_SHIM)
        return (struct tw_port){TW_PORT_SOUTH, tw_shim_mm2s_port(channel)};
    return (struct tw_port){TW_PORT_DMA, channel};
}

static void build_channels(struct tw_array *a, struct tw_tile *t)
{
    t->n_channels = tw_dma_channels(t->kind);
    for (unsigned c = 0; c < t->n_channels; c++) {
        struct tw_dma_engine *in = &t->channels[TW_S2MM][c], *out = &t->channels[TW_MM2S][c];
        in->tile = out->tile = t;
        in->channel = (struct tw_dma_channel){TW_S2MM, c};
        out->channel = (struct tw_dma_channel){TW_MM2S, c};
        in->actor = in->in.actor = (uint16_t)(t->number * TW_ACTORS + TW_ACTOR_S2MM + c);
        out->actor = (uint16_t)(t->number * TW_ACTORS + TW_ACTOR_MM2S + c);
        out->out = add_stream(a, t, out_port(t, c), TW_ACTOR_MM2S + c, TW_WORDS_MM2S);
    }
}

static void build_ports(struct tw_array *a, struct tw_tile *t)
{
    unsigned base = t->number * (unsigned)TW_ACTORS;
    t->control.actor = t->control.in.actor = (uint16_t)(base + TW_ACTOR_CONTROL);
    t->control.in.hungry = 1;
    t->control.out = add_stream(a, t, (struct tw_port){TW_PORT_CONTROL, 0}, TW_ACTOR_CONTROL, 0);
    t->tokens.actor = t->tokens.in.actor = (uint16_t)(base + TW_ACTOR_TOKENS);
    t->tokens.in.hungry = 1;
    for (unsigned s = 0; s < TW_SWITCH_PORTS_MAX; s++) {
        t->packets[s].tile = t;
        t->packets[s].slave = (uint8_t)s;
        t->packets[s].actor = (uint16_t)(base + TW_ACTOR_PACKETS + s);
    }
}

/* As the firmware leaves a partition: registers as after a reset, but nothing isolated. */
static void reset_registers(struct tw_tile *t)
{
    unsigned count;
    const struct tw_tile_register *r = tw_tile_registers(t->kind, &count);
    for (unsigned i = 0; i < count; i++)
        t->registers[r[i].offset / 4] = r[i].reset;
    t->registers[tw_isolation_offset(t->kind) / 4] = 0;
}

static int build_memory(struct tw_tile *t)
{
    static const uint32_t bytes[TW_TILE_KINDS] = {
        [TW_TILE_MEMORY] = TW_MEMORY_TILE_BYTES, [TW_TILE_CORE] = TW_CORE_DATA_BYTES};
    t->memory_bytes = bytes[t->kind];
    t->registers = calloc(TW_TILE_BYTES / 4, sizeof t->registers[0]);
    if (t->memory_bytes > 0)
        t->memory = calloc(t->memory_bytes, 1);
    return t->registers != NULL && (t->memory != NULL || t->memory_bytes == 0) ? 0 : -1;
}

static int build_core(struct tw_array *a, struct tw_tile *t, struct tw_error *err)
{
    struct tw_core_seat *seat = &t->seat;
    snprintf(seat->name, sizeof seat->name, "core (%u, %u)", t->column, t->row);
    seat->actor = seat->in.actor = (uint16_t)(t->number * TW_ACTORS + TW_ACTOR_CORE);
    seat->out = add_stream(a, t, (struct tw_port){TW_PORT_CORE, 0}, TW_ACTOR_CORE, 0);
    seat->in_reset = 1;
    struct tw_core_options options = {
        .kernels = a->options.kernels, .unknown = a->options.unknown, .strict = a->options.strict, .name = seat->name};
    for (unsigned w = 0; w < TW_WINDOWS; w++) {
        struct tw_tile *other = tw_core_window_tile(a, t, (enum tw_core_window)w);
        options.windows[w] = other != NULL ? other->memory : NULL;
    }
    return tw_core_create(&options, &seat->core, err);
}

static int build(struct tw_array *a, struct tw_error *err)
{
    for (unsigned i = 0; i < a->n_tiles; i++) {
        struct tw_tile *t = &a->tiles[i];
        t->number = (uint16_t)i;
        t->column = (uint8_t)(i / TW_NPU1_ROWS);
        t->row = (uint8_t)(i % TW_NPU1_ROWS);
        t->kind = tw_tile_kind(t->row);
        if (build_memory(t) != 0)
            return tw_fail(err, TW_E_MEMORY, "no memory for the tiles of the emulated array");
        reset_registers(t);
        build_channels(a, t);
        build_ports(a, t);
    }
    for (unsigned i = 0; i < a->n_tiles; i++) {
        int result = a->tiles[i].kind == TW_TILE_CORE ? build_core(a, &a->tiles[i], err) : 0;
        if (result != 0)
            return result;
    }
    return 0;
}

/* Streams of a tile at most: DMA channels, the core, the control port. */
enum { TILE_STREAMS = TW_DMA_CHANNELS_MAX + 2 };

int tw_array_create(const struct tw_array_options *options, struct tw_array **array, struct tw_error *err)
{
    *array = NULL;
    if (options->columns < 1 || options->columns > TW_NPU1_COLUMNS)
        return tw_fail(err, TW_E_ARGUMENT, "an array has 1 to %d columns, not %u", TW_NPU1_COLUMNS, options->columns);
    struct tw_array *a = calloc(1, sizeof *a);
    if (a == NULL)
        return tw_fail(err, TW_E_MEMORY, "no memory for the emulated array");
    a->options = *options;
    a->n_tiles = options->columns * TW_NPU1_ROWS;
    a->tiles = calloc(a->n_tiles, sizeof a->tiles[0]);
    a->streams = calloc((size_t)a->n_tiles * TILE_STREAMS, sizeof a->streams[0]);
    int result = a->tiles != NULL && a->streams != NULL ? build(a, err)
                                                        : tw_fail(err, TW_E_MEMORY, "no memory for the emulated array");
    if (result != 0) {
        tw_array_free(a);
        return result;
    }
    a->stale = 1;
    *array = a;
    return 0;
}

void tw_array_free(struct tw_array *array)
{
    if (array == NULL)
        return;
    for (unsigned i = 0; array->tiles != NULL && i < array->n_tiles; i++) {
        tw_core_free(array->tiles[i].seat.core);
        free(array->tiles[i].memory);
        free(array->tiles[i].registers);
    }
    free(array->tiles);
    free(array->streams);
    free(array);
}

static void reset_channel(struct tw_array *a, struct tw_dma_engine *e)
{
    tw_dma_reset(a, e);
    e->tasks_done = 0;
    e->move_at = 0;
}

static void reset_sink(struct tw_sink *sink, int hungry)
{
    *sink = (struct tw_sink){.actor = sink->actor, .hungry = (uint8_t)hungry};
}

static void reset_tile(struct tw_array *a, struct tw_tile *t)
{
    reset_registers(t);
    memset(&t->locks, 0, sizeof t->locks);
    memset(t->arbiters, 0, sizeof t->arbiters);
    for (unsigned c = 0; c < t->n_channels; c++) {
        reset_channel(a, &t->channels[TW_S2MM][c]);
        reset_channel(a, &t->channels[TW_MM2S][c]);
        reset_sink(&t->channels[TW_S2MM][c].in, 0);
    }
    reset_sink(&t->control.in, 1);
    reset_sink(&t->tokens.in, 1);
    t->control.n = t->control.n_words = t->tokens.inside = 0;
    for (unsigned s = 0; s < TW_SWITCH_PORTS_MAX; s++)
        t->packets[s] = (struct tw_packets){.tile = t, .slave = (uint8_t)s, .actor = t->packets[s].actor};
    if (t->kind != TW_TILE_CORE)
        return;
    reset_sink(&t->seat.in, 0);
    tw_core_seat_control(a, t, TW_CORE_RESET);
}

void tw_array_reset(struct tw_array *array)
{
    array->fault = (struct tw_error){0};
    for (unsigned i = 0; i < array->n_tiles; i++)
        reset_tile(array, &array->tiles[i]);
    for (unsigned i = 0; i < array->n_streams; i++) {
        struct tw_stream *s = &array->streams[i];
        s->written = s->freed = 0;
        s->n_branches = 0;
        s->blocked = 0;
        s->capacity = (uint16_t)(s->own + TW_WORDS_SLAVE);
    }
    memset(&array->queue, 0, sizeof array->queue);
    memset(array->tokens, 0, sizeof array->tokens);
    array->stale = 1;
}

int tw_array_counts(const struct tw_array *array, unsigned column, unsigned row, struct tw_tile_counts *counts)
{
    const struct tw_tile *t =
        column < TW_NPU1_COLUMNS && row < TW_NPU1_ROWS ? tw_array_tile(array, (int)column, (int)row) : NULL;
    memset(counts, 0, sizeof *counts);
    if (t == NULL)
        return TW_E_ARGUMENT;
    for (unsigned c = 0; c < t->n_channels; c++) {
        counts->words_in += t->channels[TW_S2MM][c].words;
        counts->words_out += t->channels[TW_MM2S][c].words;
    }
    if (t->kind != TW_TILE_CORE)
        return 0;
    struct tw_core_counts core = tw_core_counts(t->seat.core);
    counts->bundles = core.bundles;
    counts->bank_stalls = core.bank_stalls;
    counts->request_stalls = core.request_stalls;
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
    for (int actor; (actor = tw_lock_grant(&tile->locks, lock)) >= 0;)
        grant(array, (unsigned)actor);
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
    for (size_t i = 0; i < count; i++, address += 4) {
        struct tw_tile *t = tile_at(array, address, err);
        int result = t != NULL ? tw_tile_write(array, t, tw_tile_offset(address), words[i], err) : TW_E_ARGUMENT;
        if (result != 0)
            return result;
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
    if (array->fault.code == 0 && array->now < until)
        array->now = until;
    return failed(array, err);
}

/* Why nothing more happened: a failure, the limit, or because everything waits. */
static int stopped(struct tw_array *a, uint64_t until, struct tw_error *err)
{
    char text[900];
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
    return 0;
}

int tw_array_wait_register(struct tw_array *array, uint32_t address, uint32_t mask, uint32_t expected, uint64_t until,
                           struct tw_error *err)
{
    for (;;) {
        uint32_t value;
        int result = tw_array_read(array, address, &value, err);
        if (result != 0)
            return result;
        if ((value & mask) == expected)
            return 0;
        if (!step(array, until))
            return stopped(array, until, err);
    }
}

int tw_array_drain(struct tw_array *array, uint64_t until, struct tw_error *err)
{
    char text[4];
    while (step(array, until)) {
    }
    if (array->fault.code == 0 && array->queue.n == 0 && tw_array_waits(array, text, sizeof text) == 0)
        return 0;
    return stopped(array, until, err);
}
