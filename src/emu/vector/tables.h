/* The tables of each instruction set: [0] keeps denormals, [1] reads them as zeros. */
#ifndef TW_EMU_VECTOR_TABLES_H
#define TW_EMU_VECTOR_TABLES_H

#include "emu/vector_kernels.h"

extern const struct tw_vector_kernels tw_vector_kernels_c[2];
#if defined(TW_X86)
extern const struct tw_vector_kernels tw_vector_kernels_avx2[2];
extern const struct tw_vector_kernels tw_vector_kernels_avx512[2];
#endif

#endif
