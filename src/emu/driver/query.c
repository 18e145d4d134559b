/* GET_INFO, and DRM's VERSION. */
#include "emu/driver/state.h"
#include "npu1/tile.h"

#include <errno.h>
#include <string.h>

/* What a Phoenix answers, with the firmware that the project's facts are from. */
static const struct tw_xdna_firmware firmware_version = {1, 5, 5, 391};
static const struct tw_xdna_version aie_version = {2, 0};
static const struct tw_xdna_aie_metadata metadata = {
    .column_bytes = 0, /* the dump of a column is not modelled: without bytes there is none */
    .columns = TW_XDNA_COLUMNS,
    .rows = TW_NPU1_ROWS,
    .version = {2, 0},
    .core = {TW_NPU1_CORE_ROWS, TW_NPU1_CORE_ROW, 2, 16, 4, {0}},
    .memory = {1, 1, 6, 64, 6, {0}},
    .shim = {1, 0, 2, 16, 4, {0}},
};

/* Clocks in MHz by power mode: the levels of the driver's table that each mode leads to. */
static const struct {
    uint32_t npu, array;
} clocks[] = {
    [TW_XDNA_POWER_DEFAULT] = {600, 1024}, [TW_XDNA_POWER_LOW] = {400, 800},    [TW_XDNA_POWER_MEDIUM] = {600, 1024},
    [TW_XDNA_POWER_HIGH] = {847, 1600},    [TW_XDNA_POWER_TURBO] = {847, 1600},
};

enum {
    CLOCK_MAX_MHZ = 1600,
    TOPS_PER_COLUMN = 2,
    TOPS_CLOCK_MHZ = 1028 /* at which the device has them */
};

int tw_drv_answer(struct tw_emu_driver *driver, uint64_t buffer, uint32_t room, const void *from, size_t bytes)
{
    return tw_drv_to_user(driver, buffer, from, room < bytes ? room : bytes);
}

static int answer(struct tw_drv_file *file, const struct tw_xdna_info *args, const void *from, size_t bytes)
{
    return tw_drv_answer(file->driver, args->buffer, args->bytes, from, bytes);
}

static int get_metadata(struct tw_drv_file *file, struct tw_xdna_info *args)
{
    return answer(file, args, &metadata, sizeof metadata);
}

/* The driver asks for room of as many bytes as its firmware's columns have. */
static int get_status(struct tw_drv_file *file, struct tw_xdna_info *args)
{
    struct tw_xdna_aie_status status = {0};
    uint32_t room = args->bytes < sizeof status ? args->bytes : (uint32_t)sizeof status;
    if (tw_drv_from_user(file->driver, &status, args->buffer, room) < 0)
        return -EFAULT;
    tw_drv_log(file->driver, "the firmware's dump of columns is not modelled");
    return -EINVAL;
}

static int get_aie_version(struct tw_drv_file *file, struct tw_xdna_info *args)
{
    return answer(file, args, &aie_version, sizeof aie_version);
}

static int get_clocks(struct tw_drv_file *file, struct tw_xdna_info *args)
{
    struct tw_xdna_clocks answered = {
        .npu = {.name = "MP-NPU Clock", .mhz = clocks[file->driver->power_mode].npu},
        .array = {.name = "H Clock", .mhz = clocks[file->driver->power_mode].array},
    };
    return answer(file, args, &answered, sizeof answered);
}

/* Drivers before GET_ARRAY want room for all and tell what it took; later ones fill the room and tell what is left. */
static int get_contexts(struct tw_drv_file *file, struct tw_xdna_info *args)
{
    const struct tw_emu_driver *driver = file->driver;
    int tells_rest = tw_drv_personality(driver)->get_array;
    uint32_t n = args->bytes / sizeof(struct tw_xdna_context_info);
    uint32_t done = 0;
    if (!tells_rest && n < driver->n_contexts)
        return -EINVAL;
    for (const struct tw_drv_context *c = driver->contexts; c != NULL && done < n; c = c->next) {
        struct tw_xdna_context_info info = {
            .context = c->handle,
            .start_column = c->partition->start,
            .columns = c->columns,
            .pid = c->file->pid,
            .submissions = c->timeline->submitted,
            .completions = c->completions,
            .errors = c->errors,
        };
        if (tw_drv_to_user(file->driver, args->buffer + (uint64_t)done * sizeof info, &info, sizeof info) < 0)
            return -EFAULT;
        done++;
    }
    uint32_t used = done * (uint32_t)sizeof(struct tw_xdna_context_info);
    args->bytes = tells_rest ? args->bytes - used : used;
    return 0;
}

