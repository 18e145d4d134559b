/*
 * What lies at an address of a tile: memories, registers that do something, and registers that only keep what was
 * written. Which do something are rows of tables here.
 */
#include "base/little_endian.h"
#include "emu/array/state.h"
#include "emu/array/trace.h"
#include "npu1/registers.h"
#include "npu1_registers.h"

#include <string.h>

/* Rows of the tables below are for core tiles and shims at once. */
_Static_assert((uint32_t)TW_REG_CORE_TILE_CONTROL == (uint32_t)TW_REG_SHIM_TILE_CONTROL, "Tile_Control");
_Static_assert((uint32_t)TW_REG_CORE_STREAM_SWITCH_DETERMINISTIC_MERGE_ARB_CTRL ==
                   (uint32_t)TW_REG_SHIM_STREAM_SWITCH_DETERMINISTIC_MERGE_ARB_CTRL,
               "deterministic merge");

enum { SHIM = 1 << TW_TILE_SHIM, MEMORY = 1 << TW_TILE_MEMORY, CORE = 1 << TW_TILE_CORE };

typedef void write_function(struct tw_array *a, struct tw_tile *t, uint32_t offset, uint32_t value);
typedef uint32_t read_function(struct tw_array *a, struct tw_tile *t, uint32_t offset);

static uint32_t *stored(struct tw_tile *t, uint32_t offset)
{
    return &t->registers[offset / 4];
}

/* ---- registers that something happens at ---- */

static void write_core_control(struct tw_array *a, struct tw_tile *t, uint32_t offset, uint32_t value)
{
    *stored(t, offset) = value;
    tw_core_seat_control(a, t, value);
}

static void write_accumulator_control(struct tw_array *a, struct tw_tile *t, uint32_t offset, uint32_t value)
{
    *stored(t, offset) = value;
    tw_cascade_changed(a, t);
}

static uint32_t read_program_counter(struct tw_array *a, struct tw_tile *t, uint32_t offset)
{
    (void)a, (void)offset;
    return tw_core_pc(t->seat.core);
}

static uint32_t read_timer_low(struct tw_array *a, struct tw_tile *t, uint32_t offset)
{
    (void)t, (void)offset;
    return (uint32_t)a->now;
}

static uint32_t read_timer_high(struct tw_array *a, struct tw_tile *t, uint32_t offset)
{
    (void)t, (void)offset;
    return (uint32_t)(a->now >> 32);
}

/* Bit 0 of memory control registers fills the memory with zeros and clears itself. */
static int zeroise_bit(struct tw_tile *t, uint32_t offset, uint32_t value)
{
    *stored(t, offset) = value & ~UINT32_C(1);
    return (value & 1) != 0;
}

static void write_memory_control(struct tw_array *a, struct tw_tile *t, uint32_t offset, uint32_t value)
{
    (void)a;
    if (zeroise_bit(t, offset, value))
        memset(t->memory, 0, t->memory_bytes);
}

static void write_program_control(struct tw_array *a, struct tw_tile *t, uint32_t offset, uint32_t value)
{
    static const uint8_t zeros[TW_CORE_PROGRAM_BYTES];
    (void)a;
    if (zeroise_bit(t, offset, value))
        tw_core_write_program(t->seat.core, 0, zeros, sizeof zeros);
}

static void write_route(struct tw_array *a, struct tw_tile *t, uint32_t offset, uint32_t value)
{
    if (*stored(t, offset) != value)
        a->stale = 1;
    *stored(t, offset) = value;
}

/* What has no effect while it is 0 and would have one that is not modelled. */
static void write_zero_only(struct tw_array *a, struct tw_tile *t, uint32_t offset, uint32_t value)
{
    *stored(t, offset) = value;
    if (value != 0)
        tw_array_fault(a, TW_E_UNSUPPORTED, "%s of tile (%u, %u), written with 0x%x, is not modelled",
                       tw_tile_register_at(t->kind, offset)->name, t->column, t->row, (unsigned)value);
}

/* Bits that are written as 1 are cleared. */
static void clear_bits(uint64_t *status, unsigned shift, uint32_t value)
{
    *status &= ~((uint64_t)value << shift);
}

static unsigned lock_shift(uint32_t offset)
{
    return offset == TW_REG_MEMORY_LOCKS_OVERFLOW_1 || offset == TW_REG_MEMORY_LOCKS_UNDERFLOW_1 ? 32 : 0;
}

static void write_overflow(struct tw_array *a, struct tw_tile *t, uint32_t offset, uint32_t value)
{
    (void)a;
    clear_bits(&t->locks.overflow, lock_shift(offset), value);
}

