/* The generated tables as the rest of the program sees them: counts, registers, classes, formats, schedule. */
#include "isa/isa.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

static void counts(void **state)
{
    (void)state;
    static const unsigned expected[TW_SLOT_COUNT] = {58, 132, 158, 46, 145, 62, 6, 1};
    unsigned found[TW_SLOT_COUNT] = {0};

    assert_int_equal(TW_FORMAT_COUNT, 78);
    assert_int_equal(TW_I_COUNT, 608);
    for (unsigned i = 0; i < TW_I_COUNT; i++)
        found[tw_instructions[i].slot]++;
    for (unsigned s = 0; s < TW_SLOT_COUNT; s++)
        assert_int_equal(found[s], expected[s]);
}

static void registers_by_name(void **state)
{
    (void)state;
    assert_int_equal(tw_register_find("r0", 2), TW_R_r0);
    assert_int_equal(tw_register_find("r31", 3), TW_R_r31);
    assert_int_equal(tw_register_find("amhh8", 5), TW_R_amhh8);
    assert_int_equal(tw_register_find("crSat", 5), TW_R_crSat);
    assert_int_equal(tw_register_find("d3", 2), TW_R_d3);
    assert_int_equal(tw_register_find("r32", 3), -1);
    assert_int_equal(tw_register_find("r", 1), -1);
    assert_int_equal(tw_register_find("", 0), -1);
    assert_int_equal(tw_register_find("R0", 2), -1);
    assert_int_equal(tw_register_find("r0x", 3), -1);
    for (int r = 0; r < TW_R_COUNT; r++) {
        int found = tw_register_find(tw_registers[r].name, strlen(tw_registers[r].name));
        assert_true(found >= 0);
        assert_string_equal(tw_registers[found].name, tw_registers[r].name);
    }
}

static void leaves_are(unsigned reg, const uint16_t *expected, unsigned n)
{
    assert_int_equal(tw_registers[reg].n_leaves, n);
    for (unsigned i = 0; i < n; i++)
        assert_int_equal(tw_registers[reg].leaves[i], expected[i]);
}

static void register_parts(void **state)
{
    (void)state;
    leaves_are(TW_R_r5, (uint16_t[]){TW_R_r5}, 1);
    leaves_are(TW_R_l1, (uint16_t[]){TW_R_r18, TW_R_r19}, 2);
    leaves_are(TW_R_cm2, (uint16_t[]){TW_R_amll2, TW_R_amlh2, TW_R_amhl2, TW_R_amhh2}, 4);
    leaves_are(TW_R_y3, (uint16_t[]){TW_R_wl6, TW_R_wh6, TW_R_wl7, TW_R_wh7}, 4);
    leaves_are(TW_R_d1_3d, (uint16_t[]){TW_R_m1, TW_R_dn1, TW_R_dj1, TW_R_dc1, TW_R_m5, TW_R_dn5, TW_R_dj5, TW_R_dc5},
               8);
    assert_string_equal(tw_registers[TW_R_d1_3d].name, "d1");
    assert_int_equal(tw_registers[TW_R_wh7].group, TW_G_wh);
    assert_int_equal(tw_registers[TW_R_wh7].number, 7);
    for (unsigned r = 0; r < TW_R_COUNT; r++) {
        unsigned bits = 0;
        for (unsigned i = 0; i < tw_registers[r].n_leaves; i++)
            bits += tw_registers[tw_registers[r].leaves[i]].bits;
        assert_int_equal(bits, tw_registers[r].bits);
    }
}

static void walks_know_their_counters(void **state)
{
    (void)state;
    struct tw_operation op = {.instruction = TW_I_VLDA_3D_dmw_lda_w};
    /* dst, ptr_out, count_lo_out, count_hi_out, ptr, mod */
    op.operands[0] = TW_R_wl3;
    op.operands[1] = TW_R_p2;
    op.operands[5] = TW_R_d1_3d;
    tw_operation_complete(&op);
    assert_int_equal(op.operands[2], TW_R_dc1);
    assert_int_equal(op.operands[3], TW_R_dc5);
    assert_int_equal(op.operands[4], TW_R_p2);
}

static void finding_formats(void **state)
{
    (void)state;
    const unsigned lda = 1u << TW_SLOT_LDA, ldb = 1u << TW_SLOT_LDB, st = 1u << TW_SLOT_ST, alu = 1u << TW_SLOT_ALU,
                   mv = 1u << TW_SLOT_MV, vec = 1u << TW_SLOT_VEC, lng = 1u << TW_SLOT_LNG, nop = 1u << TW_SLOT_NOP;

    assert_int_equal(tw_format_find(nop, 1), TW_F_I16_NOP);
    assert_int_equal(tw_format_find(lng, 0), TW_F_I48_LNG);
    assert_int_equal(tw_format_find(nop | lng, 1), TW_F_I64_NOP_LNG);
    assert_int_equal(tw_format_find(vec | alu, 1), TW_F_I64_ALU_VEC);
    assert_int_equal(tw_format_find(lda | ldb | st | alu | mv | vec, 1), TW_F_I128_LDB_LDA_ST_ALU_MV_VEC);
    /* No format has exactly these. */
    assert_int_equal(tw_format_find(lda | st | alu | mv | vec, 1), -1);
    assert_int_equal(tw_format_find(lda | st | alu | mv | vec, 0), TW_F_I128_LDB_LDA_ST_ALU_MV_VEC);
    assert_int_equal(tw_format_find(lng | alu, 0), -1);
    assert_int_equal(tw_format_find(nop | alu, 0), -1);
}

