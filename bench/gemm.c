/*
 * Modelled cycles of matrix products on the overlay, and what part of the 16 cores' peak that is.
 *
 *     gemm [ROWS DEPTH COLUMNS TYPE]
 *
 * TYPE is that of the result, f32 or bf16. Nothing is compared here: tests do that.
 */
#include "base/clock.h"
#include "emu/buffers.h"
#include "emu/firmware.h"
#include "kernels/job_program.h"
#include "overlay/image.h"
#include "overlay/launch.h"
#include "overlay/pack.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PEAK = 128 * 16 /* multiplications a cycle */ };

static const struct tw_overlay_size sizes[] = {
    {4224, 4032, 4224, 0, TW_OVERLAY_PACKED, 0}, {1536, 1280, 1280, 0, TW_OVERLAY_PACKED, 0},
    {1536, 1280, 5120, 0, TW_OVERLAY_PACKED, 0}, {1536, 5120, 1280, 0, TW_OVERLAY_PACKED, 0},
    {1536, 64, 1536, 1, TW_OVERLAY_PACKED, 0},   {1536, 1536, 64, 0, TW_OVERLAY_PACKED, 0},
    {1500, 512, 2048, 0, TW_OVERLAY_PACKED, 0},  {512, 512, 512, 0, TW_OVERLAY_PACKED, 0},
};

struct bench {
    struct tw_buffers *buffers;
    struct tw_firmware *firmware;
    uint64_t addresses[4];
    unsigned char *bytes[4];
};

static void die(const struct tw_error *err)
{
    fprintf(stderr, "%s\n", err->text);
    exit(1);
}

static void make_pdi(unsigned char **pdi, size_t *size)
{
    struct tw_job_program *job = NULL;
    struct tw_error err = {0};

    if (tw_job_program_make(&job, &err) != 0)
        die(&err);
    const struct tw_overlay_piece piece = {0, {.data = job->bytes, .size = job->size, .file = "job program"}};
    const struct tw_overlay_program program = {&piece, 1};
    if (tw_overlay_pdi(&program, pdi, size, &err) != 0)
        die(&err);
    tw_job_program_free(job);
}

static void add(struct bench *b, unsigned i, uint64_t size)
{
    struct tw_error err = {0};
    if (tw_buffers_add(b->buffers, size, &b->addresses[i], &b->bytes[i], &err) != 0)
        die(&err);
}

static void run(const struct tw_view *pdi, const struct tw_overlay_size *size)
{
    struct bench b;
    struct tw_overlay_product p = {.a = {0, 0}, .b = {1, 0}, .c = {2, 0}, .headers = {3, 0}};
    struct tw_overlay_launch *launch = NULL;
    struct tw_command_report report;
    struct tw_error err = {0};
    unsigned char *code = NULL;
    size_t code_size = 0;

    if (tw_overlay_choose(size, &p.shape, &err) != 0 || tw_buffers_create(&b.buffers, &err) != 0)
        die(&err);
    p.lda = tw_overlay_depth(&p.shape);
    p.ldc = tw_overlay_width(&p.shape);
    add(&b, 0, (uint64_t)tw_overlay_height(&p.shape) * p.lda * 2);
    add(&b, 1, tw_overlay_packed_bytes(&p.shape));
    add(&b, 2, (uint64_t)tw_overlay_height(&p.shape) * p.ldc * 4);
    add(&b, 3, tw_overlay_header_bytes(&p.shape));
    tw_overlay_write_headers(&p.shape, 0, NULL, b.bytes[3]);
    const struct tw_firmware_options options = {.columns = 4, .host = tw_buffers_host(b.buffers)};
    if (tw_firmware_create(&options, &b.firmware, &err) != 0 || tw_firmware_add_program(b.firmware, pdi, &err) < 0)
        die(&err);
    const double before = tw_seconds();
    if (tw_overlay_choose(size, &p.shape, &err) != 0 || tw_overlay_launch_begin(&launch, &err) != 0 ||
        tw_overlay_product(launch, &p, &err) != 0 || tw_overlay_launch_end(launch, &code, &code_size, &err) != 0)
        die(&err);
    const double control = tw_seconds() - before;
    const struct tw_command command = {.opcode = TW_KERNEL_TRANSACTION,
                                       .control_code = {.data = code, .size = code_size, .file = "launch"},
                                       .arguments = b.addresses,
                                       .n_arguments = 4};
    if (tw_firmware_run(b.firmware, &command, &report, &err) != 0)
        die(&err);
    const double macs = (double)size->rows * size->depth * size->columns;
    printf("%4u x %4u x %4u %s: %10llu cycles, %6.1f MAC/cycle, %5.1f %% of peak; blocks %u x %u, %s B, expected %llu; "
           "%llu operations in %.0f us\n",
           size->rows, size->depth, size->columns, size->bf16_out ? "bf16" : "f32 ", (unsigned long long)report.cycles,
           macs / (double)report.cycles, 100 * macs / PEAK / (double)report.cycles, p.shape.m, p.shape.n,
           p.shape.resident ? "resident" : "streamed", (unsigned long long)p.shape.cycles,
           (unsigned long long)report.operations, 1e6 * control);
    fflush(stdout);
    tw_firmware_free(b.firmware);
    tw_buffers_free(b.buffers);
    free(code);
}

int main(int argc, char **argv)
{
    unsigned char *pdi = NULL;
    size_t size = 0;
    const double before = tw_seconds();
    make_pdi(&pdi, &size);
    printf("image of %zu bytes in %.1f ms\n", size, 1e3 * (tw_seconds() - before));
    const struct tw_view view = {.data = pdi, .size = size, .file = "overlay"};
    if (argc == 5) {
        const struct tw_overlay_size one = {(uint32_t)strtoul(argv[1], NULL, 10),
                                            (uint32_t)strtoul(argv[2], NULL, 10),
                                            (uint32_t)strtoul(argv[3], NULL, 10),
                                            strcmp(argv[4], "bf16") == 0,
                                            TW_OVERLAY_PACKED,
                                            0};
        run(&view, &one);
    } else {
        for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
            run(&view, &sizes[i]);
    }
    free(pdi);
    return 0;
}
