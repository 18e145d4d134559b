/* `tilewright demo` with a small random model: both texts, what the array did, and how it ends. */
#include "cli/program.h"
#include "whisper/synthetic.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define RUN(f, ...) program_run(f, caught, (const char *const[]){"demo", __VA_ARGS__, NULL})

enum { TERSE_SEED = 4 };

static const struct streams caught = {NULL, NULL};

static void put_model(const struct folder *f, char path[2 * FOLDER_PATH])
{
    struct synthetic_options options = synthetic_defaults();
    struct bytes model = {0};
    options.seed = TERSE_SEED;
    options.sizes.n_text_ctx = 32; /* short texts take less time */
    synthetic_ggml(&options, &model);
    folder_put(f, "model.bin", model.data, model.size);
    folder_path(f, "model.bin", path);
    bytes_free(&model);
}

/* The rest of the line that begins with a name, which must be there. */
static const char *line_after(const char *text, const char *name)
{
    const char *at = strstr(text, name);
    assert_non_null(at);
    return at + strlen(name);
}

static void both_texts(void **state)
{
    char model[2 * FOLDER_PATH], clip[1024];
    const char *source = getenv("TILEWRIGHT_SOURCE");
    put_model(*state, model);
    snprintf(clip, sizeof clip, "%s/tests/data/jfk.wav", source == NULL ? "." : source);
    struct finished r = RUN(*state, "-m", model, clip);
    if (strstr(r.err, "no NPU") == NULL) { /* silicon: whatever it gives, it is compared */
        program_release(&r);
        skip();
    }
    assert_int_equal(r.code, 0);
    const char *emu = line_after(r.out, "emu: "), *cpu = line_after(r.out, "\ncpu: ");
    size_t size = strcspn(emu, "\n");
    assert_true(size > 0 && strncmp(emu, cpu, size + 1) == 0);
    line_after(r.out, "\nMATCH\n");
    assert_int_equal(atoi(line_after(r.out, "MATCH\n\n")), 9);
    line_after(r.out, "9 launches with 26 products on the array, 0 more failed; ");
    line_after(r.out, "ms at 1.6 GHz\n");
    line_after(r.out, "encoder on emu");
    line_after(r.out, "encoder on cpu");
    program_release(&r);
}

/* What the CPU does instead of the array is not shown as the array's. */
static void array_that_fails(void **state)
{
    char model[2 * FOLDER_PATH], clip[1024];
    const char *source = getenv("TILEWRIGHT_SOURCE");
    put_model(*state, model);
    snprintf(clip, sizeof clip, "%s/tests/data/jfk.wav", source == NULL ? "." : source);
    assert_int_equal(setenv("TILEWRIGHT_EMU_FAULT", "token:1.0", 1), 0);
    struct finished r = RUN(*state, "-m", model, clip);
    assert_int_equal(unsetenv("TILEWRIGHT_EMU_FAULT"), 0);
    if (strstr(r.err, "no NPU") == NULL) {
        program_release(&r);
        skip();
    }
    assert_int_equal(r.code, 1);
    assert_null(strstr(r.out, "emu"));
    line_after(r.out, "0 launches with 0 products on the array, 3 more failed; ");
    line_after(r.err, "the NPU did not do all of its part: 3 launches failed");
    program_release(&r);
}

static void assert_refused(struct finished r, int code, const char *part)
{
    assert_int_equal(r.code, code);
    assert_string_equal(r.out, "");
    assert_non_null(strstr(r.err, part));
    program_release(&r);
}

static void refusals(void **state)
{
    char model[2 * FOLDER_PATH];
    put_model(*state, model);
    assert_refused(RUN(*state, "clip.wav"), 2, "-m base");
    assert_refused(RUN(*state, "-m", model), 2, "sound file");
    assert_refused(RUN(*state, "-m", "/nowhere/model.bin", "clip.wav"), 1, "/nowhere/model.bin");
    assert_refused(RUN(*state, "-m", model, "/nowhere/clip.wav"), 1, "/nowhere/clip.wav");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(both_texts, folder_set_up, folder_tear_down),
        cmocka_unit_test_setup_teardown(array_that_fails, folder_set_up, folder_tear_down),
        cmocka_unit_test_setup_teardown(refusals, folder_set_up, folder_tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
