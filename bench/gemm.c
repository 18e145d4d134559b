/*
 * Modelled cycles of matrix products on the overlay, what part of the 16 cores' peak that is, and what bounds them.
 *
 *     gemm [ROWS DEPTH COLUMNS TYPE [ORDER [ADDEND [CHAIN]]]]
 *
 * TYPE is that of the result, f32 or bf16; ORDER that of B: packed, rows or columns; ADDEND 1: a matrix is added;
 * CHAIN: so many products in a second launch. Beside that, seconds of the host for control code and for the choice of
 * blocks. Nothing is compared here: tests do that.
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

static const struct {
    struct tw_overlay_size size;
    unsigned chain; /* products of a second launch */
} runs[] = {
    {{4224, 4032, 4224, 0, TW_OVERLAY_PACKED, 0}, 1},   {{1536, 1280, 1280, 0, TW_OVERLAY_PACKED, 0}, 1},
    {{1536, 1280, 5120, 0, TW_OVERLAY_PACKED, 0}, 1},   {{1536, 5120, 1280, 0, TW_OVERLAY_PACKED, 0}, 1},
    {{1536, 64, 1536, 1, TW_OVERLAY_BY_COLUMNS, 0}, 8}, {{1536, 1536, 64, 0, TW_OVERLAY_BY_ROWS, 0}, 8},
    {{1536, 64, 1536, 1, TW_OVERLAY_PACKED, 0}, 8},     {{1536, 1536, 64, 0, TW_OVERLAY_PACKED, 0}, 8},
    {{1500, 512, 2048, 0, TW_OVERLAY_PACKED, 0}, 2},    {{1500, 2048, 512, 0, TW_OVERLAY_PACKED, 1}, 2},
    {{1500, 512, 512, 0, TW_OVERLAY_PACKED, 1}, 2},     {{1536, 1280, 1280, 0, TW_OVERLAY_PACKED, 1}, 1},
    {{512, 512, 512, 0, TW_OVERLAY_PACKED, 0}, 2},
};

enum { BUFFERS = 5 };

