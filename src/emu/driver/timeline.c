/* Waiting: of calls for commands, as DRM's timelines offer it, and of calls for room in a queue. */
#include "emu/driver/state.h"

#include <errno.h>
#include <stdlib.h>
#include <time.h>

void tw_drv_wake(struct tw_emu_driver *driver)
{
    for (struct tw_drv_waiter *w = driver->waiters; w != NULL; w = w->next)
        sem_post(&w->woken);
    pthread_cond_broadcast(&driver->changed);
}

static int64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* Semaphores wait by the clock on the wall, which may jump; the caller looks again when it ends too early. */
static int wait_until(sem_t *woken, int64_t deadline)
{
    int64_t left = deadline - now_ns();
    if (left <= 0)
        return -ETIME;
    struct timespec at;
    clock_gettime(CLOCK_REALTIME, &at);
    if (left > (int64_t)1000000000 * 3600)
        left = (int64_t)1000000000 * 3600;
    at.tv_sec += (time_t)(left / 1000000000);
    at.tv_nsec += (long)(left % 1000000000);
    if (at.tv_nsec >= 1000000000) {
        at.tv_nsec -= 1000000000;
        at.tv_sec++;
    }
    if (sem_timedwait(woken, &at) == 0)
        return 0;
    if (errno == EINTR)
        return -EINTR;
    return now_ns() < deadline ? 0 : -ETIME;
}

/* A semaphore, as a signal ends its wait, which a condition's wait outlives. */
int tw_drv_wait(struct tw_emu_driver *driver, int64_t deadline)
{
    struct tw_drv_waiter waiter = {.next = driver->waiters};
    sem_init(&waiter.woken, 0, 0);
    driver->waiters = &waiter;
    pthread_mutex_unlock(&driver->lock);
    int r;
    if (deadline == INT64_MAX)
        r = sem_wait(&waiter.woken) == 0 ? 0 : -EINTR;
    else
        r = wait_until(&waiter.woken, deadline);
    pthread_mutex_lock(&driver->lock);
    struct tw_drv_waiter **at = &driver->waiters;
    while (*at != &waiter)
        at = &(*at)->next;
    *at = waiter.next;
    sem_destroy(&waiter.woken);
    return r;
}

void tw_drv_wait_always(struct tw_emu_driver *driver)
{
    pthread_cond_wait(&driver->changed, &driver->lock);
}

void tw_drv_timeline_put(struct tw_drv_timeline *timeline)
{
    if (timeline != NULL && --timeline->references == 0)
        free(timeline);
}

struct point {
    struct tw_drv_timeline *timeline;
    uint64_t target; /* commands that have to be done */
    int known;       /* somebody has submitted it */
};

/* Point 0 is whatever is the newest when one first looks. */
static void look(struct point *p, uint64_t number)
{
    uint64_t submitted = p->timeline->submitted;
    if (p->known || submitted == 0 || number >= submitted)
        return;
    p->known = 1;
    p->target = number == 0 ? submitted : number + 1;
}

struct wait {
    struct tw_drv_file *file;
    struct tw_drm_timeline_wait *args;
    uint64_t *numbers;
    struct point *points;
};

static int read_points(struct wait *w)
{
    struct tw_emu_driver *driver = w->file->driver;
    uint32_t n = w->args->count;
    uint32_t *handles = calloc(n, sizeof *handles);
    w->numbers = calloc(n, sizeof *w->numbers);
    w->points = calloc(n, sizeof *w->points);
    int r = handles == NULL || w->numbers == NULL || w->points == NULL ? -ENOMEM : 0;
    if (r == 0)
        r = tw_drv_from_user(driver, handles, w->args->handles, n * sizeof *handles);
    if (r == 0 && w->args->points != 0)
        r = tw_drv_from_user(driver, w->numbers, w->args->points, n * sizeof *w->numbers);
    for (uint32_t i = 0; i < n && r == 0; i++) {
        uint32_t h = handles[i];
        struct tw_drv_timeline *t = h != 0 && h <= w->file->n_timelines ? w->file->timelines[h - 1] : NULL;
        if (t == NULL) {
            r = -ENOENT;
        } else {
            t->references++;
            w->points[i].timeline = t;
        }
    }
    free(handles);
    return r;
}

/* Returns 1 when the wait is over, 0 when not, -EINVAL when it cannot be. */
static int over(struct wait *w)
{
    uint32_t flags = w->args->flags;
    uint32_t reached = 0;
    uint32_t first = UINT32_MAX;
    for (uint32_t i = 0; i < w->args->count; i++) {
        struct point *p = &w->points[i];
        look(p, w->numbers[i]);
        if (!p->known && !(flags & (TW_DRM_WAIT_FOR_SUBMIT | TW_DRM_WAIT_AVAILABLE)))
            return -EINVAL;
        if (!p->known || (p->timeline->done < p->target && !(flags & TW_DRM_WAIT_AVAILABLE)))
            continue;
        reached++;
        first = first == UINT32_MAX ? i : first;
        if (p->timeline->time > w->file->now && p->timeline->done >= p->target)
            w->file->now = p->timeline->time;
    }
    if (first == UINT32_MAX || (flags & TW_DRM_WAIT_ALL && reached < w->args->count))
        return 0;
    w->args->first = first;
    return 1;
}

static int wait_points(struct wait *w)
{
    int r = 0;
    for (;;) {
        int done = over(w);
        if (done != 0)
            return done < 0 ? done : 0;
        if (r == -EINTR || r == -ETIME)
            return r;
        r = tw_drv_wait(w->file->driver, w->args->deadline);
    }
}

int tw_drv_timeline_wait(struct tw_drv_file *file, void *argument)
{
    struct tw_drm_timeline_wait *args = argument;
    struct wait w = {.file = file, .args = args};
    const uint32_t known = TW_DRM_WAIT_ALL | TW_DRM_WAIT_FOR_SUBMIT | TW_DRM_WAIT_AVAILABLE;
    if (args->flags & ~known)
        return -EINVAL;
    if (args->count == 0)
        return 0;
    if (args->count > 1 << 16)
        return -ENOMEM;
    int r = read_points(&w);
    if (r == 0)
        r = wait_points(&w);
    for (uint32_t i = 0; i < args->count && w.points != NULL; i++)
        tw_drv_timeline_put(w.points[i].timeline);
    free(w.points);
    free(w.numbers);
    return r;
}

/* The driver outside the kernel tree. A time-out of 0 means no end. */
static int wait_sequence(struct tw_drv_file *file, struct tw_drv_timeline *t, const struct tw_xdna_wait *args)
{
    int64_t deadline = args->timeout_ms == 0 ? INT64_MAX : now_ns() + (int64_t)args->timeout_ms * 1000000;
    int r = 0;
    while (t->done <= args->sequence) {
        if (args->sequence >= t->submitted)
            return -EINVAL;
        if (r < 0)
            return r;
        r = tw_drv_wait(file->driver, deadline);
    }
    if (t->time > file->now)
        file->now = t->time;
    return 0;
}

int tw_drv_wait_command(struct tw_drv_file *file, void *argument)
{
    const struct tw_xdna_wait *args = argument;
    if (!tw_drv_personality(file->driver)->wait)
        return -EOPNOTSUPP;
    struct tw_drv_context *context = tw_drv_context_find(file, args->context);
    if (context == NULL)
        return -EINVAL;
    struct tw_drv_timeline *t = context->timeline;
    t->references++;
    int r = wait_sequence(file, t, args);
    tw_drv_timeline_put(t);
    return r;
}
