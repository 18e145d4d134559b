#include "device/wait.h"

#include "device/emulated.h"
#include "uapi/packet.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum { NS_PER_MS = 1000000, POLL_NS = 50000, POLL_LIMIT_MS = 10000, SLICE_MS = 10 };

static int64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* What a wait returns: 0, a negative errno value, or that the driver has no such way. */
enum { NO_SUCH_WAY = 1 };

static int classify(int result)
{
    switch (-result) {
    case EOPNOTSUPP:
    case ENOTTY:
    case EINVAL:
    case ENOENT:
        return NO_SUCH_WAY;
    case ETIMEDOUT:
        return -ETIME;
    default:
        return result;
    }
}

static int has_ended(uint32_t header)
{
    switch (tw_packet_state(header)) {
    case TW_PACKET_COMPLETED:
    case TW_PACKET_ERROR:
    case TW_PACKET_ABORT:
    case TW_PACKET_TIMEOUT:
    case TW_PACKET_NO_RESPONSE:
        return 1;
    default:
        return 0;
    }
}

static int wait_for_point(struct tw_context *c, uint64_t point, int64_t deadline)
{
    uint32_t handle = c->syncobj;
    struct tw_drm_timeline_wait wait = {.handles = (uint64_t)(uintptr_t)&handle,
                                        .points = (uint64_t)(uintptr_t)&point,
                                        .deadline = deadline,
                                        .count = 1,
                                        .flags = TW_DRM_WAIT_FOR_SUBMIT};
    return classify(tw_driver_call(&c->device->file, TW_DRM_TIMELINE_WAIT, &wait));
}

/*
 * To the kernel, point 0 is whatever was submitted last, so a context's first command seems to run as long as any that
 * follows. Therefore the packet is looked at every now and then. A failed one is believed only after a while, because
 * the driver marks it first and wipes it out afterwards.
 */
static int wait_for_first(struct tw_context *c, const _Atomic uint32_t *header, int64_t deadline)
{
    for (;;) {
        uint32_t before = atomic_load_explicit(header, memory_order_acquire);
        int64_t slice = now_ns() + (int64_t)SLICE_MS * NS_PER_MS;
        int result = wait_for_point(c, 0, slice < deadline ? slice : deadline);
        if (result != -ETIME)
            return result;
        if (tw_packet_state(before) == TW_PACKET_COMPLETED || (has_ended(before) && slice <= deadline))
            return 0;
        if (slice >= deadline)
            return -ETIME;
    }
}

static int wait_timeline(struct tw_context *c, uint64_t sequence, const _Atomic uint32_t *header, int64_t deadline)
{
    if (c->syncobj == 0)
        return NO_SUCH_WAY;
    return sequence == 0 ? wait_for_first(c, header, deadline) : wait_for_point(c, sequence, deadline);
}

/* The driver outside the kernel tree: its time-out is relative, and 0 means none. */
static int wait_call(struct tw_context *c, uint64_t sequence, int64_t deadline)
{
    struct tw_xdna_wait wait = {.context = c->handle, .sequence = sequence};
    if (deadline != INT64_MAX) {
        int64_t left = (deadline - now_ns()) / NS_PER_MS;
        wait.timeout_ms = left > 0 ? (uint32_t)left : 1;
    }
    return classify(tw_driver_call(&c->device->file, TW_XDNA_WAIT, &wait));
}

/*
 * A packet that the driver could not hand over never changes, and only the other ways tell when that is certain: then
 * waiting ends some seconds after the driver would have stopped a hung command.
 */
static int wait_poll(const _Atomic uint32_t *header, int64_t deadline)
{
    const struct timespec pause = {0, POLL_NS};
    int64_t give_up = now_ns() + (int64_t)POLL_LIMIT_MS * NS_PER_MS;
    while (!has_ended(atomic_load_explicit(header, memory_order_acquire))) {
        int64_t now = now_ns();
        if (now >= deadline)
            return -ETIME;
        if (now >= give_up)
            return 0;
        nanosleep(&pause, NULL);
    }
    return 0;
}

