/* Expressions with the operators and the precedence of C, over 64 bits; what does not fit into them is an error. */
#include "isa/as/state.h"

#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

/* What an expression is so far. */
struct value {
    int64_t number;
    int known; /* else a symbol in it has no value yet, and number is 0 */
};

struct evaluation {
    const struct tw_as *a;
    const struct tw_as_point *point;
    const char *at, *end;
    struct tw_as_span missing; /* the first symbol without a value */
    int unused;                /* inside a part that does not count: the other side of ?: and the like */
    int depth;
    const char *fault;
    struct tw_error *err;
    int failed;
};

static struct value ternary(struct evaluation *e);

static struct value number(int64_t v)
{
    return (struct value){v, 1};
}

static struct value unknown(void)
{
    return (struct value){0, 0};
}

static struct value fail(struct evaluation *e, const char *at, const char *fmt, ...) TW_PRINTF(3, 4);
static struct value fail(struct evaluation *e, const char *at, const char *fmt, ...)
{
    char text[256];
    va_list args;

    if (e->failed)
        return unknown();
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    tw_fail(e->err, TW_E_FORMAT, "%s", text);
    e->fault = at;
    e->failed = 1;
    return unknown();
}

static void skip_spaces(struct evaluation *e)
{
    while (e->at < e->end && tw_as_is_space(*e->at))
        e->at++;
}

/* ---- operands */

static unsigned digit_of(char c)
{
    if (c >= '0' && c <= '9')
        return (unsigned)(c - '0');
    c |= 32;
    return c >= 'a' && c <= 'f' ? (unsigned)(c - 'a') + 10 : 99;
}

static int is_word(char c)
{
    return tw_as_is_letter(c) || tw_as_is_digit(c);
}

/* "1b" and "1f" name the nearest local label before and behind; 0b1 is a binary number. */
static int is_local(const char *text, size_t size)
{
    if (size < 2 || size > 3 || (text[size - 1] != 'b' && text[size - 1] != 'f'))
        return 0;
    for (size_t i = 0; i + 1 < size; i++)
        if (!tw_as_is_digit(text[i]))
            return 0;
    return 1;
}

static struct value missing(struct evaluation *e, const char *text, size_t size)
{
    if (e->missing.size == 0 && !e->unused)
        e->missing = (struct tw_as_span){text, size};
    return unknown();
}

static struct value local_label(struct evaluation *e, const char *text, size_t size)
{
    unsigned label = digit_of(text[0]);
    int64_t v;

    if (size == 3)
        label = label * 10 + digit_of(text[1]);
    int forward = text[size - 1] == 'f';
    if (tw_as_local_value(e->a, label, forward, e->point, &v) == 0)
        return number(v);
    if (!forward)
        return fail(e, text, "there is no local label %u before this", label);
    return missing(e, text, size);
}

static struct value literal(struct evaluation *e, const char *text, size_t size)
{
    unsigned base = 10;
    size_t i = 0;
    uint64_t v = 0;

    if (is_local(text, size))
        return local_label(e, text, size);
    if (size > 2 && text[0] == '0' && ((text[1] | 32) == 'x' || (text[1] | 32) == 'b')) {
        base = (text[1] | 32) == 'x' ? 16 : 2;
        i = 2;
    } else if (size > 1 && text[0] == '0') {
        return fail(e, text, "\"%.*s\": numbers are decimal without a leading 0, 0x or 0b",
                    (int)(size < 40 ? size : 40), text);
    }
    for (; i < size; i++) {
        unsigned d = digit_of(text[i]);
        if (d >= base)
            return fail(e, text, "\"%.*s\" is no number", (int)(size < 40 ? size : 40), text);
        if (v > ((uint64_t)INT64_MAX - d) / base)
            return fail(e, text, "\"%.*s\" is more than 64 bits hold", (int)(size < 40 ? size : 40), text);
        v = v * base + d;
    }
    return number((int64_t)v);
}

