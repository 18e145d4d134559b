#include "device/control.h"

#include "base/little_endian.h"
#include "image/control_elf.h"
#include "npu1/control_code.h"
#include "npu1/dpu_sequence.h"
#include "npu1/hex_words.h"

#include <stdlib.h>
#include <string.h>

enum {
    DESCRIPTOR_LOW = 4,  /* a shim descriptor's word 1: bits 31:2 of an address */
    DESCRIPTOR_HIGH = 8, /* its word 2: bits 47:32 in the lower half */
    HIGH_MASK = 0xffff
};

/* Where the array sees the host's memory; of control code that the host fills in, the host adds it. */
#define HOST_OFFSET 0x80000000u

static int name_buffer(struct tw_control *c, uint64_t buffer, struct tw_error *err)
{
    unsigned room = tw_launch_buffers_max(c->opcode);
    if (buffer >= room || buffer >= TW_CONTROL_BUFFERS_MAX)
        return tw_fail(err, TW_E_LIMIT, "control code names buffer number %llu, but a job has room for %u",
                       (unsigned long long)buffer, room);
    c->names[buffer] = 1;
    return TW_OK;
}

static int note(struct tw_control *c, const struct tw_control_op *op, struct tw_error *err)
{
    int patches = op->kind == TW_CONTROL_OP_PATCH || (op->kind == TW_CONTROL_OP_BLOCK_WRITE && op->is_patched);
    return patches ? name_buffer(c, op->patch.argument, err) : TW_OK;
}

static int read_transaction(struct tw_control *c, const struct tw_view *view, struct tw_error *err)
{
    struct tw_control_code code;
    struct tw_control_op op;
    size_t at = 0;
    int more = tw_control_code_open(view, &code, err);
    if (more < 0)
        return more;
    c->kernel = TW_XDNA_KERNEL_TXN;
    while ((more = tw_control_code_next(&code, &at, &op, err)) > 0)
        if ((more = note(c, &op, err)) < 0)
            return more;
    return more;
}

static int read_sequence(struct tw_control *c, const struct tw_view *view, struct tw_error *err)
{
    struct tw_dpu_sequence sequence;
    struct tw_control_op op;
    size_t at = 0;
    int more = tw_dpu_sequence_open(view, &sequence, err);
    if (more < 0)
        return more;
    c->kernel = TW_XDNA_KERNEL_SEQUENCE;
    while ((more = tw_dpu_sequence_next(&sequence, &at, &op, err)) > 0)
        if ((more = note(c, &op, err)) < 0)
            return more;
    return more;
}

static int keep(struct tw_control *c, const struct tw_view *view, struct tw_error *err)
{
    c->bytes = malloc(view->size > 0 ? view->size : 1);
    if (c->bytes == NULL)
        return tw_fail(err, TW_E_MEMORY, "no memory for %zu bytes of control code", view->size);
    memcpy(c->bytes, view->data, view->size);
    c->size = view->size;
    return TW_OK;
}

static int read_words(struct tw_control *c, const struct tw_view *view, struct tw_error *err)
{
    int code;
    if (tw_dpu_sequence_recognise(view))
        code = read_sequence(c, view, err);
    else if (tw_control_code_recognise(view))
        code = read_transaction(c, view, err);
    else
        return tw_fail(
            err, TW_E_FORMAT,
            "%zu bytes are no control code: neither a transaction of version 0.1 or 1.0, nor a DPU sequence, "
            "nor an ELF file or hexadecimal text of one",
            view->size);
    if (code == 0 && view->size % 4 != 0)
        code = tw_fail(err, TW_E_FORMAT, "%zu bytes of control code are not whole words", view->size);
    return code < 0 ? code : keep(c, view, err);
}

static int read_text(struct tw_control *c, const struct tw_view *text, struct tw_error *err)
{
    unsigned char *bytes = NULL;
    size_t size = 0;
    int code = tw_hex_words_read(text, &bytes, &size, err);
    if (code < 0)
        return code;
    const struct tw_view words = {.data = bytes, .size = size, .file = text->file};
    code = read_words(c, &words, err);
    free(bytes);
    return code;
}

static int add_place(struct tw_control *c, const struct tw_control_elf_patch *p, struct tw_error *err)
{
    if (p->argument < TW_CONTROL_ELF_FIRST_BUFFER)
        return tw_fail(err, TW_E_UNSUPPORTED, "control code wants argument number %u, which is no buffer, in a DMA",
                       (unsigned)p->argument);
    uint32_t buffer = p->argument - TW_CONTROL_ELF_FIRST_BUFFER;
    c->places[c->n_places++] = (struct tw_control_place){p->offset, buffer, p->addend};
    return name_buffer(c, buffer, err);
}

static int read_elf(struct tw_control *c, const struct tw_view *view, struct tw_error *err)
{
    struct tw_control_elf elf;
    int code = tw_control_elf_open(view, &elf, err);
    if (code < 0)
        return code;
    c->opcode = TW_PACKET_START_NPU;
    code = read_words(c, &elf.code, err);
    if (code < 0)
        return code;
    c->places = calloc(elf.n_patches > 0 ? elf.n_patches : 1, sizeof c->places[0]);
    if (c->places == NULL)
        return tw_fail(err, TW_E_MEMORY, "no memory for the %u patches of control code", (unsigned)elf.n_patches);
    for (uint32_t i = 0; code == 0 && i < elf.n_patches; i++) {
        struct tw_control_elf_patch patch;
        tw_control_elf_patch(&elf, i, &patch);
        code = add_place(c, &patch, err);
    }
    return code;
}

int tw_control_read(const void *code, size_t size, struct tw_control *control, struct tw_error *err)
{
    const struct tw_view view = {.data = code, .size = size, .file = "control code"};
    *control = (struct tw_control){.opcode = TW_PACKET_START_CU, .kernel = TW_XDNA_KERNEL_SEQUENCE};
    if (size == 0)
        return TW_OK;
    if (code == NULL)
        return tw_fail(err, TW_E_ARGUMENT, "%zu bytes of control code are nowhere", size);
    if (tw_control_elf_recognise(&view))
        return read_elf(control, &view, err);
    if (tw_hex_words_recognise(&view))
        return read_text(control, &view, err);
    return read_words(control, &view, err);
}

void tw_control_free(struct tw_control *control)
{
    free(control->bytes);
    free(control->places);
    *control = (struct tw_control){0};
}

void tw_control_fill(const struct tw_control *c, const uint64_t *addresses, unsigned char *to)
{
    memcpy(to, c->bytes, c->size);
    for (size_t i = 0; i < c->n_places; i++) {
        const struct tw_control_place *p = &c->places[i];
        unsigned char *low = to + p->offset + DESCRIPTOR_LOW, *high = to + p->offset + DESCRIPTOR_HIGH;
        uint32_t rest = tw_load_u32(high) & ~(uint32_t)HIGH_MASK;
        uint64_t address = tw_load_u32(low) | (uint64_t)(tw_load_u32(high) & HIGH_MASK) << 32;
        address += addresses[p->buffer] + (uint64_t)p->addend + HOST_OFFSET;
        tw_store_u32(low, (uint32_t)address);
        tw_store_u32(high, rest | ((uint32_t)(address >> 32) & HIGH_MASK));
    }
}
