#include "npu1/stream_switch.h"

#include "npu1/bits.h"
#include "npu1/packet.h"
#include "npu1_registers.h"

const char *const tw_port_names[TW_PORT_KINDS] = {
    [TW_PORT_CORE] = "core",   [TW_PORT_DMA] = "dma",     [TW_PORT_CONTROL] = "control",
    [TW_PORT_FIFO] = "fifo",   [TW_PORT_SOUTH] = "south", [TW_PORT_WEST] = "west",
    [TW_PORT_NORTH] = "north", [TW_PORT_EAST] = "east",   [TW_PORT_TRACE] = "trace",
};

/* Ports of one kind that follow each other. */
struct run {
    uint8_t kind, count;
};
enum { RUNS = 9 };

static const struct kind {
    struct run runs[2][RUNS]; /* by enum tw_port_side */
    uint32_t offsets[2], slots, slot_steps[2];
} kinds[TW_TILE_KINDS] = {
    [TW_TILE_SHIM] = {{{{TW_PORT_CONTROL, 1},
                        {TW_PORT_FIFO, 1},
                        {TW_PORT_SOUTH, 6},
                        {TW_PORT_WEST, 4},
                        {TW_PORT_NORTH, 6},
                        {TW_PORT_EAST, 4}},
                       {{TW_PORT_CONTROL, 1},
                        {TW_PORT_FIFO, 1},
                        {TW_PORT_SOUTH, 8},
                        {TW_PORT_WEST, 4},
                        {TW_PORT_NORTH, 4},
                        {TW_PORT_EAST, 4},
                        {TW_PORT_TRACE, 1}}},
                      {TW_REG_SHIM_STREAM_SWITCH_MASTER_CONFIG, TW_REG_SHIM_STREAM_SWITCH_SLAVE_CONFIG},
                      TW_REG_SHIM_STREAM_SWITCH_SLAVE_SLOT,
                      {TW_REG_SHIM_STREAM_SWITCH_SLAVE_SLOT_STEP, TW_REG_SHIM_STREAM_SWITCH_SLAVE_SLOT_STEP2}},
    [TW_TILE_MEMORY] =
        {{{{TW_PORT_DMA, 6}, {TW_PORT_CONTROL, 1}, {TW_PORT_SOUTH, 4}, {TW_PORT_NORTH, 6}},
          {{TW_PORT_DMA, 6}, {TW_PORT_CONTROL, 1}, {TW_PORT_SOUTH, 6}, {TW_PORT_NORTH, 4}, {TW_PORT_TRACE, 1}}},
         {TW_REG_MEMORY_STREAM_SWITCH_MASTER_CONFIG, TW_REG_MEMORY_STREAM_SWITCH_SLAVE_CONFIG},
         TW_REG_MEMORY_STREAM_SWITCH_SLAVE_SLOT,
         {TW_REG_MEMORY_STREAM_SWITCH_SLAVE_SLOT_STEP, TW_REG_MEMORY_STREAM_SWITCH_SLAVE_SLOT_STEP2}},
    [TW_TILE_CORE] = {{{{TW_PORT_CORE, 1},
                        {TW_PORT_DMA, 2},
                        {TW_PORT_CONTROL, 1},
                        {TW_PORT_FIFO, 1},
                        {TW_PORT_SOUTH, 4},
                        {TW_PORT_WEST, 4},
                        {TW_PORT_NORTH, 6},
                        {TW_PORT_EAST, 4}},
                       {{TW_PORT_CORE, 1},
                        {TW_PORT_DMA, 2},
                        {TW_PORT_CONTROL, 1},
                        {TW_PORT_FIFO, 1},
                        {TW_PORT_SOUTH, 6},
                        {TW_PORT_WEST, 4},
                        {TW_PORT_NORTH, 4},
                        {TW_PORT_EAST, 4},
                        {TW_PORT_TRACE, 2}}},
                      {TW_REG_CORE_STREAM_SWITCH_MASTER_CONFIG, TW_REG_CORE_STREAM_SWITCH_SLAVE_CONFIG},
                      TW_REG_CORE_STREAM_SWITCH_SLAVE_SLOT,
                      {TW_REG_CORE_STREAM_SWITCH_SLAVE_SLOT_STEP, TW_REG_CORE_STREAM_SWITCH_SLAVE_SLOT_STEP2}},
};