/* A character in single quotes. */
static struct value character(struct evaluation *e)
{
    static const char from[] = "nrt0\\'\"", to[] = "\n\r\t\0\\'\"";
    const char *start = e->at++;
    int64_t v;

    if (e->at < e->end && *e->at == '\\') {
        const char *found = e->at + 1 < e->end && e->at[1] != '\0' ? strchr(from, e->at[1]) : NULL;
        if (found == NULL)
            return fail(e, start, "expected \\n, \\r, \\t, \\0, \\\\, \\' or \\\"");
        v = to[found - from];
        e->at += 2;
    } else {
        v = e->at < e->end ? (unsigned char)*e->at++ : 0;
    }
    if (e->at >= e->end || *e->at != '\'')
        return fail(e, start, "this character has no ' behind it");
    e->at++;
    return number(v);
}

static struct value symbol(struct evaluation *e, const char *text, size_t size)
{
    struct tw_as_span name = {text, size};
    int64_t v;

    if (size == 1 && *text == '.') {
        if (e->point->dot < 0)
            return fail(e, text, "\".\" has no value outside sections");
        return number(e->point->dot);
    }
    const struct tw_as_name *n = tw_as_find(e->a, name);
    int code = n == NULL ? 1 : tw_as_name_value(n, e->point, &v);
    if (code == 2)
        return fail(e, text, "%.*s is set more than once below: give it a value before it is used", tw_as_width(name),
                    text);
    return code == 0 ? number(v) : missing(e, text, size);
}

static struct value operand(struct evaluation *e)
{
    skip_spaces(e);
    if (e->at == e->end)
        return fail(e, e->at, "expected a number or a symbol at the end of the expression");
    const char *text = e->at;
    if (*text == '(') {
        e->at++;
        struct value v = ternary(e);
        skip_spaces(e);
        if (e->failed || e->at == e->end || *e->at != ')')
            return fail(e, text, "this parenthesis has no other");
        e->at++;
        return v;
    }
    if (*text == '\'')
        return character(e);
    while (e->at < e->end && is_word(*e->at))
        e->at++;
    size_t size = (size_t)(e->at - text);
    if (size == 0)
        return fail(e, text, "expected a number or a symbol, not \"%c\"", (unsigned char)*text < ' ' ? '?' : *text);
    return tw_as_is_digit(*text) ? literal(e, text, size) : symbol(e, text, size);
}

/* ---- operators */

static struct value unary(struct evaluation *e)
{
    skip_spaces(e);
    if (e->at == e->end || strchr("-+~!", *e->at) == NULL || *e->at == '\0')
        return operand(e);
    const char *at = e->at++;
    if (++e->depth > AS_EXPRESSION_DEPTH)
        return fail(e, at, "the expression is nested more than %d deep", AS_EXPRESSION_DEPTH);
    struct value v = unary(e);
    e->depth--;
    if (!v.known)
        return v;
    if (*at == '-' && v.number == INT64_MIN)
        return fail(e, at, "the result is more than 64 bits hold");
    return number(*at == '-' ? -v.number : *at == '~' ? ~v.number : *at == '!' ? !v.number : v.number);
}

enum operator{
    OP_OR,
    OP_AND,
    OP_BIT_OR,
    OP_BIT_XOR,
    OP_BIT_AND,
    OP_EQUAL,
    OP_NOT_EQUAL,
    OP_LESS_EQUAL,
    OP_GREATER_EQUAL,
    OP_SHIFT_LEFT,
    OP_SHIFT_RIGHT,
    OP_LESS,
    OP_GREATER,
    OP_ADD,
    OP_SUBTRACT,
    OP_MULTIPLY,
    OP_DIVIDE,
    OP_REMAINDER,
    OP_COUNT
};

