/* While one operation is prepared: prepare.c, and for accesses to memory prepare_access.c. */
#ifndef TW_EMU_CORE_PREPARE_H
#define TW_EMU_CORE_PREPARE_H

#include "emu/core/state.h"

/* The operation being prepared. */
struct tw_core_work {
    struct tw_core_maker *m;
    struct tw_core_op *op;
    const struct tw_schedule_class *class;
    const struct tw_core_values *values;
    int direct;
    unsigned call; /* cycle in which the function is called */
    struct tw_core_piece captures[TW_VALUES_MAX], bypassed[TW_VALUES_MAX];
    uint8_t bypassed_values[TW_VALUES_MAX];
    struct tw_core_value_place places[TW_VALUES_MAX];
    unsigned n_places;
};

/* Lets a value of the flight land in its register; one piece for each leaf where that is not one in the file. */
void tw_core_land(struct tw_core_work *w, const struct tw_core_value *v, unsigned from);
/* Copies a register into the flight in the value's cycle. */
void tw_core_add_capture(struct tw_core_work *w, const struct tw_core_value *v, unsigned at, unsigned bytes);
void tw_core_add_step(struct tw_core_work *w, enum tw_core_list list, unsigned cycle, tw_core_step_function *run);
/* Where a value of the function lies. */
void tw_core_add_place(struct tw_core_work *w, unsigned value, enum tw_core_space space, unsigned at);
/* Keeps an immediate; returns its number. */
unsigned tw_core_add_immediate(struct tw_core_work *w, uint32_t value);

/*
 * The cycle of the call: when the last input is read, but in time for the first output, and not before `least`. Of the
 * inputs only the exception mask crFPMask is read after the first output has landed; it decides on flags alone.
 */
unsigned tw_core_call_cycle(const struct tw_core_work *w, unsigned least);
/* All that a call in cycle w->call needs. */
void tw_core_add_call(struct tw_core_work *w);

/* The first value that is an output, or an input, and no part of an address; NULL: there is none. */
const struct tw_core_value *tw_core_find_value(const struct tw_core_values *values, int is_out);

void tw_core_prepare_address(struct tw_core_work *w);
void tw_core_prepare_load(struct tw_core_work *w);
void tw_core_prepare_store(struct tw_core_work *w);

#endif
