/*
 * How fast the emulated array runs with its cycle model: one core on a loop of scalar operations and in the bf16
 * product kernel, in strict mode and without; then, in strict mode, that kernel on blocks that DMA brings, guarded by
 * locks, in one core and in 16 on one thread and on two.
 *
 *     emu [SOURCE_FOLDER_OF_KERNELS]
 */
#define _POSIX_C_SOURCE 200809L

#include "base/random.h"
#include "emu/array.h"
#include "emu/core.h"
#include "isa/assembler.h"
#include "npu1/buffer_descriptor.h"
#include "npu1/dma.h"
#include "npu1/lock.h"
#include "npu1/stream_switch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

enum {
    SOURCE_MAX = 1 << 17,
    PASSES = 3,
    COLUMNS = 4,
    CORES_IN_COLUMN = 4,
    FIRST_CORE = 2,
    LOCK_BLOCKS = 62,
    BLOCKS = 240
};
enum { KERNEL_PRODUCTS = 2048, A_WORDS = 2048, B_HALF_WORDS = 1024 };
/* Offsets in a core's memory: two buffers of A, of both halves of B, and C; each in a bank of its own. */
enum { A_AT = 0, B_LOW_AT = 0x4000, B_HIGH_AT = 0x8000, C_AT = 0xc000, BUFFERS = 2 };
enum { LOCK_A_FREE, LOCK_A_FULL, LOCK_B_FREE, LOCK_B_FULL };
enum { MEMORY_TILE_OWN = 0x80000 }; /* of a memory tile's DMA addresses */

#define PORT(kind, number) ((struct tw_port){TW_PORT_##kind, number})

static const char scalar_loop[] = ".text\n"
                                  "    movxm r0, #2999999\n"
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

/* The kernel on block after block, its buffers in turn; it leaves r16 and up alone. */
static const char product_loop[] = ".text\n"
                                   ".macro product a, bl, bh\n"
                                   "    acq #49, r25\n"
                                   "    nop\n"
                                   "    nop\n"
                                   "    nop\n"
                                   "    nop\n"
                                   "    nop\n"
                                   "    nop\n"
                                   "    acq #51, r25\n"
                                   "    movxm p0, #\\a\n"
                                   "    movxm p1, #\\bl\n"
                                   "    movxm p2, #\\bh\n"
                                   "    movxm p3, #0x7c000\n"
                                   "    nop\n"
                                   "    nop\n"
                                   "    nop\n"
                                   "    nop\n"
                                   "    nop\n"
                                   "    .align 16\n"
                                   "    jl #product_bf16\n"
                                   "    nop\n"
                                   "    nop\n"
                                   "    nop\n"
                                   "    nop\n"
                                   "    nop\n"
                                   "    nop\n"
                                   "    rel #48, r26\n"
                                   "    nop\n"
                                   "    nop\n"
                                   "    nop\n"
                                   "    nop\n"
                                   "    nop\n"
                                   "    nop\n"
                                   "    rel #50, r26\n"
                                   "    nop\n"
                                   "    nop\n"
                                   "    nop\n"
                                   "    nop\n"
                                   "    nop\n"
                                   "    nop\n"
                                   ".endm\n"
                                   "    movxm r24, #%d\n"
                                   "    movxm r25, #-1\n"
                                   "    movxm r26, #1\n"
                                   "    nop\n"
                                   "    .align 16\n"
                                   "again:\n"
                                   "    product 0x70000, 0x74000, 0x78000\n"
                                   "    product 0x72000, 0x75000, 0x79000\n"
                                   "    movxm p7, #again\n"
                                   "    nop\n"
                                   "    nop\n"
                                   "    jnzd r24, r24, p7\n"
                                   "    nop\n"
                                   "    nop\n"
                                   "    nop\n"
                                   "    nop\n"
                                   "    nop\n"
                                   "    done\n"
                                   "    nop\n"
                                   "    nop\n"
                                   "    .align 16\n";

struct bench {
    struct tw_array *array;
    struct tw_error err;
};

