/* The overlay's parts by themselves: routes, containers, shapes, packing, refusals. */
#include "base/half.h"
#include "base/little_endian.h"
#include "base/random.h"
#include "image/xclbin.h"
#include "overlay/area.h"
#include "overlay/image.h"
#include "overlay/launch.h"
#include "overlay/layout.h"
#include "overlay/memory_tile.h"
#include "overlay/pack.h"
#include "overlay/routes.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static int same_port(struct tw_port a, struct tw_port b)
{
    return a.kind == b.kind && a.number == b.number;
}

/* No master has two slaves, and the hardware has all connections. */
static void routes_are_possible(void **state)
{
    struct tw_overlay_route routes[TW_OVERLAY_ROUTES_MAX];
    const size_t n = tw_overlay_routes(routes);

    (void)state;
    assert_in_range(n, 100, TW_OVERLAY_ROUTES_MAX);
    for (size_t i = 0; i < n; i++) {
        const struct tw_overlay_route *r = &routes[i];
        const enum tw_tile_kind kind = tw_tile_kind(r->row);
        const int slave = tw_switch_index(kind, TW_SLAVE, r->slave),
                  master = tw_switch_index(kind, TW_MASTER, r->master);
        assert_true(slave >= 0 && master >= 0);
        assert_true(tw_switch_is_legal(kind, (unsigned)slave, (unsigned)master));
        for (size_t k = 0; k < i; k++)
            assert_false(routes[k].column == r->column && routes[k].row == r->row &&
                         same_port(routes[k].master, r->master));
    }
}

static const unsigned char code[16] = {1, 2, 3};
static const struct tw_overlay_piece piece = {0, {.data = code, .size = sizeof code, .file = "code"}};
static const struct tw_overlay_program program = {&piece, 1};

static void xclbin_has_one_partition(void **state)
{
    unsigned char *bytes;
    size_t size;
    struct tw_xclbin xclbin;
    unsigned partitions = 0;

    (void)state;
    assert_int_equal(tw_overlay_xclbin(&program, &bytes, &size, NULL), 0);
    const struct tw_view view = {.data = bytes, .size = size, .file = "overlay"};
    assert_int_equal(tw_xclbin_open(&view, &xclbin, NULL), 0);
    for (uint32_t i = 0; i < xclbin.n_sections; i++) {
        struct tw_xclbin_section section;
        tw_xclbin_section(&xclbin, i, &section);
        partitions += section.kind == TW_XCLBIN_AIE_PARTITION;
    }
    assert_int_equal(partitions, 1);
    free(bytes);
}

static void program_must_fit(void **state)
{
    static const uint32_t addresses[] = {0x3ff4, 0x4000, 0x6fff0, 0x7fff4, 2};
    unsigned char *bytes;
    size_t size;
    struct tw_error err;

    (void)state;
    for (unsigned i = 0; i < sizeof addresses / sizeof addresses[0]; i++) {
        struct tw_overlay_piece wrong = piece;
        const struct tw_overlay_program wrong_program = {&wrong, 1};
        wrong.address = addresses[i];
        assert_int_equal(tw_overlay_pdi(&wrong_program, &bytes, &size, &err), TW_E_ARGUMENT);
    }
}

/* Whatever is asked for, blocks cover it and everything has its place in the memory tile. */
static void shapes_fit(void **state)
{
    struct tw_random random = {3};

    (void)state;
    for (unsigned i = 0; i < 3000; i++) {
        const struct tw_overlay_size size = {
            (uint32_t)tw_random_range(&random, 1, 5000),           (uint32_t)tw_random_range(&random, 1, 9000),
            (uint32_t)tw_random_range(&random, 1, 5000),           (int)tw_random_range(&random, 0, 1),
            (enum tw_overlay_order)tw_random_range(&random, 0, 2), (int)tw_random_range(&random, 0, 1)};
        struct tw_overlay_shape s;
        uint32_t blocks = 0;

        assert_int_equal(tw_overlay_choose(&size, &s, NULL), 0);
        assert_true(tw_overlay_height(&s) >= size.rows && tw_overlay_height(&s) - size.rows < 4 * s.m);
        assert_true(tw_overlay_width(&s) >= size.columns && tw_overlay_width(&s) - size.columns < 4 * s.n);
        assert_true(tw_overlay_depth(&s) >= size.depth && tw_overlay_depth(&s) - size.depth < 32);
        assert_int_equal(tw_overlay_depth(&s) % s.chunk, 0);
        if (size.addend)
            assert_int_equal(8 * s.n % s.chunk, 0);
        for (uint32_t k = 0; k < s.segments; k++) {
            assert_true(s.segment_blocks[k] > 0);
            blocks += s.segment_blocks[k];
        }
        if (s.kept > 0)
            assert_int_equal(blocks, s.kept + 1);
        assert_int_equal(s.resident, s.kept == s.steps);
        assert_int_equal(s.passing * s.passing_blocks, s.kept == 0 ? 0 : s.steps - s.kept);
        assert_true(s.passing <= TW_OVERLAY_PASSING && s.passing % 2 == 0);
        assert_true((blocks + 2 * s.passing_blocks) * memory_block_b_bytes(&s) <= memory_b_room(&s));
    }
}