/* Longer ones first where one is the beginning of another; & and | are no beginning of && and ||. */
static const struct {
    const char *text;
    uint8_t level; /* a higher one binds closer */
} operators[OP_COUNT] = {
    [OP_OR] = {"||", 1},         [OP_AND] = {"&&", 2},         [OP_BIT_OR] = {"|", 3},
    [OP_BIT_XOR] = {"^", 4},     [OP_BIT_AND] = {"&", 5},      [OP_EQUAL] = {"==", 6},
    [OP_NOT_EQUAL] = {"!=", 6},  [OP_LESS_EQUAL] = {"<=", 7},  [OP_GREATER_EQUAL] = {">=", 7},
    [OP_SHIFT_LEFT] = {"<<", 8}, [OP_SHIFT_RIGHT] = {">>", 8}, [OP_LESS] = {"<", 7},
    [OP_GREATER] = {">", 7},     [OP_ADD] = {"+", 9},          [OP_SUBTRACT] = {"-", 9},
    [OP_MULTIPLY] = {"*", 10},   [OP_DIVIDE] = {"/", 10},      [OP_REMAINDER] = {"%", 10},
};

static enum operator next_operator(struct evaluation *e)
{
    skip_spaces(e);
    for (unsigned i = 0; i < OP_COUNT; i++) {
        size_t n = strlen(operators[i].text);
        if ((size_t)(e->end - e->at) >= n && memcmp(e->at, operators[i].text, n) == 0)
            return (enum operator)i;
    }
    return OP_COUNT;
}

static int multiply(int64_t a, int64_t b, int64_t *v)
{
    uint64_t x = a < 0 ? 0 - (uint64_t)a : (uint64_t)a, y = b < 0 ? 0 - (uint64_t)b : (uint64_t)b;
    uint64_t limit = (uint64_t)INT64_MAX + ((a < 0) != (b < 0));

    if (y != 0 && x > limit / y)
        return 1;
    *v = (a < 0) != (b < 0) ? -(int64_t)(x * y - 1) - 1 : (int64_t)(x * y);
    if (x * y == 0)
        *v = 0;
    return 0;
}

static int add(int64_t a, int64_t b, int64_t *v)
{
    if (b > 0 ? a > INT64_MAX - b : a < INT64_MIN - b)
        return 1;
    *v = a + b;
    return 0;
}

static int subtract(int64_t a, int64_t b, int64_t *v)
{
    if (b < 0 ? a > INT64_MAX + b : a < INT64_MIN + b)
        return 1;
    *v = a - b;
    return 0;
}

/* Shifts an amount of 0 to 63; bits that are lost are the writer's business. To the right the sign comes after. */
static int64_t shift(enum operator op, int64_t a, int64_t by)
{
    uint64_t bits = (uint64_t)a;

    if (op == OP_SHIFT_LEFT)
        bits <<= by;
    else
        bits = a < 0 ? ~(~bits >> by) : bits >> by;
    int64_t v;
    memcpy(&v, &bits, sizeof v);
    return v;
}

static int64_t compare(enum operator op, int64_t a, int64_t b)
{
    switch (op) {
    case OP_EQUAL:
        return a == b;
    case OP_NOT_EQUAL:
        return a != b;
    case OP_LESS_EQUAL:
        return a <= b;
    case OP_GREATER_EQUAL:
        return a >= b;
    case OP_LESS:
        return a < b;
    default:
        return a > b;
    }
}

static int64_t combine_bits(enum operator op, int64_t a, int64_t b)
{
    switch (op) {
    case OP_OR:
        return a != 0 || b != 0;
    case OP_AND:
        return a != 0 && b != 0;
    case OP_BIT_OR:
        return a | b;
    case OP_BIT_XOR:
        return a ^ b;
    default:
        return a & b;
    }
}

static struct value apply(struct evaluation *e, const char *at, enum operator op, int64_t a, int64_t b)
{
    int64_t v = 0;
    int overflow = 0;

