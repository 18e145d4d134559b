#include "emu/array/control_port.h"

#include "emu/array/state.h"
#include "emu/array/trace.h"
#include "emu/fault.h"
#include "npu1_registers.h"

/* The word behind a control packet's header. */
struct command {
    unsigned reply, operation, beats;
    uint32_t offset;
};
enum operation { OPERATION_WRITE, OPERATION_READ };
enum command_bits {
    COMMAND_REPLY_SHIFT = 24,
    COMMAND_REPLY_TOP = 0x1f, /* of its seven bits those that a packet's id has */
    COMMAND_OPERATION_SHIFT = 22,
    COMMAND_BEATS_SHIFT = 20,
    COMMAND_TWO_BITS = 3,
    COMMAND_OFFSET_TOP = 0xfffff
};

_Static_assert((uint32_t)TW_REG_CORE_TILE_CONTROL_PACKET_HANDLER_STATUS ==
                   (uint32_t)TW_REG_SHIM_CONTROL_PACKET_HANDLER_STATUS,
               "core tiles and shims have it at one offset");

/* Bits of the packet handler's status. */
enum { FIRST_PARITY = 1, SECOND_PARITY = 2, ACCESS_ERROR = 4, LAST_ERROR = 8 };

static struct command decode(uint32_t word)
{
    return (struct command){
        .reply = word >> COMMAND_REPLY_SHIFT & COMMAND_REPLY_TOP,
        .operation = word >> COMMAND_OPERATION_SHIFT & COMMAND_TWO_BITS,
        .beats = (word >> COMMAND_BEATS_SHIFT & COMMAND_TWO_BITS) + 1,
        .offset = word & COMMAND_OFFSET_TOP,
    };
}

static int has_odd_parity(uint32_t word)
{
    unsigned ones = 0;
    for (; word != 0; word &= word - 1)
        ones++;
    return ones % 2;
}

static void fail(struct tw_array *a, struct tw_tile *t, uint32_t status, int code, const char *what)
{
    uint32_t offset = t->kind == TW_TILE_MEMORY ? TW_REG_MEMORY_TILE_CONTROL_PACKET_HANDLER_STATUS
                                                : TW_REG_CORE_TILE_CONTROL_PACKET_HANDLER_STATUS;
    t->registers[offset / 4] |= status;
    tw_array_fault(a, code, "the control packet 0x%08x 0x%08x to tile (%u, %u) %s", (unsigned)t->control.words[0],
                   (unsigned)t->control.words[1], t->column, t->row, what);
}

static int queue_word(struct tw_array *a, struct tw_tile *t, uint32_t word, int last)
{
    struct tw_control_port *p = &t->control;
    if (p->n == TW_CONTROL_QUEUE)
        return 0;
    unsigned at = (p->first + p->n++) % TW_CONTROL_QUEUE;
    p->queue[at] = word;
    p->queue_last[at] = (uint8_t)last;
    tw_array_wake(a, p->actor, a->now);
    return 1;
}

int tw_control_token(struct tw_array *array, struct tw_tile *tile, uint32_t word)
{
    return queue_word(array, tile, word, 1);
}

static void reply(struct tw_array *a, struct tw_tile *t, const struct command *c)
{
    uint32_t values[TW_CONTROL_BEATS];
    struct tw_error err;
    for (unsigned i = 0; i < c->beats; i++)
        if (tw_tile_read(a, t, (c->offset + 4 * i) & COMMAND_OFFSET_TOP, &values[i], &err) != 0) {
            fail(a, t, ACCESS_ERROR, err.code, err.text);
            return;
        }
    struct tw_packet_header header = {.id = (uint8_t)c->reply, .row = t->row, .column = t->column};
    if (t->control.n + c->beats >= TW_CONTROL_QUEUE) {
        fail(a, t, 0, TW_E_UNSUPPORTED, "asks for a reply while earlier ones wait, which is not modelled");
        return;
    }
    queue_word(a, t, tw_packet_header_encode(&header), 0);
    for (unsigned i = 0; i < c->beats; i++)
        queue_word(a, t, values[i], i + 1 == c->beats);
}

static void write_words(struct tw_array *a, struct tw_tile *t, const struct command *c)
{
    struct tw_error err;
    for (unsigned i = 0; i < c->beats; i++)
        if (tw_tile_write(a, t, (c->offset + 4 * i) & COMMAND_OFFSET_TOP, t->control.words[2 + i], &err) != 0) {
            fail(a, t, ACCESS_ERROR, err.code, err.text);
            return;
        }
}

