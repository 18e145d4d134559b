/* Who waits for what, in sentences. */
#include "emu/array/state.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

struct text {
    char *at;
    size_t left;
};

static void say(struct text *t, const char *format, ...) TW_PRINTF(2, 3);

static void say(struct text *t, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int n = vsnprintf(t->at, t->left, format, args);
    va_end(args);
    size_t used = n < 0 ? 0 : (size_t)n < t->left ? (size_t)n : t->left > 0 ? t->left - 1 : 0;
    t->at += used;
    t->left -= used;
}

static void say_lock(struct text *text, const struct tw_tile *owner, unsigned lock, int wanted)
{
    say(text, "for lock %u of tile (%u, %u), whose value is %d, to be %s%d; ", lock, owner->column, owner->row,
        owner->locks.values[lock], wanted < 0 ? "at least " : "", wanted < 0 ? -wanted : wanted);
}

/* What an actor waits for among the locks of all tiles. */
static void say_locks(const struct tw_array *a, struct text *text, unsigned actor)
{
    for (unsigned i = 0; i < a->n_tiles; i++) {
        const struct tw_lock_bank *bank = &a->tiles[i].locks;
        for (unsigned w = 0; w < bank->n_waiters; w++)
            if (bank->waiters[w].actor == actor)
                say_lock(text, &a->tiles[i], bank->waiters[w].lock, bank->waiters[w].value);
    }
}

static void say_room(struct text *text, const struct tw_stream *s)
{
    if (s->n_branches == 0)
        say(text, "for room in its stream, which leads nowhere; ");
    else
        say(text, "for room in its stream (%u words are under way); ", (unsigned)(s->written - s->freed));
}

static void say_words(struct text *text, const struct tw_sink *in)
{
    say(text, "for words from %s; ", in->from != NULL ? "its stream" : "a stream, and none leads there now");
}

static int core_is_stuck(const struct tw_tile *t)
{
    const struct tw_core_seat *seat = &t->seat;
    return t->kind == TW_TILE_CORE && seat->enabled && seat->asks && seat->waits;
}

/* Said before all else: it is why the others wait, and the text may be cut. */
static int core_hangs(const struct tw_tile *t, struct text *text)
{
    if (!core_is_stuck(t) || !t->seat.hangs)
        return 0;
    say(text, "%s hangs in bundle 0x%x, a fault on purpose; ", t->seat.name, (unsigned)tw_core_pc(t->seat.core));
    return 1;
}

static int core_waits(const struct tw_array *a, const struct tw_tile *t, struct text *text)
{
    const struct tw_core_seat *seat = &t->seat;
    if (!core_is_stuck(t) || seat->hangs)
        return 0;
    say(text, "%s waits in bundle 0x%x ", seat->name, (unsigned)tw_core_pc(seat->core));
    switch (tw_core_request(seat->core)->kind) {
    case TW_REQUEST_ACQUIRE:
        say_locks(a, text, seat->actor);
        break;
    case TW_REQUEST_STREAM_READ:
        say_words(text, &seat->in);
        break;
    case TW_REQUEST_STREAM_WRITE:
        say_room(text, seat->out);
        break;
    case TW_REQUEST_CASCADE_READ:
        say(text, "for its cascade input%s; ",
            tw_cascade_source(a, t) == NULL ? ", which no neighbour's output leads to" : "");
        break;
    case TW_REQUEST_CASCADE_WRITE:
        say(text, "for room in its cascade output%s; ",
            tw_cascade_target(a, t) == NULL ? ", which no neighbour takes" : "");
        break;
    default:
        say(text, "for its tile's registers; ");
    }
    return 1;
}

