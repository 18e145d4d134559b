/* Hardware contexts. */
#include "emu/driver/state.h"
#include "emu/fault.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The driver's solver: operations of a column in a cycle, the highest clock in MHz, and how much it wants in reserve.
 */
enum { COLUMN_OPERATIONS = 2048, CLOCK_MHZ = 1600, RESERVE_FACTOR = 2 };

struct tw_drv_context *tw_drv_context_find(const struct tw_drv_file *file, uint32_t handle)
{
    for (struct tw_drv_context *c = file->driver->contexts; c != NULL; c = c->next)
        if (c->file == file && c->handle == handle && !c->dying)
            return c;
    return NULL;
}

static int handle_taken(const struct tw_drv_file *file, uint32_t handle)
{
    for (const struct tw_drv_context *c = file->driver->contexts; c != NULL; c = c->next)
        if (c->file == file && c->handle == handle)
            return 1;
    return 0;
}

/* Handles go round: one that was just given back is not used again at once. There are more of them than contexts. */
static uint32_t new_context_handle(struct tw_drv_file *file)
{
    do
        file->last_context = file->last_context % DRV_CONTEXT_HANDLES + 1;
    while (handle_taken(file, file->last_context));
    return file->last_context;
}

/* The firmware's numbers are handed out from the highest down. */
static uint32_t new_id(const struct tw_emu_driver *driver)
{
    for (uint32_t id = TW_XDNA_CONTEXTS; id-- > 0;) {
        const struct tw_drv_context *c = driver->contexts;
        while (c != NULL && c->id != id)
            c = c->next;
        if (c == NULL)
            return id;
    }
    return 0;
}

static int take_windows(struct tw_drv_context *context)
{
    for (unsigned i = 0; i < DRV_WINDOWS; i++) {
        int r = tw_drv_buffer_in_heap(context->file, TW_CHAIN_WINDOW_BYTES, &context->windows[i]);
        if (r < 0)
            return r;
    }
    return 0;
}

static int check_columns(struct tw_drv_context *context, uint32_t tiles)
{
    struct tw_emu_driver *driver = context->file->driver;
    uint32_t columns = tiles / TW_XDNA_CORE_ROWS;
    if (columns == 0 || columns > TW_XDNA_COLUMNS) {
        tw_drv_log(driver, "a context of %u tiles: it takes 4 for each of 1 to %d columns", tiles, TW_XDNA_COLUMNS);
        return -EINVAL;
    }
    if (columns > DRV_COLUMNS_MODELLED) {
        tw_drv_log(driver, "a context of %u columns is not modelled", columns);
        return -EOPNOTSUPP;
    }
    context->columns = columns;
    return 0;
}

/* Whether the highest clock is enough for what is asked for, in 32-bit numbers as the driver computes it. */
static int check_qos(const struct tw_drv_context *context)
{
    const struct tw_xdna_qos *q = &context->qos;
    uint32_t rate = 0;
    if (q->latency != 0)
        rate = 1000 / q->latency > 1 ? 1000 / q->latency : 1;
    if (q->frames_per_second > rate)
        rate = q->frames_per_second;
    uint32_t wanted = rate * q->gops * RESERVE_FACTOR;
    return wanted <= COLUMN_OPERATIONS * context->columns * CLOCK_MHZ / 1000 ? 0 : -EINVAL;
}

/* The firmware's answers to a new context and its heap: all failures look alike. */
static int ask_firmware(struct tw_drv_context *context)
{
    struct tw_emu_driver *driver = context->file->driver;
    if (driver->n_contexts >= TW_XDNA_CONTEXTS || driver->refuses) {
        tw_drv_log(driver, "the firmware takes no further context: %u of %d are in use%s", driver->n_contexts,
                   TW_XDNA_CONTEXTS, driver->refuses ? ", and it has not recovered from a hang" : "");
        return -EINVAL;
    }
    if (tw_fault_hits(driver->options.faults, TW_FAULT_CONTEXT)) {
        tw_drv_log(driver, "the firmware refuses a context, a fault on purpose");
        return -EINVAL;
    }
    if (context->file->heap->host_address % TW_XDNA_HEAP_BYTES != 0) {
        tw_drv_log(driver, "the firmware refuses a heap that is not mapped at a multiple of 64 MiB");
        return -EINVAL;
    }
    return 0;
}

