/* Parsing: values and symbols from the caller, what each wrong text is told, and mangled text. */
#include "isa/parse.h"
#include "isa/random_operation.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

static void faults(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        size_t column;
        const char *sentence; /* a part of it */
    } wrong[] = {
        {"", 0, "expected an operation"},
        {"   ", 3, "expected an operation"},
        {"nopa;", 5, "expected an operation"},
        {"; nopa", 0, "expected an operation"},
        {"vlad wl0, [p0], #32", 0, "\"vlad\" is no instruction"},
        {"#5", 0, "expected an operation"},
        {"add r0, r1", 10, "expected \",\", not nothing (add "},
        {"add r0, r1, r2, r3", 14, "expected nothing, not \",\""},
        {"jl nowhere", 3, "expected one of p0 .. p7, or an immediate #value, not \"nowhere\""},
        {"j nowhere", 2, "expected one of p0 .. p7, or an immediate #value, not \"nowhere\""},
        {"jnz r1, nowhere", 8, "expected an immediate #value, addresses"},
        {"add r0, r1, nowhere", 12, ", or an immediate #value, not \"nowhere\""},
        {"add r0, p1, r2", 8, "expected one of r0 .. r31, not \"p1\""},
        {"add r0, r1, #64", 12, "\"#64\" does not fit: numbers from -64 to 63"},
        {"add r0, r1, #0x10000000000000000", 12, "is no number"},
        {"add r0, r1, #", 12, "\"#\" is no number"},
        {"add r0, r1, #zero", 12, "\"#zero\" is no number"},
        {"vlda.conv.fp32.bf16 bml0, [p0], #33", 32, "\"#33\" does not fit: multiples of 32 from -256 to 224"},
        {"vldb wl0, [p0, #96", 18, "expected \"]\", not nothing"},
        {"vlda wl0, [sp, #32]", 15, "multiples of 32 from -131072 to -32"},
        {"vlda.3d wl0, [p0], d5", 19, "expected one of d0 .. d3, not \"d5\""},
        /* of many forms the one is told whose registers have such names */
        {"vlda wl12, [p0], #32", 5, "expected one of wl0 .. wh11, not \"wl12\""},
        {"vlda wh12, [p0, #32]", 5, "expected one of wl0 .. wh11, not \"wh12\""},
        {"vmov x12, x0", 5, "expected one of x0 .. x11, not \"x12\""},
        {"vmov cm9, cm0", 5, "expected one of cm0 .. cm8, not \"cm9\""},
        {"vmac.f bmh0, bmh9, x0, x2, r3", 13, "expected one of bml0 .. bmh8, not \"bmh9\""},
        {"vaddmac cm1, cm2, cm3, x0, x1, r0", 13, "must name the same register as operand dst"},
        {"acq.cond r1, r2, r25", 17, "expected \"r26\", not \"r25\""},
        {"jl #0x100000", 3, "addresses from 0 to 1048575"},
        {"movxm r0, #0x100000000", 10, "numbers from -2147483648 to 2147483647"},
        {"mov r0, r1; mov r2, r3", 12, "needs slot mv, which is taken or excluded here"},
        {"movxm r0, #1; mov r2, r3", 14, "needs slot mv"},
        {"add r0, r1, r2; jl #0", 16, "needs slot lng"},
        {"nop; add r0, r1, r2", 0, "nop stands alone or before lng"},
        {"add r0 r1, r2", 7, "expected \",\", not \"r1\""},
        {"add , , , , , , , , , , , , , , , , , , , , , , , , ,", 0, "too many words"},
        {"add r0, r1, \x01\x02\n", 12, "not \"??\""},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        struct tw_bundle bundle;
        struct tw_error err = {0, ""};
        size_t unresolved, column = 999;
        int code =
            tw_bundle_parse(wrong[i].text, strlen(wrong[i].text), NULL, &bundle, NULL, &unresolved, &column, &err);
        if (code != TW_E_FORMAT || strstr(err.text, wrong[i].sentence) == NULL || column != wrong[i].column)
            fail_msg("\"%s\": code %d, column %zu, \"%s\"", wrong[i].text, code, column, err.text);
    }
}

static void one_operation(const char *text, unsigned instruction, struct tw_operation *op)
{
    struct tw_error err = {0, ""};
    int code = tw_operation_parse(text, strlen(text), TW_SLOT_COUNT, NULL, op, NULL, NULL, NULL, &err);
    if (code != 0)
        fail_msg("\"%s\": %s", text, err.text);
    assert_string_equal(tw_instructions[op->instruction].name, tw_instructions[instruction].name);
}