static void write_underflow(struct tw_array *a, struct tw_tile *t, uint32_t offset, uint32_t value)
{
    (void)a;
    clear_bits(&t->locks.underflow, lock_shift(offset), value);
}

static uint32_t read_overflow(struct tw_array *a, struct tw_tile *t, uint32_t offset)
{
    (void)a;
    return (uint32_t)(t->locks.overflow >> lock_shift(offset));
}

static uint32_t read_underflow(struct tw_array *a, struct tw_tile *t, uint32_t offset)
{
    (void)a;
    return (uint32_t)(t->locks.underflow >> lock_shift(offset));
}

/* A function that is NULL: the register keeps what was written. */
static const struct behaviour {
    unsigned kinds;
    uint32_t offset;
    write_function *write;
    read_function *read;
} behaviours[] = {
    {CORE, TW_REG_CORE_CORE_CONTROL, write_core_control, NULL},
    {CORE, TW_REG_CORE_ACCUMULATOR_CONTROL, write_accumulator_control, NULL},
    {CORE, TW_REG_CORE_CORE_PC, write_zero_only, read_program_counter},
    {CORE, TW_REG_CORE_ENABLE_EVENTS, write_zero_only, NULL},
    {CORE, TW_REG_CORE_RESET_EVENT, write_zero_only, NULL},
    {CORE, TW_REG_CORE_DEBUG_CONTROL0, write_zero_only, NULL},
    {CORE, TW_REG_CORE_MODULE_RESET_CONTROL, write_zero_only, NULL},
    {CORE, TW_REG_CORE_CORE_TIMER_LOW, NULL, read_timer_low},
    {CORE, TW_REG_CORE_CORE_TIMER_HIGH, NULL, read_timer_high},
    {CORE, TW_REG_CORE_MEMORY_TIMER_LOW, NULL, read_timer_low},
    {CORE, TW_REG_CORE_MEMORY_TIMER_HIGH, NULL, read_timer_high},
    {CORE, TW_REG_CORE_MEMORY_MEMORY_CONTROL, write_memory_control, NULL},
    {CORE, TW_REG_CORE_CORE_MEMORY_CONTROL, write_program_control, NULL},
    {CORE | SHIM, TW_REG_CORE_TILE_CONTROL, write_route, NULL},
    {CORE, TW_REG_CORE_LOCKS_OVERFLOW, write_overflow, read_overflow},
    {CORE, TW_REG_CORE_LOCKS_UNDERFLOW, write_underflow, read_underflow},
    {CORE | SHIM, TW_REG_CORE_STREAM_SWITCH_DETERMINISTIC_MERGE_ARB_CTRL, write_zero_only, NULL},
    {CORE | SHIM,
     TW_REG_CORE_STREAM_SWITCH_DETERMINISTIC_MERGE_ARB_CTRL +
         TW_REG_CORE_STREAM_SWITCH_DETERMINISTIC_MERGE_ARB_CTRL_STEP,
     write_zero_only, NULL},
    {MEMORY, TW_REG_MEMORY_TIMER_LOW, NULL, read_timer_low},
    {MEMORY, TW_REG_MEMORY_TIMER_HIGH, NULL, read_timer_high},
    {MEMORY, TW_REG_MEMORY_MEMORY_CONTROL, write_memory_control, NULL},
    {MEMORY, TW_REG_MEMORY_TILE_CONTROL, write_route, NULL},
    {MEMORY, TW_REG_MEMORY_MODULE_RESET_CONTROL, write_zero_only, NULL},
    {MEMORY, TW_REG_MEMORY_LOCKS_OVERFLOW_0, write_overflow, read_overflow},
    {MEMORY, TW_REG_MEMORY_LOCKS_OVERFLOW_1, write_overflow, read_overflow},
    {MEMORY, TW_REG_MEMORY_LOCKS_UNDERFLOW_0, write_underflow, read_underflow},
    {MEMORY, TW_REG_MEMORY_LOCKS_UNDERFLOW_1, write_underflow, read_underflow},
    {MEMORY, TW_REG_MEMORY_STREAM_SWITCH_DETERMINISTIC_MERGE_ARB_CTRL, write_zero_only, NULL},
    {MEMORY,
     TW_REG_MEMORY_STREAM_SWITCH_DETERMINISTIC_MERGE_ARB_CTRL +
         TW_REG_MEMORY_STREAM_SWITCH_DETERMINISTIC_MERGE_ARB_CTRL_STEP,
     write_zero_only, NULL},
    {SHIM, TW_REG_SHIM_TIMER_LOW, NULL, read_timer_low},
    {SHIM, TW_REG_SHIM_TIMER_HIGH, NULL, read_timer_high},
    {SHIM, TW_REG_SHIM_MODULE_RESET_CONTROL_0, write_zero_only, NULL},
    {SHIM, TW_REG_SHIM_MODULE_RESET_CONTROL_1, write_zero_only, NULL},
    {SHIM, TW_REG_SHIM_AIE_TILE_COLUMN_RESET, write_zero_only, NULL},
    {SHIM, TW_SHIM_MUX, write_route, NULL},
    {SHIM, TW_SHIM_DEMUX, write_route, NULL},
    {SHIM, TW_REG_SHIM_LOCKS_OVERFLOW, write_overflow, read_overflow},
    {SHIM, TW_REG_SHIM_LOCKS_UNDERFLOW, write_underflow, read_underflow},
};

