/* The checker: for each finding a small program that has it, and a twin that has not. */
#include "isa/assemble.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#define NOPS2 "nop\nnop\n"
#define NOPS3 NOPS2 "nop\n"
#define NOPS4 NOPS2 NOPS2
#define NOPS5 NOPS4 "nop\n"
#define NOPS6 NOPS4 NOPS2
#define FULL "nopb; nopa; nops; nopx; nopm; nopv\n" /* 16 bytes */
#define FULL6 FULL FULL FULL FULL FULL FULL
#define DONE NOPS6 "done\n"

static int is_told(const struct tw_as_message *m, const char *kind)
{
    return strcmp(m->kind, kind) == 0;
}

/* The program has this finding, once, with this severity and sentence in this line; there is no other error. */
static void finds(const char *text, const char *kind, enum tw_severity severity, unsigned line, const char *sentence)
{
    struct tw_assembly *a = assemble(text, NULL);
    unsigned found = 0;

    for (size_t i = 0; i < a->n_messages; i++) {
        const struct tw_as_message *m = &a->messages[i];
        if (!is_told(m, kind)) {
            if (m->severity == TW_SEVERITY_ERROR)
                fail_msg("in\n%s\nline %u: %s", text, m->place.line, m->text);
            continue;
        }
        found++;
        if (m->severity != severity || m->place.line != line || strstr(m->text, sentence) == NULL)
            fail_msg("in\n%s\nline %u, severity %d: %s", text, m->place.line, m->severity, m->text);
    }
    if (found != 1)
        fail_msg("%u times \"%s\" in\n%s", found, sentence, text);
    tw_assembly_free(a);
}

static void error_in(const char *text, const char *kind, unsigned line, const char *sentence)
{
    finds(text, kind, TW_SEVERITY_ERROR, line, sentence);
}

/* No errors, and nothing of this kind. */
static void clean(const char *text, const char *kind)
{
    struct tw_assembly *a = assemble(text, NULL);

    for (size_t i = 0; i < a->n_messages; i++)
        if (a->messages[i].severity == TW_SEVERITY_ERROR || is_told(&a->messages[i], kind))
            fail_msg("in\n%s\nline %u: %s", text, a->messages[i].place.line, a->messages[i].text);
    tw_assembly_free(a);
}

static void old_values(void **state)
{
    (void)state;
    error_in(
        "lda r0, [p0, #0]\n" NOPS5 "add r1, r0, r2\n" DONE, "old-value", 7,
        "\"add r1, r0, r2\" reads r0 6 bundles behind \"lda r0, [p0, #0]\" at 0x0, which writes it: it gets the old "
        "value; the new one is there from 7 on");
    clean("lda r0, [p0, #0]\n" NOPS6 "add r1, r0, r2\n" DONE, "old-value");
    clean("lda r0, [p0, #0]\n" NOPS5 ".old r0\nadd r1, r0, r2\n" DONE, "old-value");
    error_in("lda r0, [p0, #0]\n" NOPS5 ".old r1\nadd r1, r0, r2\n" DONE, "old-value", 8, "reads r0");
    finds(".foreign\nlda r0, [p0, #0]\n" NOPS5 "add r1, r0, r2\n" DONE, "old-value", TW_SEVERITY_NOTE, 8, "reads r0");
    clean("add r0, r0, r1\nadd r0, r0, r0; mov r3, r0\n" DONE, "old-value");

    /* A bypass brings a value one bundle sooner to those who have it. */
    clean("vshuffle x0, x1, x2, r0\nvshuffle x3, x0, x2, r0\n" DONE, "old-value");
    error_in("vshuffle x0, x1, x2, r0\nvst wl0, [p0, #0]\n" DONE, "old-value", 2, "reads wl0 1 bundle behind");
    clean("vshuffle x0, x1, x2, r0\nnop\nvst wl0, [p0, #0]\n" DONE, "old-value");

    /* Parts of registers are registers too; a walk reads all of its registers and writes its counter. */
    error_in("vlda wh3, [p0, #0]\nvshuffle x0, x3, x2, r0\n" DONE, "old-value", 2, "reads wh3");
    clean("vlda wh3, [p0, #0]\nvshuffle x0, x4, x2, r0\n" DONE, "old-value");
    error_in("lda dn1, [p0, #0]\nvldb.2d wl0, [p1], d1\n" DONE, "old-value", 2, "reads dn1");
}

