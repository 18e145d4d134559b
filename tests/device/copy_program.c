#include "device/copy_program.h"

#include "image/pdi.h"
#include "npu1/cdo_writer.h"
#include "npu1/control_writer.h"

#include <stdlib.h>
#include <string.h>

/* Registers of a shim tile, and what AMD's own bandwidth test writes there. */
static const struct {
    uint32_t address, value;
} routes[] = {
    {0x3f008, 0x80000000}, {0x3f100, 0x80000000}, /* tokens go out at South0 */
    {0x3f010, 0x80000005}, {0x3f114, 0x80000000}, /* South3 to South2: MM2S 0 to S2MM 0 */
    {0x1f000, 0x4400},     {0x1f004, 0x50},       /* the DMA channels are connected */
};

enum { FROM_BD = 0x1d000, TO_BD = 0x1d020, BD_ADDRESS = 4, FROM_QUEUE = 0x1d214, TO_QUEUE = 0x1d204 };

struct bytes copy_pdi(void)
{
    struct tw_cdo_writer w;
    struct bytes cdo = {0}, pdi = {0};
    tw_cdo_writer_begin(&w);
    for (size_t i = 0; i < sizeof routes / sizeof routes[0]; i++)
        tw_cdo_writer_write(&w, routes[i].address, routes[i].value);
    if (tw_cdo_writer_finish(&w, &cdo.data, &cdo.size, NULL) != 0)
        return pdi;
    const struct tw_view view = {.data = cdo.data, .size = cdo.size, .file = "copy"};
    tw_pdi_write(&view, &pdi.data, &pdi.size, NULL);
    free(cdo.data);
    return pdi;
}

static void write_descriptor(struct tw_control_writer *w, uint32_t address, uint32_t words, uint64_t argument)
{
    const uint32_t bd[8] = {words, 0, 0, 0, 0x80000000, 0x02000000, 0, 0x02000000};
    const struct tw_control_patch patch = {.argument = argument};
    tw_control_writer_block_write(w, address, bd, 8);
    tw_control_writer_patch(w, address + BD_ADDRESS, &patch);
}

static struct bytes finish(struct tw_control_writer *w)
{
    const struct tw_control_wait wait = {.columns = 1, .rows = 1, .channel = {TW_S2MM, 0}};
    struct bytes code = {0};
    tw_control_writer_wait(w, &wait);
    tw_control_writer_finish(w, &code.data, &code.size, NULL);
    return code;
}

struct bytes copy_code(uint32_t words)
{
    struct tw_control_writer w;
    tw_control_writer_begin(&w, 1);
    write_descriptor(&w, TO_BD, words, 1);
    tw_control_writer_write(&w, TO_QUEUE, 0x80000001);
    write_descriptor(&w, FROM_BD, words, 0);
    tw_control_writer_write(&w, FROM_QUEUE, 0);
    return finish(&w);
}

struct bytes hang_code(void)
{
    struct tw_control_writer w;
    tw_control_writer_begin(&w, 1);
    return finish(&w);
}

int copy_context(struct tw_device *device, unsigned columns, struct tw_context **context, struct tw_error *err)
{
    struct bytes pdi = copy_pdi();
    const struct tw_program program = {.pdi = pdi.data, .bytes = pdi.size};
    int code = tw_context_create(device, columns, &program, 1, context, err);
    free(pdi.data);
    return code;
}

int copy_job_create(struct copy_job *j, struct tw_device *device, struct tw_context *context, uint32_t words,
                    struct tw_error *err)
{
    struct bytes code = words > 0 ? copy_code(words) : hang_code();
    *j = (struct copy_job){.words = words};
    int result = tw_job_create(context, 0, code.data, code.size, &j->job, err);
    if (result == 0 && words > 0)
        result = tw_buffer_create(device, (size_t)4 * words, &j->in, err);
    if (result == 0 && words > 0)
        result = tw_buffer_create(device, (size_t)4 * words, &j->out, err);
    if (result == 0)
        result = tw_job_set_buffer(j->job, 0, j->in, err);
    if (result == 0)
        result = tw_job_set_buffer(j->job, 1, j->out, err);
    free(code.data);
    return result;
}

int copy_job_fill(struct copy_job *j, uint32_t seed, struct tw_error *err)
{
    uint32_t *in = tw_buffer_data(j->in), *out = tw_buffer_data(j->out);
    for (uint32_t i = 0; i < j->words; i++) {
        in[i] = seed * 0x9e3779b9u + i;
        out[i] = ~in[i];
    }
    int code = tw_buffer_to_npu(j->in, 0, tw_buffer_size(j->in), err);
    return code < 0 ? code : tw_buffer_to_npu(j->out, 0, tw_buffer_size(j->out), err);
}

int copy_job_check(struct copy_job *j, uint32_t seed, struct tw_error *err)
{
    int wrong = 0, code = tw_buffer_from_npu(j->out, 0, tw_buffer_size(j->out), err);
    const uint32_t *out = tw_buffer_data(j->out);
    for (uint32_t i = 0; code == 0 && i < j->words; i++)
        wrong += out[i] != seed * 0x9e3779b9u + i;
    return code < 0 ? code : wrong;
}

void copy_job_destroy(struct copy_job *j)
{
    tw_job_destroy(j->job);
    tw_buffer_destroy(j->in);
    tw_buffer_destroy(j->out);
    *j = (struct copy_job){0};
}
