/* A tree of things with properties, written while it is walked: as indented lines for people, or as JSON. */
#ifndef TW_CLI_TREE_H
#define TW_CLI_TREE_H

#include <stdint.h>
#include <stdio.h>

enum tw_tree_limit { TW_TREE_DEPTH = 16 };

struct tw_tree {
    FILE *out; /* NULL: nothing is written */
    int json;
    unsigned depth; /* of open nodes */
    int has_contents[TW_TREE_DEPTH];
};

/*
 * Opens a node inside the one that is open. Its properties follow, then nodes inside of it, then tw_tree_end. JSON: an
 * object whose "node" is the name and whose "contents" are the nodes inside. At most TW_TREE_DEPTH may be open.
 */
void tw_tree_begin(struct tw_tree *t, const char *name);
void tw_tree_end(struct tw_tree *t);

/* Properties of the node that is open. What is no printable ASCII in a text is written as '?'. */
void tw_tree_text(struct tw_tree *t, const char *key, const char *text);
/* Lines show the text without its key. */
void tw_tree_plain(struct tw_tree *t, const char *key, const char *text);
void tw_tree_number(struct tw_tree *t, const char *key, uint64_t number);
/* Lines show it as 0x1f. */
void tw_tree_hex(struct tw_tree *t, const char *key, uint64_t number);

#endif
