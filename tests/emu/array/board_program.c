#include "emu/array/board_program.h"

#include "isa/assembler.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

void put_program(struct board *b, unsigned column, unsigned row, const char *text)
{
    struct tw_assembly *assembly = NULL;
    if (tw_assemble("test.s", text, strlen(text), NULL, &assembly, &b->err) != 0)
        fail_msg("%s", b->err.text);
    for (size_t i = 0; i < assembly->n_sections; i++) {
        const struct tw_as_section *s = &assembly->sections[i];
        for (uint32_t at = 0; at < s->size; at += 4) {
            uint32_t word = 0;
            memcpy(&word, s->bytes + at, s->size - at < 4 ? s->size - at : 4);
            put(b, column, row, TW_CORE_PROGRAM + s->address + at, word);
        }
    }
    tw_assembly_free(assembly);
}

void start_core(struct board *b, unsigned column, unsigned row)
{
    put(b, column, row, TW_CORE_CONTROL, 0);
    put(b, column, row, TW_CORE_CONTROL, 1);
}
