/* Text to operations and bundles. */
#include "isa/parse.h"

#include "isa/tables.h"

#include <string.h>

#define TOKENS_MAX 24

enum token_kind {
    TOKEN_END,
    TOKEN_WORD,      /* a mnemonic, a register or a word of the syntax */
    TOKEN_IMMEDIATE, /* what stands behind '#' */
    TOKEN_MARK       /* , [ ] */
};

/* Whether an immediate's value has been asked for, and came. */
enum token_value { VALUE_UNKNOWN, VALUE_KNOWN, VALUE_UNRESOLVED };

struct token {
    enum token_kind kind;
    const char *place; /* where it begins; an immediate's text only follows */
    const char *text;
    size_t size;
    enum token_value state;
    int64_t value;
};

/* The words of one operation; the last is TOKEN_END. */
struct words {
    struct token tokens[TOKENS_MAX];
    unsigned count;
};

/*
 * How near a token came to what was expected; of two faults at one token the nearer one is worth telling. FAULT_NUMBER:
 * a register's name with a number that there is none of.
 */
enum fault_rank { FAULT_KIND, FAULT_VALUE, FAULT_NUMBER, FAULT_TIED };

/* Everything that parsing one operation needs, and the best account so far of why it fails. */
struct parser {
    const struct tw_parse_context *context;
    struct tw_error *err;
    struct words words;
    struct tw_operation *op; /* being filled */
    uint16_t set;            /* bit set of its operands that have a value */
    int code;                /* of the callback that gives values */
    unsigned fault;          /* the furthest token that an instruction could not take */
    const struct tw_instruction *fault_instruction;
    const struct tw_operand_info *fault_operand; /* what it wanted there; NULL: the literal */
    struct token fault_literal;
    enum fault_rank fault_rank;
    int fault_immediate; /* an immediate could stand there as well */
};

static int is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == '\v' || c == '\f';
}

static int ends_word(char c)
{
    return is_space(c) || c == ',' || c == '[' || c == ']' || c == '#' || c == ';';
}

/* An immediate reaches to the next ',' ']' or ';' outside parentheses, without the spaces at its end. */
static size_t immediate_size(const char *text, const char *end)
{
    size_t n = 0;
    int depth = 0;

    for (const char *c = text; c < end; c++) {
        if (depth == 0 && (*c == ',' || *c == ']' || *c == ';'))
            break;
        depth += (*c == '(') - (*c == ')');
        if (!is_space(*c))
            n = (size_t)(c - text) + 1;
    }
    return n;
}

static struct token next_token(const char **at, const char *end)
{
    const char *text = *at;

    while (text < end && is_space(*text))
        text++;
    struct token t = {TOKEN_END, text, text, 0, VALUE_UNKNOWN, 0};
    if (text == end) {
        *at = text;
        return t;
    }
    if (*text == '#') {
        t.kind = TOKEN_IMMEDIATE;
        t.text = text + 1;
        while (t.text < end && is_space(*t.text))
            t.text++;
        t.size = immediate_size(t.text, end);
    } else if (ends_word(*text)) {
        t.kind = TOKEN_MARK;
        t.size = 1;
    } else {
        t.kind = TOKEN_WORD;
        while (text + t.size < end && !ends_word(text[t.size]))
            t.size++;
    }
    *at = t.text + t.size;
    return t;
}

/* Cuts an operation into tokens; returns 0, or 1 when there are too many. */
static int split(struct words *w, const char *text, size_t size)
{
    const char *at = text;

    for (w->count = 0; w->count < TOKENS_MAX; w->count++) {
        w->tokens[w->count] = next_token(&at, text + size);
        if (w->tokens[w->count].kind == TOKEN_END)
            return 0;
    }
    return 1;
}

static int same_text(const struct token *a, const struct token *b)
{
    return a->kind == b->kind && a->size == b->size && memcmp(a->text, b->text, a->size) == 0;
}

