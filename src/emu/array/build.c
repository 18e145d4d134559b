/* Making an array, and setting it back. */
#include "base/crew.h"
#include "emu/array/state.h"
#include "npu1/registers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct tw_stream *add_stream(struct tw_array *a, struct tw_tile *t, struct tw_port port, unsigned actor,
                                    unsigned own)
{
    struct tw_stream *s = &a->streams[a->n_streams++];
    s->tile = t;
    s->slave = (uint8_t)tw_switch_index(t->kind, TW_SLAVE, port);
    s->actor = (uint16_t)(t->number * TW_ACTORS + actor);
    s->own = (uint8_t)own;
    s->is_steady = actor >= TW_ACTOR_MM2S && actor < TW_ACTOR_PACKETS;
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
    if (t->kind == TW_TILE_CORE) {
        t->banks = calloc(1, sizeof *t->banks);
        t->late = calloc(1, sizeof *t->late);
        if (t->banks == NULL || t->late == NULL)
            return -1;
    }
    return t->registers != NULL && (t->memory != NULL || t->memory_bytes == 0) ? 0 : -1;
}

static int build_core(struct tw_array *a, struct tw_tile *t, struct tw_error *err)
{
    struct tw_core_seat *seat = &t->seat;
    snprintf(seat->name, sizeof seat->name, "core (%u, %u)", t->column, t->row);
    seat->actor = seat->in.actor = (uint16_t)(t->number * TW_ACTORS + TW_ACTOR_CORE);
    seat->out = add_stream(a, t, (struct tw_port){TW_PORT_CORE, 0}, TW_ACTOR_CORE, 0);
    seat->in_reset = 1;
    struct tw_core_options options = {.kernels = a->options.kernels,
                                      .unknown = a->options.unknown,
                                      .strict = a->options.strict,
                                      .name = seat->name,
                                      .banks = t->banks->core};
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
    if (a->options.unknown == NULL)
        a->options.unknown = &tw_unknown_defaults;
    if (a->options.run_ahead == 0)
        a->options.run_ahead = TW_RUN_AHEAD;
    if (a->options.run_ahead > TW_RUN_AHEAD_MOST)
        a->options.run_ahead = TW_RUN_AHEAD_MOST;
    tw_ddr_prepare(a);
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
    tw_crew_destroy(array->crew);
    for (unsigned i = 0; array->tiles != NULL && i < array->n_tiles; i++) {
        tw_core_free(array->tiles[i].seat.core);
        free(array->tiles[i].memory);
        free(array->tiles[i].banks);
        free(array->tiles[i].late);
        free(array->tiles[i].registers);
    }
    free(array->tiles);
    free(array->streams);
    free(array);
}

static void reset_channel(struct tw_array *a, struct tw_dma_engine *e)
{
    tw_dma_reset(a, e);
    tw_dma_configure(a, e);
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
