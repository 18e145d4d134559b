#include "emu/array/route.h"

#include "emu/array/state.h"
#include "npu1_registers.h"

#include <stdio.h>

/* A walk through the switches from one source, along circuits or along the rules that a packet's id matches. */
struct walk {
    struct tw_array *array;
    struct tw_stream *stream;   /* circuits: gets the branches */
    struct tw_packets *packets; /* a packet: gets arbiters and ends */
    unsigned id;                /* of the packet */
    uint32_t capacity;          /* of the shortest way found */
    unsigned depth;
    int failed;
};

/* Where a walk is. */
struct way {
    uint32_t latency, capacity;
    int dropped; /* the packet's header */
};

/* Longer than any way that visits each port once. */
enum { WAY_MAX = TW_NPU1_COLUMNS * TW_NPU1_ROWS * TW_SWITCH_PORTS_MAX };

static void enter(struct walk *w, struct tw_tile *t, unsigned slave, struct way way);

static void fail(struct walk *w, const struct tw_tile *t, const char *what)
{
    w->failed = 1;
    if (w->packets != NULL)
        tw_array_fault(w->array, TW_E_ARGUMENT, "a packet with id %u %s in the switch of tile (%u, %u)", w->id, what,
                       t->column, t->row);
    else
        tw_array_fault(w->array, TW_E_ARGUMENT, "a circuit %s in the switch of tile (%u, %u)", what, t->column, t->row);
}

static struct tw_switch_slave slave_port(const struct tw_tile *t, unsigned index)
{
    return tw_switch_slave_decode(tw_tile_word(t, tw_switch_offset(t->kind, TW_SLAVE, index)));
}

static void end_at(struct walk *w, const struct tw_tile *t, struct tw_sink *sink, struct way way)
{
    w->capacity = way.capacity < w->capacity ? way.capacity : w->capacity;
    if (w->packets != NULL) {
        if (w->packets->n_ends == TW_PACKET_SINKS) {
            fail(w, t, "leads to more ends than are modelled");
            return;
        }
        w->packets->ends[w->packets->n_ends++] =
            (struct tw_packet_end){.sink = sink, .latency = way.latency, .drop = (uint8_t)way.dropped};
        return;
    }
    if (w->stream->n_branches == TW_STREAM_BRANCHES) {
        fail(w, t, "leads to more ends than are modelled");
        return;
    }
    if (sink->packets != NULL) {
        fail(w, t, "was set up where a packet still comes out, which is not modelled,");
        return;
    }
    w->stream->branches[w->stream->n_branches++] = (struct tw_branch){.sink = sink};
    sink->from = w->stream;
    sink->latency = way.latency;
    if (sink->before != w->stream) {
        sink->next = w->stream->freed;
        sink->since = 0;
    }
}

/* The side of a tile that a port leads to, as isolation bits count them. */
static const struct side {
    enum tw_port_kind kind, opposite;
    int column, row;
    unsigned isolation; /* bit of Tile_Control */
} sides[] = {
    {TW_PORT_SOUTH, TW_PORT_NORTH, 0, -1, 0},
    {TW_PORT_WEST, TW_PORT_EAST, -1, 0, 1},
    {TW_PORT_NORTH, TW_PORT_SOUTH, 0, 1, 2},
    {TW_PORT_EAST, TW_PORT_WEST, 1, 0, 3},
};

uint32_t tw_isolation_offset(enum tw_tile_kind kind)
{
    return kind == TW_TILE_MEMORY ? TW_REG_MEMORY_TILE_CONTROL : TW_REG_CORE_TILE_CONTROL;
}

static uint32_t isolation(const struct tw_tile *t)
{
    return tw_tile_word(t, tw_isolation_offset(t->kind));
}

/* Where a shim's South port leads: tokens to the firmware, DMA; the other devices do not exist here. */
static void leave_shim(struct walk *w, struct tw_tile *t, unsigned south, struct way way)
{
    if (south == 0) {
        end_at(w, t, &t->tokens.in, way);
        return;
    }
    if (tw_shim_demux_device(tw_tile_word(t, TW_SHIM_DEMUX), south) != TW_SHIM_DMA)
        return;
    for (unsigned c = 0; c < t->n_channels; c++)
        if (tw_shim_s2mm_port(c) == south) {
            way.capacity += TW_WORDS_S2MM;
            end_at(w, t, &t->channels[TW_S2MM][c].in, way);
        }
}

static void leave_tile(struct walk *w, struct tw_tile *t, struct tw_port port, struct way way)
{
    way.latency += TW_CYCLES_SWITCH_EXTERNAL;
    way.capacity += TW_WORDS_EXTERNAL;
    if (t->kind == TW_TILE_SHIM && port.kind == TW_PORT_SOUTH) {
        leave_shim(w, t, port.number, way);
        return;
    }
    for (unsigned i = 0; i < sizeof sides / sizeof sides[0]; i++) {
        const struct side *s = &sides[i];
        if (s->kind != port.kind)
            continue;
        struct tw_tile *next = tw_array_tile(w->array, t->column + s->column, t->row + s->row);
        if (next == NULL || isolation(t) >> s->isolation & 1 || isolation(next) >> (s->isolation ^ 2) & 1)
            return;
        int slave = tw_switch_index(next->kind, TW_SLAVE, (struct tw_port){s->opposite, port.number});
        way.latency += TW_CYCLES_HOP;
        if (slave >= 0)
            enter(w, next, (unsigned)slave, way);
    }
}

