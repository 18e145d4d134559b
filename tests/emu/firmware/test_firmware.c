/* The firmware on an array that only remembers: what is done, in which order and when. */
#include "emu/firmware.h"

#include "emu/cycles.h"
#include "emu/firmware/fake_array.h"
#include "emu/firmware/make_control.h"
#include "image/make_image.h"
#include "npu1/dma.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#define ADDRESS UINT64_C(0x7f34c0001000)

enum { BD = 0x1d000, S2MM_QUEUE = 0x1d204, MM2S_QUEUE = 0x1d214 };

/* A firmware with one program that writes 1 to register 0x34000 of tile (0, 2). */
struct bench {
    struct made pdi, control;
    struct tw_firmware *firmware;
    struct tw_error err;
    struct tw_command_report report;
    uint64_t arguments[8];
    struct tw_command command;
};

static void pdi_of(struct made *pdi, void (*fill)(struct made *cdo))
{
    struct made cdo = {0};
    size_t begin = cdo_begin(&cdo);
    fill(&cdo);
    cdo_end(&cdo, begin);
    make_pdi(pdi, &cdo);
    made_free(&cdo);
}

static void one_write(struct made *cdo)
{
    CDO(cdo, 0x103, 0x234000, 1);
}

static int add(struct bench *b, const struct made *pdi)
{
    struct tw_view view = made_view(pdi);
    return tw_firmware_add_program(b->firmware, &view, &b->err);
}

static int set_up(void **state)
{
    static struct bench bench;
    memset(&bench, 0, sizeof bench);
    memset(&fake, 0, sizeof fake);
    const struct tw_firmware_options options = {.columns = 4};
    assert_int_equal(tw_firmware_create(&options, &bench.firmware, &bench.err), 0);
    pdi_of(&bench.pdi, one_write);
    assert_int_equal(add(&bench, &bench.pdi), 0);
    for (unsigned i = 0; i < 8; i++)
        bench.arguments[i] = ADDRESS + 0x10000 * i;
    bench.command = (struct tw_command){
        .program = 0, .opcode = TW_KERNEL_TRANSACTION, .arguments = bench.arguments, .n_arguments = 8};
    control_begin(&bench.control);
    *state = &bench;
    return 0;
}

static int tear_down(void **state)
{
    struct bench *b = *state;
    tw_firmware_free(b->firmware);
    assert_int_equal(fake.created, fake.freed);
    made_free(&b->pdi);
    made_free(&b->control);
    return 0;
}

static int run(struct bench *b)
{
    control_end(&b->control);
    b->command.control_code = made_view(&b->control);
    return tw_firmware_run(b->firmware, &b->command, &b->report, &b->err);
}

static void assert_done(struct bench *b)
{
    if (run(b) != 0)
        fail_msg("%s", b->err.text);
    assert_int_equal(b->report.status, TW_FIRMWARE_OK);
}

/* Event number i, after the one of the PDI. */
static void assert_event(size_t i, enum fake_kind kind, uint64_t clock, uint32_t address, uint32_t value)
{
    assert_true(i + 1 < fake.n);
    const struct fake_event *e = &fake.events[i + 1];
    assert_int_equal(e->kind, kind);
    assert_int_equal(e->clock, clock);
    assert_int_equal(e->address, address);
    assert_int_equal(e->value, value);
}

/* ---- loading */

static void every_command(struct made *cdo)
{
    static const unsigned char data[12] = {1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0};
    CDO(cdo, 0x111, 0);
    CDO(cdo, 0x102, 0x232000, 1, 0);
    CDO(cdo, 0x103, 0x21f000, 2);
    cdo_dma_write(cdo, 0x200400, data, sizeof data);
    CDO(cdo, 0x107, 0, 0x232000, 2, 2);
    CDO(cdo, 0x108, 0, 0x21f010, 4);
    CDO(cdo, 0x10c, 0, 0x200000, 2, 7);
    CDO(cdo, 0x10d, 0, 0x21d204, 8, 9);
    CDO(cdo, 0x104, 5);
    CDO(cdo, 0x101, 0x232004, 1, 1, 100);
    CDO(cdo, 0x119, 0x6b72616d);
    CDO(cdo, 0x103, 0x61d000, 0xa);
}

