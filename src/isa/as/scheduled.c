/* What stands between .sched and .endsched: lines for the scheduler, and its bundles. */
#include "isa/as/state.h"

#include <inttypes.h>
#include <string.h>

int tw_as_begin_scheduled(struct tw_as *a, const char *at)
{
    a->scheduling = 1;
    a->sched_line = a->line;
    a->sched_at = at;
    a->n_sched = 0;
    if (tw_as_part(a)->kind != TW_SECTION_TEXT)
        return tw_as_fault(a, at, "section %s is no place for code: begin one by .text", tw_as_part(a)->name);
    return 0;
}

int tw_as_add_scheduled(struct tw_as *a, struct tw_as_span text)
{
    if (a->n_sched == AS_SCHEDULED_MAX) {
        a->stop = 1;
        return tw_as_fault(a, text.text, "more than %d lines to be scheduled together", AS_SCHEDULED_MAX);
    }
    if (tw_grow(&a->sched_lines, a->n_sched, &a->room_sched, sizeof *a->sched_lines) != 0 ||
        tw_grow(&a->sched_origins, a->n_sched, &a->room_origins, sizeof *a->sched_origins) != 0)
        return tw_as_no_memory(a);
    a->sched_lines[a->n_sched] = (struct tw_source_line){text.text, text.size, a->line->file, a->line->line};
    a->sched_origins[a->n_sched++] = a->line;
    return 0;
}

/* The scheduler's lines while it works on them. */
struct block {
    struct tw_as *a;
    struct tw_source_line *lines;
    size_t n_faults;
};

static const struct tw_as_line *origin(const struct block *b, const struct tw_source_line *line)
{
    return line == NULL ? b->a->sched_line : b->a->sched_origins[line - b->lines];
}

static int value_of(void *arg, const char *text, size_t size, int64_t *value, struct tw_error *err)
{
    struct block *b = arg;
    const char *fault;
    return tw_as_evaluate(b->a, &b->a->point, (struct tw_as_span){text, size}, value, NULL, &fault, err);
}

static void tell(void *arg, const struct tw_source_line *line, size_t column, const char *sentence)
{
    struct block *b = arg;

    b->n_faults++;
    tw_as_fault_in(b->a, origin(b, line), line->text + (column < line->size ? column : line->size), "%s", sentence);
}

/* ---- what the scheduler gives */

/* The line that holds a piece of text. */
static const struct tw_source_line *holder(const struct block *b, const char *text)
{
    for (size_t i = 0; i < b->a->n_sched; i++)
        if (text >= b->lines[i].text && text <= b->lines[i].text + b->lines[i].size)
            return &b->lines[i];
    return NULL;
}

static int define_labels(struct block *b, const struct tw_sched_code *code, int64_t end)
{
    int bad = 0;

    for (size_t i = 0; i < code->n_labels; i++) {
        const struct tw_sched_label *l = &code->labels[i];
        b->a->line = origin(b, holder(b, l->name));
        bad |= tw_as_set_label(b->a, (struct tw_as_span){l->name, l->size},
                               l->bundle < code->n_bundles ? code->bundles[l->bundle].address : end);
    }
    return bad;
}

/* Puts a value into an operand; one that comes later leaves a fixup. */
static int fix(struct block *b, struct tw_sched_code *code, const struct tw_sched_fixup *f, int64_t end)
{
    struct tw_as *a = b->a;
    struct tw_placed *p = &code->bundles[f->bundle];
    struct tw_operation *op = &p->bundle.op[f->slot];
    const struct tw_operand_info *o = &tw_instructions[op->instruction].operands[f->operand];
    struct tw_as_span text = {f->text, f->size}, missing;
    struct tw_error err;
    const char *fault = f->text;
    int64_t value;

    if (f->target >= 0) {
        value = (size_t)f->target < code->n_bundles ? code->bundles[f->target].address : end;
    } else {
        int known = tw_as_evaluate(a, &a->point, text, &value, &missing, &fault, &err);
        a->line = origin(b, f->line);
        if (known < 0)
            return tw_as_fault(a, fault, "%s", err.text);
        if (known > 0) {
            uint32_t offset = p->address - (uint32_t)tw_as_part(a)->address;
            struct tw_as_fixup *later = tw_as_fixup(a, AS_FIX_OPERAND, offset, p->bytes, text);
            if (later == NULL)
                return 1;
            later->slot = (uint8_t)f->slot;
            later->operand = f->operand;
            value = tw_as_any_value(o);
        }
    }
    value = tw_as_wrap(o, value);
    if (!tw_operand_fits(o, value)) {
        char takes[128];
        tw_operand_describe(o, takes, sizeof takes);
        return tw_as_fault(a, f->target < 0 ? f->text : NULL, "%" PRId64 " does not fit: %s", value, takes);
    }
    op->operands[f->operand] = value;
    return 0;
}

