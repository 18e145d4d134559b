/* Schedules of small programs: distances, loops, registers, tags, borders, and that the proof finds wrong bundles. */
#include "isa/sched/simulate.h"
#include "isa/sched_source.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

/* The lines of the program that was scheduled last: its code refers to them. */
static struct sched_source source_now;

static void finish(struct tw_sched_code *code)
{
    tw_sched_free(code);
    sched_source_free(&source_now);
}

static struct tw_sched_code *schedule(const char *text)
{
    struct tw_sched_code *code = NULL;
    struct tw_error err = {0, ""};

    assert_int_equal(sched_source_split(text, &source_now), 0);
    int result = tw_schedule(source_now.lines, source_now.n, NULL, &code, &err);
    if (result != 0)
        fail_msg("code %d, %s\n%s", result, err.text, text);
    return code;
}

/* The number of the bundle that holds the n-th operation of a mnemonic, -1: there are not so many. */
static long find(const struct tw_sched_code *code, const char *mnemonic, int n)
{
    for (size_t i = 0; i < code->n_bundles; i++)
        for (unsigned s = 0; s < TW_SLOT_COUNT; s++)
            if ((code->bundles[i].bundle.slots >> s & 1) != 0 &&
                strcmp(tw_instructions[code->bundles[i].bundle.op[s].instruction].mnemonic, mnemonic) == 0 && n-- == 0)
                return (long)i;
    return -1;
}

static const struct tw_operation *operation(const struct tw_sched_code *code, const char *mnemonic, int n)
{
    long i = find(code, mnemonic, n);
    for (unsigned s = 0; i >= 0 && s < TW_SLOT_COUNT; s++)
        if ((code->bundles[i].bundle.slots >> s & 1) != 0 &&
            strcmp(tw_instructions[code->bundles[i].bundle.op[s].instruction].mnemonic, mnemonic) == 0)
            return &code->bundles[i].bundle.op[s];
    fail_msg("there is no %s", mnemonic);
    return NULL;
}

/* ---- straight code */

static void distances_are_the_least(void **state)
{
    struct tw_sched_code *code = schedule(".reg p %p\n.reg r %a, %b, %c\n.in %p = p0, %c = r0\n"
                                          " lda %a, [%p], #4\n mul %b, %a, %a\n add %b, %b, %c\n st %b, [%p], #4\n");
    (void)state;
    assert_int_equal(find(code, "mul", 0) - find(code, "lda", 0), 7);
    assert_int_equal(find(code, "add", 0) - find(code, "mul", 0), 2);
    assert_int_equal(find(code, "st", 0) - find(code, "add", 0), 1);
    assert_int_equal((long)code->n_bundles - find(code, "st", 0), TW_DONE_DISTANCE); /* so that done may follow */
    finish(code);
}

static void independent_operations_share_a_bundle(void **state)
{
    struct tw_sched_code *code = schedule(".reg p %p, %q, %s\n.reg r %a, %b\n.reg wl %v, %w\n.reg cm %c\n"
                                          ".in %p = p0, %q = p1, %s = p2, %a = r0\n"
                                          " vldb %v, [%p], #32 @in\n vlda %w, [%q], #32 @in\n st %a, [%s], #4 @other\n"
                                          " add %b, %a, %a\n vclr %c\n");
    (void)state;
    for (int i = 0; i < 5; i++) {
        static const char *const names[] = {"vldb", "vlda", "st", "add", "vclr"};
        assert_int_equal(find(code, names[i], 0), 0);
    }
    finish(code);
}

/* A name that is used again is another value: the second load does not wait for the first one's reader. */
static void names_are_renewed(void **state)
{
    struct tw_sched_code *code =
        schedule(".reg p %p\n.reg r %a, %b, %c\n.in %p = p0\n lda %a, [%p], #4\n add %b, %a, %a\n"
                 " lda %a, [%p], #4\n add %c, %a, %a\n mul %c, %b, %c\n");
    (void)state;
    assert_int_equal(find(code, "lda", 1), 1);
    finish(code);
}