static void forms_that_fit(void **state)
{
    (void)state;
    struct tw_operation op;

    one_operation("add r0, r1, r2", TW_I_ADD, &op);
    one_operation("add r0, r1, #-64", TW_I_ADD_add_r_ri, &op);
    one_operation("j p3", TW_I_J_jump_ind, &op);
    one_operation("j #0x1b0", TW_I_J_jump_imm, &op);
    one_operation("mov r3, r4", TW_I_MOV_mv_scl, &op);
    one_operation("mov r3, #-7", TW_I_MOV_mv_cg, &op);
    one_operation("mov r3, SS", TW_I_MOV_mv_ss2scl, &op);
    one_operation("mov ms, r3", TW_I_MOV_mv_scl2ms, &op);
    one_operation("mov ms, r3, r28", TW_I_MOV_mv_scl2ms_doTlast_reg, &op);
    one_operation("mov l2, cntr", TW_I_MOV_CNTR, &op);
    one_operation("vmov x0, SCD", TW_I_VMOV_mv_scd, &op);
    one_operation("vmov MCD, bml1", TW_I_VMOV_mv_mcd, &op);
    one_operation("vmov wl0, q1", TW_I_VMOV_mv_w, &op);
    one_operation("vmov cm1, cm2", TW_I_VMOV_mv_cm, &op);
    one_operation("vclr cm1", TW_I_VCLR_vclr, &op);
    one_operation("vclr bmh1", TW_I_VCLR_vclr_BF, &op);
    one_operation("vmac cm0, cm0, x0, qx1, r0", TW_I_VMAC_vmac_cm_core_sparse_narrow, &op);
    one_operation("vlda.2d wl0, [p0], d5", TW_I_VLDA_2D_dmw_lda_w, &op);
    assert_int_equal(op.operands[2], TW_R_dc5);
    one_operation("vlda.3d wl0, [p0], d2", TW_I_VLDA_3D_dmw_lda_w, &op);
    assert_int_equal(op.operands[5], TW_R_d2_3d);
    one_operation("  movxm\tr0 ,\t#0xffffffff  ", TW_I_MOVXM_lng_cg, &op);
    assert_int_equal(op.operands[1], -1);
    one_operation("movxm r0, #-0x80000000", TW_I_MOVXM_lng_cg, &op);
    assert_int_equal(op.operands[1], INT32_MIN);
    one_operation("divs r2, r31, r3, r4", TW_I_DIVS, &op);
    assert_int_equal(op.operands[1], TW_R_r31);
}

/* Symbols: "known" is 64, "later" has no value yet, "wrong" fails. %acc is bmh3. */
static int symbol_value(void *arg, const char *text, size_t size, int64_t *value, struct tw_error *err)
{
    (void)arg;
    if (size == 10 && memcmp(text, "(known, 0)", size) == 0) {
        *value = 64;
        return 0;
    }
    if (size == 5 && memcmp(text, "later", size) == 0)
        return 1;
    return tw_fail(err, TW_E_NOT_FOUND, "no symbol %.*s", (int)size, text);
}

static int symbol_register(void *arg, const char *text, size_t size)
{
    (void)arg;
    return size == 4 && memcmp(text, "%acc", 4) == 0    ? TW_R_bmh3
           : size == 5 && memcmp(text, "%walk", 5) == 0 ? TW_R_d1
                                                        : -1;
}

static const struct tw_parse_context symbols = {symbol_value, symbol_register, NULL};

static void values_and_names_from_outside(void **state)
{
    (void)state;
    struct tw_bundle bundle;
    struct tw_unresolved unresolved[TW_UNRESOLVED_MAX];
    size_t n = 7, column = 0;
    struct tw_error err = {0, ""};
    static const char text[] = "vlda wl0, [p0], # (known, 0) ; movxm r1, #later; vneg.f %acc, %acc, r0";

    assert_int_equal(tw_bundle_parse(text, strlen(text), &symbols, &bundle, unresolved, &n, &column, &err), 0);
    assert_int_equal(bundle.op[TW_SLOT_LDA].operands[3], 64);
    assert_int_equal(bundle.op[TW_SLOT_VEC].operands[1], TW_R_bmh3);
    assert_int_equal(n, 1);
    assert_int_equal(unresolved[0].slot, TW_SLOT_LNG);
    assert_int_equal(unresolved[0].operand, 1);
    assert_int_equal(unresolved[0].size, 5);
    assert_ptr_equal(unresolved[0].text, strstr(text, "later"));

    static const char walk[] = "padda.3d [p1], %walk";
    assert_int_equal(tw_bundle_parse(walk, strlen(walk), &symbols, &bundle, unresolved, &n, &column, &err), 0);
    assert_int_equal(bundle.op[TW_SLOT_LDA].operands[4], TW_R_d1_3d);
    assert_int_equal(n, 0);

    static const char wrong[] = "add r0, r1, #nothing";
    assert_int_equal(tw_bundle_parse(wrong, strlen(wrong), &symbols, &bundle, unresolved, &n, &column, &err),
                     TW_E_NOT_FOUND);
    assert_string_equal(err.text, "no symbol nothing");
    assert_int_equal(column, 12);

    static const char late[] = "add r0, r1, #later";
    assert_int_equal(tw_bundle_parse(late, strlen(late), &symbols, &bundle, NULL, &n, &column, &err), TW_E_FORMAT);
    assert_string_equal(err.text, "\"#later\" has no value");
}

