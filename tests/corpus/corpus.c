#include "corpus/corpus.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

int corpus_is_there(void)
{
    const char *folder = getenv("TILEWRIGHT_CORPUS");
    if (folder != NULL && folder[0] != '\0')
        return 1;
    puts("SKIPPED: set TILEWRIGHT_CORPUS to a folder with published NPU programs to run them");
    return 0;
}

void corpus_path(const char *file, char path[CORPUS_PATH])
{
    int length = snprintf(path, CORPUS_PATH, "%s/%s", getenv("TILEWRIGHT_CORPUS"), file);
    assert_true(length > 0 && length < CORPUS_PATH);
    if (access(path, R_OK) != 0) {
        printf("SKIPPED: %s is not there; tests/corpus/README.md says where it comes from\n", path);
        skip();
    }
}

static void add_buffer(struct corpus *c, uint64_t size)
{
    struct tw_error err = {0};
    unsigned char *bytes = NULL;
    size_t i = c->n_arguments++;
    assert_true(i < CORPUS_ARGUMENTS_MAX);
    if (size > 0 && tw_buffers_add(c->buffers, size, &c->addresses[i], &bytes, &err) != 0)
        fail_msg("%s", err.text);
    c->arguments[i] = bytes;
}

void corpus_open(struct corpus *c, const char *file, const char *kernel, const uint64_t *sizes, size_t n)
{
    char path[CORPUS_PATH];
    struct tw_error err = {0};
    *c = (struct corpus){0};
    corpus_path(file, path);
    if (tw_emu_program_open(path, kernel, &c->program, &err) != 0)
        fail_msg("%s", err.text);
    assert_int_equal(tw_buffers_create(&c->buffers, &err), 0);
    for (size_t i = 0; i < n; i++)
        add_buffer(c, sizes[i]);
    const struct tw_firmware_options options = {.columns = c->program.columns, .host = tw_buffers_host(c->buffers)};
    if (tw_firmware_create(&options, &c->firmware, &err) != 0)
        fail_msg("%s", err.text);
    c->number = tw_firmware_add_program(c->firmware, &c->program.pdi, &err);
    if (c->number < 0)
        fail_msg("%s", err.text);
}

void corpus_close(struct corpus *c)
{
    tw_firmware_free(c->firmware);
    tw_buffers_free(c->buffers);
    tw_emu_program_close(&c->program);
}

void corpus_run_control(struct corpus *c, const char *name, const struct tw_emu_control *control)
{
    struct tw_error err = {0};
    const struct tw_command command = {
        .program = (unsigned)c->number,
        .opcode = control->opcode,
        .host_patched = control->host_patched,
        .control_code = control->code,
        .arguments = c->addresses,
        .n_arguments = c->n_arguments,
    };
    if (tw_firmware_run(c->firmware, &command, &c->report, &err) != 0)
        fail_msg("%s", err.text);
    assert_int_equal(c->report.status, TW_FIRMWARE_OK);
    printf("%" PRIu64 " cycles modelled, %" PRIu64 " operations, %" PRIu64 " tokens: %s\n", c->report.cycles,
           c->report.operations, c->report.tokens, name);
}

void corpus_open_control(const struct corpus *c, const char *file, struct tw_emu_control *control)
{
    char path[CORPUS_PATH];
    struct tw_error err = {0};
    corpus_path(file, path);
    if (tw_emu_control_open(path, c->addresses, c->n_arguments, control, &err) != 0)
        fail_msg("%s", err.text);
    control->code.file = file;
}

void corpus_run(struct corpus *c, const char *file)
{
    struct tw_emu_control control;
    corpus_open_control(c, file, &control);
    corpus_run_control(c, file, &control);
    tw_emu_control_close(&control);
}

unsigned char *corpus_words(const struct tw_emu_control *control)
{
    unsigned char *words = control->memory != NULL ? control->memory : control->file.words;
    assert_ptr_equal(words, control->code.data);
    return words;
}