/* Words of configuration are alike in all tiles; a test proves it. */
enum field {
    MASTER_CONFIGURATION = TW_FIELD_CORE_STREAM_SWITCH_MASTER_CONFIG_CONFIGURATION,
    MASTER_DROP_HEADER = TW_FIELD_CORE_STREAM_SWITCH_MASTER_CONFIG_DROP_HEADER,
    MASTER_PACKET = TW_FIELD_CORE_STREAM_SWITCH_MASTER_CONFIG_PACKET_ENABLE,
    MASTER_ENABLE = TW_FIELD_CORE_STREAM_SWITCH_MASTER_CONFIG_MASTER_ENABLE,
    SLAVE_PACKET = TW_FIELD_CORE_STREAM_SWITCH_SLAVE_CONFIG_PACKET_ENABLE,
    SLAVE_ENABLE = TW_FIELD_CORE_STREAM_SWITCH_SLAVE_CONFIG_SLAVE_ENABLE,
    SLOT_ARBITER = TW_FIELD_CORE_STREAM_SWITCH_SLAVE_SLOT_ARBIT,
    SLOT_MSEL = TW_FIELD_CORE_STREAM_SWITCH_SLAVE_SLOT_MSEL,
    SLOT_ENABLE = TW_FIELD_CORE_STREAM_SWITCH_SLAVE_SLOT_ENABLE,
    SLOT_MASK = TW_FIELD_CORE_STREAM_SWITCH_SLAVE_SLOT_MASK,
    SLOT_ID = TW_FIELD_CORE_STREAM_SWITCH_SLAVE_SLOT_ID,
    /* Inside a packet master's configuration (AM020). */
    CONFIGURATION_ARBITER = 0 | 3 << 8,
    CONFIGURATION_MSEL = 3 | 4 << 8
};

unsigned tw_switch_ports(enum tw_tile_kind kind, enum tw_port_side side)
{
    unsigned n = 0;
    for (unsigned i = 0; i < RUNS; i++)
        n += kinds[kind].runs[side][i].count;
    return n;
}

struct tw_port tw_switch_port(enum tw_tile_kind kind, enum tw_port_side side, unsigned index)
{
    const struct run *runs = kinds[kind].runs[side];
    unsigned i = 0;
    while (i < RUNS - 1 && index >= runs[i].count)
        index -= runs[i++].count;
    return (struct tw_port){(enum tw_port_kind)runs[i].kind, index};
}

int tw_switch_index(enum tw_tile_kind kind, enum tw_port_side side, struct tw_port port)
{
    const struct run *runs = kinds[kind].runs[side];
    unsigned first = 0;
    for (unsigned i = 0; i < RUNS; i++) {
        if (runs[i].kind == port.kind && port.number < runs[i].count)
            return (int)(first + port.number);
        first += runs[i].count;
    }
    return -1;
}

uint32_t tw_switch_offset(enum tw_tile_kind kind, enum tw_port_side side, unsigned index)
{
    return kinds[kind].offsets[side] + 4 * index;
}

uint32_t tw_switch_slot_offset(enum tw_tile_kind kind, unsigned slave, unsigned slot)
{
    return kinds[kind].slots + slave * kinds[kind].slot_steps[0] + slot * kinds[kind].slot_steps[1];
}

enum tw_switch_register tw_switch_register_at(enum tw_tile_kind kind, uint32_t offset, unsigned *index, unsigned *slot)
{
    static const enum tw_switch_register registers[2] = {TW_SWITCH_MASTER, TW_SWITCH_SLAVE};
    const struct kind *k = &kinds[kind];
    uint32_t distance = offset - k->slots;
    if (offset % 4 != 0)
        return TW_SWITCH_NO_REGISTER;
    if (offset >= k->slots && distance < tw_switch_ports(kind, TW_SLAVE) * k->slot_steps[0]) {
        *index = distance / k->slot_steps[0];
        *slot = distance % k->slot_steps[0] / k->slot_steps[1];
        return TW_SWITCH_SLOT;
    }
    for (unsigned side = TW_MASTER; side <= TW_SLAVE; side++) {
        distance = offset - k->offsets[side];
        if (offset >= k->offsets[side] && distance / 4 < tw_switch_ports(kind, (enum tw_port_side)side)) {
            *index = distance / 4;
            return registers[side];
        }
    }
    return TW_SWITCH_NO_REGISTER;
}

