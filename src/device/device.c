#include "device/device.h"

#include "device/emulated.h"
#include "device/queries.h"
#include "device/trace_calls.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int tw_device_kind_read(const char *word, enum tw_device_kind *kind, struct tw_error *err)
{
    static const struct {
        const char *word;
        enum tw_device_kind kind;
    } words[] = {{"auto", TW_DEVICE_AUTO}, {"npu", TW_DEVICE_NPU}, {"emu", TW_DEVICE_EMU}};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (strcmp(words[i].word, word) == 0) {
            *kind = words[i].kind;
            return TW_OK;
        }
    return tw_fail(err, TW_E_ARGUMENT, "there is no device '%s'; take auto, npu or emu", word);
}

/* The number of columns, and a first sign that firmware answers. */
static int ask_array(struct tw_device *device, struct tw_error *err)
{
    struct tw_xdna_aie_metadata array;
    struct tw_xdna_firmware firmware;
    int result = tw_query(&device->file, TW_XDNA_QUERY_AIE_METADATA, &array, sizeof array);
    if (result < 0)
        return tw_driver_fail(err, TW_XDNA_GET_INFO, result, "'%s' does not describe its array", device->node);
    device->columns = array.columns;
    tw_query(&device->file, TW_XDNA_QUERY_FIRMWARE, &firmware, sizeof firmware);
    return TW_OK;
}

int tw_device_open_calls(const struct tw_calls *calls, const char *node, const char *trace, struct tw_device **device,
                         struct tw_error *err)
{
    struct tw_device *d = calloc(1, sizeof *d);
    if (d == NULL)
        return tw_fail(err, TW_E_MEMORY, "no memory for a device");
    atomic_init(&d->references, 1);
    atomic_init(&d->wait_method, TW_WAIT_TIMELINE);
    atomic_init(&d->hung, 0);
    pthread_mutex_init(&d->heap_lock, NULL);
    d->file.fd = -1;
    snprintf(d->node, sizeof d->node, "%s", node);

    struct tw_calls table = *calls;
    int code = trace != NULL ? tw_trace_create(trace, calls, &d->trace, err) : TW_OK;
    if (d->trace != NULL)
        table = tw_trace_calls(d->trace);
    if (code == 0)
        code = tw_driver_open(&table, node, &d->file, err);
    if (code == 0)
        code = ask_array(d, err);
    if (code < 0)
        tw_device_close(d);
    else
        *device = d;
    return code;
}

static int open_silicon(const struct tw_device_options *o, struct tw_device **device, struct tw_error *err)
{
    struct tw_npu npu;
    const struct tw_calls calls = tw_system_calls();
    switch (tw_machine_find_npu(o->root != NULL ? o->root : "", &npu)) {
    case TW_NPU_NONE:
        return tw_fail(err, TW_E_NO_DEVICE,
                       "this machine has no NPU; --device emu runs everything in the emulator instead");
    case TW_NPU_LATER:
        return tw_fail(err, TW_E_NO_DEVICE,
                       "the NPU at %s (%04x:%04x) is of a later generation than this program knows (1022:1502)",
                       npu.slot, npu.vendor, npu.device);
    case TW_NPU_FIRST:
        break;
    }
    if (npu.node[0] == '\0')
        return tw_fail(err, TW_E_NO_DEVICE,
                       "the NPU at %s has no node in /dev/accel; tilewright doctor says what is missing", npu.slot);
    return tw_device_open_calls(&calls, npu.node, o->trace, device, err);
}

static int open_emulated(const struct tw_device_options *o, struct tw_device **device, struct tw_error *err)
{
    struct tw_emulated *machine = NULL;
    int code = o->alone ? tw_emulated_create(&machine, err) : tw_emulated_share(&machine, err);
    if (code == 0)
        code = tw_device_open_calls(tw_emulated_calls(machine), "/dev/accel/accel0", o->trace, device, err);
    if (code == 0)
        (*device)->emulated = machine;
    else
        tw_emulated_drop(machine);
    return code;
}

int tw_device_open(const struct tw_device_options *options, struct tw_device **device, struct tw_error *err)
{
    static const struct tw_device_options defaults = {.kind = TW_DEVICE_AUTO};
    const struct tw_device_options *o = options != NULL ? options : &defaults;
    enum tw_device_kind kind = o->kind;
    const char *word = getenv("TILEWRIGHT_DEVICE");
    *device = NULL;
    if (kind == TW_DEVICE_AUTO && word != NULL && word[0] != '\0') {
        int code = tw_device_kind_read(word, &kind, err);
        if (code < 0)
            return code;
    }
    return kind == TW_DEVICE_EMU ? open_emulated(o, device, err) : open_silicon(o, device, err);
}

int tw_device_check_trace(const struct tw_device *device, struct tw_error *err)
{
    return device->trace != NULL ? tw_trace_check(device->trace, err) : TW_OK;
}

int tw_device_need_heap(struct tw_device *device, struct tw_error *err)
{
    pthread_mutex_lock(&device->heap_lock);
    int code = device->heap.handle != 0 ? TW_OK : tw_heap_create(&device->file, &device->heap, err);
    pthread_mutex_unlock(&device->heap_lock);
    return code;
}

struct tw_device *tw_device_take(struct tw_device *device)
{
    tw_reference_take(&device->references);
    return device;
}

void tw_device_close(struct tw_device *device)
{
    if (device == NULL || !tw_reference_drop(&device->references))
        return;
    if (device->file.fd >= 0) {
        tw_kernel_buffer_destroy(&device->file, &device->heap);
        tw_driver_close(&device->file);
    }
    tw_trace_free(device->trace);
    tw_emulated_drop(device->emulated);
    pthread_mutex_destroy(&device->heap_lock);
    free(device);
}
