/* A launch under way: what it reads that is not in the store, its buffers, and the command. */
#include "base/clock.h"
#include "job/launch.h"
#include "job/operands.h"
#include "job/weights.h"
#include "kernels/job.h"
#include "overlay/pack.h"

#include <stdlib.h>

static int write_own(const struct launch *l, const struct part *part, struct tw_error *err)
{
    if (!part->has_own_headers)
        return TW_OK;
    float *bias = launch_bias(l, part);
    if (bias == NULL)
        return tw_fail(err, TW_E_MEMORY, "no memory for a bias of %u numbers", part->shape.size.columns);
    unsigned char *to = (unsigned char *)tw_buffer_data(l->own) + part->own_headers;
    tw_overlay_write_headers(&part->shape, part->op->gelu ? TW_JOB_GELU : 0, bias, to);
    free(bias);
    return tw_buffer_to_npu(l->own, part->own_headers, tw_overlay_header_bytes(&part->shape), err);
}

static void find_buffers(const struct tw_runner *r, struct launch *l)
{
    l->buffers[ARGUMENT_AREA] = r->area.buffer;
    l->buffers[ARGUMENT_OWN] = l->own;
    for (int32_t i = 0; i < l->count; i++) {
        weights_buffer(&l->parts[i].weights, l->buffers);
        weights_buffer(&l->parts[i].headers, l->buffers);
    }
}

static int set_buffers(const struct tw_runner *r, struct launch *l, struct tw_error *err)
{
    int code = TW_OK;
    find_buffers(r, l);
    for (uint32_t i = 0; code == 0 && i < l->n_buffers; i++)
        code = tw_job_set_buffer(l->job, i, l->buffers[i], err);
    return code;
}

/* A job keeps its buffers, which would keep memory that the store has given back. */
static void forget_buffers(struct launch *l)
{
    for (uint32_t i = 0; i < l->n_buffers; i++)
        (void)tw_job_set_buffer(l->job, i, NULL, NULL);
}

static void count(struct tw_runner *r, struct launch *l)
{
    r->counts.launches++;
    l->is_modelled = tw_job_modelled(l->job, &l->modelled, NULL) == 0;
    if (!l->is_modelled)
        return;
    r->counts.cycles += l->modelled.cycles;
    r->counts.read_bytes += l->modelled.read_bytes;
    r->counts.write_bytes += l->modelled.write_bytes;
}

int launch_run(struct tw_runner *r, struct launch *l, struct tw_error *err)
{
    const double begin = tw_seconds();
    int code = operands_prepare(r, l, err);
    for (int32_t i = 0; code == 0 && i < l->count; i++)
        code = write_own(l, &l->parts[i], err);
    if (code == 0)
        code = set_buffers(r, l, err);
    if (code == 0)
        code = tw_job_run(l->job, err);
    r->counts.array_seconds += tw_seconds() - begin;
    if (code == 0)
        count(r, l);
    forget_buffers(l);
    return code;
}
