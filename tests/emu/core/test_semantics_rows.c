/* Each instruction has exactly one row in one of the two tables, and the row goes with the instruction. */
#include "emu/semantics.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

static void count_rows(const struct tw_semantics *rows, unsigned n, unsigned *found)
{
    for (unsigned i = 0; i < n; i++) {
        assert_true(rows[i].instruction < TW_I_COUNT);
        found[rows[i].instruction]++;
    }
}

static void each_instruction_has_one_row(void **state)
{
    static unsigned found[TW_I_COUNT];
    unsigned n;
    const struct tw_semantics *rows = tw_scalar_semantics(&n);

    (void)state;
    count_rows(rows, n, found);
    rows = tw_vector_semantics(&n);
    count_rows(rows, n, found);
    for (unsigned i = 0; i < TW_I_COUNT; i++)
        if (found[i] != 1)
            fail_msg("%s has %u rows", tw_instructions[i].name, found[i]);
}

/* Instructions that touch memory say so in the table of instructions too, and how many bytes. */
static void check_memory(const struct tw_semantics *row)
{
    const struct tw_instruction *in = &tw_instructions[row->instruction];
    int stores = (in->flags & TW_FLAG_STORE) != 0, loads = (in->flags & TW_FLAG_LOAD) != 0 && !stores;

    if (row->action == TW_ACTION_TILE)
        return;
    if ((row->action == TW_ACTION_LOAD) != loads || (row->action == TW_ACTION_STORE) != stores)
        fail_msg("%s: action %u", in->name, row->action);
    if ((loads || stores) && (row->bytes == 0 || row->bytes > 64 || (row->bytes & (row->bytes - 1)) != 0))
        fail_msg("%s: %u bytes", in->name, row->bytes);
}

static void check_flow(const struct tw_semantics *row)
{
    const struct tw_instruction *in = &tw_instructions[row->instruction];

    if ((in->flags & TW_FLAG_BRANCH) != 0)
        assert_int_equal(row->action, TW_ACTION_BRANCH);
    if ((in->flags & TW_FLAG_LOCK) != 0)
        assert_int_equal(row->action, TW_ACTION_LOCK);
    if ((in->flags & TW_FLAG_STREAM) != 0)
        assert_int_equal(row->action, TW_ACTION_STREAM);
}

static void rows_go_with_their_instructions(void **state)
{
    unsigned n;
    const struct tw_semantics *rows = tw_scalar_semantics(&n);

    (void)state;
    for (unsigned i = 0; i < n; i++) {
        check_memory(&rows[i]);
        check_flow(&rows[i]);
    }
    rows = tw_vector_semantics(&n);
    for (unsigned i = 0; i < n; i++)
        check_memory(&rows[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(each_instruction_has_one_row),
                                       cmocka_unit_test(rows_go_with_their_instructions)};
    return cmocka_run_group_tests_name("semantics rows", tests, NULL, NULL);
}
