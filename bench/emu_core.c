/*
 * How fast one core runs, in processor time: a loop of scalar operations, and the product kernel in bf16, in strict
 * mode and without.
 *
 *     emu_core [SOURCE_FOLDER_OF_KERNELS]
 */

#include "base/random.h"
#include "emu/core.h"
#include "isa/assembler.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { TIMES = 5, SOURCE_MAX = 1 << 17, KERNEL_MACS = 2048, KERNEL_RUNS = 400 };

static const char scalar_loop[] = ".text\n"
                                  "    movxm r0, #999999\n"
                                  "    movxm p1, #loop\n"
                                  "    mova r1, #0\n"
                                  "    movx r2, #3\n"
                                  "    nop\n"
                                  "    .align 16\n"
                                  "loop:\n"
                                  "    jnzd r0, r0, p1\n"
                                  "    add r1, r1, r2\n"
                                  "    xor r3, r1, r2; mov r4, r1\n"
                                  "    add r5, r3, r4\n"
                                  "    lshl r6, r5, r2\n"
                                  "    mul r7, r6, r5\n"
                                  "    done\n";

struct bench {
    struct tw_assembly *assembly;
    uint8_t *memory;
};

static struct tw_core *make_core(const struct bench *b, int strict)
{
    struct tw_core_options options = {.strict = strict, .windows = {NULL, NULL, NULL, b->memory}};
    struct tw_core *core = NULL;

    if (tw_core_create(&options, &core, NULL) != 0)
        return NULL;
    const struct tw_as_section *s = &b->assembly->sections[0];
    uint8_t program[TW_PROGRAM_BYTES] = {0};
    memcpy(program, s->bytes, s->size);
    tw_core_write_program(core, 0, program, sizeof program);
    for (size_t i = 0; i < b->assembly->n_old; i++)
        tw_core_expect_old(core, b->assembly->old[i].address, b->assembly->old[i].leaves, b->assembly->old[i].n);
    return core;
}

static void set(struct tw_core *core, unsigned reg, uint32_t value)
{
    tw_core_register_write(core, (uint16_t)reg, &value, sizeof value);
}

/* Runs until the program is done, or jumps to an address that it was given to return to. */
static int run(struct tw_core *core, int runs)
{
    struct tw_error err;

    for (int i = 0; i < runs; i++) {
        enum tw_core_state state;
        tw_core_reset(core);
        set(core, TW_R_p0, TW_DATA_OWN);
        set(core, TW_R_p1, TW_DATA_OWN + 0x4000);
        set(core, TW_R_p2, TW_DATA_OWN + 0x8000);
        set(core, TW_R_p3, TW_DATA_OWN + 0xc000);
        set(core, TW_R_lr, TW_PROGRAM_BYTES - 16);
        do
            state = tw_core_run(core, tw_core_clock(core) + 100000, &err);
        while (state == TW_CORE_RUNNING);
        if (state != TW_CORE_DONE) {
            fprintf(stderr, "%s\n", err.text);
            return -1;
        }
    }
    return 0;
}

static int measure(const char *name, const struct bench *b, int strict, int runs, double macs)
{
    struct tw_core *core = make_core(b, strict);
    double best = 1e30;
    uint64_t bundles = 0;

    if (core == NULL)
        return -1;
    /* A return jumps to a done at the end of program memory. */
    struct tw_bundle end = {
        .slots = 1 << TW_SLOT_ALU, .format = -1, .op = {[TW_SLOT_ALU] = {.instruction = TW_I_DONE}}};
    uint8_t bytes[TW_BUNDLE_MAX] = {0};
    tw_bundle_encode(&end, bytes, NULL);
    tw_core_write_program(core, TW_PROGRAM_BYTES - 16, bytes, sizeof bytes);
    for (int i = 0; i < TIMES; i++) {
        uint64_t before = tw_core_counts(core).bundles;
        clock_t begin = clock();
        if (run(core, runs) != 0)
            return -1;
        double seconds = (double)(clock() - begin) / CLOCKS_PER_SEC;
        bundles = tw_core_counts(core).bundles - before;
        best = seconds < best ? seconds : best;
    }
    printf("%-12s %-7s %8.1f million bundles/s", name, strict ? "strict" : "plain", (double)bundles / best / 1e6);
    if (macs > 0)
        printf(", %6.1f million products/s", macs / best / 1e6);
    printf(" (%" PRIu64 " bundles)\n", bundles);
    tw_core_free(core);
    return 0;
}

static int assemble(const char *name, const char *text, size_t size, struct bench *b)
{
    struct tw_error err;

    if (tw_assemble(name, text, size, NULL, &b->assembly, &err) == 0)
        return 0;
    fprintf(stderr, "%s: %s\n", name, err.text);
    return -1;
}

static int bench_kernel(const char *folder, const char *name, struct bench *b)
{
    static char text[SOURCE_MAX];
    char path[1024];

    snprintf(path, sizeof path, "%s/%s.s", folder, name);
    FILE *f = fopen(path, "rb");
    if (f == NULL) {
        fprintf(stderr, "%s cannot be read\n", path);
        return -1;
    }
    size_t size = fread(text, 1, sizeof text, f);
    fclose(f);
    if (assemble(path, text, size, b) != 0)
        return -1;
    int code = measure(name, b, 1, KERNEL_RUNS, (double)KERNEL_MACS * KERNEL_RUNS);
    code |= measure(name, b, 0, KERNEL_RUNS, (double)KERNEL_MACS * KERNEL_RUNS);
    tw_assembly_free(b->assembly);
    return code;
}

int main(int argc, char **argv)
{
    struct bench b = {NULL, calloc(1, TW_DATA_BYTES)};
    struct tw_random random = {1};
    const char *folder = argc > 1 ? argv[1] : TW_KERNELS;
    int code = b.memory == NULL ? -1 : 0;

    for (size_t i = 0; i < TW_DATA_BYTES && code == 0; i++)
        b.memory[i] = (uint8_t)(i % 2 == 1 ? 0x3f : tw_random_u64(&random) & 0x7f); /* small bf16 numbers */
    if (code == 0)
        code = assemble("loop", scalar_loop, sizeof scalar_loop - 1, &b);
    if (code == 0) {
        code = measure("scalar", &b, 1, 1, 0) | measure("scalar", &b, 0, 1, 0);
        tw_assembly_free(b.assembly);
    }
    if (code == 0)
        code = bench_kernel(folder, "product_bf16", &b);
    free(b.memory);
    return code == 0 ? 0 : 1;
}
