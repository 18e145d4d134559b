/* Commands: submission, packets, chains. */
#include "emu/driver/copy_bench.h"

#include "base/little_endian.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <cmocka.h>

static void a_command_runs(void **state)
{
    struct copy_bench b;
    (void)state;
    for (int old = 0; old < 2; old++) {
        copy_bench_create(&b, &(struct tw_emu_driver_options){.old_firmware = old});
        uint32_t header = rig_word(&b.command, 0);
        assert_int_equal(copy_bench_run(&b, 2), TW_PACKET_COMPLETED);
        assert_int_equal(rig_word(&b.command, 0) >> 4, header >> 4);
        assert_memory_equal(b.in.host, b.out.host, 64);
        assert_int_equal(b.out.host[64], 0);
        copy_bench_free(&b);
    }
}

/* The device reaches only what the command lists. */
static void unlisted_buffers(void **state)
{
    struct copy_bench b;
    (void)state;
    copy_bench_create(&b, NULL);
    assert_int_equal(copy_bench_run(&b, 1), TW_PACKET_TIMEOUT);
    assert_int_equal(b.out.host[0], 0);
    copy_bench_free(&b);
}

static void refused_submissions(void **state)
{
    struct copy_bench b;
    uint32_t unknown[1] = {99};
    (void)state;
    copy_bench_create(&b, NULL);
    const struct tw_xdna_execute good = {.context = b.context.handle,
                                         .command = b.command.handle,
                                         .arguments = (uintptr_t)b.handles,
                                         .command_count = 1,
                                         .argument_count = 2};
    struct {
        struct tw_xdna_execute args;
        int expected;
    } rows[] = {
        {good, -EINVAL}, {good, -EINVAL}, {good, -EINVAL}, {good, -EINVAL}, {good, -EINVAL}, {good, -EINVAL},
        {good, -EINVAL}, {good, -EINVAL}, {good, -EINVAL}, {good, -ENOENT}, {good, -EFAULT}, {good, 0},
    };
    rows[0].args.extension = 1;
    rows[1].args.extension_flags = 1;
    rows[2].args.kind = 1;
    rows[3].args.command_count = 0;
    rows[4].args.command_count = 2;
    rows[5].args.argument_count = 4096;
    rows[6].args.command = 0;
    rows[7].args.command = b.code.handle; /* in the heap */
    rows[8].args.context = b.context.handle + 1;
    rows[9].args.arguments = (uintptr_t)unknown;
    rows[10].args.arguments = 8;
    rows[9].args.argument_count = 1;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rig_ioctl(&b.rig, TW_XDNA_EXECUTE, &rows[i].args) != rows[i].expected)
            fail_msg("row %zu", i);
    assert_int_equal(rig_wait(&b.rig, b.context.syncobj, 0, INT64_MAX), 0);
    copy_bench_free(&b);
}

/* What is wrong with a packet shows when it is handed over: no error, and the state stays NEW. */
static void packets_that_are_not_handed_over(void **state)
{
    static const struct {
        const char *what;
        uint32_t opcode, count, mask;
    } rows[] = {
        {"no CU", TW_PACKET_START_CU, 10, 0},
        {"past the buffer", TW_PACKET_START_CU, 1024, 1},
        {"empty", TW_PACKET_START_CU, 0, 1},
        {"mask only", TW_PACKET_START_CU, 1, 1},
        {"too long for the window", TW_PACKET_START_CU, 1015, 1},
        {"START_DPU", TW_PACKET_START_DPU, 10, 1},
        {"preemption", TW_PACKET_START_NPU_PREEMPT, 20, 1},
        {"ELF", TW_PACKET_START_NPU_ELF, 20, 1},
        {"unknown", 9, 10, 1},
        {"START_NPU cut short", TW_PACKET_START_NPU, 4, 1},
        {"START_NPU with too many arguments", TW_PACKET_START_NPU, 1 + 4 + 27, 1},
        {"chain cut short", TW_PACKET_CHAIN, 5, 1},
        {"chain with more commands than handles", TW_PACKET_CHAIN, 8, 2},
        {"chain of a buffer that is not there", TW_PACKET_CHAIN, 8, 1},
    };
    struct copy_bench b;
    (void)state;
    copy_bench_create(&b, NULL);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        memset(b.command.host, 0, 4096);
        rig_set_word(&b.command, 0, tw_packet_header((enum tw_packet_opcode)rows[i].opcode, rows[i].count));
        rig_set_word(&b.command, 1, rows[i].mask);
        if (copy_bench_run(&b, 2) != TW_PACKET_NEW)
            fail_msg("%s: state %u", rows[i].what, rig_word(&b.command, 0) & 0xf);
        assert_int_equal(rig_word(&b.command, 900), 0); /* nothing is filled in */
    }
    copy_bench_free(&b);
}

