/* What happens to the device from outside. */
#include "emu/driver/state.h"

static void abort_all(struct tw_emu_driver *driver)
{
    for (struct tw_drv_context *c = driver->contexts; c != NULL; c = c->next)
        for (struct tw_drv_job *job = c->jobs; job != NULL; job = job->next)
            job->aborted = 1;
}

/* The firmware starts anew, and the driver gives it back what it had. */
static void restart_all(struct tw_emu_driver *driver)
{
    for (struct tw_drv_context *c = driver->contexts; c != NULL; c = c->next) {
        tw_drv_context_stop(c);
        tw_drv_context_restart(c);
        c->suspensions++;
    }
}

static void sleep_and_wake(struct tw_emu_driver *driver)
{
    tw_drv_pause(driver);
    restart_all(driver);
    tw_drv_resume(driver);
}

void tw_emu_driver_event(struct tw_emu_driver *driver, enum tw_emu_event event)
{
    pthread_mutex_lock(&driver->lock);
    switch (event) {
    case TW_EMU_SUSPEND:
        sleep_and_wake(driver);
        break;
    case TW_EMU_RESET:
        abort_all(driver);
        driver->refuses = 0;
        driver->hangs = 0;
        sleep_and_wake(driver);
        break;
    case TW_EMU_HANG:
        driver->hangs++;
        break;
    case TW_EMU_REMOVE:
        driver->removed = 1;
        abort_all(driver);
        tw_drv_wake(driver);
        break;
    }
    pthread_mutex_unlock(&driver->lock);
}

int tw_emu_driver_unlisted(struct tw_emu_driver *driver, int fd, uint32_t context, uint64_t sequence)
{
    int unlisted = 0;
    pthread_mutex_lock(&driver->lock);
    for (const struct tw_drv_context *c = driver->contexts; c != NULL; c = c->next)
        if (c->file->fd == fd && c->handle == context)
            unlisted = c->has_unlisted && c->last_unlisted == sequence;
    pthread_mutex_unlock(&driver->lock);
    return unlisted;
}

int tw_emu_driver_figures(struct tw_emu_driver *driver, int fd, uint32_t context, uint64_t sequence,
                          struct tw_emu_figures *figures)
{
    int known = 0;
    pthread_mutex_lock(&driver->lock);
    for (const struct tw_drv_context *c = driver->contexts; c != NULL; c = c->next) {
        const struct tw_drv_done *done = &c->done[sequence % TW_EMU_FIGURES_KEPT];
        if (c->file->fd != fd || c->handle != context || done->number != sequence + 1)
            continue;
        *figures = done->figures;
        known = 1;
    }
    pthread_mutex_unlock(&driver->lock);
    return known;
}

uint64_t tw_emu_driver_time(struct tw_emu_driver *driver)
{
    uint64_t latest = 0;
    pthread_mutex_lock(&driver->lock);
    for (unsigned i = 0; i < TW_XDNA_COLUMNS; i++)
        if (driver->partitions[i].time > latest)
            latest = driver->partitions[i].time;
    pthread_mutex_unlock(&driver->lock);
    return latest;
}
