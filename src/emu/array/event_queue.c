#include "emu/array/event_queue.h"

enum { ACTOR_BITS = 11 };
_Static_assert((int)TW_EVENT_ACTORS <= 1 << ACTOR_BITS, "an actor's number has room below a time");

static uint64_t event(unsigned actor, uint64_t time)
{
    return time << ACTOR_BITS | actor;
}

static unsigned actor_of(uint64_t event)
{
    return (unsigned)(event & ((1u << ACTOR_BITS) - 1));
}

static void put(struct tw_event_queue *q, unsigned place, uint64_t event)
{
    q->heap[place] = event;
    q->place[actor_of(event)] = (uint16_t)(place + 1);
}

static void rise(struct tw_event_queue *q, unsigned place, uint64_t event)
{
    while (place > 0 && event < q->heap[(place - 1) / 2]) {
        put(q, place, q->heap[(place - 1) / 2]);
        place = (place - 1) / 2;
    }
    put(q, place, event);
}

static void sink(struct tw_event_queue *q, unsigned place, uint64_t event)
{
    for (unsigned child; (child = 2 * place + 1) < q->n; place = child) {
        child += child + 1 < q->n && q->heap[child + 1] < q->heap[child];
        if (event < q->heap[child])
            break;
        put(q, place, q->heap[child]);
    }
    put(q, place, event);
}

void tw_event_wake(struct tw_event_queue *queue, unsigned actor, uint64_t time)
{
    unsigned place = queue->place[actor];
    uint64_t wanted = event(actor, time);
    if (place != 0 && queue->heap[place - 1] <= wanted)
        return;
    rise(queue, place != 0 ? place - 1 : queue->n++, wanted);
}

int tw_event_next(struct tw_event_queue *queue, uint64_t *time)
{
    if (queue->n == 0)
        return -1;
    uint64_t first = queue->heap[0];
    unsigned actor = actor_of(first);
    *time = first >> ACTOR_BITS;
    queue->place[actor] = 0;
    if (--queue->n > 0)
        sink(queue, 0, queue->heap[queue->n]);
    return (int)actor;
}

uint64_t tw_event_first(const struct tw_event_queue *queue)
{
    return queue->n == 0 ? UINT64_MAX : queue->heap[0] >> ACTOR_BITS;
}