/* A zero byte is a character like others, not the end of a word. */
static void zero_bytes(void **state)
{
    (void)state;
    struct tw_operation op;
    assert_int_equal(tw_operation_parse("nop", 3, TW_SLOT_COUNT, NULL, &op, NULL, NULL, NULL, NULL), 0);
    assert_int_equal(tw_operation_parse("nop\0", 4, TW_SLOT_COUNT, NULL, &op, NULL, NULL, NULL, NULL), TW_E_FORMAT);
    assert_int_equal(tw_operation_parse("j p0\0", 5, TW_SLOT_COUNT, NULL, &op, NULL, NULL, NULL, NULL), TW_E_FORMAT);
    assert_int_equal(tw_operation_parse("j #1\0", 5, TW_SLOT_COUNT, NULL, &op, NULL, NULL, NULL, NULL), TW_E_FORMAT);
}

/* The slot that a caller asks for is the only one. */
static void restricted_to_a_slot(void **state)
{
    (void)state;
    struct tw_operation op;
    assert_int_equal(tw_operation_parse("mov r3, SS", 10, TW_SLOT_LDA, NULL, &op, NULL, NULL, NULL, NULL), 0);
    assert_int_equal(tw_operation_parse("mov r3, SS", 10, TW_SLOT_MV, NULL, &op, NULL, NULL, NULL, NULL), TW_E_FORMAT);
}

/* Values that are wrong are refused when encoding, with the operand's name and range. */
static void encoding_checks_operands(void **state)
{
    (void)state;
    struct tw_operation op;
    struct tw_error err;
    uint64_t word;

    one_operation("vlda.conv.fp32.bf16 bml0, [p0], #32", TW_I_VLDA_CONV_FP32_BF16_pstm_nrm_imm, &op);
    op.operands[3] = 33;
    assert_int_equal(tw_operation_encode(&op, &word, &err), TW_E_ARGUMENT);
    assert_string_equal(err.text,
                        "#33 does not fit operand imm of vlda.conv.fp32.bf16: multiples of 32 from -256 to 224");
    op.operands[3] = 32;
    op.operands[0] = TW_R_wl0;
    assert_int_equal(tw_operation_encode(&op, &word, &err), TW_E_ARGUMENT);
    assert_string_equal(err.text, "wl0 cannot be operand dst of vlda.conv.fp32.bf16: expected one of bml0 .. bmh8");
    op.operands[0] = -1;
    assert_int_equal(tw_operation_encode(&op, &word, &err), TW_E_ARGUMENT);
    op.operands[0] = TW_R_bml0;
    op.operands[2] = TW_R_p1; /* tied to ptr_out, which is p0 */
    assert_int_equal(tw_operation_encode(&op, &word, &err), TW_E_ARGUMENT);
    assert_string_equal(err.text, "operand ptr of vlda.conv.fp32.bf16 follows from the others: it must be p0");
    op.instruction = TW_I_COUNT;
    assert_int_equal(tw_operation_encode(&op, &word, &err), TW_E_ARGUMENT);
}

static void immediates_at_their_limits(void **state)
{
    (void)state;
    struct tw_random random = {1};

    for (unsigned i = 0; i < TW_I_COUNT; i++)
        for (unsigned k = 0; k < tw_instructions[i].n_operands; k++) {
            const struct tw_operand_info *o = &tw_instructions[i].operands[k];
            struct tw_operation op;
            uint64_t word;
            int64_t low, high;
            if (o->kind == TW_OPERAND_REGISTER)
                continue;
            random_operation(&random, i, &op);
            immediate_limits(o, &low, &high);
            const int64_t values[] = {low, high, low - o->scale, high + o->scale, low + 1, INT64_MIN, INT64_MAX};
            for (size_t v = 0; v < sizeof values / sizeof values[0]; v++) {
                op.operands[k] = values[v];
                int good = v < 2 || (v == 4 && o->scale == 1);
                assert_int_equal(tw_operation_encode(&op, &word, NULL), good ? 0 : TW_E_ARGUMENT);
            }
        }
}

