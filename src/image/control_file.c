#include "image/control_file.h"

#include "npu1/control_code.h"
#include "npu1/dpu_sequence.h"
#include "npu1/hex_words.h"

#include <stdlib.h>

static int find_kind(struct tw_control_file *file, struct tw_error *err)
{
    if (tw_control_code_recognise(&file->code))
        file->kind = TW_CONTROL_TRANSACTION;
    else if (tw_dpu_sequence_recognise(&file->code))
        file->kind = TW_CONTROL_SEQUENCE;
    else
        return tw_fail(err, TW_E_FORMAT,
                       "'%s' (%zu bytes) is no control code: neither transactions of version 0.1 or 1.0 nor a DPU "
                       "sequence, in binary, as hexadecimal text or in an ELF file",
                       file->code.file, file->code.size);
    return TW_OK;
}

int tw_control_file_open(const struct tw_view *view, struct tw_control_file *file, struct tw_error *err)
{
    int code = TW_OK;
    *file = (struct tw_control_file){.code = *view};
    if (tw_control_elf_recognise(view)) {
        file->is_elf = 1;
        code = tw_control_elf_open(view, &file->elf, err);
        file->code = file->elf.code;
    } else if (tw_hex_words_recognise(view)) {
        size_t size = 0;
        code = tw_hex_words_read(view, &file->words, &size, err);
        file->code = (struct tw_view){.data = file->words, .size = size, .file = view->file};
    }
    return code < 0 ? code : find_kind(file, err);
}

void tw_control_file_close(struct tw_control_file *file)
{
    free(file->words);
    *file = (struct tw_control_file){0};
}