/* Words that a packet has, as far as its own words say. */
static unsigned length(const struct tw_control_port *p)
{
    if (p->n_words < 2)
        return 2;
    struct command c = decode(p->words[1]);
    return c.operation == OPERATION_READ ? 2 : 2 + c.beats;
}

static void execute(struct tw_array *a, struct tw_tile *t)
{
    struct tw_control_port *p = &t->control;
    struct command c = decode(p->words[1]);
    if (!has_odd_parity(p->words[0]))
        fail(a, t, FIRST_PARITY, TW_E_ARGUMENT, "has a wrong parity bit in its first word");
    else if (!has_odd_parity(p->words[1]))
        fail(a, t, SECOND_PARITY, TW_E_ARGUMENT, "has a wrong parity bit in its second word");
    else if (c.operation == OPERATION_READ)
        reply(a, t, &c);
    else if (c.operation == OPERATION_WRITE)
        write_words(a, t, &c);
    else
        fail(a, t, 0, TW_E_UNSUPPORTED, "asks for an operation that is not modelled (2 write and increment, 3 block)");
    p->n_words = 0;
}

static void take_word(struct tw_array *a, struct tw_tile *t)
{
    struct tw_control_port *p = &t->control;
    int last;
    tw_sink_take(a, &p->in, &p->words[p->n_words], NULL, 1, &last, a->now << TW_TICK_SHIFT, TW_TICKS);
    p->n_words++;
    int complete = p->n_words == length(p);
    if (complete && last)
        execute(a, t);
    else if (complete || last)
        fail(a, t, LAST_ERROR, TW_E_ARGUMENT, "has not the length that it says (TLAST)");
    if (a->fault.code != 0)
        p->n_words = 0;
}

static void send_words(struct tw_array *a, struct tw_tile *t)
{
    struct tw_control_port *p = &t->control;
    for (; p->n > 0 && tw_stream_room(p->out) > 0; p->n--) {
        tw_stream_send_word(a, p->out, p->queue[p->first], p->queue_last[p->first], a->now);
        p->first = (p->first + 1) % TW_CONTROL_QUEUE;
    }
    p->out->blocked = p->n > 0;
    if (p->n == TW_CONTROL_QUEUE)
        return;
    for (unsigned direction = 0; direction < 2; direction++)
        for (unsigned c = 0; c < t->n_channels; c++)
            if (t->channels[direction][c].phase == TW_DMA_TOKEN)
                tw_array_wake(a, t->channels[direction][c].actor, a->now);
}

/* Whether a word is there now; if not, sees to it that the port acts when one comes. */
static int word_is_there(struct tw_array *a, struct tw_sink *in)
{
    if (tw_sink_available(in, 0) == 0)
        in->hungry = 1;
    else if (tw_sink_arrival(in) > a->now)
        tw_array_wake(a, in->actor, tw_sink_arrival(in));
    else
        return 1;
    return 0;
}

void tw_control_act(struct tw_array *array, struct tw_tile *tile)
{
    send_words(array, tile);
    while (array->fault.code == 0 && word_is_there(array, &tile->control.in))
        take_word(array, tile);
}

/* A token's word: bits 15:13 tell it from other packets; row and column as in a header, and who sent it. */
enum token_bits {
    TOKEN_KIND_SHIFT = 13,
    TOKEN_KIND_TOP = 7,
    TOKEN_KIND = 3,
    TOKEN_ACTOR_SHIFT = 8,
    TOKEN_ACTOR_TOP = TW_TOKEN_ACTORS - 1
};

static void receive_token(struct tw_array *a, uint32_t word)
{
    struct tw_packet_header from = tw_packet_header_decode(word);
    if ((word >> TOKEN_KIND_SHIFT & TOKEN_KIND_TOP) != TOKEN_KIND || from.column >= TW_NPU1_COLUMNS ||
        from.row >= TW_NPU1_ROWS)
        return; /* the firmware looks at tokens only */
    if (tw_fault_hits(a->options.faults, TW_FAULT_TOKEN))
        return;
    unsigned actor = word >> TOKEN_ACTOR_SHIFT & TOKEN_ACTOR_TOP;
    tw_trace_token(a, from.column, from.row, actor);
    uint32_t *count = &a->tokens[from.column][from.row][actor];
    if (*count < UINT32_MAX)
        ++*count;
}

void tw_token_port_act(struct tw_array *array, struct tw_tile *tile)
{
    struct tw_token_port *p = &tile->tokens;
    while (word_is_there(array, &p->in)) {
        uint32_t word;
        int last;
        tw_sink_take(array, &p->in, &word, NULL, 1, &last, array->now << TW_TICK_SHIFT, TW_TICKS);
        if (!p->inside)
            receive_token(array, word);
        p->inside = !last;
    }
}
