/* Graphs as text, for people, tests and messages. */
#include "graph/graph.h"

#include "graph/list.h"

#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

const char *tw_op_name(enum tw_op_kind kind)
{
    static const char *const names[TW_OP_COUNT] = {
        [TW_OP_PRODUCT] = "product",
        [TW_OP_GELU] = "gelu",
        [TW_OP_SCALE] = "scale",
        [TW_OP_ADD] = "add",
        [TW_OP_COPY] = "copy",
        [TW_OP_TRANSPOSE] = "transpose",
        [TW_OP_LAYER_NORM] = "layer_norm",
        [TW_OP_SOFTMAX] = "softmax",
        [TW_OP_IM2COL] = "im2col",
        [TW_OP_GATHER] = "gather",
        [TW_OP_ATTENTION] = "attention",
    };
    return (unsigned)kind < TW_OP_COUNT ? names[kind] : "?";
}

void tw_graph_describe(const struct tw_tensor *t, char *text, size_t size)
{
    const char *type = tw_type_info(t->type)->name;
    if (t->batch == 1)
        snprintf(text, size, "'%s' %s %" PRId64 "x%" PRId64, t->name, type, t->cols, t->rows);
    else
        snprintf(text, size, "'%s' %s %" PRId64 "x%" PRId64 "x%" PRId64, t->name, type, t->cols, t->rows, t->batch);
}

/* Appends what fits of the formatted text to the string in text. */
static void append(char *text, size_t size, const char *fmt, ...) TW_PRINTF(3, 4);
static void append(char *text, size_t size, const char *fmt, ...)
{
    size_t used = strlen(text);
    va_list args;
    va_start(args, fmt);
    vsnprintf(text + used, size - used, fmt, args);
    va_end(args);
}

static void append_tensor(const struct tw_graph *g, tw_id id, const char *before, char *text, size_t size)
{
    char tensor[128];
    if (!tw_graph_is_tensor(g, id))
        return;
    tw_graph_describe(&g->tensors[id], tensor, sizeof tensor);
    append(text, size, "%s%s", before, tensor);
}

/* What stands before operand i > 0; the fourth is an addend, which could be taken for a bias. */
static const char *between(int i)
{
    return i == 3 ? " + " : ", ";
}

int tw_graph_refuse_op(struct tw_graph *g, int32_t index, const struct tw_op *op, int code, const char *fmt, ...)
{
    if (g->failure.code != TW_OK)
        return code;
    char *text = g->failure.text;
    size_t size = sizeof g->failure.text;
    g->failure.code = code;
    snprintf(text, size, "operation %d, %s", index, tw_op_name(op->kind));
    for (int i = 0; i < 4; i++)
        append_tensor(g, op->in[i], i == 0 ? " of " : between(i), text, size);
    append_tensor(g, op->out, " to ", text, size);
    append(text, size, ": ");
    size_t used = strlen(text);
    va_list args;
    va_start(args, fmt);
    vsnprintf(text + used, size - used, fmt, args);
    va_end(args);
    return code;
}

/* Shape, then where it lies: "@work+64", "@bound" or "@const", a view's offset, and strides unless dense. */
static void print_tensor(const struct tw_graph *g, tw_id id, FILE *to)
{
    const struct tw_tensor *t = &g->tensors[id], *base = &g->tensors[t->base];
    char text[128];
    tw_graph_describe(t, text, sizeof text);
    fputs(text, to);
    if (base->storage == TW_BOUND)
        fputs(base->constant ? " @const" : " @bound", to);
    else if (g->finished)
        fprintf(to, " @work+%zu", base->place);
    else
        fputs(" @work", to);
    if (t->storage == TW_VIEW)
        fprintf(to, "[%zu]", t->offset);
    if (t->row_stride != tw_row_bytes(t->type, t->cols) || t->batch_stride != (size_t)t->rows * t->row_stride)
        fprintf(to, " strides %zu %zu", t->row_stride, t->batch_stride);
}

static void print_options(const struct tw_op *op, FILE *to)
{
    if (op->scale != 1 || op->kind == TW_OP_SCALE)
        fprintf(to, " scale=%.9g", (double)op->scale);
    if (op->kind == TW_OP_LAYER_NORM)
        fprintf(to, " eps=%.9g", (double)op->eps);
    if (op->kind == TW_OP_ATTENTION)
        fprintf(to, " heads=%d", op->heads);
    if (op->kind == TW_OP_IM2COL)
        fprintf(to, " window=%d stride=%d", op->window, op->stride);
    if (op->keep_scores)
        fputs(" keep_scores", to);
    if (op->causal)
        fprintf(to, " causal past=%d", op->past);
    if (op->b_rows)
        fputs(" b_rows", to);
    if (op->gelu)
        fputs(" gelu", to);
    if (op->accumulate)
        fputs(" accumulate", to);
}

void tw_graph_print(const struct tw_graph *g, FILE *to)
{
    for (int32_t i = 0; i < g->n_ops; i++) {
        const struct tw_op *op = &g->ops[i];
        fprintf(to, "%d %s ", i, tw_op_name(op->kind));
        print_tensor(g, op->out, to);
        for (int j = 0; j < 4; j++) {
            if (op->in[j] == TW_NONE)
                continue;
            fputs(j == 0 ? " = " : between(j), to);
            print_tensor(g, op->in[j], to);
        }
        print_options(op, to);
        fputc('\n', to);
    }
}
