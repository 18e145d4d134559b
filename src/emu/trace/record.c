#include "emu/trace/record.h"

#include "npu1/dma.h"
#include "npu1/tile.h"

#include <stdlib.h>

enum {
    DEPTH = 4, /* things inside each other on one track: a command, an operation; a task, a descriptor, a wait */
    TRACKS = TW_NPU1_COLUMNS * TW_NPU1_ROWS * TW_TRACE_UNITS * TW_DMA_CHANNELS_MAX,
    FIRST_ROOM = 1024,
    LOCKS = 64, /* of a tile, at most */
    NOT_KEPT = -1
};

struct track {
    unsigned depth;
    ptrdiff_t open[DEPTH]; /* entries that have not ended, the outermost first */
};

struct tw_trace_record {
    size_t most, n, room;
    struct tw_trace_entry *entries;
    uint64_t lost, last; /* last: the latest cycle of all events */
    int closed;
    struct track tracks[TRACKS];
    int64_t locks[TW_NPU1_COLUMNS][TW_NPU1_ROWS][LOCKS]; /* their values, 0 at first */
};

int tw_trace_record_create(size_t most, struct tw_trace_record **record, struct tw_error *err)
{
    struct tw_trace_record *r = calloc(1, sizeof *r);
    *record = r;
    if (r == NULL)
        return tw_fail(err, TW_E_MEMORY, "no memory to record a trace");
    r->most = most == 0 ? TW_TRACE_ENTRIES : most < UINT32_MAX ? most : UINT32_MAX;
    return TW_OK;
}

void tw_trace_record_free(struct tw_trace_record *record)
{
    if (record != NULL)
        free(record->entries);
    free(record);
}

uint64_t tw_trace_record_lost(const struct tw_trace_record *record)
{
    return record->lost;
}

/* Room for one more entry: returns 0, or -1 when there is none any more. */
static int make_room(struct tw_trace_record *r)
{
    if (r->n < r->room)
        return 0;
    size_t room = r->room == 0 ? FIRST_ROOM : 2 * r->room;
    if (r->n >= r->most)
        return -1;
    struct tw_trace_entry *more = realloc(r->entries, room * sizeof *more);
    if (more == NULL) {
        r->most = r->n;
        return -1;
    }
    r->entries = more;
    r->room = room;
    return 0;
}

/* Returns the entry's number, or NOT_KEPT. */
static ptrdiff_t keep(struct tw_trace_record *r, const struct tw_trace_event *event)
{
    if (r->n >= r->most || make_room(r) != 0) {
        r->lost++;
        return NOT_KEPT;
    }
    r->entries[r->n] = (struct tw_trace_entry){.event = *event, .end = event->cycle, .number = (uint32_t)r->n};
    return (ptrdiff_t)r->n++;
}

static void begin(struct tw_trace_record *r, struct track *t, const struct tw_trace_event *event)
{
    if (t->depth < DEPTH)
        t->open[t->depth] = keep(r, event);
    else
        r->lost++;
    t->depth++;
}

/* Ends the innermost thing; event NULL: the record ends. */
static void end(struct tw_trace_record *r, struct track *t, const struct tw_trace_event *event)
{
    ptrdiff_t at = --t->depth < DEPTH ? t->open[t->depth] : NOT_KEPT;
    if (at == NOT_KEPT)
        return;
    struct tw_trace_entry *entry = &r->entries[at];
    uint64_t cycle = event != NULL ? event->cycle : r->last;
    entry->end = cycle > entry->end ? cycle : entry->end;
    entry->unfinished = event == NULL;
    if (entry->event.what != TW_TRACE_RUN)
        return;
    int known = event != NULL && event->what == TW_TRACE_RUN;
    entry->event.first = known ? event->first - entry->event.first : 0;
    entry->event.second = known ? event->second - entry->event.second : 0;
}

static void end_all(struct tw_trace_record *r, struct track *t, const struct tw_trace_event *event)
{
    while (t->depth > 0)
        end(r, t, event);
}

static struct track *track_of(struct tw_trace_record *r, const struct tw_trace_event *e)
{
    if (e->column >= TW_NPU1_COLUMNS || e->row >= TW_NPU1_ROWS || e->unit >= TW_TRACE_UNITS ||
        e->channel >= TW_DMA_CHANNELS_MAX || e->what >= TW_TRACE_WHATS || e->kind > TW_TRACE_MOMENT)
        return NULL;
    size_t tile = (size_t)e->column * TW_NPU1_ROWS + e->row;
    return &r->tracks[(tile * TW_TRACE_UNITS + e->unit) * TW_DMA_CHANNELS_MAX + e->channel];
}

/* Configuration sets many locks to what they are already. */
static int is_new(struct tw_trace_record *r, const struct tw_trace_event *event)
{
    if (event->what != TW_TRACE_LOCK || event->first < 0 || event->first >= LOCKS)
        return 1;
    int64_t *value = &r->locks[event->column][event->row][event->first];
    int changed = *value != event->second;
    *value = event->second;
    return changed;
}

/* A tw_trace_hook's event. */
static void record(void *arg, const struct tw_trace_event *event)
{
    struct tw_trace_record *r = arg;
    struct track *t = track_of(r, event);
    if (t == NULL || r->closed)
        return;
    r->last = event->cycle > r->last ? event->cycle : r->last;
    switch (event->kind) {
    case TW_TRACE_BEGIN:
        begin(r, t, event);
        break;
    case TW_TRACE_END:
        if (t->depth > 0)
            end(r, t, event);
        break;
    case TW_TRACE_END_ALL:
        end_all(r, t, event);
        break;
    default:
        if (is_new(r, event))
            keep(r, event);
    }
}

struct tw_trace_hook tw_trace_record_hook(struct tw_trace_record *record_)
{
    return (struct tw_trace_hook){.event = record, .arg = record_};
}

/* ---- reading */

static int compare(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

/* By the time at which they began; what is around others came before them. */
static int order(const void *a, const void *b)
{
    const struct tw_trace_entry *one = a, *other = b;
    int by_begin = compare(one->event.cycle, other->event.cycle);
    return by_begin != 0 ? by_begin : compare(one->number, other->number);
}

const struct tw_trace_entry *tw_trace_record_entries(struct tw_trace_record *record_, size_t *n)
{
    if (!record_->closed)
        for (size_t i = 0; i < TRACKS; i++)
            end_all(record_, &record_->tracks[i], NULL);
    if (!record_->closed && record_->n > 0)
        qsort(record_->entries, record_->n, sizeof record_->entries[0], order);
    record_->closed = 1;
    *n = record_->n;
    return record_->entries;
}
