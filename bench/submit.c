/*
 * What the client itself costs for one submit-and-wait: against a driver whose every call does nothing but mark the
 * command as completed, so that neither kernel nor device (nor an emulation of them) is counted.
 */
#include "base/clock.h"
#include "device/copy_program.h"
#include "device/device.h"
#include "device/fake_driver.h"
#include "device/job.h"
#include "uapi/packet.h"

#include <stdio.h>
#include <stdlib.h>

enum { JOBS = 36, ROUNDS = 200000, REPEATS = 5 };

/* In place of the fake driver's, which writes down what it sees. */
static int complete(void *context, int fd, uint32_t request, void *argument)
{
    const struct fake_driver *fake = context;
    (void)fd;
    if (request == TW_XDNA_EXECUTE) {
        struct tw_xdna_execute *e = argument;
        uint32_t *header = fake->buffers[e->command].data;
        *header = (*header & ~(uint32_t)TW_PACKET_STATE_MASK) | TW_PACKET_COMPLETED;
        e->sequence = 1;
    }
    return 0;
}

static double measure(struct tw_job *job, unsigned rounds, struct tw_error *err)
{
    double best = 0;
    for (int repeat = 0; repeat < REPEATS; repeat++) {
        double start = tw_seconds();
        for (unsigned i = 0; i < rounds; i++)
            if (tw_job_run(job, err) != 0)
                return -1;
        double each = (tw_seconds() - start) / rounds;
        best = repeat == 0 || each < best ? each : best;
    }
    return 1e6 * best;
}

static int run(struct fake_driver *fake, struct tw_error *err)
{
    struct tw_device *device = NULL;
    struct tw_context *context = NULL;
    struct copy_job jobs[JOBS];
    struct tw_job *parts[JOBS], *chain = NULL;
    int code = tw_device_open_calls(&fake->calls, "none", NULL, &device, err);
    if (code == 0)
        code = copy_context(device, 1, &context, err);
    for (unsigned i = 0; code == 0 && i < JOBS; i++) {
        code = copy_job_create(&jobs[i], device, context, 1024, err);
        parts[i] = jobs[i].job;
    }
    if (code == 0)
        code = tw_chain_create(parts, JOBS, &chain, err);
    if (code < 0)
        return code;
    device->file.calls.ioctl = complete;
    printf("job of two buffers:  %.3f us to submit and wait\n", measure(jobs[0].job, ROUNDS, err));
    printf("chain of %d of them: %.3f us\n", JOBS, measure(chain, ROUNDS / JOBS, err));
    tw_job_destroy(chain);
    for (unsigned i = 0; i < JOBS; i++)
        copy_job_destroy(&jobs[i]);
    tw_context_destroy(context);
    tw_device_close(device);
    return TW_OK;
}

int main(void)
{
    static struct fake_driver fake;
    struct tw_error err = {0};
    fake_driver_create(&fake);
    if (run(&fake, &err) == 0)
        return 0;
    fprintf(stderr, "%s\n", err.text);
    return 1;
}
