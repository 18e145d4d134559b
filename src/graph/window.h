/* Where the bytes of a tensor lie inside its base, and whether two such windows share some. */
#ifndef TW_GRAPH_WINDOW_H
#define TW_GRAPH_WINDOW_H

#include "graph/graph.h"

/* Bytes from the first to one past the last of t's window; rows and matrices may leave gaps. */
size_t tw_window_extent(const struct tw_tensor *t);

/* Nonzero when a and b name the same numbers in the same order. */
int tw_window_same(const struct tw_tensor *a, const struct tw_tensor *b);

/*
 * Nonzero when windows of one base may share a byte. Never 0 for windows that do; column slices, interleaved heads and
 * other windows that a common pitch tells apart are recognised, unusual mixtures of strides may not be.
 */
int tw_window_overlap(const struct tw_tensor *a, const struct tw_tensor *b);

/* Nonzero when rows or matrices of t itself lie on one another or interleave without one dimension nesting in the
 * other. */
int tw_window_folded(const struct tw_tensor *t);

#endif