struct bench {
    struct tw_buffers *buffers;
    struct tw_firmware *firmware;
    uint64_t addresses[BUFFERS];
    unsigned char *bytes[BUFFERS];
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

/* Seconds of one call, the best of several. */
static double time_choice(const struct tw_overlay_size *size)
{
    struct tw_overlay_shape shape;
    double best = 1;
    for (unsigned i = 0; i < 20; i++) {
        const double before = tw_seconds();
        if (tw_overlay_choose(size, &shape, NULL) != 0)
            exit(1);
        const double seconds = tw_seconds() - before;
        best = seconds < best ? seconds : best;
    }
    return best;
}

static uint64_t bytes_of_c(const struct tw_overlay_product *p)
{
    return (uint64_t)tw_overlay_height(&p->shape) * p->ldc * (p->shape.size.bf16_out ? 2 : 4);
}

/* Control code of n products, all the same but for C, which each has for itself. */
static void make_code(const struct tw_overlay_product *p, unsigned n, unsigned char **code, size_t *size)
{
    struct tw_overlay_launch *launch = NULL;
    struct tw_error err = {0};

    if (tw_overlay_launch_begin(&launch, &err) != 0)
        die(&err);
    for (unsigned i = 0; i < n; i++) {
        struct tw_overlay_product one = *p;
        one.c.offset = i * bytes_of_c(p);
        if (tw_overlay_product(launch, &one, &err) != 0)
            die(&err);
    }
    if (tw_overlay_launch_end(launch, code, size, &err) != 0)
        die(&err);
}

static double time_code(const struct tw_overlay_product *p)
{
    double best = 1;
    for (unsigned i = 0; i < 20; i++) {
        unsigned char *code = NULL;
        size_t size;
        const double before = tw_seconds();
        make_code(p, 1, &code, &size);
        const double seconds = tw_seconds() - before;
        best = seconds < best ? seconds : best;
        free(code);
    }
    return best;
}

static void run_code(struct bench *b, const struct tw_overlay_product *p, unsigned n, struct tw_command_report *report)
{
    struct tw_error err = {0};
    unsigned char *code = NULL;
    size_t size;

    make_code(p, n, &code, &size);
    const struct tw_command command = {.opcode = TW_KERNEL_TRANSACTION,
                                       .control_code = {.data = code, .size = size, .file = "launch"},
                                       .arguments = b->addresses,
                                       .n_arguments = BUFFERS};
    if (tw_firmware_run(b->firmware, &command, report, &err) != 0)
        die(&err);
    free(code);
}

static void open_bench(struct bench *b, const struct tw_view *pdi, struct tw_overlay_product *p, unsigned chain)
{
    const struct tw_overlay_shape *s = &p->shape;
    struct tw_error err = {0};

    if (tw_buffers_create(&b->buffers, &err) != 0)
        die(&err);
    p->lda = tw_overlay_depth(s);
    p->ldb = s->size.order == TW_OVERLAY_BY_ROWS ? tw_overlay_width(s) : tw_overlay_depth(s);
    p->ldc = p->ldd = tw_overlay_width(s);
    add(b, 0, (uint64_t)tw_overlay_height(s) * p->lda * 2);
    add(b, 1, tw_overlay_packed_bytes(s));
    add(b, 2, chain * bytes_of_c(p));
    add(b, 3, tw_overlay_header_bytes(s));
    add(b, 4, s->size.addend ? (uint64_t)tw_overlay_height(s) * p->ldd * 4 : 4);
    tw_overlay_write_headers(s, 0, NULL, b->bytes[3]);
    const struct tw_firmware_options options = {.columns = 4, .host = tw_buffers_host(b->buffers)};
    if (tw_firmware_create(&options, &b->firmware, &err) != 0 || tw_firmware_add_program(b->firmware, pdi, &err) < 0)
        die(&err);
}

static void run(const struct tw_view *pdi, const struct tw_overlay_size *size, unsigned chain)
{
    struct bench b;
    struct tw_overlay_product p = {.a = {0, 0}, .b = {1, 0}, .c = {2, 0}, .headers = {3, 0}, .d = {4, 0}};
    struct tw_command_report report, chained;
    struct tw_error err = {0};

    if (tw_overlay_choose(size, &p.shape, &err) != 0)
        die(&err);
    open_bench(&b, pdi, &p, chain);
    run_code(&b, &p, 1, &report);
    const double macs = (double)size->rows * size->depth * size->columns;
    printf("%4u x %4u x %4u %s%s: %9llu cycles, %5.1f %% of peak, bound by %s; %u x %u, %u %% of B kept, expected "
           "%llu; %llu operations in %.0f us, shape in %.1f us",
           size->rows, size->depth, size->columns, size->bf16_out ? "bf16" : "f32 ", size->addend ? " + D" : "    ",
           (unsigned long long)report.cycles, 100 * macs / PEAK / (double)report.cycles, tw_bound_names[report.bound],
           p.shape.m, p.shape.n, 100 * p.shape.kept / p.shape.steps, (unsigned long long)p.shape.cycles,
           (unsigned long long)report.operations, 1e6 * time_code(&p), 1e6 * time_choice(size));
    if (chain > 1) {
        run_code(&b, &p, chain, &chained);
        const double more = (double)(chained.cycles - report.cycles) / (chain - 1);
        printf("; once more in a launch %.0f cycles, %.1f %%", more, 100 * macs / PEAK / more);
    }
    printf("\n");
    fflush(stdout);
    tw_firmware_free(b.firmware);
    tw_buffers_free(b.buffers);
}

static enum tw_overlay_order order_of(const char *word)
{
    return strcmp(word, "rows") == 0      ? TW_OVERLAY_BY_ROWS
           : strcmp(word, "columns") == 0 ? TW_OVERLAY_BY_COLUMNS
                                          : TW_OVERLAY_PACKED;
}

int main(int argc, char **argv)
{
    unsigned char *pdi = NULL;
    size_t size = 0;
    const double before = tw_seconds();
    make_pdi(&pdi, &size);
    printf("image of %zu bytes in %.1f ms\n", size, 1e3 * (tw_seconds() - before));
    const struct tw_view view = {.data = pdi, .size = size, .file = "overlay"};
    if (argc >= 5) {
        const struct tw_overlay_size one = {.rows = (uint32_t)strtoul(argv[1], NULL, 10),
                                            .depth = (uint32_t)strtoul(argv[2], NULL, 10),
                                            .columns = (uint32_t)strtoul(argv[3], NULL, 10),
                                            .bf16_out = strcmp(argv[4], "bf16") == 0,
                                            .order = order_of(argc > 5 ? argv[5] : "packed"),
                                            .addend = argc > 6 && atoi(argv[6])};
        run(&view, &one, argc > 7 ? (unsigned)strtoul(argv[7], NULL, 10) : 1);
    } else {
        for (size_t i = 0; i < sizeof runs / sizeof runs[0]; i++)
            run(&view, &runs[i].size, runs[i].chain);
    }
    free(pdi);
    return 0;
}
