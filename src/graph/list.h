/* What the files of this folder share: how the list grows, how it refuses, and the passes of tw_graph_finish. */
#ifndef TW_GRAPH_LIST_H
#define TW_GRAPH_LIST_H

#include "graph/graph.h"

/* Keeps the failure if it is the first one, and returns code. */
int tw_graph_refuse(struct tw_graph *g, int code, const char *fmt, ...) TW_PRINTF(3, 4);

/*
 * As tw_graph_refuse, and names the operation and its operands before the sentence. Operand numbers of op that are no
 * tensors are left out; index is the operation's place in the list.
 */
int tw_graph_refuse_op(struct tw_graph *g, int32_t index, const struct tw_op *op, int code, const char *fmt, ...)
    TW_PRINTF(5, 6);

/* 0, or nonzero when id is no tensor of g. */
int tw_graph_is_tensor(const struct tw_graph *g, tw_id id);

/* *items (room for *room of size bytes each) grows to hold one more than count. Returns 0 or TW_E_MEMORY. */
int tw_graph_grow(struct tw_graph *g, void **items, int32_t *room, int32_t count, size_t size);

/* Work memory of at least bytes, valid until the next call; NULL (and the failure stored) when there is none. */
void *tw_graph_scratch(struct tw_graph *g, size_t bytes);

/* "'name' f32 512x1500" to text, as much as fits. */
void tw_graph_describe(const struct tw_tensor *t, char *text, size_t size);

/* Gives every used temporary tensor its place and sets work_bytes; uses are known. Returns 0 or a negative code. */
int tw_graph_plan(struct tw_graph *g);

#endif
