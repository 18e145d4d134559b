/* What the first byte of an input of fuzz_image says of the rest. */
#ifndef TESTS_FUZZ_IMAGE_KINDS_H
#define TESTS_FUZZ_IMAGE_KINDS_H

enum input_kind {
    INPUT_FILE,     /* a file as it is */
    INPUT_PDI,      /* a PDI whose checksums are to be corrected */
    INPUT_COMMANDS, /* the commands of a CDO */
    INPUT_PROGRAM   /* program memory */
};

#endif