static void a_pdi_is_done_in_order(void **state)
{
    static const struct fake_event expected[] = {
        {FAKE_MASK_WRITE, 0, 0x232000, 1, 0}, {FAKE_WRITE, 0, 0x21f000, 0, 2}, {FAKE_WRITE, 0, 0x200400, 0, 1},
        {FAKE_WRITE, 0, 0x200404, 0, 2},      {FAKE_WRITE, 0, 0x200408, 0, 3}, {FAKE_MASK_WRITE, 0, 0x232000, 2, 2},
        {FAKE_WRITE, 0, 0x21f010, 0, 4},      {FAKE_WRITE, 0, 0x200000, 0, 7}, {FAKE_WRITE, 0, 0x200004, 0, 7},
        {FAKE_WRITE, 0, 0x21d204, 0, 8},      {FAKE_WRITE, 0, 0x21d204, 0, 9}, {FAKE_POLL, 5000, 0x232004, 1, 1},
        {FAKE_WRITE, 5000, 0x61d000, 0, 0xa},
    };
    struct bench *b = *state;
    struct made pdi = {0};
    pdi_of(&pdi, every_command);
    assert_int_equal(add(b, &pdi), 1);
    b->command.program = 1;
    assert_done(b);
    assert_int_equal(b->report.loaded, 1);
    assert_int_equal(fake.n, sizeof expected / sizeof expected[0]);
    for (size_t i = 0; i < fake.n; i++)
        assert_memory_equal(&fake.events[i], &expected[i], sizeof expected[i]);
    made_free(&pdi);
}

static void last_column(struct made *cdo)
{
    CDO(cdo, 0x103, 3 << 25, 1);
    CDO(cdo, 0x103, 4 << 25, 1);
}

static void across_the_last_column(struct made *cdo)
{
    static const unsigned char data[8] = {0};
    cdo_dma_write(cdo, (4 << 25) - 4, data, sizeof data);
}

static void beyond_32_bits(struct made *cdo)
{
    CDO(cdo, 0x108, 1, 0x234000, 1);
}

static void a_transfer(struct made *cdo)
{
    CDO(cdo, 0x109, 0, 0, 0, 0x200000, 4, 0);
}

static void fill_for_ever(struct made *cdo)
{
    CDO(cdo, 0x10c, 0, 0x200000, (1 << 24) + 1, 7);
}

static void a_pdi_that_cannot_be(void **state)
{
    static const struct {
        void (*fill)(struct made *cdo);
        int code;
        const char *sentence;
    } cases[] = {
        {last_column, TW_E_ARGUMENT, "column 4, but the partition has the columns 0 to 3"},
        {across_the_last_column, TW_E_ARGUMENT, "column 4"},
        {beyond_32_bits, TW_E_ARGUMENT, "no such address"},
        {a_transfer, TW_E_UNSUPPORTED, "DMA_XFER"},
    };
    struct bench *b = *state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct made pdi = {0};
        pdi_of(&pdi, cases[i].fill);
        assert_int_equal(add(b, &pdi), cases[i].code);
        assert_non_null(strstr(b->err.text, cases[i].sentence));
        made_free(&pdi);
    }
    b->pdi.data[0x28]++;
    pdi_sign(b->pdi.data);
    assert_int_equal(add(b, &b->pdi), TW_E_UNSUPPORTED);
    b->pdi.data[0x28]--;
    pdi_sign(b->pdi.data);
    assert_int_equal(add(b, &b->pdi), 1);
    for (int i = 2; i < TW_FIRMWARE_PROGRAMS; i++)
        assert_int_equal(add(b, &b->pdi), i);
    assert_int_equal(add(b, &b->pdi), TW_E_LIMIT);
    b->command.program = TW_FIRMWARE_PROGRAMS;
    assert_int_equal(run(b), TW_E_ARGUMENT);
    assert_int_equal(b->report.status, TW_FIRMWARE_LOAD_FAILED);
}

