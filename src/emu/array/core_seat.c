#include "emu/array/core_seat.h"

#include "emu/array/state.h"
#include "emu/array/trace.h"
#include "emu/fault.h"
#include "npu1_registers.h"

#include <string.h>

/* Bits of Core_Status (AM025) behind the two of Core_Control. */
enum status {
    STATUS_LOCK_STALL = 6, /* south; west, north, own follow */
    STATUS_STREAM_READ = 10,
    STATUS_STREAM_WRITE = 12,
    STATUS_CASCADE_READ = 14,
    STATUS_CASCADE_WRITE = 15,
    STATUS_ERROR_HALT = 19,
    STATUS_DONE = 20
};

enum { LOCKS_OF_WINDOW = 16 };

struct tw_tile *tw_core_window_tile(const struct tw_array *array, const struct tw_tile *tile,
                                    enum tw_core_window window)
{
    static const struct {
        int column, row;
    } to[TW_WINDOWS] = {
        [TW_WINDOW_SOUTH] = {0, -1}, [TW_WINDOW_WEST] = {-1, 0}, [TW_WINDOW_NORTH] = {0, 1}, [TW_WINDOW_OWN] = {0, 0}};
    struct tw_tile *other = tw_array_tile(array, tile->column + to[window].column, tile->row + to[window].row);
    return other != NULL && other->kind == TW_TILE_CORE ? other : NULL;
}

/* Returns NULL after a fault. */
static struct tw_tile *lock_tile(struct tw_array *a, struct tw_tile *t, unsigned lock)
{
    struct tw_tile *other = tw_core_window_tile(a, t, (enum tw_core_window)(lock / LOCKS_OF_WINDOW % TW_WINDOWS));
    if (other == NULL)
        tw_array_fault(a, TW_E_ARGUMENT, "%s uses lock %u of a neighbour that is not there", t->seat.name, lock);
    return other;
}

/* Each of these returns 1 when the request is answered, 0 when it has to wait. */

static int acquire(struct tw_array *a, struct tw_tile *t, const struct tw_core_request *r,
                   struct tw_core_answer *answer)
{
    struct tw_tile *owner = lock_tile(a, t, r->lock);
    unsigned lock = r->lock % LOCKS_OF_WINDOW;
    answer->cycle = a->now + TW_CYCLES_LOCK;
    if (t->seat.granted) {
        t->seat.granted = 0;
        return 1;
    }
    if (owner == NULL || t->seat.waits)
        return 0;
    if (tw_lock_try(&owner->locks, lock, r->value)) {
        tw_trace_lock(a, owner, lock);
        return 1;
    }
    if (tw_lock_wait(&owner->locks, t->seat.actor, lock, r->value) != 0)
        tw_array_fault(a, TW_E_LIMIT, "more wait for the locks of tile (%u, %u) than there can be", owner->column,
                       owner->row);
    return 0;
}

static int release(struct tw_array *a, struct tw_tile *t, const struct tw_core_request *r,
                   struct tw_core_answer *answer)
{
    struct tw_tile *owner = lock_tile(a, t, r->lock);
    if (owner == NULL)
        return 0;
    tw_array_lock_release(a, owner, r->lock % LOCKS_OF_WINDOW, r->value);
    answer->cycle = a->now + TW_CYCLES_LOCK;
    return 1;
}

static int stream_read(struct tw_array *a, struct tw_tile *t, const struct tw_core_request *r,
                       struct tw_core_answer *answer)
{
    struct tw_sink *in = &t->seat.in;
    unsigned there = tw_sink_available(in, 0);
    int now = there >= r->words && tw_sink_arrival(in) <= a->now;
    if (!r->blocking && !now) {
        answer->success = 0;
        return 1;
    }
    if (there < r->words) {
        in->hungry = 1;
        return 0;
    }
    int last;
    uint64_t next = tw_sink_take(a, in, answer->data, NULL, r->words, &last, a->now << TW_TICK_SHIFT, TW_TICKS);
    answer->last = (uint8_t)last;
    answer->cycle = (next >> TW_TICK_SHIFT) - 1;
    return 1;
}