/* What the firmware refuses: ERROR, and all after the header is ones. */
static void commands_that_the_firmware_refuses(void **state)
{
    struct copy_bench b;
    (void)state;
    for (unsigned kind = 0; kind < 5; kind++) {
        copy_bench_create(&b, NULL);
        if (kind == 0)
            rig_set_word(&b.command, TW_PACKET_CU_MASK, 2); /* not configured */
        else if (kind == 1)
            rig_set_word(&b.command, TW_PACKET_PAYLOAD + TW_MAP_INSTRUCTIONS, 0x1000); /* not in the heap */
        else if (kind == 2)
            memcpy(b.context.pdi.host, "bad!", 4);
        else if (kind == 3)
            rig_set_word(&b.code, 0, DO_FAIL);
        else
            rig_set_word(&b.code, 3, TW_XDNA_HEAP_BYTES);
        uint32_t header = rig_word(&b.command, 0);
        assert_int_equal(copy_bench_run(&b, 2), TW_PACKET_ERROR);
        assert_int_equal(rig_word(&b.command, 0) >> 4, header >> 4);
        for (size_t i = 1; i < 1024; i++)
            assert_int_equal(rig_word(&b.command, i), UINT32_MAX);
        copy_bench_free(&b);
    }
}

static void after_an_error_the_next_one_runs(void **state)
{
    struct copy_bench b;
    (void)state;
    copy_bench_create(&b, NULL);
    rig_set_word(&b.code, 0, DO_FAIL);
    assert_int_equal(copy_bench_run(&b, 2), TW_PACKET_ERROR);
    rig_set_word(&b.code, 0, DO_COPY);
    rig_packet(&b.command, &b.code, (struct rig_buffer[]){b.in, b.out}, 2);
    assert_int_equal(copy_bench_run(&b, 2), TW_PACKET_COMPLETED);
    copy_bench_free(&b);
}

/* START_NPU: the control code's address is in front of the arguments. */
static void patched_packet(const struct copy_bench *b, const struct rig_buffer *command)
{
    unsigned char *payload = command->host + 8;
    memset(command->host, 0, 4096);
    rig_set_word(command, 0, tw_packet_header(TW_PACKET_START_NPU, 1 + 4 + 9));
    rig_set_word(command, 1, 1);
    tw_store_u64(payload + 4 * TW_NPU_INSTRUCTIONS, b->code.address);
    tw_store_u32(payload + 4 * TW_NPU_BYTES, 16);
    tw_store_u32(payload + 4 * TW_NPU_ARGUMENTS, 3);
    tw_store_u64(payload + 4 * (TW_NPU_ARGUMENTS + TW_MAP_BUFFERS), b->in.address);
    tw_store_u64(payload + 4 * (TW_NPU_ARGUMENTS + TW_MAP_BUFFERS + 2), b->out.address);
}

static enum tw_packet_state run_chain(struct copy_bench *b, const struct rig_buffer *commands, size_t n);

static void host_patched(void **state)
{
    struct copy_bench b;
    (void)state;
    for (int old = 0; old < 2; old++) {
        copy_bench_create(&b, &(struct tw_emu_driver_options){.old_firmware = old});
        struct rig_buffer command = rig_buffer(&b.rig, TW_XDNA_COMMAND, 4096);
        patched_packet(&b, &b.command);
        assert_int_equal(copy_bench_run(&b, 2), TW_PACKET_COMPLETED);
        assert_memory_equal(b.in.host, b.out.host, 64);
        memset(b.out.host, 0, 64);
        patched_packet(&b, &command);
        assert_int_equal(run_chain(&b, (struct rig_buffer[]){command, command}, 2), TW_PACKET_COMPLETED);
        rig_unmap(&b.rig, &command);
        assert_memory_equal(b.in.host, b.out.host, 64);
        copy_bench_free(&b);
    }
}

static enum tw_packet_state run_chain(struct copy_bench *b, const struct rig_buffer *commands, size_t n)
{
    rig_chain(&b->command, commands, n);
    return copy_bench_run(b, 2);
}

enum { CHAIN_MAX = 40 };