/* What is in flight goes with execution, not with the text. */
static void old_values_on_all_ways(void **state)
{
    (void)state;
    /* a jump: the load stands in the last delay slot */
    error_in("j #far\n" NOPS4 "lda r0, [p0, #0]\n.align 16\nnear: add r1, r0, r0\n" DONE ".align 16\n"
             "far: nop\nadd r2, r0, r0\n" DONE,
             "old-value", 18, "reads r0 2 bundles behind");
    /* a condition: both ways; here the way on */
    error_in("jz r4, #far\n" NOPS4 "lda r0, [p0, #0]\nadd r1, r0, r0\n" DONE ".align 16\nfar:\n" DONE, "old-value", 7,
             "reads r0 1 bundle behind");
    /* a call and back */
    error_in("jl #f\n" NOPS5 ".align 16\nadd r1, r0, r0\n" DONE ".align 16\nf: ret lr\n" NOPS4 "lda r0, [p0, #0]\n",
             "old-value", 8, "reads r0 1 bundle behind");
    /* a return whose address comes from memory may be one to any call */
    error_in("jl #f\n" NOPS5 ".align 16\nadd r1, r0, r0\n" DONE ".align 16\nf: lda lr, [sp, #-4]\n" NOPS6
             "ret lr\n" NOPS4 "lda r0, [p0, #0]\n",
             "old-value", 8, "reads r0 1 bundle behind");
    /* a jump by register */
    error_in("movxm p3, #far\nnop\nj p3\n" NOPS4 "lda r0, [p0, #0]\n.align 16\nfar: add r2, r0, r0\n" DONE, "old-value",
             10, "reads r0 1 bundle behind");
    /* a loop of nine bundles, whose end reaches its beginning */
    static const char loop[] = "movxm LS, #start\nmovxm LE, #last\nmova LC, #4\n" FULL6
                               ".align 16\nstart: add r1, r0, r0\n" NOPS2 FULL "%s\n.align 16\nlast: " FULL DONE;
    char text[1024];
    snprintf(text, sizeof text, loop, "lda r0, [p0, #0]");
    error_in(text, "old-value", 11, "reads r0");
    snprintf(text, sizeof text, loop, "mova r0, #1");
    clean(text, "old-value");
}

static void new_values(void **state)
{
    (void)state;
    error_in("vlda.ups.s32.s16 bml0, s0, [p0, #0]\nnop\nmov s0, r1\n" DONE, "new-value", 1,
             "reads s0 so late that it gets what \"mov s0, r1\" writes 2 bundles later at 0x6");
    clean("vlda.ups.s32.s16 bml0, s0, [p0, #0]\n" NOPS5 "mov s0, r1\n" DONE, "new-value");
    clean(".old s0\nvlda.ups.s32.s16 bml0, s0, [p0, #0]\nnop\nmov s0, r1\n" DONE, "new-value");
    error_in("st.s16 r1, [p0, #0]; mov r1, r2\n" DONE, "new-value", 1, "writes 0 bundles later");
    finds(".foreign\nst.s16 r1, [p0, #0]; mov r1, r2\n" DONE, "new-value", TW_SEVERITY_NOTE, 2, "so late");
}