static void a_pdi_that_fails(void **state)
{
    struct bench *b = *state;
    struct made pdi = {0};
    fake.fail_write_at = 1;
    assert_int_equal(run(b), TW_E_ARGUMENT);
    assert_int_equal(b->report.status, TW_FIRMWARE_LOAD_FAILED);
    assert_non_null(strstr(b->err.text, "WRITE: there is nothing at 0x234000"));
    fake.fail_write_at = 0;
    assert_done(b); /* on an array without what had been done */
    assert_int_equal(fake.resets, 2);

    /* What a failed load leaves is none of the programs. */
    assert_int_equal(add(b, &b->pdi), 1);
    b->command.program = 1;
    fake.n = 0;
    fake.fail_write_at = 1;
    assert_int_equal(run(b), TW_E_ARGUMENT);
    fake.fail_write_at = 0;
    b->command.program = 0;
    assert_done(b);
    assert_int_equal(b->report.loaded, 1);

    pdi_of(&pdi, fill_for_ever);
    b->command.program = (unsigned)add(b, &pdi);
    assert_int_equal(run(b), TW_E_LIMIT);
    assert_non_null(strstr(b->err.text, "many times what the array has"));
    made_free(&pdi);
}

static void programs_take_turns(void **state)
{
    struct bench *b = *state;
    assert_int_equal(add(b, &b->pdi), 1);
    static const struct {
        unsigned program, resets;
        int loaded;
    } steps[] = {{0, 1, 1}, {0, 1, 0}, {1, 2, 1}, {1, 2, 0}, {0, 3, 1}};
    for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++) {
        b->command.program = steps[i].program;
        assert_done(b);
        assert_int_equal(b->report.loaded, steps[i].loaded);
        assert_int_equal(fake.resets, steps[i].resets);
    }
}

static void an_array_can_be_kept(void **state)
{
    struct bench *b = *state;
    struct tw_unknown unknown = tw_unknown_defaults;
    unknown.load_keeps_array = 1;
    const struct tw_firmware_options options = {.columns = 4, .unknown = &unknown};
    tw_firmware_free(b->firmware);
    assert_int_equal(tw_firmware_create(&options, &b->firmware, &b->err), 0);
    assert_int_equal(add(b, &b->pdi), 0);
    assert_int_equal(add(b, &b->pdi), 1);
    assert_done(b);
    b->command.program = 1;
    assert_done(b);
    assert_int_equal(b->report.loaded, 1);
    assert_int_equal(fake.resets, 0);
}

static void columns(void **state)
{
    struct bench *b = *state;
    struct tw_firmware *other;
    struct tw_firmware_options options = {.columns = 0, .strict = 1};
    assert_int_equal(tw_firmware_create(&options, &other, &b->err), TW_E_ARGUMENT);
    options.columns = TW_FIRMWARE_COLUMNS + 1;
    assert_int_equal(tw_firmware_create(&options, &other, &b->err), TW_E_ARGUMENT);
    assert_null(other);
    options.columns = 1;
    assert_int_equal(tw_firmware_create(&options, &other, &b->err), 0);
    assert_int_equal(fake.options.columns, 1);
    assert_int_equal(fake.options.strict, 1);
    tw_firmware_free(other);
    fake.fail_create = TW_E_MEMORY;
    assert_int_equal(tw_firmware_create(&options, &other, &b->err), TW_E_MEMORY);
    assert_null(other);
    tw_firmware_free(NULL);
}

/* ---- operations and their time */

