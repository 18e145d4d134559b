/*
 * DMA buffer descriptors of the three kinds of tiles: what one transfer reads or writes, and the words that say so. By
 * AMD's register reference AM025 and the aie-rt driver.
 */
#ifndef TW_NPU1_BUFFER_DESCRIPTOR_H
#define TW_NPU1_BUFFER_DESCRIPTOR_H

#include "base/error.h"
#include "npu1/tile.h"

#include <stdint.h>

enum tw_bd_limit { TW_BD_WORDS_MAX = 8, TW_BD_DIMENSIONS_MAX = 4 };

struct tw_bd_dimension {
    uint32_t step; /* words from one element to the next, 1 or more (the field holds one less) */
    uint32_t wrap; /* elements; 0: goes on until the length is used up (always so in the last dimension) */
    uint32_t zeros_before, zeros_after; /* memory tiles: elements of padding */
};

/* Everything in one form, whatever the tile. Fields that a kind of tile does not have are zero. */
struct tw_bd {
    uint32_t length;  /* 32-bit words, padding included */
    uint64_t address; /* bytes. Core tile: own memory. Memory tile: window of west, own (from 0x80000) and east
                         neighbour (from 0x100000). Shim: device address, 48 bits */
    struct tw_bd_dimension dimensions[TW_BD_DIMENSIONS_MAX];
    struct {
        uint32_t step;    /* words, 1 or more */
        uint32_t count;   /* executions until it begins again, 1 or more */
        uint32_t current; /* 0 .. count - 1 */
    } iteration;
    uint8_t valid, use_next, next;
    uint8_t packet_enable, packet_id, packet_type, out_of_order_id;
    uint8_t tlast_suppress, compression;
    uint8_t acquire_enable, acquire_id, release_id;
    int8_t acquire_value, release_value;           /* acquire: < 0: at least -value; >= 0: exactly */
    uint8_t burst, ax_cache, ax_qos, smid, secure; /* shim: burst 0: 64 bytes, 1: 128, 2: 256 */
};

/* Of a kind of tile: how many dimensions, descriptors and words of one there are, and where they lie in the tile. */
unsigned tw_bd_dimensions(enum tw_tile_kind kind);
unsigned tw_bd_count(enum tw_tile_kind kind);
unsigned tw_bd_words(enum tw_tile_kind kind);
uint32_t tw_bd_offset(enum tw_tile_kind kind, unsigned number);

void tw_bd_decode(enum tw_tile_kind kind, const uint32_t *words, struct tw_bd *bd);
/* Fails with TW_E_ARGUMENT when something does not fit its field; the sentence says what it takes. */
int tw_bd_encode(enum tw_tile_kind kind, const struct tw_bd *bd, uint32_t *words, struct tw_error *err);

#endif
