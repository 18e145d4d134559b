/* Packed weights against the overlay's own packing: every type, order and instruction set, edges, and hostile sizes. */
#include "base/half.h"
#include "base/random.h"
#include "host/kernels.h"
#include "host/pack.h"
#include "host/pack_kernels.h"
#include "overlay/pack.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static const char *const tables[] = {"c", "avx2", "avx512"};
enum { TABLES = 3, THREADS = 2 };

struct packers {
    struct tw_host *hosts[TABLES][THREADS]; /* NULL: not on this processor */
};

static int open_packers(void **state)
{
    struct packers *p = calloc(1, sizeof *p);
    if (p == NULL)
        return -1;
    *state = p;
    for (int t = 0; t < TABLES; t++)
        for (unsigned n = 0; n < THREADS; n++) {
            const struct tw_host_options options = {.threads = n + 1, .kernels = tables[t]};
            int code = tw_host_create(&options, &p->hosts[t][n], NULL);
            if (code != TW_OK && (code != TW_E_UNSUPPORTED || t == 0))
                return -1;
        }
    return 0;
}

static int close_packers(void **state)
{
    struct packers *p = *state;
    for (int t = 0; t < TABLES; t++)
        for (int n = 0; n < THREADS; n++)
            tw_host_destroy(p->hosts[t][n]);
    free(p);
    return 0;
}

static void *block(size_t bytes)
{
    void *p = malloc(bytes);
    assert_non_null(p);
    memset(p, 0xff, bytes);
    return p;
}

/* Any bits, but mostly numbers near one, so that roundings go both ways and special values occur. */
static void fill(struct tw_random *r, enum tw_type type, unsigned char *row, int64_t n)
{
    size_t bytes = tw_row_bytes(type, n);
    for (size_t i = 0; i < bytes; i++)
        row[i] = (unsigned char)tw_random_u64(r);
    for (int64_t i = 0; type == TW_F32 && i < n; i++)
        if (tw_random_range(r, 0, 3) != 0) {
            float x = (float)(tw_random_unit(r) - 0.5);
            memcpy(row + 4 * i, &x, sizeof x);
        }
}

static uint16_t bf16_of(enum tw_type type, const unsigned char *row, int64_t at, const float *widened)
{
    uint16_t half;
    if (type != TW_BF16)
        return tw_f32_to_bf16(widened[at]);
    memcpy(&half, row + 2 * at, sizeof half);
    return half;
}

/* The stored numbers as dense bf16, row by row. */
static uint16_t *dense(const struct tw_pack *p)
{
    int64_t rows = p->b_rows ? p->k : p->n, cols = p->b_rows ? p->n : p->k;
    uint16_t *to = block((size_t)(rows * cols) * sizeof *to);
    float *line = block((size_t)cols * sizeof *line);
    for (int64_t r = 0; r < rows; r++) {
        const unsigned char *row = (const unsigned char *)p->data + (size_t)r * p->row_stride;
        tw_row_to_f32(p->type, row, line, cols);
        for (int64_t c = 0; c < cols; c++)
            to[r * cols + c] = bf16_of(p->type, row, c, line);
    }
    free(line);
    return to;
}

static int is_nan(uint16_t half)
{
    return (half & 0x7fff) > 0x7f80;
}

static void compare(const char *who, const struct tw_pack *p, const uint16_t *got, const uint16_t *want)
{
    for (size_t i = 0; i < tw_pack_bytes(p) / 2; i++)
        if (got[i] != want[i] && !(is_nan(got[i]) && is_nan(want[i]) && p->type != TW_BF16))
            fail_msg("%s: type %d, %lld x %lld, rows %d: number %zu is %04x, should be %04x", who, (int)p->type,
                     (long long)p->k, (long long)p->n, p->b_rows, i, got[i], want[i]);
}