static int wait_by(enum tw_wait_method method, struct tw_context *c, uint64_t sequence, const _Atomic uint32_t *header,
                   int64_t deadline)
{
    switch (method) {
    case TW_WAIT_TIMELINE:
        return wait_timeline(c, sequence, header, deadline);
    case TW_WAIT_CALL:
        return wait_call(c, sequence, deadline);
    case TW_WAIT_POLL:
        return wait_poll(header, deadline);
    }
    return -EINVAL;
}

int tw_wait_for_command(struct tw_context *c, uint64_t sequence, const _Atomic uint32_t *header, int ms,
                        struct tw_error *err)
{
    int64_t deadline = ms < 0 ? INT64_MAX : now_ns() + (int64_t)ms * NS_PER_MS;
    int method = atomic_load_explicit(&c->device->wait_method, memory_order_relaxed);
    int result = wait_by((enum tw_wait_method)method, c, sequence, header, deadline);
    while (result == NO_SUCH_WAY) {
        method++;
        result = wait_by((enum tw_wait_method)method, c, sequence, header, deadline);
        if (result != NO_SUCH_WAY)
            atomic_store_explicit(&c->device->wait_method, method, memory_order_relaxed);
    }
    if (result < 0)
        return tw_driver_fail(err, TW_DRM_TIMELINE_WAIT, result, "command %llu of a context",
                              (unsigned long long)sequence);
    return TW_OK;
}

static int end_of_command(struct tw_context *c, uint32_t header, struct tw_error *err)
{
    switch (tw_packet_state(header)) {
    case TW_PACKET_COMPLETED:
        return TW_OK;
    case TW_PACKET_TIMEOUT:
        atomic_store(&c->device->hung, 1);
        return tw_fail(err, TW_E_TIMEOUT,
                       "the command did not end within the driver's time limit (2 s) and was stopped; check what its "
                       "control code waits for, or split it");
    case TW_PACKET_ABORT:
        return tw_fail(
            err, TW_E_ABORTED,
            "the command was dropped, because an earlier one of its context hung or the NPU was reset; submit "
            "it again");
    case TW_PACKET_ERROR:
        return tw_fail(err, TW_E_DEVICE,
                       "the NPU's firmware ended the command with an error; sudo dmesg shows its status");
    case TW_PACKET_NO_RESPONSE:
        return tw_fail(err, TW_E_DEVICE, "the NPU's firmware did not answer the command");
    default:
        break;
    }
    if (atomic_load(&c->device->hung))
        return tw_fail(err, TW_E_LOST,
                       "its context did not come back after a command hung; take a new one, and if that is refused, "
                       "load the driver anew (sudo rmmod amdxdna; sudo modprobe amdxdna)");
    return tw_fail(err, TW_E_REFUSED,
                   "the driver did not hand the command to the NPU; its program number, size or kind is not what this "
                   "driver takes, or its context is gone");
}

/* The emulated kernel's log says more than the driver tells: what waits for what, which operation failed. */
static void add_last_words(struct tw_emulated *machine, struct tw_error *err)
{
    char words[TW_LAST_WORDS_BYTES];
    tw_emulated_last_words(machine, words);
    size_t used = strlen(err->text);
    if (words[0] != '\0')
        snprintf(err->text + used, sizeof err->text - used, " (the emulated kernel's log: %s)", words);
}

/* Which buffer is missing, or too short, is in the log. */
static int why_it_hung(struct tw_context *c, uint64_t sequence, struct tw_error *err)
{
    if (!tw_emulated_unlisted(c->device->emulated, c->device->file.fd, c->handle, sequence))
        return TW_E_TIMEOUT;
    return tw_fail(err, TW_E_UNLISTED,
                   "the command reached for memory in none of its buffers, and so did not end within the driver's time "
                   "limit (2 s); give it the buffers that its control code works on, as large as it needs them");
}

int tw_end_of_command(struct tw_context *c, uint64_t sequence, uint32_t header, struct tw_error *err)
{
    int code = end_of_command(c, header, err);
    if (code == TW_E_TIMEOUT && c->device->emulated != NULL)
        code = why_it_hung(c, sequence, err);
    if (code < 0 && err != NULL && c->device->emulated != NULL)
        add_last_words(c->device->emulated, err);
    return code;
}
