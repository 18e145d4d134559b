#include "emu/array/event_queue.h"

static int before(const struct tw_event_queue *q, unsigned a, unsigned b)
{
    return q->time[a] != q->time[b] ? q->time[a] < q->time[b] : a < b;
}

static void put(struct tw_event_queue *q, unsigned place, unsigned actor)
{
    q->heap[place] = (uint16_t)actor;
    q->place[actor] = (uint16_t)(place + 1);
}

static void rise(struct tw_event_queue *q, unsigned place, unsigned actor)
{
    while (place > 0 && before(q, actor, q->heap[(place - 1) / 2])) {
        put(q, place, q->heap[(place - 1) / 2]);
        place = (place - 1) / 2;
    }
    put(q, place, actor);
}

static void sink(struct tw_event_queue *q, unsigned place, unsigned actor)
{
    for (unsigned child; (child = 2 * place + 1) < q->n; place = child) {
        if (child + 1 < q->n && before(q, q->heap[child + 1], q->heap[child]))
            child++;
        if (!before(q, q->heap[child], actor))
            break;
        put(q, place, q->heap[child]);
    }
    put(q, place, actor);
}

void tw_event_wake(struct tw_event_queue *queue, unsigned actor, uint64_t time)
{
    unsigned place = queue->place[actor];
    if (place != 0 && queue->time[actor] <= time)
        return;
    queue->time[actor] = time;
    rise(queue, place != 0 ? place - 1 : queue->n++, actor);
}

int tw_event_next(struct tw_event_queue *queue, uint64_t *time)
{
    if (queue->n == 0)
        return -1;
    unsigned actor = queue->heap[0];
    *time = queue->time[actor];
    queue->place[actor] = 0;
    if (--queue->n > 0)
        sink(queue, 0, queue->heap[queue->n]);
    return (int)actor;
}

uint64_t tw_event_first(const struct tw_event_queue *queue)
{
    return queue->n == 0 ? UINT64_MAX : queue->time[queue->heap[0]];
}
