/* Control code in ELF form: the host writes addresses into it, anew when a buffer changes, and sends START_NPU. */
#include "base/little_endian.h"
#include "device/control.h"
#include "device/device.h"
#include "device/fake_driver.h"
#include "device/job.h"
#include "image/make_image.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { FIRST = 0x20, SECOND = 0x50 }; /* where make_control_elf has descriptors; of buffer 0, and of buffer 2 less 16 */

#define HOST_OFFSET 0x80000000u

static uint64_t address_at(const unsigned char *code, size_t descriptor)
{
    return tw_load_u32(code + descriptor + 4) | (uint64_t)(tw_load_u32(code + descriptor + 8) & 0xffff) << 32;
}

static void test_filling(void **state)
{
    const uint64_t addresses[3] = {0x7f0012345678, 0, 0x10};
    struct made m = {0};
    struct tw_control c;
    unsigned char code[4096];
    (void)state;
    make_control_elf(&m);
    assert_int_equal(tw_control_read(m.data, m.size, &c, NULL), 0);
    assert_int_equal(c.opcode, TW_PACKET_START_NPU);
    assert_int_equal(c.kernel, TW_XDNA_KERNEL_TXN);
    assert_int_equal(c.n_places, 2);
    assert_true(c.names[0] && !c.names[1] && c.names[2]);
    assert_true(c.size <= sizeof code);
    uint64_t first = address_at(c.bytes, FIRST), second = address_at(c.bytes, SECOND);
    uint32_t upper = tw_load_u32(c.bytes + FIRST + 8) >> 16;
    /* Twice: what was filled in before does not add up. */
    for (int i = 0; i < 2; i++) {
        tw_control_fill(&c, addresses, code);
        assert_true(address_at(code, FIRST) == first + addresses[0] + HOST_OFFSET);
        assert_true(address_at(code, SECOND) == second + addresses[2] - 16 + HOST_OFFSET);
        assert_int_equal(tw_load_u32(code + FIRST + 8) >> 16, upper);
    }
    tw_control_free(&c);
    made_free(&m);
}

static void test_job(void **state)
{
    static const unsigned char pdi[16] = {0xdd};
    const struct tw_program program = {.pdi = pdi, .bytes = sizeof pdi};
    struct fake_driver fake;
    struct tw_device *device = NULL;
    struct tw_context *context = NULL;
    struct tw_job *job = NULL, *other = NULL, *chain = NULL;
    struct tw_buffer *one = NULL, *two = NULL;
    struct made m = {0};
    struct tw_error err;
    (void)state;
    make_control_elf(&m);
    fake_driver_create(&fake);
    assert_int_equal(tw_device_open_calls(&fake.calls, "node", NULL, &device, &err), 0);
    assert_int_equal(tw_context_create(device, 1, &program, 1, &context, &err), 0);
    assert_int_equal(tw_job_create(context, 0, m.data, m.size, &job, &err), 0);
    assert_int_equal(tw_buffer_create(device, 4096, &one, &err), 0);
    assert_int_equal(tw_buffer_create(device, 4096, &two, &err), 0);
    assert_int_equal(tw_job_run(job, &err), TW_E_STATE);
    assert_int_equal(tw_job_set_buffer(job, 0, one, &err), 0);
    assert_int_equal(tw_job_set_buffer(job, 2, two, &err), 0);
    assert_int_equal(tw_job_run(job, &err), 0);
    uint64_t first = address_at(job->control.bytes, FIRST);
    assert_true(address_at(job->code.data, FIRST) == first + one->memory.device_address + HOST_OFFSET);

    /* Mask, address and bytes of the control code, no properties; then the map as for START_CU. */
    uint64_t code = job->code.device_address, a = one->memory.device_address;
    const uint32_t expected[13] = {(uint32_t)20 << 23 | 20 << 12 | 1,
                                   1,
                                   (uint32_t)code,
                                   (uint32_t)(code >> 32),
                                   (uint32_t)job->code.bytes,
                                   0,
                                   3,
                                   0,
                                   (uint32_t)code,
                                   (uint32_t)(code >> 32),
                                   (uint32_t)job->code.bytes / 4,
                                   (uint32_t)a,
                                   (uint32_t)(a >> 32)};
    assert_memory_equal(fake.packet, expected, sizeof expected);

    /* Filled in anew, and flushed, when a buffer changes; not otherwise. */
    unsigned flushes = fake.flushes;
    assert_int_equal(tw_job_run(job, &err), 0);
    assert_int_equal(fake.flushes, flushes);
    assert_int_equal(tw_job_set_buffer(job, 0, two, &err), 0);
    assert_int_equal(tw_job_run(job, &err), 0);
    assert_int_equal(fake.flushes, flushes + 1);
    assert_true(address_at(job->code.data, FIRST) == first + two->memory.device_address + HOST_OFFSET);

    /* START_NPU has room for ten buffers, and is not chained with START_CU. */
    assert_int_equal(tw_job_set_buffer(job, 9, one, &err), 0);
    assert_int_equal(tw_job_set_buffer(job, 10, one, &err), TW_E_LIMIT);
    assert_int_equal(tw_job_create(context, 0, NULL, 0, &other, &err), 0);
    struct tw_job *const jobs[] = {job, other};
    assert_int_equal(tw_chain_create(jobs, 2, &chain, &err), TW_E_ARGUMENT);

    tw_job_destroy(job);
    tw_job_destroy(other);
    tw_buffer_destroy(one);
    tw_buffer_destroy(two);
    tw_context_destroy(context);
    tw_device_close(device);
    assert_int_equal(fake_driver_leaks(&fake), 0);
    made_free(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_filling),
        cmocka_unit_test(test_job),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
