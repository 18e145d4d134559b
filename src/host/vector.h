/* Two words for vector code, where a missed inlining or a loop left rolled would put registers into memory. */
#ifndef TW_HOST_VECTOR_H
#define TW_HOST_VECTOR_H

#define INLINE static inline __attribute__((always_inline))
#define UNROLL _Pragma("GCC unroll 16")

#endif
