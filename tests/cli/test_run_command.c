/* tilewright run on the emulated driver, as a user runs it. */
#include "cli/folder.h"
#include "cli/program.h"
#include "device/copy_program.h"
#include "image/xclbin_write.h"

#include <jansson.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { WORDS = 256, BYTES = 4 * WORDS };

struct bench {
    struct folder folder;
    char xclbin[2 * FOLDER_PATH], pdi[2 * FOLDER_PATH], insts[2 * FOLDER_PATH], hang[2 * FOLDER_PATH];
    char in[3 * FOLDER_PATH], out[3 * FOLDER_PATH];
    uint32_t input[WORDS];
};

static void put(struct bench *b, const char *name, struct bytes *bytes, char path[2 * FOLDER_PATH])
{
    assert_non_null(bytes->data);
    folder_put(&b->folder, name, bytes->data, bytes->size);
    folder_path(&b->folder, name, path);
}

static int setup(void **state)
{
    static const char *const buffers[] = {"in", "out"};
    struct bench *b = calloc(1, sizeof *b);
    struct bytes pdi = copy_pdi(), code = copy_code(WORDS), hang = hang_code(), xclbin = {0};
    const struct tw_xclbin_contents contents = {.pdi = {.data = pdi.data, .size = pdi.size, .file = "copy"},
                                                .columns = 1,
                                                .kernel = "copy",
                                                .instance = "one",
                                                .kernel_id = TW_KERNEL_ID,
                                                .buffers = buffers,
                                                .n_buffers = 2};
    assert_int_equal(tw_xclbin_write(&contents, &xclbin.data, &xclbin.size, NULL), 0);
    folder_create(&b->folder);
    for (uint32_t i = 0; i < WORDS; i++)
        b->input[i] = i * 2654435761u;
    folder_put(&b->folder, "input", b->input, BYTES);
    put(b, "copy.xclbin", &xclbin, b->xclbin);
    put(b, "copy.pdi", &pdi, b->pdi);
    put(b, "copy.insts", &code, b->insts);
    put(b, "hang.insts", &hang, b->hang);
    snprintf(b->in, sizeof b->in, "in:%s/input", b->folder.path);
    snprintf(b->out, sizeof b->out, "out:%d:%s/output", BYTES, b->folder.path);
    free(pdi.data);
    free(code.data);
    free(hang.data);
    free(xclbin.data);
    *state = b;
    return 0;
}

static int teardown(void **state)
{
    struct bench *b = *state;
    folder_remove(&b->folder);
    free(b);
    return 0;
}

#define RUN(b, ...) program_run(&(b)->folder, (struct streams){0}, (const char *[]){"run", __VA_ARGS__, NULL})

static void assert_copied(struct bench *b)
{
    size_t size = 0;
    char *output = folder_get(&b->folder, "output", &size);
    assert_non_null(output);
    assert_int_equal(size, BYTES);
    assert_memory_equal(output, b->input, BYTES);
    free(output);
}

static void test_run(void **state)
{
    struct bench *b = *state;
    struct finished f = RUN(b, "--device", "emu", b->xclbin, "--insts", b->insts, "--arg", b->in, "--arg", b->out);
    assert_string_equal(f.err, "");
    assert_int_equal(f.code, 0);
    assert_non_null(strstr(f.out, "1 command on /dev/accel/accel0 (emulated)"));
    program_release(&f);
    assert_copied(b);
}

static void test_run_chain(void **state)
{
    struct bench *b = *state;
    struct finished f = RUN(b, "--device=emu", "--json", "--chain", "--repeat=3", "--kernel=copy", b->xclbin, "--insts",
                            b->insts, "--insts", b->insts, "--arg", b->in, "--arg", b->out);
    assert_string_equal(f.err, "");
    assert_int_equal(f.code, 0);
    json_t *all = json_loads(f.out, 0, NULL);
    assert_non_null(all);
    assert_int_equal(json_integer_value(json_object_get(all, "commands")), 3);
    assert_int_equal(json_integer_value(json_object_get(all, "jobs")), 2);
    assert_true(json_is_true(json_object_get(all, "emulated")));
    json_decref(all);
    program_release(&f);
    assert_copied(b);
}

static void test_run_pdi(void **state)
{
    struct bench *b = *state;
    struct finished f = RUN(b, "--device=emu", b->pdi, "--insts", b->insts, "--arg", b->in, "--arg", b->out);
    assert_int_equal(f.code, 1);
    assert_non_null(strstr(f.err, "how many columns"));
    program_release(&f);
    f = RUN(b, "--device=emu", "--columns=4", b->pdi, "--insts", b->insts, "--arg", b->in, "--arg", b->out);
    assert_string_equal(f.err, "");
    assert_int_equal(f.code, 0);
    program_release(&f);
    assert_copied(b);
}

/* Nothing is written when something fails. */
static void test_run_fails(void **state)
{
    struct bench *b = *state;
    const char *const runs[][2] = {{b->hang, "(TCT)"}, {b->insts, "number 1, which is not set"}};
    for (size_t i = 0; i < 2; i++) {
        struct finished f = RUN(b, "--device=emu", b->xclbin, "--insts", runs[i][0], "--arg", i == 0 ? b->in : b->out);
        assert_int_equal(f.code, 1);
        assert_non_null(strstr(f.err, runs[i][1]));
        assert_string_equal(f.out, "");
        assert_null(folder_get(&b->folder, "output", NULL));
        program_release(&f);
    }
}

