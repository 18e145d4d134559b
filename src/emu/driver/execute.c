/* Submitting commands: what can be refused at once is, all else is found out when the firmware's turn comes. */
#include "emu/driver/state.h"

#include <errno.h>
#include <stdlib.h>

void tw_drv_job_free(struct tw_drv_job *job)
{
    for (size_t i = 0; i < job->n_arguments; i++)
        tw_drv_buffer_put(job->arguments[i]);
    tw_drv_buffer_put(job->command);
    free(job->arguments);
    free(job);
}

static int list_arguments(struct tw_drv_file *file, struct tw_drv_job *job, uint64_t from, uint32_t n)
{
    uint32_t *handles = calloc(n + 1u, sizeof *handles);
    job->arguments = calloc(n + 1u, sizeof *job->arguments);
    int r = handles == NULL || job->arguments == NULL ? -ENOMEM : 0;
    if (r == 0)
        r = tw_drv_from_user(file->driver, handles, from, n * sizeof *handles);
    for (uint32_t i = 0; i < n && r == 0; i++) {
        struct tw_drv_buffer *buffer = tw_drv_buffer_find(file, handles[i]);
        if (buffer == NULL) {
            r = -ENOENT;
        } else {
            buffer->references++;
            job->arguments[job->n_arguments++] = buffer;
        }
    }
    free(handles);
    return r;
}

/* Only so many commands of a context are outstanding: the next one waits here. */
static int wait_for_room(struct tw_drv_context *context)
{
    int r = 0;
    context->submitters++;
    while (context->outstanding >= TW_XDNA_OUTSTANDING && r == 0)
        r = tw_drv_wait(context->file->driver, INT64_MAX);
    context->submitters--;
    if (r < 0)
        tw_drv_wake(context->file->driver);
    return r;
}

static void enqueue(struct tw_drv_context *context, struct tw_drv_job *job)
{
    job->context = context;
    job->sequence = context->timeline->submitted++;
    job->order = context->file->driver->orders++;
    job->submitted = context->file->now;
    *context->jobs_end = job;
    context->jobs_end = &job->next;
    context->outstanding++;
    tw_drv_partition_wake(context->partition);
    if (context->file->driver->waiters != NULL)
        tw_drv_wake(context->file->driver); /* somebody may wait for this point to be submitted */
}

static int submit(struct tw_drv_file *file, struct tw_xdna_execute *args, struct tw_drv_job *job)
{
    struct tw_drv_buffer *command = tw_drv_buffer_find(file, (uint32_t)args->command);
    if (command == NULL || command->kind != TW_XDNA_SHARE) {
        tw_drv_log(file->driver, "command handle %u is no command buffer", (unsigned)args->command);
        return -EINVAL;
    }
    command->references++;
    job->command = command;
    int r = list_arguments(file, job, args->arguments, args->argument_count);
    if (r < 0)
        return r;
    struct tw_drv_context *context = tw_drv_context_find(file, args->context);
    if (context == NULL)
        return -EINVAL;
    r = wait_for_room(context);
    if (r < 0)
        return r;
    enqueue(context, job);
    args->sequence = job->sequence;
    return 0;
}

int tw_drv_execute(struct tw_drv_file *file, void *argument)
{
    struct tw_xdna_execute *args = argument;
    if (args->extension != 0 || args->extension_flags != 0 || args->kind != 0)
        return -EINVAL;
    if (args->argument_count > TW_XDNA_ARGUMENTS_MAX || args->command_count != 1)
        return -EINVAL;
    struct tw_drv_job *job = calloc(1, sizeof *job);
    if (job == NULL)
        return -ENOMEM;
    int r = submit(file, args, job);
    if (r < 0)
        tw_drv_job_free(job);
    return r;
}

void tw_drv_job_done(struct tw_drv_job *job, uint64_t time)
{
    struct tw_drv_context *context = job->context;
    struct tw_drv_timeline *timeline = context->timeline;
    context->jobs = job->next;
    if (context->jobs == NULL)
        context->jobs_end = &context->jobs;
    context->outstanding--;
    context->completions++;
    timeline->done = job->sequence + 1;
    if (time > timeline->time)
        timeline->time = time;
    tw_drv_job_free(job);
    tw_drv_wake(context->file->driver);
}
