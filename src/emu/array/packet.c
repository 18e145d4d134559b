#include "emu/array/packet.h"

#include "emu/array/state.h"

uint64_t tw_packets_position(const struct tw_packets *packets)
{
    if (packets->state != TW_PACKET_PASSES)
        return packets->next;
    uint64_t position = UINT64_MAX;
    for (unsigned i = 0; i < packets->n_ends; i++)
        if (packets->ends[i].sink->next < position)
            position = packets->ends[i].sink->next;
    return position;
}

static void drop_waiter(struct tw_arbiter *a, const struct tw_packets *p)
{
    unsigned kept = 0;
    for (unsigned i = 0; i < a->n_waiters; i++)
        if (a->waiters[i] != p)
            a->waiters[kept++] = a->waiters[i];
    a->n_waiters = kept;
}

/* The one that has waited longest is next. */
static void let_go(struct tw_array *a, struct tw_arbiter *arbiter)
{
    arbiter->holder = NULL;
    if (arbiter->n_waiters == 0)
        return;
    struct tw_packets *p = arbiter->waiters[0];
    drop_waiter(arbiter, p);
    arbiter->holder = p;
    tw_array_wake(a, p->actor, a->now);
}

void tw_packets_leave(struct tw_array *array, struct tw_packets *packets)
{
    if (packets->state == TW_PACKET_WAITS)
        drop_waiter(packets->arbiters[packets->n_held], packets);
    for (unsigned i = 0; i < packets->n_arbiters; i++)
        if (packets->arbiters[i]->holder == packets)
            let_go(array, packets->arbiters[i]);
    packets->n_arbiters = packets->n_held = packets->n_ends = packets->n_ended = 0;
    packets->state = TW_PACKET_NONE;
}

/* Returns 1 when all arbiters are held. */
static int hold_arbiters(struct tw_array *a, struct tw_packets *p)
{
    for (; p->n_held < p->n_arbiters; p->n_held++) {
        struct tw_arbiter *arbiter = p->arbiters[p->n_held];
        if (arbiter->holder == p)
            continue;
        if (arbiter->holder == NULL) {
            arbiter->holder = p;
            continue;
        }
        if (arbiter->n_waiters == TW_SWITCH_PORTS_MAX) {
            tw_array_fault(a, TW_E_UNSUPPORTED, "more packets wait for one arbiter of tile (%u, %u) than it has ports",
                           p->tile->column, p->tile->row);
            p->state = TW_PACKET_LOST;
            return 0;
        }
        arbiter->waiters[arbiter->n_waiters++] = p;
        p->state = TW_PACKET_WAITS;
        p->waited = 1;
        return 0;
    }
    return 1;
}

/* All arbiters are held: the packet's words flow to the sinks. */
static void pass(struct tw_array *a, struct tw_packets *p)
{
    p->state = TW_PACKET_PASSES;
    p->n_ended = 0;
    p->end_cycle = 0;
    for (unsigned i = 0; i < p->n_ends; i++) {
        struct tw_sink *sink = p->ends[i].sink;
        sink->from = p->from;
        sink->packets = p;
        sink->next = p->next + p->ends[i].drop;
        sink->since = p->waited ? a->now + TW_CYCLES_ARBITER : 0;
        sink->latency = p->ends[i].latency;
        sink->ended = 0;
    }
    p->waited = 0;
    int header_is_all = p->from->last[p->next & (TW_STREAM_RING - 1)];
    for (unsigned i = 0; i < p->n_ends; i++) {
        struct tw_sink *sink = p->ends[i].sink;
        if (header_is_all && p->ends[i].drop) { /* nothing is left of it */
            sink->ended = 1;
            tw_packets_ended(a, p, a->now);
        } else if (sink->hungry && tw_sink_available(sink, 0) > 0) {
            sink->hungry = 0;
            tw_array_wake(a, sink->actor, tw_sink_arrival(sink));
        }
    }
    tw_stream_free(a, p->from);
}

static void begin(struct tw_array *a, struct tw_packets *p)
{
    unsigned s = (unsigned)(p->next & (TW_STREAM_RING - 1));
    uint64_t arrival = p->from->sent[s] + p->latency;
    if (arrival > a->now) {
        tw_array_wake(a, p->actor, arrival);
        return;
    }
    uint32_t capacity = p->capacity;
    p->n_held = 0;
    if (tw_route_packet(a, p, p->from->words[s], &capacity) != 0) {
        p->state = TW_PACKET_LOST;
        return;
    }
    if (p->from->n_branches == 1)
        p->from->capacity = (uint16_t)capacity;
    if (hold_arbiters(a, p))
        pass(a, p);
}

/* All sinks have taken the last word. */
static void end(struct tw_array *a, struct tw_packets *p)
{
    for (unsigned i = 0; i < p->n_ends; i++) {
        struct tw_sink *sink = p->ends[i].sink;
        sink->from = NULL;
        sink->packets = NULL;
        sink->ended = 0;
    }
    tw_packets_leave(a, p);
}

void tw_packets_act(struct tw_array *array, struct tw_packets *packets)
{
    if (packets->from == NULL)
        return;
    if (packets->state == TW_PACKET_THROUGH)
        end(array, packets);
    if (packets->state == TW_PACKET_WAITS && packets->arbiters[packets->n_held]->holder == packets) {
        if (hold_arbiters(array, packets))
            pass(array, packets);
    } else if (packets->state == TW_PACKET_NONE && packets->next < packets->from->written) {
        begin(array, packets);
    }
}

void tw_packets_ended(struct tw_array *array, struct tw_packets *packets, uint64_t cycle)
{
    packets->end_cycle = cycle > packets->end_cycle ? cycle : packets->end_cycle;
    if (++packets->n_ended < packets->n_ends)
        return;
    for (unsigned i = 0; i < packets->n_ends; i++)
        if (packets->ends[i].sink->next > packets->next)
            packets->next = packets->ends[i].sink->next;
    packets->state = TW_PACKET_THROUGH;
    tw_array_wake(array, packets->actor, packets->end_cycle);
}