static void operations_take_time(void **state)
{
    struct bench *b = *state;
    const uint32_t words[] = {1, 2, 3};
    control_write(&b->control, 0x21f000, 5);
    control_mask_write(&b->control, 0x1d200, 0x1f00, 0xf00);
    control_block(&b->control, 0x1d000, words, 3);
    control_noop(&b->control);
    control_poll(&b->control, 0x232004, 3, 1);
    assert_done(b);

    uint64_t t = TW_CYCLES_LAUNCH + TW_CYCLES_WRITE;
    assert_event(0, FAKE_WRITE, t, 0x21f000, 5);
    t += TW_CYCLES_MASK_WRITE;
    assert_event(1, FAKE_MASK_WRITE, t, 0x1d200, 0xf00);
    assert_int_equal(fake.events[2].mask, 0x1f00);
    t += TW_CYCLES_BLOCK_WRITE + 3 * TW_CYCLES_BLOCK_WRITE_WORD;
    for (uint32_t i = 0; i < 3; i++)
        assert_event(2 + i, FAKE_WRITE, t, 0x1d000 + 4 * i, i + 1);
    t += TW_CYCLES_NOOP;
    t += TW_CYCLES_WAIT;
    assert_event(5, FAKE_POLL, t, 0x232004, 1);
    assert_int_equal(fake.events[6].mask, 3);
    assert_int_equal(b->report.cycles, t);
    assert_int_equal(b->report.operations, 5);
    assert_int_equal(b->report.counts[TW_COUNT_WRITE], 1);
    assert_int_equal(b->report.counts[TW_COUNT_MASK_WRITE], 1);
    assert_int_equal(b->report.counts[TW_COUNT_BLOCK_WRITE], 1);
    assert_int_equal(b->report.counts[TW_COUNT_NOOP], 1);
    assert_int_equal(b->report.counts[TW_COUNT_POLL], 1);
}

static void no_control_code(void **state)
{
    struct bench *b = *state;
    b->command.control_code = (struct tw_view){0};
    assert_int_equal(tw_firmware_run(b->firmware, &b->command, &b->report, &b->err), 0);
    assert_int_equal(b->report.cycles, TW_CYCLES_LAUNCH);
    assert_int_equal(b->report.operations, 0);
}

/* Time of the last event. */
static uint64_t last(void)
{
    return fake.events[fake.n - 1].clock;
}

static void queue_writes_keep_their_distance(void **state)
{
    static const struct {
        uint32_t queue;
        int busy;
        uint64_t gaps[3];
    } cases[] = {
        {MM2S_QUEUE, 0, {1086, 3050, 3050}},
        {S2MM_QUEUE, 0, {3050, 3050, 3050}},
        {MM2S_QUEUE, 1, {520, 520, 520}},
        {0x200000 | 0x1de04, 0, {3050, 3050, 3050}}, /* a core tile's S2MM 0 */
        {BD, 0, {100, 100, 100}},                    /* no queue */
        {MM2S_QUEUE, 0, {1086, 3050, 3050}},         /* each command begins again */
    };
    struct bench *b = *state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        made_free(&b->control);
        control_begin(&b->control);
        for (int n = 0; n < 4; n++)
            control_write(&b->control, cases[i].queue, 0);
        fake.busy = cases[i].busy;
        assert_done(b);
        for (int n = 0; n < 3; n++)
            assert_int_equal(fake.events[fake.n - 3 + n].clock - fake.events[fake.n - 4 + n].clock, cases[i].gaps[n]);
    }
}

static void any_write_to_a_queue_keeps_its_distance(void **state)
{
    struct bench *b = *state;
    const uint32_t task = 1;
    control_write(&b->control, S2MM_QUEUE, 0);
    control_mask_write(&b->control, S2MM_QUEUE, 0xf, 1);
    control_block(&b->control, S2MM_QUEUE, &task, 1);
    assert_done(b);
    for (size_t i = 2; i < 4; i++)
        assert_int_equal(fake.events[i].clock - fake.events[i - 1].clock, TW_CYCLES_QUEUE_MAX);
}

static void queues_of_channels_are_apart(void **state)
{
    struct bench *b = *state;
    control_write(&b->control, MM2S_QUEUE, 0);
    control_write(&b->control, S2MM_QUEUE, 0);
    control_write(&b->control, 1 << 25 | MM2S_QUEUE, 0);
    control_write(&b->control, MM2S_QUEUE + 8, 0);
    assert_done(b);
    assert_int_equal(last(), TW_CYCLES_LAUNCH + 4 * TW_CYCLES_WRITE);
}

/* ---- waits */

