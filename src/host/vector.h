/* Words for vector code, where a missed inlining or a loop left rolled would put registers into memory. */
#ifndef TW_HOST_VECTOR_H
#define TW_HOST_VECTOR_H

#define INLINE static inline __attribute__((always_inline))

/* Sanitizers check every access: unrolled, they would take minutes to compile, and nobody measures their speed. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define TW_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
#define TW_SANITIZED 1
#endif
#endif

#if defined(TW_SANITIZED)
#define UNROLL
#elif defined(__clang__)
#define UNROLL _Pragma("clang loop unroll(full)")
#else
#define UNROLL _Pragma("GCC unroll 16")
#endif

/* A loop over i = 0 .. n - 1 that is unrolled. */
#define EACH(i, n) UNROLL for (int i = 0; i < (n); i++)

#endif
