/* What the assembler gives, as JSON. */
#ifndef TW_CLI_ASSEMBLY_JSON_H
#define TW_CLI_ASSEMBLY_JSON_H

#include "isa/assembler.h"

#include <stdio.h>

/*
 * Prints sections, symbols, scheduled stretches with their loops, and messages. Returns 0, or 1 when there is no memory
 * or out does not take it.
 */
int tw_assembly_print_json(const struct tw_assembly *assembly, FILE *out);

#endif
