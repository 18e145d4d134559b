/* What configures the array, CDOs and control code, as a tree down to the fields of registers. */
#ifndef TW_CLI_PRINT_CONFIGURATION_H
#define TW_CLI_PRINT_CONFIGURATION_H

#include "base/view.h"
#include "cli/tree.h"

enum tw_configuration_limit { TW_COUNTED_NAMES_MAX = 40 };

/* Sums of all that was printed. */
struct tw_configuration_totals {
    unsigned n_names;
    const char *names[TW_COUNTED_NAMES_MAX]; /* of commands and operations */
    uint64_t counts[TW_COUNTED_NAMES_MAX];
    uint64_t register_words, data_words, program_words; /* written to */
};

/*
 * Print the contents into the open node. Fail with what reading them says; what came before the fault is then printed.
 */
int tw_print_cdo(struct tw_tree *t, const struct tw_view *view, struct tw_configuration_totals *totals,
                 struct tw_error *err);
/* Control code in the transaction form. */
int tw_print_control_code(struct tw_tree *t, const struct tw_view *view, struct tw_configuration_totals *totals,
                          struct tw_error *err);
int tw_print_dpu_sequence(struct tw_tree *t, const struct tw_view *view, struct tw_configuration_totals *totals,
                          struct tw_error *err);

/* A node with the totals. */
void tw_print_totals(struct tw_tree *t, const struct tw_configuration_totals *totals);

#endif