/* A token for a sentence: shortened, and without control characters. */
static void describe_token(const struct token *t, char *dst, size_t size)
{
    size_t n = t->size < size - 4 ? t->size : size - 4;

    if (t->kind == TOKEN_END) {
        memcpy(dst, "nothing", sizeof "nothing");
        return;
    }
    char *to = dst;
    *to++ = '"';
    if (t->kind == TOKEN_IMMEDIATE)
        *to++ = '#';
    for (size_t i = 0; i < n; i++)
        *to++ = (unsigned char)t->text[i] < ' ' ? '?' : t->text[i];
    *to++ = '"';
    *to = '\0';
}

static int fail_token(struct parser *p, const struct token *t, const char *what)
{
    char text[80];

    describe_token(t, text, sizeof text);
    return tw_fail(p->err, TW_E_FORMAT, "%s %s", text, what);
}

/* ---- immediates */

/* A decimal or 0x number, perhaps with a minus; returns 0 when text is one. */
static int plain_number(const char *text, size_t size, int64_t *value)
{
    int minus = size > 0 && text[0] == '-';
    size_t at = (size_t)minus;
    unsigned base = 10;
    uint64_t v = 0;

    if (size - at > 2 && text[at] == '0' && (text[at + 1] == 'x' || text[at + 1] == 'X')) {
        base = 16;
        at += 2;
    }
    if (at == size || size - at > 18)
        return 1;
    for (; at < size; at++) {
        static const char digits[] = "0123456789abcdef0123456789ABCDEF";
        const char *found = text[at] == '\0' ? NULL : strchr(digits, text[at]);
        unsigned d = found == NULL ? base : (unsigned)(found - digits) % 16;
        if (d >= base || v > (uint64_t)INT64_MAX / base - base)
            return 1;
        v = v * base + d;
    }
    *value = minus ? -(int64_t)v : (int64_t)v;
    return 0;
}

/* Asks for the value of an immediate, once. Returns 0 or the callback's code. */
static int evaluate(struct parser *p, struct token *t)
{
    if (t->state != VALUE_UNKNOWN)
        return 0;
    if (p->context == NULL || p->context->value == NULL) {
        if (plain_number(t->text, t->size, &t->value) != 0)
            return fail_token(p, t, "is no number");
        t->state = VALUE_KNOWN;
        return 0;
    }
    int code = p->context->value(p->context->arg, t->text, t->size, &t->value, p->err);
    t->state = code == 0 ? VALUE_KNOWN : VALUE_UNRESOLVED;
    if (code > 0)
        t->value = 0;
    return code < 0 ? code : 0;
}

/* 32-bit immediates may be written without a sign: 0xffffffff is -1. */
static int64_t wrap(const struct tw_operand_info *o, int64_t value)
{
    if (o->bits == 32 && o->is_signed && value > INT32_MAX && value <= UINT32_MAX)
        return value - ((int64_t)1 << 32);
    return value;
}

/* ---- matching */

/* The register of a class that a token names, or -1. Some names stand for a register of either of two classes. */
static int register_of(struct parser *p, const struct token *t, const struct tw_operand_info *o)
{
    int reg = -1;

    if (p->context != NULL && p->context->register_name != NULL)
        reg = p->context->register_name(p->context->arg, t->text, t->size);
    if (reg < 0)
        reg = tw_register_find(t->text, t->size);
    if (reg < 0 || reg >= TW_R_COUNT)
        return -1;
    if (tw_operand_fits(o, reg))
        return reg;
    const struct tw_register_class *c = &tw_register_classes[o->register_class];
    for (unsigned v = 0; v < c->count; v++)
        if (c->by_value[v] >= 0 && strcmp(tw_registers[c->by_value[v]].name, tw_registers[reg].name) == 0)
            return c->by_value[v];
    return -1;
}

/* Gives an operand its value; returns 1 when it is tied to one that has another value. */
static int set_operand(struct parser *p, const struct tw_instruction *in, unsigned number, int64_t value)
{
    int tied = in->operands[number].tied_to;

    if (tied >= 0 && (p->set >> tied & 1) != 0 && p->op->operands[tied] != value)
        return 1;
    p->op->operands[number] = value;
    p->set |= (uint16_t)(1u << number);
    if (tied >= 0) {
        p->op->operands[tied] = value;
        p->set |= (uint16_t)(1u << tied);
    }
    return 0;
}

