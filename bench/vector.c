/* How fast the functions of the vector unit are, for each instruction set that this processor runs. */
#include "base/random.h"
#include "emu/semantics.h"
#include "emu/vector/mac.h"
#include "emu/vector/plain.h"
#include "emu/vector_kernels.h"

#include <stdalign.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define SECONDS 0.02 /* of processor time for each measurement, of which the best counts */
#define MEASUREMENTS 5
#define BATCH 1000

/* Operands as programs have them: bf16 and fp32 numbers of moderate size. */
static struct operands {
    alignas(64) unsigned char a[128], b[128], acc1[128], acc2[128], out[128], flags[64];
} o;

static void bf16_matrix(const struct tw_vector_kernels *k)
{
    k->bf16_matrix(o.acc1, NULL, o.a, o.b, o.out);
}

static void bf16_elements(const struct tw_vector_kernels *k)
{
    k->bf16_elements(o.acc1, NULL, o.a, o.b, o.out);
}

static void fp32_add(const struct tw_vector_kernels *k)
{
    k->fp32_add(o.acc1, o.acc2, o.out);
}

static void products(const struct tw_vector_kernels *k, uint32_t word)
{
    const struct tw_mac_word decoded = tw_mac_word(word);
    k->products(tw_mac_dense_mode(&decoded), 1, 1, o.a, o.b, o.out);
}

static void int8_4x8x8(const struct tw_vector_kernels *k)
{
    products(k, 8);
}

static void int16_4x2x8(const struct tw_vector_kernels *k)
{
    products(k, 24);
}

static void int16_int8_4x4x8(const struct tw_vector_kernels *k)
{
    products(k, 16);
}

static void int16_2x4x8(const struct tw_vector_kernels *k)
{
    products(k, 26);
}

static void srs_32_16(const struct tw_vector_kernels *k)
{
    const struct tw_resize how = {32, 16, 32, 7, TW_ROUND_HALF_EVEN, 1, 1};
    k->srs(&how, o.acc1, o.out);
}

static void srs_32_8(const struct tw_vector_kernels *k)
{
    const struct tw_resize how = {32, 8, 32, 7, TW_ROUND_HALF_EVEN, 1, 1};
    k->srs(&how, o.acc1, o.out);
}

static void ups_16_32(const struct tw_vector_kernels *k)
{
    const struct tw_resize how = {16, 32, 32, 7, 0, 1, 1};
    k->ups(&how, o.a, o.out);
}

static void pack_16_8(const struct tw_vector_kernels *k)
{
    const struct tw_resize how = {16, 8, 32, 0, 0, 1, 1};
    k->pack(&how, o.a, o.out);
}

static void unpack_8_16(const struct tw_vector_kernels *k)
{
    const struct tw_resize how = {8, 16, 32, 0, 0, 0, 1};
    k->unpack(&how, o.a, o.out);
}

static void shuffle_16_bits(const struct tw_vector_kernels *k)
{
    k->shuffle(28, o.a, o.b, o.out);
}

static void shuffle_bytes(const struct tw_vector_kernels *k)
{
    k->shuffle(35, o.a, o.b, o.out);
}

static void bf16_to_fp32(const struct tw_vector_kernels *k)
{
    k->bf16_to_fp32(o.a, o.out);
}

static void fp32_to_bf16(const struct tw_vector_kernels *k)
{
    k->fp32_to_bf16(TW_ROUND_HALF_EVEN, o.acc1, o.out);
}

static void max_16(const struct tw_vector_kernels *k)
{
    k->lanes(TW_LANES_MAX, 16, 1, o.a, o.b, o.out);
}

static void less_16(const struct tw_vector_kernels *k)
{
    uint64_t mask = k->less(16, 1, o.a, o.b);
    memcpy(o.out, &mask, sizeof mask);
}

static void select_16(const struct tw_vector_kernels *k)
{
    k->select(16, 0x5a5a5a5a, o.a, o.b, o.out);
}

/* Whole instructions: their values lie as a core lays them out. */
struct instruction {
    const struct tw_semantics *row;
    uint32_t word;
    const void *in[TW_VALUES_MAX];
    void *out[TW_VALUES_MAX];
};
static struct instruction float_mac, integer_mac;

