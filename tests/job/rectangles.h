/* Which rows and columns of a temporary windows take, so that tests can see what meets. */
#ifndef TW_TESTS_JOB_RECTANGLES_H
#define TW_TESTS_JOB_RECTANGLES_H

#include "graph/graph.h"

struct rectangle {
    int64_t row, col, rows, cols;
};

struct rectangles {
    struct rectangle *items;
    int n, room;
};

void rectangles_begin(struct rectangles *list);
void rectangles_add(struct rectangles *list, struct rectangle r);
void rectangles_end(struct rectangles *list);

/* Matrix m of a window whose rows lie a row of its base apart; rows are counted through all matrices of the base. */
struct rectangle rectangle_of(const struct tw_graph *g, tw_id window, int64_t m);
/* All that any operation of the graph has in a base. */
void rectangles_of_base(struct rectangles *list, const struct tw_graph *g, tw_id base);

/* Nonzero when some number is in both lists; when every number of the second is in the first. */
int rectangles_meet(const struct rectangles *a, const struct rectangles *b);
int rectangles_cover(const struct rectangles *a, const struct rectangles *b);

#endif
