/*
 * The NPU1 array: where its tiles are and what addresses of array configuration mean. Columns count from the first one
 * of the partition that a program gets; the device's firmware adds where that is. Numbers are those of AMD's manuals
 * AM020 and AM025 and of the aie-rt driver, which agree.
 */
#ifndef TW_NPU1_TILE_H
#define TW_NPU1_TILE_H

#include <stdint.h>

/* What Phoenix and Hawk Point call themselves; containers for other devices carry other numbers. */
#define TW_NPU1_ID_CODE 0x14ca8093u

enum tw_npu1_geometry {
    TW_NPU1_COLUMNS = 5,
    TW_NPU1_ROWS = 6,     /* 0: shim, 1: memory tile, from 2 on: cores */
    TW_NPU1_CORE_ROW = 2, /* the first */
    TW_NPU1_CORE_ROWS = 4
};

enum tw_tile_kind { TW_TILE_SHIM, TW_TILE_MEMORY, TW_TILE_CORE, TW_TILE_KINDS };

static inline enum tw_tile_kind tw_tile_kind(unsigned row)
{
    return row == 0 ? TW_TILE_SHIM : row < TW_NPU1_CORE_ROW ? TW_TILE_MEMORY : TW_TILE_CORE;
}

/* An address: column in bits 31:25, row in 24:20, offset in the tile in 19:0. */
enum tw_tile_address_bits { TW_TILE_COLUMN_SHIFT = 25, TW_TILE_ROW_SHIFT = 20, TW_TILE_BYTES = 1 << 20 };

enum tw_memory_tile { TW_MEMORY_TILE_BYTES = 0x80000 };

/* Offsets in a core's tile. */
enum tw_core_tile {
    TW_CORE_DATA = 0x00000,
    TW_CORE_DATA_BYTES = 0x10000,
    TW_CORE_PROGRAM = 0x20000,
    TW_CORE_PROGRAM_BYTES = 0x4000,
    TW_CORE_CONTROL = 0x32000 /* bit 0 enable, bit 1 reset */
};

static inline uint32_t tw_tile_address(unsigned column, unsigned row, uint32_t offset)
{
    return column << TW_TILE_COLUMN_SHIFT | row << TW_TILE_ROW_SHIFT | offset;
}

static inline unsigned tw_tile_column(uint32_t address)
{
    return address >> TW_TILE_COLUMN_SHIFT;
}

static inline unsigned tw_tile_row(uint32_t address)
{
    return address >> TW_TILE_ROW_SHIFT & 0x1f;
}

static inline uint32_t tw_tile_offset(uint32_t address)
{
    return address & (TW_TILE_BYTES - 1);
}

#endif
