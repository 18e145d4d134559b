#include "isa/disassemble.h"

#include "isa/grow.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define COMMENT_COLUMN 56
#define NO_TARGET UINT32_MAX

enum line_kind {
    LINE_BUNDLE,
    LINE_IRREGULAR, /* a bundle, but with unused bits set: its text would not give the same bytes */
    LINE_UNDECODED,
    LINE_FILLER
};

/* One bundle, or what stands in the place of one. */
struct line {
    uint32_t address;
    uint32_t target; /* where it jumps to, or NO_TARGET */
    const uint8_t *bytes;
    uint8_t size;
    uint8_t kind;
    uint8_t is_target; /* a jump leads here */
    uint16_t number;   /* the jump's target in the text: from here, */
    uint16_t number_size;
    uint16_t text_size;
    size_t text; /* offset in the list's text */
};

/* Memory that grows; what does not find room is left out, and failed is set. */
struct buffer {
    char *data;
    size_t size, room;
    int failed;
};

struct list {
    struct line *lines;
    size_t count, room;
    struct buffer text;
};

/* Room for n more bytes, or NULL. */
static char *reserve(struct buffer *b, size_t n)
{
    if (b->room - b->size < n) {
        size_t room = 2 * b->room + n + 4096;
        char *data = realloc(b->data, room);
        if (data == NULL) {
            b->failed = 1;
            return NULL;
        }
        b->data = data;
        b->room = room;
    }
    return b->data + b->size;
}

static struct line *add_line(struct list *list)
{
    if (tw_grow(&list->lines, list->count, &list->room, sizeof *list->lines) != 0)
        return NULL;
    return &list->lines[list->count++];
}

/* ---- decoding */

/*
 * Whether the bytes at the end of a run are only there to fill it up. Programs are stored in words of 4 bytes and may
 * be padded with zeros. Such a rest is too short for the bundle that its first bits announce, so that a core could not
 * run it, and it is either all zero or the second half of the run's last word. Nothing else is taken for filler: a
 * longer rest that is not zero is a bundle that was cut off.
 */
static int is_filler(const struct tw_code_run *run, size_t at)
{
    size_t left = run->size - at;
    int zero = 1;
    for (size_t i = at; i < run->size; i++)
        zero &= run->bytes[i] == 0;
    return left < tw_bundle_size(run->bytes[at]) && (zero || (left == 2 && (run->address + run->size) % 4 == 0));
}

/* The address that a bundle jumps to; only the long slot has jumps with an address. */
static uint32_t jump_target(const struct tw_bundle *bundle)
{
    if ((bundle->slots >> TW_SLOT_LNG & 1) == 0)
        return NO_TARGET;
    const struct tw_operation *op = &bundle->op[TW_SLOT_LNG];
    const struct tw_instruction *in = &tw_instructions[op->instruction];
    for (unsigned i = 0; i < in->n_operands; i++)
        if (in->operands[i].kind == TW_OPERAND_ADDRESS)
            return (uint32_t)op->operands[i];
    return NO_TARGET;
}

/* Finds the number of a jump's target in the bundle's text: behind the last '#' of the jump's own text. */
static void find_number(const struct tw_bundle *bundle, const char *text, struct line *line)
{
    char jump[TW_OPERATION_TEXT_MAX];
    if (tw_operation_print(&bundle->op[TW_SLOT_LNG], jump, sizeof jump) < 0)
        return;
    const char *place = strstr(text, jump), *mark = strrchr(jump, '#');
    if (place == NULL || mark == NULL)
        return;
    line->number = (uint16_t)(place - text + (mark - jump) + 1);
    line->number_size = (uint16_t)strlen(mark + 1);
}

static int is_regular(const struct tw_bundle *bundle, const struct line *line)
{
    uint8_t bytes[TW_BUNDLE_MAX];
    return tw_bundle_encode(bundle, bytes, NULL) == line->size && memcmp(bytes, line->bytes, line->size) == 0;
}