    switch (op) {
    case OP_ADD:
        overflow = add(a, b, &v);
        break;
    case OP_SUBTRACT:
        overflow = subtract(a, b, &v);
        break;
    case OP_MULTIPLY:
        overflow = multiply(a, b, &v);
        break;
    case OP_DIVIDE:
    case OP_REMAINDER:
        if (b == 0)
            return fail(e, at, "division by zero");
        overflow = a == INT64_MIN && b == -1;
        v = overflow ? 0 : op == OP_DIVIDE ? a / b : a % b;
        break;
    case OP_SHIFT_LEFT:
    case OP_SHIFT_RIGHT:
        if (b < 0 || b > 63)
            return fail(e, at, "a shift by %" PRId64 " is not between 0 and 63", b);
        v = shift(op, a, b);
        break;
    default:
        v = operators[op].level >= 6 ? compare(op, a, b) : combine_bits(op, a, b);
    }
    return overflow ? fail(e, at, "the result is more than 64 bits hold") : number(v);
}

/* Operators of at least a level, from left to right. */
static struct value binary(struct evaluation *e, unsigned level)
{
    struct value left = unary(e);

    while (!e->failed) {
        enum operator op = next_operator(e);
        if (op == OP_COUNT || operators[op].level < level)
            break;
        const char *at = e->at;
        e->at += strlen(operators[op].text);
        int decided = left.known && ((op == OP_OR && left.number != 0) || (op == OP_AND && left.number == 0));
        e->unused += decided;
        struct value right = binary(e, operators[op].level + 1u);
        e->unused -= decided;
        if (decided)
            left = number(op == OP_OR);
        else if (left.known && right.known && !e->unused)
            left = apply(e, at, op, left.number, right.number);
        else
            left = unknown();
    }
    return left;
}

static struct value ternary(struct evaluation *e)
{
    if (++e->depth > AS_EXPRESSION_DEPTH)
        return fail(e, e->at, "the expression is nested more than %d deep", AS_EXPRESSION_DEPTH);
    struct value v = binary(e, 1);
    skip_spaces(e);
    if (!e->failed && e->at < e->end && *e->at == '?') {
        const char *at = e->at++;
        e->unused += !v.known || v.number == 0;
        struct value yes = ternary(e);
        e->unused -= !v.known || v.number == 0;
        skip_spaces(e);
        if (e->failed || e->at == e->end || *e->at != ':')
            return fail(e, at, "expected \":\" behind \"?\"");
        e->at++;
        e->unused += !v.known || v.number != 0;
        struct value no = ternary(e);
        e->unused -= !v.known || v.number != 0;
        v = !v.known ? v : v.number != 0 ? yes : no;
    }
    e->depth--;
    return v;
}

int tw_as_evaluate(const struct tw_as *a, const struct tw_as_point *point, struct tw_as_span text, int64_t *value,
                   struct tw_as_span *missing_symbol, const char **fault, struct tw_error *err)
{
    struct evaluation e = {.a = a, .point = point, .at = text.text, .end = text.text + text.size, .err = err};

    e.missing.text = text.text;
    struct value v = ternary(&e);

    skip_spaces(&e);
    if (!e.failed && e.at < e.end)
        fail(&e, e.at, "expected an operator or the end of the expression, not \"%c\"",
             (unsigned char)*e.at < ' ' ? '?' : *e.at);
    *value = v.number;
    if (e.failed) {
        *fault = e.fault;
        return TW_E_FORMAT;
    }
    if (v.known)
        return 0;
    if (missing_symbol != NULL)
        *missing_symbol = e.missing;
    return 1;
}

int tw_as_known(struct tw_as *a, struct tw_as_span text, int64_t *value)
{
    struct tw_as_span name;
    struct tw_error err;
    const char *fault;
    int code = tw_as_evaluate(a, &a->point, text, value, &name, &fault, &err);

    if (code < 0)
        return tw_as_fault(a, fault, "%s", err.text);
    if (code > 0)
        return tw_as_fault(a, name.text, "%.*s must have a value before this line", tw_as_width(name), name.text);
    return 0;
}
