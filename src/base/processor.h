/* What the host's processor can do, for those who choose between implementations at run time. */
#ifndef TW_BASE_PROCESSOR_H
#define TW_BASE_PROCESSOR_H

enum tw_processor_feature {
    TW_PROCESSOR_AVX2 = 1,       /* with FMA and F16C */
    TW_PROCESSOR_AVX512 = 2,     /* F, BW, VL and DQ; AVX2 too */
    TW_PROCESSOR_CLFLUSHOPT = 4,
    TW_PROCESSOR_CLFLUSH = 8
};

/* A set of enum tw_processor_feature that processor and operating system both support; 0 on other than x86-64. */
unsigned tw_processor_features(void);

#endif