/*
 * What the hardware counts, traces and signals beside its work is not modelled. Registers that set such things up keep
 * what is written and nothing comes of it; those that would tell results cannot be read.
 */
static const struct ignored {
    unsigned kinds;
    uint32_t first, last;
    const char *what;
} ignored[] = {
    {CORE, TW_REG_CORE_MEMORY_PERFORMANCE_COUNTER0, TW_REG_CORE_MEMORY_PERFORMANCE_COUNTER1, "performance counters"},
    {CORE, TW_REG_CORE_MEMORY_TRACE_STATUS, TW_REG_CORE_MEMORY_TRACE_STATUS, "trace"},
    {CORE, TW_REG_CORE_MEMORY_EVENT_STATUS0, TW_REG_CORE_MEMORY_EVENT_STATUS3, "events"},
    {CORE, TW_REG_CORE_CORE_PERFORMANCE_COUNTER, TW_REG_CORE_PERFORMANCE_COUNTER + 4, "performance counters"},
    {CORE, TW_REG_CORE_CORE_TRACE_STATUS, TW_REG_CORE_CORE_TRACE_STATUS, "trace"},
    {CORE, TW_REG_CORE_CORE_EVENT_STATUS0, TW_REG_CORE_CORE_EVENT_STATUS3, "events"},
    {CORE, TW_REG_CORE_DMA_S2MM_CURRENT_WRITE_COUNT, TW_REG_CORE_DMA_S2MM_FOT_COUNT_FIFO_POP + 4,
     "counts of words of a DMA channel"},
    {MEMORY, TW_REG_MEMORY_PERFORMANCE_COUNTER0, TW_REG_MEMORY_PERFORMANCE_COUNTER3, "performance counters"},
    {MEMORY, TW_REG_MEMORY_TRACE_STATUS, TW_REG_MEMORY_TRACE_STATUS, "trace"},
    {MEMORY, TW_REG_MEMORY_EVENT_STATUS0, TW_REG_MEMORY_EVENT_STATUS5, "events"},
    {MEMORY, TW_REG_MEMORY_DMA_S2MM_CURRENT_WRITE_COUNT, TW_REG_MEMORY_DMA_S2MM_FOT_COUNT_FIFO_POP + 20,
     "counts of words of a DMA channel"},
    {SHIM, TW_REG_SHIM_PERFORMANCE_COUNTER, TW_REG_SHIM_PERFORMANCE_COUNTER + 4, "performance counters"},
    {SHIM, TW_REG_SHIM_TRACE_STATUS, TW_REG_SHIM_TRACE_STATUS, "trace"},
    {SHIM, TW_REG_SHIM_EVENT_STATUS0, TW_REG_SHIM_EVENT_STATUS3, "events"},
    {SHIM, TW_REG_SHIM_DMA_S2MM_CURRENT_WRITE_COUNT, TW_REG_SHIM_DMA_S2MM_FOT_COUNT_FIFO_POP + 4,
     "counts of words of a DMA channel"},
};

static const struct behaviour *behaviour_at(const struct tw_tile *t, uint32_t offset)
{
    for (size_t i = 0; i < sizeof behaviours / sizeof behaviours[0]; i++)
        if ((behaviours[i].kinds >> t->kind & 1) && behaviours[i].offset == offset)
            return &behaviours[i];
    return NULL;
}

static const char *ignored_at(const struct tw_tile *t, uint32_t offset)
{
    for (size_t i = 0; i < sizeof ignored / sizeof ignored[0]; i++)
        if ((ignored[i].kinds >> t->kind & 1) && offset >= ignored[i].first && offset <= ignored[i].last)
            return ignored[i].what;
    return NULL;
}

