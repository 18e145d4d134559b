/* Buffers of the host as shim DMA finds them. */
#include "emu/buffers.h"
#include "emu/firmware.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

static void found_two_gibibytes_above(void **state)
{
    (void)state;
    struct tw_buffers *buffers;
    uint64_t a, b;
    unsigned char *first, *second;
    struct tw_error err = {0};
    assert_int_equal(tw_buffers_create(&buffers, &err), 0);
    assert_int_equal(tw_buffers_add(buffers, 5000, &a, &first, &err), 0);
    assert_int_equal(tw_buffers_add(buffers, 1, &b, &second, &err), 0);
    struct tw_host_memory host = tw_buffers_host(buffers);

    assert_ptr_equal(host.find(host.arg, a + TW_HOST_OFFSET, 5000, 0), first);
    assert_ptr_equal(host.find(host.arg, a + TW_HOST_OFFSET + 4999, 1, 1), first + 4999);
    assert_ptr_equal(host.find(host.arg, b + TW_HOST_OFFSET, 1, 1), second);
    assert_int_equal(first[4999], 0);
    assert_int_equal(a % 4096, 0);
    assert_int_equal(b % 4096, 0);
    /* The offset carries into the upper word of a 48-bit address. */
    assert_int_not_equal((a + TW_HOST_OFFSET) >> 32, a >> 32);
    tw_buffers_free(buffers);
}

static void nothing_elsewhere(void **state)
{
    (void)state;
    struct tw_buffers *buffers;
    uint64_t a, b;
    unsigned char *bytes;
    struct tw_error err = {0};
    assert_int_equal(tw_buffers_create(&buffers, &err), 0);
    struct tw_host_memory host = tw_buffers_host(buffers);
    assert_null(host.find(host.arg, TW_HOST_OFFSET, 1, 0));
    assert_int_equal(tw_buffers_add(buffers, 4096, &a, &bytes, &err), 0);
    assert_int_equal(tw_buffers_add(buffers, 4096, &b, &bytes, &err), 0);
    const struct {
        uint64_t address, size;
    } misses[] = {
        {a, 4},                               /* without the offset */
        {a + TW_HOST_OFFSET - 1, 2},          /* begins before */
        {a + TW_HOST_OFFSET, 4097},           /* runs out */
        {a + TW_HOST_OFFSET + 4096, 1},       /* the gap */
        {b + TW_HOST_OFFSET + 4096, 4},       /* behind all */
        {a + TW_HOST_OFFSET + 4, UINT64_MAX}, /* a size that wraps */
        {UINT64_MAX, 4},
        {0, 4},
    };
    for (size_t i = 0; i < sizeof misses / sizeof misses[0]; i++)
        assert_null(host.find(host.arg, misses[i].address, misses[i].size, 0));
    assert_true(b > a + 4096);
    tw_buffers_free(buffers);
}

static void assert_described(const struct tw_host_memory *host, uint64_t address, const char *expected)
{
    char text[80];
    host->describe(host->arg, address, text, sizeof text);
    assert_string_equal(text, expected);
}

static void tells_where_addresses_lie(void **state)
{
    (void)state;
    struct tw_buffers *buffers;
    uint64_t a, b;
    unsigned char *bytes;
    struct tw_error err = {0};
    assert_int_equal(tw_buffers_create(&buffers, &err), 0);
    struct tw_host_memory host = tw_buffers_host(buffers);
    assert_described(&host, TW_HOST_OFFSET, "before all buffers");
    assert_int_equal(tw_buffers_add(buffers, 40, &a, &bytes, &err), 0);
    assert_int_equal(tw_buffers_add(buffers, 4096, &b, &bytes, &err), 0);
    assert_described(&host, 0, "before all buffers");
    assert_described(&host, a + TW_HOST_OFFSET - 4, "before all buffers");
    assert_described(&host, a + TW_HOST_OFFSET + 40, "byte 40 of a buffer of 40 bytes");
    assert_described(&host, b + TW_HOST_OFFSET + 8192, "byte 8192 of a buffer of 4096 bytes");
    tw_buffers_free(buffers);
}

static void limits(void **state)
{
    (void)state;
    struct tw_buffers *buffers;
    uint64_t address;
    unsigned char *bytes;
    struct tw_error err = {0};
    assert_int_equal(tw_buffers_create(&buffers, &err), 0);
    assert_int_equal(tw_buffers_add(buffers, 0, &address, &bytes, &err), TW_E_ARGUMENT);
    assert_int_equal(tw_buffers_add(buffers, UINT64_MAX, &address, &bytes, &err), TW_E_LIMIT);
    assert_int_equal(tw_buffers_add(buffers, UINT64_C(1) << 47, &address, &bytes, &err), TW_E_LIMIT);
    for (int i = 0; i < TW_BUFFERS_MAX; i++)
        assert_int_equal(tw_buffers_add(buffers, 4, &address, &bytes, &err), 0);
    assert_int_equal(tw_buffers_add(buffers, 4, &address, &bytes, &err), TW_E_LIMIT);
    tw_buffers_free(buffers);
    tw_buffers_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(found_two_gibibytes_above),
        cmocka_unit_test(nothing_elsewhere),
        cmocka_unit_test(tells_where_addresses_lie),
        cmocka_unit_test(limits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