/* Packs with all tables, at an even and at an odd place, and compares; nothing beside may be written. */
static void pack_all(const struct packers *e, const struct tw_pack *p, const uint16_t *want)
{
    enum { BESIDE = 128 };
    size_t bytes = tw_pack_bytes(p);
    unsigned char *memory = block(bytes + 3 * BESIDE), *aligned = memory + BESIDE - (uintptr_t)memory % 64;
    for (int t = 0; t < TABLES; t++)
        for (int i = 0; i < 2 * THREADS && e->hosts[t][i / 2] != NULL; i++) {
            unsigned char *to = aligned + (i % 2) * 6;
            struct tw_error err = {0};
            memset(memory, 0xff, bytes + 3 * BESIDE);
            if (tw_host_pack(e->hosts[t][i / 2], p, to, &err) != TW_OK)
                fail_msg("%s", err.text);
            uint16_t *copy = block(bytes);
            memcpy(copy, to, bytes);
            compare(tables[t], p, copy, want);
            free(copy);
            for (unsigned char *b = memory; b < memory + bytes + 3 * BESIDE; b++)
                assert_true((b >= to && b < to + bytes) || *b == 0xff);
        }
    free(memory);
}

/* One matrix k x n, cut as the overlay would or into blocks of `cut` columns, rows at a random stride and place. */
static void one_matrix(const struct packers *e, struct tw_random *r, enum tw_type type, int b_rows, int64_t k,
                       int64_t n, uint32_t cut)
{
    const struct tw_overlay_size size = {.rows = 64, .depth = (uint32_t)k, .columns = (uint32_t)n};
    struct tw_overlay_shape shape;
    int rc = cut == 0 ? tw_overlay_choose(&size, &shape, NULL) : tw_overlay_cut(&size, 16, cut, &shape, NULL);
    assert_int_equal(rc, TW_OK);
    int64_t rows = b_rows ? k : n, cols = b_rows ? n : k;
    size_t skew = (size_t)tw_random_range(r, 0, 7), row = tw_row_bytes(type, cols);
    size_t stride = row + (size_t)tw_random_range(r, 0, 9);
    unsigned char *data = block(skew + (size_t)(rows - 1) * stride + row); /* ends where reading must end */
    for (int64_t i = 0; i < rows; i++)
        fill(r, type, data + skew + (size_t)i * stride, cols);
    const struct tw_pack p = {.type = type,
                              .data = data + skew,
                              .row_stride = stride,
                              .b_rows = b_rows,
                              .k = k,
                              .n = n,
                              .block_columns = shape.n,
                              .steps = shape.steps,
                              .blocks = 4 * shape.column_panels};
    assert_int_equal(tw_pack_bytes(&p), tw_overlay_packed_bytes(&shape));
    uint16_t *numbers = dense(&p), *want = block(tw_pack_bytes(&p));
    const struct tw_overlay_matrix b = {numbers, b_rows ? (uint64_t)n : 1, b_rows ? 1 : (uint64_t)k};
    tw_overlay_pack_b(&shape, &b, want);
    pack_all(e, &p, want);
    free(data);
    free(numbers);
    free(want);
}

static void random_matrices(void **state)
{
    struct tw_random r = {51};
    for (int i = 0; i < 240; i++) {
        enum tw_type type = (enum tw_type)(i % 5);
        int b_rows = type <= TW_BF16 && i / 5 % 2;
        int64_t k = tw_random_range(&r, 1, 300), n = tw_random_range(&r, 1, 150);
        if (tw_random_range(&r, 0, 1))
            k = (k + 31) / 32 * 32;
        if (tw_random_range(&r, 0, 1))
            n = (n + 3) / 4 * 4;
        uint32_t cut = (uint32_t)tw_random_range(&r, 0, 6) * 16;
        one_matrix(*state, &r, type, b_rows, type > TW_BF16 ? (k + 31) / 32 * 32 : k, n, cut);
    }
}

/* Deep enough for several pieces and tasks, and the sides of a model's weights. */
static void large_matrices(void **state)
{
    struct tw_random r = {52};
    for (int type = TW_F32; type <= TW_Q8_0; type++) {
        one_matrix(*state, &r, (enum tw_type)type, 0, 1536, 400, 0);
        if (type <= TW_BF16) {
            one_matrix(*state, &r, (enum tw_type)type, 0, 5000, 35, 16);
            one_matrix(*state, &r, (enum tw_type)type, 1, 403, 1536, 0);
        }
    }
}

