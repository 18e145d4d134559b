/* GET_ARRAY and SET_STATE. */
#include "emu/driver/state.h"

#include <errno.h>

enum { ELEMENT_BYTES_MAX = 4096, ELEMENTS_MAX = 1024 };

static struct tw_xdna_context_entry context_entry(const struct tw_drv_context *c)
{
    return (struct tw_xdna_context_entry){
        .context = c->handle,
        .start_column = c->partition->start,
        .columns = c->columns,
        .handle = c->id,
        .pid = c->file->pid,
        .submissions = c->timeline->submitted,
        .completions = c->completions,
        .errors = c->errors,
        .priority = c->qos.priority,
        .heap_bytes = c->file->heap_bytes,
        .suspensions = c->suspensions,
        .state = c->outstanding > 0,
        .gops = c->qos.gops,
        .frames_per_second = c->qos.frames_per_second,
        .dma_bandwidth = c->qos.dma_bandwidth,
        .latency = c->qos.latency,
        .frame_time = c->qos.frame_time,
    };
}

static int get_contexts(struct tw_drv_file *file, struct tw_xdna_array *args)
{
    if (args->element_bytes > ELEMENT_BYTES_MAX || args->elements > ELEMENTS_MAX)
        return -EINVAL;
    uint32_t size = sizeof(struct tw_xdna_context_entry);
    uint32_t used = args->element_bytes < size ? args->element_bytes : size;
    uint32_t room = args->elements * args->element_bytes / used;
    uint32_t n = 0;
    for (const struct tw_drv_context *c = file->driver->contexts; c != NULL && n < room; c = c->next) {
        struct tw_xdna_context_entry entry = context_entry(c);
        if (tw_drv_to_user(file->driver, args->buffer + (uint64_t)n * used, &entry, used) < 0)
            return -EFAULT;
        n++;
    }
    args->element_bytes = used;
    args->elements = n;
    return 0;
}

/* The array's error events do not reach the firmware here: there has been none. */
static int get_last_error(struct tw_drv_file *file, struct tw_xdna_array *args)
{
    (void)file;
    args->element_bytes = sizeof(struct tw_xdna_async_error);
    args->elements = 0;
    return 0;
}

static int get_memory_use(struct tw_drv_file *file, struct tw_xdna_array *args)
{
    struct tw_xdna_memory_use use = {0};
    struct tw_emu_driver *driver = file->driver;
    if (args->elements != 1)
        return -EINVAL;
    uint32_t used = args->element_bytes < sizeof use ? args->element_bytes : (uint32_t)sizeof use;
    if (tw_drv_from_user(driver, &use, args->buffer, used) < 0)
        return -EFAULT;
    int found = 0;
    for (const struct tw_drv_file *f = driver->files; f != NULL; f = f->next)
        if (f->pid == use.pid) {
            found = 1;
            use.total += f->total_bytes;
            use.internal += f->internal_bytes;
            use.heap += f->heap_bytes;
        }
    if (!found)
        return -EINVAL;
    args->element_bytes = used;
    return tw_drv_answer(driver, args->buffer, used, &use, sizeof use);
}

int tw_drv_get_array(struct tw_drv_file *file, void *argument)
{
    const struct tw_drv_personality *has = tw_drv_personality(file->driver);
    struct tw_xdna_array *args = argument;
    if (args->pad != 0 || args->elements == 0 || args->element_bytes == 0)
        return -EINVAL;
    if (args->query == TW_XDNA_ARRAY_CONTEXTS)
        return get_contexts(file, args);
    if (args->query == TW_XDNA_ARRAY_LAST_ERROR && has->last_error)
        return get_last_error(file, args);
    if (args->query == TW_XDNA_ARRAY_MEMORY && has->memory_use)
        return get_memory_use(file, args);
    return -EOPNOTSUPP;
}

int tw_drv_set_state(struct tw_drv_file *file, void *argument)
{
    const struct tw_xdna_info *args = argument;
    struct tw_emu_driver *driver = file->driver;
    struct tw_xdna_power power;
    if (args->query != TW_XDNA_STATE_POWER_MODE)
        return -EOPNOTSUPP;
    if (tw_drv_from_user(driver, &power, args->buffer, sizeof power) < 0)
        return -EFAULT;
    for (size_t i = 0; i < sizeof power.pad; i++)
        if (power.pad[i] != 0)
            return -EINVAL;
    if (power.mode > TW_XDNA_POWER_TURBO || (power.mode == TW_XDNA_POWER_TURBO && driver->n_contexts > 0))
        return -EINVAL;
    driver->power_mode = (enum tw_xdna_power_mode)power.mode;
    return 0;
}
