/* .if and its kin. */
#include "isa/as/state.h"

int tw_as_skipping(const struct tw_as *a)
{
    return a->n_conditions > 0 && !a->conditions[a->n_conditions - 1].taking;
}

/* Begins a condition; test < 0: it has a fault. */
static void begin(struct tw_as *a, const char *at, int skipped, int test)
{
    if (a->n_conditions == AS_CONDITIONS_MAX) {
        tw_as_fault(a, at, "conditions stand more than %d deep inside each other", AS_CONDITIONS_MAX);
        a->stop = 1;
        return;
    }
    struct tw_as_condition *c = &a->conditions[a->n_conditions++];
    *c = (struct tw_as_condition){.line = a->line, .at = at, .skipped = (uint8_t)skipped};
    c->taking = !skipped && test > 0;
    c->taken = c->taking || test < 0;
}

static int test(struct tw_as *a, struct tw_as_span text)
{
    int64_t value;

    return tw_as_known(a, text, &value) != 0 ? -1 : value != 0;
}

static int test_defined(struct tw_as *a, struct tw_as_span rest)
{
    struct tw_as_span name = tw_as_take_name(&rest);

    if (name.size == 0 || rest.size > 0) {
        tw_as_fault(a, name.text, "expected the name of a symbol, and nothing behind it");
        return -1;
    }
    const struct tw_as_name *n = tw_as_find(a, name);
    return n != NULL && n->state != AS_UNKNOWN;
}

/* The condition that a directive belongs to, or NULL after a fault. Conditions do not reach out of macros and files. */
static struct tw_as_condition *open_one(struct tw_as *a, struct tw_as_span word)
{
    if (a->n_conditions > a->input->conditions)
        return &a->conditions[a->n_conditions - 1];
    tw_as_fault(a, word.text, "%.*s without an .if", tw_as_width(word), word.text);
    return NULL;
}

static void otherwise(struct tw_as *a, struct tw_as_span word, const struct tw_as_span *expression)
{
    struct tw_as_condition *c = open_one(a, word);

    if (c == NULL)
        return;
    if (c->had_else) {
        tw_as_fault(a, word.text, "%.*s behind .else", tw_as_width(word), word.text);
        return;
    }
    c->had_else = expression == NULL;
    if (c->skipped || c->taken) {
        c->taking = 0;
        return;
    }
    int value = expression == NULL ? 1 : test(a, *expression);
    c->taking = value > 0;
    c->taken = value != 0;
}

int tw_as_condition(struct tw_as *a, struct tw_as_span word, struct tw_as_span rest)
{
    int skipped = tw_as_skipping(a);

    if (tw_as_equals(word, ".if"))
        begin(a, word.text, skipped, skipped ? 0 : test(a, rest));
    else if (tw_as_equals(word, ".ifdef"))
        begin(a, word.text, skipped, skipped ? 0 : test_defined(a, rest));
    else if (tw_as_equals(word, ".ifndef")) {
        int defined = skipped ? 0 : test_defined(a, rest);
        begin(a, word.text, skipped, defined < 0 ? -1 : !defined);
    } else if (tw_as_equals(word, ".elseif"))
        otherwise(a, word, &rest);
    else if (tw_as_equals(word, ".else"))
        otherwise(a, word, NULL);
    else if (tw_as_equals(word, ".endif"))
        a->n_conditions -= open_one(a, word) != NULL;
    else
        return 0;
    return 1;
}

void tw_as_close_conditions(struct tw_as *a, size_t open)
{
    for (; a->n_conditions > open; a->n_conditions--) {
        const struct tw_as_condition *c = &a->conditions[a->n_conditions - 1];
        tw_as_fault_in(a, c->line, c->at, "this condition has no .endif");
    }
}
