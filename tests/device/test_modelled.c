/* What the emulated NPU tells of a job that has completed, and when it has nothing to tell. */
#include "device/copy_program.h"
#include "emu/driver/driver.h"

#include "device/device.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

enum { WORDS = 1024, OTHERS = 4 };

struct machine {
    struct tw_device *device;
    struct tw_context *context;
    struct copy_job copies[2], hang;
    struct tw_error err;
};

static void set_up(struct machine *m)
{
    *m = (struct machine){0};
    const struct tw_device_options options = {.kind = TW_DEVICE_EMU, .alone = 1};
    assert_int_equal(tw_device_open(&options, &m->device, &m->err), 0);
    assert_int_equal(copy_context(m->device, 1, &m->context, &m->err), 0);
    assert_int_equal(copy_job_create(&m->copies[0], m->device, m->context, WORDS, &m->err), 0);
    assert_int_equal(copy_job_create(&m->copies[1], m->device, m->context, 2 * WORDS, &m->err), 0);
    assert_int_equal(copy_job_create(&m->hang, m->device, m->context, 0, &m->err), 0);
}

static void tear_down(struct machine *m)
{
    copy_job_destroy(&m->copies[0]);
    copy_job_destroy(&m->copies[1]);
    copy_job_destroy(&m->hang);
    tw_context_destroy(m->context);
    tw_device_close(m->device);
}

static struct tw_modelled modelled(struct machine *m, const struct tw_job *job)
{
    struct tw_modelled figures;
    memset(&figures, 0xee, sizeof figures);
    assert_int_equal(tw_job_modelled(job, &figures, &m->err), 0);
    return figures;
}

/* The failure gives a sentence, and zeros instead of figures. */
static void assert_unknown(const struct tw_job *job, int code)
{
    struct tw_modelled figures;
    struct tw_error err = {0};
    memset(&figures, 0xee, sizeof figures);
    assert_int_equal(tw_job_modelled(job, &figures, &err), code);
    assert_int_equal(err.code, code);
    assert_int_not_equal(err.text[0], '\0');
    assert_int_equal(figures.cycles, 0);
    assert_null(figures.bound);
    assert_int_equal(tw_job_modelled(job, &figures, NULL), code);
}

/* Where in its cycle the memory is found differs from run to run. */
static void assert_about(uint64_t cycles, uint64_t expected)
{
    assert_in_range(cycles, expected - 1000, expected + 1000);
}

static void test_a_job(void **state)
{
    struct machine m;
    (void)state;
    set_up(&m);
    struct tw_job *job = m.copies[0].job;
    assert_unknown(job, TW_E_STATE);
    assert_int_equal(tw_job_submit(job, &m.err), 0);
    assert_unknown(job, TW_E_STATE);
    assert_int_equal(tw_job_wait(job, -1, &m.err), 0);
    const struct tw_modelled first = modelled(&m, job);
    assert_int_equal(first.read_bytes, 4 * WORDS);
    assert_int_equal(first.write_bytes, 4 * WORDS);
    assert_true(first.launch_cycles > 0 && first.wait_cycles > 0);
    assert_true(first.cycles > first.launch_cycles + first.wait_cycles);
    assert_string_equal(first.bound, "launch");
    assert_int_equal(tw_job_run(job, &m.err), 0);
    assert_about(modelled(&m, job).cycles, first.cycles);
    assert_int_equal(tw_job_submit(job, &m.err), 0);
    assert_unknown(job, TW_E_STATE);
    tear_down(&m);
}

static void test_a_chain(void **state)
{
    struct machine m;
    struct tw_job *chain;
    (void)state;
    set_up(&m);
    struct tw_job *const jobs[] = {m.copies[0].job, m.copies[1].job};
    assert_int_equal(tw_job_run(jobs[0], &m.err), 0);
    assert_int_equal(tw_job_run(jobs[1], &m.err), 0);
    const struct tw_modelled one = modelled(&m, jobs[0]), other = modelled(&m, jobs[1]);
    assert_int_equal(tw_chain_create(jobs, 2, &chain, &m.err), 0);
    assert_unknown(chain, TW_E_STATE);
    assert_int_equal(tw_job_run(chain, &m.err), 0);
    const struct tw_modelled both = modelled(&m, chain);
    assert_about(both.cycles, one.cycles + other.cycles);
    assert_int_equal(both.launch_cycles, one.launch_cycles + other.launch_cycles);
    assert_about(both.wait_cycles, one.wait_cycles + other.wait_cycles);
    assert_int_equal(both.read_bytes, 12 * WORDS);
    assert_int_equal(both.write_bytes, 12 * WORDS);
    assert_string_equal(both.bound, "launch");
    assert_unknown(jobs[0], TW_E_STATE); /* its last run was the chain's */
    tw_job_destroy(chain);
    tear_down(&m);
}

