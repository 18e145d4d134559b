/*
 * The AIE2 core's instruction set as data. The tables are generated from the text files aie2.formats, aie2.registers,
 * aie2.instructions and aie2.schedule in this folder: those are the one source of truth for the encoder, the decoder,
 * the printer, the assembler, the scheduler and the emulator. docs/isa.md explains how to read and extend them.
 *
 * Generated names, each the table's name with a prefix, in aie2_names.h: TW_R_* (registers: TW_R_r0, TW_R_d0_3d),
 * TW_G_* (register groups), TW_C_* (register classes), TW_I_* (instructions, one per slot form), TW_F_* (formats),
 * TW_U_* (resources).
 */
#ifndef TW_ISA_ISA_H
#define TW_ISA_ISA_H

#include "aie2_names.h"
#include "base/error.h"
#include "isa/rules.h"

#include <stddef.h>
#include <stdint.h>

/* Issue slots, in the order in which assembly text names them. lng takes the place of alu and mv. */
enum tw_slot {
    TW_SLOT_LDB,
    TW_SLOT_LDA,
    TW_SLOT_ST,
    TW_SLOT_ALU,
    TW_SLOT_MV,
    TW_SLOT_VEC,
    TW_SLOT_LNG,
    TW_SLOT_NOP, /* filler bit of the 16-bit nop and of the padded long form */
    TW_SLOT_COUNT
};

#define TW_BUNDLE_MAX 16 /* bytes */
#define TW_OPERANDS_MAX 12
#define TW_OPERATION_TEXT_MAX 128 /* characters with the NUL that any operation's and any bundle's text fits into */
#define TW_BUNDLE_TEXT_MAX 512

enum tw_operand_kind { TW_OPERAND_REGISTER, TW_OPERAND_IMMEDIATE, TW_OPERAND_ADDRESS };
enum tw_operand_role {
    TW_OPERAND_IN,
    TW_OPERAND_OUT,
    TW_OPERAND_TIED, /* read; the same field as an earlier output */
    TW_OPERAND_INOUT /* a 2D or 3D modifier group: read, and its dc is written */
};

struct tw_bit_range {
    uint8_t low, high; /* inside the slot word, both included */
};

struct tw_operand_info {
    const char *name;
    enum tw_operand_kind kind;
    enum tw_operand_role role;
    uint16_t register_class; /* TW_C_*, for registers */
    uint8_t bits;            /* width of the field; 0: no field (fixed register) */
    uint8_t is_signed;       /* immediates: two's complement */
    uint8_t is_negative;     /* immediates: value = (field - 2^bits) * scale */
    uint8_t scale;           /* immediates: value = field * scale */
    int8_t tied_to;          /* TIED: number of the output operand; else -1 */
    int8_t leaf_of;          /* >= 0: this register is a leaf of the register in that operand (the dc of a walk) */
    uint8_t leaf;            /* which of tw_register.leaves */
    uint8_t n_ranges;
    struct tw_bit_range ranges[3]; /* least significant bits of the field first */
};

enum tw_instruction_flag {
    TW_FLAG_LOAD = 1,
    TW_FLAG_STORE = 2,
    TW_FLAG_BRANCH = 4,
    TW_FLAG_DELAY = 8, /* five delay slots follow */
    TW_FLAG_LOCK = 16,
    TW_FLAG_STREAM = 32,
    TW_FLAG_SIDE_EFFECT = 64,
    TW_FLAG_NOP = 128
};

struct tw_instruction {
    const char *name;     /* "VMAC_F_vmac_bm_core_dense" */
    const char *mnemonic; /* "vmac.f" */
    const char *syntax;   /* "vmac.f $dst, $acc1, $xs1, $xs2, $c" */
    enum tw_slot slot;
    uint64_t mask, value; /* the bits that identify it */
    uint64_t unused;      /* written as 0, ignored when read */
    uint8_t n_operands, n_defs, n_uses;
    const struct tw_operand_info *operands;
    const uint16_t *defs, *uses; /* implicit registers, TW_R_* */
    uint32_t flags;
    uint16_t schedule; /* index of tw_schedule_classes */
};

struct tw_register {
    const char *name; /* as in assembly text: "r0", "wl3", "cm2", "d1" (the 3D walk TW_R_d1_3d too) */
    uint16_t bits;
    uint8_t group;  /* enum tw_register_group: which file it belongs to, TW_G_r and so on */
    uint8_t number; /* inside the file */
    uint8_t n_leaves;
    uint16_t leaves[8]; /* the smallest registers it consists of, low part first (itself when it has no parts) */
};

struct tw_register_class {
    const char *name;
    uint8_t bits;            /* width of a field of this class */
    uint16_t count;          /* size of by_value: 1 << bits */
    const int16_t *by_value; /* field value -> TW_R_*, or -1: reserved; bits 0: the one register */
};

struct tw_format {
    const char *name;
    uint8_t bytes;
    uint8_t slots;                         /* bit set of enum tw_slot */
    uint64_t mask[2], value[2], unused[2]; /* low 64 bits first */
    struct tw_bit_range place[TW_SLOT_COUNT];
};