static int channel_waits(const struct tw_array *a, const struct tw_dma_engine *e, struct text *text)
{
    char name[40];
    if (e->phase == TW_DMA_IDLE)
        return 0;
    tw_dma_name(e, name, sizeof name);
    say(text, "%s waits in descriptor %u ", name, e->number);
    if (e->phase == TW_DMA_ACQUIRE)
        say_locks(a, text, e->actor);
    else if (e->phase == TW_DMA_TOKEN)
        say(text, "for room for its token at the control port; ");
    else if (e->settings.pause_memory || e->settings.pause_stream)
        say(text, "because it is paused; ");
    else if (e->channel.direction == TW_S2MM)
        say_words(text, &e->in);
    else
        say_room(text, e->out);
    return 1;
}

static int packet_waits(const struct tw_tile *t, const struct tw_packets *p, struct text *text)
{
    if (p->state != TW_PACKET_WAITS)
        return 0;
    const struct tw_packets *holder = p->arbiters[p->n_held]->holder;
    struct tw_port port = tw_switch_port(t->kind, TW_SLAVE, p->slave);
    say(text, "a packet at slave %s %u of tile (%u, %u) waits for an arbiter", tw_port_names[port.kind], port.number,
        t->column, t->row);
    if (holder != NULL) {
        port = tw_switch_port(holder->tile->kind, TW_SLAVE, holder->slave);
        say(text, " that the one at slave %s %u of tile (%u, %u) holds", tw_port_names[port.kind], port.number,
            holder->tile->column, holder->tile->row);
    }
    say(text, "; ");
    return 1;
}

static int control_waits(const struct tw_tile *t, struct text *text)
{
    const struct tw_control_port *p = &t->control;
    if (p->n > 0) {
        say(text, "%u words wait at the control port of tile (%u, %u) ", p->n, t->column, t->row);
        say_room(text, p->out);
    }
    if (p->n_words > 0)
        say(text, "the control port of tile (%u, %u) waits for the rest of a packet; ", t->column, t->row);
    return p->n > 0 || p->n_words > 0;
}

/* Words on their way whose source itself does not wait. */
static int stream_waits(const struct tw_stream *s, struct text *text)
{
    if (s->written == s->freed || s->blocked)
        return 0;
    struct tw_port port = tw_switch_port(s->tile->kind, TW_SLAVE, s->slave);
    say(text, "nobody takes %u words from slave %s %u of tile (%u, %u)%s; ", (unsigned)(s->written - s->freed),
        tw_port_names[port.kind], port.number, s->tile->column, s->tile->row,
        s->n_branches == 0 ? ", which lead nowhere" : "");
    return 1;
}

/* Takes the last separator away, and what did not fit whole. */
static void end(char *text, const struct text *to)
{
    static const char more[] = "and others";
    size_t n = strlen(text);
    if (to->left > 1) {
        if (n >= 2 && text[n - 1] == ' ')
            text[n - 2] = '\0';
        return;
    }
    while (n > 0 && (text[n - 1] != ' ' || n < 2 || text[n - 2] != ';' || to->left + strlen(text) - n < sizeof more))
        n--;
    if (n > 0)
        memcpy(text + n, more, sizeof more);
}

int tw_array_waits(const struct tw_array *array, char *text, size_t size)
{
    struct text to = {text, size};
    int waits = 0;
    if (size > 0)
        text[0] = '\0';
    for (unsigned i = 0; i < array->n_tiles; i++)
        waits += core_hangs(&array->tiles[i], &to);
    for (unsigned i = 0; i < array->n_tiles; i++) {
        const struct tw_tile *t = &array->tiles[i];
        waits += core_waits(array, t, &to);
        for (unsigned d = 0; d < 2; d++)
            for (unsigned c = 0; c < t->n_channels; c++)
                waits += channel_waits(array, &t->channels[d][c], &to);
        for (unsigned s = 0; s < TW_SWITCH_PORTS_MAX; s++)
            waits += packet_waits(t, &t->packets[s], &to);
        waits += control_waits(t, &to);
    }
    for (unsigned i = 0; i < array->n_streams; i++)
        waits += stream_waits(&array->streams[i], &to);
    if (size > 0)
        end(text, &to);
    return waits;
}

void tw_array_describe_waits(const struct tw_array *array, char *text, size_t size)
{
    tw_array_waits(array, text, size);
}
