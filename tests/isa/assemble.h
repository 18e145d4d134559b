/* Assembling small texts in tests: what comes out, and what is said about them. */
#ifndef TESTS_ISA_ASSEMBLE_H
#define TESTS_ISA_ASSEMBLE_H

#include "isa/assembler.h"

/* A file that an .include finds. */
struct included {
    const char *name, *text;
};

/* Assembles a text as "t.s"; files ends with a NULL name, or is NULL. Free the result with tw_assembly_free. */
struct tw_assembly *assemble(const char *text, const struct included *files);

/* Fails the test unless there are no errors and no warnings but "execution runs past". */
void assert_clean(const struct tw_assembly *a);

/* Fails the test unless the bytes of a section are these. */
void assert_section(const struct tw_assembly *a, const char *name, const void *bytes, size_t size);
/* The section, or NULL. */
const struct tw_as_section *find_section(const struct tw_assembly *a, const char *name);
/* Fails the test unless the symbol has this value. */
void assert_symbol(const struct tw_assembly *a, const char *name, int64_t value);

/*
 * Fails the test unless message number i is "FILE:LINE:COLUMN: SEVERITY: " and holds the sentence; place as
 * "t.s:1:5".
 */
void assert_message(const struct tw_assembly *a, size_t i, enum tw_severity severity, const char *place,
                    const char *sentence);
/* Fails the test unless the trace of message i at this depth is the place and holds the sentence. */
void assert_trace(const struct tw_assembly *a, size_t i, size_t depth, const char *place, const char *sentence);

/* Assembles a text that has one error, at this place with this sentence. */
void assert_error(const char *text, const char *place, const char *sentence);

/* The bytes of one bundle; returns their number. */
size_t bundle_bytes(const char *text, uint8_t bytes[TW_BUNDLE_MAX]);

#endif