/* Keeps the text of a decoded bundle; returns 0, or 1 when there is no memory. */
static int keep_text(struct list *list, const struct tw_bundle *bundle, struct line *line)
{
    char *text = reserve(&list->text, TW_BUNDLE_TEXT_MAX);
    if (text == NULL)
        return 1;
    int n = tw_bundle_print(bundle, text, TW_BUNDLE_TEXT_MAX);
    line->text = list->text.size;
    line->text_size = n > 0 ? (uint16_t)n : 0;
    list->text.size += line->text_size;
    line->kind = is_regular(bundle, line) ? LINE_BUNDLE : LINE_IRREGULAR;
    line->target = jump_target(bundle);
    if (line->target != NO_TARGET)
        find_number(bundle, text, line);
    return 0;
}

/* Decodes what is at a place of a run; appends a line when there is to be text. Returns its bytes, 0: no memory. */
static size_t decode_one(const struct tw_code_run *run, size_t at, struct list *list, struct tw_disassembly *result)
{
    struct tw_bundle bundle;
    unsigned announced;
    size_t left = run->size - at;
    int size = tw_bundle_decode(run->bytes + at, left, &bundle, &announced);
    struct line line = {.address = run->address + (uint32_t)at, .target = NO_TARGET, .bytes = run->bytes + at};

    line.size = (uint8_t)(announced != 0 ? announced : left);
    if (size > 0) {
        result->bundles++;
        if (list != NULL && keep_text(list, &bundle, &line) != 0)
            return 0;
    } else if (announced == 0 && is_filler(run, at)) {
        result->filler += left;
        line.kind = LINE_FILLER;
    } else {
        result->undecoded++;
        line.kind = LINE_UNDECODED;
    }
    if (list == NULL)
        return line.size;
    struct line *kept = add_line(list);
    if (kept == NULL)
        return 0;
    *kept = line;
    return line.size;
}

static int decode_runs(const struct tw_code_run *runs, size_t n_runs, struct list *list, struct tw_disassembly *result,
                       struct tw_error *err)
{
    for (size_t i = 0; i < n_runs; i++)
        for (size_t at = 0; at < runs[i].size;) {
            size_t size = decode_one(&runs[i], at, list, result);
            if (size == 0)
                return tw_fail(err, TW_E_MEMORY, "no memory to disassemble %zu bytes", runs[i].size);
            at += size;
        }
    return TW_OK;
}

/* ---- labels */

static struct line *find_line(const struct list *list, uint32_t address)
{
    size_t low = 0, high = list->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (list->lines[middle].address < address)
            low = middle + 1;
        else
            high = middle;
    }
    return low < list->count && list->lines[low].address == address ? &list->lines[low] : NULL;
}

/* A jump to a place where no line begins keeps its number. */
static void find_targets(const struct list *list)
{
    for (size_t i = 0; i < list->count; i++) {
        struct line *line = &list->lines[i];
        if (line->target == NO_TARGET || line->number_size == 0)
            continue;
        struct line *to = find_line(list, line->target);
        if (to == NULL)
            line->target = NO_TARGET;
        else
            to->is_target = 1;
    }
}

/* ---- writing */

static void put(struct buffer *b, const char *text, size_t n)
{
    char *to = reserve(b, n);
    if (to == NULL)
        return;
    memcpy(to, text, n);
    b->size += n;
}

static void put_hex(struct buffer *b, uint32_t value, unsigned digits)
{
    char text[8];
    unsigned at = sizeof text;
    do {
        text[--at] = "0123456789abcdef"[value & 0xf];
        value >>= 4;
    } while (at > 0 && (value != 0 || sizeof text - at < digits));
    put(b, text + at, sizeof text - at);
}

static void put_label(struct buffer *b, const char *prefix, uint32_t address)
{
    put(b, prefix, strlen(prefix));
    put(b, "_", 1);
    put_hex(b, address, 1);
}

static void put_bundle(struct buffer *b, const struct list *list, const struct line *line, const char *prefix)
{
    const char *text = list->text.data + line->text;
    if (line->target == NO_TARGET || line->number_size == 0) {
        put(b, text, line->text_size);
        return;
    }
    size_t behind = (size_t)line->number + line->number_size;
    put(b, text, line->number);
    put_label(b, prefix, line->target);
    put(b, text + behind, line->text_size - behind);
}

