/*
 * Control code in whatever form it is kept: a transaction or a DPU sequence, in binary or as hexadecimal text, alone or
 * in an ELF file that says where the host puts addresses.
 */
#ifndef TW_IMAGE_CONTROL_FILE_H
#define TW_IMAGE_CONTROL_FILE_H

#include "image/control_elf.h"

enum tw_control_kind {
    TW_CONTROL_TRANSACTION, /* npu1/control_code.h */
    TW_CONTROL_SEQUENCE     /* npu1/dpu_sequence.h */
};

struct tw_control_file {
    enum tw_control_kind kind;
    struct tw_view code; /* the control code in binary; nothing behind its beginning is checked */
    int is_elf;
    struct tw_control_elf elf; /* is_elf: its patches are to be made in a copy of code */
    unsigned char *words;      /* of a text; else NULL, and code lies in the view */
};

/*
 * Recognises what view holds, which must stay in memory. *file is released with tw_control_file_close in any case.
 * Fails with TW_E_FORMAT, also when it is none of these forms, or as tw_control_elf_open and tw_hex_words_read do.
 */
int tw_control_file_open(const struct tw_view *view, struct tw_control_file *file, struct tw_error *err);
void tw_control_file_close(struct tw_control_file *file);

#endif
