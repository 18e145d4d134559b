/*
 * The array: tiles with their memories, locks, DMA engines, stream switches and cores, in one time. Everything that
 * acts keeps a clock of its own and runs ahead until a lock, a stream or a cascade makes it wait for another; only then
 * are clocks compared. What happens, and when, does not depend on who happens to be simulated first.
 */
#ifndef TW_EMU_ARRAY_H
#define TW_EMU_ARRAY_H

#include "base/error.h"
#include "emu/trace.h"
#include "emu/unknown.h"
#include "npu1/dma.h"
#include "npu1/tile.h"

#include <stddef.h>
#include <stdint.h>

struct tw_array;
struct tw_core;
struct tw_faults;
struct tw_vector_kernels;

/* The host's memory as shim DMA sees it. */
struct tw_host_memory {
    void *arg;
    /*
     * The place of `size` bytes at a device address, for reading or (write) writing; NULL when there is nothing, which
     * the DMA reports as an AXI error. What it gives stays valid while the array runs.
     */
    unsigned char *(*find)(void *arg, uint64_t address, uint64_t size, int write);
    /* Says where an address lies at which there is nothing, for the sentence of the error; NULL: nobody can say. */
    void (*describe)(void *arg, uint64_t address, char *text, size_t size);
};

struct tw_array_options {
    unsigned columns; /* 1 .. TW_NPU1_COLUMNS, counted from the partition's first */
    struct tw_host_memory host;
    const struct tw_vector_kernels *kernels; /* NULL: the fastest */
    const struct tw_unknown *unknown;        /* NULL: the defaults */
    int strict;                              /* of all cores */
    /*
     * Cycles that a core or a DMA channel may be simulated ahead of the others; 0: the usual, at most 1024. No time
     * depends on it,
     * and nothing that programs do who share memory by locks; who looks at memory without locks sees others' writes up
     * to so many cycles late or early.
     */
    unsigned run_ahead;
    /* Host threads that simulate cores, the caller's included; 0: one for each processor. Nothing depends on it. */
    unsigned threads;
    struct tw_trace_hook trace; /* cores, DMA channels, locks and tokens; event NULL: nobody watches */
    struct tw_faults *faults;   /* emu/fault.h: tokens, bits and cores; NULL: none. Outlives the array */
};

int tw_array_create(const struct tw_array_options *options, struct tw_array **array, struct tw_error *err);
void tw_array_free(struct tw_array *array);

/*
 * Accesses to registers and memories by address (npu1/tile.h) at the array's present time; words of 32 bits. They do at
 * once what the hardware does: a queue register starts a task, a reset bit resets. Fail with TW_E_ARGUMENT for a tile
 * that is not there, an address that is no register or memory, or one that is not a multiple of 4; with what a core or
 * a DMA says when the access makes them fail.
 */
int tw_array_write(struct tw_array *array, uint32_t address, const uint32_t *words, size_t count, struct tw_error *err);
int tw_array_mask_write(struct tw_array *array, uint32_t address, uint32_t mask, uint32_t value, struct tw_error *err);
int tw_array_read(struct tw_array *array, uint32_t address, uint32_t *value, struct tw_error *err);

/* The array's time in cycles, and letting it run up to a time. */
uint64_t tw_array_clock(const struct tw_array *array);
int tw_array_advance(struct tw_array *array, uint64_t until, struct tw_error *err);

/* A task-complete token that has come out of a shim's South0 port: who sent it. */
struct tw_token {
    uint8_t column, row, actor;
};

/*
 * Lets the array run until a token that matches comes out (and takes it), at most up to a time. Returns 0 and the time
 * has come to the token's; TW_E_STATE when nothing can move any more: err says which core, lock, DMA channel or stream
 * waits for what; TW_E_LIMIT when the time is up; or what failed in a core or DMA.
 */
int tw_array_wait_token(struct tw_array *array, const struct tw_token *token, uint64_t until, struct tw_error *err);

/* As tw_array_wait_token, for a register: until (value & mask) == expected. */
int tw_array_wait_register(struct tw_array *array, uint32_t address, uint32_t mask, uint32_t expected, uint64_t until,
                           struct tw_error *err);

/* Lets the array run until nothing moves: returns 0 when all work is done, else as tw_array_wait_token. */
int tw_array_drain(struct tw_array *array, uint64_t until, struct tw_error *err);

/* What a core waits for. */
enum tw_stall { TW_STALL_LOCK, TW_STALL_STREAM, TW_STALL_CASCADE, TW_STALL_REGISTER, TW_STALLS };

/*
 * What happened in a tile since the array was made. Bundles and stalls are of its core; words of all its DMA channels:
 * into memory (S2MM) and out of it (MM2S).
 */
struct tw_tile_counts {
    uint64_t bundles, bank_stalls, request_stalls;
    uint64_t words_in, words_out;
    uint8_t enabled, done;      /* the core, now */
    uint64_t dma_conflicts;     /* cycles in which the core and DMA wanted one bank; the core has lost 1 of 50 */
    uint64_t stalls[TW_STALLS]; /* request_stalls, and what a core that waits now has waited so far */
    uint64_t words[2][TW_DMA_CHANNELS_MAX]; /* by direction (S2MM, MM2S) and channel */
};
/* Fails with TW_E_ARGUMENT for a tile that is not there. */
int tw_array_counts(const struct tw_array *array, unsigned column, unsigned row, struct tw_tile_counts *counts);

/*
 * The core of a tile (emu/core.h), for a debugger or to tell it of reads that come early on purpose; NULL: there is
 * none. It belongs to the array, which alone runs it and answers it.
 */
struct tw_core *tw_array_core(const struct tw_array *array, unsigned column, unsigned row);

/*
 * Registers, locks, DMA, switches and cores as after power-on, tokens forgotten, a failure too; memories keep their
 * contents and the clock goes on: what the firmware does to columns before it loads another program.
 */
void tw_array_reset(struct tw_array *array);

/* One sentence for each core, DMA channel and lock that waits. The text is cut to size. */
void tw_array_describe_waits(const struct tw_array *array, char *text, size_t size);

#endif