static void wrong_shapes_are_refused(void **state)
{
    static const struct tw_overlay_size wrong[] = {{0, 1, 1, 0, 0, 0},
                                                   {1, 0, 1, 0, 0, 0},
                                                   {1, 1, 0, 0, 0, 0},
                                                   {TW_OVERLAY_SIDE_MAX + 1, 1, 1, 0, 0, 0},
                                                   {1, UINT32_MAX, 1, 0, 0, 0}};
    static const struct tw_overlay_size right = {1, 1, 1, 0, 0, 0};
    struct tw_overlay_shape s;
    struct tw_error err;

    (void)state;
    for (unsigned i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        assert_int_equal(tw_overlay_choose(&wrong[i], &s, &err), TW_E_SHAPE);
    assert_int_equal(tw_overlay_cut(&right, 17, 16, &s, &err), TW_E_SHAPE);
    assert_int_equal(tw_overlay_cut(&right, 16, 112, &s, &err), TW_E_SHAPE);
    assert_int_equal(tw_overlay_cut(&right, 0, 16, &s, &err), TW_E_SHAPE);
}

static void wrong_products_are_refused(void **state)
{
    static const struct tw_overlay_size size = {100, 100, 100, 0, 0, 0};
    struct tw_overlay_launch *launch;
    struct tw_overlay_product right = {0}, p;
    struct tw_error err;
    unsigned char *bytes;
    size_t bytes_size, empty_size;

    (void)state;
    assert_int_equal(tw_overlay_choose(&size, &right.shape, &err), 0);
    right.lda = tw_overlay_depth(&right.shape);
    right.ldc = tw_overlay_width(&right.shape);
    assert_int_equal(tw_overlay_launch_begin(&launch, &err), 0);
    p = right;
    p.lda--;
    assert_int_equal(tw_overlay_product(launch, &p, &err), TW_E_SHAPE);
    p.lda += 2;
    assert_int_equal(tw_overlay_product(launch, &p, &err), TW_E_SHAPE);
    p = right;
    p.ldc--;
    assert_int_equal(tw_overlay_product(launch, &p, &err), TW_E_SHAPE);
    p.ldc = (1 << 20) + 2;
    assert_int_equal(tw_overlay_product(launch, &p, &err), TW_E_SHAPE);
    p = right;
    p.lda = (1 << 21) + 2;
    assert_int_equal(tw_overlay_product(launch, &p, &err), TW_E_SHAPE);
    p = right;
    p.shape.m = 0;
    assert_int_equal(tw_overlay_product(launch, &p, &err), TW_E_SHAPE);
    p = right;
    p.shape.size.order = (enum tw_overlay_order)3;
    assert_int_equal(tw_overlay_product(launch, &p, &err), TW_E_ARGUMENT);
    p = right;
    p.c.offset = 2;
    assert_int_equal(tw_overlay_product(launch, &p, &err), TW_E_ARGUMENT);
    p = right;
    p.shape.size.addend = 1;
    p.ldd = tw_overlay_width(&right.shape) - 1;
    assert_int_equal(tw_overlay_product(launch, &p, &err), TW_E_SHAPE);
    p.ldd = (1 << 20) + 1;
    assert_int_equal(tw_overlay_product(launch, &p, &err), TW_E_SHAPE);
    p.ldd = 1 << 20;
    p.d.offset = 2;
    assert_int_equal(tw_overlay_product(launch, &p, &err), TW_E_ARGUMENT);
    assert_int_equal(tw_overlay_launch_end(launch, &bytes, &bytes_size, &err), 0);
    free(bytes);
    assert_int_equal(tw_overlay_launch_begin(&launch, &err), 0);
    assert_int_equal(tw_overlay_launch_end(launch, &bytes, &empty_size, &err), 0);
    free(bytes);
    assert_int_equal(bytes_size, empty_size);
}

/* One that writes 64 rows of 64 numbers in fp32, 200 apart, from byte 4096 of argument 2 on. */
static struct tw_overlay_product writer(void)
{
    struct tw_overlay_product p = {.a = {0, 0}, .b = {1, 0}, .c = {2, 4096}, .headers = {3, 0}, .d = {4, 0}};
    const struct tw_overlay_size size = {.rows = 60, .depth = 64, .columns = 60};

    assert_int_equal(tw_overlay_cut(&size, 16, 16, &p.shape, NULL), 0);
    p.lda = p.ldb = 64;
    p.ldc = p.ldd = 200;
    return p;
}

static void what_is_written_is_known(void **state)
{
    enum { END = 4096 + 4 * (63 * 200 + 64) };
    const struct tw_overlay_product before = writer();
    struct tw_overlay_product p = writer();

    (void)state;
    assert_false(area_is_independent(&p, &before)); /* the same C */
    p.c.offset = 4096 + 4 * 64;                     /* beside it */
    assert_true(area_is_independent(&p, &before));
    p.c.offset = 4096 + 4 * (200 - 64);
    assert_true(area_is_independent(&p, &before));
    p.c.offset = 4096 + 4 * (200 - 60); /* padding counts too */
    assert_false(area_is_independent(&p, &before));
    p.c.offset = 4096 + 4 * 60;
    assert_false(area_is_independent(&p, &before));
    p.c.offset = 4096 + 4 * 64;
    p.ldc = 300; /* rows of another length may meet anywhere */
    assert_false(area_is_independent(&p, &before));
    p.c.offset = END;
    assert_true(area_is_independent(&p, &before));
    p.c.offset = END - 4;
    assert_false(area_is_independent(&p, &before));
    p.c = (struct tw_overlay_place){5, 4096};
    assert_true(area_is_independent(&p, &before));

    struct tw_overlay_place *const read[] = {&p.a, &p.b, &p.headers};
    for (unsigned i = 0; i < 3; i++) {
        const struct tw_overlay_place place = *read[i];
        *read[i] = (struct tw_overlay_place){2, END - 4};
        assert_false(area_is_independent(&p, &before));
        read[i]->offset = END;
        assert_true(area_is_independent(&p, &before));
        *read[i] = place;
    }
    p.d = before.c;
    assert_true(area_is_independent(&p, &before)); /* it has none */
    p.shape.size.addend = 1;
    assert_false(area_is_independent(&p, &before));
}

/* Number (k, j) in block k / 32 of core column j / n: tiles of 8 x 4, k first. */
static void b_is_packed_in_the_order_of_its_stream(void **state)
{
    static const struct tw_overlay_size size = {1, 50, 100, 0, 0, 0};
    struct tw_overlay_shape s;
    static uint16_t b[50 * 100];

    (void)state;
    for (unsigned i = 0; i < 50 * 100; i++)
        b[i] = (uint16_t)(i + 1);
    assert_int_equal(tw_overlay_cut(&size, 16, 16, &s, NULL), 0);
    uint16_t *packed = malloc(tw_overlay_packed_bytes(&s));
    assert_non_null(packed);
    const struct tw_overlay_matrix matrix = {b, 100, 1};
    tw_overlay_pack_b(&s, &matrix, packed);
    assert_int_equal(tw_overlay_packed_bytes(&s), 64 * 128 * 2);
    for (uint32_t k = 0; k < 64; k++)
        for (uint32_t j = 0; j < 128; j++) {
            const uint32_t block = j / 16 * 2 + k / 32;
            const uint32_t tile = k % 32 / 8 * 4 + j % 16 / 4;
            const uint16_t expected = k < 50 && j < 100 ? b[k * 100 + j] : 0;
            assert_int_equal(packed[block * 512 + tile * 32 + k % 8 * 4 + j % 4], expected);
        }
    free(packed);
}

static void headers_say_what_a_job_is(void **state)
{
    static const struct tw_overlay_size size = {1, 50, 70, 1, 0, 0};
    struct tw_overlay_shape s;
    float bias[70];

    (void)state;
    for (unsigned j = 0; j < 70; j++)
        bias[j] = (float)j + 1;
    assert_int_equal(tw_overlay_cut(&size, 48, 16, &s, NULL), 0);
    unsigned char *headers = malloc(tw_overlay_header_bytes(&s));
    assert_non_null(headers);
    tw_overlay_write_headers(&s, TW_JOB_GELU, bias, headers);
    for (uint32_t wide = 0; wide < 8; wide++) {
        const unsigned char *h = headers + (size_t)wide * 16 * TW_OVERLAY_STEP_BYTES;
        assert_int_equal(tw_load_u32(h + 4 * TW_JOB_STEPS), 2);
        assert_int_equal(tw_load_u32(h + 4 * TW_JOB_FLAGS), TW_JOB_ADD_BIAS | TW_JOB_GELU | TW_JOB_BF16);
        assert_int_equal(tw_load_u32(h + 4 * TW_JOB_M), 3);
        assert_int_equal(tw_load_u32(h + 4 * TW_JOB_N), 1);
        for (uint32_t j = 0; j < 16; j++) {
            const uint32_t expected = wide * 16 + j < 70 ? tw_float_bits(bias[wide * 16 + j]) : 0;
            assert_int_equal(tw_load_u32(h + 4 * (TW_JOB_BIAS + j)), expected);
        }
    }
    free(headers);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(routes_are_possible),       cmocka_unit_test(xclbin_has_one_partition),
        cmocka_unit_test(program_must_fit),          cmocka_unit_test(shapes_fit),
        cmocka_unit_test(wrong_shapes_are_refused),  cmocka_unit_test(wrong_products_are_refused),
        cmocka_unit_test(what_is_written_is_known),  cmocka_unit_test(b_is_packed_in_the_order_of_its_stream),
        cmocka_unit_test(headers_say_what_a_job_is),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
