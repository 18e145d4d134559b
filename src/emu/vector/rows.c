/* The rows of the instructions that compute on vectors. What a, b, c and d mean stands in functions.h. */
#include "functions.h"

#include "emu/vector_kernels.h"

#define ROW(name, ...)                                                                                                 \
    {                                                                                                                  \
        TW_I_##name, TW_ACTION_COMPUTE, 0, __VA_ARGS__                                                                 \
    }

/* Accumulators: signs are those of product, acc1 and acc2 before the configuration word's. */
#define P TW_SIGN_PRODUCT
#define A1 TW_SIGN_ACC1
#define A2 TW_SIGN_ACC2
#define MAC_SHAPES(name, dense, sparse, function, accumulators, signs)                                                 \
    ROW(name##dense, function, accumulators, signs, TW_SHAPE_DENSE, 0),                                                \
        ROW(name##sparse##_narrow, function, accumulators, signs, TW_SHAPE_SPARSE, 0),                                 \
        ROW(name##sparse##_wide, function, accumulators, signs, TW_SHAPE_SPARSE_WIDE, 0)
#define MAC(name, accumulators, signs)                                                                                 \
    MAC_SHAPES(name, _vmac_cm_core_dense, _vmac_cm_core_sparse, tw_do_mac, accumulators, signs)
#define MAC2(name, signs) MAC_SHAPES(name, _vmac_bm_core_dense, _vmac_cm_core_sparse, tw_do_mac, 2, signs)
#define MAC_F(name, accumulators, signs)                                                                               \
    MAC_SHAPES(name##_F, _vmac_bm_core_dense, _vmac_bm_core_sparse, tw_do_mac_float, accumulators, signs)
#define ACC(name, accumulators, signs)                                                                                 \
    ROW(name, tw_do_mac, accumulators, signs, TW_SHAPE_NONE, 0),                                                       \
        ROW(name##_F, tw_do_mac_float, accumulators, signs, TW_SHAPE_NONE, 0)

/* Conversions with the addressing forms of loads and stores; all of them move 32 bytes. */
#define LOAD(name, ...)                                                                                                \
    {                                                                                                                  \
        TW_I_##name, TW_ACTION_LOAD, 32, __VA_ARGS__                                                                   \
    }
#define STORE(name, ...)                                                                                               \
    {                                                                                                                  \
        TW_I_##name, TW_ACTION_STORE, 32, __VA_ARGS__                                                                  \
    }

#define UPS_LOADS(types, ...)                                                                                          \
    LOAD(VLDA_UPS_##types##_ag_idx, tw_do_ups, __VA_ARGS__),                                                           \
        LOAD(VLDA_UPS_##types##_ag_idx_imm, tw_do_ups, __VA_ARGS__),                                                   \
        LOAD(VLDA_UPS_##types##_ag_pstm_nrm, tw_do_ups, __VA_ARGS__),                                                  \
        LOAD(VLDA_UPS_##types##_ag_pstm_nrm_imm, tw_do_ups, __VA_ARGS__),                                              \
        LOAD(VLDA_2D_UPS_##types, tw_do_ups, __VA_ARGS__), LOAD(VLDA_3D_UPS_##types, tw_do_ups, __VA_ARGS__)

#define STORES(kind, types, function, ...)                                                                             \
    STORE(VST_##kind##_##types##_ag_idx, function, __VA_ARGS__),                                                       \
        STORE(VST_##kind##_##types##_ag_idx_imm, function, __VA_ARGS__),                                               \
        STORE(VST_##kind##_##types##_ag_pstm_nrm, function, __VA_ARGS__),                                              \
        STORE(VST_##kind##_##types##_ag_pstm_nrm_imm, function, __VA_ARGS__)
#define WALK_STORES(kind, types, function, ...)                                                                        \
    STORE(VST_2D_##kind##_##types, function, __VA_ARGS__), STORE(VST_3D_##kind##_##types, function, __VA_ARGS__)

/* Each with its name's types, in both signs: s is signed, d as the control register says. */
#define UPS(types, form, sign, from, to, lanes)                                                                        \
    UPS_LOADS(types, from, to, lanes, sign), ROW(VUPS_##types##_mv_ups_##form, tw_do_ups, from, to, lanes, sign)
#define SRS(types, sign, from, to, lanes)                                                                              \
    STORES(SRS, types, tw_do_srs, from, to, lanes, sign), WALK_STORES(SRS, types, tw_do_srs, from, to, lanes, sign),   \
        ROW(VSRS_##types##_mv_w_srs, tw_do_srs, from, to, lanes, sign)
#define PACK(types, sign, from, to, lanes)                                                                             \
    STORES(PACK, types, tw_do_pack, from, to, lanes, sign),                                                            \
        WALK_STORES(PACK, types, tw_do_pack, from, to, lanes, sign),                                                   \
        ROW(VPACK_##types, tw_do_pack, from, to, lanes, sign)
#define UNPACK(types, post_increment, sign, from, to, lanes)                                                           \
    LOAD(VLDB_UNPACK_##types##_ag_idx, tw_do_unpack, from, to, lanes, sign),                                           \
        LOAD(VLDB_UNPACK_##types##post_increment, tw_do_unpack, from, to, lanes, sign),                                \
        LOAD(VLDB_2D_UNPACK_##types, tw_do_unpack, from, to, lanes, sign),                                             \
        LOAD(VLDB_3D_UNPACK_##types, tw_do_unpack, from, to, lanes, sign),                                             \
        ROW(VUNPACK_##types, tw_do_unpack, from, to, lanes, sign)

#define SPARSE_LOADS(bits)                                                                                             \
    LOAD(VLDB_SPARSE_FILL_##bits, tw_do_sparse_load, 0, 0, 0, 0),                                                      \
        LOAD(VLDB_SPARSE_RESET_##bits, tw_do_sparse_load, 0, 0, 0, 0),                                                 \
        LOAD(VLDB_SPARSE_POP_##bits, tw_do_sparse_load, 0, 0, 0, 0),                                                   \
        LOAD(VLDB_SPARSE_PEEK_##bits, tw_do_sparse_load, 0, 0, 0, 0)

/* Lanes of one width, in both signs. */
#define LANES_COMPARED(bits, letter, sign)                                                                             \
    ROW(VABS_GTZ_##letter##bits, tw_do_one, bits, sign, TW_ONE_ABSOLUTE, 0),                                           \
        ROW(VMAXDIFF_LT_##letter##bits, tw_do_lanes_compare, bits, sign, TW_LANES_MAXDIFF, 0),                         \
        ROW(VSUB_LT_##letter##bits, tw_do_lanes_compare, bits, sign, TW_LANES_SUB, 0),                                 \
        ROW(VSUB_GE_##letter##bits, tw_do_lanes_compare, bits, sign, TW_LANES_SUB, 1),                                 \
        ROW(VMIN_GE_##letter##bits, tw_do_lanes_compare, bits, sign, TW_LANES_MIN, 1),                                 \
        ROW(VMAX_LT_##letter##bits, tw_do_lanes_compare, bits, sign, TW_LANES_MAX, 0),                                 \
        ROW(VLT_##letter##bits, tw_do_compare, bits, sign, 0, 0),                                                      \
        ROW(VGE_##letter##bits, tw_do_compare, bits, sign, 0, 1)
#define LANES(bits)                                                                                                    \
    LANES_COMPARED(bits, D, TW_LANE_BY_CONTROL), LANES_COMPARED(bits, S, TW_LANE_SIGNED),                              \
        ROW(VADD_##bits, tw_do_lanes, bits, 0, TW_LANES_ADD, 0),                                                       \
        ROW(VSUB_##bits, tw_do_lanes, bits, 0, TW_LANES_SUB, 0), ROW(VSEL_##bits, tw_do_select, bits, 0, 0, 0),        \
        ROW(VADDSUB_##bits, tw_do_add_or_subtract, bits, 0, 0, 0), ROW(VEQZ_##bits, tw_do_is_zero, bits, 0, 0, 0),     \
        ROW(VBNEG_LTZ_S##bits, tw_do_one, bits, TW_LANE_SIGNED, TW_ONE_COMPLEMENT, 0),                                 \
        ROW(VNEG_GTZ##bits, tw_do_one, bits, TW_LANE_SIGNED, TW_ONE_NEGATE, 0)

#define ELEMENTS(bits)                                                                                                 \
    ROW(VINSERT_##bits, tw_do_insert, bits, 0, 0, 0), ROW(VBCST_##bits, tw_do_broadcast, bits, 0, 0, 0),               \
        ROW(VEXTRACT_S##bits, tw_do_extract, bits, TW_LANE_SIGNED, 0, 0),                                              \
        ROW(VEXTRACT_D##bits, tw_do_extract, bits, TW_LANE_BY_CONTROL, 0, 0),                                          \
        ROW(VEXTBCST_##bits##_mRm, tw_do_extract_broadcast, bits, 0, 0, 0),                                            \
        ROW(VEXTBCST_##bits##_mExtractIdxImm, tw_do_extract_broadcast, bits, 0, 0, 0),                                 \
        ROW(VBCSTSHFL_##bits, tw_do_broadcast_shuffle, bits, 0, 0, 0),                                                 \
        ROW(VPUSH_LO_##bits, tw_do_push_low, bits, 0, 0, 0), ROW(VPUSH_HI_##bits, tw_do_push_high, bits, 0, 0, 0)

static const struct tw_semantics rows[] = {
    MAC(VMUL, 0, 0),
    MAC(VNEGMUL, 0, P),
    MAC(VMAC, 1, 0),
    MAC(VMSC, 1, P),
    MAC(VNEGMAC, 1, P | A1),
    MAC(VNEGMSC, 1, A1),
    MAC2(VADDMAC, 0),
    MAC2(VADDMSC, P),
    MAC2(VSUBMAC, A2),
    MAC2(VSUBMSC, A2 | P),
    MAC_F(VMUL, 0, 0),
    MAC_F(VNEGMUL, 0, P),
    MAC_F(VMAC, 1, 0),
    MAC_F(VMSC, 1, P),
    MAC_F(VADDMAC, 2, 0),
    MAC_F(VADDMSC, 2, P),
    ACC(VADD, 2, 0),
    ACC(VSUB, 2, A2),
    ACC(VNEGADD, 2, A1 | A2),
    ACC(VNEGSUB, 2, A1),
    ACC(VNEG, 1, A1),
    ROW(VMOV_D, tw_do_copy, 128, 0, 0, 0),
    ROW(VCLR_vclr, tw_do_clear, 128, 0, 0, 0),
    ROW(VCLR_vclr_BF, tw_do_clear, 64, 1, 0, 0),

    UPS(S32_D8, w2c, 0, 8, 32, 32),
    UPS(S32_S8, w2c, 1, 8, 32, 32),
    UPS(S32_D16, w2b, 0, 16, 32, 16),
    UPS(S32_S16, w2b, 1, 16, 32, 16),
    UPS(S64_D16, w2c, 0, 16, 64, 16),
    UPS(S64_S16, w2c, 1, 16, 64, 16),
    UPS(S64_D32, w2b, 0, 32, 64, 8),
    UPS(S64_S32, w2b, 1, 32, 64, 8),
    ROW(VUPS_S32_D16_mv_ups_x2c, tw_do_ups, 16, 32, 32, 0),
    ROW(VUPS_S32_S16_mv_ups_x2c, tw_do_ups, 16, 32, 32, 1),
    ROW(VUPS_S64_D32_mv_ups_x2c, tw_do_ups, 32, 64, 16, 0),
    ROW(VUPS_S64_S32_mv_ups_x2c, tw_do_ups, 32, 64, 16, 1),

    SRS(D8_S32, 0, 32, 8, 32),
    SRS(S8_S32, 1, 32, 8, 32),
    SRS(D16_S32, 0, 32, 16, 16),
    SRS(S16_S32, 1, 32, 16, 16),
    SRS(D16_S64, 0, 64, 16, 16),
    SRS(S16_S64, 1, 64, 16, 16),
    SRS(D32_S64, 0, 64, 32, 8),
    SRS(S32_S64, 1, 64, 32, 8),
    ROW(VSRS_D16_S32_mv_x_srs, tw_do_srs, 32, 16, 32, 0),
    ROW(VSRS_S16_S32_mv_x_srs, tw_do_srs, 32, 16, 32, 1),
    ROW(VSRS_D32_S64_mv_x_srs, tw_do_srs, 64, 32, 16, 0),
    ROW(VSRS_S32_S64_mv_x_srs, tw_do_srs, 64, 32, 16, 1),
    ROW(VSRSM_D16_S32, tw_do_srs, 32, 16, 16, 0),
    ROW(VSRSM_S16_S32, tw_do_srs, 32, 16, 16, 1),
    ROW(VSRSM_D32_S64, tw_do_srs, 64, 32, 8, 0),
    ROW(VSRSM_S32_S64, tw_do_srs, 64, 32, 8, 1),

    PACK(D4_D8, 0, 8, 4, 64),
    PACK(S4_S8, 1, 8, 4, 64),
    PACK(D8_D16, 0, 16, 8, 32),
    PACK(S8_S16, 1, 16, 8, 32),
    UNPACK(D8_D4, _pstm_nrm, 0, 4, 8, 64),
    UNPACK(S8_S4, _ag_pstm_nrm, 1, 4, 8, 64),
    UNPACK(D16_D8, _ag_pstm_nrm, 0, 8, 16, 32),
    UNPACK(S16_S8, _ag_pstm_nrm, 1, 8, 16, 32),

    LOAD(VLDA_CONV_FP32_BF16_ag_idx, tw_do_bf16_to_fp32, 0, 0, 0, 0),
    LOAD(VLDA_CONV_FP32_BF16_ag_idx_imm, tw_do_bf16_to_fp32, 0, 0, 0, 0),
    LOAD(VLDA_CONV_FP32_BF16_pstm_nrm, tw_do_bf16_to_fp32, 0, 0, 0, 0),
    LOAD(VLDA_CONV_FP32_BF16_pstm_nrm_imm, tw_do_bf16_to_fp32, 0, 0, 0, 0),
    LOAD(VLDA_2D_CONV_FP32_BF16, tw_do_bf16_to_fp32, 0, 0, 0, 0),
    LOAD(VLDA_3D_CONV_FP32_BF16, tw_do_bf16_to_fp32, 0, 0, 0, 0),
    ROW(VCONV_FP32_BF16, tw_do_bf16_to_fp32, 0, 0, 0, 0),
    STORES(CONV, BF16_FP32, tw_do_fp32_to_bf16, 0, 0, 0, 0),
    STORE(VST_CONV_2D_BF16_FP32, tw_do_fp32_to_bf16, 0, 0, 0, 0),
    STORE(VST_CONV_3D_BF16_FP32, tw_do_fp32_to_bf16, 0, 0, 0, 0),
    ROW(VCONV_BF16_FP32, tw_do_fp32_to_bf16, 0, 0, 0, 0),
    ROW(VFLOOR_S32_BF16_mFl2FxSrc_W, tw_do_floor, 0, 0, 0, 0),
    ROW(VFLOOR_S32_BF16_mFl2FxSrc_AM, tw_do_floor, 0, 0, 0, 0),

    LANES(8),
    LANES(16),
    LANES(32),
    ROW(VMIN_GE_BF16, tw_do_lanes_compare, 16, TW_LANE_BF16, TW_LANES_MIN, 1),
    ROW(VMAX_LT_BF16, tw_do_lanes_compare, 16, TW_LANE_BF16, TW_LANES_MAX, 0),
    ROW(VLT_BF16, tw_do_compare, 16, TW_LANE_BF16, 0, 0),
    ROW(VGE_BF16, tw_do_compare, 16, TW_LANE_BF16, 0, 1),
    ROW(VBAND, tw_do_bits, 0, 0, 0, 0),
    ROW(VBOR, tw_do_bits, 0, 0, 0, 1),

    ELEMENTS(8),
    ELEMENTS(16),
    ELEMENTS(32),
    ELEMENTS(64),
    ROW(VSHUFFLE, tw_do_shuffle, 0, 0, 0, 0),
    ROW(VSHIFT, tw_do_shift, 0, 0, 0, 0),
    ROW(VSHIFT_ALIGN, tw_do_shift_align, 0, 0, 0, 0),

    SPARSE_LOADS(4),
    SPARSE_LOADS(8),
    SPARSE_LOADS(16),
    LOAD(VLDB_COMPR_FILL, tw_do_compressed_load, 0, 0, 0, 0),
    LOAD(VLDB_COMPR_RESET, tw_do_compressed_load, 0, 0, 0, 0),
    LOAD(VLDB_COMPR_POP, tw_do_compressed_load, 0, 0, 0, 0),
    LOAD(VLDB_COMPR_PEEK, tw_do_compressed_load, 0, 0, 0, 0),
};

const struct tw_semantics *tw_vector_semantics(unsigned *count)
{
    *count = sizeof rows / sizeof rows[0];
    return rows;
}
