#include "emu/array/trace.h"

#include "emu/array/state.h"

enum { LOCKS_OF_WINDOW = 16 };

static int is_watched(const struct tw_array *a)
{
    return a->options.trace.event != NULL;
}

static void tell(const struct tw_array *a, const struct tw_trace_event *event)
{
    a->options.trace.event(a->options.trace.arg, event);
}

/* ---- cores */

static struct tw_trace_event core_event(const struct tw_tile *t, enum tw_trace_kind kind, enum tw_trace_what what,
                                        uint64_t cycle)
{
    struct tw_trace_event e = {
        .kind = (uint8_t)kind,
        .unit = TW_TRACE_CORE,
        .what = (uint8_t)what,
        .column = t->column,
        .row = t->row,
        .cycle = cycle,
    };
    if (what == TW_TRACE_RUN) {
        struct tw_core_counts counts = tw_core_counts(t->seat.core);
        e.first = (int64_t)counts.bundles;
        e.second = (int64_t)counts.bank_stalls;
    }
    return e;
}

static void tell_core(const struct tw_array *a, const struct tw_tile *t, enum tw_trace_kind kind,
                      enum tw_trace_what what, uint64_t cycle)
{
    struct tw_trace_event e = core_event(t, kind, what, cycle);
    tell(a, &e);
}

void tw_trace_core_runs(struct tw_array *array, const struct tw_tile *tile, uint64_t cycle)
{
    if (is_watched(array))
        tell_core(array, tile, TW_TRACE_BEGIN, TW_TRACE_RUN, cycle);
}

void tw_trace_core_stops(struct tw_array *array, const struct tw_tile *tile, uint64_t cycle)
{
    if (is_watched(array))
        tell_core(array, tile, TW_TRACE_END_ALL, TW_TRACE_RUN, cycle);
}

static int64_t owner_number(const struct tw_tile *owner)
{
    return owner->column << TW_TRACE_OWNER_COLUMN_SHIFT | owner->row;
}

static void describe_request(const struct tw_array *a, const struct tw_tile *t, const struct tw_core_request *r,
                             struct tw_trace_event *e)
{
    const struct tw_tile *owner;
    switch (r->kind) {
    case TW_REQUEST_ACQUIRE:
    case TW_REQUEST_RELEASE:
        owner = tw_core_window_tile(a, t, (enum tw_core_window)(r->lock / LOCKS_OF_WINDOW % TW_WINDOWS));
        e->what = TW_TRACE_WAIT_LOCK;
        e->first = r->lock % LOCKS_OF_WINDOW;
        e->second = owner_number(owner != NULL ? owner : t);
        break;
    case TW_REQUEST_STREAM_READ:
    case TW_REQUEST_STREAM_WRITE:
        e->what = TW_TRACE_WAIT_STREAM;
        e->first = r->words;
        e->second = r->kind == TW_REQUEST_STREAM_WRITE;
        break;
    case TW_REQUEST_CASCADE_READ:
    case TW_REQUEST_CASCADE_WRITE:
        e->what = TW_TRACE_WAIT_CASCADE;
        e->first = r->words;
        e->second = r->kind == TW_REQUEST_CASCADE_WRITE;
        break;
    default:
        e->what = TW_TRACE_WAIT_REGISTER;
        e->first = r->address;
    }
}

void tw_trace_core_waits(struct tw_array *array, const struct tw_tile *tile)
{
    if (!is_watched(array))
        return;
    const struct tw_core_request *r = tw_core_request(tile->seat.core);
    tell_core(array, tile, TW_TRACE_END, TW_TRACE_RUN, r->cycle);
    struct tw_trace_event e = core_event(tile, TW_TRACE_BEGIN, TW_TRACE_WAIT_LOCK, r->cycle);
    describe_request(array, tile, r, &e);
    tell(array, &e);
}

/* A request that is answered in its own cycle or the next is part of running: each costs that. */
void tw_trace_core_answered(struct tw_array *array, const struct tw_tile *tile, uint64_t cycle)
{
    if (!is_watched(array))
        return;
    int waited = tile->seat.waits;
    if (!waited && cycle <= tw_core_request(tile->seat.core)->cycle + TW_CYCLES_LOCK)
        return;
    if (!waited)
        tw_trace_core_waits(array, tile);
    tell_core(array, tile, TW_TRACE_END, TW_TRACE_WAIT_LOCK, cycle);
    tell_core(array, tile, TW_TRACE_BEGIN, TW_TRACE_RUN, cycle);
}

/* ---- DMA */

static void tell_dma(const struct tw_array *a, const struct tw_dma_engine *e, enum tw_trace_kind kind,
                     enum tw_trace_what what, int64_t first, int64_t second)
{
    struct tw_trace_event event = {
        .kind = (uint8_t)kind,
        .unit = e->channel.direction == TW_S2MM ? TW_TRACE_S2MM : TW_TRACE_MM2S,
        .what = (uint8_t)what,
        .column = e->tile->column,
        .row = e->tile->row,
        .channel = (uint8_t)e->channel.number,
        .cycle = a->now,
        .first = first,
        .second = second,
    };
    tell(a, &event);
}

void tw_trace_dma_begins(struct tw_array *array, struct tw_dma_engine *engine, enum tw_trace_what what)
{
    struct tw_tile *owner;
    unsigned lock;
    if (!is_watched(array))
        return;
    if (what == TW_TRACE_TASK)
        tell_dma(array, engine, TW_TRACE_BEGIN, what, engine->queue[0].bd, engine->queue[0].repeat);
    else if (what == TW_TRACE_DESCRIPTOR)
        tell_dma(array, engine, TW_TRACE_BEGIN, what, engine->number, engine->bd.length);
    else if (tw_dma_lock(array, engine, engine->bd.acquire_id, &owner, &lock) == 0)
        tell_dma(array, engine, TW_TRACE_BEGIN, what, lock, owner_number(owner));
}

void tw_trace_dma_ends(struct tw_array *array, struct tw_dma_engine *engine, enum tw_trace_what what)
{
    if (is_watched(array))
        tell_dma(array, engine, TW_TRACE_END, what, 0, 0);
}

void tw_trace_dma_stops(struct tw_array *array, struct tw_dma_engine *engine)
{
    if (is_watched(array))
        tell_dma(array, engine, TW_TRACE_END_ALL, TW_TRACE_TASK, 0, 0);
}

/* ---- locks and tokens */

void tw_trace_lock(struct tw_array *array, struct tw_tile *tile, unsigned lock)
{
    if (!is_watched(array))
        return;
    const struct tw_trace_event event = {
        .kind = TW_TRACE_VALUE,
        .unit = TW_TRACE_LOCKS,
        .what = TW_TRACE_LOCK,
        .column = tile->column,
        .row = tile->row,
        .cycle = array->now,
        .first = lock,
        .second = tile->locks.values[lock],
    };
    tell(array, &event);
}

void tw_trace_token(struct tw_array *array, unsigned column, unsigned row, unsigned actor)
{
    if (!is_watched(array))
        return;
    const struct tw_trace_event event = {
        .kind = TW_TRACE_MOMENT,
        .unit = TW_TRACE_TOKENS,
        .what = TW_TRACE_TOKEN,
        .column = (uint8_t)column,
        .row = (uint8_t)row,
        .cycle = array->now,
        .first = actor,
    };
    tell(array, &event);
}
