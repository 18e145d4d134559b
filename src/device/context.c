#include "device/device.h"

#include "device/queries.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The processes that hold contexts, as "pid 12, 13": a list for a sentence. */
static void list_owners(const struct tw_driver_facts *facts, char *text, size_t size)
{
    size_t used = 0;
    text[0] = '\0';
    for (unsigned i = 0; i < facts->n_contexts && i < TW_CONTEXTS_SHOWN && used < size; i++) {
        if (!tw_facts_first_of_process(facts, i))
            continue;
        int added =
            snprintf(text + used, size - used, "%s%lld", i == 0 ? "pid " : ", ", (long long)facts->contexts[i].pid);
        used += added > 0 ? (size_t)added : 0;
    }
}

/* ENODEV is also what a driver answers that is unloaded: but then it does not tell of contexts either. */
static int no_columns(struct tw_device *device, unsigned columns, struct tw_error *err)
{
    struct tw_driver_facts facts;
    char owners[256];
    tw_query_facts(&device->file, &facts);
    if (!facts.contexts_known || facts.n_contexts == 0)
        return tw_driver_fail(err, TW_XDNA_CREATE_CONTEXT, -ENODEV, "no context of %u columns", columns);
    list_owners(&facts, owners, sizeof owners);
    return tw_fail(err, TW_E_BUSY,
                   "no %u columns of the NPU are free: contexts share columns only with others of the same width; take "
                   "as many as the others, or end one of their programs (%s)",
                   columns, owners);
}

/*
 * The driver answers EINVAL to a wrong request, to one context too many, and when firmware does not answer after a
 * hang. The request was right; which of the others it is follows from what is known.
 */
static int refused(struct tw_device *device, unsigned columns, int result, struct tw_error *err)
{
    struct tw_driver_facts facts;
    if (result == -EINVAL && (uintptr_t)device->heap.data % TW_XDNA_HEAP_BYTES != 0)
        return tw_fail(err, TW_E_HEAP_PLACE,
                       "the NPU's heap is mapped at %p, but its firmware takes it only at a multiple of %d bytes",
                       (void *)device->heap.data, TW_XDNA_HEAP_BYTES);
    if (result == -ENODEV)
        return no_columns(device, columns, err);
    if (result != -EINVAL)
        return tw_driver_fail(err, TW_XDNA_CREATE_CONTEXT, result, "no context of %u columns", columns);
    tw_query_facts(&device->file, &facts);
    if (facts.contexts_known && facts.n_contexts >= facts.contexts_max) {
        char owners[256];
        list_owners(&facts, owners, sizeof owners);
        return tw_fail(err, TW_E_BUSY, "all %u contexts of the NPU are taken (%s); end one of these programs",
                       facts.contexts_max, owners);
    }
    if (atomic_load(&device->hung))
        return tw_fail(err, TW_E_LOST,
                       "the NPU gives no context after a command hung; load its driver anew (sudo rmmod amdxdna; sudo "
                       "modprobe amdxdna) or restart the machine");
    return tw_fail(
        err, facts.contexts_known ? TW_E_DEVICE : TW_E_BUSY,
        "the driver or the NPU's firmware refuses a context of %u columns; if no other program uses the NPU, "
        "load its driver anew (sudo rmmod amdxdna; sudo modprobe amdxdna)",
        columns);
}

static int take(struct tw_context *c, unsigned columns, struct tw_error *err)
{
    struct tw_xdna_qos qos = {0}; /* no wishes: the highest clock */
    struct tw_xdna_create_context create = {
        .qos = (uint64_t)(uintptr_t)&qos,
        .tiles = columns * TW_XDNA_CORE_ROWS,
        /* What one column multiplies and adds in a cycle; XRT sends it, the kernel's driver does not look at it. */
        .operations_per_cycle = 2048 * columns};
    int result = tw_driver_call(&c->device->file, TW_XDNA_CREATE_CONTEXT, &create);
    if (result < 0)
        return refused(c->device, columns, result, err);
    c->handle = create.handle;
    c->syncobj = create.syncobj;
    return TW_OK;
}

/* The handle of an earlier program's PDI if it is the same; else 0. */
static uint32_t find_uploaded(const struct tw_context *c, const struct tw_program *programs, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        if (programs[i].pdi == programs[n].pdi && programs[i].bytes == programs[n].bytes)
            return c->programs[i].handle;
    return 0;
}