static void make_instruction(struct instruction *i, uint16_t number, uint32_t word)
{
    unsigned count;
    i->row = tw_vector_semantics(&count);
    while (i->row->instruction != number)
        i->row++;
    i->word = word;
    i->in[1] = o.acc1;
    i->in[2] = o.a;
    i->in[3] = o.b;
    i->in[4] = &i->word;
    i->out[0] = o.out;
    i->out[5] = o.flags;
}

static void vmac_f(const struct tw_vector_kernels *k)
{
    float_mac.row->function(float_mac.row, k, float_mac.in, float_mac.out);
}

static void vmac_int8(const struct tw_vector_kernels *k)
{
    integer_mac.row->function(integer_mac.row, k, integer_mac.in, integer_mac.out);
}

static const struct row {
    const char *name;
    void (*run)(const struct tw_vector_kernels *k);
} rows[] = {
    {"bf16 4x8x4", bf16_matrix},
    {"vmac.f, bf16 4x8x4", vmac_f},
    {"bf16 elementwise", bf16_elements},
    {"fp32 add", fp32_add},
    {"int8 4x8x8", int8_4x8x8},
    {"vmac, int8 4x8x8", vmac_int8},
    {"int16 x int8 4x4x8", int16_int8_4x4x8},
    {"int16 4x2x8", int16_4x2x8},
    {"int16 2x4x8, 64 bit", int16_2x4x8},
    {"srs 32 to 16, 32 lanes", srs_32_16},
    {"srs 32 to 8, 32 lanes", srs_32_8},
    {"ups 16 to 32, 32 lanes", ups_16_32},
    {"pack 16 to 8", pack_16_8},
    {"unpack 8 to 16", unpack_8_16},
    {"shuffle 16_8x4", shuffle_16_bits},
    {"shuffle 8_8x8", shuffle_bytes},
    {"conv fp32 <- bf16", bf16_to_fp32},
    {"conv bf16 <- fp32", fp32_to_bf16},
    {"max 16", max_16},
    {"less 16", less_16},
    {"select 16", select_16},
};

static double processor_seconds(void)
{
    return (double)clock() / CLOCKS_PER_SEC;
}

static double measure(const struct row *row, const struct tw_vector_kernels *k)
{
    double begin = processor_seconds(), now = begin;
    double calls = 0;
    while (now - begin < SECONDS) {
        for (int i = 0; i < BATCH; i++)
            row->run(k);
        calls += BATCH;
        now = processor_seconds();
    }
    return calls / (now - begin);
}

/* Millions of calls a second. */
static double rate(const struct row *row, const struct tw_vector_kernels *k)
{
    double best = 0;
    for (int i = 0; i < MEASUREMENTS; i++) {
        double one = measure(row, k);
        best = one > best ? one : best;
    }
    return best / 1e6;
}

static void make_operands(void)
{
    struct tw_random random = {1};
    for (int i = 0; i < 64; i++) {
        uint16_t x = (uint16_t)(0x3f00 + tw_random_range(&random, 0, 0x100));
        memcpy(o.a + 2 * i, &x, sizeof x);
        x = (uint16_t)(0xbf00 + tw_random_range(&random, 0, 0x100));
        memcpy(o.b + 2 * i, &x, sizeof x);
    }
    for (int i = 0; i < 32; i++) {
        float f = (float)tw_random_unit(&random);
        memcpy(o.acc1 + 4 * i, &f, sizeof f);
        memcpy(o.acc2 + 4 * i, &f, sizeof f);
    }
}

int main(void)
{
    const struct tw_vector_kernels *sets[TW_KERNEL_SETS];
    int n = 0;
    for (int set = 0; set < TW_KERNEL_SETS; set++) {
        sets[n] = tw_vector_kernels_of((enum tw_kernel_set)set, 0);
        n += sets[n] != NULL;
    }
    make_operands();
    make_instruction(&float_mac, TW_I_VMAC_F_vmac_bm_core_dense, 28);
    make_instruction(&integer_mac, TW_I_VMAC_vmac_cm_core_dense, 0x308);
    printf("million calls a second   ");
    for (int set = 0; set < n; set++)
        printf("%10s", sets[set]->name);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        printf("\n%-25s", rows[i].name);
        for (int set = 0; set < n; set++)
            printf("%10.2f", rate(&rows[i], sets[set]));
    }
    putchar('\n');
    return 0;
}
