/*
 * Random programs over random memory, in strict mode and without: an error, an end or the limit of cycles, never a
 * crash, and the same again from a reset.
 */
#include "emu/core.h"
#include "isa/isa.h"

#include <stdlib.h>
#include <string.h>

enum { HEADER = 16, LIMIT = 3000, ASKED_MAX = 64, FILLED = 8192 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The first bytes of the input, over and over. */
static void fill(uint8_t *bytes, size_t size, const uint8_t *from)
{
    for (size_t i = 0; i < size; i++)
        bytes[i] = (uint8_t)(from[i % HEADER] + i / HEADER);
}

static void set_registers(struct tw_core *core, const uint8_t *from)
{
    uint8_t value[128];

    for (unsigned r = 0; r < TW_R_COUNT; r++) {
        unsigned bits = tw_registers[r].bits;
        if (tw_registers[r].n_leaves != 1 || (from[r % HEADER] & 1) != 0)
            continue;
        fill(value, sizeof value, from);
        uint32_t pointer = TW_DATA_OWN + 32u * from[r % HEADER];
        if (tw_registers[r].group == TW_G_p)
            memcpy(value, &pointer, sizeof pointer);
        tw_core_register_write(core, (uint16_t)r, value, bits <= 32 ? 4 : bits / 8u);
    }
}

static enum tw_core_state run(struct tw_core *core, const uint8_t *from)
{
    struct tw_error err;
    enum tw_core_state state = TW_CORE_RUNNING;
    uint64_t until = tw_core_clock(core) + LIMIT;

    for (unsigned asked = 0; asked < ASKED_MAX; asked++) {
        state = tw_core_run(core, until, &err);
        if (state != TW_CORE_REQUEST)
            break;
        struct tw_core_answer answer = {.cycle = tw_core_clock(core) + from[asked % HEADER], .success = asked & 1};
        memcpy(answer.data, from, HEADER);
        tw_core_answer(core, &answer);
    }
    if (state == TW_CORE_FAILED && (err.text[0] == '\0' || tw_core_pc(core) > 0xfffff))
        abort();
    return state;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static uint8_t memory[TW_DATA_BYTES], program[TW_PROGRAM_BYTES];

    if (size < HEADER || size - HEADER > sizeof program)
        return 0;
    memset(program, 0, sizeof program);
    memcpy(program, data + HEADER, size - HEADER);
    for (int strict = 0; strict < 2; strict++) {
        struct tw_core_options options = {.strict = strict, .windows = {NULL, NULL, NULL, memory}};
        struct tw_core *core = NULL;
        if (tw_core_create(&options, &core, NULL) != 0)
            return 0;
        if (tw_core_write_program(core, 0, program, sizeof program) != 0)
            abort();
        enum tw_core_state states[2];
        for (int again = 0; again < 2; again++) {
            tw_core_reset(core);
            fill(memory, FILLED, data);
            set_registers(core, data);
            states[again] = run(core, data);
        }
        if (states[0] != states[1])
            abort();
        tw_core_free(core);
    }
    return 0;
}