static void double_writes(void **state)
{
    (void)state;
    finds("lda r0, [p0, #0]\n" NOPS4 "mov r0, r1\n" DONE, "overtaken", TW_SEVERITY_WARNING, 6,
          "whose own write comes later and replaces it; from 7 on it does not");
    clean("lda r0, [p0, #0]\n" NOPS4 ".old r0\nmov r0, r1\n" DONE, "overtaken");
    clean("lda r0, [p0, #0]\n" NOPS6 "mov r0, r1\n" DONE, "overtaken");
    error_in("lda r0, [p0, #0]\n" NOPS5 "mov r0, r1\n" DONE, "same-write", 7, "writes r0 6 bundles behind");
    error_in("vlda wl0, [p0], #32; vldb wl2, [p0], #32\n" DONE, "same-write", 1, "writes p0 in the bundle of");
    clean("vlda wl0, [p0], #32; vldb wl2, [p1], #32\n" DONE, "same-write");
    finds(".foreign\nvlda wl0, [p0], #32; vldb wl2, [p0], #32\n" DONE, "same-write", TW_SEVERITY_WARNING, 2,
          "writes p0");
    /* Flags that only add up may come from two sides, here srUPS_of in cycles 8 and 1. */
    clean("vlda.ups.s32.s16 bml0, s0, [p0, #0]\n" NOPS6 "vups.s32.s16 bml1, wl0, s0\n" DONE, "same-write");
    clean("vmul.f bml0, x0, x1, r0\nnop\nvmul.f bml1, x0, x1, r0\n" DONE, "same-write");
}

static void units(void **state)
{
    (void)state;
    error_in("lda r0, [p0, #0]\n" NOPS5 "mova r1, #5\n" DONE, "unit", 7,
             "\"mova r1, #0x5\" needs R_WA_PORT 6 bundles behind \"lda r0, [p0, #0]\" at 0x0");
    clean("lda r0, [p0, #0]\n" NOPS4 "mova r1, #5\n" DONE, "unit");
    clean("lda r0, [p0, #0]\n" NOPS5 "mova p1, #5\n" DONE, "unit");
    error_in("vups.s32.s16 bml0, wl0, s0\nvmov bml1, x0\n" DONE, "unit", 2, "CM_WM_PORT");
    /* Ports of a register file do not count for registers of another one. */
    clean("st r0, [p0, #0]; mov p1, p2\n" DONE, "unit");
    error_in("st p3, [p0, #0]; mov p1, p2\n" DONE, "unit", 1, "needs P_RM_PORT in the bundle of");
    clean("movxm LS, #0; mova dj0, #4\n" DONE, "unit");
    /* Two operations may both keep away from a unit that neither holds. */
    clean("vlda wl0, [p0], #32; vldb wl2, [p1], #32\n" DONE, "unit");
    /* Some are held twice in programs that work. */
    finds("st.s8 r0, [p0, #0]\nnop\nlda r3, [p1, #0]\n" DONE, "unit", TW_SEVERITY_WARNING, 3, "PART_WORD_STORE");
    clean("st.s8 r0, [p0, #0]\n" NOPS6 "lda r3, [p1, #0]\n" DONE, "unit");
}

static void memory(void **state)
{
    (void)state;
    error_in("vst.srs.s16.s32 bml0, s0, [p0, #0]\nnop\nvlda wl1, [p0, #0]\n" DONE, "memory", 3,
             "accesses the place 2 bundles behind");
    clean("vst.srs.s16.s32 bml0, s0, [p0, #0]\n" NOPS2 "vlda wl1, [p0, #0]\n" DONE, "memory");
    clean("vst.srs.s16.s32 bml0, s0, [p0, #0]\nnop\nvlda wl1, [p0, #32]\n" DONE, "memory");
    clean("vst.srs.s16.s32 bml0, s0, [p0, #0]\nnop\nvlda wl1, [p1, #0]\n" DONE, "memory");
    error_in("vst.srs.s16.s32 bml0, s0, [p0], #64\npaddb [p0], #-32\nvlda wl1, [p0, #-32]\n" DONE, "memory", 3,
             "place");
    clean("vst.srs.s16.s32 bml0, s0, [p0], #64\npaddb [p0], #32\nvlda wl1, [p0, #-32]\n" DONE, "memory");
    clean("vst.srs.s16.s32 bml0, s0, [p0], #64\npaddb [p0], m0\nvlda wl1, [p0, #-64]\n" DONE, "memory");
    error_in("vst wl0, [sp, #-64]; vlda wl1, [sp, #-64]\n" DONE, "memory", 1, "place in the bundle of");
    clean("vst wl0, [sp, #-64]; vlda wl1, [sp, #-96]\n" DONE, "memory");
    error_in("vst wl0, [p0, #0]; vlda wl1, [p0], #32\n" DONE, "memory", 1, "place in the bundle of");
}

