/* What is inside a file of any of the kinds that the NPU's tools make, as a tree. */
#ifndef TW_CLI_PRINT_IMAGE_H
#define TW_CLI_PRINT_IMAGE_H

#include "base/view.h"
#include "cli/tree.h"

/*
 * Prints an xclbin, PDI, CDO, ELF file (of a core, or with control code) or control code (binary or as hexadecimal
 * text, either form) as one node. The whole file is checked before anything is printed. Fails with what reading it
 * says; TW_E_UNSUPPORTED when the file is none of these, TW_E_LIMIT for more sections than a sane file has,
 * TW_E_MEMORY.
 */
int tw_print_image(struct tw_tree *t, const struct tw_view *file, struct tw_error *err);

#endif
