#include "emu/array/dma_channel.h"

#include "emu/array/state.h"
#include "emu/array/trace.h"
#include "npu1/bits.h"
#include "npu1_registers.h"

#include <stdio.h>
#include <string.h>

/* Of a memory tile, even channels use the descriptors below, odd ones those from here on (AM020). */
enum { MEMORY_ODD_BD = 24 };

void tw_dma_name(const struct tw_dma_engine *engine, char *text, unsigned size)
{
    snprintf(text, size, "DMA (%u, %u) %s %u", engine->tile->column, engine->tile->row,
             engine->channel.direction == TW_S2MM ? "S2MM" : "MM2S", engine->channel.number);
}

static void fault(struct tw_array *a, struct tw_dma_engine *e, uint32_t status, int code, const char *what)
{
    char name[40];
    tw_dma_name(e, name, sizeof name);
    e->sticky |= status;
    tw_array_fault(a, code, "%s, descriptor %u: %s", name, e->number, what);
}

static int is_out_of_order(const struct tw_dma_engine *e)
{
    return e->channel.direction == TW_S2MM && e->settings.out_of_order;
}

/* Goes on in a phase at a cycle. */
static void later(struct tw_array *a, struct tw_dma_engine *e, enum tw_dma_phase phase, uint64_t cycle)
{
    e->phase = phase;
    e->due = cycle < a->now ? a->now : cycle;
    tw_array_wake(a, e->actor, e->due);
}

/* Of the running task, when all its descriptors are as the first one. */
static uint64_t task_words(const struct tw_dma_engine *e)
{
    struct tw_bd bd;
    tw_bd_decode(e->tile->kind, e->tile->registers + tw_bd_offset(e->tile->kind, e->queue[0].bd) / 4, &bd);
    return (uint64_t)bd.length * e->queue[0].repeat;
}

/* A cost that a task's words hide when they are many, down to what the next task would pay. */
static uint64_t unhidden(uint64_t cold, uint64_t next, uint64_t words)
{
    uint64_t more = words > TW_SHIM_COLD_WORDS ? words - TW_SHIM_COLD_WORDS : 0;
    return cold > next + more ? cold - more : next;
}

/* What a shim's task costs more than one of another tile: MM2S before its first word, S2MM behind its last one. */
static uint64_t shim_cost(const struct tw_dma_engine *e)
{
    if (e->tile->kind != TW_TILE_SHIM)
        return 0;
    if (e->channel.direction == TW_S2MM)
        return TW_CYCLES_SHIM_S2MM_TASK +
               (e->tasks_done == 0 ? unhidden(TW_CYCLES_SHIM_S2MM_COLD, 0, task_words(e)) : 0);
    uint64_t cold = TW_CYCLES_SHIM_MM2S_COLD;
    for (uint32_t done = e->tasks_done; done > 0 && cold > 0; done--)
        cold = cold * TW_SHIM_COLD_DECAY_PERCENT / 100;
    return TW_CYCLES_SHIM_MM2S_TASK + unhidden(cold, cold * TW_SHIM_COLD_DECAY_PERCENT / 100, task_words(e));
}

static void begin_task(struct tw_array *a, struct tw_dma_engine *e)
{
    uint64_t cycles = TW_CYCLES_START + TW_CYCLES_BD;
    if (e->channel.direction == TW_MM2S)
        cycles += shim_cost(e);
    e->fetches = 1;
    e->number = e->queue[0].bd;
    e->repeat = e->queue[0].repeat;
    tw_trace_dma_begins(a, e, TW_TRACE_TASK);
    later(a, e, TW_DMA_LOAD, a->now + cycles);
}

void tw_dma_push(struct tw_array *array, struct tw_dma_engine *engine, struct tw_dma_task task)
{
    if (engine->settings.reset)
        return;
    if (engine->n_queue == TW_DMA_QUEUE_DEPTH + !array->options.unknown->queue_holds_running) {
        engine->sticky |= TW_DMA_QUEUE_OVERFLOW;
        return;
    }
    engine->queue[engine->n_queue++] = task;
    if (engine->n_queue == 1)
        begin_task(array, engine);
}