static void locks(void **state)
{
    (void)state;
    error_in("st r0, [p0, #0]\n" NOPS2 "rel #48, r1\n" DONE, "lock", 4,
             "stands 3 bundles behind \"st r0, [p0, #0]\" at "
             "0x0: 4 are needed between lock and memory");
    clean("st r0, [p0, #0]\n" NOPS3 "rel #48, r1\n" DONE, "lock");
    error_in("acq #48, r1\n" NOPS2 "lda r0, [p0, #0]\n" DONE, "lock", 4, "4 are needed");
    clean("acq #48, r1\n" NOPS3 "lda r0, [p0, #0]\n" DONE, "lock");
    error_in("acq #48, r1; lda r0, [p0, #0]\n" DONE, "lock", 1, "in the bundle of");
    error_in("vst.srs.s16.s32 bml0, s0, [p0, #0]\n" NOPS4 "rel #48, r1\n" DONE, "lock", 6, "6 are needed");
    finds(".foreign\nst r0, [p0, #0]\nrel #48, r1\n" DONE, "lock", TW_SEVERITY_NOTE, 3, "4 are needed");
    error_in("st r0, [p0, #0]\n" NOPS4 "done\n", "done", 6, "done stands 5 bundles behind");
    clean("st r0, [p0, #0]\n" NOPS5 "done\n", "done");
}

static void delay_slots(void **state)
{
    (void)state;
    error_in("x: j #x\nnop\nj #x\n" NOPS4 "done\n", "delay-slot", 3, "a branch in delay slot 2 of another");
    error_in("x: j #x\n" NOPS3, "delay-slot", 4, "5 delay slots of a branch are not done");
    clean("x: j #x\n" NOPS5, "delay-slot");
    finds("x: j #x\n" NOPS4 "acq #48, r0\n", "delay-slot", TW_SEVERITY_WARNING, 6, "a lock operation in delay slot 5");
    finds(".foreign\nx: j #x\n" NOPS4 "acq #48, r0\n", "delay-slot", TW_SEVERITY_NOTE, 7, "a lock operation");
    /* What stands in delay slots may be entered from elsewhere as well: then it falls through. */
    clean("j #a\n" NOPS5 ".align 16\na: jz r0, #b\n" NOPS5 ".align 16\nb:\n" DONE, "delay-slot");
}

/* A loop with its set-up; what stands in it is put in by the cases. */
static void loop_program(char text[2048], const char *setup, const char *between, const char *start, const char *last)
{
    snprintf(text, 2048, "%s%s.align 16\nstart: %s.align 16\nlast: %s" DONE, setup, between, start, last);
}

