/*
 * The assembler: text to the bytes of sections, symbols and a listing. It knows no files: the caller gives the text and
 * answers for included ones, and writes what comes out. docs/isa.md describes the text.
 *
 *     struct tw_assembly *assembly;
 *     int code = tw_assemble("kernel.s", text, size, &options, &assembly, &err);
 *     for (size_t i = 0; i < assembly->n_messages; i++) ...
 *     if (code == 0)
 *         write assembly->sections
 *     tw_assembly_free(assembly);
 */
#ifndef TW_ISA_ASSEMBLER_H
#define TW_ISA_ASSEMBLER_H

#include "isa/check.h"
#include "isa/sched.h"

#include <stdio.h>

/* A place in the text; line and column count from 1, column 0: the whole line. */
struct tw_as_place {
    const char *file;
    unsigned line, column;
};

/* How a place came to be assembled: which macro, repetition or include it belongs to. */
struct tw_as_trace {
    struct tw_as_place place;
    const char *text; /* "in macro 'load'", "included from here" */
    const struct tw_as_trace *next;
};

struct tw_as_message {
    enum tw_severity severity;
    const char *kind; /* "syntax", "overlap" of sections, or tw_finding_names of what the checker found */
    struct tw_as_place place;
    const char *text;
    const struct tw_as_trace *trace;
};

enum tw_section_kind {
    TW_SECTION_TEXT, /* .text and names that begin with ".text.": program memory */
    TW_SECTION_DATA,
    TW_SECTION_BSS /* .bss and names that begin with ".bss.": data memory that is zero; bytes is NULL */
};

struct tw_as_section {
    const char *name;
    enum tw_section_kind kind;
    uint32_t address;
    uint32_t size;
    uint8_t *bytes;
    size_t n_bundles;
};

struct tw_as_symbol {
    const char *name;
    int64_t value;
    int section; /* number of the section of a label; -1: a number */
    int global;
};

/* What one line put into a section: a bundle, or data. */
struct tw_as_row {
    uint32_t section, offset, size;
    uint8_t is_bundle, scheduled;
    struct tw_as_place place;
    const char *text; /* the line, after macros; of text_size characters */
    size_t text_size;
};

/*
 * A bundle that deals with registers out of their time on purpose: it reads one before a result has landed or behind a
 * later write, or writes one before an earlier, slower write lands. .old says so, or the scheduler has proved who gets
 * what. It may meet the other bundle in some of its executions only. An emulator that takes such uses for faults is
 * told of them by this list:
 *
 *     for (size_t i = 0; i < assembly->n_old; i++)
 *         tw_core_expect_old(core, assembly->old[i].address, assembly->old[i].leaves, assembly->old[i].n);
 */
struct tw_as_old {
    uint32_t section, address;
    size_t n;
    const uint16_t *leaves; /* smallest registers, TW_R_* */
};

/* A stretch of scheduled code. */
struct tw_as_scheduled {
    struct tw_as_place place;
    uint32_t section, offset, size; /* where it lies */
    struct tw_sched_code *code;     /* laid out: for tw_sched_report, and code->loops */
};

struct tw_assembly {
    const char *source_name; /* what .file says, or the name given to tw_assemble */
    struct tw_as_section *sections;
    size_t n_sections;
    struct tw_as_symbol *symbols; /* all that have a value, in the order in which they appear */
    size_t n_symbols;
    struct tw_as_row *rows; /* in the order of the text */
    size_t n_rows;
    struct tw_as_scheduled *scheduled;
    size_t n_scheduled;
    struct tw_as_old *old; /* by address; sections that lie on top of each other one after the other */
    size_t n_old;
    struct tw_as_message *messages; /* errors at most TW_AS_ERRORS_MAX */
    size_t n_messages, n_errors, n_warnings;
};

#define TW_AS_ERRORS_MAX 100
#define TW_AS_DEPTH_MAX 64 /* of macros, repetitions and includes inside each other */

/* The text of an included file. */
struct tw_as_text {
    const char *name; /* for messages and for includes from it */
    const char *text;
    size_t size;
};

struct tw_as_options {
    /*
     * Finds the file `name`, as written in the file `from`. What it gives must stay until tw_assemble returns. NULL:
     * there are no includes.
     */
    int (*include)(void *arg, const char *name, const char *from, struct tw_as_text *text, struct tw_error *err);
    void *arg;
    int foreign; /* as if the text began with .foreign */
    /*
     * Sections of program memory that lie on top of each other are an error. Without it they are programs of different
     * cores, as the disassembler writes them. Sections of data memory must never overlap.
     */
    int one_program;
};

/*
 * Assembles a text. *assembly is set also when it fails with TW_E_FORMAT, for its messages: err has the first error.
 * Otherwise fails with TW_E_MEMORY. options may be NULL. Free *assembly (which may be NULL) with tw_assembly_free.
 */
int tw_assemble(const char *name, const char *text, size_t size, const struct tw_as_options *options,
                struct tw_assembly **assembly, struct tw_error *err);
void tw_assembly_free(struct tw_assembly *assembly);

/* Writes the listing: address, bytes and source of each row, section after section, then what became of loops. */
void tw_assembly_list(const struct tw_assembly *assembly, FILE *out);

#endif
