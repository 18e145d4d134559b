#include "overlay/routes.h"

#include "npu1/dma.h"
#include "overlay/layout.h"

enum { ROW_SHIM, ROW_MEMORY, ROW_CORE = TW_NPU1_CORE_ROW };

/* Lanes between a memory tile and the cores above it: northwards one for each operand, southwards one for each core. */
enum lane { LANE_A, LANE_B };

struct list {
    struct tw_overlay_route *routes;
    size_t n;
};

static void add(struct list *list, unsigned column, unsigned row, struct tw_port slave, struct tw_port master)
{
    list->routes[list->n++] = (struct tw_overlay_route){column, row, slave, master};
}

static struct tw_port port(enum tw_port_kind kind, unsigned number)
{
    return (struct tw_port){kind, number};
}

/* Between the host's memory and the memory tile of a column. */
static void add_shim(struct list *list, unsigned column)
{
    for (unsigned lane = LANE_A; lane <= LANE_B; lane++) {
        add(list, column, ROW_SHIM, port(TW_PORT_SOUTH, tw_shim_mm2s_port(lane)), port(TW_PORT_NORTH, lane));
        add(list, column, ROW_MEMORY, port(TW_PORT_SOUTH, lane), port(TW_PORT_DMA, lane));
    }
    add(list, column, ROW_MEMORY, port(TW_PORT_DMA, 2), port(TW_PORT_SOUTH, 0));
    add(list, column, ROW_SHIM, port(TW_PORT_NORTH, 0), port(TW_PORT_SOUTH, tw_shim_s2mm_port(0)));
}

/* A goes up to the row of the column's number and from there both ways to all cores of the row. */
static void add_a(struct list *list, unsigned column)
{
    const struct tw_port up = port(TW_PORT_NORTH, LANE_A), from_below = port(TW_PORT_SOUTH, LANE_A);
    const struct tw_port west = port(TW_PORT_WEST, LANE_A), east = port(TW_PORT_EAST, LANE_A);
    const struct tw_port memory = port(TW_PORT_DMA, 0);
    const unsigned row = ROW_CORE + column;

    add(list, column, ROW_MEMORY, memory, up);
    for (unsigned below = ROW_CORE; below < row; below++)
        add(list, column, below, from_below, up);
    for (unsigned c = 0; c < TW_OVERLAY_COLUMNS; c++) {
        const struct tw_port from = c == column ? from_below : c > column ? west : east;
        add(list, c, row, from, memory);
        if (c >= column && c < TW_OVERLAY_COLUMNS - 1)
            add(list, c, row, from, east);
        if (c <= column && c > 0)
            add(list, c, row, from, west);
    }
}

/* B goes up to all cores of its column. */
static void add_b(struct list *list, unsigned column)
{
    const struct tw_port up = port(TW_PORT_NORTH, LANE_B), from_below = port(TW_PORT_SOUTH, LANE_B);

    add(list, column, ROW_MEMORY, port(TW_PORT_DMA, 1), up);
    for (unsigned r = 0; r < TW_OVERLAY_ROWS; r++) {
        add(list, column, ROW_CORE + r, from_below, port(TW_PORT_DMA, 1));
        if (r < TW_OVERLAY_ROWS - 1)
            add(list, column, ROW_CORE + r, from_below, up);
    }
}

/* C of each core goes down on a lane of its own. */
static void add_c(struct list *list, unsigned column)
{
    for (unsigned r = 0; r < TW_OVERLAY_ROWS; r++) {
        add(list, column, ROW_CORE + r, port(TW_PORT_DMA, 0), port(TW_PORT_SOUTH, r));
        for (unsigned below = 0; below < r; below++)
            add(list, column, ROW_CORE + below, port(TW_PORT_NORTH, r), port(TW_PORT_SOUTH, r));
        add(list, column, ROW_MEMORY, port(TW_PORT_NORTH, r), port(TW_PORT_DMA, 2 + r));
    }
}

size_t tw_overlay_routes(struct tw_overlay_route *routes)
{
    struct list list = {routes, 0};
    for (unsigned column = 0; column < TW_OVERLAY_COLUMNS; column++) {
        add_shim(&list, column);
        add_a(&list, column);
        add_b(&list, column);
        add_c(&list, column);
    }
    return list.n;
}