static void note_fault(struct parser *p, unsigned token, enum fault_rank rank, const struct tw_instruction *in,
                       const struct tw_operand_info *operand, const struct token *literal)
{
    int immediate = operand != NULL && operand->kind != TW_OPERAND_REGISTER;

    if (p->fault_instruction == NULL || token > p->fault)
        p->fault_immediate = immediate;
    else if (token == p->fault)
        p->fault_immediate |= immediate;
    if (p->fault_instruction != NULL && (token < p->fault || (token == p->fault && rank <= p->fault_rank)))
        return;
    p->fault = token;
    p->fault_rank = rank;
    p->fault_instruction = in;
    p->fault_operand = operand;
    if (literal != NULL)
        p->fault_literal = *literal;
}

static size_t letters(const char *text, size_t size)
{
    size_t n = 0;

    while (n < size && (text[n] < '0' || text[n] > '9'))
        n++;
    return n;
}

/* Whether a token is a name like those of an operand's registers, but for its number. */
static int is_like(const struct token *t, const struct tw_operand_info *o)
{
    const struct tw_register_class *c = &tw_register_classes[o->register_class];
    size_t n = letters(t->text, t->size);

    for (unsigned v = 0; v < c->count && n > 0; v++) {
        const char *name = c->by_value[v] < 0 ? "" : tw_registers[c->by_value[v]].name;
        if (letters(name, strlen(name)) == n && memcmp(name, t->text, n) == 0)
            return 1;
    }
    return 0;
}

static int match_operand(struct parser *p, const struct tw_instruction *in, unsigned number, unsigned at)
{
    const struct tw_operand_info *o = &in->operands[number];
    struct token *t = &p->words.tokens[at];
    int64_t value;
    int good;

    if (t->kind != (o->kind == TW_OPERAND_REGISTER ? TOKEN_WORD : TOKEN_IMMEDIATE)) {
        note_fault(p, at, FAULT_KIND, in, o, NULL);
        return 0;
    }
    if (o->kind == TW_OPERAND_REGISTER) {
        value = register_of(p, t, o);
        good = value >= 0;
    } else {
        p->code = evaluate(p, t);
        if (p->code < 0) {
            p->fault = at;
            return 0;
        }
        value = wrap(o, t->value);
        good = t->state == VALUE_UNRESOLVED || tw_operand_fits(o, value);
    }
    if (!good) {
        note_fault(p, at, o->kind == TW_OPERAND_REGISTER && is_like(t, o) ? FAULT_NUMBER : FAULT_VALUE, in, o, NULL);
        return 0;
    }
    if (set_operand(p, in, number, value) != 0) {
        note_fault(p, at, FAULT_TIED, in, o, NULL);
        return 0;
    }
    return 1;
}

/* Matches the literal text of a piece of syntax; returns the next token's number, or 0 on a difference. */
static unsigned match_literal(struct parser *p, const struct tw_instruction *in, const struct tw_piece *piece,
                              unsigned at)
{
    const char *text = piece->text, *end = piece->text + piece->length;

    for (;;) {
        struct token literal = next_token(&text, end);
        if (literal.kind == TOKEN_END)
            return at;
        if (!same_text(&literal, &p->words.tokens[at])) {
            note_fault(p, at, FAULT_KIND, in, NULL, &literal);
            return 0;
        }
        at++;
    }
}

/* Whether the tokens are an instruction; fills the operation's operands. */
static int match(struct parser *p, unsigned instruction)
{
    const struct tw_instruction *in = &tw_instructions[instruction];
    const struct tw_syntax *syntax = &tw_syntaxes[instruction];
    unsigned at = 0;

    p->set = 0;
    p->op->instruction = (uint16_t)instruction;
    for (unsigned i = 0; i < syntax->n_pieces; i++) {
        const struct tw_piece *piece = &syntax->pieces[i];
        unsigned next = match_literal(p, in, piece, at);
        if (next == 0)
            return 0;
        at = next;
        if (piece->operand < 0)
            continue;
        if (!match_operand(p, in, (unsigned)piece->operand, at))
            return 0;
        at++;
    }
    if (p->words.tokens[at].kind != TOKEN_END) {
        static const struct token nothing = {TOKEN_END, "", "", 0, VALUE_UNKNOWN, 0};
        note_fault(p, at, FAULT_KIND, in, NULL, &nothing);
        return 0;
    }
    tw_operation_complete(p->op);
    return 1;
}