static int new_timeline(struct tw_drv_context *context, uint32_t *handle)
{
    struct tw_drv_file *file = context->file;
    context->timeline = calloc(1, sizeof *context->timeline);
    if (context->timeline == NULL)
        return -ENOMEM;
    context->timeline->references = 1;
    *handle = 0;
    if (file->driver->options.no_syncobj)
        return 0;
    struct tw_drv_timeline **more = realloc(file->timelines, (file->n_timelines + 1) * sizeof *more);
    if (more == NULL)
        return -ENOMEM;
    file->timelines = more;
    file->timelines[file->n_timelines++] = context->timeline;
    context->timeline->references++;
    *handle = (uint32_t)file->n_timelines;
    return 0;
}

static void free_context(struct tw_drv_context *context)
{
    tw_drv_context_stop(context);
    tw_drv_partition_give(context);
    for (unsigned i = 0; i < DRV_WINDOWS; i++)
        tw_drv_buffer_put(context->windows[i]);
    tw_drv_timeline_put(context->timeline);
    free(context);
}

static int set_up(struct tw_drv_context *context, struct tw_xdna_create_context *args)
{
    if (context->file->heap == NULL) {
        tw_drv_log(context->file->driver, "a context before the heap is there");
        return -ENOENT;
    }
    int r = take_windows(context);
    if (r == 0)
        r = check_columns(context, args->tiles);
    if (r == 0)
        r = check_qos(context);
    if (r == 0)
        r = tw_drv_partition_take(context);
    if (r == 0)
        r = ask_firmware(context);
    if (r == 0)
        r = new_timeline(context, &args->syncobj);
    return r;
}

int tw_drv_create_context(struct tw_drv_file *file, void *argument)
{
    struct tw_emu_driver *driver = file->driver;
    struct tw_xdna_create_context *args = argument;
    if (args->extension != 0 || args->extension_flags != 0)
        return -EINVAL;
    struct tw_drv_context *context =
        tw_fault_hits(driver->options.faults, TW_FAULT_MEMORY) ? NULL : calloc(1, sizeof *context);
    if (context == NULL)
        return -ENOMEM;
    context->file = file;
    context->jobs_end = &context->jobs;
    int r = tw_drv_from_user(driver, &context->qos, args->qos, sizeof context->qos);
    if (r == 0)
        r = set_up(context, args);
    if (r < 0) {
        free_context(context);
        return r;
    }
    context->handle = new_context_handle(file);
    context->id = new_id(driver);
    struct tw_drv_context **at = &driver->contexts;
    while (*at != NULL)
        at = &(*at)->next;
    *at = context;
    driver->n_contexts++;
    args->handle = context->handle;
    args->doorbell = UINT32_MAX;
    return 0;
}

void tw_drv_context_stop(struct tw_drv_context *context)
{
    struct tw_emu_driver *driver = context->file->driver;
    if (context->firmware != NULL)
        driver->firmware.destroy(context->firmware);
    context->firmware = NULL;
    if (context->partition != NULL && context->partition->owner == context)
        context->partition->owner = NULL;
    for (unsigned i = 0; i < context->n_cus; i++) {
        free(context->cus[i].bytes);
        context->cus[i].bytes = NULL;
        context->cus[i].program = -1;
    }
}

/* The driver names the CUs to the firmware again, by the handles it was given: they have to be there still. */
void tw_drv_context_restart(struct tw_drv_context *context)
{
    struct tw_emu_driver *driver = context->file->driver;
    context->channel_lost = driver->refuses;
    for (unsigned i = 0; i < context->n_cus && !context->channel_lost; i++) {
        const struct tw_drv_buffer *b = tw_drv_buffer_find(context->file, context->cus[i].handle);
        context->channel_lost = b == NULL || b->kind != TW_XDNA_DEVICE;
    }
    if (context->channel_lost)
        tw_drv_log(driver, "context %u does not come back: %s", context->handle,
                   driver->refuses ? "the firmware refuses it" : "a buffer with one of its PDIs has been closed");
}

void tw_drv_context_count(struct tw_drv_context *context)
{
    context->submitters++;
    while (context->jobs != NULL)
        tw_drv_wait_always(context->file->driver);
    context->submitters--;
    context->timeline->submitted++;
    context->timeline->done++;
    context->completions++;
    tw_drv_wake(context->file->driver);
}