static void loops(void **state)
{
    (void)state;
    static const char setup[] = "movxm LS, #start\nmovxm LE, #last\nmova LC, #4\n";
    char text[2048];

    loop_program(text, setup, FULL6, FULL, FULL);
    clean(text, "loop");
    loop_program(text, setup, FULL6, "", FULL);
    error_in(text, "loop", 12, "ends 100 bytes behind the last writing of LC, LS or LE: 112 are needed");
    loop_program(text, setup, FULL6, FULL, "nopa; nopv\n");
    error_in(text, "loop", 13, "the last bundle of a loop has 8 bytes and needs 16");
    loop_program(text, "movxm LS, #start\nmovxm LE, #last+2\nmova LC, #4\n", FULL6, FULL, FULL);
    error_in(text, "loop", 2, "where no bundle begins");
    loop_program(text, "movxm LS, #start\nmovxm LE, #last+16*30\nmova LC, #4\n", FULL6, FULL, FULL);
    error_in(text, "loop", 2, "where no bundle begins");
    loop_program(text, "movxm LS, #start+4\nmovxm LE, #last\nmova LC, #4\n", FULL6, "nopa\n" FULL FULL, FULL);
    error_in(text, "loop", 1, "which is not divisible by 16");
    loop_program(text, "movxm LS, #start+8\nmovxm LE, #last\nmova LC, #4\n", FULL6, FULL FULL, FULL);
    error_in(text, "loop", 1, "where no bundle begins");
    loop_program(text, "movxm LS, #start\nmovxm LE, #last+16\nmova LC, #4\n", FULL6, FULL,
                 "nopa; nopv\nnopa; nopv\n" FULL);
    clean(text, "loop");
    loop_program(text, "movxm LS, #start\nmovxm LE, #last+4\nmova LC, #4\n", FULL6, FULL, "nopa\n" FULL);
    error_in(text, "loop", 2, "LE is 0x");
    loop_program(text, "movxm LS, #last+16\nmovxm LE, #last\nmova LC, #4\n", FULL6, FULL, FULL FULL);
    error_in(text, "loop", 13, "this loop ends before its start");

    loop_program(text, setup, FULL6, FULL, "nopb; st.s8 r0, [p0, #0]; nops; nopx; nopm; nopv\n" FULL);
    error_in(text, "loop", 13, "a store of 8 or 16 bits in the last bundle of a loop of 32 bytes is lost");
    loop_program(text, setup, FULL6, FULL6, "nopb; st.s8 r0, [p0, #0]; nops; nopx; nopm; nopv\n" FULL);
    clean(text, "loop");

    loop_program(text, setup, FULL6, "jz r0, #start\n" NOPS3 "nopa\n", FULL);
    error_in(text, "loop", 17, "cannot hold a branch or lie in delay slots");
    loop_program(text, setup, FULL6, "jz r0, #start\n" NOPS5, FULL);
    clean(text, "loop");

    /* The last of several writings counts, on the nearest way. */
    loop_program(text, setup, FULL6 FULL6 "mova LC, #9\n", FULL FULL, FULL);
    error_in(text, "loop", 21, "ends 48 bytes behind");
    loop_program(text, ".foreign\nmovxm LS, #start\nmovxm LE, #last\nmova LC, #4\n", FULL6, "", FULL);
    finds(text, "loop", TW_SEVERITY_NOTE, 13, "112 are needed");
}

/* After a loop LE stays: the set-up of the next one must not make the first one a loop of its own. */
static void loop_after_loop(void **state)
{
    (void)state;
    clean("x: movxm LS, #s1\nmovxm LE, #e1\nmova LC, #4\n" FULL6 ".align 16\ns1: " FULL "e1: " FULL
          "movxm LS, #s2\nmovxm LE, #e2\nmova LC, #4\n" FULL6 ".align 16\ns2: " FULL "e2: " FULL
          "jnz r0, #x\n" NOPS5 DONE,
          "loop");
}

static void targets(void **state)
{
    (void)state;
    error_in("nop\nx: j #x\n" NOPS5, "target", 2, "a jump to 0x2, which is not divisible by 16");
    error_in("nopa; nopv\nj #16\nnopa\n" NOPS4 FULL DONE, "target", 2, "a jump to 0x10, where no bundle begins");
    error_in("j #0x100\n" NOPS5, "target", 1, "a jump to 0x100, outside the program");
    error_in("nop\njl #f\n" NOPS5 DONE ".align 16\nf: ret lr\n" NOPS5, "target", 2,
             "the callee returns to 0x12, which");
    clean("jl #f\n" NOPS5 DONE ".align 16\nf: ret lr\n" NOPS5, "none");
    finds(".foreign\nj #0x100\n" NOPS5, "target", TW_SEVERITY_WARNING, 2, "outside the program");
}

