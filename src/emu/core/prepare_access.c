/* Accesses to memory: pointers and their walks, loads, stores. */
#include "emu/core/prepare.h"

static const uint32_t *word_of(struct tw_core_work *w, unsigned k)
{
    const struct tw_core_value *v = &w->values->value[k];

    if (!v->is_immediate)
        return tw_core_word(w->m->c, v->reg);
    return &w->op->immediates[tw_core_add_immediate(w, v->immediate)];
}

/* A pointer or counter that changes: straight in its register, or in the flight. */
static uint32_t *changing(struct tw_core_work *w, const struct tw_core_value *v, uint16_t *at)
{
    if (w->direct && v->cycle == 1)
        return tw_core_word(w->m->c, v->reg);
    *at = tw_core_take_flight(w->m, 4);
    tw_core_land(w, v, *at);
    return NULL;
}

static void take_walk(struct tw_core_work *w, const struct tw_core_value *v)
{
    struct tw_core_address *a = &w->op->address;

    a->walk = tw_core_word(w->m->c, v->reg);
    w->op->address_mode = tw_registers[v->reg].group == TW_G_d3 ? CORE_ADDRESS_3D : CORE_ADDRESS_2D;
}

void tw_core_prepare_address(struct tw_core_work *w)
{
    struct tw_core_address *a = &w->op->address;
    unsigned outputs = 0;

    for (unsigned k = 0; k < w->values->n; k++) {
        const struct tw_core_value *v = &w->values->value[k];
        unsigned group = v->is_immediate ? TW_G_special : tw_registers[v->reg].group;
        if (!v->is_address)
            continue;
        if (v->is_out && outputs++ == 0)
            a->to = changing(w, v, &a->at);
        else if (v->is_out && outputs == 2)
            a->count_to = changing(w, v, &a->count_at);
        else if (v->is_out)
            a->outer_to = changing(w, v, &a->outer_at);
        else if (group == TW_G_d || group == TW_G_d3)
            take_walk(w, v);
        else if (!v->is_immediate && (group == TW_G_p || v->reg == TW_R_SP))
            a->pointer = word_of(w, k);
        else
            a->step = word_of(w, k);
    }
    if (a->step == NULL)
        a->step = &w->op->none; /* [ptr] alone */
    if (w->op->address_mode == CORE_ADDRESS_NONE)
        w->op->address_mode = outputs > 0 ? CORE_ADDRESS_POST : CORE_ADDRESS_FIXED;
    w->op->issue = tw_core_issue_address;
}

void tw_core_prepare_load(struct tw_core_work *w)
{
    struct tw_core_op *op = w->op;
    const struct tw_core_value *to = tw_core_find_value(w->values, 1);
    unsigned bytes = op->row->bytes, memory = w->class->memory_first;

    if (op->row->a == CORE_LOAD_TABLE && op->row->function == NULL) {
        const struct tw_core_value *from = tw_core_find_value(w->values, 0);
        op->data_at = tw_core_take_flight(w->m, w->m->c->places[from->reg].bytes);
        tw_core_add_capture(w, from, op->data_at, w->m->c->places[from->reg].bytes);
        w->m->bundle->far = UINT32_MAX;
        op->issue = tw_core_issue_captures;
        op->memory_at = tw_core_take_flight(w->m, bytes);
        tw_core_add_step(w, CORE_WORK, memory, tw_core_step_table);
        tw_core_land(w, to, op->memory_at);
        return;
    }
    tw_core_prepare_address(w);
    if (to != NULL && w->m->c->places[to->reg].bytes > bytes)
        bytes = w->m->c->places[to->reg].bytes;
    op->memory_at = tw_core_take_flight(w->m, bytes);
    op->memory_bytes = (uint16_t)bytes;
    tw_core_add_step(w, CORE_WORK, memory, tw_core_step_load);
    if (op->row->function == NULL) {
        if (to != NULL)
            tw_core_land(w, to, op->memory_at);
        return;
    }
    tw_core_add_place(w, TW_VALUE_MEMORY, CORE_IN_FLIGHT, op->memory_at);
    w->call = tw_core_call_cycle(w, memory);
    tw_core_add_call(w);
}

void tw_core_prepare_store(struct tw_core_work *w)
{
    struct tw_core_op *op = w->op;
    const struct tw_core_value *from = tw_core_find_value(w->values, 0);
    unsigned bytes = op->row->bytes;
    int part_word = bytes < 4;

    tw_core_prepare_address(w);
    op->memory_at = tw_core_take_flight(w->m, bytes);
    if (op->row->function != NULL) {
        tw_core_add_place(w, TW_VALUE_MEMORY, CORE_OUT_FLIGHT, op->memory_at);
        w->call = tw_core_call_cycle(w, 1);
        tw_core_add_call(w);
    } else if (from != NULL && part_word) {
        op->data_at = tw_core_take_flight(w->m, 4);
        tw_core_add_capture(w, from, op->data_at, 4);
        tw_core_add_step(w, CORE_WORK, w->class->memory_first, tw_core_step_part_load);
    } else if (from != NULL) {
        tw_core_add_capture(w, from, op->memory_at, bytes);
    }
    tw_core_add_step(w, CORE_STORES, w->class->memory_last, part_word ? tw_core_step_part_store : tw_core_step_store);
}
