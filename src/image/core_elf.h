/*
 * The program of one core as an ELF file: 32 bits, little-endian, machine "AMD AIE". What the loader of the aie-rt
 * driver takes: segments below 0x20000 go to program memory, those from 0x40000 on to data memory as the core sees it,
 * own memory from 0x70000 on, the south, west and north neighbours' in the three windows of 64 KiB below that.
 */
#ifndef TW_IMAGE_CORE_ELF_H
#define TW_IMAGE_CORE_ELF_H

#include "base/view.h"

enum tw_core_elf_address {
    TW_ELF_PROGRAM_BYTES = 0x4000, /* program memory, from address 0 on */
    TW_ELF_DATA_FIRST = 0x40000,
    TW_ELF_DATA_END = 0x80000,
    TW_ELF_DATA_WINDOW = 0x10000
};

enum tw_core_elf_limit { TW_ELF_SEGMENTS_MAX = 256 };

struct tw_elf_segment {
    const char *name; /* writing: of its section, ".text"; reading: "" */
    uint32_t address;
    uint32_t bytes;      /* in memory; what is behind the data is zero */
    struct tw_view data; /* writing: only data and size count */
};

enum tw_elf_symbol_kind { TW_ELF_NOTYPE, TW_ELF_OBJECT, TW_ELF_FUNCTION };

struct tw_elf_symbol {
    const char *name;
    uint32_t value; /* an address, or any number */
    uint32_t size;
    enum tw_elf_symbol_kind kind;
    int global;
};

/*
 * A bundle at an address reads or writes a register out of its time on purpose, so that who runs the program need not
 * take it for a fault. Registers go by their names in assembly text: these stay when tables of registers grow. The file
 * has them in a section of this name that is not loaded: for each, the address in 4 bytes and the name with a zero
 * behind it.
 */
struct tw_elf_old {
    uint32_t address;
    const char *name; /* reading: any text from the file, of 1 to TW_ELF_OLD_NAME_MAX characters */
};
#define TW_ELF_OLD_SECTION ".tilewright.old"

enum tw_elf_old_limit { TW_ELF_OLD_NAME_MAX = 31 };

struct tw_core_elf {
    struct tw_view view;
    uint32_t n_segments;
    struct tw_elf_segment segments[TW_ELF_SEGMENTS_MAX]; /* by address; they do not overlap */
    uint32_t n_symbols;
    struct tw_view symbols, strings;
    struct tw_view old; /* empty when the file has none */
};

/* Whether an ELF file begins here, of any kind. */
int tw_elf_recognise(const struct tw_view *view);

/* Whether a segment lies in program memory; else it lies in data memory. */
int tw_elf_is_program(const struct tw_elf_segment *segment);

/*
 * Checks a linked program for the AIE2 core. Segments of no bytes are left out. Fails with TW_E_FORMAT,
 * TW_E_UNSUPPORTED for an ELF file of another kind or core, TW_E_LIMIT for more than TW_ELF_SEGMENTS_MAX segments.
 */
int tw_core_elf_open(const struct tw_view *view, struct tw_core_elf *elf, struct tw_error *err);

/* Symbol number i < n_symbols of an opened file: files, sections and the like have the kind TW_ELF_NOTYPE. */
void tw_core_elf_symbol(const struct tw_core_elf *elf, uint32_t i, struct tw_elf_symbol *symbol);

/*
 * The next of an opened file's uses out of time, in the order in which they were written. *at counts from 0 on and is
 * moved. Returns 1, or 0 when there are no more.
 */
int tw_core_elf_old(const struct tw_core_elf *elf, size_t *at, struct tw_elf_old *read);

/* What a file is made of. */
struct tw_elf_program {
    const struct tw_elf_segment *segments;
    size_t n_segments;
    const struct tw_elf_symbol *symbols;
    size_t n_symbols;
    const struct tw_elf_old *old;
    size_t n_old;
};

/*
 * Makes the ELF file of a program that begins at address 0: each segment with a section, the symbols, and the reads out
 * of time if there are any. *bytes is to be freed with free(). Fails with TW_E_ARGUMENT for segments or reads that
 * tw_core_elf_open would refuse, TW_E_LIMIT, TW_E_MEMORY.
 */
int tw_core_elf_write(const struct tw_elf_program *program, unsigned char **bytes, size_t *size, struct tw_error *err);

#endif
