/* Command-line options from a table: --name VALUE, --name=VALUE, -x VALUE, flags; operands may stand anywhere. */
#ifndef TW_CLI_OPTIONS_H
#define TW_CLI_OPTIONS_H

#include "base/error.h"

#include <stddef.h>
#include <stdint.h>

enum tw_option_kind { TW_OPTION_FLAG, TW_OPTION_TEXT, TW_OPTION_COUNT, TW_OPTION_REAL, TW_OPTION_SEED, TW_OPTION_LIST };

/* What an option that may be given several times was given; the caller's array has room for that many. */
struct tw_option_list {
    const char **texts;
    size_t n, room;
};

struct tw_option {
    const char *name; /* without dashes */
    char letter;      /* short form, 0: none */
    enum tw_option_kind kind;
    union {
        int *flag;         /* FLAG: set to 1 */
        const char **text; /* TEXT: points into argv */
        int32_t *count;    /* COUNT: a whole number from low to high */
        double *real;      /* REAL: a number from low to high */
        uint64_t *seed;    /* SEED: any unsigned 64-bit number */
        struct tw_option_list *list; /* LIST: what is given is appended */
    } to;
    double low, high;
};

/*
 * Reads argv[1] to the end. Operands (a lone "-" is one, and everything after "--") are moved, in order, to argv[1] and
 * up; returns how many there are. An option given twice counts as last given, but for lists. Fails with TW_E_ARGUMENT
 * and a sentence that names the option; values already stored stay.
 */
int tw_options_read(const struct tw_option *options, size_t n_options, int argc, char **argv, struct tw_error *err);

#endif
