/*
 * The assembler while it works, and what its parts do for each other:
 *
 *   span.c        cutting pieces from a line
 *   source.c      files, macros and repetitions -> lines without comments
 *   macro.c       bodies of macros and repetitions; putting arguments in their places
 *   condition.c   .if and its kin
 *   expression.c  values
 *   symbol.c      names and what they stand for
 *   directive.c   the other directives
 *   section.c     bytes, and values that come later
 *   code.c        bundles
 *   scheduled.c   what stands between .sched and .endsched
 *   verify.c      hands the code to the checker
 *   message.c     what is wrong, and where
 *   assembler.c   goes through the lines
 *   listing.c     the listing
 *
 * It goes through the text once. The size of everything is known at once: only values may come later, and they are put
 * in at the end.
 */
#ifndef TW_ISA_AS_STATE_H
#define TW_ISA_AS_STATE_H

#include "isa/as/pool.h"
#include "isa/assembler.h"
#include "isa/grow.h"

enum {
    AS_LINES_MAX = 1 << 20, /* of text after macros, all in all */
    AS_LINE_MAX = 4096,     /* characters */
    AS_LOCALS = 100,        /* local labels are 0: .. 99: */
    AS_CONDITIONS_MAX = 64, /* .if inside each other */
    AS_ARGUMENTS_MAX = 32,  /* of a macro */
    AS_OLD_MAX = 256,       /* registers of the .old before one bundle */
    AS_SECTIONS_MAX = 1024,
    AS_SCHEDULED_MAX = 16384, /* lines between .sched and .endsched */
    AS_EXPRESSION_DEPTH = 64  /* parentheses and the like */
};

/* ---- lines */

/* Where a column of an expanded line comes from: from `from` on, either column by column or all from one place. */
struct tw_as_stretch {
    uint32_t from, to;
    int copied;
};

struct tw_as_line {
    const char *text; /* without comments; not ended by a NUL */
    size_t size;
    const char *file;
    unsigned line;
    const struct tw_as_trace *trace;
    const struct tw_as_line *origin; /* the line of a body that this one was made of, or NULL */
    const struct tw_as_stretch *map;
    size_t n_map;
};

/* Part of a line. */
struct tw_as_span {
    const char *text;
    size_t size;
};

/* Lines between a directive and its end. */
struct tw_as_body {
    const struct tw_as_line **lines;
    size_t n, room;
};

struct tw_as_parameter {
    struct tw_as_span name, value; /* the default */
    int required, rest;            /* rest: it takes all that is left */
};

struct tw_as_macro {
    struct tw_as_span name;
    struct tw_as_parameter parameters[AS_ARGUMENTS_MAX];
    size_t n_parameters;
    struct tw_as_body body;
};

/* Something that lines come from. */
struct tw_as_input {
    struct tw_as_input *below;
    const struct tw_as_trace *trace; /* of its lines */
    size_t conditions;               /* that were open before it */
    /* a file: body is NULL */
    const char *file;
    const char *text;
    size_t size, at;
    unsigned line;
    const struct tw_as_line *comment; /* where one has begun and not ended */
    /* a macro or a repetition */
    const struct tw_as_body *body;
    size_t next;
    int64_t turn, turns;
    const struct tw_as_macro *macro;
    const struct tw_as_span *arguments;
    unsigned serial;
};

struct tw_as_condition {
    const struct tw_as_line *line;
    const char *at;
    uint8_t taking, taken, had_else, skipped; /* skipped: it stands in text that is left out */
};

/* ---- symbols */

/* Values that something has had, each from a moment on, in the order of the text. */
struct tw_as_value {
    uint64_t moment;
    int64_t value;
};

struct tw_as_history {
    struct tw_as_value *list;
    size_t n, room;
};

enum tw_as_symbol_state { AS_UNKNOWN, AS_LABEL, AS_NUMBER };

