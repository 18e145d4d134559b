/* Running a batch on an emulated core, and what depends on operations that are not modelled. */
#include "cli/vectors_batch.h"

#include "base/memory.h"
#include "emu/core.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WINDOW_BASE 0x70000u /* the core's own memory in its address space */
#define CYCLES_MAX 1000000u

static const char depends[] = "depends on the result of an operation that is not modelled";
static const char depends_on_failed[] = "depends on the result of an operation that failed";

/* ---- registers whose value is not known, and why: the sum of enum tw_left_out */

static void mark(unsigned char unknown[TW_R_COUNT], uint16_t reg, unsigned why)
{
    for (unsigned i = 0; i < tw_registers[reg].n_leaves; i++)
        unknown[tw_registers[reg].leaves[i]] = (unsigned char)why;
}

static unsigned is_unknown(const unsigned char unknown[TW_R_COUNT], uint16_t reg)
{
    unsigned why = 0;
    for (unsigned i = 0; i < tw_registers[reg].n_leaves; i++)
        why |= unknown[tw_registers[reg].leaves[i]];
    return why;
}

static unsigned reads_unknown(const struct tw_operation *op, const unsigned char unknown[TW_R_COUNT])
{
    const struct tw_instruction *info = &tw_instructions[op->instruction];
    unsigned found = 0;
    for (unsigned k = 0; k < info->n_operands; k++)
        if (info->operands[k].kind == TW_OPERAND_REGISTER && info->operands[k].role != TW_OPERAND_OUT)
            found |= is_unknown(unknown, (uint16_t)op->operands[k]);
    for (unsigned k = 0; k < info->n_uses; k++)
        found |= is_unknown(unknown, info->uses[k]);
    return found;
}

static void mark_outputs(const struct tw_operation *op, unsigned char unknown[TW_R_COUNT], unsigned why)
{
    const struct tw_instruction *info = &tw_instructions[op->instruction];
    for (unsigned k = 0; k < info->n_operands; k++)
        if (info->operands[k].kind == TW_OPERAND_REGISTER && info->operands[k].role == TW_OPERAND_OUT)
            mark(unknown, (uint16_t)op->operands[k], why);
}

static int is_store(const struct tw_operation *op)
{
    return (tw_instructions[op->instruction].flags & TW_FLAG_STORE) != 0;
}

static void note_dependent(struct tw_batch_point *point, unsigned why)
{
    point->is_fault |= (why & TW_FAILED) != 0;
    point->unknown = point->reason[0] != '\0' ? point->reason : point->is_fault ? depends_on_failed : depends;
}

/*
 * Follows the results of operations that were left out, in the order of the programme: a point cannot be compared when
 * what it stores depends on one. Why comes from the point's own operation where it has one that was left out.
 */
static void find_dependents(struct tw_batch *batch)
{
    unsigned char unknown[TW_R_COUNT] = {0};
    for (size_t i = 0; i < batch->n_operations; i++) {
        const struct tw_batch_operation *o = &batch->operations[i];
        for (unsigned slot = 0; slot < TW_SLOT_COUNT; slot++) {
            const struct tw_operation *op = &o->bundle.op[slot];
            if (!(o->bundle.slots >> slot & 1u))
                continue;
            unsigned tainted = o->is_left_out | reads_unknown(op, unknown);
            if (tainted && is_store(op) && o->point < batch->n_points)
                note_dependent(&batch->points[o->point], tainted);
            mark_outputs(op, unknown, tainted);
        }
    }
}

/* ---- the core */

/* What stands in the place of operations that are left out: each slot's nop, in a bundle of the same size. */
static int encode_nop(const struct tw_batch_operation *o, unsigned char bytes[TW_BUNDLE_MAX], struct tw_error *err)
{
    static const uint16_t nops[TW_SLOT_COUNT] = {
        [TW_SLOT_LDB] = TW_I_NOPB, [TW_SLOT_LDA] = TW_I_NOPA, [TW_SLOT_ST] = TW_I_NOPS,   [TW_SLOT_ALU] = TW_I_NOPX,
        [TW_SLOT_MV] = TW_I_NOPM,  [TW_SLOT_VEC] = TW_I_NOPV, [TW_SLOT_LNG] = TW_I_NOPXM, [TW_SLOT_NOP] = TW_I_NOP,
    };
    struct tw_bundle bundle = {.slots = o->bundle.slots, .format = o->bundle.format};
    for (unsigned slot = 0; slot < TW_SLOT_COUNT; slot++)
        bundle.op[slot].instruction = nops[slot];
    return tw_bundle_encode(&bundle, bytes, err);
}