static void waits_name_who_sends(void **state)
{
    static const struct {
        unsigned column, row, direction, channel, actor;
    } cases[] = {{0, 0, 0, 0, 0}, {3, 0, 0, 1, 2}, {1, 0, 1, 0, 6}, {2, 0, 1, 1, 7}, {0, 1, 0, 5, 6}, {1, 1, 1, 5, 22}};
    struct bench *b = *state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        control_wait(&b->control, cases[i].column, cases[i].row, 1, 1, cases[i].direction, cases[i].channel);
    fake.token_takes = 500;
    assert_done(b);
    uint64_t t = TW_CYCLES_LAUNCH;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        t += TW_CYCLES_WAIT;
        assert_event(i, FAKE_TOKEN, t, cases[i].column << 25 | cases[i].row << 20, cases[i].actor);
        t += 500 + (i == 0 ? TW_CYCLES_FIRST_WAIT : 0);
    }
    assert_int_equal(b->report.cycles, t);
    assert_int_equal(b->report.tokens, 6);
    assert_int_equal(b->report.wait_cycles, 6 * 500);
    /* The next command has a first wait again. */
    made_free(&b->control);
    control_begin(&b->control);
    control_wait(&b->control, 0, 0, 1, 1, 0, 0);
    assert_done(b);
    assert_int_equal(b->report.cycles, TW_CYCLES_LAUNCH + TW_CYCLES_WAIT + 500 + TW_CYCLES_FIRST_WAIT);
}

/* Runs 10 writes and a wait that takes so long; returns what bounds the command. */
static enum tw_bound bound_of(struct bench *b, uint64_t wait)
{
    made_free(&b->control);
    control_begin(&b->control);
    for (int i = 0; i < 10; i++)
        control_write(&b->control, 0x21f000, 5);
    control_wait(&b->control, 0, 0, 1, 1, 0, 0);
    fake.n = 0;
    fake.token_takes = wait;
    assert_done(b);
    assert_int_equal(b->report.launch_cycles, TW_CYCLES_LAUNCH + TW_CYCLES_FIRST_WAIT);
    assert_int_equal(b->report.wait_cycles, wait);
    return b->report.bound;
}

static void what_bounds_a_command(void **state)
{
    enum { LONG = 100000 };
    struct bench *b = *state;
    assert_int_equal(bound_of(b, 100), TW_BOUND_LAUNCH);
    assert_int_equal(bound_of(b, LONG), TW_BOUND_LOCKS);
    fake.counts[2] = (struct tw_tile_counts){.bundles = LONG / 2 - 1000, .bank_stalls = 999};
    assert_int_equal(bound_of(b, LONG), TW_BOUND_LOCKS);
    fake.counts[2].bank_stalls++;
    assert_int_equal(bound_of(b, LONG), TW_BOUND_CORE);
    assert_int_equal(b->report.usage.core_cycles, LONG / 2);
    fake.counts[1].words[TW_MM2S][5] = fake.counts[1].words_out = LONG / 2 + 1;
    assert_int_equal(bound_of(b, LONG), TW_BOUND_STREAM);
    assert_int_equal(b->report.usage.channel_words, LONG / 2 + 1);
    assert_int_equal(b->report.usage.read_bytes, 0);
    fake.counts[0].words_out = 4 * (LONG / 2 + 1);
    assert_int_equal(bound_of(b, LONG), TW_BOUND_DDR); /* 16 bytes a cycle */
    assert_int_equal(b->report.usage.read_bytes, 16 * (LONG / 2 + 1));
    fake.counts[0].words_out = fake.counts[0].words_in = 3 * (LONG / 2 + 1); /* 24 both ways, of 21 */
    assert_int_equal(bound_of(b, LONG), TW_BOUND_DDR);
    assert_int_equal(b->report.usage.write_bytes, 12 * (LONG / 2 + 1));
    for (int i = 0; i < TW_BOUNDS; i++)
        assert_non_null(tw_bound_names[i]);
}

static void control_code_bounds_a_command(void **state)
{
    struct bench *b = *state;
    for (unsigned i = 0; i < TW_CYCLES_LAUNCH / TW_CYCLES_WRITE; i++)
        control_write(&b->control, 0x21f000, 5);
    assert_done(b);
    assert_int_equal(b->report.bound, TW_BOUND_LAUNCH);
    control_write(&b->control, 0x21f000, 5);
    assert_done(b);
    assert_int_equal(b->report.bound, TW_BOUND_CONTROL);
    assert_int_equal(b->report.usage.core_cycles, 0);
}

