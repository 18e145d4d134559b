/*
 * Cores simulated ahead, while the array goes on. As soon as it is known that a core can go on, it is simulated from
 * there, as far as it would be at its next act: on another thread when there is one, and at the latest at that act. It
 * sees its own memory as it is when this begins: what DMA brings meanwhile is written afterwards, and whoever else
 * wants to look at the memory or the core waits. So what happens depends on the queue and the programs alone, not on
 * the number of threads. Where a core is about to leave its own memory it stops; at its act all that have stopped so
 * are simulated on, in groups that have no memory in common. DMA, locks and streams are the caller's alone.
 */
#include "base/crew.h"
#include "base/thread_pool.h"
#include "emu/array/state.h"

enum { CORES_MAX = TW_NPU1_COLUMNS * TW_NPU1_ROWS };
_Static_assert((int)CORES_MAX <= (int)TW_CREW_JOBS, "a job for each tile");

struct group {
    struct tw_tile *tiles[CORES_MAX];
    unsigned n;
};

static void simulate(void *arg, unsigned number)
{
    struct tw_array *a = arg;
    struct tw_core_seat *seat = &a->tiles[number].seat;
    seat->outcome = seat->leaves ? tw_core_run(seat->core, seat->limit, &seat->reason)
                                 : tw_core_run_near(seat->core, seat->limit, &seat->reason);
}

/* Lets others have the core that the caller has kept for itself. */
static void share(struct tw_array *a)
{
    if (a->kept != NULL)
        tw_crew_put(a->crew, a->kept->number, a->now);
    a->kept = NULL;
}

/* A core whose act comes at once is not worth another thread's while, unless there are several such. */
static void put(struct tw_array *a, struct tw_tile *tile, uint64_t due)
{
    struct tw_core_seat *seat = &tile->seat;
    seat->reason.code = 0;
    seat->ran = 1;
    seat->flies = a->crew != NULL;
    if (!seat->flies) {
        simulate(a, tile->number);
    } else if (due <= a->now + TW_CYCLES_LOCK) {
        share(a);
        a->kept = tile;
    } else {
        tw_crew_put(a->crew, tile->number, due);
    }
}

/*
 * Behind a request a core is simulated in steps that grow: its next request may come soon, and until that is known
 * nobody else gets on.
 */
static unsigned next_stride(const struct tw_array *a, unsigned stride)
{
    enum { FIRST = 32 };
    unsigned next = stride == 0 ? FIRST : 4 * stride;
    return next < a->options.run_ahead ? next : a->options.run_ahead;
}

void tw_core_seat_begin(struct tw_array *array, struct tw_tile *tile, uint64_t act)
{
    struct tw_core_seat *seat = &tile->seat;
    if (act > array->until || tw_core_clock(seat->core) > array->now + array->options.run_ahead)
        return;
    seat->stride = next_stride(array, seat->stride);
    seat->limit = act + seat->stride;
    if (seat->limit > array->until)
        seat->limit = array->until < UINT64_MAX ? array->until + 1 : array->until;
    seat->leaves = 0;
    put(array, tile, act);
}

void tw_core_seat_join(struct tw_array *array, struct tw_tile *tile)
{
    struct tw_core_seat *seat = &tile->seat;
    if (!seat->flies)
        return;
    if (array->kept == tile) {
        array->kept = NULL;
        simulate(array, tile->number);
    } else {
        share(array);
        tw_crew_finish(array->crew, tile->number);
    }
    seat->flies = 0;
    tw_late_write(tile->late, tile->memory);
}

void tw_core_seats_join(struct tw_array *array)
{
    for (unsigned i = 0; i < array->n_tiles; i++)
        tw_core_seat_join(array, &array->tiles[i]);
}

int tw_core_seat_takes_late(struct tw_array *array, struct tw_tile *tile, uint32_t address, const uint32_t *words,
                            uint32_t n)
{
    if (!tile->seat.flies)
        return 0;
    if ((array->kept == tile || !tw_crew_is_over(array->crew, tile->number)) &&
        tw_late_add(tile->late, address, words, n))
        return 1;
    tw_core_seat_join(array, tile);
    return 0;
}

/* ---- outside the own memory */

/* The memories that a core can reach, one bit for each tile. */
static uint64_t memories_of(const struct tw_array *a, const struct tw_tile *tile)
{
    uint64_t memories = 0;
    for (unsigned w = 0; w < TW_WINDOWS; w++) {
        const struct tw_tile *other = tw_core_window_tile(a, tile, (enum tw_core_window)w);
        if (other != NULL)
            memories |= UINT64_C(1) << other->number;
    }
    return memories;
}

/* Takes cores that have no memory in common out of those that are left. */
static struct group take_group(const struct tw_array *a, struct group *left)
{
    struct group group = {.n = 0}, others = {.n = 0};
    uint64_t memories = 0;
    for (unsigned i = 0; i < left->n; i++) {
        uint64_t own = memories_of(a, left->tiles[i]);
        struct group *to = (own & memories) == 0 ? &group : &others;
        to->tiles[to->n++] = left->tiles[i];
        if (to == &group)
            memories |= own;
    }
    *left = others;
    return group;
}

int tw_core_seat_has_stopped(const struct tw_core_seat *seat)
{
    return seat->ran && seat->outcome == TW_CORE_RUNNING && tw_core_clock(seat->core) < seat->limit;
}

void tw_core_seats_leave(struct tw_array *array)
{
    struct group left = {.n = 0};
    tw_core_seats_join(array);
    for (unsigned i = 0; i < array->n_tiles; i++)
        if (array->tiles[i].kind == TW_TILE_CORE && tw_core_seat_has_stopped(&array->tiles[i].seat))
            left.tiles[left.n++] = &array->tiles[i];
    while (left.n > 0) {
        struct group group = take_group(array, &left);
        for (unsigned i = 0; i < group.n; i++) {
            group.tiles[i]->seat.leaves = 1;
            put(array, group.tiles[i], array->now);
        }
        tw_core_seats_join(array);
    }
}

/* ---- threads */

/* They are there from the first time on that two cores can use them. Where they cannot be had, one is enough. */
void tw_core_seats_call(struct tw_array *array)
{
    unsigned running = 0;
    if (array->crew != NULL || array->options.threads == 1)
        return;
    for (unsigned i = 0; i < array->n_tiles; i++)
        running += array->tiles[i].kind == TW_TILE_CORE && tw_core_seat_is_running(&array->tiles[i].seat);
    if (running < 2)
        return;
    unsigned threads = array->options.threads != 0 ? array->options.threads : tw_processors();
    threads = threads < CORES_MAX ? threads : CORES_MAX;
    if (threads < 2 || tw_crew_create(threads, simulate, array, &array->crew, NULL) != 0)
        array->options.threads = 1;
}