/* ---- Legal connections, by the aie-rt driver */

static int is_direction(enum tw_port_kind kind)
{
    return kind == TW_PORT_SOUTH || kind == TW_PORT_WEST || kind == TW_PORT_NORTH || kind == TW_PORT_EAST;
}

/* Trace and control reach only one DMA channel of a memory tile. */
enum { MEMORY_TILE_SIDE_CHANNEL = 5 };

static int trace_is_legal(enum tw_tile_kind kind, struct tw_port to)
{
    if (to.kind == TW_PORT_DMA)
        return to.number == (kind == TW_TILE_MEMORY ? MEMORY_TILE_SIDE_CHANNEL : 0);
    return to.kind == TW_PORT_SOUTH || to.kind == TW_PORT_FIFO;
}

static int control_is_legal(enum tw_tile_kind kind, struct tw_port to)
{
    if (to.kind == TW_PORT_DMA)
        return kind == TW_TILE_MEMORY && to.number == MEMORY_TILE_SIDE_CHANNEL;
    return to.kind != TW_PORT_CONTROL;
}

static int direction_is_legal(enum tw_tile_kind kind, struct tw_port from, struct tw_port to)
{
    if (kind == TW_TILE_SHIM && from.kind == TW_PORT_SOUTH)
        return 1;
    int same_lane = kind == TW_TILE_MEMORY ? is_direction(to.kind) : to.kind == from.kind;
    return !same_lane || to.number == from.number;
}

int tw_switch_is_legal(enum tw_tile_kind kind, unsigned slave, unsigned master)
{
    if (slave >= tw_switch_ports(kind, TW_SLAVE) || master >= tw_switch_ports(kind, TW_MASTER))
        return 0;
    struct tw_port from = tw_switch_port(kind, TW_SLAVE, slave), to = tw_switch_port(kind, TW_MASTER, master);
    switch (from.kind) {
    case TW_PORT_TRACE:
        return trace_is_legal(kind, to);
    case TW_PORT_CONTROL:
        return control_is_legal(kind, to);
    case TW_PORT_CORE:
        return to.kind != TW_PORT_CORE;
    case TW_PORT_DMA:
        return to.kind != TW_PORT_DMA || to.number == from.number;
    case TW_PORT_FIFO:
        return 1;
    default:
        return direction_is_legal(kind, from, to);
    }
}

/* ---- Words */

struct tw_switch_master tw_switch_master_decode(uint32_t word)
{
    uint32_t configuration = tw_bits_get(word, MASTER_CONFIGURATION);
    struct tw_switch_master m = {
        .enable = (uint8_t)tw_bits_get(word, MASTER_ENABLE),
        .packet = (uint8_t)tw_bits_get(word, MASTER_PACKET),
        .drop_header = (uint8_t)tw_bits_get(word, MASTER_DROP_HEADER),
    };
    if (m.packet) {
        m.arbiter = (uint8_t)tw_bits_get(configuration, CONFIGURATION_ARBITER);
        m.msel = (uint8_t)tw_bits_get(configuration, CONFIGURATION_MSEL);
    } else {
        m.slave = (uint8_t)configuration;
    }
    return m;
}

uint32_t tw_switch_master_encode(const struct tw_switch_master *master)
{
    uint32_t configuration = master->packet ? tw_bits_put(master->arbiter, CONFIGURATION_ARBITER) |
                                                  tw_bits_put(master->msel, CONFIGURATION_MSEL)
                                            : master->slave;
    return tw_bits_put(master->enable, MASTER_ENABLE) | tw_bits_put(master->packet, MASTER_PACKET) |
           tw_bits_put(master->drop_header, MASTER_DROP_HEADER) | tw_bits_put(configuration, MASTER_CONFIGURATION);
}

