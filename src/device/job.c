#include "device/job.h"

#include "device/emulated.h"
#include "device/wait.h"

#include <stdlib.h>
#include <string.h>

/* What tw_job_destroy waits for a running job: beyond the driver's own limit, which ends it. */
enum { DESTROY_LIMIT_MS = 10000, COMMAND_BYTES = TW_CHAIN_WINDOW_BYTES };

int tw_job_begin(struct tw_context *context, struct tw_job **job, struct tw_error *err)
{
    struct tw_job *j = calloc(1, sizeof *j);
    if (j == NULL)
        return tw_fail(err, TW_E_MEMORY, "no memory for a job");
    int code = tw_kernel_buffer_create(&context->device->file, TW_XDNA_COMMAND, COMMAND_BYTES, &j->command, err);
    if (code < 0) {
        free(j);
        return code;
    }
    atomic_init(&j->references, 1);
    j->context = tw_context_take(context);
    j->failed_part = -1;
    j->revision = 1;
    *job = j;
    return TW_OK;
}

static int set_code(struct tw_job *job, const void *code, size_t bytes, struct tw_error *err)
{
    int result = tw_control_read(code, bytes, &job->control, err);
    if (result < 0 || job->control.size == 0)
        return result;
    const struct tw_device *device = job->context->device;
    result =
        tw_kernel_buffer_upload(&device->file, &device->heap, job->control.bytes, job->control.size, &job->code, err);
    return result < 0 ? result : tw_handle_list_add(&job->listed, job->code.handle, err);
}

int tw_job_create(struct tw_context *context, unsigned program, const void *code, size_t bytes, struct tw_job **job,
                  struct tw_error *err)
{
    *job = NULL;
    if (program >= context->n_programs)
        return tw_fail(err, TW_E_ARGUMENT, "there is no program number %u; the context has %u", program,
                       context->n_programs);
    struct tw_job *j = NULL;
    int result = tw_job_begin(context, &j, err);
    if (result < 0)
        return result;
    j->program = program;
    result = set_code(j, code, bytes, err);
    if (result < 0)
        tw_job_destroy(j);
    else
        *job = j;
    return result;
}

static int make_room(struct tw_job *job, unsigned index, struct tw_error *err)
{
    if (index < job->room)
        return TW_OK;
    unsigned room = index + TW_LAUNCH_BUFFERS_MIN;
    struct tw_buffer **buffers = realloc(job->buffers, room * sizeof buffers[0]);
    if (buffers == NULL)
        return tw_fail(err, TW_E_MEMORY, "no memory for the buffers of a job");
    job->buffers = buffers;
    uint64_t *addresses = realloc(job->addresses, room * sizeof addresses[0]);
    if (addresses == NULL)
        return tw_fail(err, TW_E_MEMORY, "no memory for the buffers of a job");
    job->addresses = addresses;
    for (unsigned i = job->room; i < room; i++) {
        buffers[i] = NULL;
        addresses[i] = 0;
    }
    job->room = room;
    return TW_OK;
}

static int list_buffers(struct tw_job *job, struct tw_error *err)
{
    job->listed.n = 0;
    int code = tw_handle_list_add(&job->listed, job->code.handle, err);
    for (unsigned i = 0; code == 0 && i < job->n_buffers; i++)
        if (job->buffers[i] != NULL)
            code = tw_handle_list_add(&job->listed, job->buffers[i]->memory.handle, err);
    return code;
}