static void leave(struct walk *w, struct tw_tile *t, unsigned master, struct way way)
{
    struct tw_port port = tw_switch_port(t->kind, TW_MASTER, master);
    struct way local = way;
    local.latency += TW_CYCLES_SWITCH_LOCAL;
    local.capacity += TW_WORDS_LOCAL;
    switch (port.kind) {
    case TW_PORT_CORE:
        end_at(w, t, &t->seat.in, local);
        break;
    case TW_PORT_DMA:
        local.capacity += TW_WORDS_S2MM;
        end_at(w, t, &t->channels[TW_S2MM][port.number].in, local);
        break;
    case TW_PORT_CONTROL:
        end_at(w, t, &t->control.in, local);
        break;
    case TW_PORT_FIFO: {
        local.capacity += TW_WORDS_FIFO;
        int slave = tw_switch_index(t->kind, TW_SLAVE, (struct tw_port){TW_PORT_FIFO, port.number});
        if (slave >= 0)
            enter(w, t, (unsigned)slave, local);
        break;
    }
    default:
        leave_tile(w, t, port, way);
    }
}

static struct tw_switch_master master_port(const struct tw_tile *t, unsigned index)
{
    return tw_switch_master_decode(tw_tile_word(t, tw_switch_offset(t->kind, TW_MASTER, index)));
}

static void circuits(struct walk *w, struct tw_tile *t, unsigned slave, struct way way)
{
    for (unsigned m = 0; m < tw_switch_ports(t->kind, TW_MASTER); m++) {
        struct tw_switch_master master = master_port(t, m);
        if (!master.enable || master.packet || master.slave != slave)
            continue;
        if (!tw_switch_is_legal(t->kind, slave, m)) {
            fail(w, t, "takes a connection that the hardware does not have");
            return;
        }
        leave(w, t, m, way);
    }
}

static int add_arbiter(struct walk *w, struct tw_tile *t, unsigned arbiter)
{
    struct tw_packets *p = w->packets;
    for (unsigned i = 0; i < p->n_arbiters; i++)
        if (p->arbiters[i] == &t->arbiters[arbiter]) {
            fail(w, t, "comes to the same arbiter twice");
            return -1;
        }
    if (p->n_arbiters == TW_PACKET_ARBITERS) {
        fail(w, t, "needs more arbiters than are modelled");
        return -1;
    }
    p->arbiters[p->n_arbiters++] = &t->arbiters[arbiter];
    return 0;
}

static void follow_slot(struct walk *w, struct tw_tile *t, unsigned slave, const struct tw_switch_slot *slot,
                        struct way way)
{
    unsigned found = 0;
    if (add_arbiter(w, t, slot->arbiter) != 0)
        return;
    way.latency += TW_CYCLES_ARBITER;
    for (unsigned m = 0; m < tw_switch_ports(t->kind, TW_MASTER) && !w->failed; m++) {
        struct tw_switch_master master = master_port(t, m);
        if (!master.enable || !master.packet || master.arbiter != slot->arbiter || !(master.msel >> slot->msel & 1))
            continue;
        if (!tw_switch_is_legal(t->kind, slave, m)) {
            fail(w, t, "takes a connection that the hardware does not have");
            return;
        }
        found++;
        struct way next = way;
        next.dropped |= master.drop_header;
        leave(w, t, m, next);
    }
    if (found == 0)
        fail(w, t, "finds no master for its arbiter and msel");
}

static void rules(struct walk *w, struct tw_tile *t, unsigned slave, struct way way)
{
    if (way.dropped) {
        fail(w, t, "comes to a port in packet mode without its header, which is not modelled,");
        return;
    }
    for (unsigned i = 0; i < TW_SWITCH_SLOTS; i++) {
        struct tw_switch_slot slot = tw_switch_slot_decode(tw_tile_word(t, tw_switch_slot_offset(t->kind, slave, i)));
        if (slot.enable && (w->id & slot.mask) == (slot.id & slot.mask)) {
            follow_slot(w, t, slave, &slot, way);
            return;
        }
    }
    char what[80];
    struct tw_port port = tw_switch_port(t->kind, TW_SLAVE, slave);
    snprintf(what, sizeof what, "matches no slot of slave %s %u", tw_port_names[port.kind], port.number);
    fail(w, t, what);
}

static void branch_to_packets(struct walk *w, struct tw_tile *t, unsigned slave, struct way way)
{
    struct tw_packets *p = &t->packets[slave];
    struct tw_stream *s = w->stream;
    w->capacity = way.capacity < w->capacity ? way.capacity : w->capacity;
    if (s->n_branches == TW_STREAM_BRANCHES) {
        fail(w, t, "leads to more ends than are modelled");
        return;
    }
    s->branches[s->n_branches++] = (struct tw_branch){.packets = p};
    p->from = s;
    p->latency = way.latency;
    p->capacity = way.capacity;
    if (p->before != s)
        p->next = s->freed;
}