struct writer {
    void (*write)(void *arg, uint32_t address, uint32_t mask, uint32_t value);
    void *arg;
};

static void put(const struct writer *w, unsigned column, unsigned row, uint32_t offset, uint32_t value)
{
    w->write(w->arg, tw_tile_address(column, row, offset), UINT32_MAX, value);
}

static void put_circuit(const struct writer *w, const struct tw_overlay_route *route)
{
    const enum tw_tile_kind kind = tw_tile_kind(route->row);
    const unsigned slave = (unsigned)tw_switch_index(kind, TW_SLAVE, route->slave);
    const unsigned master = (unsigned)tw_switch_index(kind, TW_MASTER, route->master);
    const struct tw_switch_master out = {.enable = 1, .slave = (uint8_t)slave};
    const struct tw_switch_slave in = {.enable = 1};

    put(w, route->column, route->row, tw_switch_offset(kind, TW_MASTER, master), tw_switch_master_encode(&out));
    put(w, route->column, route->row, tw_switch_offset(kind, TW_SLAVE, slave), tw_switch_slave_encode(&in));
}

/* Tokens leave the shim's control port as packets and go to the firmware by South 0, as AMD's compilers route them. */
enum token { TOKEN_CONTROLLER = 15, TOKEN_ID_MASK = 0x1f, TOKEN_ARBITER = 5, TOKEN_MSEL = 3 };

static void put_tokens(const struct writer *w, unsigned column)
{
    const unsigned slave = (unsigned)tw_switch_index(TW_TILE_SHIM, TW_SLAVE, port(TW_PORT_CONTROL, 0));
    const unsigned master = (unsigned)tw_switch_index(TW_TILE_SHIM, TW_MASTER, port(TW_PORT_SOUTH, 0));
    const struct tw_switch_slave in = {.enable = 1, .packet = 1};
    const struct tw_switch_slot slot = {
        .enable = 1, .id = TOKEN_CONTROLLER, .mask = TOKEN_ID_MASK, .msel = TOKEN_MSEL, .arbiter = TOKEN_ARBITER};
    const struct tw_switch_master out = {.enable = 1, .packet = 1, .arbiter = TOKEN_ARBITER, .msel = 1 << TOKEN_MSEL};

    put(w, column, ROW_SHIM, tw_switch_offset(TW_TILE_SHIM, TW_SLAVE, slave), tw_switch_slave_encode(&in));
    put(w, column, ROW_SHIM, tw_switch_slot_offset(TW_TILE_SHIM, slave, 0), tw_switch_slot_encode(&slot));
    put(w, column, ROW_SHIM, tw_switch_offset(TW_TILE_SHIM, TW_MASTER, master), tw_switch_master_encode(&out));
    put(w, column, ROW_SHIM, tw_dma_control_offset(TW_TILE_SHIM, (struct tw_dma_channel){TW_S2MM, 0}),
        TOKEN_CONTROLLER << 8);
}

/* South ports 3 and 7 come from the DMA, port 2 goes to it (AM025, Mux_Config and Demux_Config: two bits a port). */
enum multiplexer { MUX_MASK = 0xcc00, MUX_DMA = 0x4400, DEMUX_MASK = 0x30, DEMUX_DMA = 0x10 };

static void put_multiplexers(const struct writer *w, unsigned column)
{
    w->write(w->arg, tw_tile_address(column, ROW_SHIM, TW_SHIM_MUX), MUX_MASK, MUX_DMA);
    w->write(w->arg, tw_tile_address(column, ROW_SHIM, TW_SHIM_DEMUX), DEMUX_MASK, DEMUX_DMA);
}

void tw_overlay_write_routes(void (*write)(void *arg, uint32_t address, uint32_t mask, uint32_t value), void *arg)
{
    const struct writer w = {write, arg};
    struct tw_overlay_route routes[TW_OVERLAY_ROUTES_MAX];
    const size_t n = tw_overlay_routes(routes);

    for (size_t i = 0; i < n; i++)
        put_circuit(&w, &routes[i]);
    for (unsigned column = 0; column < TW_OVERLAY_COLUMNS; column++) {
        put_tokens(&w, column);
        put_multiplexers(&w, column);
    }
}
