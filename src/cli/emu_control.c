#include "cli/emu_control.h"

#include "base/little_endian.h"
#include "image/control_elf.h"
#include "npu1/control_code.h"
#include "npu1/dpu_sequence.h"
#include "npu1/hex_words.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Words, in binary. */
static int take_words(struct tw_emu_control *control, struct tw_error *err)
{
    if (tw_control_code_recognise(&control->code))
        control->opcode = TW_KERNEL_TRANSACTION;
    else if (tw_dpu_sequence_recognise(&control->code))
        control->opcode = TW_KERNEL_SEQUENCE;
    else
        return tw_fail(err, TW_E_UNSUPPORTED,
                       "'%s' is no control code: neither transactions of version 0.1 or 1.0 nor a DPU sequence, in "
                       "binary, as hexadecimal text or in an ELF file",
                       control->code.file);
    return TW_OK;
}

static int take_text(struct tw_emu_control *control, struct tw_error *err)
{
    size_t size;
    int code = tw_hex_words_read(&control->code, &control->memory, &size, err);
    if (code < 0)
        return code;
    control->code = (struct tw_view){control->memory, size, control->code.file, 0};
    return take_words(control, err);
}

/* ---- ELF */

/* Adds to the 48 bits in words 1 and 2 of a shim descriptor. */
static void add_address(unsigned char *descriptor, uint64_t address)
{
    enum { LOW = 4, HIGH = 8, HIGH_MASK = 0xffff };
    uint32_t high = tw_load_u32(descriptor + HIGH);
    address += tw_load_u32(descriptor + LOW) | (uint64_t)(high & HIGH_MASK) << 32;
    tw_store_u32(descriptor + LOW, (uint32_t)address);
    tw_store_u32(descriptor + HIGH, (high & ~(uint32_t)HIGH_MASK) | (uint32_t)(address >> 32 & HIGH_MASK));
}

/* What the host does before it starts such a program: here all arguments get the offset, not only the first ones. */
static int patch(const struct tw_control_elf *elf, const uint64_t *addresses, size_t n, unsigned char *code,
                 struct tw_error *err)
{
    for (uint32_t i = 0; i < elf->n_patches; i++) {
        struct tw_control_elf_patch p;
        tw_control_elf_patch(elf, i, &p);
        if (p.argument < TW_CONTROL_ELF_FIRST_BUFFER || p.argument - TW_CONTROL_ELF_FIRST_BUFFER >= n)
            return tw_view_fail(&elf->view, 0, TW_E_ARGUMENT, err,
                                "the control code uses the kernel's argument %" PRIu32
                                ", but there are %zu buffer arguments, which begin with %d",
                                p.argument, n, TW_CONTROL_ELF_FIRST_BUFFER);
        add_address(code + p.offset,
                    addresses[p.argument - TW_CONTROL_ELF_FIRST_BUFFER] + (uint64_t)(int64_t)p.addend + TW_HOST_OFFSET);
    }
    return TW_OK;
}

static int take_elf(struct tw_emu_control *control, const uint64_t *addresses, size_t n, struct tw_error *err)
{
    struct tw_control_elf elf;
    int code = tw_control_elf_open(&control->code, &elf, err);
    if (code < 0)
        return code;
    control->memory = malloc(elf.code.size + 1);
    if (control->memory == NULL)
        return tw_fail(err, TW_E_MEMORY, "no memory for the control code of '%s'", control->code.file);
    memcpy(control->memory, elf.code.data, elf.code.size);
    code = patch(&elf, addresses, n, control->memory, err);
    control->code = (struct tw_view){control->memory, elf.code.size, control->code.file, elf.code.at};
    control->host_patched = 1;
    return code < 0 ? code : take_words(control, err);
}

int tw_emu_control_open(const char *path, const uint64_t *addresses, size_t n, struct tw_emu_control *control,
                        struct tw_error *err)
{
    *control = (struct tw_emu_control){.opcode = TW_KERNEL_TRANSACTION};
    int code = tw_file_map_open(path, &control->map, err);
    if (code < 0)
        return code;
    control->code = (struct tw_view){control->map.data, control->map.size, path, 0};
    if (tw_control_elf_recognise(&control->code))
        return take_elf(control, addresses, n, err);
    if (tw_hex_words_recognise(&control->code))
        return take_text(control, err);
    return take_words(control, err);
}

void tw_emu_control_close(struct tw_emu_control *control)
{
    free(control->memory);
    tw_file_map_close(&control->map);
    *control = (struct tw_emu_control){0};
}
