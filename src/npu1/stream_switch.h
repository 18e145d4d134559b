/* Stream switches as registers: ports, routes and packet rules. By AM025 and the aie-rt driver. */
#ifndef TW_NPU1_STREAM_SWITCH_H
#define TW_NPU1_STREAM_SWITCH_H

#include "base/error.h"
#include "npu1/tile.h"

#include <stdint.h>

enum tw_port_kind {
    TW_PORT_CORE,
    TW_PORT_DMA,
    TW_PORT_CONTROL, /* slave: tokens and read replies come from there; master: control packets go there */
    TW_PORT_FIFO,
    TW_PORT_SOUTH,
    TW_PORT_WEST,
    TW_PORT_NORTH,
    TW_PORT_EAST,
    TW_PORT_TRACE, /* core tiles: 0 core, 1 memory */
    TW_PORT_KINDS
};

extern const char *const tw_port_names[TW_PORT_KINDS]; /* "core", "dma", "control", ... */

struct tw_port {
    enum tw_port_kind kind;
    unsigned number;
};

/* Data leaves a switch by a master and enters it by a slave. */
enum tw_port_side { TW_MASTER, TW_SLAVE };

enum tw_switch_limit { TW_SWITCH_PORTS_MAX = 25, TW_SWITCH_SLOTS = 4, TW_SWITCH_ARBITERS = 8 };

unsigned tw_switch_ports(enum tw_tile_kind kind, enum tw_port_side side);
/* Port at an index, and back; the index is what a master's configuration names its slave by. -1: no such port. */
struct tw_port tw_switch_port(enum tw_tile_kind kind, enum tw_port_side side, unsigned index);
int tw_switch_index(enum tw_tile_kind kind, enum tw_port_side side, struct tw_port port);

uint32_t tw_switch_offset(enum tw_tile_kind kind, enum tw_port_side side, unsigned index);
uint32_t tw_switch_slot_offset(enum tw_tile_kind kind, unsigned slave, unsigned slot);

enum tw_switch_register { TW_SWITCH_NO_REGISTER, TW_SWITCH_MASTER, TW_SWITCH_SLAVE, TW_SWITCH_SLOT };
/* Which register an offset is; *index is the port's, *slot the slot's. */
enum tw_switch_register tw_switch_register_at(enum tw_tile_kind kind, uint32_t offset, unsigned *index, unsigned *slot);

/* Whether the hardware can connect a slave to a master, by index. */
int tw_switch_is_legal(enum tw_tile_kind kind, unsigned slave, unsigned master);

struct tw_switch_master {
    uint8_t enable, packet, drop_header;
    uint8_t slave;         /* circuit: index */
    uint8_t arbiter, msel; /* packet: msel is a set of bits */
};
struct tw_switch_slave {
    uint8_t enable, packet;
};
struct tw_switch_slot {
    uint8_t enable, id, mask, msel, arbiter;
};

struct tw_switch_master tw_switch_master_decode(uint32_t word);
struct tw_switch_slave tw_switch_slave_decode(uint32_t word);
struct tw_switch_slot tw_switch_slot_decode(uint32_t word);
uint32_t tw_switch_master_encode(const struct tw_switch_master *master);
uint32_t tw_switch_slave_encode(const struct tw_switch_slave *slave);
uint32_t tw_switch_slot_encode(const struct tw_switch_slot *slot);

/* The word in front of a packet's data. */
struct tw_packet_header {
    uint8_t id, type, row, column;
};
uint32_t tw_packet_header_encode(const struct tw_packet_header *header); /* parity included */
struct tw_packet_header tw_packet_header_decode(uint32_t word);

/* Shim: which device feeds South slave ports 2, 3, 6, 7 (mux) and takes South master ports 2 to 5 (demux). */
enum tw_shim_device { TW_SHIM_PL, TW_SHIM_DMA, TW_SHIM_NOC };
enum tw_shim_mux { TW_SHIM_MUX = 0x1f000, TW_SHIM_DEMUX = 0x1f004 };
/* The device that a mux (demux) word gives a South slave (master) port; -1: the port is not switched there. */
int tw_shim_mux_device(uint32_t word, unsigned south_slave);
int tw_shim_demux_device(uint32_t word, unsigned south_master);
/* The South ports of the shim's DMA channels, by channel number. */
unsigned tw_shim_mm2s_port(unsigned channel); /* slaves 3, 7 */
unsigned tw_shim_s2mm_port(unsigned channel); /* masters 2, 3 */

#endif