static void a_wait_for_several_tiles(void **state)
{
    struct bench *b = *state;
    control_wait(&b->control, 1, 0, 3, 1, 0, 1);
    control_wait(&b->control, 0, 2, 2, 3, 0, 0);
    assert_done(b);
    assert_int_equal(b->report.tokens, 9);
    for (uint32_t i = 0; i < 3; i++)
        assert_int_equal(fake.events[1 + i].address, (1 + i) << 25);
    for (uint32_t i = 0; i < 6; i++)
        assert_int_equal(fake.events[4 + i].address, i / 3 << 25 | (2 + i % 3) << 20);
}

static void waits_that_cannot_be(void **state)
{
    static const struct {
        unsigned column, row, columns, rows, direction, channel;
        int code;
        const char *sentence;
    } cases[] = {
        {4, 0, 1, 1, 0, 0, TW_E_ARGUMENT, "(4, 0), which is not there"},
        {3, 0, 2, 1, 0, 0, TW_E_ARGUMENT, "(4, 0), which is not there"},
        {0, 6, 1, 1, 0, 0, TW_E_ARGUMENT, "(0, 6), which is not there"},
        {0, 0, 1, 1, 0, 2, TW_E_UNSUPPORTED, "S2MM 2 of tile (0, 0)"},
        {0, 2, 1, 1, 1, 1, TW_E_UNSUPPORTED, "MM2S 1 of tile (0, 2)"},
    };
    struct bench *b = *state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        made_free(&b->control);
        control_begin(&b->control);
        control_noop(&b->control);
        control_wait(&b->control, cases[i].column, cases[i].row, cases[i].columns, cases[i].rows, cases[i].direction,
                     cases[i].channel);
        assert_int_equal(run(b), cases[i].code);
        assert_non_null(strstr(b->err.text, cases[i].sentence));
        assert_int_equal(b->report.operations, 1);
    }
}

static void a_wait_without_end(void **state)
{
    struct bench *b = *state;
    control_wait(&b->control, 0, 0, 1, 1, 0, 0);
    fake.wait_code = TW_E_STATE;
    assert_int_equal(run(b), TW_E_STATE);
    assert_int_equal(b->report.status, TW_FIRMWARE_NO_ANSWER);
    assert_non_null(strstr(b->err.text, "DMA S2MM 0 waits for ever"));

    fake.wait_code = TW_E_LIMIT;
    b->command.limit = 100000;
    assert_int_equal(run(b), TW_E_LIMIT);
    assert_int_equal(b->report.status, TW_FIRMWARE_NO_ANSWER);
    assert_int_equal(b->report.cycles, 100000);
    assert_non_null(strstr(b->err.text, "core (0, 2) waits for lock 3"));
}

static void a_limit_ends_operations_too(void **state)
{
    struct bench *b = *state;
    for (int i = 0; i < 100; i++)
        control_write(&b->control, 0x21f000, 5);
    b->command.limit = TW_CYCLES_LAUNCH + 10 * TW_CYCLES_WRITE;
    assert_int_equal(run(b), TW_E_LIMIT);
    assert_int_equal(b->report.operations, 10);
    assert_int_equal(b->report.cycles, b->command.limit);
    b->command.limit = TW_CYCLES_LAUNCH - 1;
    assert_int_equal(run(b), TW_E_LIMIT);
    assert_int_equal(b->report.operations, 0);
}

/* ---- addresses */

/* Patches the descriptor at BD with an argument and returns the address that is then in it. */
static uint64_t patched(struct bench *b, uint64_t argument, uint64_t addend, uint32_t low, uint32_t high)
{
    const uint32_t words[] = {64, low, high};
    made_free(&b->control);
    control_begin(&b->control);
    control_block(&b->control, BD, words, 3);
    control_patch(&b->control, BD + 4, argument, addend);
    assert_done(b);
    uint32_t now[2];
    for (uint32_t i = 0; i < 2; i++)
        assert_int_equal(tw_array_read(tw_firmware_array(b->firmware), BD + 4 + 4 * i, &now[i], NULL), 0);
    assert_int_equal(now[1] >> 16, high >> 16);
    return (uint64_t)(now[1] & 0xffff) << 32 | now[0];
}

