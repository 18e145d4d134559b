/*
 * Cores simulated ahead, several at once. Where one is to be simulated, all others that will act soon are, too, each as
 * far as it would have been at its act: first all of them as far as they stay in their own memories, then those that do
 * not, in groups that have no memory in common. So what happens depends on the queue and the programs alone, not on the
 * number of threads, even if cores look at each other's memory without locks. DMA, locks and streams are never
 * simulated at the same time.
 */
#include "base/thread_pool.h"
#include "emu/array/state.h"

enum { CORES_MAX = TW_NPU1_COLUMNS * TW_NPU1_ROWS };
_Static_assert(CORES_MAX <= 64, "a bit for each tile");

struct batch {
    struct tw_array *array;
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

static void simulate_near(void *arg, size_t index, unsigned worker)
{
    const struct batch *b = arg;
    struct tw_core_seat *seat = b->seats[index];
    (void)worker;
    tw_bank_compare(b->array, &b->array->tiles[seat->actor / TW_ACTORS]); /* writes its own tile's counts alone */
    seat->reason.code = 0;
    seat->outcome = tw_core_run_near(seat->core, seat->limit, &seat->reason);
    seat->ran = 1;
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

static void run_all(struct tw_array *a, struct batch *b, tw_task *task)
{
    struct tw_pool *pool = threads_for(a, b->n);
    if (pool != NULL && b->n > 1)
        tw_pool_run(pool, b->n, task, b);
    for (unsigned i = 0; i < b->n && (pool == NULL || b->n == 1); i++)
        task(b, i, 0);
}

/* The memories that a core can reach, one bit for each tile. */
static uint64_t memories_of(const struct tw_array *a, const struct tw_core_seat *seat)
{
    const struct tw_tile *tile = &a->tiles[seat->actor / TW_ACTORS];
    uint64_t memories = 0;
    for (unsigned w = 0; w < TW_WINDOWS; w++) {
        const struct tw_tile *other = tw_core_window_tile(a, tile, (enum tw_core_window)w);
        if (other != NULL)
            memories |= UINT64_C(1) << other->number;
    }
    return memories;
}

/* Takes cores that have no memory in common out of those that are left. */
static struct batch take_group(const struct tw_array *a, struct batch *left)
{
    struct batch group = {.array = left->array}, others = {.array = left->array};
    uint64_t memories = 0;
    for (unsigned i = 0; i < left->n; i++) {
        uint64_t own = memories_of(a, left->seats[i]);
        struct batch *to = (own & memories) == 0 ? &group : &others;
        to->seats[to->n++] = left->seats[i];
        if (to == &group)
            memories |= own;
    }
    *left = others;
    return group;
}

/* Those that stopped where they are about to leave their own memories. */
static struct batch find_stopped(const struct batch *b)
{
    struct batch stopped = {.array = b->array};
    for (unsigned i = 0; i < b->n; i++)
        if (b->seats[i]->outcome == TW_CORE_RUNNING && tw_core_clock(b->seats[i]->core) < b->seats[i]->limit)
            stopped.seats[stopped.n++] = b->seats[i];
    return stopped;
}

void tw_core_seats_run(struct tw_array *array, struct tw_tile *tile)
{
    struct batch b = {.array = array};
    uint64_t act;
    add(array, &b, &tile->seat, array->now);
    for (unsigned i = 0; i < array->n_tiles; i++)
        if (&array->tiles[i] != tile && is_next(array, &array->tiles[i].seat, &act))
            add(array, &b, &array->tiles[i].seat, act);
    run_all(array, &b, simulate_near);
    struct batch left = find_stopped(&b);
    while (left.n > 0) {
        struct batch group = take_group(array, &left);
        run_all(array, &group, simulate);
    }
}
