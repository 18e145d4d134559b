#include "device/published.h"

#include "base/error.h"
#include "base/file_map.h"
#include "base/half.h"
#include "base/little_endian.h"
#include "base/random.h"
#include "image/control_elf.h"
#include "npu1/control_code.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define ADD_ONE "nod-ai+iree-amd-aie/7a351b8c/runtime/src/iree-amd-aie/aie_runtime/test/add_one_test/"
#define TOOLKIT "tibrezus+xdna-npu-toolkit/ef0ef97d/iron/builds/"
#define MATMUL_NAME "module_matmul_dispatch_0_amdaie_xclbin_fb"
#define MATMUL                                                                                                         \
    "nod-ai+iree-amd-aie/678942dd/build_tools/ci/print_ir_aie2xclbin/results_dir_tmp/" MATMUL_NAME "/" MATMUL_NAME
#define BANDWIDTH "amd+xdna-driver/ae9810e2/tools/bins/Runner/df_bandwidth/"

enum { PATH_BYTES = 4096 };

/* Number 1: 1024 words, each one more. */

enum { ADD_ONE_WORDS = 1024 };

static void fill_count(void *const data[PUBLISHED_BUFFERS], uint64_t seed)
{
    uint32_t *in = data[0];
    for (uint32_t i = 0; i < ADD_ONE_WORDS; i++)
        in[i] = seed % 2 == 0 ? i : i + 0xfeeded1eu;
}

static void expect_one_more(void *const data[PUBLISHED_BUFFERS], void *expected)
{
    const uint32_t *in = data[0];
    for (uint32_t i = 0; i < ADD_ONE_WORDS; i++)
        ((uint32_t *)expected)[i] = in[i] + 1;
}

/* Numbers 2, 4 and 5: products of row-major matrices of integers, exact modulo 2^32. */

static void fill_integers(void *to, size_t bytes, size_t size, int64_t low, int64_t high, struct tw_random *r)
{
    for (size_t at = 0; at < bytes; at += size) {
        uint64_t value = (uint64_t)tw_random_range(r, low, high);
        memcpy((char *)to + at, &value, size);
    }
}

static uint32_t load_integer(const void *from, size_t index, size_t size)
{
    const unsigned char *at = (const unsigned char *)from + index * size;
    return size == 2 ? (uint32_t)(int16_t)tw_load_u16(at) : tw_load_u32(at);
}

static void multiply(void *const data[PUBLISHED_BUFFERS], uint32_t *c, size_t n, size_t columns, size_t size)
{
    for (size_t row = 0; row < n; row++)
        for (size_t column = 0; column < columns; column++) {
            uint32_t sum = 0;
            for (size_t k = 0; k < n; k++)
                sum += load_integer(data[0], row * n + k, size) * load_integer(data[1], k * columns + column, size);
            c[row * columns + column] = sum;
        }
}

enum { GEMV = 288, GEMM = 256, MATMUL_N = 64 };

static void fill_gemv(void *const data[PUBLISHED_BUFFERS], uint64_t seed)
{
    struct tw_random r = {seed};
    fill_integers(data[0], (size_t)GEMV * GEMV * 2, 2, -100, 99, &r);
    fill_integers(data[1], (size_t)GEMV * 2, 2, -100, 99, &r);
}

static void expect_gemv(void *const data[PUBLISHED_BUFFERS], void *expected)
{
    multiply(data, expected, GEMV, 1, 2);
}

static void fill_gemm(void *const data[PUBLISHED_BUFFERS], uint64_t seed)
{
    struct tw_random r = {seed};
    fill_integers(data[0], (size_t)GEMM * GEMM * 2, 2, -100, 99, &r);
    fill_integers(data[1], (size_t)GEMM * GEMM * 2, 2, -100, 99, &r);
}

static void expect_gemm(void *const data[PUBLISHED_BUFFERS], void *expected)
{
    multiply(data, expected, GEMM, GEMM, 2);
}

static void fill_matmul(void *const data[PUBLISHED_BUFFERS], uint64_t seed)
{
    struct tw_random r = {seed};
    fill_integers(data[0], (size_t)MATMUL_N * MATMUL_N * 4, 4, -1000, 1000, &r);
    fill_integers(data[1], (size_t)MATMUL_N * MATMUL_N * 4, 4, -1000, 1000, &r);
}

static void expect_matmul(void *const data[PUBLISHED_BUFFERS], void *expected)
{
    multiply(data, expected, MATMUL_N, MATMUL_N, 4);
}

/* Number 3: sums in bf16 of numbers whose fp32 sums are exact; cores round down after reset, and these do not ask for
 * another mode. */

enum { SUMS = 4096 };

static void fill_sums(void *const data[PUBLISHED_BUFFERS], unsigned n, uint64_t seed)
{
    struct tw_random r = {seed};
    for (unsigned k = 0; k < n; k++)
        for (size_t i = 0; i < SUMS; i++)
            ((uint16_t *)data[k])[i] = tw_f32_to_bf16((float)tw_random_range(&r, -4096, 4096) / 1024);
}