/* ---- errors */

static int fail_match(struct parser *p)
{
    char found[80], expected[128];
    const struct token *t = &p->words.tokens[p->fault];
    const struct tw_operand_info *o = p->fault_operand;

    describe_token(t, found, sizeof found);
    if (o == NULL)
        describe_token(&p->fault_literal, expected, sizeof expected);
    else
        tw_operand_describe(o, expected, sizeof expected);
    if (p->fault_rank == FAULT_TIED)
        return tw_fail(p->err, TW_E_FORMAT, "%s must name the same register as operand %s (%s)", found,
                       p->fault_instruction->operands[o->tied_to].name, p->fault_instruction->syntax);
    if (o != NULL && o->kind != TW_OPERAND_REGISTER && t->kind == TOKEN_IMMEDIATE)
        return tw_fail(p->err, TW_E_FORMAT, "%s does not fit: %s (%s)", found, expected, p->fault_instruction->syntax);
    int only_immediate = o != NULL && o->kind != TW_OPERAND_REGISTER;
    return tw_fail(p->err, TW_E_FORMAT, "expected %s%s%s, not %s (%s)", only_immediate ? "an immediate #value, " : "",
                   expected, p->fault_immediate && !only_immediate ? ", or an immediate #value" : "", found,
                   p->fault_instruction->syntax);
}

