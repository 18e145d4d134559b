#include "overlay/device.h"

#include "emu/core.h"
#include "overlay/layout.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#define DO(call)                                                                                                       \
    do {                                                                                                               \
        struct tw_error err = {0};                                                                                     \
        if ((call) < 0)                                                                                                \
            fail_msg("%s", err.text);                                                                                  \
    } while (0)

static void make_buffers(struct device *d)
{
    DO(tw_buffers_create(&d->buffers, &err));
    d->n_buffers = 0;
}

void device_forget(struct device *d)
{
    tw_buffers_free(d->buffers);
    make_buffers(d);
}

/* The firmware knows the device, whose buffers may be others later. */
static unsigned char *find(void *arg, uint64_t address, uint64_t size, int write)
{
    const struct device *d = arg;
    const struct tw_host_memory host = tw_buffers_host(d->buffers);
    return host.find(host.arg, address, size, write);
}

/* Tells all cores which registers the program reads out of their time on purpose. */
static void expect_old(struct device *d, const struct tw_job_program *job)
{
    struct tw_array *array = tw_firmware_array(d->firmware);
    for (unsigned i = 0; i < TW_OVERLAY_CORES; i++) {
        struct tw_core *core = tw_array_core(array, i % TW_OVERLAY_COLUMNS, TW_NPU1_CORE_ROW + i / TW_OVERLAY_COLUMNS);
        for (size_t k = 0; k < job->n_old; k++)
            assert_int_equal(tw_core_expect_old(core, job->old[k].address, job->old[k].leaves, job->old[k].n), 0);
    }
}

void device_open(struct device *d, const struct program *program)
{
    memset(d, 0, sizeof *d);
    DO(tw_overlay_pdi(&program->program, &d->pdi, &d->pdi_size, &err));
    make_buffers(d);
    /* Threads are tested elsewhere; under a sanitizer they make long runs of these small ones. */
    const struct tw_firmware_options options = {
        .columns = 4, .strict = program->job != NULL, .threads = 1, .host = {.arg = d, .find = find}};
    DO(tw_firmware_create(&options, &d->firmware, &err));
    const struct tw_view view = {.data = d->pdi, .size = d->pdi_size, .file = "overlay"};
    DO(tw_firmware_add_program(d->firmware, &view, &err));
    if (program->job != NULL)
        expect_old(d, program->job);
}

void device_close(struct device *d)
{
    tw_firmware_free(d->firmware);
    tw_buffers_free(d->buffers);
    free(d->pdi);
}

unsigned device_buffer(struct device *d, uint64_t size)
{
    assert_true(d->n_buffers < TW_BUFFERS_MAX);
    DO(tw_buffers_add(d->buffers, size, &d->addresses[d->n_buffers], &d->bytes[d->n_buffers], &err));
    return d->n_buffers++;
}

void device_run(struct device *d, struct tw_overlay_launch *launch)
{
    unsigned char *code;
    size_t size;
    DO(tw_overlay_launch_end(launch, &code, &size, &err));
    const struct tw_command command = {.program = 0,
                                       .opcode = TW_KERNEL_TRANSACTION,
                                       .control_code = {.data = code, .size = size, .file = "launch"},
                                       .arguments = d->addresses,
                                       .n_arguments = d->n_buffers};
    DO(tw_firmware_run(d->firmware, &command, &d->report, &err));
    assert_int_equal(d->report.status, TW_FIRMWARE_OK);
    free(code);
}

void program_assemble(struct program *p, const char *text)
{
    memset(p, 0, sizeof *p);
    DO(tw_assemble("program.s", text, strlen(text), NULL, &p->assembly, &err));
    assert_int_equal(p->assembly->n_sections, 1);
    const struct tw_as_section *s = &p->assembly->sections[0];
    const size_t size = (s->size + 15u) & ~(size_t)15;
    p->text = calloc(1, size);
    assert_non_null(p->text);
    memcpy(p->text, s->bytes, s->size);
    p->piece = (struct tw_overlay_piece){s->address, {.data = p->text, .size = size, .file = "program.s"}};
    p->program = (struct tw_overlay_program){&p->piece, 1};
}

void program_job(struct program *p)
{
    memset(p, 0, sizeof *p);
    DO(tw_job_program_make(&p->job, &err));
    p->piece = (struct tw_overlay_piece){0, {.data = p->job->bytes, .size = p->job->size, .file = "job program"}};
    p->program = (struct tw_overlay_program){&p->piece, 1};
}

void program_free(struct program *p)
{
    tw_assembly_free(p->assembly);
    free(p->text);
    tw_job_program_free(p->job);
}