static uint16_t sum_down(uint16_t a, uint16_t b)
{
    float sum = tw_bf16_to_f32(a) + tw_bf16_to_f32(b);
    uint16_t cut = (uint16_t)(tw_float_bits(sum) >> 16);
    return (uint16_t)(cut + (tw_bf16_to_f32(cut) > sum)); /* cutting a negative number rounds it up */
}

static void fill_two(void *const data[PUBLISHED_BUFFERS], uint64_t seed)
{
    fill_sums(data, 2, seed);
}

static void fill_three(void *const data[PUBLISHED_BUFFERS], uint64_t seed)
{
    fill_sums(data, 3, seed);
}

static void expect_sum(void *const data[PUBLISHED_BUFFERS], void *expected)
{
    const uint16_t *a = data[0], *b = data[1];
    for (size_t i = 0; i < SUMS; i++)
        ((uint16_t *)expected)[i] = sum_down(a[i], b[i]);
}

static void expect_two_sums(void *const data[PUBLISHED_BUFFERS], void *expected)
{
    const uint16_t *a = data[0], *b = data[1], *c = data[2];
    for (size_t i = 0; i < SUMS; i++)
        ((uint16_t *)expected)[i] = sum_down(sum_down(a[i], b[i]), c[i]);
}

/* Number 8: eight parts of 128 MiB go through the shims of four columns; here they are of 16 KiB. */

enum { PARTS = 8, PART_BYTES = 128 << 20, SHORT_BYTES = 16 << 10, PATCH_BYTES = 12, PATCH_ADDEND = 8, OP_ADDEND = 40 };

static void shorten_patches(unsigned char *file, const struct tw_control_elf *elf)
{
    for (uint32_t i = 0; i < elf->n_patches; i++) {
        unsigned char *addend = file + (elf->patches.data - elf->view.data) + (size_t)PATCH_BYTES * i + PATCH_ADDEND;
        tw_store_u32(addend, tw_load_u32(addend) / PART_BYTES * SHORT_BYTES);
    }
}

static void shorten(unsigned char *file, size_t size)
{
    const struct tw_view view = {.data = file, .size = size, .file = "df_bw_phx.elf"};
    struct tw_control_elf elf;
    struct tw_control_code code;
    struct tw_control_op op;
    size_t at = 0;
    if (tw_control_elf_open(&view, &elf, NULL) < 0 || tw_control_code_open(&elf.code, &code, NULL) < 0)
        return; /* the job will say so */
    shorten_patches(file, &elf);
    while (tw_control_code_next(&code, &at, &op, NULL) == 1) {
        unsigned char *words = file + (op.words.data - file);
        if (op.kind == TW_CONTROL_OP_BLOCK_WRITE && tw_load_u32(words) == PART_BYTES / 4)
            tw_store_u32(words, SHORT_BYTES / 4);
        unsigned char *addend = file + (code.ops.data - file) + op.offset + OP_ADDEND;
        if (op.kind == TW_CONTROL_OP_PATCH)
            tw_store_u32(addend, (uint32_t)(op.patch.addend / PART_BYTES * SHORT_BYTES));
    }
}

static void fill_parts(void *const data[PUBLISHED_BUFFERS], uint64_t seed)
{
    struct tw_random r = {seed};
    fill_integers(data[0], (size_t)PARTS * SHORT_BYTES, 4, INT32_MIN, INT32_MAX, &r);
}

static void expect_same(void *const data[PUBLISHED_BUFFERS], void *expected)
{
    memcpy(expected, data[0], (size_t)PARTS * SHORT_BYTES);
}

const struct published published[] = {
    {"add_one",
     ADD_ONE "add_one.pdi",
     ADD_ONE "add_one_insts.txt",
     NULL,
     4,
     {4096, 4096},
     1,
     fill_count,
     expect_one_more,
     NULL},
    {"gemv",
     TOOLKIT "gemv-288.xclbin",
     TOOLKIT "gemv-288.insts.txt",
     NULL,
     0,
     {GEMV * GEMV * 2, GEMV * 2, GEMV * 4},
     2,
     fill_gemv,
     expect_gemv,
     NULL},
    {"add",
     TOOLKIT "fusion/single-add.xclbin",
     TOOLKIT "fusion/single-add.insts.bin",
     NULL,
     0,
     {2 * SUMS, 2 * SUMS, 2 * SUMS},
     2,
     fill_two,
     expect_sum,
     NULL},
    {"add_add",
     TOOLKIT "fusion/fused-add-add.xclbin",
     TOOLKIT "fusion/fused-add-add.insts.bin",
     NULL,
     0,
     {2 * SUMS, 2 * SUMS, 2 * SUMS, 2 * SUMS},
     3,
     fill_three,
     expect_two_sums,
     NULL},
    {"gemm",
     TOOLKIT "gemm-256-1col.xclbin",
     TOOLKIT "gemm-256-1col.insts.txt",
     NULL,
     0,
     {GEMM * GEMM * 2, GEMM *GEMM * 2, GEMM *GEMM * 4},
     2,
     fill_gemm,
     expect_gemm,
     NULL},
    {"matmul",
     MATMUL ".xclbin",
     MATMUL ".ipu.txt",
     NULL,
     4,
     {MATMUL_N * MATMUL_N * 4, MATMUL_N *MATMUL_N * 4, MATMUL_N *MATMUL_N * 4},
     2,
     fill_matmul,
     expect_matmul,
     NULL},
    {"loopback",
     BANDWIDTH "validate_df_bandwidth_phx.xclbin",
     BANDWIDTH "df_bw_phx.elf",
     "DPU",
     0,
     {PARTS * SHORT_BYTES, 0, PARTS *SHORT_BYTES},
     2,
     fill_parts,
     expect_same,
     shorten},
};