struct tw_switch_slave tw_switch_slave_decode(uint32_t word)
{
    return (struct tw_switch_slave){(uint8_t)tw_bits_get(word, SLAVE_ENABLE), (uint8_t)tw_bits_get(word, SLAVE_PACKET)};
}

uint32_t tw_switch_slave_encode(const struct tw_switch_slave *slave)
{
    return tw_bits_put(slave->enable, SLAVE_ENABLE) | tw_bits_put(slave->packet, SLAVE_PACKET);
}

struct tw_switch_slot tw_switch_slot_decode(uint32_t word)
{
    return (struct tw_switch_slot){
        .enable = (uint8_t)tw_bits_get(word, SLOT_ENABLE),
        .id = (uint8_t)tw_bits_get(word, SLOT_ID),
        .mask = (uint8_t)tw_bits_get(word, SLOT_MASK),
        .msel = (uint8_t)tw_bits_get(word, SLOT_MSEL),
        .arbiter = (uint8_t)tw_bits_get(word, SLOT_ARBITER),
    };
}

uint32_t tw_switch_slot_encode(const struct tw_switch_slot *slot)
{
    return tw_bits_put(slot->enable, SLOT_ENABLE) | tw_bits_put(slot->id, SLOT_ID) |
           tw_bits_put(slot->mask, SLOT_MASK) | tw_bits_put(slot->msel, SLOT_MSEL) |
           tw_bits_put(slot->arbiter, SLOT_ARBITER);
}

/* A packet's header (AM020). */
enum header { HEADER_ID_TOP = 0x1f, HEADER_TYPE_SHIFT = 12, HEADER_TYPE_TOP = 7 };

uint32_t tw_packet_header_encode(const struct tw_packet_header *header)
{
    return packet_parity(packet_source(header->column, header->row) |
                         (header->type & (uint32_t)HEADER_TYPE_TOP) << HEADER_TYPE_SHIFT |
                         (header->id & (uint32_t)HEADER_ID_TOP));
}

struct tw_packet_header tw_packet_header_decode(uint32_t word)
{
    return (struct tw_packet_header){
        .id = (uint8_t)(word & HEADER_ID_TOP),
        .type = (uint8_t)(word >> HEADER_TYPE_SHIFT & HEADER_TYPE_TOP),
        .row = (uint8_t)(word >> PACKET_ROW_SHIFT & PACKET_ROW_TOP),
        .column = (uint8_t)(word >> PACKET_COLUMN_SHIFT & PACKET_COLUMN_TOP),
    };
}

/* ---- Shim */

struct shim_port {
    uint8_t port;
    int field;
};

static int device_of(uint32_t word, unsigned port, const struct shim_port *ports, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (ports[i].port == port)
            return (int)tw_bits_get(word, ports[i].field);
    return -1;
}

int tw_shim_mux_device(uint32_t word, unsigned south_slave)
{
    static const struct shim_port ports[] = {{2, TW_FIELD_SHIM_MUX_CONFIG_SOUTH2},
                                             {3, TW_FIELD_SHIM_MUX_CONFIG_SOUTH3},
                                             {6, TW_FIELD_SHIM_MUX_CONFIG_SOUTH6},
                                             {7, TW_FIELD_SHIM_MUX_CONFIG_SOUTH7}};
    return device_of(word, south_slave, ports, sizeof ports / sizeof ports[0]);
}

int tw_shim_demux_device(uint32_t word, unsigned south_master)
{
    static const struct shim_port ports[] = {{2, TW_FIELD_SHIM_DEMUX_CONFIG_SOUTH2},
                                             {3, TW_FIELD_SHIM_DEMUX_CONFIG_SOUTH3},
                                             {4, TW_FIELD_SHIM_DEMUX_CONFIG_SOUTH4},
                                             {5, TW_FIELD_SHIM_DEMUX_CONFIG_SOUTH5}};
    return device_of(word, south_master, ports, sizeof ports / sizeof ports[0]);
}

unsigned tw_shim_mm2s_port(unsigned channel)
{
    return channel == 0 ? 3 : 7;
}

unsigned tw_shim_s2mm_port(unsigned channel)
{
    return channel == 0 ? 2 : 3;
}