int tw_job_set_buffer(struct tw_job *job, unsigned index, struct tw_buffer *buffer, struct tw_error *err)
{
    if (job->state != TW_JOB_IDLE)
        return tw_fail(err, TW_E_STATE, "the job runs; wait for it before you change its buffers");
    if (job->n_parts > 0)
        return tw_fail(err, TW_E_ARGUMENT, "a chain has no buffers of its own; its jobs have");
    if (index >= tw_launch_buffers_max(job->control.opcode))
        return tw_fail(err, TW_E_LIMIT, "there is no buffer argument number %u; a job has room for %u", index,
                       tw_launch_buffers_max(job->control.opcode));
    if (buffer != NULL && buffer->device != job->context->device)
        return tw_fail(err, TW_E_ARGUMENT, "buffer argument number %u is a buffer of another device", index);
    int code = make_room(job, index, err);
    if (code < 0)
        return code;
    struct tw_buffer *before = job->buffers[index];
    job->buffers[index] = buffer != NULL ? tw_buffer_take(buffer) : NULL;
    job->addresses[index] = buffer != NULL ? buffer->memory.device_address : 0;
    tw_buffer_destroy(before);
    if (index >= job->n_buffers)
        job->n_buffers = index + 1;
    while (job->n_buffers > 0 && job->buffers[job->n_buffers - 1] == NULL)
        job->n_buffers--;
    job->revision++;
    return list_buffers(job, err);
}

int tw_job_prepare(struct tw_job *job, struct tw_error *err)
{
    if (job->prepared == job->revision)
        return TW_OK;
    for (unsigned i = 0; i < TW_CONTROL_BUFFERS_MAX; i++)
        if (job->control.names[i] && (i >= job->n_buffers || job->buffers[i] == NULL))
            return tw_fail(err, TW_E_STATE, "the control code works on buffer argument number %u, which is not set", i);
    int code = TW_OK;
    if (job->control.n_places > 0) {
        tw_control_fill(&job->control, job->addresses, job->code.data);
        code = tw_kernel_buffer_flush(&job->context->device->file, &job->code, 0, job->code.bytes, err);
    }
    if (code == 0)
        job->prepared = job->revision;
    return code;
}

uint32_t tw_job_write_launch(struct tw_job *job)
{
    const struct tw_launch launch = {.opcode = job->control.opcode,
                                     .cu = job->program,
                                     .kernel = job->control.kernel,
                                     .code_address = job->code.device_address,
                                     .code_bytes = job->code.bytes,
                                     .buffers = job->addresses,
                                     .n_buffers = job->n_buffers};
    return tw_packet_write_launch(&launch, (uint32_t *)(void *)job->command.data);
}

static void set_running(struct tw_job *job, int running)
{
    job->state = running ? TW_JOB_SUBMITTED : TW_JOB_IDLE;
    job->completed = 0;
    for (unsigned i = 0; i < job->n_parts; i++) {
        job->parts[i]->state = running ? TW_JOB_PART : TW_JOB_IDLE;
        job->parts[i]->completed = 0;
    }
}

static int check_idle(const struct tw_job *job, struct tw_error *err)
{
    int idle = job->state == TW_JOB_IDLE;
    for (unsigned i = 0; i < job->n_parts; i++)
        idle &= job->parts[i]->state == TW_JOB_IDLE;
    return idle ? TW_OK : tw_fail(err, TW_E_STATE, "the job runs already; wait for it before you submit it again");
}

/* All is written anew each time: after a failure the driver leaves nothing of a packet but its header. */
int tw_job_submit(struct tw_job *job, struct tw_error *err)
{
    int code = check_idle(job, err);
    if (code == 0)
        code = job->n_parts > 0 ? tw_chain_prepare(job, err) : tw_job_prepare(job, err);
    if (code < 0)
        return code;
    uint32_t header = job->n_parts > 0 ? tw_chain_write(job) : tw_job_write_launch(job);
    atomic_store_explicit(tw_job_header(job), header, memory_order_release);
    struct tw_xdna_execute execute = {.context = job->context->handle,
                                      .command = job->command.handle,
                                      .command_count = 1,
                                      .arguments = (uint64_t)(uintptr_t)job->listed.handles,
                                      .argument_count = job->listed.n};
    int result = tw_driver_call(&job->context->device->file, TW_XDNA_EXECUTE, &execute);
    if (result < 0)
        return tw_driver_fail(err, TW_XDNA_EXECUTE, result, "a command cannot be submitted");
    job->sequence = execute.sequence;
    set_running(job, 1);
    return TW_OK;
}