struct tw_as_name {
    struct tw_as_span name;
    uint32_t hash;
    enum tw_as_symbol_state state;
    struct tw_as_history history; /* numbers may be set again */
    int section;
    int global;
    const struct tw_as_macro *macro; /* of this name; it has nothing to do with the symbol */
    const struct tw_as_line *line;   /* where it got its value, or was made global */
    const char *at;
};

/* When an expression is worked out: what '.' is, and which local labels lie before it. */
struct tw_as_point {
    uint64_t moment; /* lines so far */
    int64_t dot;     /* -1: no section */
};

/* ---- sections */

struct tw_as_part {
    const char *name;
    enum tw_section_kind kind;
    int64_t address;
    int placed;                    /* the address has been given or used */
    const struct tw_as_line *line; /* where its first byte comes from */
    const char *at;
    uint8_t *bytes;
    size_t size, room; /* bss: no bytes */
    size_t n_bundles;
    int full; /* told already */
};

enum tw_as_fixup_kind {
    AS_FIX_BUNDLE,  /* a bundle whose text is parsed again */
    AS_FIX_OPERAND, /* an operand of a scheduled bundle */
    AS_FIX_NUMBER   /* size bytes of data */
};

/* A value that comes later. */
struct tw_as_fixup {
    enum tw_as_fixup_kind kind;
    uint32_t section, offset, size;
    uint8_t slot, operand;
    struct tw_as_point point;
    const struct tw_as_line *line;
    struct tw_as_span text;
};

struct tw_as_row_info {
    const struct tw_as_line *line;
    const char *at; /* where the bundle begins in it */
    uint32_t section, offset, size;
    int64_t order; /* its address, for sorting */
    uint8_t is_bundle, scheduled, foreign;
    uint16_t n_old;
    const uint16_t *old;
};

/* ---- all of it */

struct tw_as {
    struct tw_assembly out; /* first: this is what the caller gets */
    struct tw_as_pool pool;
    const struct tw_as_options *options;
    int code; /* of a failure that is not the text's */
    int stop; /* too many errors, or lines */

    struct tw_as_input *input;
    size_t depth, n_lines, n_characters;
    unsigned serial;
    struct tw_as_condition conditions[AS_CONDITIONS_MAX];
    size_t n_conditions;
    size_t room_messages;
    struct tw_error first_error;

    struct tw_as_name **names; /* hash table */
    size_t n_names, room_names;
    struct tw_as_name **order; /* as they appear */
    size_t n_order, room_order;
    struct tw_as_history locals[AS_LOCALS];
    struct tw_as_point point;

    struct tw_as_part *parts;
    size_t n_parts, room_parts;
    int current; /* number of the section */
    struct tw_as_fixup *fixups;
    size_t n_fixups, room_fixups;
    struct tw_as_row_info *rows;
    size_t n_rows, room_rows;
    size_t room_scheduled, room_old;

    const struct tw_as_line *line; /* being assembled */
    int foreign;
    uint16_t old[AS_OLD_MAX];
    size_t n_old;
    const struct tw_as_line *old_line;

    int scheduling; /* between .sched and .endsched */
    const struct tw_as_line *sched_line;
    const char *sched_at;
    struct tw_source_line *sched_lines; /* from the pool when handed over */
    const struct tw_as_line **sched_origins;
    size_t n_sched, room_sched, room_origins;
};

/* ---- message.c */

/* Notes an error at a place of the line being assembled (at NULL: the whole line). Returns 1. */
int tw_as_fault(struct tw_as *a, const char *at, const char *fmt, ...) TW_PRINTF(3, 4);
/* The same for another line. */
int tw_as_fault_in(struct tw_as *a, const struct tw_as_line *line, const char *at, const char *fmt, ...)
    TW_PRINTF(4, 5);
void tw_as_message(struct tw_as *a, enum tw_severity severity, const char *kind, const struct tw_as_line *line,
                   const char *at, const struct tw_as_trace *trace, const char *text);