static int stream_write(struct tw_array *a, struct tw_tile *t, const struct tw_core_request *r,
                        struct tw_core_answer *answer)
{
    struct tw_stream *out = t->seat.out;
    if (tw_stream_room(out) < r->words) {
        answer->success = 0;
        out->blocked = r->blocking;
        return !r->blocking;
    }
    uint64_t next =
        tw_stream_send(a, out, r->data, r->words, r->last, a->now << TW_TICK_SHIFT, TW_TICKS) >> TW_TICK_SHIFT;
    answer->cycle = next - 1;
    return 1;
}

/* Core_Processor_Bus must let the core at its tile's registers. */
static int bus_is_open(struct tw_array *a, struct tw_tile *t, uint32_t offset)
{
    if (tw_tile_word(t, TW_REG_CORE_CORE_PROCESSOR_BUS) & 1)
        return 1;
    tw_array_fault(a, TW_E_ARGUMENT,
                   "%s accesses its tile's register 0x%x, but Core_Processor_Bus does not enable that", t->seat.name,
                   (unsigned)offset);
    return 0;
}

static int tile_access(struct tw_array *a, struct tw_tile *t, const struct tw_core_request *r,
                       struct tw_core_answer *answer)
{
    struct tw_error err = {0};
    if (!bus_is_open(a, t, r->address))
        return 0;
    int result = r->kind == TW_REQUEST_TILE_READ ? tw_tile_read(a, t, r->address, &answer->data[0], &err)
                                                 : tw_tile_write(a, t, r->address, r->data[0], &err);
    if (result != 0)
        tw_array_fault(a, result, "%s: %s", t->seat.name, err.text);
    answer->cycle = a->now + TW_CYCLES_TILE_BUS;
    return 1;
}

static int serve(struct tw_array *a, struct tw_tile *t, const struct tw_core_request *r, struct tw_core_answer *answer)
{
    *answer = (struct tw_core_answer){.cycle = a->now, .success = 1};
    switch (r->kind) {
    case TW_REQUEST_ACQUIRE:
        return acquire(a, t, r, answer);
    case TW_REQUEST_RELEASE:
        return release(a, t, r, answer);
    case TW_REQUEST_STREAM_READ:
        return stream_read(a, t, r, answer);
    case TW_REQUEST_STREAM_WRITE:
        return stream_write(a, t, r, answer);
    case TW_REQUEST_CASCADE_READ:
        return tw_cascade_read(a, t, answer->data, &answer->cycle);
    case TW_REQUEST_CASCADE_WRITE:
        return tw_cascade_write(a, t, r->data, &answer->cycle);
    case TW_REQUEST_TILE_READ:
    case TW_REQUEST_TILE_WRITE:
        return tile_access(a, t, r, answer);
    case TW_REQUEST_EVENT: /* nothing listens to events */
        return 1;
    }
    return 0;
}

static enum tw_stall kind_of(const struct tw_core_request *r)
{
    switch (r->kind) {
    case TW_REQUEST_STREAM_READ:
    case TW_REQUEST_STREAM_WRITE:
        return TW_STALL_STREAM;
    case TW_REQUEST_CASCADE_READ:
    case TW_REQUEST_CASCADE_WRITE:
        return TW_STALL_CASCADE;
    case TW_REQUEST_TILE_READ:
    case TW_REQUEST_TILE_WRITE:
        return TW_STALL_REGISTER;
    default:
        return TW_STALL_LOCK;
    }
}

void tw_core_seat_stalls(const struct tw_array *array, const struct tw_tile *tile, uint64_t stalls[TW_STALLS])
{
    const struct tw_core_seat *seat = &tile->seat;
    memcpy(stalls, seat->stalls, sizeof seat->stalls);
    if (!seat->asks || !seat->waits)
        return;
    const struct tw_core_request *r = tw_core_request(seat->core);
    stalls[kind_of(r)] += array->now - r->cycle;
}