static void formats_announce_their_size(void **state)
{
    (void)state;
    for (unsigned i = 0; i < TW_FORMAT_COUNT; i++)
        assert_int_equal(tw_bundle_size((uint8_t)tw_formats[i].value[0]), tw_formats[i].bytes);
}

/* The distance that a value written by operand `w` of one operation needs to reach operand `r` of another. */
static int distance(unsigned writer, unsigned w, unsigned reader, unsigned r)
{
    const struct tw_schedule_class *a = &tw_schedule_classes[tw_instructions[writer].schedule];
    const struct tw_schedule_class *b = &tw_schedule_classes[tw_instructions[reader].schedule];
    int same = a->cycles[w].bypass == b->cycles[r].bypass && a->cycles[w].bypass != TW_BYPASS_NONE;
    return tw_distance_raw(a->cycles[w].cycle, b->cycles[r].cycle, same);
}

static void distances(void **state)
{
    (void)state;
    assert_int_equal(distance(TW_I_ADD, 0, TW_I_ADD, 1), 1);
    assert_int_equal(distance(TW_I_MUL_mul_r_rr, 0, TW_I_ADD, 1), 2);
    assert_int_equal(distance(TW_I_VLDA_dmw_lda_w_ag_idx, 0, TW_I_VMAC_F_vmac_bm_core_dense, 2), 7);
    assert_int_equal(distance(TW_I_VMAC_F_vmac_bm_core_dense, 0, TW_I_VMAC_F_vmac_bm_core_dense, 1), 4);
    assert_int_equal(distance(TW_I_VMAC_vmac_cm_core_dense, 0, TW_I_VMAC_vmac_cm_core_dense, 1), 2);
    assert_int_equal(distance(TW_I_VSHUFFLE, 0, TW_I_VSHUFFLE, 1), 1);
    assert_int_equal(distance(TW_I_VSHUFFLE, 0, TW_I_VMAC_vmac_cm_core_dense, 2), 2);
    assert_int_equal(tw_distance_to_lock(5), 4);
    assert_int_equal(tw_distance_to_lock(11), 10);
    assert_int_equal(tw_distance_from_lock(7), 2);
    assert_int_equal(tw_distance_waw(7, 1), 7);
    assert_int_equal(tw_distance_war(3, 5, 0), -2);
    assert_int_equal(tw_distance_memory(5, 5), 1);
}

static const char *class_of(unsigned instruction, unsigned first, unsigned second)
{
    struct tw_operation op = {.instruction = (uint16_t)instruction};
    op.operands[0] = first;
    op.operands[1] = second;
    return tw_operation_schedule(&op)->name;
}

static void schedule_by_registers(void **state)
{
    (void)state;
    assert_string_equal(class_of(TW_I_MOV_mv_scl, TW_R_r3, TW_R_p0), "II_MOV_SCL_RS");
    assert_string_equal(class_of(TW_I_MOV_mv_scl, TW_R_s1, TW_R_p0), "II_MOV_SCL_RS");
    assert_string_equal(class_of(TW_I_MOV_mv_scl, TW_R_dj3, TW_R_r0), "II_MOV_SCL_DJ");
    assert_string_equal(class_of(TW_I_MOV_mv_scl, TW_R_LC, TW_R_r0), "II_MOV_SCL");
    assert_string_equal(class_of(TW_I_VMOV_mv_w, TW_R_wl1, TW_R_amhh2), "II_VMOV_W_WML_CM");
    assert_string_equal(class_of(TW_I_VMOV_mv_w, TW_R_q1, TW_R_wh2), "II_VMOV_W_Q_WMH");
    assert_string_equal(class_of(TW_I_VMOV_mv_w, TW_R_q1, TW_R_q2), "II_VMOV_W");
    assert_string_equal(class_of(TW_I_VMOV_mv_x, TW_R_bmh1, TW_R_x0), "II_VMOV_X_BM_XM");
    assert_string_equal(class_of(TW_I_VCONV_FP32_BF16, TW_R_bml0, TW_R_wl0), "II_VCONVfp32bf16_WL");
    assert_string_equal(class_of(TW_I_VCONV_FP32_BF16, TW_R_bml0, TW_R_wh0), "II_VCONVfp32bf16");
    assert_string_equal(class_of(TW_I_ADD, TW_R_r0, TW_R_r1), "II_ADD");
}

/* Every instruction's class has a cycle for each operand and register, and stores and loads have memory cycles. */
static void every_instruction_has_cycles(void **state)
{
    (void)state;
    for (unsigned i = 0; i < TW_I_COUNT; i++) {
        const struct tw_instruction *in = &tw_instructions[i];
        const struct tw_schedule_class *s = &tw_schedule_classes[in->schedule];
        assert_true(in->n_operands + in->n_defs + in->n_uses <= s->n_cycles);
        for (unsigned c = 0; c < s->n_cycles; c++)
            assert_true(s->cycles[c].cycle >= 1 && s->cycles[c].cycle <= 9);
        assert_int_equal((in->flags & (TW_FLAG_LOAD | TW_FLAG_STORE)) != 0, s->memory_first != 0);
        assert_true(s->memory_first <= s->memory_last);
        for (unsigned u = 0; u < s->n_resources; u++) {
            assert_true(s->resources[u].unit < TW_RESOURCE_COUNT);
            assert_true(s->resources[u].first >= 1 && s->resources[u].first <= s->resources[u].last);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts),
        cmocka_unit_test(registers_by_name),
        cmocka_unit_test(register_parts),
        cmocka_unit_test(walks_know_their_counters),
        cmocka_unit_test(finding_formats),
        cmocka_unit_test(formats_announce_their_size),
        cmocka_unit_test(distances),
        cmocka_unit_test(schedule_by_registers),
        cmocka_unit_test(every_instruction_has_cycles),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