static void branches_have_full_delay_slots(void **state)
{
    struct tw_sched_code *code = schedule(".reg p %p\n.reg r %a\n.in %p = p0\n lda %a, [%p], #4\n st %a, [%p], #4\n"
                                          " padd [%p], #32\n ret lr\n");
    (void)state;
    /* The load takes 7, the store behind it 6 bundles: the last 5 of those 13 are the delay slots. */
    assert_int_equal(code->n_bundles, 13);
    assert_int_equal(find(code, "ret", 0), 7);
    finish(code);
}

/* Operations that want the branch's slot in each of its cycles make room for it, however many they are. */
static void branches_get_their_slot(void **state)
{
    static const char begin[] = ".reg r %a\n.in %a = r0\n", end[] = ".out %a = r0\n ret lr\n";
    static const char add[] = " add %a, %a, #1\n";

    (void)state;
    for (unsigned n = 0; n <= 20; n++) {
        char text[1024];
        char *at = text + snprintf(text, sizeof text, "%s", begin);
        for (unsigned i = 0; i < n; i++)
            at += snprintf(at, sizeof text - (size_t)(at - text), "%s", add);
        snprintf(at, sizeof text - (size_t)(at - text), "%s", end);
        struct tw_sched_code *code = schedule(text);
        unsigned slots = n + 1, least = 1 + TW_DELAY_SLOTS; /* one operation in a bundle; the branch and behind it */
        assert_int_equal(code->n_bundles, slots > least ? slots : least);
        finish(code);
    }
}

/* A branch that needs a result waits for it, and one behind a lock keeps it out of its delay slots. */
static void branches_wait_for_what_they_need(void **state)
{
    (void)state;
    struct tw_sched_code *code = schedule(".reg r %a, %b\n.in %a = r0, %b = r1\nagain:\n add %b, %b, #1\n"
                                          " add %b, %b, #1\n add %a, %a, #-1\n jnz %a, #again\n.out %b = r1\n");
    assert_int_equal(find(code, "add", 0), 0); /* of %a: the most pressed */
    assert_true(find(code, "jnz", 0) >= 1);
    assert_int_equal(code->n_bundles, find(code, "jnz", 0) + 1 + TW_DELAY_SLOTS);
    finish(code);
    code = schedule(".reg r %a, %b\n.in %a = r0, %b = r1\n add %b, %b, #1\n rel #48, %a\n add %b, %b, #1\n"
                    " add %b, %b, #1\n.out %b = r1\n ret lr\n");
    assert_true(find(code, "ret", 0) > find(code, "rel", 0));
    assert_int_equal(code->n_bundles, find(code, "ret", 0) + 1 + TW_DELAY_SLOTS);
    finish(code);
}

static void locks_keep_their_distance(void **state)
{
    struct tw_sched_code *code = schedule(".reg p %p\n.reg r %a, %b\n.in %p = p0, %b = r0\n lda %a, [%p], #4\n"
                                          " rel #48, %b\n lda %a, [%p], #4\n");
    (void)state;
    assert_int_equal(find(code, "rel", 0) - find(code, "lda", 0), 4);
    assert_int_equal(find(code, "lda", 1) - find(code, "rel", 0), 4);
    finish(code);
}

/* ---- memory */

static void tags_tell_what_may_meet(void **state)
{
    static const char text[] =
        ".reg p %%p, %%q\n.reg r %%a, %%b\n.in %%p = p0, %%q = p1, %%a = r0\n st %%a, [%%p], #4%s\n"
        " lda %%b, [%%q], #4%s\n";
    static const struct {
        const char *store, *load;
        long distance;
    } cases[] = {{"", "", 1},       {" @x", "", 1},    {"", " @x", 1},
                 {" @x", " @x", 1}, {" @x", " @y", 0}, {" @x", " @y:0", 0}};

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char source[512];
        snprintf(source, sizeof source, text, cases[i].store, cases[i].load);
        struct tw_sched_code *code = schedule(source);
        assert_int_equal(find(code, "lda", 0) - find(code, "st", 0), cases[i].distance);
        finish(code);
    }
}

