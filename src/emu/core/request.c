/*
 * What others must answer. Locks, streams and the cascade are asked for in cycle 2 of their operation: the tables hold
 * the semaphore unit from cycle 2 on, a stalled acquire freezes the core there (aie2-isa: lock_stall), and AMD's
 * compiler sees to it that memory accesses before a lock operation are over in its cycle 1, and those behind it begin
 * after its cycle 8 (rules.h TW_LOCK_CYCLE_*). At the beginning of cycle 2 thus everything that was to be done before
 * is done, and nothing that was to come after has begun. The tile's registers are accessed in the memory cycle.
 */
#include "emu/core/state.h"

#include "base/little_endian.h"

enum { ASK_CYCLE = 2, WORD = 4, CASCADE_WORDS = 16 };
enum { LOCK_MASK = 63, LOCK_VALUE_BITS = 7 };
enum { TILE_FIRST = 0x80000, TILE_END = 0xc0000 }; /* the tile's registers in the core's addresses (npu1-array: 4) */
/* The second word of a control packet: odd parity, response id, operation, beats - 1, address (AM020). */
enum { HEADER_ADDRESS_BITS = 20, HEADER_BEATS = 20, HEADER_OPERATION = 22, HEADER_ID = 24, HEADER_PARITY = 31 };

unsigned tw_core_request_cycle(const struct tw_semantics *row, const struct tw_schedule_class *class)
{
    return row->action == TW_ACTION_TILE && class->memory_first > 0 ? class->memory_first : ASK_CYCLE;
}

static uint32_t input(const struct tw_core_op *op, unsigned k)
{
    return tw_load_u32(op->in[k]);
}

static int8_t lock_value(uint32_t value)
{
    int low = (int)(value & ((1u << LOCK_VALUE_BITS) - 1)), sign = 1 << (LOCK_VALUE_BITS - 1);
    return (int8_t)((low ^ sign) - sign);
}

/* acq id, value[, r26] */
static int ask_lock(struct tw_core *c, const struct tw_core_op *op)
{
    int conditional = (op->row->b & CORE_ASK_CONDITION) != 0;

    if (conditional && (input(op, 2) == 0) != (c->unknown.cond_lock_when_zero != 0))
        return 0;
    c->request.kind = op->row->a == CORE_ASK_ACQUIRE ? TW_REQUEST_ACQUIRE : TW_REQUEST_RELEASE;
    c->request.lock = (uint8_t)(input(op, 0) & LOCK_MASK);
    c->request.value = lock_value(input(op, 1));
    return 1;
}

static uint32_t control_header(const struct tw_core_op *op)
{
    uint32_t word = (input(op, 0) & ((1u << HEADER_ADDRESS_BITS) - 1)) | (input(op, 1) & 3) << HEADER_BEATS |
                    (input(op, 2) & 3) << HEADER_OPERATION | (input(op, 3) & 0x7f) << HEADER_ID;
    uint32_t odd = 1;

    for (unsigned i = 0; i < HEADER_PARITY; i++)
        odd ^= word >> i & 1;
    return word | odd << HEADER_PARITY;
}

static int ask_write(struct tw_core *c, const struct tw_core_op *op, uint32_t word, unsigned tlast)
{
    c->request.kind = TW_REQUEST_STREAM_WRITE;
    c->request.blocking = (op->row->b & CORE_ASK_NOT_BLOCKING) == 0;
    c->request.last = (op->row->b & CORE_ASK_LAST) != 0;
    if ((op->row->b & CORE_ASK_LAST_BY_REGISTER) != 0)
        c->request.last = (input(op, tlast) & 1) != 0;
    c->request.words = 1;
    c->request.data[0] = word;
    return 1;
}