void tw_dma_reset(struct tw_array *array, struct tw_dma_engine *engine)
{
    for (unsigned i = 0; i < array->n_tiles; i++)
        if (engine->phase == TW_DMA_ACQUIRE)
            tw_lock_forget(&array->tiles[i].locks, engine->actor);
    tw_trace_dma_stops(array, engine);
    tw_ddr_rest(array, engine);
    engine->phase = TW_DMA_IDLE;
    engine->n_queue = 0;
    engine->granted = 0;
    engine->sticky = 0;
    engine->release.due = 0;
    engine->in.hungry = 0;
    if (engine->out != NULL)
        engine->out->blocked = 0;
}

void tw_dma_configure(struct tw_array *array, struct tw_dma_engine *engine)
{
    enum tw_tile_kind kind = engine->tile->kind;
    engine->settings =
        tw_dma_control_decode(kind, tw_tile_word(engine->tile, tw_dma_control_offset(kind, engine->channel)));
    if (engine->settings.reset)
        tw_dma_reset(array, engine);
    else if (engine->phase == TW_DMA_MOVE) /* it may have been paused */
        tw_array_wake(array, engine->actor, array->now);
}

static int descriptor_is_reachable(const struct tw_dma_engine *e)
{
    enum tw_tile_kind kind = e->tile->kind;
    if (e->number >= tw_bd_count(kind))
        return 0;
    return kind != TW_TILE_MEMORY || (e->number >= MEMORY_ODD_BD) == e->channel.number % 2;
}

/* Moves the descriptor's iteration on, in its register, as the hardware does at each execution. */
static void iterate(struct tw_dma_engine *e)
{
    static const struct {
        unsigned word;
        int field;
    } places[TW_TILE_KINDS] = {
        [TW_TILE_SHIM] = {6, TW_FIELD_SHIM_DMA_BD_6_ITERATION_CURRENT},
        [TW_TILE_MEMORY] = {6, TW_FIELD_MEMORY_DMA_BD_6_ITERATION_CURRENT},
        [TW_TILE_CORE] = {4, TW_FIELD_CORE_DMA_BD_4_ITERATION_CURRENT},
    };
    enum tw_tile_kind kind = e->tile->kind;
    uint32_t next = e->bd.iteration.current + 1 < e->bd.iteration.count ? e->bd.iteration.current + 1 : 0;
    uint32_t *word = &e->tile->registers[tw_bd_offset(kind, e->number) / 4 + places[kind].word];
    *word = (*word & ~tw_bits_mask(places[kind].field)) | tw_bits_put(next, places[kind].field);
}

/* Reads the descriptor; returns 0, or -1 after a fault. */
static int load(struct tw_array *a, struct tw_dma_engine *e)
{
    enum tw_tile_kind kind = e->tile->kind;
    if (!descriptor_is_reachable(e)) {
        fault(a, e, TW_DMA_BD_UNAVAILABLE, TW_E_ARGUMENT, "this channel cannot use it");
        return -1;
    }
    tw_bd_decode(kind, e->tile->registers + tw_bd_offset(kind, e->number) / 4, &e->bd);
    if (!e->bd.valid) {
        fault(a, e, TW_DMA_BD_INVALID, TW_E_ARGUMENT, "its valid bit is not set");
        return -1;
    }
    if (e->bd.compression && e->settings.compression) {
        fault(a, e, 0, TW_E_UNSUPPORTED, "compression is not modelled");
        return -1;
    }
    if (e->channel.direction == TW_S2MM && e->settings.finish_on_tlast > 1) {
        fault(a, e, 0, TW_E_UNSUPPORTED, "finish on TLAST with counts is not modelled");
        return -1;
    }
    if (e->bd.length == 0) {
        fault(a, e, 0, TW_E_UNSUPPORTED, "what a length of 0 does is not modelled");
        return -1;
    }
    if (e->channel.direction == TW_S2MM)
        for (unsigned d = 0; d < TW_BD_DIMENSIONS_MAX; d++)
            e->bd.dimensions[d].zeros_before = e->bd.dimensions[d].zeros_after = 0;
    tw_address_begin(&e->pattern, &e->bd, tw_bd_dimensions(kind));
    e->header = e->channel.direction == TW_MM2S && e->bd.packet_enable;
    iterate(e);
    tw_trace_dma_begins(a, e, TW_TRACE_DESCRIPTOR);
    return 0;
}

