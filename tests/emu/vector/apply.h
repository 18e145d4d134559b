/* One vector instruction with values by operand names, by the definitions. */
#ifndef TESTS_EMU_VECTOR_APPLY_H
#define TESTS_EMU_VECTOR_APPLY_H

#include "emu/semantics.h"

#include <stddef.h>

struct named {
    const char *name; /* of an operand or an implicit register; "memory": what a load found */
    const void *value;
    size_t size;
};

/*
 * Runs the instruction; values that are not given are zero. result gets the named output (or "memory", what a store
 * writes), size bytes. Returns what the function returns.
 */
const char *apply(uint16_t instruction, const struct named *values, size_t count, const char *output, void *result,
                  size_t size);

/* The same for scalars and flags. */
uint32_t apply_scalar(uint16_t instruction, const struct named *values, size_t count, const char *output);

#define APPLY(instruction, output, result, ...)                                                                        \
    apply(instruction, (const struct named[]){__VA_ARGS__},                                                            \
          sizeof((const struct named[]){__VA_ARGS__}) / sizeof(struct named), output, result, sizeof result)
#define APPLY_SCALAR(instruction, output, ...)                                                                         \
    apply_scalar(instruction, (const struct named[]){__VA_ARGS__},                                                     \
                 sizeof((const struct named[]){__VA_ARGS__}) / sizeof(struct named), output)
#define VALUE(name, array)                                                                                             \
    {                                                                                                                  \
        name, array, sizeof array                                                                                      \
    }
#define SCALAR(name, number)                                                                                           \
    {                                                                                                                  \
        name, (const uint32_t[]){number}, sizeof(uint32_t)                                                             \
    }

/* The row of an instruction; NULL: it is none of the vector unit's. */
const struct tw_semantics *vector_row(uint16_t instruction);

#endif
