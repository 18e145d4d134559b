/* Generated tables that only this folder's code reads; the public ones are in isa.h. */
#ifndef TW_ISA_TABLES_H
#define TW_ISA_TABLES_H

#include "isa/isa.h"

/* A part of the chosen bits of a word: (word >> shift) & mask is their place in the number of the entry. */
struct tw_index_run {
    uint8_t shift;
    uint16_t mask;
};

/* For each value of a few chosen bits of a word, the list of what the word may be, ended by TW_INDEX_END. */
#define TW_INDEX_END 0xffff
struct tw_index {
    uint8_t n_runs;
    struct tw_index_run runs[10];
    const uint16_t *first; /* entry -> place in lists */
    const uint16_t *lists;
};

/* Literal text, then an operand (-1: none). */
struct tw_piece {
    const char *text;
    uint8_t length;
    int8_t operand;
};

struct tw_syntax {
    const struct tw_piece *pieces;
    uint8_t n_pieces;
};

/* All instructions of one mnemonic, in the order of slots. */
struct tw_mnemonic {
    const char *name;
    uint16_t first, count; /* in tw_mnemonic_instructions */
};

/* `to` applies instead of `from` when each numbered operand is in one of the groups (bit set of TW_G_*). */
struct tw_variant {
    uint16_t from, to;
    uint8_t n_conditions;
    uint8_t operand[2];
    uint64_t groups[2];
};

extern const struct tw_index tw_slot_index[TW_SLOT_COUNT];
extern const struct tw_index tw_format_index;   /* looks at the low 64 bits of a bundle */
extern const struct tw_syntax tw_syntaxes[];    /* of each instruction */
extern const struct tw_mnemonic tw_mnemonics[]; /* sorted by name (strcmp) */
extern const unsigned tw_mnemonic_count;
extern const uint16_t tw_mnemonic_instructions[];
extern const int16_t *const tw_class_values[];   /* class -> by register: field value or -1 */
extern const uint16_t tw_registers_by_name[];    /* TW_R_*, sorted by name (strcmp) */
extern const uint8_t tw_register_name_lengths[]; /* of each register */
extern const struct tw_variant tw_variants[];
extern const int16_t tw_first_variant[]; /* schedule class -> its first variant or -1; its others follow */
extern const unsigned tw_variant_count;
extern const uint16_t tw_slot_nops[TW_SLOT_COUNT]; /* TW_I_* of each slot's nop */

/* The list of candidates for a word. */
static inline const uint16_t *tw_index_find(const struct tw_index *index, uint64_t word)
{
    unsigned entry = 0;
    for (unsigned i = 0; i < index->n_runs; i++)
        entry |= (unsigned)(word >> index->runs[i].shift) & index->runs[i].mask;
    return index->lists + index->first[entry];
}

#endif
