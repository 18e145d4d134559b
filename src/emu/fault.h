/*
 * Faults on purpose, for testing what stands above the emulator: what happens when a token is lost, a bit of a result
 * is wrong, a core hangs, a context is refused or memory runs out. Which occurrence is hit depends on the text alone,
 * never on time.
 */
#ifndef TW_EMU_FAULT_H
#define TW_EMU_FAULT_H

#include "base/error.h"

#include <stddef.h>
#include <stdint.h>

/* Each has its occurrences, which are counted from 1 over all contexts of a device. */
enum tw_fault_kind {
    TW_FAULT_TOKEN,   /* a task-complete token that reaches the firmware is dropped */
    TW_FAULT_BIT,     /* one bit of a 32-bit word that a shim's DMA writes to the host is flipped */
    TW_FAULT_CORE,    /* a core's request, as for a lock or a stream: it hangs there until it is reset */
    TW_FAULT_CONTEXT, /* a new context is refused */
    TW_FAULT_MEMORY,  /* an allocation for a buffer, a context, or a context's array fails */
    TW_FAULT_KINDS
};

extern const char *const tw_fault_names[TW_FAULT_KINDS]; /* "token", "bit", "core", "context", "memory" */

/* The variable that tw_faults_from_environment reads. */
#define TW_FAULT_VARIABLE "TILEWRIGHT_EMU_FAULT"

struct tw_faults;

/*
 * Reads faults from a text: KIND:WHEN or KIND:WHEN:seed=NUMBER, several separated by commas, one of each kind. WHEN
 * is a whole number n, for the n-th occurrence alone, or with a point a probability of each ("0.01", "1.0"), which the
 * seed (0 if not given) makes one sequence of hits or another; the seed also chooses the bit that is flipped. NULL
 * and "" are no faults at all: *faults = NULL, which all functions here take. Fails with TW_E_ARGUMENT, whose sentence
 * says what can be written, or TW_E_MEMORY.
 */
int tw_faults_create(const char *text, struct tw_faults **faults, struct tw_error *err);
/* The same with the text of TILEWRIGHT_EMU_FAULT; failures name the variable. */
int tw_faults_from_environment(struct tw_faults **faults, struct tw_error *err);
void tw_faults_free(struct tw_faults *faults);

/* Whether any fault of a kind can come at all. */
int tw_fault_is_set(const struct tw_faults *faults, enum tw_fault_kind kind);
/* Counts an occurrence; returns 1 when it is to go wrong, else 0. May be called by several threads. */
int tw_fault_hits(struct tw_faults *faults, enum tw_fault_kind kind);
/* As tw_fault_hits, for the bit of a word: returns the word with or without one bit flipped. */
uint32_t tw_fault_word(struct tw_faults *faults, uint32_t word);

/* How often a fault of a kind has come so far. */
uint64_t tw_fault_count(const struct tw_faults *faults, enum tw_fault_kind kind);
/* " (faults on purpose: token 1)" when any has come, else "". The text is cut to size. Returns how many have come. */
uint64_t tw_faults_describe(const struct tw_faults *faults, char *text, size_t size);

#endif
