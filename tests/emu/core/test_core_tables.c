/*
 * Table loads: four addresses at once into a table that lies in memory twice, in rows of 16 bytes that take turns.
 * Which entry an address finds is what AMD's color_detect needs to give its picture (tests/corpus/test_pictures.c).
 */
#include "emu/core/machine.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

enum { TABLE = 0x1000, ADDRESSES = 0x400, RESULT = 0x500, OWN = 0x70000, ROWS = 8, ROW_BYTES = 16 };

/* Bytes of the table: each says where it is; the second copy differs in its upper bit. */
static uint8_t byte_at(unsigned row, unsigned place, unsigned copy)
{
    return (uint8_t)(row * ROW_BYTES + place + 0x80 * copy);
}

static void put_table(struct machine *m)
{
    for (unsigned row = 0; row < ROWS; row++)
        for (unsigned copy = 0; copy < 2; copy++)
            for (unsigned place = 0; place < ROW_BYTES; place++)
                m->memory[TW_WINDOW_OWN][TABLE + 32 * row + 16 * copy + place] = byte_at(row, place, copy);
}

/* Loads entries of so many bytes by their indices, in both halves of the address register. */
static void check(unsigned entry_bytes, const unsigned indices[8])
{
    char text[1024];
    snprintf(text, sizeof text,
             ".text\n movxm p0, #0x70400\n movxm p1, #0x70500\n vlda wl0, [p0, #0]\n .rept 7\n nop\n .endr\n"
             " vldb.4x%u.lo wl2, wl0\n vldb.4x%u.hi wl4, wl0\n .rept 8\n nop\n .endr\n"
             " vst wl2, [p1, #0]\n vst wl4, [p1, #32]\n .rept 12\n nop\n .endr\n done\n",
             8 * entry_bytes, 8 * entry_bytes);
    struct machine *m = machine_make(text, 0, NULL);
    put_table(m);
    for (unsigned i = 0; i < 8; i++)
        machine_store(m, ADDRESSES + 4 * i, OWN + TABLE + 2 * entry_bytes * indices[i]);
    machine_finish(m);
    for (unsigned i = 0; i < 8; i++) {
        unsigned at = entry_bytes * indices[i], row = at / ROW_BYTES, place = at % ROW_BYTES;
        for (unsigned k = 0; k < 8; k++) {
            unsigned expected = place + k < ROW_BYTES ? byte_at(row, place + k, i % 2) : 0;
            assert_int_equal(m->memory[TW_WINDOW_OWN][RESULT + 8 * i + k], expected);
        }
    }
    machine_free(m);
}

static void entries_of_two_bytes(void **state)
{
    (void)state;
    check(2, (const unsigned[8]){0, 1, 2, 3, 4, 5, 6, 7});
    check(2, (const unsigned[8]){63, 8, 17, 42, 3, 3, 60, 31});
}

static void entries_of_four_bytes(void **state)
{
    (void)state;
    check(4, (const unsigned[8]){0, 1, 2, 3, 4, 5, 30, 31});
}

static void entries_of_eight_bytes(void **state)
{
    (void)state;
    check(8, (const unsigned[8]){0, 1, 2, 3, 12, 13, 14, 15});
}

/* The lowest bits of an address, within an entry, say nothing. */
static void bits_below_an_entry(void **state)
{
    static const char text[] = ".text\n movxm p0, #0x70400\n movxm p1, #0x70500\n vlda wl0, [p0, #0]\n .rept 7\n nop\n"
                               " .endr\n vldb.4x32.lo wl2, wl0\n .rept 8\n nop\n .endr\n vst wl2, [p1, #0]\n"
                               " .rept 12\n nop\n .endr\n done\n";
    struct machine *m = machine_make(text, 0, NULL);
    (void)state;
    put_table(m);
    for (unsigned i = 0; i < 4; i++)
        machine_store(m, ADDRESSES + 4 * i, OWN + TABLE + 8 * 5 + 2 * i + 1);
    machine_finish(m);
    for (unsigned i = 0; i < 4; i++)
        assert_int_equal(m->memory[TW_WINDOW_OWN][RESULT + 8 * i], byte_at(1, 4, i % 2));
    machine_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(entries_of_two_bytes),
        cmocka_unit_test(entries_of_four_bytes),
        cmocka_unit_test(entries_of_eight_bytes),
        cmocka_unit_test(bits_below_an_entry),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