/* What the sixteen halves of bits round to, and every bf16 and f16, with each table. */
static void every_half(void **state)
{
    const struct packers *e = *state;
    static uint16_t numbers[1 << 16], want[1 << 16], got[1 << 16];
    for (int pass = 0; pass < 4; pass++) {
        struct tw_pack p = {.type = pass < 2 ? TW_BF16 : TW_F16, .data = numbers, .b_rows = pass % 2};
        p.k = p.n = 256;
        p.row_stride = 512;
        p.block_columns = 64;
        p.steps = 8;
        p.blocks = 4;
        for (int i = 0; i < 1 << 16; i++)
            numbers[i] = (uint16_t)i;
        for (int t = 0; t < TABLES; t++) {
            if (e->hosts[t][1] == NULL)
                continue;
            memset(got, 0xee, sizeof got);
            assert_int_equal(tw_host_pack(e->hosts[t][1], &p, got, NULL), TW_OK);
            if (t == 0)
                memcpy(want, got, sizeof got);
            compare(tables[t], &p, got, want);
        }
    }
}

/* Descriptions that would read or write outside, or say nothing: refused before anything is touched. */
static void refused(void **state)
{
    const struct packers *e = *state;
    static unsigned char data[64 * 64 * 4], to[64 * 64 * 2];
    const struct tw_pack good = {TW_F32, data, 256, 0, 64, 64, 16, 2, 4};
    for (int wrong = 0; wrong < 15; wrong++) {
        struct tw_pack p = good;
        struct tw_error err = {0};
        void *out = wrong == 0 ? NULL : to;
        int code = wrong < 5 ? TW_E_ARGUMENT : TW_E_SHAPE;
        if (wrong == 1)
            p.data = NULL;
        if (wrong == 2)
            p.type = TW_I32;
        if (wrong == 3)
            p.type = TW_TYPE_COUNT;
        if (wrong == 4)
            p.type = TW_Q8_0, p.b_rows = 1;
        if (wrong == 5)
            p.k = 0;
        if (wrong == 6)
            p.n = -1;
        if (wrong == 7)
            p.k = 65;
        if (wrong == 8)
            p.n = 65;
        if (wrong == 9)
            p.block_columns = 18;
        if (wrong == 10)
            p.block_columns = 0;
        if (wrong == 11)
            p.steps = 0;
        if (wrong == 12)
            p.blocks = p.steps = p.block_columns = 0xfffffffc;
        if (wrong == 13)
            p.type = TW_Q5_0, p.k = 40;
        if (wrong == 14)
            p.k = INT64_MAX;
        memset(to, 0xff, sizeof to);
        assert_int_equal(tw_host_pack(e->hosts[0][0], &p, out, &err), code);
        assert_int_equal(err.code, code);
        for (size_t i = 0; i < sizeof to; i++)
            assert_int_equal(to[i], 0xff);
    }
    assert_int_equal(tw_host_pack(e->hosts[0][0], &good, to, NULL), TW_OK);
}

/* Every set of kernels has loops of its own for packing and for sums. */
static void tables_go_with_kernels(void **state)
{
    const struct tw_kernels *k, *other;
    (void)state;
    for (unsigned i = 0; (k = tw_kernels_at(i)) != NULL; i++) {
        assert_non_null(k->packing);
        assert_non_null(k->sums);
        for (unsigned j = 0; j < i; j++) {
            other = tw_kernels_at(j);
            assert_ptr_not_equal(k->packing, other->packing);
            assert_ptr_not_equal(k->sums, other->sums);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_matrices), cmocka_unit_test(large_matrices),         cmocka_unit_test(every_half),
        cmocka_unit_test(refused),         cmocka_unit_test(tables_go_with_kernels),
    };
    return cmocka_run_group_tests(tests, open_packers, close_packers);
}
