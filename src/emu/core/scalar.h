/* What scalar instructions compute (scalar.c), for the rows of rows.c. */
#ifndef TW_EMU_CORE_SCALAR_H
#define TW_EMU_CORE_SCALAR_H

#include "emu/semantics.h"

/* d, a, b; where there is a carry it follows. */
tw_semantic_function tw_scalar_add, tw_scalar_adc, tw_scalar_sub, tw_scalar_sbc;
tw_semantic_function tw_scalar_sub_borrow, tw_scalar_sbc_borrow; /* carry is borrow */
tw_semantic_function tw_scalar_and, tw_scalar_or, tw_scalar_xor;
tw_semantic_function tw_scalar_eq, tw_scalar_ne, tw_scalar_lt, tw_scalar_ltu, tw_scalar_ge, tw_scalar_geu;
tw_semantic_function tw_scalar_lshl, tw_scalar_ashl, tw_scalar_mul, tw_scalar_add_no_carry;
/* d, a */
tw_semantic_function tw_scalar_abs, tw_scalar_clb, tw_scalar_clz, tw_scalar_eqz, tw_scalar_nez;
tw_semantic_function tw_scalar_extend; /* row: a bits, b signed */
/* d, a, b, condition */
tw_semantic_function tw_scalar_select_eqz, tw_scalar_select_nez;
/* d, r31 out, r31 in, s, b */
tw_semantic_function tw_scalar_divide_step;
/* d, s, target, carry */
tw_semantic_function tw_scalar_count_down, tw_scalar_count_down_borrow;
/* d; the memory's bytes. row: a bits, b signed */
tw_semantic_function tw_scalar_load_part;

#endif