/* Program number n, the next one. */
static int add_program(struct tw_context *c, const struct tw_program *programs, unsigned n, struct tw_error *err)
{
    const struct tw_program *p = &programs[n];
    struct tw_context_program *to = &c->programs[n];
    if (p->pdi == NULL || p->bytes == 0)
        return tw_fail(err, TW_E_ARGUMENT, "program number %u has no PDI", n);
    if (p->function > UINT8_MAX)
        return tw_fail(err, TW_E_ARGUMENT, "program number %u: there is no function %u", n, p->function);
    const struct tw_device *device = c->device;
    to->handle = find_uploaded(c, programs, n);
    if (to->handle == 0) {
        int code = tw_kernel_buffer_upload(&device->file, &device->heap, p->pdi, p->bytes, &to->pdi, err);
        if (code < 0)
            return code;
        to->handle = to->pdi.handle;
    }
    c->n_programs++;
    to->name = p->name != NULL ? strdup(p->name) : NULL;
    return p->name != NULL && to->name == NULL ? tw_fail(err, TW_E_MEMORY, "no memory for a name") : TW_OK;
}

static int configure(struct tw_context *c, const struct tw_program *programs, struct tw_error *err)
{
    struct tw_xdna_cus cus = {.count = (uint16_t)c->n_programs};
    for (unsigned i = 0; i < c->n_programs; i++)
        cus.cu[i] = (struct tw_xdna_cu){.buffer = c->programs[i].handle, .function = (uint8_t)programs[i].function};
    struct tw_xdna_config_context config = {
        .handle = c->handle,
        .kind = TW_XDNA_CONFIG_CUS,
        .value = (uint64_t)(uintptr_t)&cus,
        .bytes = (uint32_t)(offsetof(struct tw_xdna_cus, cu) + c->n_programs * sizeof cus.cu[0])};
    int result = tw_driver_call(&c->device->file, TW_XDNA_CONFIG_CONTEXT, &config);
    return result < 0 ? tw_driver_fail(err, TW_XDNA_CONFIG_CONTEXT, result,
                                       "the driver does not take the context's %u programs", c->n_programs)
                      : TW_OK;
}

static int check(const struct tw_device *device, unsigned columns, unsigned n_programs, struct tw_error *err)
{
    if (columns == 0 || columns > device->columns)
        return tw_fail(err, TW_E_ARGUMENT, "a context of %u columns was asked for, but the NPU has 1 to %u", columns,
                       device->columns);
    if (n_programs == 0)
        return tw_fail(err, TW_E_ARGUMENT, "a context needs a program");
    if (n_programs > TW_XDNA_CUS)
        return tw_fail(err, TW_E_LIMIT, "a context has room for %d programs, not for %u", TW_XDNA_CUS, n_programs);
    return TW_OK;
}

int tw_context_create(struct tw_device *device, unsigned columns, const struct tw_program *programs,
                      unsigned n_programs, struct tw_context **context, struct tw_error *err)
{
    *context = NULL;
    int code = check(device, columns, n_programs, err);
    if (code == 0)
        code = tw_device_need_heap(device, err);
    if (code < 0)
        return code;
    struct tw_context *c = calloc(1, sizeof *c);
    if (c == NULL)
        return tw_fail(err, TW_E_MEMORY, "no memory for a context");
    atomic_init(&c->references, 1);
    c->device = tw_device_take(device);
    code = take(c, columns, err);
    for (unsigned i = 0; code == 0 && i < n_programs; i++)
        code = add_program(c, programs, i, err);
    if (code == 0)
        code = configure(c, programs, err);
    if (code < 0)
        tw_context_destroy(c);
    else
        *context = c;
    return code;
}

int tw_context_find(const struct tw_context *c, const char *name, struct tw_error *err)
{
    char names[512] = "";
    size_t used = 0;
    if (name == NULL && c->n_programs == 1)
        return 0;
    for (unsigned i = 0; i < c->n_programs; i++) {
        const char *have = c->programs[i].name != NULL ? c->programs[i].name : "";
        if (name != NULL && strcmp(have, name) == 0)
            return (int)i;
        int added = used < sizeof names ? snprintf(names + used, sizeof names - used, " %s", have) : 0;
        used += added > 0 ? (size_t)added : 0;
    }
    if (name == NULL)
        return tw_fail(err, TW_E_NOT_FOUND, "there are %u programs; name one of:%s", c->n_programs, names);
    return tw_fail(err, TW_E_NOT_FOUND, "there is no program '%s'; there is:%s", name, names);
}

struct tw_context *tw_context_take(struct tw_context *context)
{
    tw_reference_take(&context->references);
    return context;
}

/* The context first: as long as it is there, the driver may send its programs again. */
void tw_context_destroy(struct tw_context *c)
{
    if (c == NULL || !tw_reference_drop(&c->references))
        return;
    if (c->handle != 0) {
        struct tw_xdna_destroy_context destroy = {.handle = c->handle};
        tw_driver_call(&c->device->file, TW_XDNA_DESTROY_CONTEXT, &destroy);
    }
    for (unsigned i = 0; i < c->n_programs; i++) {
        tw_kernel_buffer_destroy(&c->device->file, &c->programs[i].pdi);
        free(c->programs[i].name);
    }
    tw_device_close(c->device);
    free(c);
}
