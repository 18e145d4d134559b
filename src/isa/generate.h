/*
 * The generator of the instruction tables: what it holds in memory between reading the text files, checking them and
 * writing C. A host tool that the build runs; nothing of it is in the library.
 */
#ifndef TW_ISA_GENERATE_H
#define TW_ISA_GENERATE_H

#include "base/error.h"

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define SLOTS 8
#define MAX_FORMATS 256
#define MAX_GROUPS 64
#define MAX_REGISTERS 1024
#define MAX_LEAVES 8
#define MAX_CLASSES 256
#define MAX_CLASS_BITS 9
#define MAX_INSTRUCTIONS 4096
#define MAX_OPERANDS 12
#define MAX_IMPLICIT 8
#define MAX_RANGES 3
#define MAX_PIECES 16
#define MAX_UNITS 64
#define MAX_SCHEDULES 1024
#define MAX_CYCLES (MAX_OPERANDS + 2 * MAX_IMPLICIT)
#define MAX_USES 16
#define MAX_VARIANTS 512
#define MAX_CONDITIONS 2

/* The text files, in the order of the program's arguments. */
enum table_file { FILE_FORMATS, FILE_REGISTERS, FILE_INSTRUCTIONS, FILE_SCHEDULE, FILE_COUNT };

struct spot {
    enum table_file file;
    int line; /* from 1 */
};

struct bits {
    unsigned low, high;
};

struct wide { /* 128 bits, the low half first */
    uint64_t word[2];
};

struct format {
    struct spot at;
    const char *name;
    unsigned bytes;
    struct wide mask, value, unused;
    unsigned slots; /* bit set */
    struct bits place[SLOTS];
};

struct reg {
    struct spot at;
    const char *name, *text;
    unsigned bits, group, number;
    unsigned n_leaves;
    unsigned leaves[MAX_LEAVES];
};

struct reg_class {
    struct spot at;
    const char *name;
    unsigned bits;
    int16_t by_value[1 << MAX_CLASS_BITS]; /* register or -1 */
};

enum kind { KIND_REGISTER, KIND_IMMEDIATE, KIND_ADDRESS };
enum role { ROLE_IN, ROLE_OUT, ROLE_TIED, ROLE_INOUT };

struct operand {
    const char *name;
    enum kind kind;
    enum role role;
    int reg_class; /* -1 for immediates */
    unsigned bits; /* of its field; 0: no field */
    int is_signed, is_negative;
    unsigned scale;
    int tied_to, leaf_of; /* operand numbers or -1 */
    unsigned leaf;
    unsigned n_ranges;
    struct bits ranges[MAX_RANGES];
};

struct piece { /* literal text, then an operand (-1: none) */
    const char *text;
    size_t length;
    int operand;
};

struct instruction {
    struct spot at;
    const char *name, *syntax; /* the mnemonic is the first word of the syntax */
    unsigned slot;
    uint64_t mask, value, unused;
    unsigned n_operands, n_defs, n_uses, n_pieces;
    struct operand operands[MAX_OPERANDS];
    unsigned defs[MAX_IMPLICIT], uses[MAX_IMPLICIT];
    unsigned flags;
    unsigned schedule;
    struct piece pieces[MAX_PIECES];
};

enum bypass { BYPASS_NONE, BYPASS_VEC, BYPASS_MOV };

struct cycle {
    const char *name;
    unsigned cycle;
    enum bypass bypass;
};

struct unit_use {
    unsigned unit, first, last, avoid;
};

struct schedule {
    struct spot at;
    const char *name;
    unsigned n_cycles, n_required, n_units;
    struct cycle cycles[MAX_CYCLES];
    struct unit_use units[MAX_USES];
    unsigned memory_first, memory_last;
};

struct variant {
    struct spot at;
    unsigned from, to; /* schedule classes */
    unsigned n_conditions;
    unsigned operand[MAX_CONDITIONS];
    uint64_t groups[MAX_CONDITIONS]; /* bit set */
};

struct tables {
    const char *paths[FILE_COUNT];
    char *texts[FILE_COUNT]; /* all names point into these */
    unsigned n_formats, n_groups, n_registers, n_classes, n_instructions, n_units, n_schedules, n_variants;
    struct format formats[MAX_FORMATS];
    const char *groups[MAX_GROUPS];
    struct reg registers[MAX_REGISTERS];
    struct reg_class classes[MAX_CLASSES];
    struct instruction instructions[MAX_INSTRUCTIONS];
    const char *units[MAX_UNITS];
    struct schedule schedules[MAX_SCHEDULES];
    struct variant variants[MAX_VARIANTS];
    unsigned faults;
};

extern const char *const slot_names[SLOTS];
extern const unsigned slot_bits[SLOTS];
#define FLAGS 8
extern const char *const flag_names[FLAGS];

/* Says on stderr what is wrong at a place of a text file, and counts it. */
void fault(struct tables *t, struct spot at, const char *fmt, ...) TW_PRINTF(3, 4);

/* Reads one text file that is in t->texts; faults are counted. The order of files is that of enum table_file. */
void read_formats(struct tables *t);
void read_registers(struct tables *t);
void read_instructions(struct tables *t);
void read_schedule(struct tables *t);

/* Looks for what no single line shows: bits that are in two places or none, duplicates, counts that do not agree. */
void check_tables(struct tables *t);

/* A first-level table on chosen bits of a word: for each value of them the patterns that may match. */
#define INDEX_BITS 10
#define INDEX_LISTS 65536
struct pattern {
    uint64_t mask, value;
};
struct index {
    unsigned n_bits;
    unsigned bits[INDEX_BITS]; /* ascending */
    uint16_t first[1 << INDEX_BITS];
    unsigned n_lists;
    uint16_t lists[INDEX_LISTS]; /* each ended by UINT16_MAX */
};
/* numbers[i] is what the lists hold for patterns[i]. Returns 0, or 1 when the lists do not fit. */
int build_index(struct index *index, const struct pattern *patterns, const uint16_t *numbers, unsigned n);

/* Writes the C files; returns 0, or 1 when memory or an index ran out or writing failed. */
int write_names(const struct tables *t, FILE *out);
int write_tables(const struct tables *t, FILE *out);

#endif
