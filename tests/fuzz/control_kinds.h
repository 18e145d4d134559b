/* What the first byte of an input of fuzz_control_code says of the rest. */
#ifndef TESTS_FUZZ_CONTROL_KINDS_H
#define TESTS_FUZZ_CONTROL_KINDS_H

enum control_kind {
    CONTROL_FILE,     /* transactions as they are */
    CONTROL_SIGNED,   /* transactions whose version and size are to be corrected */
    CONTROL_SEQUENCE, /* a DPU sequence */
    CONTROL_TEXT      /* hexadecimal words */
};

#endif