/* The stream comes to a slave port. */
static void enter(struct walk *w, struct tw_tile *t, unsigned slave, struct way way)
{
    struct tw_switch_slave port = slave_port(t, slave);
    if (w->failed || !port.enable)
        return;
    if (++w->depth > WAY_MAX) {
        fail(w, t, "runs in a circle");
        return;
    }
    way.capacity += TW_WORDS_SLAVE;
    if (!port.packet)
        circuits(w, t, slave, way);
    else if (w->packets != NULL)
        rules(w, t, slave, way);
    else
        branch_to_packets(w, t, slave, way);
    w->depth--;
}

static uint16_t bounded(uint32_t capacity)
{
    return (uint16_t)(capacity > TW_STREAM_CAPACITY ? TW_STREAM_CAPACITY : capacity);
}

int tw_route_packet(struct tw_array *array, struct tw_packets *packets, uint32_t header, uint32_t *capacity)
{
    struct walk w = {.array = array, .packets = packets, .capacity = UINT32_MAX};
    w.id = tw_packet_header_decode(header).id;
    packets->n_arbiters = packets->n_ends = 0;
    rules(&w, packets->tile, packets->slave, (struct way){.latency = packets->latency, .capacity = packets->capacity});
    if (w.failed)
        return -1;
    if (packets->n_ends == 0) {
        fail(&w, packets->tile, "leads nowhere");
        return -1;
    }
    *capacity = bounded(w.capacity);
    return 0;
}

/* Shim DMA enters the switch by a South port, if the multiplexer says so. */
static int is_connected(const struct tw_stream *s)
{
    struct tw_port port = tw_switch_port(s->tile->kind, TW_SLAVE, s->slave);
    return port.kind != TW_PORT_SOUTH ||
           tw_shim_mux_device(tw_tile_word(s->tile, TW_SHIM_MUX), port.number) == TW_SHIM_DMA;
}

static void trace(struct tw_array *a, struct tw_stream *s)
{
    struct walk w = {.array = a, .stream = s, .capacity = UINT32_MAX};
    s->n_branches = 0;
    if (is_connected(s))
        enter(&w, s->tile, s->slave, (struct way){.capacity = s->own});
    s->capacity = bounded(s->n_branches > 0 ? w.capacity : s->own + (unsigned)TW_WORDS_SLAVE);
}

typedef void sink_function(struct tw_array *a, struct tw_sink *sink);

static void each_sink(struct tw_array *a, struct tw_tile *t, sink_function *call)
{
    for (unsigned c = 0; c < t->n_channels; c++)
        call(a, &t->channels[TW_S2MM][c].in);
    call(a, &t->control.in);
    if (t->kind == TW_TILE_CORE)
        call(a, &t->seat.in);
    if (t->kind == TW_TILE_SHIM)
        call(a, &t->tokens.in);
}

/* Circuits are taken apart; packets that pass keep their sinks. */
static void detach(struct tw_array *a, struct tw_sink *sink)
{
    (void)a;
    sink->before = sink->packets != NULL ? NULL : sink->from;
    if (sink->packets == NULL)
        sink->from = NULL;
}

static void wake_sink(struct tw_array *a, struct tw_sink *sink)
{
    if (sink->from != NULL && sink->hungry && tw_sink_available(sink, 0) > 0)
        tw_array_wake(a, sink->actor, tw_sink_arrival(sink));
}

static void settle_packets(struct tw_array *a, struct tw_packets *p)
{
    if (p->before != NULL && p->from != p->before) {
        if (p->state == TW_PACKET_PASSES || p->state == TW_PACKET_THROUGH)
            tw_array_fault(a, TW_E_UNSUPPORTED,
                           "a stream switch was rewritten while a packet passed through tile (%u, %u), which is not "
                           "modelled",
                           p->tile->column, p->tile->row);
        else
            tw_packets_leave(a, p);
    }
    if (p->from != NULL)
        tw_array_wake(a, p->actor, a->now);
}

void tw_routes_trace(struct tw_array *array)
{
    array->stale = 0;
    for (unsigned i = 0; i < array->n_tiles; i++) {
        struct tw_tile *t = &array->tiles[i];
        each_sink(array, t, detach);
        for (unsigned s = 0; s < TW_SWITCH_PORTS_MAX; s++) {
            t->packets[s].before = t->packets[s].from;
            t->packets[s].from = NULL;
        }
    }
    for (unsigned i = 0; i < array->n_streams && array->fault.code == 0; i++)
        trace(array, &array->streams[i]);
    for (unsigned i = 0; i < array->n_tiles; i++) {
        each_sink(array, &array->tiles[i], wake_sink);
        for (unsigned s = 0; s < TW_SWITCH_PORTS_MAX; s++)
            settle_packets(array, &array->tiles[i].packets[s]);
    }
    for (unsigned i = 0; i < array->n_streams; i++)
        tw_stream_free(array, &array->streams[i]);
}
