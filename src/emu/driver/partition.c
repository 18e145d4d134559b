/* Columns: which contexts get which, and the thread that runs the commands of those that have the same. */
#include "emu/driver/state.h"

#include <errno.h>
#include <stddef.h>

static int columns_free(const struct tw_emu_driver *driver, unsigned start, unsigned columns)
{
    for (unsigned i = 0; i < TW_XDNA_COLUMNS; i++) {
        const struct tw_drv_partition *p = &driver->partitions[i];
        if (p->contexts > 0 && p->start < start + columns && start < p->start + p->columns)
            return 0;
    }
    return 1;
}

/* Free columns from the left, else those of equal width that the fewest share. */
static struct tw_drv_partition *choose(struct tw_emu_driver *driver, unsigned columns)
{
    unsigned last = TW_XDNA_COLUMNS - columns;
    unsigned first = last == 0 ? 0 : DRV_FIRST_COLUMN;
    struct tw_drv_partition *best = NULL;
    for (unsigned start = first; start <= last; start++)
        if (columns_free(driver, start, columns))
            return &driver->partitions[start];
    for (unsigned start = first; start <= last; start++) {
        struct tw_drv_partition *p = &driver->partitions[start];
        if (p->contexts == 0 || p->columns != columns)
            continue;
        if (best == NULL || p->contexts < best->contexts || (p->contexts == best->contexts && p->born < best->born))
            best = p;
    }
    return best;
}

/* The oldest command of all its contexts. */
static struct tw_drv_job *next_job(const struct tw_drv_partition *p)
{
    struct tw_drv_job *oldest = NULL;
    for (struct tw_drv_context *c = p->driver->contexts; c != NULL; c = c->next)
        if (c->partition == p && c->jobs != NULL && (oldest == NULL || c->jobs->order < oldest->order))
            oldest = c->jobs;
    return oldest;
}

int tw_drv_partition_idle(const struct tw_drv_partition *p)
{
    return p->running == NULL && (p->driver->paused > 0 || next_job(p) == NULL);
}

static void *serve(void *arg)
{
    struct tw_drv_partition *p = arg;
    struct tw_emu_driver *driver = p->driver;
    pthread_mutex_lock(&driver->lock);
    while (!driver->stopping) {
        struct tw_drv_job *job = driver->paused > 0 ? NULL : next_job(p);
        if (job == NULL) {
            pthread_cond_wait(&p->work, &driver->lock);
            continue;
        }
        p->running = job;
        tw_drv_run(p, job);
        p->running = NULL;
        tw_drv_wake(driver);
    }
    pthread_mutex_unlock(&driver->lock);
    return NULL;
}

void tw_drv_partition_wake(struct tw_drv_partition *p)
{
    pthread_cond_signal(&p->work);
}

static void wake_partitions(struct tw_emu_driver *driver)
{
    for (unsigned i = 0; i < TW_XDNA_COLUMNS; i++)
        tw_drv_partition_wake(&driver->partitions[i]);
    tw_drv_wake(driver);
}

int tw_drv_partition_take(struct tw_drv_context *context)
{
    struct tw_emu_driver *driver = context->file->driver;
    struct tw_drv_partition *p = choose(driver, context->columns);
    if (p == NULL)
        return -ENODEV;
    if (!p->started && pthread_create(&p->thread, NULL, serve, p) != 0)
        return -ENOMEM;
    p->started = 1;
    if (p->contexts++ == 0) {
        p->columns = context->columns;
        p->born = driver->births++;
    }
    context->partition = p;
    return 0;
}

void tw_drv_partition_give(struct tw_drv_context *context)
{
    struct tw_drv_partition *p = context->partition;
    if (p == NULL)
        return;
    if (p->owner == context)
        p->owner = NULL;
    p->contexts--;
    context->partition = NULL;
}

static int any_running(const struct tw_emu_driver *driver)
{
    for (unsigned i = 0; i < TW_XDNA_COLUMNS; i++)
        if (driver->partitions[i].running != NULL)
            return 1;
    return 0;
}

void tw_drv_pause(struct tw_emu_driver *driver)
{
    driver->paused++;
    tw_drv_wake(driver);
    while (any_running(driver))
        tw_drv_wait_always(driver);
}

void tw_drv_resume(struct tw_emu_driver *driver)
{
    driver->paused--;
    wake_partitions(driver);
}

void tw_drv_partitions_stop(struct tw_emu_driver *driver)
{
    pthread_mutex_lock(&driver->lock);
    driver->stopping = 1;
    wake_partitions(driver);
    pthread_mutex_unlock(&driver->lock);
    for (unsigned i = 0; i < TW_XDNA_COLUMNS; i++)
        if (driver->partitions[i].started)
            pthread_join(driver->partitions[i].thread, NULL);
}