/* Waits for what the context still has to do, as long as a command may take; the firmware drops the rest. */
void tw_drv_context_destroy(struct tw_drv_context *context)
{
    struct tw_emu_driver *driver = context->file->driver;
    uint64_t now = context->file->now > context->partition->time ? context->file->now : context->partition->time;
    context->deadline = now + (uint64_t)TW_XDNA_HANG_MS * 1000000;
    context->dying = 1;
    tw_drv_wake(driver);
    while (context->jobs != NULL || context->submitters > 0)
        tw_drv_wait_always(driver);
    struct tw_drv_context **at = &driver->contexts;
    while (*at != context)
        at = &(*at)->next;
    *at = context->next;
    driver->n_contexts--;
    free_context(context);
    tw_drv_wake(driver);
}

int tw_drv_destroy_context(struct tw_drv_file *file, void *argument)
{
    const struct tw_xdna_destroy_context *args = argument;
    if (args->pad != 0)
        return -EINVAL;
    struct tw_drv_context *context = tw_drv_context_find(file, args->handle);
    if (context == NULL)
        return -EINVAL;
    tw_drv_context_destroy(context);
    return 0;
}

static int check_cu(struct tw_drv_file *file, const struct tw_xdna_cu *cu, struct tw_drv_cu *taken)
{
    const struct tw_drv_buffer *buffer = tw_drv_buffer_find(file, cu->buffer);
    if (buffer == NULL || buffer->kind != TW_XDNA_DEVICE) {
        tw_drv_log(file->driver, "a CU's PDI is not in a device buffer");
        return -EINVAL;
    }
    *taken = (struct tw_drv_cu){.handle = cu->buffer, .place = buffer->place, .program = -1};
    return 0;
}

static int config_cus(struct tw_drv_file *file, const struct tw_xdna_config_context *args)
{
    struct tw_emu_driver *driver = file->driver;
    unsigned char page[DRV_PAGE] = {0};
    struct tw_xdna_cus cus;
    struct tw_drv_cu taken[TW_XDNA_CUS];
    if (args->bytes > sizeof page)
        return -E2BIG;
    if (tw_drv_from_user(driver, page, args->value, args->bytes) < 0)
        return -EFAULT;
    memcpy(&cus, page, sizeof cus);
    struct tw_drv_context *context = tw_drv_context_find(file, args->handle);
    if (context == NULL || cus.pad[0] != 0 || cus.pad[1] != 0 || cus.pad[2] != 0)
        return -EINVAL;
    if (context->n_cus != 0) {
        tw_drv_log(driver, "CUs of context %u are configured already", args->handle);
        return -EINVAL;
    }
    if (cus.count == 0 || cus.count > TW_XDNA_CUS || 8 + 8 * (uint32_t)cus.count > args->bytes)
        return -EINVAL;
    for (unsigned i = 0; i < cus.count; i++) {
        int r = check_cu(file, &cus.cu[i], &taken[i]);
        if (r < 0)
            return r;
    }
    memcpy(context->cus, taken, cus.count * sizeof *taken);
    context->n_cus = cus.count;
    return 0;
}

static int debug_buffer(struct tw_drv_file *file, const struct tw_xdna_config_context *args)
{
    struct tw_drv_context *context = tw_drv_context_find(file, args->handle);
    struct tw_drv_buffer *buffer = tw_drv_buffer_find(file, (uint32_t)args->value);
    if (context == NULL || buffer == NULL || buffer->kind != TW_XDNA_DEVICE)
        return -EINVAL;
    if (args->kind == TW_XDNA_CONFIG_DEBUG_ON) {
        if (buffer->debug_context != 0)
            return -EBUSY;
        buffer->debug_context = args->handle;
    } else {
        if (buffer->debug_context != args->handle)
            return -EINVAL;
        buffer->debug_context = 0;
    }
    tw_drv_context_count(context); /* it is a command of the kernel's own */
    return 0;
}

int tw_drv_config_context(struct tw_drv_file *file, void *argument)
{
    const struct tw_xdna_config_context *args = argument;
    if (args->pad != 0)
        return -EINVAL;
    switch (args->kind) {
    case TW_XDNA_CONFIG_CUS:
        return config_cus(file, args);
    case TW_XDNA_CONFIG_DEBUG_ON:
    case TW_XDNA_CONFIG_DEBUG_OFF:
        return tw_drv_personality(file->driver)->debug_buffers ? debug_buffer(file, args) : -EOPNOTSUPP;
    default:
        return -EINVAL;
    }
}