static void only_the_first_five_get_the_offset(void **state)
{
    struct bench *b = *state;
    for (unsigned i = 0; i < 8; i++)
        assert_int_equal(patched(b, i, 0, 0, 0), b->arguments[i] + (i < 5 ? 0x80000000u : 0));
    assert_int_equal(patched(b, 6, 0x80000000u + 64, 0, 0), b->arguments[6] + 0x80000000u + 64);
}

static void addends(void **state)
{
    struct bench *b = *state;
    assert_int_equal(patched(b, 0, 0x4000, 0, 0), ADDRESS + 0x80004000u);
    assert_int_equal(patched(b, 0, UINT64_C(0x500000008), 0, 0), ADDRESS + 0x80000000u + UINT64_C(0x500000008));
    /* What the descriptor says of the address is replaced; all else in its words stays. */
    assert_int_equal(patched(b, 1, 0, 0x4000, 0x40231234), b->arguments[1] + 0x80000000u);
    assert_int_equal(patched(b, 1, 3, 0, 0), b->arguments[1] + 0x80000000u); /* whole words */
    assert_int_equal(patched(b, 1, UINT64_C(0x800000000000), 0, 0),
                     (b->arguments[1] + 0x80000000u + UINT64_C(0x800000000000)) & 0xffffffffffff);
}

static void an_argument_that_is_not_there(void **state)
{
    struct bench *b = *state;
    control_patch(&b->control, BD + 4, 8, 0);
    assert_int_equal(run(b), TW_E_ARGUMENT);
    assert_non_null(strstr(b->err.text, "argument 8, but the command has 8"));
    made_free(&b->control);
    control_begin(&b->control);
    control_patch(&b->control, BD + 4, UINT64_C(0x100000000), 0);
    assert_int_equal(run(b), TW_E_ARGUMENT);
}

static void what_the_host_patched_stays(void **state)
{
    struct bench *b = *state;
    b->command.host_patched = 1;
    assert_int_equal(patched(b, 0, 0, 0x1000, 2), UINT64_C(0x200001000));
}

/* ---- switches for what is not known */

static void use(struct bench *b, const struct tw_unknown *unknown)
{
    const struct tw_firmware_options options = {.columns = 2, .unknown = unknown};
    tw_firmware_free(b->firmware);
    assert_int_equal(tw_firmware_create(&options, &b->firmware, &b->err), 0);
    assert_int_equal(add(b, &b->pdi), 0);
}

static void a_launch_can_release_cores(void **state)
{
    struct bench *b = *state;
    struct tw_unknown unknown = tw_unknown_defaults;
    assert_done(b);
    assert_int_equal(fake.n, 1);
    unknown.launch_releases_reset = 1;
    use(b, &unknown);
    fake.n = 0;
    assert_done(b);
    assert_int_equal(fake.n, 1 + 2 * 4);
    for (uint32_t i = 0; i < 8; i++) {
        assert_event(i, FAKE_MASK_WRITE, 0, i / 4 << 25 | (2 + i % 4) << 20 | 0x32000, 0);
        assert_int_equal(fake.events[1 + i].mask, 2);
    }
}

/* When a switch says so, tasks for a channel that has some wait as long as others. */
static void queues_of_busy_channels_may_wait(void **state)
{
    struct bench *b = *state;
    struct tw_unknown unknown = tw_unknown_defaults;
    unknown.busy_queues_wait = 1;
    use(b, &unknown);
    for (int n = 0; n < 3; n++)
        control_write(&b->control, MM2S_QUEUE, 0);
    fake.busy = 1;
    assert_done(b);
    assert_int_equal(fake.events[fake.n - 2].clock - fake.events[fake.n - 3].clock, TW_CYCLES_QUEUE_FIRST);
    assert_int_equal(fake.events[fake.n - 1].clock - fake.events[fake.n - 2].clock, TW_CYCLES_QUEUE_MAX);
}

static void patches_can_be_done_behind_the_host(void **state)
{
    struct bench *b = *state;
    struct tw_unknown unknown = tw_unknown_defaults;
    unknown.patch_when_host_patched = 1;
    use(b, &unknown);
    b->command.host_patched = 1;
    assert_int_equal(patched(b, 0, 0, 0x1000, 2), ADDRESS + 0x80000000u);
}

