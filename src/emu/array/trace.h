/* Telling whoever watches the array (emu/trace.h) what its parts do. Nothing happens when nobody does. */
#ifndef TW_EMU_ARRAY_TRACE_H
#define TW_EMU_ARRAY_TRACE_H

#include "emu/trace.h"

struct tw_array;
struct tw_tile;
struct tw_dma_engine;

/* The core begins to run at a cycle, or runs no longer and for no reason that it could say: disabled, done, reset. */
void tw_trace_core_runs(struct tw_array *array, const struct tw_tile *tile, uint64_t cycle);
void tw_trace_core_stops(struct tw_array *array, const struct tw_tile *tile, uint64_t cycle);
/* Its request cannot be answered yet; the same request is, and the core goes on at a cycle. */
void tw_trace_core_waits(struct tw_array *array, const struct tw_tile *tile);
void tw_trace_core_answered(struct tw_array *array, const struct tw_tile *tile, uint64_t cycle);

/* Of a channel at the present time; what is TW_TRACE_TASK, TW_TRACE_DESCRIPTOR or TW_TRACE_WAIT_LOCK. */
void tw_trace_dma_begins(struct tw_array *array, struct tw_dma_engine *engine, enum tw_trace_what what);
void tw_trace_dma_ends(struct tw_array *array, struct tw_dma_engine *engine, enum tw_trace_what what);
/* It gives up all that it does. */
void tw_trace_dma_stops(struct tw_array *array, struct tw_dma_engine *engine);

/* A lock's value, which may have changed. */
void tw_trace_lock(struct tw_array *array, struct tw_tile *tile, unsigned lock);
void tw_trace_token(struct tw_array *array, unsigned column, unsigned row, unsigned actor);

#endif