/* The place of a character of a line in the text that was given. */
struct tw_as_place tw_as_place_of(const struct tw_as_line *line, const char *at);
/* Notes that there is no memory. Returns 1. */
int tw_as_no_memory(struct tw_as *a);
/* A place in front of a trace. NULL when there is no memory. */
const struct tw_as_trace *tw_as_trace_push(struct tw_as *a, const struct tw_as_trace *next, struct tw_as_place place,
                                           const char *fmt, ...) TW_PRINTF(4, 5);

/* ---- source.c */

/* Begins a file. Returns 0, or 1 after a fault. */
int tw_as_open(struct tw_as *a, const struct tw_as_text *text, const struct tw_as_trace *trace);
/* Begins the lines of a body; input is copied. */
int tw_as_push(struct tw_as *a, const struct tw_as_input *input);
/* The next line of the innermost input: 1, or 0 at its end, or -1 after a failure. Does not leave the input. */
int tw_as_next_here(struct tw_as *a, const struct tw_as_line **line);
/* The next line of all: 1, or 0 at the end of the text. */
int tw_as_next(struct tw_as *a, const struct tw_as_line **line);
/* Leaves out the rest of the text. */
void tw_as_end(struct tw_as *a);

/* ---- macro.c */

int tw_as_define_macro(struct tw_as *a, struct tw_as_span rest);
int tw_as_repeat(struct tw_as *a, struct tw_as_span rest);
const struct tw_as_macro *tw_as_find_macro(const struct tw_as *a, struct tw_as_span name);
int tw_as_call_macro(struct tw_as *a, const struct tw_as_macro *macro, const char *at, struct tw_as_span rest);
/* The line of an input's body with its arguments in place. NULL when there is no memory or it becomes too long. */
const struct tw_as_line *tw_as_expand(struct tw_as *a, const struct tw_as_input *input, const struct tw_as_line *line);

/* ---- condition.c */

/* Whether the word is a directive of conditions; then it has been obeyed. */
int tw_as_condition(struct tw_as *a, struct tw_as_span word, struct tw_as_span rest);
/* Whether text is left out here. */
int tw_as_skipping(const struct tw_as *a);
/* Faults for conditions that an input leaves open; they are dropped. */
void tw_as_close_conditions(struct tw_as *a, size_t open);

/* ---- expression.c */

/*
 * The value of an expression at a point. Returns 0; 1 when a symbol in it has no value yet, which *missing (may be
 * NULL) then names; TW_E_FORMAT with err and *fault, the place in the text.
 */
int tw_as_evaluate(const struct tw_as *a, const struct tw_as_point *point, struct tw_as_span text, int64_t *value,
                   struct tw_as_span *missing, const char **fault, struct tw_error *err);
/* The value of an expression in the line, which must be known now. Returns 0, or 1 after a fault. */
int tw_as_known(struct tw_as *a, struct tw_as_span text, int64_t *value);

/* ---- symbol.c */

struct tw_as_name *tw_as_find(const struct tw_as *a, struct tw_as_span name);
/* Finds a name or adds it without a value; NULL when there is no memory. */
struct tw_as_name *tw_as_name(struct tw_as *a, struct tw_as_span name);
int tw_as_set_label(struct tw_as *a, struct tw_as_span name, int64_t value);
int tw_as_set_number(struct tw_as *a, struct tw_as_span name, int64_t value);
/* The value of "1b" or "1f". Returns 0, or 1 when there is no such label (yet). */
int tw_as_local_value(const struct tw_as *a, unsigned number, int forward, const struct tw_as_point *point,
                      int64_t *value);
/* The value of a name at a point. Returns 0; 1: it has none (yet); 2: it gets several, all behind the point. */
int tw_as_name_value(const struct tw_as_name *name, const struct tw_as_point *point, int64_t *value);

/* ---- section.c */

