#include "emu/core/machine.h"

#include "isa/assembler.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static void load(struct machine *m, const struct tw_assembly *assembly)
{
    for (size_t i = 0; i < assembly->n_sections; i++) {
        const struct tw_as_section *s = &assembly->sections[i];
        uint8_t program[TW_PROGRAM_BYTES] = {0};
        if (s->kind != TW_SECTION_TEXT)
            continue;
        assert_true(s->address + s->size <= TW_PROGRAM_BYTES && s->address % 4 == 0);
        memcpy(program, s->bytes, s->size);
        assert_int_equal(tw_core_write_program(m->core, s->address, program, (s->size + 3u) & ~3u), 0);
    }
    for (size_t i = 0; i < assembly->n_old; i++)
        assert_int_equal(
            tw_core_expect_old(m->core, assembly->old[i].address, assembly->old[i].leaves, assembly->old[i].n), 0);
}

static struct machine *make(const char *name, const char *text, size_t size, int flags,
                            const struct tw_unknown *unknown)
{
    struct machine *m = calloc(1, sizeof *m);
    struct tw_assembly *assembly = NULL;
    struct tw_core_options options = {
        .strict = (flags & MACHINE_STRICT) != 0, .unknown = unknown, .name = "core (0, 2)"};

    assert_non_null(m);
    for (unsigned i = 0; i < TW_WINDOWS; i++)
        options.windows[i] = m->memory[i];
    if (tw_assemble(name, text, size, NULL, &assembly, &m->err) != 0)
        fail_msg("%s", m->err.text);
    if (tw_core_create(&options, &m->core, &m->err) != 0)
        fail_msg("%s", m->err.text);
    load(m, assembly);
    tw_assembly_free(assembly);
    return m;
}

struct machine *machine_make(const char *text, int flags, const struct tw_unknown *unknown)
{
    return make("test.s", text, strlen(text), flags, unknown);
}

struct machine *machine_load(const char *path, int flags)
{
    enum { SOURCE = 1 << 17 };
    static char text[SOURCE];
    char whole[1024];
    const char *root = getenv("TILEWRIGHT_SOURCE");

    snprintf(whole, sizeof whole, "%s/%s", root == NULL ? "." : root, path);
    FILE *f = fopen(whole, "rb");
    if (f == NULL)
        fail_msg("%s cannot be read", whole);
    size_t size = fread(text, 1, SOURCE, f);
    fclose(f);
    return make(path, text, size, flags, NULL);
}

void machine_free(struct machine *m)
{
    if (m == NULL)
        return;
    tw_core_free(m->core);
    free(m);
}

enum tw_core_state machine_run(struct machine *m, uint64_t cycles)
{
    return tw_core_run(m->core, tw_core_clock(m->core) + cycles, &m->err);
}

void machine_finish(struct machine *m)
{
    enum tw_core_state state = machine_run(m, 1000000);

    if (state == TW_CORE_FAILED)
        fail_msg("%s", m->err.text);
    assert_int_equal(state, TW_CORE_DONE);
}

uint32_t machine_word(const struct machine *m, unsigned reg)
{
    uint32_t value = 0;

    assert_int_equal(tw_core_register_read(m->core, (uint16_t)reg, &value, sizeof value), 0);
    return value;
}

void machine_set(struct machine *m, unsigned reg, uint32_t value)
{
    assert_int_equal(tw_core_register_write(m->core, (uint16_t)reg, &value, sizeof value), 0);
}

uint32_t machine_memory(const struct machine *m, uint32_t offset)
{
    uint32_t value;

    memcpy(&value, m->memory[TW_WINDOW_OWN] + offset, sizeof value);
    return value;
}

void machine_store(struct machine *m, uint32_t offset, uint32_t value)
{
    memcpy(m->memory[TW_WINDOW_OWN] + offset, &value, sizeof value);
}