static int failed_part(const struct tw_job *job, int code)
{
    if (code != TW_E_DEVICE || job->n_parts == 0)
        return -1;
    uint32_t index = ((const uint32_t *)(const void *)job->command.data)[TW_CHAIN_ERROR_INDEX];
    return index < job->n_parts ? (int)index : -1;
}

/* At once, because the emulated driver knows them for a while only. */
static void keep_figures(struct tw_job *job)
{
    const struct tw_device *device = job->context->device;
    job->modelled.bound = NULL;
    if (device->emulated != NULL)
        tw_emulated_modelled(device->emulated, device->file.fd, job->context->handle, job->sequence, &job->modelled);
}

int tw_job_modelled(const struct tw_job *job, struct tw_modelled *modelled, struct tw_error *err)
{
    *modelled = (struct tw_modelled){0};
    if (job->context->device->emulated == NULL)
        return tw_fail(err, TW_E_UNSUPPORTED,
                       "cycles are modelled by the emulator only; measure the time of a job on this NPU");
    if (!job->completed)
        return tw_fail(err, TW_E_STATE, "%s",
                       job->state == TW_JOB_PART ? "the job is part of a chain; ask that for its modelled cycles"
                                                 : "modelled cycles are known of a job that was run and has completed");
    if (job->modelled.bound == NULL)
        return tw_fail(err, TW_E_LIMIT,
                       "the modelled cycles of the job are forgotten, because many later commands of its context ended "
                       "before it was waited for; wait for it sooner");
    *modelled = job->modelled;
    return TW_OK;
}

int tw_job_wait(struct tw_job *job, int ms, struct tw_error *err)
{
    if (job->state != TW_JOB_SUBMITTED)
        return tw_fail(err, TW_E_STATE, "%s",
                       job->state == TW_JOB_PART ? "the job runs as a part of a chain; wait for that"
                                                 : "the job is not submitted");
    int code = tw_wait_for_command(job->context, job->sequence, tw_job_header(job), ms, err);
    if (code == TW_E_RUNNING)
        return code;
    set_running(job, 0);
    if (code == 0)
        code = tw_end_of_command(job->context, job->sequence,
                                 atomic_load_explicit(tw_job_header(job), memory_order_acquire), err);
    job->failed_part = failed_part(job, code);
    job->completed = code == 0;
    if (code == 0)
        keep_figures(job);
    return code;
}

int tw_job_run(struct tw_job *job, struct tw_error *err)
{
    int code = tw_job_submit(job, err);
    return code < 0 ? code : tw_job_wait(job, -1, err);
}

int tw_job_failed_part(const struct tw_job *job)
{
    return job->failed_part;
}

/*
 * A job that does not end keeps its memory for ever: the NPU may still write to it. The process's end gives all back in
 * the right order.
 */
void tw_job_destroy(struct tw_job *job)
{
    if (job == NULL || !tw_reference_drop(&job->references))
        return;
    if (job->state == TW_JOB_SUBMITTED && tw_job_wait(job, DESTROY_LIMIT_MS, NULL) == TW_E_RUNNING)
        return;
    for (unsigned i = 0; i < job->n_parts; i++)
        tw_job_destroy(job->parts[i]);
    for (unsigned i = 0; i < job->n_buffers; i++)
        tw_buffer_destroy(job->buffers[i]);
    const struct tw_driver_file *file = &job->context->device->file;
    tw_kernel_buffer_destroy(file, &job->code);
    tw_kernel_buffer_destroy(file, &job->command);
    tw_handle_list_free(&job->listed);
    tw_control_free(&job->control);
    free(job->buffers);
    free(job->addresses);
    free(job->parts);
    free(job->part_handles);
    tw_context_destroy(job->context);
    free(job);
}