static double seconds(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* ---- setting up; what goes wrong stays in err */

static void put(struct bench *b, unsigned column, unsigned row, uint32_t offset, uint32_t value)
{
    if (b->err.code == 0)
        tw_array_write(b->array, tw_tile_address(column, row, offset), &value, 1, &b->err);
}

static void circuit(struct bench *b, unsigned column, unsigned row, struct tw_port from, struct tw_port to)
{
    enum tw_tile_kind kind = tw_tile_kind(row);
    unsigned slave = (unsigned)tw_switch_index(kind, TW_SLAVE, from),
             master = (unsigned)tw_switch_index(kind, TW_MASTER, to);
    struct tw_switch_slave s = {.enable = 1};
    struct tw_switch_master m = {.enable = 1, .slave = (uint8_t)slave};
    put(b, column, row, tw_switch_offset(kind, TW_SLAVE, slave), tw_switch_slave_encode(&s));
    put(b, column, row, tw_switch_offset(kind, TW_MASTER, master), tw_switch_master_encode(&m));
}

static void put_bd(struct bench *b, unsigned column, unsigned row, unsigned number, struct tw_bd bd)
{
    enum tw_tile_kind kind = tw_tile_kind(row);
    uint32_t words[TW_BD_WORDS_MAX];
    bd.valid = 1;
    for (unsigned d = 0; d < tw_bd_dimensions(kind); d++)
        bd.dimensions[d].step = 1;
    bd.iteration.step = bd.iteration.count = 1;
    if (b->err.code == 0 && tw_bd_encode(kind, &bd, words, &b->err) == 0)
        tw_array_write(b->array, tw_tile_address(column, row, tw_bd_offset(kind, number)), words, tw_bd_words(kind),
                       &b->err);
}

static void start(struct bench *b, unsigned column, unsigned row, enum tw_dma_direction direction, unsigned channel,
                  unsigned bd, unsigned repeat)
{
    struct tw_dma_task task = {.bd = (uint8_t)bd, .repeat = (uint16_t)repeat};
    put(b, column, row, tw_dma_queue_offset(tw_tile_kind(row), (struct tw_dma_channel){direction, channel}),
        tw_dma_task_encode(&task));
}

static void put_program(struct bench *b, unsigned column, unsigned row, const struct tw_assembly *program)
{
    const struct tw_as_section *s = &program->sections[0];
    for (uint32_t at = 0; at < s->size; at += 4) {
        uint32_t word = 0;
        memcpy(&word, s->bytes + at, s->size - at < 4 ? s->size - at : 4);
        put(b, column, row, TW_CORE_PROGRAM + at, word);
    }
    struct tw_core *core = tw_array_core(b->array, column, row);
    for (size_t i = 0; i < program->n_old; i++)
        tw_core_expect_old(core, program->old[i].address, program->old[i].leaves, program->old[i].n);
    put(b, column, row, TW_CORE_CONTROL, 0);
    put(b, column, row, TW_CORE_CONTROL, 1);
}

/* Two buffers in turn, for as long as tasks come: A by channel 0, B by channel 1. */
static void feed_core(struct bench *b, unsigned column, unsigned row)
{
    for (unsigned i = 0; i < BUFFERS; i++) {
        struct tw_bd a = {.length = A_WORDS,
                          .address = A_AT + 4 * A_WORDS * i,
                          .acquire_enable = 1,
                          .acquire_id = LOCK_A_FREE,
                          .acquire_value = -1,
                          .release_id = LOCK_A_FULL,
                          .release_value = 1,
                          .use_next = 1,
                          .next = (uint8_t)(1 - i)};
        struct tw_bd low = {.length = B_HALF_WORDS,
                            .address = B_LOW_AT + 4 * B_HALF_WORDS * i,
                            .acquire_enable = 1,
                            .acquire_id = LOCK_B_FREE,
                            .acquire_value = -1,
                            .use_next = 1,
                            .next = (uint8_t)(3 + 2 * i)};
        struct tw_bd high = {.length = B_HALF_WORDS,
                             .address = B_HIGH_AT + 4 * B_HALF_WORDS * i,
                             .release_id = LOCK_B_FULL,
                             .release_value = 1,
                             .use_next = 1,
                             .next = (uint8_t)(i == 0 ? 4 : 2)};
        put_bd(b, column, row, i, a);
        put_bd(b, column, row, 2 + 2 * i, low);
        put_bd(b, column, row, 3 + 2 * i, high);
    }
    put(b, column, row, tw_lock_offset(TW_TILE_CORE, LOCK_A_FREE), BUFFERS);
    put(b, column, row, tw_lock_offset(TW_TILE_CORE, LOCK_B_FREE), BUFFERS);
    start(b, column, row, TW_S2MM, 0, 0, 1);
    start(b, column, row, TW_S2MM, 1, 2, 1);
}

/* The memory tile sends each core its A, and one B to all of the column. */
static void feed_column(struct bench *b, unsigned column, unsigned cores, unsigned blocks)
{
    struct tw_random random = {column + 1};
    for (uint32_t i = 0; i < 8 * A_WORDS; i++) {
        uint32_t bits = (uint32_t)tw_random_u64(&random);
        put(b, column, 1, 4 * i, (bits & 0x807f807fu) | 0x3f003f00u); /* bf16 of about 1 */
    }
    for (unsigned k = 0; k <= CORES_IN_COLUMN; k++) {
        if (k >= cores && k < CORES_IN_COLUMN)
            continue;
        struct tw_bd bd = {.length = A_WORDS, .address = MEMORY_TILE_OWN + 4 * A_WORDS * k};
        unsigned number = k % 2 == 0 ? k : 24 + k; /* odd channels have the upper descriptors */
        put_bd(b, column, 1, number, bd);
        circuit(b, column, 1, PORT(DMA, k), PORT(NORTH, k));
        start(b, column, 1, TW_MM2S, k, number, blocks);
    }
    for (unsigned i = 0; i < cores; i++) {
        unsigned row = FIRST_CORE + i;
        circuit(b, column, row, PORT(SOUTH, i), PORT(DMA, 0));
        circuit(b, column, row, PORT(SOUTH, CORES_IN_COLUMN), PORT(DMA, 1));
        for (unsigned k = i + 1; k <= CORES_IN_COLUMN && i + 1 < cores; k++)
            circuit(b, column, row, PORT(SOUTH, k), PORT(NORTH, k));
        feed_core(b, column, row);
    }
}

/* ---- measuring */

/* What one measurement does. */
struct work {
    const char *name;
    const struct tw_assembly *program;
    unsigned columns, cores, threads, blocks; /* blocks 0: the program needs none */
    int in_place;                             /* no DMA: the blocks are there already, and the program has run before */
    int plain;                                /* not in strict mode */
};
struct result {
    double wall, cpu; /* the least of all passes, seconds */
    uint64_t bundles, cycles;
};

static int make_array(struct bench *b, const struct work *w)
{
    struct tw_array_options options = {.columns = w->columns, .strict = !w->plain, .threads = w->threads};
    b->err = (struct tw_error){0};
    return tw_array_create(&options, &b->array, &b->err);
}

/* Lets the array run until all cores of so many columns are done. */
static void run(struct bench *b, unsigned columns, unsigned cores)
{
    enum { CORE_STATUS = 0x32004, DONE = 1 << 20 };
    for (unsigned i = 0; i < columns * cores && b->err.code == 0; i++) {
        uint32_t status = tw_tile_address(i / cores, FIRST_CORE + i % cores, CORE_STATUS);
        tw_array_wait_register(b->array, status, DONE, DONE, UINT64_MAX, &b->err);
    }
}

static uint64_t bundles_of(const struct bench *b, unsigned columns, unsigned cores)
{
    uint64_t n = 0;
    for (unsigned i = 0; i < columns * cores; i++)
        n += tw_core_counts(tw_array_core(b->array, i / cores, FIRST_CORE + i % cores)).bundles;
    return n;
}

/* As many blocks as locks can count. */
static void give_blocks(struct bench *b)
{
    put(b, 0, FIRST_CORE, tw_lock_offset(TW_TILE_CORE, LOCK_A_FULL), LOCK_BLOCKS);
    put(b, 0, FIRST_CORE, tw_lock_offset(TW_TILE_CORE, LOCK_B_FULL), LOCK_BLOCKS);
    put(b, 0, FIRST_CORE, tw_lock_offset(TW_TILE_CORE, LOCK_A_FREE), 0);
    put(b, 0, FIRST_CORE, tw_lock_offset(TW_TILE_CORE, LOCK_B_FREE), 0);
}

static void run_again(struct bench *b, const struct work *w)
{
    give_blocks(b);
    run(b, w->columns, w->cores);
    put(b, 0, FIRST_CORE, TW_CORE_CONTROL, 2);
    give_blocks(b);
    put(b, 0, FIRST_CORE, TW_CORE_CONTROL, 1);
}

static void pass(struct bench *b, const struct work *w, struct result *r)
{
    for (unsigned i = 0; i < w->columns * w->cores; i++)
        put_program(b, i / w->cores, FIRST_CORE + i % w->cores, w->program);
    for (unsigned c = 0; c < w->columns && w->blocks > 0 && !w->in_place; c++)
        feed_column(b, c, w->cores, w->blocks);
    if (w->in_place)
        run_again(b, w);
    uint64_t before = bundles_of(b, w->columns, w->cores);
    double wall = seconds(CLOCK_MONOTONIC), cpu = seconds(CLOCK_PROCESS_CPUTIME_ID);
    run(b, w->columns, w->cores);
    wall = seconds(CLOCK_MONOTONIC) - wall;
    cpu = seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu;
    r->wall = wall < r->wall ? wall : r->wall;
    r->cpu = cpu < r->cpu ? cpu : r->cpu;
    r->bundles = bundles_of(b, w->columns, w->cores) - before;
    r->cycles = tw_array_clock(b->array);
}

static int measure(const struct work *w, struct result *r)
{
    *r = (struct result){.wall = 1e30, .cpu = 1e30};
    for (int i = 0; i < PASSES; i++) {
        struct bench b;
        if (make_array(&b, w) == 0)
            pass(&b, w, r);
        tw_array_free(b.array);
        if (b.err.code != 0) {
            fprintf(stderr, "%s: %s\n", w->name, b.err.text);
            return -1;
        }
    }
    double best = w->threads == 1 ? r->cpu : r->wall; /* others on the machine do not count, where that can be told */
    printf("%-36s %7.1f million bundles/s", w->name, (double)r->bundles / best / 1e6);
    if (w->blocks > 0)
        printf(" %6.1f million vmac.f/s", (double)w->blocks * KERNEL_PRODUCTS * w->columns * w->cores / best / 1e6);
    printf("  (%.3f s, processor %.3f s, %llu cycles)\n", r->wall, r->cpu, (unsigned long long)r->cycles);
    return 0;
}

/* ---- programs */

static struct tw_assembly *assemble(const char *name, const char *text)
{
    struct tw_assembly *assembly = NULL;
    struct tw_error err;
    if (tw_assemble(name, text, strlen(text), NULL, &assembly, &err) == 0)
        return assembly;
    fprintf(stderr, "%s: %s\n", name, err.text);
    tw_assembly_free(assembly);
    return NULL;
}

/* The loop over blocks, and behind it the kernel. */
static struct tw_assembly *assemble_product(const char *folder, int blocks)
{
    static char text[SOURCE_MAX];
    char path[1024];
    int size = snprintf(text, sizeof text, product_loop, blocks / BUFFERS - 1);
    snprintf(path, sizeof path, "%s/product_bf16.s", folder);
    FILE *f = fopen(path, "rb");
    if (f == NULL) {
        fprintf(stderr, "%s cannot be read\n", path);
        return NULL;
    }
    size += (int)fread(text + size, 1, sizeof text - (size_t)size - 1, f);
    text[size] = '\0';
    fclose(f);
    return assemble(path, text);
}

static int bench_cores(const struct tw_assembly *loop, const struct tw_assembly *product_in_place,
                       const struct tw_assembly *product)
{
    const struct work one_core[] = {
        {"scalar loop", loop, 1, 1, 1, 0, 0, 0},
        {"scalar loop, not strict", loop, 1, 1, 1, 0, 0, 1},
        {"bf16 product, one core, no DMA", product_in_place, 1, 1, 1, LOCK_BLOCKS, 1, 0},
        {"bf16 product, no DMA, not strict", product_in_place, 1, 1, 1, LOCK_BLOCKS, 1, 1},
        {"bf16 product, one core", product, 1, 1, 1, BLOCKS, 0, 0},
    };
    const struct work all_by_one = {
        "bf16 product, 16 cores, 1 thread", product, COLUMNS, CORES_IN_COLUMN, 1, BLOCKS, 0, 0};
    const struct work all_by_two = {
        "bf16 product, 16 cores, 2 threads", product, COLUMNS, CORES_IN_COLUMN, 2, BLOCKS, 0, 0};
    struct result r, by_one, by_two;
    for (size_t i = 0; i < sizeof one_core / sizeof one_core[0]; i++)
        if (measure(&one_core[i], &r) != 0)
            return -1;
    if (measure(&all_by_one, &by_one) != 0 || measure(&all_by_two, &by_two) != 0)
        return -1;
    printf("two threads are %.2f times as fast as one; %s\n", by_one.wall / by_two.wall,
           by_one.cycles == by_two.cycles ? "cycles are the same" : "CYCLES DIFFER");
    return 0;
}

int main(int argc, char **argv)
{
    struct tw_assembly *loop = assemble("loop", scalar_loop);
    const char *folder = argc > 1 ? argv[1] : TW_KERNELS;
    struct tw_assembly *in_place = assemble_product(folder, LOCK_BLOCKS), *product = assemble_product(folder, BLOCKS);
    int code = loop != NULL && in_place != NULL && product != NULL ? bench_cores(loop, in_place, product) : -1;
    struct rusage usage;
    if (code == 0 && getrusage(RUSAGE_SELF, &usage) == 0)
        printf("memory of the process at most: %ld MB\n", usage.ru_maxrss / 1024);
    tw_assembly_free(loop);
    tw_assembly_free(in_place);
    tw_assembly_free(product);
    return code == 0 ? 0 : 1;
}