/* What the core has lost to DMA before its request goes by while it waits, or comes on top. */
static void pay_for_banks(struct tw_tile *t, const struct tw_core_request *r, struct tw_core_answer *answer)
{
    uint64_t lost = tw_bank_pay(t, answer->cycle);
    if (lost == 0 || answer->cycle >= r->cycle + lost + TW_CYCLES_LOCK)
        return;
    uint64_t cycle = r->cycle + lost + TW_CYCLES_LOCK;
    t->seat.bank_stalls += cycle - answer->cycle;
    answer->cycle = cycle;
}

/* The core's request has come up: answers it, or leaves it waiting. Returns 1 when the core can go on. */
static int handle_request(struct tw_array *a, struct tw_tile *t)
{
    struct tw_core_seat *seat = &t->seat;
    struct tw_core_request request = *tw_core_request(seat->core);
    struct tw_core_answer answer;
    unsigned life = seat->life;
    if (!seat->waits && tw_fault_hits(a->options.faults, TW_FAULT_CORE))
        seat->hangs = 1;
    if (seat->hangs || !serve(a, t, &request, &answer)) {
        if (!seat->waits)
            tw_trace_core_waits(a, t);
        seat->waits = 1;
        return 0;
    }
    if (a->fault.code != 0 || seat->life != life) /* it may have reset itself */
        return 0;
    if (answer.cycle < request.cycle)
        answer.cycle = request.cycle;
    seat->stalls[kind_of(&request)] += answer.cycle - request.cycle;
    pay_for_banks(t, &request, &answer);
    tw_trace_core_answered(a, t, answer.cycle);
    seat->asks = seat->waits = 0;
    tw_core_answer(seat->core, &answer);
    return 1;
}

static void stop_at_clock(struct tw_array *a, struct tw_core_seat *seat, uint8_t *why)
{
    *why = 1;
    tw_trace_core_stops(a, &a->tiles[seat->actor / TW_ACTORS], tw_core_clock(seat->core));
}