static void test_after_a_failure(void **state)
{
    struct machine m;
    (void)state;
    set_up(&m);
    assert_int_equal(tw_job_run(m.hang.job, &m.err), TW_E_TIMEOUT);
    assert_unknown(m.hang.job, TW_E_STATE);
    assert_int_equal(tw_job_run(m.copies[0].job, &m.err), 0);
    assert_int_equal(modelled(&m, m.copies[0].job).read_bytes, 4 * WORDS);
    tear_down(&m);
}

/* Figures wait for their job as long as the driver promises, and are never those of another command. */
static void test_later_commands(void **state)
{
    struct machine m;
    (void)state;
    set_up(&m);
    struct tw_job *late = m.copies[1].job, *other = m.copies[0].job;
    assert_int_equal(tw_job_submit(late, &m.err), 0);
    for (int i = 0; i < TW_EMU_FIGURES_KEPT - 1; i++)
        assert_int_equal(tw_job_run(other, &m.err), 0);
    assert_int_equal(tw_job_wait(late, -1, &m.err), 0);
    assert_int_equal(modelled(&m, late).read_bytes, 8 * WORDS);
    assert_int_equal(tw_job_submit(late, &m.err), 0);
    for (int i = 0; i < TW_EMU_FIGURES_KEPT; i++)
        assert_int_equal(tw_job_run(other, &m.err), 0);
    assert_int_equal(tw_job_wait(late, -1, &m.err), 0);
    assert_unknown(late, TW_E_LIMIT);
    tear_down(&m);
}

/* Contexts count their commands alike, in one open file and in several. */
static void test_contexts_apart(void **state)
{
    static const uint32_t words[OTHERS] = {64, 128, 256, 512};
    struct tw_device *devices[OTHERS];
    struct tw_context *contexts[OTHERS];
    struct copy_job copies[OTHERS];
    struct machine m = {0};
    (void)state;
    for (int i = 0; i < OTHERS; i++) {
        const struct tw_device_options options = {.kind = TW_DEVICE_EMU};
        if (i % 2 == 0)
            assert_int_equal(tw_device_open(&options, &devices[i / 2], &m.err), 0);
        assert_int_equal(copy_context(devices[i / 2], 1, &contexts[i], &m.err), 0);
        assert_int_equal(copy_job_create(&copies[i], devices[i / 2], contexts[i], words[i], &m.err), 0);
    }
    for (int i = 0; i < OTHERS; i++)
        assert_int_equal(tw_job_submit(copies[i].job, &m.err), 0);
    for (int i = 0; i < OTHERS; i++)
        assert_int_equal(tw_job_wait(copies[i].job, -1, &m.err), 0);
    for (int i = 0; i < OTHERS; i++)
        assert_int_equal(modelled(&m, copies[i].job).read_bytes, 4 * words[i]);
    for (int i = 0; i < OTHERS; i++) {
        copy_job_destroy(&copies[i]);
        tw_context_destroy(contexts[i]);
    }
    tw_device_close(devices[0]);
    tw_device_close(devices[1]);
}

/* A driver that is not this library's own tells of no cycles, as that of silicon. */
static void test_silicon(void **state)
{
    struct machine m = {0};
    struct tw_emu_driver *driver = NULL;
    (void)state;
    assert_int_equal(tw_emu_driver_create(NULL, &driver, &m.err), 0);
    assert_int_equal(tw_device_open_calls(tw_emu_driver_calls(driver), "/dev/accel/accel0", NULL, &m.device, &m.err),
                     0);
    assert_int_equal(copy_context(m.device, 1, &m.context, &m.err), 0);
    assert_int_equal(copy_job_create(&m.copies[0], m.device, m.context, WORDS, &m.err), 0);
    assert_unknown(m.copies[0].job, TW_E_UNSUPPORTED);
    assert_int_equal(tw_job_run(m.copies[0].job, &m.err), 0);
    assert_unknown(m.copies[0].job, TW_E_UNSUPPORTED);
    tear_down(&m);
    tw_emu_driver_free(driver);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_job),           cmocka_unit_test(test_a_chain),
        cmocka_unit_test(test_after_a_failure), cmocka_unit_test(test_later_commands),
        cmocka_unit_test(test_contexts_apart),  cmocka_unit_test(test_silicon),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