static int load_program(struct tw_core *core, const struct tw_batch *batch, struct tw_error *err)
{
    size_t size = (batch->text->size + 3u) & ~(size_t)3u;
    unsigned char *bytes = calloc(1, size);
    int code = bytes == NULL ? tw_fail(err, TW_E_MEMORY, "no memory for a programme of %zu bytes", size) : TW_OK;
    if (code == TW_OK) {
        memcpy(bytes, batch->text->bytes, batch->text->size);
        for (size_t i = 0; i < batch->n_operations && code >= 0; i++) {
            unsigned char nop[TW_BUNDLE_MAX];
            const struct tw_batch_operation *o = &batch->operations[i];
            if (!o->is_left_out)
                continue;
            code = encode_nop(o, nop, err);
            if (code >= 0)
                memcpy(bytes + o->address, nop, o->size);
        }
    }
    if (code >= 0 && tw_core_write_program(core, 0, bytes, size) < 0)
        code = tw_fail(err, TW_E_LIMIT, "a programme of %zu bytes does not fit program memory", size);
    free(bytes);
    return code < 0 ? code : TW_OK;
}

static int set_registers(struct tw_core *core)
{
    const uint32_t input = WINDOW_BASE + TW_BATCH_INPUT, output = WINDOW_BASE + TW_BATCH_OUTPUT;
    const uint32_t stack = WINDOW_BASE + TW_BATCH_STACK;
    int code = tw_core_register_write(core, TW_R_p0, &input, sizeof input);
    if (code == TW_OK)
        code = tw_core_register_write(core, TW_R_p1, &output, sizeof output);
    return code == TW_OK ? tw_core_register_write(core, TW_R_SP, &stack, sizeof stack) : code;
}

/* Operations that ask others to answer are no part of a recorded programme's results: they are left out. */
static enum tw_core_state run_core(struct tw_core *core, struct tw_error *err)
{
    enum tw_core_state state = tw_core_run(core, CYCLES_MAX, err);
    if (state == TW_CORE_RUNNING)
        tw_fail(err, TW_E_LIMIT, "the programme did not end within %u cycles", CYCLES_MAX);
    if (state == TW_CORE_REQUEST)
        tw_fail(err, TW_E_UNSUPPORTED, "an operation that needs more than its core");
    return state;
}

/* Leaves out the operation at an address. Returns 0 when there is none, or it was left out before. */
static int leave_out(struct tw_batch *batch, uint32_t address, const struct tw_error *why)
{
    const char *sentence = strrchr(why->text, ':');
    for (size_t i = 0; i < batch->n_operations; i++) {
        struct tw_batch_operation *o = &batch->operations[i];
        if (o->address != address || o->is_left_out || o->point >= batch->n_points)
            continue;
        struct tw_batch_point *point = &batch->points[o->point];
        o->is_left_out = why->code == TW_E_UNSUPPORTED ? TW_NOT_MODELLED : TW_FAILED;
        snprintf(point->reason, sizeof point->reason, "%.*s", TW_SKIP_REASON_SIZE - 1,
                 sentence != NULL ? sentence + 2 : why->text);
        return 1;
    }
    return 0;
}

static int run_once(struct tw_core *core, struct tw_batch *batch, const unsigned char *input, size_t size,
                    unsigned char *memory, int *again, struct tw_error *err)
{
    struct tw_error why = {0};
    tw_core_reset(core);
    memset(memory, 0, TW_BATCH_MEMORY);
    memcpy(memory + TW_BATCH_INPUT, input, size);
    int code = load_program(core, batch, err);
    if (code == TW_OK)
        code = set_registers(core);
    if (code < 0)
        return code;
    enum tw_core_state state = run_core(core, &why);
    *again = 0;
    if (state == TW_CORE_DONE)
        return TW_OK;
    *again = leave_out(batch, tw_core_pc(core), &why);
    return *again ? TW_OK
                  : tw_fail(err, why.code, "batch '%.*s': %s", (int)batch->name.size, batch->name.text, why.text);
}

int tw_batch_run(const struct tw_vectors *vectors, struct tw_batch *batch, const unsigned char *input, size_t size,
                 unsigned char *memory, struct tw_error *err)
{
    struct tw_core_options options = {.kernels = vectors->kernels, .name = "core"};
    struct tw_core *core = NULL;
    int again = 1;
    if (size > TW_BATCH_INPUT_MAX)
        return tw_fail(err, TW_E_LIMIT, "batch '%.*s' has %zu bytes of input; at most %u can be used",
                       (int)batch->name.size, batch->name.text, size, TW_BATCH_INPUT_MAX);
    for (size_t i = 0; i < batch->n_points; i++)
        batch->points[i] = (struct tw_batch_point){.id = batch->points[i].id};
    for (size_t i = 0; i < batch->n_operations; i++)
        batch->operations[i].is_left_out = TW_NOT_LEFT_OUT;
    options.windows[TW_WINDOW_OWN] = memory;
    int code = tw_core_create(&options, &core, err);
    while (code == TW_OK && again)
        code = run_once(core, batch, input, size, memory, &again, err);
    if (code == TW_OK)
        find_dependents(batch);
    tw_core_free(core);
    return code;
}
