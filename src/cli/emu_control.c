#include "cli/emu_control.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

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
        tw_control_elf_fill(code + p.offset, addresses[p.argument - TW_CONTROL_ELF_FIRST_BUFFER], p.addend);
    }
    return TW_OK;
}

static int fill_in(struct tw_emu_control *control, const uint64_t *addresses, size_t n, struct tw_error *err)
{
    const struct tw_view *code = &control->code;
    control->memory = malloc(code->size + 1);
    if (control->memory == NULL)
        return tw_fail(err, TW_E_MEMORY, "no memory for the control code of '%s'", code->file);
    memcpy(control->memory, code->data, code->size);
    control->code.data = control->memory;
    control->host_patched = 1;
    return patch(&control->file.elf, addresses, n, control->memory, err);
}

int tw_emu_control_open(const char *path, const uint64_t *addresses, size_t n, struct tw_emu_control *control,
                        struct tw_error *err)
{
    *control = (struct tw_emu_control){.opcode = TW_KERNEL_TRANSACTION};
    int code = tw_file_map_open(path, &control->map, err);
    if (code < 0)
        return code;
    const struct tw_view view = {control->map.data, control->map.size, path, 0};
    code = tw_control_file_open(&view, &control->file, err);
    if (code < 0)
        return code;
    control->opcode = control->file.kind == TW_CONTROL_SEQUENCE ? TW_KERNEL_SEQUENCE : TW_KERNEL_TRANSACTION;
    control->code = control->file.code;
    return control->file.is_elf ? fill_in(control, addresses, n, err) : TW_OK;
}

void tw_emu_control_close(struct tw_emu_control *control)
{
    free(control->memory);
    tw_control_file_close(&control->file);
    tw_file_map_close(&control->map);
    *control = (struct tw_emu_control){0};
}