static void banks_are_used_one_at_a_time(void **state)
{
    static const char text[] = ".reg p %%p, %%q\n.reg wl %%a, %%b\n.in %%p = p0, %%q = p1\n vldb %%a, [%%p], #32 @x%s\n"
                               " vlda %%b, [%%q], #32 @x%s\n";
    static const struct {
        const char *first, *second;
        int apart;
    } cases[] = {{"", "", 0}, {":0", ":1", 0}, {":0", ":0", 1}, {":0", "", 0}};

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char source[512];
        snprintf(source, sizeof source, text, cases[i].first, cases[i].second);
        struct tw_sched_code *code = schedule(source);
        assert_int_equal(find(code, "vlda", 0) != find(code, "vldb", 0), cases[i].apart);
        finish(code);
    }
}

/* ---- loops */

static void bounds_of_resources_and_recurrences(void **state)
{
    static const struct {
        const char *body;
        unsigned bound;
        const char *by;
    } cases[] = {
        {" vmac %c, %c, %x, %x, %r\n", 2, "the recurrence through line 8"},
        {" vmac.f %b, %b, %x, %x, %r\n", 4, "the recurrence through line 8"},
        {" vclr %c\n vmul %c, %x, %x, %r\n vclr %c\n", 3, "slot vec"},
        {" vld %x.l, [%p], #32\n vld %x.h, [%q], #32\n vld %w, [%p], #32\n vld %w, [%q], #32\n", 2, "slots ldb lda"},
        {" vldb %x.l, [%p], #32\n vldb %x.h, [%q], #32\n vld %w, [%q], #32\n", 2, "slot ldb"},
        {" st.s8 %r, [%p], #1 @t\n", 7, "unit PART_WORD_STORE"},
        {" vld %w, [%p], #32 @t:low\n vld %w, [%q], #32 @t:low\n vclr %c\n", 2, "bank low"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char source[1024];
        snprintf(source, sizeof source,
                 ".reg p %%p, %%q\n.reg r %%r\n.reg x %%x\n.reg wl %%w\n.reg cm %%c\n.reg bm %%b\n"
                 ".in %%p = p0, %%q = p1, %%r = r0, %%x = x0, %%c = cm0, %%b = bml5\n\n.loop 50\n%s.endloop\n",
                 cases[i].body);
        /* the loop's first line is the ninth, the body's the tenth */
        struct tw_sched_code *code = schedule(source);
        const struct tw_loop_report *r = &code->loops[0];
        if (r->bound != cases[i].bound || r->interval != r->bound ||
            (strstr(r->bound_by, "recurrence") == NULL ? strcmp(r->bound_by, cases[i].by) != 0
                                                       : strstr(cases[i].by, "recurrence") == NULL))
            fail_msg("%s: interval %u, bound %u by %s", cases[i].body, r->interval, r->bound, r->bound_by);
        finish(code);
    }
}

/* A chain of 17 bundles from load to store: five iterations are under way at once. */
static void iterations_overlap(void **state)
{
    struct tw_sched_code *code = schedule(".reg p %p, %q\n.reg x %v, %w\n.reg bm %b\n.reg s %s\n"
                                          ".in %p = p0, %q = p1, %s = s0\n"
                                          ".loop 40\n vld %v.l, [%p], #32 @a\n vld %v.h, [%p], #32 @a\n vmov %b, %v\n"
                                          " vsr.d16.s32 %w.l, %b, %s\n vsr.d16.s32 %w.h, %b, %s\n"
                                          " vst %w.l, [%q], #32 @b\n vst %w.h, [%q], #32 @b\n.endloop\n");
    const struct tw_loop_report *r = &code->loops[0];

    (void)state;
    assert_int_equal(r->operations, 7);
    assert_in_range(r->interval, r->bound, r->bound + 1);
    assert_true(r->stages > 3);
    assert_true(r->registers[TW_FILE_X] >= 2 && r->registers[TW_FILE_BM] >= 1 && r->registers[TW_FILE_P] == 2);
    finish(code);
}

static void few_trips_need_no_loop(void **state)
{
    (void)state;
    for (int trips = 1; trips <= 12; trips++) {
        char source[512];
        snprintf(source, sizeof source,
                 ".reg p %%p, %%q\n.reg wl %%w\n.in %%p = p0, %%q = p1\n.loop %d\n vld %%w, [%%p], #32 @a\n"
                 " vst %%w, [%%q], #32 @b\n.endloop\n",
                 trips);
        struct tw_sched_code *code = schedule(source);
        const struct tw_loop_report *r = &code->loops[0];
        long stores = 0;
        while (find(code, "vst", (int)stores) >= 0)
            stores++;
        /* 7 iterations are under way before the first store, so the loop's code is for trips above 8. */
        assert_int_equal(r->passes, trips < 9 ? 0 : trips - 7);
        assert_int_equal(stores - (r->passes > 0) + r->passes, trips);
        assert_int_equal(find(code, "movxm", 0) >= 0, r->passes > 0);
        finish(code);
    }
}

static void trips_in_a_register(void **state)
{
    struct tw_sched_code *code = schedule(".reg p %p, %q\n.reg wl %w\n.reg r %n\n.in %p = p0, %q = p1, %n = r3\n"
                                          ".loop %n least=8\n vld %w, [%p], #32 @a\n vst %w, [%q], #32 @b\n.endloop\n");
    (void)state;
    assert_int_equal(code->loops[0].trips, -1);
    assert_int_equal(code->loops[0].interval, 1);
    const struct tw_operation *count = operation(code, "add.nc", 0);
    assert_int_equal(count->operands[0], TW_R_LC);
    assert_int_equal(count->operands[1], TW_R_r3);
    assert_int_equal(count->operands[2], -7);
    finish(code);

    /* With too few trips for that, iterations overlap less. */
    code = schedule(".reg p %p, %q\n.reg wl %w\n.reg r %n\n.in %p = p0, %q = p1, %n = r3\n"
                    ".loop %n least=2\n vld %w, [%p], #32 @a\n vst %w, [%q], #32 @b\n.endloop\n");
    assert_true(code->loops[0].interval > 1);
    assert_true(code->loops[0].above[0] != '\0');
    finish(code);
}

/* A value that is needed for three intervals has names in turn; the count is divided. */
static const char long_lives[] = ".reg p %%p, %%q\n.reg bm %%b, %%c\n.reg x %%x\n.reg r %%r, %%n\n"
                                 ".in %%p = p0, %%q = p1, %%x = x0, %%r = r0, %%n = r1\n.loop %s\n"
                                 " vlda %%b.l, [%%p], #32 @a\n vlda %%b.h, [%%p], #32 @a\n"
                                 " vmac.f %%b, %%b, %%x, %%x, %%r\n vmac.f %%b, %%b, %%x, %%x, %%r\n"
                                 " vst %%b.l, [%%q], #32 @b\n vst %%b.h, [%%q], #32 @b\n.endloop\n";

static void long_lives_get_names_in_turn(void **state)
{
    char source[1024];

    (void)state;
    snprintf(source, sizeof source, long_lives, "60");
    struct tw_sched_code *code = schedule(source);
    assert_int_equal(code->loops[0].interval, 2);
    assert_true(code->loops[0].copies > 2);
    assert_int_equal(code->loops[0].bundles, code->loops[0].copies * 2);
    finish(code);

    snprintf(source, sizeof source, long_lives, "%n least=64 multiple=8");
    code = schedule(source);
    assert_true(code->loops[0].copies == 4 || code->loops[0].copies == 8);
    assert_true(find(code, "lshl", 0) >= 0);
    finish(code);

    snprintf(source, sizeof source, long_lives, "%n least=64");
    code = schedule(source);
    assert_int_equal(code->loops[0].copies, 1);
    assert_true(code->loops[0].interval > 2);
    finish(code);
}

static void independent_iterations(void **state)
{
    static const char text[] =
        ".reg p %%p, %%q\n.reg wl %%w\n.in %%p = p0, %%q = p1\n.loop 50%s\n vld %%w, [%%p], #32 @a\n"
        " vst %%w, [%%q], #32 @a\n.endloop\n";
    char source[512];

    (void)state;
    snprintf(source, sizeof source, text, "");
    struct tw_sched_code *code = schedule(source);
    assert_int_equal(code->loops[0].bound, 8); /* the load behind the store of the iteration before */
    finish(code);
    snprintf(source, sizeof source, text, " independent=a");
    code = schedule(source);
    assert_int_equal(code->loops[0].bound, 1);
    finish(code);
}

static void loop_ends_hold_no_part_word_store(void **state)
{
    struct tw_sched_code *code =
        schedule(".reg p %p\n.reg r %a\n.in %p = p0, %a = r0\n.loop 50\n st.s8 %a, [%p], #1\n.endloop\n");

    (void)state;
    assert_true(code->loops[0].bundles > 1);
    const struct tw_placed *end = &code->bundles[code->loops[0].first + code->loops[0].bundles - 1];
    assert_true((end->flags & TW_PLACE_LOOP_END) != 0);
    assert_int_equal(end->bundle.slots, 0);
    finish(code);
}

static void reports_say_what_came_of_loops(void **state)
{
    struct tw_sched_code *code = schedule(".reg p %p, %q\n.reg wl %w\n.in %p = p0, %q = p1\n.loop 20\n"
                                          " vld %w, [%p], #32 @a:0\n vst %w, [%q], #32 @a:0\n.endloop\n");
    struct tw_error err = {0, ""};
    char text[2048] = "";
    FILE *f = tmpfile();

    (void)state;
    assert_non_null(f);
    assert_int_equal(tw_layout(code->bundles, code->n_bundles, 0, &err), 0);
    tw_sched_report(code, f);
    rewind(f);
    assert_true(fread(text, 1, sizeof text - 1, f) > 0);
    fclose(f);
    assert_non_null(strstr(text, "loop of line 4: an iteration every 8 bundles; lower bound 8, set by the recurrence"));
    assert_non_null(strstr(text, "20 iterations: "));
    assert_non_null(strstr(text, "registers: p 2 of 8 x 1 of 12"));
    assert_non_null(strstr(text, " bytes\n"));
    finish(code);
}

/* ---- registers */

static int uses(const struct tw_sched_code *code, int reg)
{
    for (size_t i = 0; i < code->n_bundles; i++)
        for (unsigned s = 0; s < TW_SLOT_COUNT; s++) {
            const struct tw_operation *op = &code->bundles[i].bundle.op[s];
            const struct tw_instruction *in = &tw_instructions[op->instruction];
            for (unsigned k = 0; (code->bundles[i].bundle.slots >> s & 1) != 0 && k < in->n_operands; k++)
                if (in->operands[k].kind == TW_OPERAND_REGISTER)
                    for (unsigned l = 0; l < tw_registers[op->operands[k]].n_leaves; l++)
                        if (tw_registers[op->operands[k]].leaves[l] == reg)
                            return 1;
        }
    return 0;
}

static void borders_and_kept_registers(void **state)
{
    struct tw_sched_code *code = schedule(".keep r0, r1, r2, r3, r4, r5, r6, r7, r8, r10, r11, r12, r13, r14, r15\n"
                                          ".keep r18, r19, r20, r21, r22, r23, r24, r25, r26, r27, r28, r29, r30\n"
                                          ".reg r %a, %b, %c\n.in %a = r4\n.out %c = r9\n movi %b, #3\n"
                                          " mul %c, %a, %b\n add %c, %c, %a\n");
    (void)state;
    const struct tw_operation *mul = operation(code, "mul", 0), *add = operation(code, "add", 0);
    assert_int_equal(mul->operands[1], TW_R_r4);
    assert_int_equal(add->operands[0], TW_R_r9);
    for (int r = 0; r < 31; r++)
        if (r != 4 && r != 9 && r != 16 && r != 17)
            assert_false(uses(code, TW_R_r0 + r));
    finish(code);
}

/* One x holds two values at once where each needs only a half. */
static void halves_hold_two_values(void **state)
{
    struct tw_sched_code *code =
        schedule(".keep x1, x2, x3, x4, x5, x6, x7, x8, x9, x10, x11\n.reg wl %l\n.reg wh %h\n"
                 ".reg p %p, %q\n.in %p = p0, %q = p1\n vld %l, [%p], #32\n vld %h, [%p], #32\n"
                 " vst %h, [%q], #32\n vst %l, [%q], #32\n");
    (void)state;
    assert_true(uses(code, TW_R_wl0));
    assert_true(uses(code, TW_R_wh0));
    finish(code);
}

static void too_many_values(void **state)
{
    char source[2048];
    struct sched_source split;
    struct tw_sched_code *code = NULL;
    struct tw_error err = {0, ""};
    size_t n = 0;

    (void)state;
    n += (size_t)snprintf(source + n, sizeof source - n, ".reg p %%p, %%q\n.in %%p = p0, %%q = p1\n.reg x %%x0");
    for (int i = 1; i < 13; i++)
        n += (size_t)snprintf(source + n, sizeof source - n, ", %%x%d", i);
    n += (size_t)snprintf(source + n, sizeof source - n, "\n");
    for (int i = 0; i < 13; i++)
        n += (size_t)snprintf(source + n, sizeof source - n, " vld %%x%d.l, [%%p], #32 @a\n vmov %%x%d.h, %%x%d.l\n", i,
                              i, i);
    for (int i = 0; i < 13; i++)
        n += (size_t)snprintf(source + n, sizeof source - n, " vadd.32 %%x0, %%x0, %%x%d\n", i);
    n += (size_t)snprintf(source + n, sizeof source - n, " vst %%x0.l, [%%q], #32 @b\n");
    for (int i = 0; i < 13; i++)
        n += (size_t)snprintf(source + n, sizeof source - n, " vst %%x%d.l, [%%q], #32 @b\n", i);
    assert_int_equal(sched_source_split(source, &split), 0);
    assert_int_equal(tw_schedule(split.lines, split.n, NULL, &code, &err), TW_E_LIMIT);
    assert_non_null(strstr(err.text, "no register of kind x is left"));
    assert_null(code);
    sched_source_free(&split);
}

/* ---- addresses */

static int later(void *arg, const char *text, size_t size, int64_t *value, struct tw_error *err)
{
    (void)arg;
    (void)err;
    *value = 42;
    return size == 6 && memcmp(text, "answer", 6) == 0 ? 0 : 1;
}

static void labels_and_later_values(void **state)
{
    static const char text[] =
        ".reg p %to\n.reg r %a, %b\n movi %a, #answer\n movi %b, #elsewhere + 4\n movxm %to, #back\n"
        "back: add %a, %a, %b\n jnz %a, #back\n j #outside\n";
    const struct tw_sched_options options = {later, NULL, NULL};
    struct sched_source source;
    struct tw_sched_code *code = NULL;
    struct tw_error err = {0, ""};
    int labels = 0, texts = 0;

    (void)state;
    assert_int_equal(sched_source_split(text, &source), 0);
    if (tw_schedule(source.lines, source.n, &options, &code, &err) != 0)
        fail_msg("%s", err.text);
    assert_int_equal(code->n_labels, 1);
    assert_int_equal(code->labels[0].bundle, find(code, "add", 0));
    assert_true((code->bundles[code->labels[0].bundle].flags & TW_PLACE_ALIGN) != 0);
    for (size_t i = 0; i < code->n_fixups; i++) {
        const struct tw_sched_fixup *f = &code->fixups[i];
        if (f->target >= 0) {
            assert_int_equal(f->target, code->labels[0].bundle);
            labels++;
        } else {
            assert_true((f->size == 13 && memcmp(f->text, "elsewhere + 4", 13) == 0 && f->line->line == 4) ||
                        (f->size == 7 && memcmp(f->text, "outside", 7) == 0 && f->line->line == 8));
            texts++;
        }
    }
    assert_int_equal(labels, 2);
    assert_int_equal(texts, 2);
    tw_sched_free(code);
    sched_source_free(&source);
}

/* ---- the proof */

static const char proved[] = ".reg p %p, %q\n.reg x %x, %y\n.reg cm %c\n.reg r %r, %t\n.reg s %s\n.reg d %d\n"
                             ".in %p = p0, %q = p1, %r = r0, %y = x0, %s = s0, %d = d2\n.out %t = r9\n movi %t, #5\n"
                             ".loop 30\n vld %x.l, [%p], #32 @a\n vld.2d %x.h, [%p], %d @a\n vmul %c, %x, %y, %r\n"
                             " vst.srs.s16.s64 %c, %s, [%q], #32 @b\n add %t, %t, %t\n.endloop\n st %t, [%q], #4 @b\n";

/* Another value for an operand, or the same when there is none. */
static int64_t other_value(const struct tw_operand_info *o, int64_t value)
{
    if (o->kind != TW_OPERAND_REGISTER)
        return tw_operand_fits(o, value + o->scale) ? value + o->scale : value - o->scale;
    for (unsigned v = 0; o->bits > 0 && v < tw_register_classes[o->register_class].count; v++) {
        int reg = tw_register_classes[o->register_class].by_value[v];
        if (reg >= 0 && reg != value)
            return reg;
    }
    return value;
}

static void proof_finds_every_changed_operand(void **state)
{
    struct tw_sched_code *code = schedule(proved);
    struct tw_error err = {0, ""};
    unsigned changed = 0;

    (void)state;
    assert_int_equal(tw_sched_prove(code, &err), 0);
    for (size_t i = 0; i < code->n_bundles; i++)
        for (unsigned s = 0; s < TW_SLOT_COUNT; s++) {
            struct tw_operation *op = &code->bundles[i].bundle.op[s], kept = *op;
            const struct tw_instruction *in = &tw_instructions[op->instruction];
            for (unsigned k = 0; (code->bundles[i].bundle.slots >> s & 1) != 0 && k < in->n_operands; k++) {
                int fixed = 0;
                for (size_t f = 0; f < code->n_fixups; f++)
                    fixed |= code->fixups[f].bundle == i && code->fixups[f].slot == s && code->fixups[f].operand == k;
                op->operands[k] = other_value(&in->operands[k], op->operands[k]);
                tw_operation_complete(op);
                if (!fixed && op->operands[k] != kept.operands[k]) {
                    changed++;
                    if (tw_sched_prove(code, &err) != TW_E_STATE) {
                        char text[TW_OPERATION_TEXT_MAX];
                        tw_operation_print(op, text, sizeof text);
                        fail_msg("bundle %zu: %s was not found, operand %u", i, text, k);
                    }
                }
                *op = kept;
            }
        }
    assert_true(changed > 60);
    assert_int_equal(tw_sched_prove(code, &err), 0);
    finish(code);
}

static void proof_finds_missing_operations_and_wrong_loops(void **state)
{
    struct tw_sched_code *code = schedule(proved);
    struct tw_error err = {0, ""};

    (void)state;
    for (size_t i = 0; i < code->n_bundles; i++) {
        uint8_t slots = code->bundles[i].bundle.slots;
        if (slots == 0)
            continue;
        code->bundles[i].bundle.slots = 0;
        assert_int_equal(tw_sched_prove(code, &err), TW_E_STATE);
        code->bundles[i].bundle.slots = slots;
    }
    for (size_t f = 0; f < code->n_fixups; f++) {
        code->fixups[f].target++;
        assert_int_equal(tw_sched_prove(code, &err), TW_E_STATE);
        code->fixups[f].target--;
    }
    assert_int_equal(tw_sched_prove(code, &err), 0);
    finish(code);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(distances_are_the_least),
        cmocka_unit_test(independent_operations_share_a_bundle),
        cmocka_unit_test(names_are_renewed),
        cmocka_unit_test(branches_have_full_delay_slots),
        cmocka_unit_test(branches_get_their_slot),
        cmocka_unit_test(branches_wait_for_what_they_need),
        cmocka_unit_test(locks_keep_their_distance),
        cmocka_unit_test(tags_tell_what_may_meet),
        cmocka_unit_test(banks_are_used_one_at_a_time),
        cmocka_unit_test(bounds_of_resources_and_recurrences),
        cmocka_unit_test(iterations_overlap),
        cmocka_unit_test(few_trips_need_no_loop),
        cmocka_unit_test(trips_in_a_register),
        cmocka_unit_test(long_lives_get_names_in_turn),
        cmocka_unit_test(independent_iterations),
        cmocka_unit_test(loop_ends_hold_no_part_word_store),
        cmocka_unit_test(reports_say_what_came_of_loops),
        cmocka_unit_test(borders_and_kept_registers),
        cmocka_unit_test(halves_hold_two_values),
        cmocka_unit_test(too_many_values),
        cmocka_unit_test(labels_and_later_values),
        cmocka_unit_test(proof_finds_every_changed_operand),
        cmocka_unit_test(proof_finds_missing_operations_and_wrong_loops),
    };
    return cmocka_run_group_tests_name("sched", tests, NULL, NULL);
}