/* ---- memories ---- */

static int in_program(const struct tw_tile *t, uint32_t offset)
{
    return t->kind == TW_TILE_CORE && offset >= TW_CORE_PROGRAM && offset < TW_CORE_PROGRAM + TW_CORE_PROGRAM_BYTES;
}

static uint32_t fitting(uint32_t bytes_left, size_t count)
{
    return count < bytes_left / 4 ? (uint32_t)count : bytes_left / 4;
}

uint32_t tw_tile_write_memory(struct tw_tile *tile, uint32_t offset, const uint32_t *words, size_t count)
{
    if (offset % 4 != 0)
        return 0;
    if (offset < tile->memory_bytes) {
        uint32_t n = fitting(tile->memory_bytes - offset, count);
        memcpy(tile->memory + offset, words, (size_t)n * 4);
        return n;
    }
    if (!in_program(tile, offset))
        return 0;
    uint32_t n = fitting(TW_CORE_PROGRAM + TW_CORE_PROGRAM_BYTES - offset, count);
    tw_core_write_program(tile->seat.core, offset - TW_CORE_PROGRAM, words, (size_t)n * 4);
    return n;
}

static int read_memory(const struct tw_tile *t, uint32_t offset, uint32_t *value)
{
    unsigned char bytes[4];
    if (offset < t->memory_bytes)
        memcpy(bytes, t->memory + offset, sizeof bytes);
    else if (in_program(t, offset))
        tw_core_read_program(t->seat.core, offset - TW_CORE_PROGRAM, bytes, sizeof bytes);
    else
        return 0;
    *value = tw_load_u32(bytes);
    return 1;
}

/* ---- DMA, locks, switches: registers that come in numbers ---- */

static void write_dma(struct tw_array *a, struct tw_tile *t, uint32_t offset, uint32_t value,
                      enum tw_dma_register which, struct tw_dma_channel channel)
{
    struct tw_dma_engine *e = &t->channels[channel.direction][channel.number];
    if (which == TW_DMA_STATUS)
        return; /* is only read */
    *stored(t, offset) = value;
    if (which == TW_DMA_QUEUE)
        tw_dma_push(a, e, tw_dma_task_decode(t->kind, value));
    else
        tw_dma_configure(a, e);
}

/* Returns 1 when the offset is a register of a number of them. */
static int write_numbered(struct tw_array *a, struct tw_tile *t, uint32_t offset, uint32_t value)
{
    struct tw_dma_channel channel;
    struct tw_lock_request request;
    unsigned index, slot;
    enum tw_dma_register which = tw_dma_register_at(t->kind, offset, &channel);
    int lock = tw_lock_at(t->kind, offset);
    if (which != TW_DMA_NO_REGISTER) {
        write_dma(a, t, offset, value, which, channel);
    } else if (lock >= 0) {
        t->locks.values[lock] = (int8_t)(value & TW_LOCK_VALUE_TOP);
        tw_array_lock_changed(a, t, (unsigned)lock);
    } else if (tw_switch_register_at(t->kind, offset, &index, &slot) != TW_SWITCH_NO_REGISTER) {
        write_route(a, t, offset, value);
    } else {
        return tw_lock_request_at(t->kind, offset, &request); /* requests are reads */
    }
    return 1;
}

/* Returns 1 when the offset is a register of the core itself. */
static int write_core_register(struct tw_array *a, struct tw_tile *t, uint32_t offset, uint32_t value)
{
    uint32_t before;
    if (t->kind != TW_TILE_CORE || !tw_core_seat_read(&t->seat, offset, &before))
        return 0;
    if (tw_core_seat_is_running(&t->seat))
        tw_array_fault(a, TW_E_UNSUPPORTED, "writing register 0x%x of %s while it runs is not modelled",
                       (unsigned)offset, t->seat.name);
    else
        tw_core_seat_write(&t->seat, offset, value);
    return 1;
}

/* Acquires or releases a lock without waiting: 1 when it could be done. */
static uint32_t request_lock(struct tw_array *a, struct tw_tile *t, const struct tw_lock_request *r)
{
    if (r->acquire) {
        int taken = tw_lock_try(&t->locks, r->lock, r->value);
        tw_trace_lock(a, t, r->lock);
        return (uint32_t)taken;
    }
    tw_array_lock_release(a, t, r->lock, r->value);
    return 1;
}