/* Until the first word of a descriptor comes out of memory; a shim's descriptor is read ahead behind another. */
static uint64_t fetch_cycles(const struct tw_dma_engine *e)
{
    if (e->channel.direction == TW_S2MM || (e->tile->kind == TW_TILE_SHIM && !e->fetches))
        return 0;
    return TW_CYCLES_MEMORY + (e->tile->kind == TW_TILE_MEMORY && e->fetches ? TW_CYCLES_MEMORY_TILE : 0);
}

static void begin_move(struct tw_array *a, struct tw_dma_engine *e)
{
    uint64_t tick = (a->now + fetch_cycles(e)) << TW_TICK_SHIFT;
    e->phase = TW_DMA_MOVE;
    e->begun = a->now;
    e->granule = UINT64_MAX; /* none yet */
    e->fetches = 0;
    e->burst_left = 0;
    e->interval = TW_TICKS;
    if (e->move_at < tick)
        e->move_at = tick;
    tw_dma_move(a, e);
}

static void acquire(struct tw_array *a, struct tw_dma_engine *e)
{
    struct tw_tile *tile;
    unsigned lock;
    if (!e->bd.acquire_enable) {
        begin_move(a, e);
        return;
    }
    if (tw_dma_lock(a, e, e->bd.acquire_id, &tile, &lock) != 0)
        return;
    e->granted = 0;
    if (tw_lock_try(&tile->locks, lock, e->bd.acquire_value)) {
        tw_trace_lock(a, tile, lock);
        begin_move(a, e);
        return;
    }
    tw_trace_dma_begins(a, e, TW_TRACE_WAIT_LOCK);
    e->phase = TW_DMA_ACQUIRE;
    e->fetches = 1;
    if (tw_lock_wait(&tile->locks, e->actor, lock, e->bd.acquire_value) != 0)
        fault(a, e, 0, TW_E_LIMIT, "more wait for the locks of one tile than there can be");
}

static void load_and_acquire(struct tw_array *a, struct tw_dma_engine *e)
{
    if (load(a, e) == 0)
        acquire(a, e);
}

/* Out of order, the packet's header says which descriptor it is for. */
static void take_header(struct tw_array *a, struct tw_dma_engine *e)
{
    if (tw_sink_available(&e->in, 0) == 0) {
        e->phase = TW_DMA_HEADER;
        e->in.hungry = 1;
        return;
    }
    if (tw_sink_arrival(&e->in) > a->now) {
        e->phase = TW_DMA_HEADER;
        tw_array_wake(a, e->actor, tw_sink_arrival(&e->in));
        return;
    }
    uint32_t header;
    e->move_at = tw_sink_take(a, &e->in, &header, NULL, 1, NULL, a->now << TW_TICK_SHIFT, TW_TICKS);
    e->number = header >> TW_OUT_OF_ORDER_SHIFT & TW_OUT_OF_ORDER_TOP;
    load_and_acquire(a, e);
}

static void release(struct tw_array *a, struct tw_dma_engine *e)
{
    struct tw_tile *tile;
    unsigned lock;
    e->release.due = 0;
    if (tw_dma_lock(a, e, e->release.lock, &tile, &lock) == 0)
        tw_array_lock_release(a, tile, lock, e->release.value);
}

/* Words are in memory some time after they were taken; the channel goes on meanwhile, until the next release. */
static void release_when_written(struct tw_array *a, struct tw_dma_engine *e)
{
    e->release.lock = e->bd.release_id;
    e->release.value = e->bd.release_value;
    if (e->channel.direction == TW_MM2S)
        release(a, e);
    else
        e->release.due = a->now + TW_CYCLES_MEMORY;
}

static void finish(struct tw_array *a, struct tw_dma_engine *e)
{
    if (e->release.due != 0) {
        later(a, e, TW_DMA_FINISH, e->release.due);
        return;
    }
    tw_ddr_rest(a, e);
    if (e->bd.release_value != 0)
        release_when_written(a, e);
    if (a->fault.code != 0)
        return;
    tw_trace_dma_ends(a, e, TW_TRACE_DESCRIPTOR);
    if (e->bd.use_next && !is_out_of_order(e)) {
        e->number = e->bd.next;
        later(a, e, TW_DMA_LOAD, a->now + TW_CYCLES_CHAIN);
    } else if (--e->repeat > 0) {
        e->number = e->queue[0].bd;
        later(a, e, TW_DMA_LOAD, a->now + TW_CYCLES_CHAIN);
    } else {
        later(a, e, TW_DMA_DONE, a->now + (e->channel.direction == TW_S2MM ? TW_CYCLES_MEMORY + shim_cost(e) : 0));
    }
}