static void bundles_that_do_not_fit(void **state)
{
    (void)state;
    struct tw_bundle bundle = {.slots = 1u << TW_SLOT_ALU | 1u << TW_SLOT_LNG, .format = -1};
    uint8_t bytes[TW_BUNDLE_MAX];
    struct tw_error err;

    one_operation("add r0, r1, r2", TW_I_ADD, &bundle.op[TW_SLOT_ALU]);
    one_operation("jl #0", TW_I_JL, &bundle.op[TW_SLOT_LNG]);
    assert_int_equal(tw_bundle_encode(&bundle, bytes, &err), TW_E_ARGUMENT);
    bundle.slots = 1u << TW_SLOT_ALU;
    assert_int_equal(tw_bundle_encode(&bundle, bytes, &err), 4);
    bundle.format = TW_F_I32_VEC;
    assert_int_equal(tw_bundle_encode(&bundle, bytes, &err), TW_E_ARGUMENT);
    assert_string_equal(err.text, "bundle format I32_VEC does not carry all slots of the bundle");
    bundle.format = TW_FORMAT_COUNT;
    assert_int_equal(tw_bundle_encode(&bundle, bytes, &err), TW_E_ARGUMENT);
    bundle.format = TW_F_I128_LDB_LDA_ST_ALU_MV_VEC;
    assert_int_equal(tw_bundle_encode(&bundle, bytes, &err), 16);
    bundle.op[TW_SLOT_ALU] = bundle.op[TW_SLOT_LNG];
    assert_int_equal(tw_bundle_encode(&bundle, bytes, &err), TW_E_ARGUMENT);
    assert_string_equal(err.text, "JL stands in a slot of the bundle that is not its own");
}

static void small_buffers(void **state)
{
    (void)state;
    struct tw_operation op;
    char text[TW_OPERATION_TEXT_MAX];

    one_operation("add r10, r11, r12", TW_I_ADD, &op);
    for (size_t size = 0; size <= 17; size++) {
        memset(text, 'x', sizeof text);
        assert_int_equal(tw_operation_print(&op, text, size), TW_E_LIMIT);
        assert_true(size == 0 || text[0] == '\0');
        assert_int_equal(text[size], 'x');
    }
    assert_int_equal(tw_operation_print(&op, text, 18), 17);
    op.operands[0] = TW_R_COUNT;
    assert_int_equal(tw_operation_print(&op, text, sizeof text), TW_E_ARGUMENT);
    op.instruction = TW_I_COUNT;
    assert_int_equal(tw_operation_print(&op, text, sizeof text), TW_E_ARGUMENT);
}

static void mangle(struct tw_random *random, char *text, int length)
{
    static const char characters[] = " ,;[]#$%()+-.0123456789abcdefghijklmnopqrstuvwxyz_\t\n\x01\x7f\xff";
    for (int64_t n = tw_random_range(random, 1, 4); n > 0; n--) {
        int64_t at = tw_random_range(random, 0, length - 1);
        text[at] = tw_random_range(random, 0, 20) == 0
                       ? '\0'
                       : characters[tw_random_range(random, 0, (int64_t)sizeof characters - 2)];
    }
}

/* Damaged text is refused with a sentence, or it is another bundle that can be encoded. */
static void mangled_text(void **state)
{
    (void)state;
    struct tw_random random = {5};
    unsigned good = 0, bad = 0;

    for (int n = 0; n < 40000; n++) {
        struct tw_bundle bundle, parsed;
        char text[TW_BUNDLE_TEXT_MAX];
        struct tw_error err = {0, ""};
        size_t unresolved, column = 0;
        random_bundle(&random, (int)tw_random_range(&random, 0, TW_FORMAT_COUNT - 1), &bundle);
        int length = tw_bundle_print(&bundle, text, sizeof text);
        mangle(&random, text, length);
        int code = tw_bundle_parse(text, (size_t)length, NULL, &parsed, NULL, &unresolved, &column, &err);
        if (code < 0) {
            bad++;
            assert_int_equal(code, TW_E_FORMAT);
            assert_true(err.text[0] != '\0' && column <= (size_t)length);
        } else {
            uint8_t bytes[TW_BUNDLE_MAX];
            good++;
            assert_true(tw_bundle_encode(&parsed, bytes, &err) > 0);
        }
    }
    assert_true(good > 100 && bad > 1000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(faults),
        cmocka_unit_test(forms_that_fit),
        cmocka_unit_test(values_and_names_from_outside),
        cmocka_unit_test(zero_bytes),
        cmocka_unit_test(restricted_to_a_slot),
        cmocka_unit_test(encoding_checks_operands),
        cmocka_unit_test(immediates_at_their_limits),
        cmocka_unit_test(bundles_that_do_not_fit),
        cmocka_unit_test(small_buffers),
        cmocka_unit_test(mangled_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