int tw_as_enter(struct tw_as *a, struct tw_as_span name, const int64_t *address);
struct tw_as_part *tw_as_part(struct tw_as *a);
/* Goes on at an address: the beginning of an empty section, or further on, with zeros before it. */
int tw_as_origin(struct tw_as *a, const char *at, int64_t address);
/* Appends size bytes (NULL: zeros) to the section. Returns 0 or 1 after a fault. */
int tw_as_put(struct tw_as *a, const char *at, const void *bytes, size_t size);
/* Appends the line's row for bytes put at offset. */
struct tw_as_row_info *tw_as_row(struct tw_as *a, const char *at, uint32_t offset, size_t size);
/* Fills up to a multiple of align, in a text section by bundles of nops. */
int tw_as_align(struct tw_as *a, const char *at, uint64_t align);
struct tw_as_fixup *tw_as_fixup(struct tw_as *a, enum tw_as_fixup_kind kind, uint32_t offset, size_t size,
                                struct tw_as_span text);
/* The value of an expression when all text has been read. Returns 0, or 1 after a fault in the line. */
int tw_as_later(struct tw_as *a, const struct tw_as_point *point, struct tw_as_span text, int64_t *value);
/* Whether a number fits into size bytes, with or without a sign. Returns 0, or 1 after a fault. */
int tw_as_check_number(struct tw_as *a, const char *at, int64_t value, size_t size);
void tw_as_store(uint8_t *to, int64_t value, size_t size);
/* Puts in the values that came later. */
void tw_as_resolve(struct tw_as *a);

/* ---- directive.c */

/* Obeys the directive. Returns 0, or 1 after a fault. */
int tw_as_directive(struct tw_as *a, struct tw_as_span word, struct tw_as_span rest);
/* Whether a directive is obeyed between .sched and .endsched as well. */
int tw_as_is_general(struct tw_as_span word);

/* ---- code.c */

int tw_as_bundle(struct tw_as *a, struct tw_as_span text);
int tw_as_old(struct tw_as *a, struct tw_as_span rest);
/* Parses the bundle of a fixup again and puts it in its place. */
void tw_as_resolve_bundle(struct tw_as *a, const struct tw_as_fixup *f);
/* A value that fits an operand until its own comes. */
int64_t tw_as_any_value(const struct tw_operand_info *operand);
/* 32-bit immediates may be written without a sign: 0xffffffff is -1. */
int64_t tw_as_wrap(const struct tw_operand_info *operand, int64_t value);
/* A bundle of nops alone, of an even size up to 16 bytes. */
void tw_as_nops(size_t size, uint8_t *bytes);

/* ---- scheduled.c */

int tw_as_begin_scheduled(struct tw_as *a, const char *at);
int tw_as_add_scheduled(struct tw_as *a, struct tw_as_span text);
int tw_as_end_scheduled(struct tw_as *a, const char *at);
void tw_as_resolve_operand(struct tw_as *a, const struct tw_as_fixup *f);

/* ---- verify.c */

/* Faults for sections that lie on top of each other and must not. */
void tw_as_check_overlaps(struct tw_as *a);
int tw_as_verify(struct tw_as *a);

/* ---- span.c */

static inline int tw_as_is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f';
}

static inline int tw_as_is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '.' || c == '$';
}

static inline int tw_as_is_digit(char c)
{
    return c >= '0' && c <= '9';
}

struct tw_as_span tw_as_trim(struct tw_as_span s);
/* The name at the front of a text, or an empty span; s is what follows it, without spaces. */
struct tw_as_span tw_as_take_name(struct tw_as_span *s);
/* Takes a character from the front. */
int tw_as_take(struct tw_as_span *s, char c);
/* *item = what stands before the next comma that is outside brackets and quotes. Returns 1 when there is a comma, and s
 * is what follows it, or 0. */
int tw_as_take_item(struct tw_as_span *s, struct tw_as_span *item);
int tw_as_equals(struct tw_as_span s, const char *text);
int tw_as_same(struct tw_as_span a, struct tw_as_span b);
/* A text in quotes: *inside gets what is between them. Returns 1 when there is none. */
int tw_as_take_quoted(struct tw_as_span *s, struct tw_as_span *inside);
/* A span for "%.*s", shortened. */
int tw_as_width(struct tw_as_span s);

#endif
