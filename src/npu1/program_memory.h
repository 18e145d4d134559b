/* The program memories of an array's cores, as configurations write them. */
#ifndef TW_NPU1_PROGRAM_MEMORY_H
#define TW_NPU1_PROGRAM_MEMORY_H

#include "npu1/cdo.h"
#include "npu1/tile.h"

struct tw_program_memory {
    unsigned char bytes[TW_CORE_PROGRAM_BYTES];
    unsigned char written[TW_CORE_PROGRAM_BYTES / 4 / 8]; /* one bit for each word */
};

struct tw_program_memories {
    struct tw_program_memory *cores[TW_NPU1_COLUMNS][TW_NPU1_CORE_ROWS]; /* NULL: nothing was written */
};

/*
 * Does what the commands of a CDO do to program memories; all else is ignored. *memories begins zeroed and is released
 * with tw_program_memories_free, also after a failure. Fails with TW_E_FORMAT for a write to a tile that NPU1 does not
 * have or past the end of a memory, TW_E_UNSUPPORTED for a program that the CDO only points at, TW_E_MEMORY, or what
 * tw_cdo_next says.
 */
int tw_program_memories_write(struct tw_program_memories *memories, const struct tw_cdo *cdo, struct tw_error *err);
void tw_program_memories_free(struct tw_program_memories *memories);

/*
 * The first run of written words at or behind *at; *at is moved behind it. Returns its size in bytes (its address then
 * is *at minus that), or 0 when there is none.
 */
uint32_t tw_program_memory_run(const struct tw_program_memory *memory, uint32_t *at);

#endif