static int send_token(struct tw_array *a, struct tw_dma_engine *e)
{
    const struct tw_tile *t = e->tile;
    int actor = tw_dma_actor(t->kind, e->channel);
    if (actor < 0) {
        fault(a, e, 0, TW_E_UNSUPPORTED, "the number that this channel's tokens carry is not known");
        return 0;
    }
    return tw_control_token(a, e->tile,
                            tw_dma_token_word(t->column, t->row, (unsigned)actor, e->settings.controller_id));
}

static void done(struct tw_array *a, struct tw_dma_engine *e)
{
    if (e->queue[0].token && !send_token(a, e)) {
        e->phase = TW_DMA_TOKEN;
        return;
    }
    tw_trace_dma_ends(a, e, TW_TRACE_TASK);
    e->tasks_done++;
    e->n_queue--;
    memmove(e->queue, e->queue + 1, e->n_queue * sizeof e->queue[0]);
    e->phase = TW_DMA_IDLE;
    if (e->n_queue > 0)
        begin_task(a, e);
}

static void act(struct tw_array *array, struct tw_dma_engine *engine)
{
    switch (engine->phase) {
    case TW_DMA_LOAD:
    case TW_DMA_FINISH:
    case TW_DMA_DONE:
        if (array->now < engine->due)
            tw_array_wake(array, engine->actor, engine->due);
        else if (engine->phase == TW_DMA_FINISH)
            finish(array, engine);
        else if (engine->phase == TW_DMA_DONE)
            done(array, engine);
        else if (is_out_of_order(engine))
            take_header(array, engine);
        else
            load_and_acquire(array, engine);
        break;
    case TW_DMA_HEADER:
        take_header(array, engine);
        break;
    case TW_DMA_ACQUIRE:
        if (!engine->granted)
            break;
        tw_trace_dma_ends(array, engine, TW_TRACE_WAIT_LOCK);
        begin_move(array, engine);
        break;
    case TW_DMA_MOVE:
        tw_dma_move(array, engine);
        break;
    case TW_DMA_TOKEN:
        done(array, engine);
        break;
    case TW_DMA_IDLE:
        break;
    }
}

void tw_dma_act(struct tw_array *array, struct tw_dma_engine *engine)
{
    if (engine->release.due != 0 && engine->release.due <= array->now)
        release(array, engine);
    act(array, engine);
    if (engine->release.due != 0)
        tw_array_wake(array, engine->actor, engine->release.due);
}

static uint32_t waiting_bits(const struct tw_dma_engine *e)
{
    switch (e->phase) {
    case TW_DMA_ACQUIRE:
        return TW_DMA_STALLED_ACQUIRE;
    case TW_DMA_TOKEN:
        return TW_DMA_STALLED_TOKEN;
    case TW_DMA_HEADER:
        return TW_DMA_STALLED_STREAM;
    case TW_DMA_MOVE:
        return (e->out != NULL ? e->out->blocked : e->in.hungry) ? TW_DMA_STALLED_STREAM : 0;
    default:
        return 0;
    }
}

uint32_t tw_dma_status_word(const struct tw_dma_engine *engine)
{
    enum { STARTING = 1, RUNNING = 2, STALLED = 3 };
    uint32_t status = engine->sticky;
    if (engine->phase == TW_DMA_IDLE)
        return status;
    uint32_t waiting = waiting_bits(engine);
    uint32_t state = waiting != 0 ? STALLED : engine->phase == TW_DMA_LOAD ? STARTING : RUNNING;
    /* The task that runs is no longer in the queue. */
    uint32_t queued = engine->n_queue - 1;
    return status | state | waiting | TW_DMA_RUNNING | queued << TW_DMA_QUEUE_SHIFT | engine->number << TW_DMA_BD_SHIFT;
}
