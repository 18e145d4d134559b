#include "device/job.h"

#include <stdlib.h>

static int check_parts(struct tw_job *const *jobs, unsigned n, struct tw_error *err)
{
    if (n == 0)
        return tw_fail(err, TW_E_ARGUMENT, "a chain of no jobs was asked for");
    if (n > TW_CHAIN_WINDOW_BYTES / tw_launch_slot_bytes(0))
        return tw_fail(err, TW_E_LIMIT, "a chain of %u jobs does not fit into one command; %zu do", n,
                       TW_CHAIN_WINDOW_BYTES / tw_launch_slot_bytes(0));
    for (unsigned i = 0; i < n; i++) {
        if (jobs[i]->n_parts > 0)
            return tw_fail(err, TW_E_ARGUMENT, "job number %u of a chain is a chain itself", i);
        if (jobs[i]->context != jobs[0]->context)
            return tw_fail(err, TW_E_ARGUMENT, "job number %u of a chain is of another context than the first", i);
        if (jobs[i]->control.opcode != jobs[0]->control.opcode)
            return tw_fail(err, TW_E_ARGUMENT,
                           "job number %u of a chain has control code in another form than the first (ELF or not)", i);
    }
    return TW_OK;
}

static int check_size(const struct tw_job *chain, struct tw_error *err)
{
    size_t bytes = 0;
    for (unsigned i = 0; i < chain->n_parts; i++)
        bytes += tw_launch_slot_bytes(chain->parts[i]->n_buffers);
    if (bytes > TW_CHAIN_WINDOW_BYTES)
        return tw_fail(err, TW_E_LIMIT, "a chain of %u jobs takes %zu bytes of a command, which has room for %d",
                       chain->n_parts, bytes, TW_CHAIN_WINDOW_BYTES);
    return TW_OK;
}

int tw_chain_create(struct tw_job *const *jobs, unsigned n_jobs, struct tw_job **chain, struct tw_error *err)
{
    *chain = NULL;
    int code = check_parts(jobs, n_jobs, err);
    struct tw_job *c = NULL;
    if (code == 0)
        code = tw_job_begin(jobs[0]->context, &c, err);
    if (code < 0)
        return code;
    c->parts = calloc(n_jobs, sizeof c->parts[0]);
    c->part_handles = calloc(n_jobs, sizeof c->part_handles[0]);
    if (c->parts == NULL || c->part_handles == NULL) {
        tw_job_destroy(c);
        return tw_fail(err, TW_E_MEMORY, "no memory for a chain of %u jobs", n_jobs);
    }
    for (unsigned i = 0; i < n_jobs; i++) {
        tw_reference_take(&jobs[i]->references);
        c->parts[i] = jobs[i];
        c->part_handles[i] = jobs[i]->command.handle;
    }
    c->n_parts = n_jobs;
    code = check_size(c, err);
    if (code < 0)
        tw_job_destroy(c);
    else
        *chain = c;
    return code;
}

int tw_chain_prepare(struct tw_job *chain, struct tw_error *err)
{
    uint64_t revision = 1;
    for (unsigned i = 0; i < chain->n_parts; i++) {
        int code = tw_job_prepare(chain->parts[i], err);
        if (code < 0)
            return code;
    }
    for (unsigned i = 0; i < chain->n_parts; i++)
        revision += chain->parts[i]->revision;
    if (revision == chain->list_revision)
        return TW_OK;
    chain->list_revision = 0;
    chain->listed.n = 0;
    int code = check_size(chain, err);
    for (unsigned i = 0; code == 0 && i < chain->n_parts; i++) {
        const struct tw_job *part = chain->parts[i];
        code = tw_handle_list_add(&chain->listed, part->command.handle, err);
        for (uint32_t k = 0; code == 0 && k < part->listed.n; k++)
            code = tw_handle_list_add(&chain->listed, part->listed.handles[k], err);
    }
    if (code == 0)
        chain->list_revision = revision;
    return code;
}

uint32_t tw_chain_write(struct tw_job *chain)
{
    for (unsigned i = 0; i < chain->n_parts; i++) {
        struct tw_job *part = chain->parts[i];
        uint32_t header = tw_job_write_launch(part);
        atomic_store_explicit(tw_job_header(part), header, memory_order_relaxed);
    }
    return tw_packet_write_chain(chain->part_handles, chain->n_parts, (uint32_t *)(void *)chain->command.data);
}
