/*
 * The registers of NPU1 by name: what a configuration writes can be said in the words of AMD's register reference
 * AM025, of which npu1.registers is the table.
 */
#ifndef TW_NPU1_REGISTERS_H
#define TW_NPU1_REGISTERS_H

#include "base/error.h"
#include "npu1/tile.h"

#include <stddef.h>
#include <stdint.h>

struct tw_tile_register_field {
    const char *name;
    uint8_t low, bits;
};

struct tw_tile_register {
    uint32_t offset;
    uint16_t bits; /* a multiple of 32 */
    uint16_t n_fields;
    uint32_t reset; /* of the first word */
    const char *name;
    const struct tw_tile_register_field *fields;
};

enum tw_tile_register_limit { TW_TILE_REGISTER_TEXT = 1024 /* enough for any text made here */ };

/* All registers of a kind of tile, by offset; memories are none. */
const struct tw_tile_register *tw_tile_registers(enum tw_tile_kind kind, unsigned *count);

/* The register that the word at an offset belongs to, or NULL. */
const struct tw_tile_register *tw_tile_register_at(enum tw_tile_kind kind, uint32_t offset);
/* The register of a name, with or without regard to case, or NULL. */
const struct tw_tile_register *tw_tile_register_named(enum tw_tile_kind kind, const char *name);

/* "shim(0,0)", "mem(0,1)", "core(1,2)": column and row. */
void tw_tile_name(uint32_t address, char *text, size_t size);

/*
 * "core(1,2) DMA_BD3_1" for the address of a register; "core(1,2) data+0x400", "core(1,2) program+0x10" for memory,
 * "core(1,2) 0x3fff4" for anything else. Words of registers that are wider than 32 bits: "core(0,2) Core_R0[1]".
 */
void tw_tile_register_name(uint32_t address, char *text, size_t size);

/*
 * The address of a text as tw_tile_register_name makes them. Fails with TW_E_ARGUMENT when it is none, TW_E_NOT_FOUND
 * when such a tile has no such register.
 */
int tw_tile_register_address(const char *text, uint32_t *address, struct tw_error *err);

/*
 * A value field by field: "Valid_BD=1 Next_BD=0x1f"; fields that are zero are left out, as are those that `mask` does
 * not touch. Bits without a name: "other=0x100". Empty for zero; for what is no register the number itself.
 */
void tw_tile_register_print(uint32_t address, uint32_t mask, uint32_t value, char *text, size_t size);

#endif