static int put_bundle(struct block *b, const struct tw_sched_code *code, size_t i)
{
    struct tw_as *a = b->a;
    const struct tw_placed *p = &code->bundles[i];
    struct tw_error err;
    uint8_t bytes[TW_BUNDLE_MAX];
    uint32_t offset = (uint32_t)tw_as_part(a)->size;
    const struct tw_source_line *line = code->lines[i];

    a->line = origin(b, line);
    const char *at = line == NULL ? NULL : line->text;
    int size = tw_bundle_encode(&p->bundle, bytes, &err);
    if (size < 0)
        return tw_as_fault(a, at, "%s", err.text);
    if (tw_as_put(a, at, bytes, (size_t)size) != 0)
        return 1;
    struct tw_as_row_info *row = tw_as_row(a, at, offset, (size_t)size);
    if (row == NULL)
        return 1;
    row->is_bundle = row->scheduled = 1;
    tw_as_part(a)->n_bundles++;
    return 0;
}

static int take_code(struct block *b, struct tw_sched_code *code)
{
    struct tw_as *a = b->a;
    int64_t end = a->point.dot;

    if (code->n_bundles > 0)
        end = (int64_t)code->bundles[code->n_bundles - 1].address + code->bundles[code->n_bundles - 1].bytes;
    for (size_t i = 0; i < code->n_fixups; i++)
        if (fix(b, code, &code->fixups[i], end) != 0)
            return 1;
    if (define_labels(b, code, end) != 0)
        return 1;
    for (size_t i = 0; i < code->n_bundles; i++)
        if (put_bundle(b, code, i) != 0)
            return 1;
    return 0;
}

/* ---- the block as a whole */

static int keep_code(struct tw_as *a, struct tw_sched_code *code, uint32_t offset)
{
    if (tw_grow(&a->out.scheduled, a->out.n_scheduled, &a->room_scheduled, sizeof *a->out.scheduled) != 0)
        return tw_as_no_memory(a);
    struct tw_as_scheduled *s = &a->out.scheduled[a->out.n_scheduled++];
    *s = (struct tw_as_scheduled){tw_as_place_of(a->sched_line, a->sched_at), (uint32_t)a->current, offset, 0, code};
    return 0;
}

static int schedule(struct block *b)
{
    struct tw_as *a = b->a;
    const struct tw_sched_options options = {value_of, tell, b};
    struct tw_sched_code *code = NULL;
    struct tw_error err;

    int failed = tw_schedule(b->lines, a->n_sched, &options, &code, &err);
    if (failed < 0 && b->n_faults == 0)
        tw_as_fault_in(a, a->sched_line, a->sched_at, "%s", err.text);
    if (failed < 0)
        return 1;
    if (keep_code(a, code, (uint32_t)tw_as_part(a)->size) != 0) {
        tw_sched_free(code);
        return 1;
    }
    if (tw_layout(code->bundles, code->n_bundles, (uint32_t)a->point.dot, &err) < 0)
        return tw_as_fault_in(a, a->sched_line, a->sched_at, "%s", err.text);
    if (take_code(b, code) != 0)
        return 1;
    struct tw_as_scheduled *s = &a->out.scheduled[a->out.n_scheduled - 1];
    s->size = (uint32_t)tw_as_part(a)->size - s->offset;
    return 0;
}

/* Gives the labels of code that could not be scheduled some value, so that they are not missed as well. */
static void define_anyway(struct tw_as *a)
{
    for (size_t i = 0; i < a->n_sched && !a->stop; i++) {
        struct tw_as_span s = {a->sched_lines[i].text, a->sched_lines[i].size}, name = tw_as_take_name(&s);
        struct tw_as_name *n = tw_as_equals(s, ":") && name.size > 0 ? tw_as_name(a, name) : NULL;
        if (n != NULL && n->state == AS_UNKNOWN)
            tw_as_set_label(a, name, a->point.dot);
    }
}

int tw_as_end_scheduled(struct tw_as *a, const char *at)
{
    struct block b = {a, NULL, 0};

    if (!a->scheduling)
        return tw_as_fault(a, at, ".endsched without .sched");
    a->scheduling = 0;
    if (tw_as_part(a)->kind != TW_SECTION_TEXT || a->n_sched == 0)
        return 0;
    b.lines = tw_as_pool_take(&a->pool, a->n_sched * sizeof *b.lines);
    if (b.lines == NULL)
        return tw_as_no_memory(a);
    memcpy(b.lines, a->sched_lines, a->n_sched * sizeof *b.lines);
    if (tw_as_align(a, at, TW_TARGET_ALIGN) == 0 && schedule(&b) == 0)
        return 0;
    define_anyway(a);
    return 1;
}

void tw_as_resolve_operand(struct tw_as *a, const struct tw_as_fixup *f)
{
    uint8_t *bytes = a->parts[f->section].bytes + f->offset;
    struct tw_bundle bundle;
    struct tw_error err;
    int64_t value;

    if (tw_as_later(a, &f->point, f->text, &value) != 0 || tw_bundle_decode(bytes, f->size, &bundle, NULL) < 0)
        return;
    struct tw_operation *op = &bundle.op[f->slot];
    op->operands[f->operand] = tw_as_wrap(&tw_instructions[op->instruction].operands[f->operand], value);
    if (tw_bundle_encode(&bundle, bytes, &err) < 0)
        tw_as_fault(a, f->text.text, "%s", err.text);
}