/* ---- what goes wrong */

static void unknown_operations(void **state)
{
    static const struct {
        uint32_t code, words;
    } cases[] = {{2, 4}, {6, 1}, {8, 4}, {9, 4}, {15, 4}, {16, 4}, {0x7f, 4}, {0x82, 4}, {0x84, 4}, {0xff, 4}};
    struct bench *b = *state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const uint32_t words[] = {cases[i].code, 16, 0, 0};
        made_free(&b->control);
        control_begin(&b->control);
        control_write(&b->control, 0x21f000, 5);
        control_words(&b->control, words, cases[i].words);
        assert_int_equal(run(b), TW_E_UNSUPPORTED);
        assert_int_equal(b->report.status, TW_FIRMWARE_INVALID_INSTRUCTION);
        assert_int_equal(b->report.operations, 1);
    }
}

static void damaged_control_code(void **state)
{
    struct bench *b = *state;
    control_write(&b->control, 0x21f000, 5);
    control_end(&b->control);
    for (size_t size = 1; size < b->control.size; size++) {
        b->command.control_code = made_view(&b->control);
        b->command.control_code.size = size;
        assert_int_equal(tw_firmware_run(b->firmware, &b->command, &b->report, &b->err), TW_E_FORMAT);
    }
    b->command.opcode = TW_KERNEL_SEQUENCE;
    assert_true(run(b) < 0);
}

static void errors_say_where(void **state)
{
    struct bench *b = *state;
    control_noop(&b->control);
    control_write(&b->control, 0x21f000, 5);
    control_write(&b->control, 0x2fffff0, 5);
    fake.fail_write_at = 3;
    assert_int_equal(run(b), TW_E_ARGUMENT);
    assert_int_equal(b->report.operations, 2);
    assert_non_null(strstr(b->err.text, "operation 2"));
    assert_non_null(strstr(b->err.text, "there is nothing at 0x2fffff0"));
}

static void a_chain_ends_at_the_first_failure(void **state)
{
    struct bench *b = *state;
    struct tw_command commands[3] = {b->command, b->command, b->command};
    struct tw_command_report reports[3];
    size_t failed = 99;
    control_write(&b->control, 0x21f000, 5);
    control_end(&b->control);
    for (int i = 0; i < 3; i++)
        commands[i].control_code = made_view(&b->control);
    assert_int_equal(tw_firmware_run_chain(b->firmware, commands, 3, reports, &failed, &b->err), 0);
    assert_int_equal(failed, 99);
    assert_int_equal(reports[0].loaded, 1);
    assert_int_equal(reports[2].loaded, 0);
    assert_int_equal(reports[2].cycles, reports[0].cycles);
    commands[1].program = 7;
    assert_int_equal(tw_firmware_run_chain(b->firmware, commands, 3, reports, &failed, &b->err), TW_E_ARGUMENT);
    assert_int_equal(failed, 1);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_pdi_is_done_in_order),
        TEST(a_pdi_that_cannot_be),
        TEST(a_pdi_that_fails),
        TEST(programs_take_turns),
        TEST(an_array_can_be_kept),
        TEST(columns),
        TEST(operations_take_time),
        TEST(no_control_code),
        TEST(queue_writes_keep_their_distance),
        TEST(any_write_to_a_queue_keeps_its_distance),
        TEST(queues_of_channels_are_apart),
        TEST(what_bounds_a_command),
        TEST(control_code_bounds_a_command),
        TEST(waits_name_who_sends),
        TEST(a_wait_for_several_tiles),
        TEST(waits_that_cannot_be),
        TEST(a_wait_without_end),
        TEST(a_limit_ends_operations_too),
        TEST(only_the_first_five_get_the_offset),
        TEST(addends),
        TEST(an_argument_that_is_not_there),
        TEST(what_the_host_patched_stays),
        TEST(a_launch_can_release_cores),
        TEST(queues_of_busy_channels_may_wait),
        TEST(patches_can_be_done_behind_the_host),
        TEST(unknown_operations),
        TEST(damaged_control_code),
        TEST(errors_say_where),
        TEST(a_chain_ends_at_the_first_failure),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