/* Bytes as numbers of 16 bits, as far as they go. */
static void put_halves(struct buffer *b, const struct line *line)
{
    for (unsigned i = 0; i + 2 <= line->size; i += 2) {
        put(b, i == 0 ? ".half 0x" : ", 0x", i == 0 ? 8 : 4);
        put_hex(b, line->bytes[i] | (uint32_t)line->bytes[i + 1] << 8, 4);
    }
    if (line->size % 2 == 0)
        return;
    put(b, line->size > 1 ? "\n    .byte 0x" : ".byte 0x", line->size > 1 ? 13 : 8);
    put_hex(b, line->bytes[line->size - 1], 2);
}

static void put_comment(struct buffer *b, const struct list *list, const struct line *line, size_t begin)
{
    static const char spaces[COMMENT_COLUMN] = "                                                       ";
    size_t width = b->size - begin;

    put(b, spaces, width < COMMENT_COLUMN - 1 ? COMMENT_COLUMN - 1 - width : 1);
    put(b, "// ", 3);
    put_hex(b, line->address, 4);
    put(b, ":", 1);
    if (line->kind == LINE_BUNDLE)
        for (unsigned i = 0; i < line->size; i++) {
            char digits[3] = {' ', "0123456789abcdef"[line->bytes[i] >> 4], "0123456789abcdef"[line->bytes[i] & 0xf]};
            put(b, digits, sizeof digits);
        }
    else if (line->kind == LINE_UNDECODED)
        put(b, " no bundle", 10);
    else if (line->kind == LINE_FILLER)
        put(b, " filler", 7);
    else {
        put(b, " unused bits set: ", 18);
        put(b, list->text.data + line->text, line->text_size);
    }
    put(b, "\n", 1);
}

static void put_line(struct buffer *b, const struct list *list, const struct line *line, const char *prefix)
{
    if (line->is_target) {
        put_label(b, prefix, line->address);
        put(b, ":\n", 2);
    }
    size_t begin = b->size;
    put(b, "    ", 4);
    if (line->kind == LINE_BUNDLE)
        put_bundle(b, list, line, prefix);
    else
        put_halves(b, line);
    put_comment(b, list, line, begin);
}

/* The .old of the bundle at an address. *at counts what has been passed. */
static void put_old(struct buffer *b, const struct tw_disassemble_options *o, uint32_t address, size_t *at)
{
    const char *before = "    .old ";

    for (; *at < o->n_old && o->old[*at].address <= address; ++*at) {
        const char *name = o->old[*at].name;
        size_t size = strlen(name);
        if (o->old[*at].address != address || tw_register_find(name, size) < 0)
            continue;
        put(b, before, strlen(before));
        put(b, name, size);
        before = ", ";
    }
    if (before[0] == ',')
        put(b, "\n", 1);
}

static int write_list(const struct list *list, const struct tw_disassemble_options *options, FILE *out,
                      struct tw_error *err)
{
    struct buffer b = {0};
    uint32_t expected = UINT32_MAX; /* the first line says where it is, too */
    size_t old = 0;

    for (size_t i = 0; i < list->count; i++) {
        const struct line *line = &list->lines[i];
        if (line->address != expected) {
            put(&b, "    .org 0x", 11);
            put_hex(&b, line->address, 1);
            put(&b, "\n", 1);
        }
        if (line->kind == LINE_BUNDLE)
            put_old(&b, options, line->address, &old);
        put_line(&b, list, line, options->prefix);
        expected = line->address + line->size;
    }
    int failed = b.failed;
    if (!failed && b.size > 0)
        fwrite(b.data, 1, b.size, out);
    free(b.data);
    return failed ? tw_fail(err, TW_E_MEMORY, "no memory for the text of a program") : TW_OK;
}

int tw_disassemble(const struct tw_code_run *runs, size_t n_runs, const struct tw_disassemble_options *options,
                   FILE *out, struct tw_disassembly *result, struct tw_error *err)
{
    struct list list = {0};

    memset(result, 0, sizeof *result);
    int code = decode_runs(runs, n_runs, out != NULL ? &list : NULL, result, err);
    if (code == 0 && out != NULL) {
        find_targets(&list);
        code = write_list(&list, options, out, err);
    }
    free(list.lines);
    free(list.text.data);
    return code;
}