static void test_usage(void **state)
{
    struct bench *b = *state;
    struct finished f = RUN(b, "--help");
    assert_int_equal(f.code, 0);
    assert_non_null(strstr(f.out, "Usage: tilewright run"));
    program_release(&f);
    f = RUN(b, "--device=gpu", b->xclbin);
    assert_int_equal(f.code, 2);
    assert_non_null(strstr(f.err, "there is no device 'gpu'"));
    program_release(&f);
    f = RUN(b, "--device=emu");
    assert_int_equal(f.code, 2);
    program_release(&f);
    f = RUN(b, "--device=emu", b->xclbin, "--arg", "nonsense");
    assert_int_equal(f.code, 2);
    program_release(&f);
    f = RUN(b, "--device=emu", b->xclbin, "--arg", b->in, "--arg", b->out);
    assert_int_equal(f.code, 2);
    assert_non_null(strstr(f.err, "--arg needs --insts"));
    program_release(&f);
    f = RUN(b, "--device=emu", b->xclbin, "--insts", b->insts, "--arg", b->in, "--arg", b->out, "--arg", b->out);
    assert_int_equal(f.code, 2);
    assert_non_null(strstr(f.err, "two --arg would write"));
    program_release(&f);
    f = RUN(b, "--device=emu", b->xclbin);
    assert_int_equal(f.code, 0);
    program_release(&f);
    f = RUN(b, "--device=emu", b->xclbin, "--kernel", "other");
    assert_int_equal(f.code, 1);
    assert_non_null(strstr(f.err, "there is: copy"));
    program_release(&f);
}

/* All outputs, or none. */
static void test_one_output_fails(void **state)
{
    struct bench *b = *state;
    struct finished f = RUN(b, "--device=emu", b->xclbin, "--insts", b->insts, "--arg", b->in, "--arg", b->out, "--arg",
                            "out:4:/no/such/folder/more");
    assert_int_equal(f.code, 1);
    assert_non_null(strstr(f.err, "/no/such/folder/more"));
    assert_string_equal(f.out, "");
    assert_null(folder_get(&b->folder, "output", NULL));
    program_release(&f);
}

/* The calls of one run, in the order in which docs/driver.md explains them. */
static void test_trace(void **state)
{
    static const char *const steps[] = {
        "open(/dev/accel/accel0)",
        "DRM_VERSION",
        "GET_INFO 0xc0106447) param=1(AIE_METADATA)",
        "GET_INFO 0xc0106447) param=8(FIRMWARE_VERSION)",
        "CREATE_BO 0xc0206443) flags=0 vaddr=0 size=67108864 type=2(DEV_HEAP)",
        "mmap(",
        "CREATE_HWCTX 0xc0386440) ext=0 ext_flags=0 umq_bo=0 log_buf_bo=0 max_opc=2048 num_tiles=4",
        "type=3(DEV)",
        "flush(",
        "CONFIG_HWCTX 0xc0186442) handle=1 param_type=0(CONFIG_CU) param_val_size=16 num_cus=1",
        "type=1(SHARE)",
        "xdna_addr=0xffffffffffffffff",
        "mmap(",
        "GET_BO_INFO",
        "flush(",
        "type=4(CMD)",
        "type=3(DEV)",
        "EXEC_CMD 0xc0386446) ext=0 ext_flags=0 hwctx=1 type=0 cmd_handles=",
        "header=0x00010001(state=NEW count=16 opcode=0 START_CU) words={1 3 0",
        "seq=0",
        "DRM_SYNCOBJ_TIMELINE_WAIT 0xc02864ca)",
        "state=4(COMPLETED)",
        "flush(",
        "DRM_GEM_CLOSE",
        "DESTROY_HWCTX 0xc0086441) handle=1",
        "DRM_GEM_CLOSE",
        "munmap(",
        "close(",
    };
    struct bench *b = *state;
    char trace[3 * FOLDER_PATH];
    snprintf(trace, sizeof trace, "--trace-ioctl=%s/trace", b->folder.path);
    struct finished f = RUN(b, "--device=emu", trace, b->xclbin, "--insts", b->insts, "--arg", b->in, "--arg", b->out);
    assert_string_equal(f.err, "");
    program_release(&f);
    char *text = folder_get(&b->folder, "trace", NULL);
    assert_non_null(text);
    const char *at = text;
    for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++) {
        const char *found = strstr(at, steps[i]);
        if (found == NULL)
            fail_msg("'%s' does not follow '%.80s'", steps[i], at);
        at = found + strlen(steps[i]);
    }
    assert_null(strstr(text, "?"));
    free(text);
    f = RUN(b, "--device=emu", "--trace-ioctl=/no/such/folder/trace", b->xclbin);
    assert_int_equal(f.code, 1);
    assert_non_null(strstr(f.err, "/no/such/folder/trace"));
    program_release(&f);
    /* A full disk. */
    f = RUN(b, "--device=emu", "--trace-ioctl=/dev/full", b->xclbin);
    assert_int_equal(f.code, 1);
    assert_non_null(strstr(f.err, "No space left"));
    program_release(&f);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        CASE(test_run),   CASE(test_run_chain), CASE(test_run_pdi),          CASE(test_run_fails),
        CASE(test_usage), CASE(test_trace),     CASE(test_one_output_fails),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
