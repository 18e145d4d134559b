/* The table of system calls, on what every machine has. */
#include "base/processor.h"
#include "uapi/calls.h"
#include "uapi/flush.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#include <cmocka.h>

static void test_files(void **state)
{
    (void)state;
    const struct tw_calls calls = tw_system_calls();
    assert_int_equal(calls.open(calls.context, "/there/is/no/such/file", O_RDWR), -ENOENT);
    int fd = calls.open(calls.context, "/dev/null", O_RDWR | O_CLOEXEC);
    assert_true(fd >= 0);
    assert_true(fcntl(fd, F_GETFD) & FD_CLOEXEC);
    uint64_t argument = 0;
    assert_int_equal(calls.ioctl(calls.context, fd, 0xc0386440u, &argument), -ENOTTY);
    assert_int_equal(calls.close(calls.context, fd), 0);
    assert_int_equal(calls.close(calls.context, fd), -EBADF);
    assert_int_equal(calls.ioctl(calls.context, fd, 0xc0386440u, &argument), -EBADF);
}

static void test_memory(void **state)
{
    (void)state;
    const struct tw_calls calls = tw_system_calls();
    void *p = NULL;
    assert_int_equal(calls.mmap(calls.context, NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE, -1, 0, &p), 0);
    memset(p, 0x5a, 8192);
    int result = calls.flush(calls.context, (char *)p + 3, 8000);
    assert_true(result == 0 || result == -EOPNOTSUPP);
    assert_int_equal(((unsigned char *)p)[8191], 0x5a);
    assert_int_equal(calls.munmap(calls.context, p, 8192), 0);
    assert_int_equal(calls.munmap(calls.context, (char *)p + 1, 8192), -EINVAL);
    assert_int_equal(calls.mmap(calls.context, NULL, 0, PROT_READ, MAP_PRIVATE, -1, 0, &p), -EINVAL);
}

/* What flushing does is not to be seen from here; but it must not change memory, and take any range. */
static void test_flush_keeps_memory(void **state)
{
    (void)state;
    static _Alignas(64) unsigned char memory[512];
    tw_flush_lines *const ways[] = {
#ifdef __x86_64__
        tw_processor_features() & TW_PROCESSOR_CLFLUSHOPT ? tw_flush_clflushopt : tw_flush_none, tw_flush_clflush,
#endif
        tw_flush_select()};
    for (size_t i = 0; i < sizeof memory; i++)
        memory[i] = (unsigned char)(i * 7);
    for (size_t way = 0; way < sizeof ways / sizeof ways[0]; way++)
        for (size_t at = 0; at < 130; at++)
            for (size_t size = 0; size < 200; size += 33)
                ways[way](NULL, memory + at, size);
    for (size_t i = 0; i < sizeof memory; i++)
        assert_int_equal(memory[i], (unsigned char)(i * 7));
    assert_int_equal(tw_flush_none(NULL, memory, 1), -EOPNOTSUPP);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_files),
        cmocka_unit_test(test_memory),
        cmocka_unit_test(test_flush_keeps_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