static void flow(void **state)
{
    (void)state;
    finds("nop\nnop\n", "flow", TW_SEVERITY_WARNING, 2, "execution runs past this bundle");
    finds("nop\n.half 0\nnop\ndone\n", "flow", TW_SEVERITY_WARNING, 1, "execution runs past this bundle");
    finds("j p0\n" NOPS5 ".align 16\nx: j #x\n" NOPS5, "flow", TW_SEVERITY_NOTE, 1,
          "where this jump leads is not known");
    clean("x: j #x\n" NOPS5, "flow");
    clean("ret lr\n" NOPS5, "flow");
    /* Code that nothing leads to is checked as well. */
    error_in("x: j #x\n" NOPS5 "lda r0, [p0, #0]\nadd r1, r0, r0\n" DONE, "old-value", 8, "reads r0");
}

/* What programs in sections on top of each other do is their own business. */
static void programs_apart(void **state)
{
    (void)state;
    static const char two[] = ".section .text.a\na: j #a\n" NOPS4 "lda r0, [p0, #0]\n"
                              ".section .text.b\nb: j #b\n" NOPS4 "add r1, r0, r0\n";
    clean(two, "old-value");
}

struct told {
    struct tw_finding last;
    unsigned count;
};

static void tell(void *arg, const struct tw_finding *f)
{
    struct told *t = arg;
    t->last = *f;
    t->count++;
}

/* What the assembler would not let through. */
static void sizes_and_order(void **state)
{
    (void)state;
    static const uint8_t nop[] = {1, 0}, bad[] = {0x19, 0xff, 0xff, 0xff};
    struct told told = {{0}, 0};
    const struct tw_check_options options = {.finding = tell, .arg = &told};
    struct tw_error err;
    struct tw_check_bundle b[2] = {{nop, 0x3ffe, 2, 0, 0, NULL}, {nop, 0x4000, 2, 0, 0, NULL}};

    assert_int_equal(tw_check(b, 2, NULL, 0, &options, &err), 1);
    assert_int_equal(told.last.kind, TW_FINDING_SIZE);
    assert_non_null(strstr(told.last.text, "the program ends at 0x4002: program memory has 0x4000 bytes"));
    b[1].address = 0x3ffe;
    assert_int_equal(tw_check(b, 2, NULL, 0, &options, &err), TW_E_FORMAT);
    b[1] = (struct tw_check_bundle){bad, 0x4000, 4, 0, 0, NULL};
    assert_int_equal(tw_check(b, 2, NULL, 0, &options, &err), TW_E_FORMAT);
    assert_int_equal(tw_check(b, 0, NULL, 0, &options, &err), 0);
}

/* The scheduler's order of values is its own proof; ports are asked for all the same. */
static void scheduled_bundles(void **state)
{
    (void)state;
    uint8_t code[3][TW_BUNDLE_MAX];
    struct tw_check_bundle b[3];
    static const char *const text[] = {"vlda wl0, [p0, #0]", "vst wl0, [p0, #0]", "done"};
    struct told told = {{0}, 0};
    const struct tw_check_options options = {.finding = tell, .arg = &told};
    struct tw_error err;
    uint32_t address = 0;

    for (unsigned i = 0; i < 3; i++) {
        size_t n = bundle_bytes(text[i], code[i]);
        b[i] = (struct tw_check_bundle){code[i], address, (uint8_t)n, TW_CHECK_SCHEDULED, 0, NULL};
        address += (uint32_t)n;
    }
    b[2].flags = 0;
    assert_int_equal(tw_check(b, 3, NULL, 0, &options, &err), 2); /* both are too near to done */
    assert_int_equal(told.last.kind, TW_FINDING_DONE);
    b[1].flags = 0;
    assert_int_equal(tw_check(b, 3, NULL, 0, &options, &err), 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(old_values),
        cmocka_unit_test(old_values_on_all_ways),
        cmocka_unit_test(new_values),
        cmocka_unit_test(double_writes),
        cmocka_unit_test(units),
        cmocka_unit_test(memory),
        cmocka_unit_test(locks),
        cmocka_unit_test(delay_slots),
        cmocka_unit_test(loops),
        cmocka_unit_test(loop_after_loop),
        cmocka_unit_test(targets),
        cmocka_unit_test(flow),
        cmocka_unit_test(programs_apart),
        cmocka_unit_test(sizes_and_order),
        cmocka_unit_test(scheduled_bundles),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