static int read_numbered(struct tw_array *a, struct tw_tile *t, uint32_t offset, uint32_t *value)
{
    struct tw_dma_channel channel;
    struct tw_lock_request request;
    int lock = tw_lock_at(t->kind, offset);
    if (tw_dma_register_at(t->kind, offset, &channel) == TW_DMA_STATUS)
        *value = tw_dma_status_word(&t->channels[channel.direction][channel.number]);
    else if (lock >= 0)
        *value = (uint32_t)t->locks.values[lock];
    else if (tw_lock_request_at(t->kind, offset, &request))
        *value = request_lock(a, t, &request);
    else
        return 0;
    return 1;
}

static int no_register(const struct tw_tile *t, uint32_t offset, struct tw_error *err)
{
    return tw_fail(err, TW_E_ARGUMENT, "tile (%u, %u) has no register or memory at 0x%x", t->column, t->row,
                   (unsigned)offset);
}

/* What the access itself made fail. */
static int outcome(const struct tw_array *a, int fault_before, struct tw_error *err)
{
    if (fault_before || a->fault.code == 0)
        return 0;
    if (err != NULL)
        *err = a->fault;
    return a->fault.code;
}

int tw_tile_write(struct tw_array *array, struct tw_tile *tile, uint32_t offset, uint32_t value, struct tw_error *err)
{
    int fault_before = array->fault.code != 0;
    if (offset % 4 != 0 || offset >= TW_TILE_BYTES)
        return tw_fail(err, TW_E_ARGUMENT, "0x%x is no address of a 32-bit word in tile (%u, %u)", (unsigned)offset,
                       tile->column, tile->row);
    tw_core_seat_join(array, tile);
    if (tw_tile_write_memory(tile, offset, &value, 1) > 0 || write_numbered(array, tile, offset, value) ||
        write_core_register(array, tile, offset, value))
        return outcome(array, fault_before, err);
    const struct behaviour *b = behaviour_at(tile, offset);
    if (b != NULL && b->write != NULL)
        b->write(array, tile, offset, value);
    else if (tw_tile_register_at(tile->kind, offset) != NULL)
        *stored(tile, offset) = value;
    else
        return no_register(tile, offset, err);
    return outcome(array, fault_before, err);
}

int tw_tile_present(struct tw_array *array, struct tw_tile *tile, uint32_t offset, uint32_t *value,
                    struct tw_error *err)
{
    struct tw_lock_request request;
    if (offset % 4 != 0 || tw_lock_at(tile->kind, offset) >= 0)
        return tw_tile_read(array, tile, offset, value, err);
    tw_core_seat_join(array, tile);
    if (read_memory(tile, offset, value) ||
        (tile->kind == TW_TILE_CORE && tw_core_seat_read(&tile->seat, offset, value)))
        return 0;
    if (tw_tile_register_at(tile->kind, offset) == NULL && !tw_lock_request_at(tile->kind, offset, &request))
        return no_register(tile, offset, err);
    *value = *stored(tile, offset);
    return 0;
}

int tw_tile_read(struct tw_array *array, struct tw_tile *tile, uint32_t offset, uint32_t *value, struct tw_error *err)
{
    int fault_before = array->fault.code != 0;
    if (offset % 4 != 0 || offset >= TW_TILE_BYTES)
        return tw_fail(err, TW_E_ARGUMENT, "0x%x is no address of a 32-bit word in tile (%u, %u)", (unsigned)offset,
                       tile->column, tile->row);
    if (tile->kind == TW_TILE_CORE && offset == TW_REG_CORE_CORE_STATUS) { /* as of the core's last act */
        *value = tw_core_seat_status(&tile->seat);
        return 0;
    }
    tw_core_seat_join(array, tile);
    if (read_memory(tile, offset, value) || read_numbered(array, tile, offset, value))
        return outcome(array, fault_before, err);
    if (tile->kind == TW_TILE_CORE && tw_core_seat_read(&tile->seat, offset, value))
        return 0;
    const struct behaviour *b = behaviour_at(tile, offset);
    if (b != NULL && b->read != NULL) {
        *value = b->read(array, tile, offset);
        return 0;
    }
    const char *what = ignored_at(tile, offset);
    if (what != NULL)
        return tw_fail(err, TW_E_UNSUPPORTED, "register 0x%x of tile (%u, %u) cannot be read: %s are not modelled",
                       (unsigned)offset, tile->column, tile->row, what);
    if (tw_tile_register_at(tile->kind, offset) == NULL)
        return no_register(tile, offset, err);
    *value = *stored(tile, offset);
    return 0;
}