static const struct tw_mnemonic *find_mnemonic(const struct token *t)
{
    unsigned low = 0, high = tw_mnemonic_count;

    while (low < high) {
        unsigned middle = low + (high - low) / 2;
        const struct tw_mnemonic *m = &tw_mnemonics[middle];
        size_t length = strlen(m->name);
        int c = memcmp(m->name, t->text, length < t->size ? length : t->size);
        if (c == 0 && length == t->size)
            return m;
        if (c == 0)
            c = length < t->size ? -1 : 1;
        if (c < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

/* ---- operations */

/* Appends the immediates of the operation that have no value yet. */
static int list_unresolved(struct parser *p, struct tw_unresolved *unresolved, size_t *n)
{
    const struct tw_instruction *in = &tw_instructions[p->op->instruction];
    const struct tw_syntax *syntax = &tw_syntaxes[p->op->instruction];
    unsigned at = 0;

    for (unsigned i = 0; i < syntax->n_pieces; i++) {
        int number = syntax->pieces[i].operand;
        if (number < 0 || in->operands[number].kind == TW_OPERAND_REGISTER)
            continue;
        while (p->words.tokens[at].kind != TOKEN_IMMEDIATE)
            at++;
        const struct token *t = &p->words.tokens[at++];
        if (t->state != VALUE_UNRESOLVED)
            continue;
        if (unresolved == NULL || *n >= TW_UNRESOLVED_MAX)
            return fail_token(p, t, "has no value");
        unresolved[(*n)++] = (struct tw_unresolved){in->slot, (uint8_t)number, t->text, t->size};
    }
    return 0;
}

/* Tries the instructions of a mnemonic, those of the allowed slots only. Returns 0 or a code. */
static int choose(struct parser *p, const struct tw_mnemonic *m, unsigned allowed)
{
    int blocked = -1;

    for (unsigned i = 0; i < m->count; i++) {
        unsigned number = tw_mnemonic_instructions[m->first + i];
        if (match(p, number)) {
            if ((allowed >> tw_instructions[number].slot & 1) != 0)
                return 0;
            blocked = (int)tw_instructions[number].slot;
        }
        if (p->code < 0)
            return p->code;
    }
    if (blocked >= 0) {
        static const char *const names[TW_SLOT_COUNT] = {"ldb", "lda", "st", "alu", "mv", "vec", "lng", "nop"};
        p->fault = 0;
        return tw_fail(p->err, TW_E_FORMAT, "%s needs slot %s, which is taken or excluded here", m->name,
                       names[blocked]);
    }
    return fail_match(p);
}

static int parse(struct parser *p, const char *text, size_t size, unsigned allowed, struct tw_unresolved *unresolved,
                 size_t *n_unresolved)
{
    if (split(&p->words, text, size) != 0)
        return tw_fail(p->err, TW_E_FORMAT, "too many words for one operation; operations are separated by ';'");
    const struct token *t = &p->words.tokens[0];
    if (t->kind != TOKEN_WORD)
        return tw_fail(p->err, TW_E_FORMAT, "expected an operation");
    const struct tw_mnemonic *m = find_mnemonic(t);
    if (m == NULL)
        return fail_token(p, t, "is no instruction");
    int code = choose(p, m, allowed);
    return code < 0 ? code : list_unresolved(p, unresolved, n_unresolved);
}

/* As parse, with the place of a fault as an offset from text. */
static int parse_operation(const char *text, size_t size, unsigned allowed, const struct tw_parse_context *context,
                           struct tw_operation *op, struct tw_unresolved *unresolved, size_t *n_unresolved,
                           size_t *column, struct tw_error *err)
{
    struct parser p;
    size_t none = 0;

    memset(&p, 0, sizeof p);
    memset(op, 0, sizeof *op);
    p.context = context;
    p.err = err;
    p.op = op;
    int code = parse(&p, text, size, allowed, unresolved, n_unresolved != NULL ? n_unresolved : &none);
    if (code < 0 && column != NULL)
        *column = (size_t)(p.words.tokens[p.fault].place - text);
    return code;
}

int tw_operation_parse(const char *text, size_t size, enum tw_slot slot, const struct tw_parse_context *context,
                       struct tw_operation *op, struct tw_unresolved *unresolved, size_t *n_unresolved, size_t *column,
                       struct tw_error *err)
{
    unsigned allowed = slot == TW_SLOT_COUNT ? (1u << TW_SLOT_COUNT) - 1 : 1u << slot;
    return parse_operation(size == 0 ? "" : text, size, allowed, context, op, unresolved, n_unresolved, column, err);
}

/* ---- bundles */

/* The slots that an operation in a slot keeps others out of: lng takes the place of alu and mv. */
static unsigned excluded_by(enum tw_slot slot)
{
    const unsigned alu_mv = 1u << TW_SLOT_ALU | 1u << TW_SLOT_MV;

    if (slot == TW_SLOT_LNG)
        return 1u << TW_SLOT_LNG | alu_mv;
    if ((alu_mv >> slot & 1) != 0)
        return 1u << slot | 1u << TW_SLOT_LNG;
    return 1u << slot;
}

/* The end of the operation that begins at `at`. */
static size_t operation_end(const char *text, size_t size, size_t at)
{
    const char *end = memchr(text + at, ';', size - at);
    return end == NULL ? size : (size_t)(end - text);
}

int tw_bundle_parse(const char *text, size_t size, const struct tw_parse_context *context, struct tw_bundle *bundle,
                    struct tw_unresolved unresolved[TW_UNRESOLVED_MAX], size_t *n_unresolved, size_t *column,
                    struct tw_error *err)
{
    unsigned allowed = (1u << TW_SLOT_COUNT) - 1;

    text = size == 0 ? "" : text;
    bundle->slots = 0;
    bundle->format = -1;
    if (n_unresolved != NULL)
        *n_unresolved = 0;
    for (size_t at = 0; at <= size;) {
        size_t end = operation_end(text, size, at), place = 0;
        struct tw_operation op;
        int code = parse_operation(text + at, end - at, allowed, context, &op, unresolved, n_unresolved, &place, err);
        if (code < 0) {
            if (column != NULL)
                *column = at + place;
            return code;
        }
        enum tw_slot slot = tw_instructions[op.instruction].slot;
        bundle->op[slot] = op;
        bundle->slots |= (uint8_t)(1u << slot);
        allowed &= ~excluded_by(slot);
        at = end + 1;
    }
    if (tw_format_find(bundle->slots, 0) >= 0)
        return 0;
    if (column != NULL)
        *column = 0;
    return tw_fail(err, TW_E_FORMAT, "no bundle carries these operations together: nop stands alone or before lng");
}