static uint64_t later(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* The core can go on: it is simulated ahead of its next act. */
static void go_on(struct tw_array *a, struct tw_tile *t)
{
    uint64_t act = later(tw_core_clock(t->seat.core), a->now);
    tw_array_wake(a, t->seat.actor, act);
    tw_core_seat_begin(a, t, act);
}

/* What the core's simulation has come to. */
static void finish(struct tw_array *a, struct tw_tile *t)
{
    struct tw_core_seat *seat = &t->seat;
    seat->ran = 0;
    switch (seat->outcome) {
    case TW_CORE_RUNNING:
        tw_bank_compare(a, t);
        go_on(a, t);
        break;
    case TW_CORE_REQUEST:
        seat->asks = 1;
        seat->waits = 0;
        tw_array_wake(a, seat->actor, tw_core_request(seat->core)->cycle);
        break;
    case TW_CORE_DONE:
        if (tw_core_clock(seat->core) > a->now)
            tw_array_wake(a, seat->actor, tw_core_clock(seat->core));
        else
            stop_at_clock(a, seat, &seat->done);
        break;
    case TW_CORE_FAILED:
        stop_at_clock(a, seat, &seat->failed);
        tw_array_fault(a, seat->reason.code != 0 ? seat->reason.code : TW_E_ARGUMENT, "%s", seat->reason.text);
        break;
    }
}

int tw_core_seat_is_running(const struct tw_core_seat *seat)
{
    return seat->enabled && !seat->in_reset && !seat->done && !seat->failed;
}

void tw_core_seat_act(struct tw_array *array, struct tw_tile *tile)
{
    struct tw_core_seat *seat = &tile->seat;
    if (!tw_core_seat_is_running(seat))
        return;
    if (seat->asks) {
        tw_bank_compare(array, tile);
        uint64_t asked = tw_core_request(seat->core)->cycle;
        if (asked > array->now) {
            tw_array_wake(array, seat->actor, asked);
            return;
        }
        seat->stride = 0;
        if (handle_request(array, tile))
            go_on(array, tile);
        return;
    }
    if (!seat->ran && tw_core_clock(seat->core) > array->now + array->options.run_ahead) {
        tw_array_wake(array, seat->actor, tw_core_clock(seat->core));
        return;
    }
    if (!seat->ran)
        tw_core_seat_begin(array, tile, array->now);
    tw_core_seat_join(array, tile);
    if (tw_core_seat_has_stopped(seat))
        tw_core_seats_leave(array);
    finish(array, tile);
}

static void reset(struct tw_array *a, struct tw_tile *t)
{
    struct tw_core_seat *seat = &t->seat;
    for (unsigned w = 0; w < TW_WINDOWS; w++) {
        struct tw_tile *other = tw_core_window_tile(a, t, (enum tw_core_window)w);
        if (other != NULL)
            tw_lock_forget(&other->locks, seat->actor);
    }
    tw_core_reset(seat->core);
    seat->life++;
    seat->asks = seat->waits = seat->ran = seat->hangs = seat->granted = seat->done = seat->failed = 0;
    seat->in.hungry = 0;
    seat->out->blocked = 0;
    seat->cascade.n = 0;
}

void tw_core_seat_control(struct tw_array *array, struct tw_tile *tile, uint32_t value)
{
    struct tw_core_seat *seat = &tile->seat;
    int was_running = seat->enabled && !seat->in_reset;
    tw_core_seat_join(array, tile);
    if (was_running && (value & (TW_CORE_ENABLE | TW_CORE_RESET)) != TW_CORE_ENABLE)
        tw_trace_core_stops(array, tile, later(array->now, tw_core_clock(seat->core)));
    if ((value & TW_CORE_RESET) && !seat->in_reset)
        reset(array, tile);
    seat->in_reset = (value & TW_CORE_RESET) != 0;
    if ((value & TW_CORE_ENABLE) && !seat->enabled)
        seat->done = 0;
    seat->enabled = (value & TW_CORE_ENABLE) != 0;
    if (was_running || !seat->enabled || seat->in_reset)
        return;
    if (tw_core_clock(seat->core) < array->now)
        tw_core_set_clock(seat->core, array->now);
    tw_trace_core_runs(array, tile, tw_core_clock(seat->core));
    seat->stride = 0;
    tw_array_wake(array, seat->actor, array->now);
    tw_core_seats_call(array);
}

static uint32_t stall(const struct tw_core_seat *seat)
{
    if (!seat->asks || !seat->waits)
        return 0;
    const struct tw_core_request *r = tw_core_request(seat->core);
    switch (r->kind) {
    case TW_REQUEST_ACQUIRE:
        return UINT32_C(1) << (STATUS_LOCK_STALL + r->lock / LOCKS_OF_WINDOW % TW_WINDOWS);
    case TW_REQUEST_STREAM_READ:
        return UINT32_C(1) << STATUS_STREAM_READ;
    case TW_REQUEST_STREAM_WRITE:
        return UINT32_C(1) << STATUS_STREAM_WRITE;
    case TW_REQUEST_CASCADE_READ:
        return UINT32_C(1) << STATUS_CASCADE_READ;
    case TW_REQUEST_CASCADE_WRITE:
        return UINT32_C(1) << STATUS_CASCADE_WRITE;
    default:
        return 0;
    }
}

uint32_t tw_core_seat_status(const struct tw_core_seat *seat)
{
    return (seat->enabled ? TW_CORE_ENABLE : 0) | (seat->in_reset ? TW_CORE_RESET : 0) | stall(seat) |
           (uint32_t)seat->failed << STATUS_ERROR_HALT | (uint32_t)seat->done << STATUS_DONE;
}
