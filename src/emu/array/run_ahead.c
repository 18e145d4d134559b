/*
 * Cores simulated ahead, several at once. What a core does between two requests depends on nobody else, as long as
 * memory is shared by locks; so where one is to be simulated, all others that will act soon are, too, each as far as it
 * would have been at its act. Which ones these are depends on the queue alone, not on the number of threads; DMA, locks
 * and streams are never simulated at the same time.
 */
#include "base/thread_pool.h"
#include "emu/array/state.h"

enum { CORES_MAX = TW_NPU1_COLUMNS * TW_NPU1_ROWS };

struct batch {
    struct tw_core_seat *seats[CORES_MAX];
    unsigned n;
};

static void add(struct tw_array *a, struct batch *b, struct tw_core_seat *seat, uint64_t act)
{
    seat->limit = act + a->options.run_ahead;
    if (seat->limit > a->until)
        seat->limit = a->until < UINT64_MAX ? a->until + 1 : a->until;
    b->seats[b->n++] = seat;
}

/* Whether the seat's next act, at *act, is that its core is simulated on, and soon. */
static int is_next(const struct tw_array *a, const struct tw_core_seat *seat, uint64_t *act)
{
    if (seat->core == NULL || a->queue.place[seat->actor] == 0 || seat->asks || seat->ran ||
        !tw_core_seat_is_running(seat))
        return 0;
    *act = a->queue.time[seat->actor];
    return *act <= a->now + a->options.run_ahead && *act <= a->until &&
           tw_core_clock(seat->core) <= *act + a->options.run_ahead;
}

static void simulate(void *arg, size_t index, unsigned worker)
{
    const struct batch *b = arg;
    struct tw_core_seat *seat = b->seats[index];
    (void)worker;
    seat->reason.code = 0;
    seat->outcome = tw_core_run(seat->core, seat->limit, &seat->reason);
    seat->ran = 1;
}

/* The threads are there from the first time on that two cores can use them. Where they cannot be had, one is enough. */
static struct tw_pool *threads_for(struct tw_array *a, unsigned cores)
{
    if (a->pool == NULL && cores > 1 && a->options.threads != 1) {
        unsigned threads = a->options.threads != 0 ? a->options.threads : tw_processors();
        if (tw_pool_create(threads < CORES_MAX ? threads : CORES_MAX, &a->pool, NULL) != 0)
            a->options.threads = 1;
    }
    return a->pool;
}

void tw_core_seats_run(struct tw_array *array, struct tw_tile *tile)
{
    struct batch b = {.n = 0};
    uint64_t act;
    add(array, &b, &tile->seat, array->now);
    for (unsigned i = 0; i < array->n_tiles; i++)
        if (&array->tiles[i] != tile && is_next(array, &array->tiles[i].seat, &act))
            add(array, &b, &array->tiles[i].seat, act);
    struct tw_pool *pool = threads_for(array, b.n);
    if (pool != NULL && b.n > 1) {
        tw_pool_run(pool, b.n, simulate, &b);
        return;
    }
    for (unsigned i = 0; i < b.n; i++)
        simulate(&b, i, 0);
}
