/* Text of single operations and bundles to operations. Symbols and expressions are the caller's: a callback gives their
 * values. */
#ifndef TW_ISA_PARSE_H
#define TW_ISA_PARSE_H

#include "isa/isa.h"

/* Where an immediate's value was not known yet: which operand of which slot, and the expression's text. */
struct tw_unresolved {
    enum tw_slot slot;
    uint8_t operand;
    const char *text;
    size_t size;
};
#define TW_UNRESOLVED_MAX 8 /* no bundle has more immediates */

struct tw_parse_context {
    /* Gives the value of an expression; returns 0, or 1 when it holds a symbol that has no value yet, or a code. */
    int (*value)(void *arg, const char *text, size_t size, int64_t *value, struct tw_error *err);
    /* May replace a name by a register (symbolic registers); returns TW_R_* or -1. May be NULL. */
    int (*register_name)(void *arg, const char *text, size_t size);
    void *arg;
};

/*
 * One operation. All instructions of that mnemonic are tried in the order of enum tw_slot and of the table; the first
 * whose operands fit is taken (slot: restricts to that slot unless TW_SLOT_COUNT). context may be NULL: then immediates
 * are plain numbers. An immediate without a value yet is taken to fit, its operand is 0 and it is appended to
 * unresolved, which has room for TW_UNRESOLVED_MAX and holds *n_unresolved already; with unresolved NULL it is an
 * error. Fails with TW_E_FORMAT (or the code of the callback); column, when not NULL, gets the offset of the fault in
 * text.
 */
int tw_operation_parse(const char *text, size_t size, enum tw_slot slot, const struct tw_parse_context *context,
                       struct tw_operation *op, struct tw_unresolved *unresolved, size_t *n_unresolved, size_t *column,
                       struct tw_error *err);

/*
 * Operations separated by ';' into a bundle with format -1: each gets a slot that the others leave free. As
 * tw_operation_parse, but *n_unresolved starts from 0.
 */
int tw_bundle_parse(const char *text, size_t size, const struct tw_parse_context *context, struct tw_bundle *bundle,
                    struct tw_unresolved unresolved[TW_UNRESOLVED_MAX], size_t *n_unresolved, size_t *column,
                    struct tw_error *err);

#endif