/* When an operand is read or written; cycle 1 is the cycle of issue. */
enum tw_bypass { TW_BYPASS_NONE, TW_BYPASS_VEC, TW_BYPASS_MOV };
struct tw_operand_cycle {
    uint8_t cycle;
    uint8_t bypass;
};

struct tw_resource_use {
    uint16_t unit;       /* index of tw_resource_names */
    uint8_t first, last; /* cycles */
    uint8_t avoid;       /* must not coincide with a holder, but does not hold it */
};

struct tw_schedule_class {
    const char *name;
    uint8_t n_cycles, n_resources;
    uint8_t memory_first, memory_last; /* cycles of data memory access; 0: none */
    /* Of the operands, then the implicit defs, then the implicit uses of an instruction; it may have fewer. */
    const struct tw_operand_cycle *cycles;
    const struct tw_resource_use *resources;
};

extern const struct tw_instruction tw_instructions[];
extern const struct tw_register tw_registers[];
extern const struct tw_register_class tw_register_classes[];
extern const struct tw_format tw_formats[];
extern const struct tw_schedule_class tw_schedule_classes[];
extern const char *const tw_resource_names[];
/* The counts are TW_I_COUNT, TW_R_COUNT, TW_C_COUNT, TW_FORMAT_COUNT, TW_SCHEDULE_COUNT and TW_RESOURCE_COUNT. */

/* One operation: an instruction with values for its operands (TW_R_* numbers, or immediates as written). */
struct tw_operation {
    uint16_t instruction; /* TW_I_* */
    int64_t operands[TW_OPERANDS_MAX];
};

struct tw_bundle {
    uint8_t slots;  /* bit set of the slots present (nops included) */
    int16_t format; /* index of tw_formats; -1: let the encoder choose the smallest that carries the slots */
    struct tw_operation op[TW_SLOT_COUNT];
};

/* Whether a value can stand in an operand: TW_R_* or the immediate as written. */
int tw_operand_fits(const struct tw_operand_info *operand, int64_t value);
/* What an operand takes, for error sentences: "multiples of 32 from -256 to 224", "one of bml0 .. bmh8". */
void tw_operand_describe(const struct tw_operand_info *operand, char *dst, size_t size);

/*
 * Sets the operands that follow from others: tied ones, the counters of walks and fixed registers. The operands that
 * have a field must hold values that fit.
 */
void tw_operation_complete(struct tw_operation *op);

/*
 * Encodes an operation's slot word. Fails with TW_E_ARGUMENT when an operand does not fit its field, or is not what it
 * follows from (tw_operation_complete); the sentence names the operand and what it takes.
 */
int tw_operation_encode(const struct tw_operation *op, uint64_t *word, struct tw_error *err);
/* Decodes a slot word. Returns 0, or TW_E_FORMAT when no instruction of the slot matches (no sentence: speed). */
int tw_operation_decode(enum tw_slot slot, uint64_t word, struct tw_operation *op);

/*
 * Encodes a bundle; bytes gets its size (2 .. 16) bytes. Returns the size or a negative code. Slots that the format has
 * and the bundle does not get their nop.
 */
int tw_bundle_encode(const struct tw_bundle *bundle, uint8_t bytes[TW_BUNDLE_MAX], struct tw_error *err);
/*
 * Decodes the bundle at bytes, of which `size` are there. Returns its size. TW_E_FORMAT when it is cut short, its
 * format is unknown or a slot does not decode; *skip (skip may be NULL) gets the size that its first bits announce, 0
 * when cut short. Only the operations of bundle->slots are written.
 */
int tw_bundle_decode(const uint8_t *bytes, size_t size, struct tw_bundle *bundle, unsigned *skip);
/* The size of a bundle in bytes, from its first byte; 0 when no format begins so. */
unsigned tw_bundle_size(uint8_t first);
/*
 * The format that carries exactly the slots of a set (there is at most one); without exact, when there is none, the
 * smallest that carries at least them. -1 when there is none.
 */
int tw_format_find(unsigned slots, int exact);

/*
 * Text of an operation or bundle, as AMD's assembler writes it ("vlda wl0, [p0], #32; vmac.f bmh0, bmh0, x0, x2, r3").
 * Returns its length without the NUL; TW_E_LIMIT when it does not fit, TW_E_ARGUMENT when a number is out of range (dst
 * then holds an empty text).
 */
int tw_operation_print(const struct tw_operation *op, char *dst, size_t size);
int tw_bundle_print(const struct tw_bundle *bundle, char *dst, size_t size);

/* TW_R_* of a register by its assembly name, or -1; of those that share a name (d0 of 2D and 3D walks) the first. */
int tw_register_find(const char *name, size_t size);

/* The schedule class that applies to an operation, by its operands' registers (moves differ by register file). */
const struct tw_schedule_class *tw_operation_schedule(const struct tw_operation *op);
/* Whether an operation takes a unit of its schedule class: a port only counts with a register of its file. */
int tw_operation_takes_unit(const struct tw_operation *op, unsigned unit);

#endif
