/* What the first byte of an input of fuzz_run says of the rest; bits 1:0 choose the number of columns. */
#ifndef TESTS_FUZZ_RUN_KINDS_H
#define TESTS_FUZZ_RUN_KINDS_H

enum run_kind {
    RUN_SEQUENCE = 4, /* a DPU sequence, without the prologue; else transactions, without the header */
    RUN_HOST_PATCHED = 8,
    RUN_STRICT = 16
};

#endif
