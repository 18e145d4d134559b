#include "device/control.h"

#include "image/control_file.h"
#include "npu1/control_code.h"
#include "npu1/dpu_sequence.h"

#include <stdlib.h>
#include <string.h>

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

static int read_code(struct tw_control *c, const struct tw_control_file *file, struct tw_error *err)
{
    const struct tw_view *view = &file->code;
    int code = file->kind == TW_CONTROL_SEQUENCE ? read_sequence(c, view, err) : read_transaction(c, view, err);
    if (code == 0 && view->size % 4 != 0)
        code = tw_fail(err, TW_E_FORMAT, "%zu bytes of control code are not whole words", view->size);
    return code < 0 ? code : keep(c, view, err);
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

static int keep_places(struct tw_control *c, const struct tw_control_elf *elf, struct tw_error *err)
{
    int code = TW_OK;
    c->places = calloc(elf->n_patches > 0 ? elf->n_patches : 1, sizeof c->places[0]);
    if (c->places == NULL)
        return tw_fail(err, TW_E_MEMORY, "no memory for the %u patches of control code", (unsigned)elf->n_patches);
    for (uint32_t i = 0; code == 0 && i < elf->n_patches; i++) {
        struct tw_control_elf_patch patch;
        tw_control_elf_patch(elf, i, &patch);
        code = add_place(c, &patch, err);
    }
    return code;
}

int tw_control_read(const void *code, size_t size, struct tw_control *control, struct tw_error *err)
{
    const struct tw_view view = {.data = code, .size = size, .file = "control code"};
    struct tw_control_file file;
    *control = (struct tw_control){.opcode = TW_PACKET_START_CU, .kernel = TW_XDNA_KERNEL_SEQUENCE};
    if (size == 0)
        return TW_OK;
    if (code == NULL)
        return tw_fail(err, TW_E_ARGUMENT, "%zu bytes of control code are nowhere", size);
    int result = tw_control_file_open(&view, &file, err);
    if (result == 0) {
        control->opcode = file.is_elf ? TW_PACKET_START_NPU : TW_PACKET_START_CU;
        result = read_code(control, &file, err);
    }
    if (result == 0 && file.is_elf)
        result = keep_places(control, &file.elf, err);
    tw_control_file_close(&file);
    return result;
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
        tw_control_elf_fill(to + p->offset, addresses[p->buffer], p->addend);
    }
}