const size_t n_published = sizeof published / sizeof published[0];

static int find_file(const char *name, char path[PATH_BYTES])
{
    const char *folder = getenv("TILEWRIGHT_CORPUS");
    snprintf(path, PATH_BYTES, "%s/%s", folder != NULL ? folder : "", name);
    return access(path, R_OK);
}

struct tw_context *published_load(struct tw_device *device, const struct published *p)
{
    char path[PATH_BYTES];
    struct tw_context *context = NULL;
    struct tw_error err = {0};
    if (find_file(p->control, path) != 0 || find_file(p->program, path) != 0) {
        printf("SKIPPED: %s is not there; tests/corpus/README.md says where it comes from\n", path);
        skip();
    }
    if (tw_context_load(device, path, p->columns, &context, &err) != 0)
        fail_msg("%s: %s", p->name, err.text);
    return context;
}

static int create_job(struct published_job *j, struct tw_context *context, struct tw_error *err)
{
    char path[PATH_BYTES];
    struct tw_file_map map;
    find_file(j->what->control, path);
    int program = tw_context_find(context, j->what->kernel, err);
    int code = program < 0 ? program : tw_file_map_open(path, &map, err);
    if (code < 0)
        return code;
    unsigned char *copy = malloc(map.size);
    if (copy != NULL) {
        memcpy(copy, map.data, map.size);
        if (j->what->change != NULL)
            j->what->change(copy, map.size);
        code = tw_job_create(context, (unsigned)program, copy, map.size, &j->job, err);
    }
    free(copy);
    tw_file_map_close(&map);
    return copy == NULL ? TW_E_MEMORY : code;
}

int published_job_create(struct published_job *j, struct tw_device *device, struct tw_context *context,
                         const struct published *p, struct tw_error *err)
{
    *j = (struct published_job){.what = p};
    int code = create_job(j, context, err);
    for (unsigned i = 0; code == 0 && i < PUBLISHED_BUFFERS; i++) {
        if (p->sizes[i] == 0)
            continue;
        code = tw_buffer_create(device, p->sizes[i], &j->buffers[i], err);
        if (code == 0)
            code = tw_job_set_buffer(j->job, i, j->buffers[i], err);
    }
    return code;
}

static void get_data(const struct published_job *j, void *data[PUBLISHED_BUFFERS])
{
    for (unsigned i = 0; i < PUBLISHED_BUFFERS; i++)
        data[i] = j->buffers[i] != NULL ? tw_buffer_data(j->buffers[i]) : NULL;
}

int published_job_fill(struct published_job *j, uint64_t seed, struct tw_error *err)
{
    void *data[PUBLISHED_BUFFERS];
    int code = TW_OK;
    get_data(j, data);
    j->what->fill(data, seed);
    memset(data[j->what->out], 0xa5, j->what->sizes[j->what->out]);
    for (unsigned i = 0; code == 0 && i < PUBLISHED_BUFFERS; i++)
        if (j->buffers[i] != NULL)
            code = tw_buffer_to_npu(j->buffers[i], 0, tw_buffer_size(j->buffers[i]), err);
    return code;
}

int published_job_check(struct published_job *j, struct tw_error *err)
{
    void *data[PUBLISHED_BUFFERS];
    size_t size = j->what->sizes[j->what->out];
    unsigned char *expected = malloc(size);
    int code = expected == NULL ? TW_E_MEMORY : tw_buffer_from_npu(j->buffers[j->what->out], 0, size, err);
    if (code == 0) {
        get_data(j, data);
        j->what->expect(data, expected);
        if (memcmp(expected, data[j->what->out], size) != 0)
            code = tw_fail(err, TW_E_SHAPE, "%s: the result is wrong", j->what->name);
    }
    free(expected);
    return code;
}

void published_job_destroy(struct published_job *j)
{
    tw_job_destroy(j->job);
    for (unsigned i = 0; i < PUBLISHED_BUFFERS; i++)
        tw_buffer_destroy(j->buffers[i]);
}
