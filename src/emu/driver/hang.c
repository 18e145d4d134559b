/*
 * The hang timer, in modelled time. It goes off a fixed time after a command began; when meanwhile the device has taken
 * or ended another command, the driver waits on. So before it is decided, all other partitions must have come as far.
 */
#include "emu/driver/state.h"

/* Whether nothing of this partition can happen before a time any more. */
static int has_passed(const struct tw_drv_partition *other, const struct tw_drv_partition *own)
{
    if (other->hung != DRV_NEVER)
        return other->hung > own->hung || (other->hung == own->hung && other->start > own->start);
    return tw_drv_partition_idle(other) || other->time >= own->hung;
}

static int others_have_passed(const struct tw_drv_partition *own)
{
    for (unsigned i = 0; i < TW_XDNA_COLUMNS; i++) {
        const struct tw_drv_partition *other = &own->driver->partitions[i];
        if (other != own && !has_passed(other, own))
            return 0;
    }
    return 1;
}

static void wait_for_others(const struct tw_drv_partition *p, const struct tw_drv_job *job)
{
    while (!job->aborted && !others_have_passed(p))
        tw_drv_wait_always(p->driver);
}

static void wait_for_ever(const struct tw_drv_partition *p, const struct tw_drv_job *job)
{
    const struct tw_emu_driver *driver = p->driver;
    while (!job->aborted && !job->context->dying && driver->paused == 0 && !driver->stopping)
        tw_drv_wait_always(p->driver);
}

int tw_drv_hang(struct tw_drv_partition *p, const struct tw_drv_job *job, uint64_t end)
{
    struct tw_emu_driver *driver = p->driver;
    if (driver->options.hangs_for_ever && end == DRV_NEVER) {
        wait_for_ever(p, job);
        return 1;
    }
    if (driver->options.hangs_for_ever) {
        p->time = end;
        return 0;
    }
    uint64_t patience = (uint64_t)driver->options.hang_ms * 1000000;
    p->hung = p->time + patience;
    while (p->hung < end && !job->aborted) {
        tw_drv_wake(driver);
        wait_for_others(p, job);
        if (driver->last_signal + patience <= p->hung)
            break;
        p->hung = driver->last_signal + patience;
    }
    int late = p->hung < end;
    p->time = late ? p->hung : end;
    p->hung = DRV_NEVER;
    return late;
}