static int ask_cascade(struct tw_core *c, const struct tw_core_op *op)
{
    int reads = op->row->a == CORE_ASK_CASCADE_READ;

    if (input(op, 1) == 0) {
        tw_core_fail(c, TW_E_UNSUPPORTED, op, "the cascade while %s is 0 is not modelled",
                     reads ? "crSCDEn" : "crMCDEn");
        return 0;
    }
    c->request.kind = reads ? TW_REQUEST_CASCADE_READ : TW_REQUEST_CASCADE_WRITE;
    c->request.blocking = 1;
    c->request.words = CASCADE_WORDS;
    for (unsigned i = 0; i < CASCADE_WORDS && !reads; i++)
        c->request.data[i] = tw_load_u32((const unsigned char *)op->in[0] + (size_t)WORD * i);
    return 1;
}

static int ask_tile(struct tw_core *c, const struct tw_core_op *op)
{
    uint32_t address = input(op, 1);

    if (address < TILE_FIRST || address >= TILE_END || address % WORD != 0) {
        tw_core_fail(c, TW_E_ARGUMENT, op, "it accesses 0x%05x, which is no register of the tile", (unsigned)address);
        return 0;
    }
    c->request.kind = op->row->a == CORE_ASK_TILE_READ ? TW_REQUEST_TILE_READ : TW_REQUEST_TILE_WRITE;
    c->request.blocking = 1;
    c->request.address = address - TILE_FIRST;
    c->request.words = 1;
    c->request.data[0] = op->row->a == CORE_ASK_TILE_WRITE ? input(op, 0) : 0;
    return 1;
}

static int fill(struct tw_core *c, const struct tw_core_op *op)
{
    switch (op->row->a) {
    case CORE_ASK_ACQUIRE:
    case CORE_ASK_RELEASE:
        return ask_lock(c, op);
    case CORE_ASK_EVENT:
        c->request.kind = TW_REQUEST_EVENT;
        c->request.lock = (uint8_t)input(op, 0);
        return 1;
    case CORE_ASK_STREAM_READ:
        c->request.kind = TW_REQUEST_STREAM_READ;
        c->request.blocking = (op->row->b & CORE_ASK_NOT_BLOCKING) == 0;
        c->request.words = 1;
        return 1;
    case CORE_ASK_STREAM_WRITE:
        return ask_write(c, op, input(op, 0), 1);
    case CORE_ASK_CONTROL_HEADER:
        return ask_write(c, op, control_header(op), 4);
    case CORE_ASK_CASCADE_READ:
    case CORE_ASK_CASCADE_WRITE:
        return ask_cascade(c, op);
    case CORE_ASK_TILE_READ:
    case CORE_ASK_TILE_WRITE:
        return ask_tile(c, op);
    default:
        tw_core_fail(c, TW_E_UNSUPPORTED, op, "this instruction is not modelled");
        return 0;
    }
}

int tw_core_ask(struct tw_core *c, struct tw_core_op *op, struct tw_core_flight *f)
{
    memset(&c->request, 0, sizeof c->request);
    c->request.cycle = c->clock;
    tw_core_set_places(op, f);
    return fill(c, op);
}

/* Status of a stream: success, then tlast (srSS0). */
enum { STATUS_SUCCESS = 1, STATUS_LAST = 2 };

void tw_core_take_answer(struct tw_core_op *op, struct tw_core_flight *f, const struct tw_core_answer *answer)
{
    uint32_t status = answer->success ? STATUS_SUCCESS : 0;

    tw_core_set_places(op, f);
    switch (op->row->a) {
    case CORE_ASK_STREAM_READ:
        tw_store_u32(op->out[0], answer->data[0]);
        tw_store_u32(op->out[1], status | (answer->last ? STATUS_LAST : 0));
        return;
    case CORE_ASK_STREAM_WRITE:
    case CORE_ASK_CONTROL_HEADER:
        for (unsigned i = 0; i < op->n_out; i++) /* srMS0, of those that do not block */
            tw_store_u32(op->out[op->patches[op->n_in + i].value], status);
        return;
    case CORE_ASK_CASCADE_READ:
        for (unsigned i = 0; i < CASCADE_WORDS; i++)
            tw_store_u32((unsigned char *)op->out[0] + (size_t)WORD * i, answer->data[i]);
        return;
    case CORE_ASK_TILE_READ:
        tw_store_u32(op->out[0], answer->data[0]);
        return;
    default:
        return;
    }
}
