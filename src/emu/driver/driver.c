#include "emu/driver/firmware_port.h"
#include "emu/driver/state.h"
#include "emu/fault.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

static const struct tw_drv_personality personalities[TW_EMU_KERNELS] = {
    [TW_EMU_KERNEL_7_3] = {0, 10, .get_array = 1, .last_error = 1, .debug_buffers = 1, .resources = 1, .memory_use = 1},
    [TW_EMU_KERNEL_7_1] = {0, 8, .get_array = 1, .last_error = 1, .debug_buffers = 1, .resources = 1, .memory_use = 1},
    [TW_EMU_KERNEL_6_14] = {0, 0, .get_array = 0},
    [TW_EMU_KERNEL_OUT_OF_TREE] = {0, 16, .get_array = 1, .last_error = 1, .debug_buffers = 1, .resources = 1,
                                   .memory_use = 1, .wait = 1},
    [TW_EMU_KERNEL_2024] = {1, 0, .get_array = 0},
};

const struct tw_drv_personality *tw_drv_personality(const struct tw_emu_driver *driver)
{
    return &personalities[driver->options.kernel];
}

void tw_drv_log(struct tw_emu_driver *driver, const char *fmt, ...)
{
    char sentence[1400];
    va_list args;
    if (driver->options.log == NULL)
        return;
    va_start(args, fmt);
    vsnprintf(sentence, sizeof sentence, fmt, args);
    va_end(args);
    driver->options.log(driver->options.log_arg, sentence);
}

static void init_partitions(struct tw_emu_driver *driver)
{
    for (unsigned i = 0; i < TW_XDNA_COLUMNS; i++) {
        struct tw_drv_partition *p = &driver->partitions[i];
        *p = (struct tw_drv_partition){.driver = driver, .start = i, .hung = DRV_NEVER};
        pthread_cond_init(&p->work, NULL);
    }
}

static void init_calls(struct tw_emu_driver *driver)
{
    driver->calls = (struct tw_calls){
        .context = driver,
        .open = tw_drv_open,
        .ioctl = tw_drv_ioctl,
        .mmap = tw_drv_mmap,
        .munmap = tw_drv_munmap,
        .close = tw_drv_close,
        .flush = tw_drv_flush,
    };
}

static int init_faults(struct tw_emu_driver *driver, struct tw_error *err)
{
    if (driver->options.faults != NULL)
        return 0;
    int r = tw_faults_from_environment(&driver->own_faults, err);
    driver->options.faults = driver->own_faults;
    return r;
}

static int init_firmware(struct tw_emu_driver *driver, struct tw_error *err)
{
    if (driver->options.firmware == NULL)
        return tw_drv_port_create(&driver->options, &driver->port, &driver->firmware, err);
    driver->firmware = *driver->options.firmware;
    return 0;
}

int tw_emu_driver_create(const struct tw_emu_driver_options *options, struct tw_emu_driver **made, struct tw_error *err)
{
    struct tw_emu_driver *driver = calloc(1, sizeof *driver);
    if (driver == NULL)
        return tw_fail(err, TW_E_MEMORY, "out of memory");
    if (options != NULL)
        driver->options = *options;
    if (driver->options.hang_ms == 0)
        driver->options.hang_ms = TW_XDNA_HANG_MS;
    driver->copy_fd = -1;
    pthread_mutex_init(&driver->lock, NULL);
    pthread_mutex_init(&driver->copy_lock, NULL);
    pthread_cond_init(&driver->changed, NULL);
    init_partitions(driver);
    init_calls(driver);
    int r = init_faults(driver, err);
    if (r == 0)
        r = init_firmware(driver, err);
    if (r == 0)
        r = tw_drv_user_create(driver, err);
    if (r < 0) {
        tw_emu_driver_free(driver);
        return r;
    }
    *made = driver;
    return 0;
}

/* The process's mappings stay, but nothing here stands behind them any more. */
static void drop_mappings(struct tw_emu_driver *driver)
{
    while (driver->mappings != NULL) {
        struct tw_drv_mapping *m = driver->mappings;
        driver->mappings = m->next;
        tw_drv_buffer_put(m->buffer);
        free(m);
    }
}

void tw_emu_driver_free(struct tw_emu_driver *driver)
{
    if (driver == NULL)
        return;
    while (driver->files != NULL)
        tw_drv_close(driver, driver->files->fd);
    tw_drv_partitions_stop(driver);
    drop_mappings(driver);
    tw_drv_user_free(driver);
    tw_drv_port_free(driver->port);
    tw_faults_free(driver->own_faults);
    for (unsigned i = 0; i < TW_XDNA_COLUMNS; i++)
        pthread_cond_destroy(&driver->partitions[i].work);
    pthread_cond_destroy(&driver->changed);
    pthread_mutex_destroy(&driver->copy_lock);
    pthread_mutex_destroy(&driver->lock);
    free(driver);
}

const struct tw_calls *tw_emu_driver_calls(struct tw_emu_driver *driver)
{
    return &driver->calls;
}