static int get_firmware(struct tw_drv_file *file, struct tw_xdna_info *args)
{
    return answer(file, args, &firmware_version, sizeof firmware_version);
}

static int get_power_mode(struct tw_drv_file *file, struct tw_xdna_info *args)
{
    struct tw_xdna_power power = {.mode = (uint8_t)file->driver->power_mode};
    return answer(file, args, &power, sizeof power);
}

static int get_resources(struct tw_drv_file *file, struct tw_xdna_info *args)
{
    const struct tw_emu_driver *driver = file->driver;
    uint64_t tops = (uint64_t)TOPS_PER_COLUMN * TW_XDNA_COLUMNS;
    struct tw_xdna_resources resources = {
        .clock_max_mhz = CLOCK_MAX_MHZ,
        .tops_max = tops,
        .contexts_max = TW_XDNA_CONTEXTS,
        .tops_now = tops * clocks[driver->power_mode].array / TOPS_CLOCK_MHZ,
        .contexts_now = driver->n_contexts,
    };
    if (!tw_drv_personality(driver)->resources)
        return -EOPNOTSUPP;
    return answer(file, args, &resources, sizeof resources);
}

/* Sensors need the platform's metrics, telemetry the firmware's data, which nobody has published; the rest is not for
 * NPU1. */
static int not_there(struct tw_drv_file *file, struct tw_xdna_info *args)
{
    (void)file;
    (void)args;
    return -EOPNOTSUPP;
}

static int (*const queries[])(struct tw_drv_file *file, struct tw_xdna_info *args) = {
    [TW_XDNA_QUERY_AIE_STATUS] = get_status,       [TW_XDNA_QUERY_AIE_METADATA] = get_metadata,
    [TW_XDNA_QUERY_AIE_VERSION] = get_aie_version, [TW_XDNA_QUERY_CLOCKS] = get_clocks,
    [TW_XDNA_QUERY_SENSORS] = not_there,           [TW_XDNA_QUERY_CONTEXTS] = get_contexts,
    [TW_XDNA_QUERY_FIRMWARE] = get_firmware,       [TW_XDNA_QUERY_POWER_MODE] = get_power_mode,
    [TW_XDNA_QUERY_TELEMETRY] = not_there,         [TW_XDNA_QUERY_FORCE_PREEMPT] = not_there,
    [TW_XDNA_QUERY_RESOURCES] = get_resources,     [TW_XDNA_QUERY_FRAME_PREEMPT] = not_there,
};

int tw_drv_get_info(struct tw_drv_file *file, void *argument)
{
    struct tw_xdna_info *args = argument;
    if (args->query >= sizeof queries / sizeof *queries || queries[args->query] == NULL)
        return -EOPNOTSUPP;
    return queries[args->query](file, args);
}

/* As many bytes as there is room for; the true length comes back. */
static int answer_text(struct tw_emu_driver *driver, char *to, size_t *room, const char *text)
{
    size_t bytes = strlen(text);
    size_t part = *room < bytes ? *room : bytes;
    *room = bytes;
    return part > 0 && to != NULL ? tw_drv_to_user(driver, (uintptr_t)to, text, part) : 0;
}

int tw_drv_version(struct tw_drv_file *file, void *argument)
{
    struct tw_emu_driver *driver = file->driver;
    struct tw_drm_version *args = argument;
    args->major = tw_drv_personality(driver)->major;
    args->minor = tw_drv_personality(driver)->minor;
    args->patch = 0;
    int r = answer_text(driver, args->name, &args->name_bytes, TW_XDNA_DRIVER_NAME);
    if (r == 0)
        r = answer_text(driver, args->date, &args->date_bytes, "0");
    if (r == 0)
        r = answer_text(driver, args->description, &args->description_bytes, "AMD XDNA DRM implementation");
    return r;
}