static void chains(void **state)
{
    struct copy_bench b;
    struct rig_buffer commands[CHAIN_MAX];
    struct rig_buffer five[5];
    (void)state;
    copy_bench_create(&b, NULL);
    for (size_t i = 0; i < 5; i++)
        five[i] = i == 0 ? b.in : b.out;
    for (size_t i = 0; i < CHAIN_MAX; i++) {
        commands[i] = rig_buffer(&b.rig, TW_XDNA_COMMAND, 4096);
        rig_packet(&commands[i], &b.code, five, 5);
    }
    /* A slot with five buffers is 112 bytes: 36 of them fit the window of 4 KiB. */
    assert_int_equal(run_chain(&b, commands, 36), TW_PACKET_COMPLETED);
    assert_int_equal(tw_packet_state(rig_word(&commands[0], 0)), TW_PACKET_NEW);
    assert_int_equal(run_chain(&b, commands, 37), TW_PACKET_NEW);
    assert_int_equal(run_chain(&b, commands, 0), TW_PACKET_COMPLETED);
    /* All of one kind. */
    rig_set_word(&commands[1], 0, tw_packet_header(TW_PACKET_START_NPU, 16));
    assert_int_equal(run_chain(&b, commands, 2), TW_PACKET_NEW);
    rig_set_word(&commands[0], 0, tw_packet_header(TW_PACKET_CHAIN, 16));
    assert_int_equal(run_chain(&b, commands, 1), TW_PACKET_NEW);
    for (size_t i = 0; i < CHAIN_MAX; i++)
        rig_unmap(&b.rig, &commands[i]);
    copy_bench_free(&b);
}

static void old_chains_hold_more(void **state)
{
    struct copy_bench b;
    (void)state;
    copy_bench_create(&b, &(struct tw_emu_driver_options){.old_firmware = 1});
    struct rig_buffer command = rig_buffer(&b.rig, TW_XDNA_COMMAND, 4096);
    struct rig_buffer many[100];
    rig_packet(&command, &b.code, (struct rig_buffer[]){b.in, b.out}, 2);
    for (size_t i = 0; i < 100; i++)
        many[i] = command;
    assert_int_equal(run_chain(&b, many, 93), TW_PACKET_COMPLETED); /* 8 + 36 bytes each */
    assert_int_equal(run_chain(&b, many, 94), TW_PACKET_NEW);
    assert_int_equal(run_chain(&b, many, 0), TW_PACKET_NEW);
    rig_unmap(&b.rig, &command);
    copy_bench_free(&b);
}

static void a_failed_chain_says_where(void **state)
{
    struct copy_bench b;
    struct rig_buffer commands[5];
    (void)state;
    copy_bench_create(&b, NULL);
    struct rig_buffer bad = rig_code(&b.rig, DO_FAIL, 1);
    for (size_t i = 0; i < 5; i++) {
        commands[i] = rig_buffer(&b.rig, TW_XDNA_COMMAND, 4096);
        rig_packet(&commands[i], i == 3 ? &bad : &b.code, (struct rig_buffer[]){b.in, b.out}, 2);
    }
    assert_int_equal(run_chain(&b, commands, 5), TW_PACKET_ERROR);
    assert_int_equal(rig_word(&b.command, TW_CHAIN_ERROR_INDEX), 3);
    assert_int_equal(rig_word(&b.command, TW_CHAIN_COUNT), 5);
    /* The details would be in the first one. */
    assert_int_equal(tw_packet_state(rig_word(&commands[0], 0)), TW_PACKET_NEW);
    assert_int_equal(rig_word(&commands[0], 1), UINT32_MAX);
    assert_int_equal(rig_word(&commands[0], 1023), UINT32_MAX);
    assert_int_equal(rig_word(&commands[3], 1), 1);
    for (size_t i = 0; i < 5; i++)
        rig_unmap(&b.rig, &commands[i]);
    copy_bench_free(&b);
}

/* Of the CU mask the lowest bit counts, and of further mask words the first that is not zero. */
static void cu_masks(void **state)
{
    struct copy_bench b;
    (void)state;
    copy_bench_create(&b, NULL);
    rig_set_word(&b.command, TW_PACKET_CU_MASK, 0x80000001u);
    assert_int_equal(copy_bench_run(&b, 2), TW_PACKET_COMPLETED);
    unsigned char payload[36];
    memcpy(payload, b.command.host + 8, sizeof payload);
    rig_set_word(&b.command, 0, tw_packet_header(TW_PACKET_START_CU, 3 + 9) | 2u << TW_PACKET_EXTRA_MASKS_SHIFT);
    rig_set_word(&b.command, 1, 0);
    rig_set_word(&b.command, 2, 1);
    rig_set_word(&b.command, 3, 0);
    memcpy(b.command.host + 16, payload, sizeof payload);
    assert_int_equal(copy_bench_run(&b, 2), TW_PACKET_COMPLETED);
    copy_bench_free(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_command_runs),
        cmocka_unit_test(unlisted_buffers),
        cmocka_unit_test(refused_submissions),
        cmocka_unit_test(packets_that_are_not_handed_over),
        cmocka_unit_test(commands_that_the_firmware_refuses),
        cmocka_unit_test(after_an_error_the_next_one_runs),
        cmocka_unit_test(host_patched),
        cmocka_unit_test(chains),
        cmocka_unit_test(old_chains_hold_more),
        cmocka_unit_test(a_failed_chain_says_where),
        cmocka_unit_test(cu_masks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
