/*
 * Control code as an ELF file, the form that AMD's tools give to the driver's newer way of starting a program: section
 * .ctrltext holds control code (npu1/control_code.h), .rela.dyn the places where the host puts addresses of arguments.
 * By files that AMD compiled.
 */
#ifndef TW_IMAGE_CONTROL_ELF_H
#define TW_IMAGE_CONTROL_ELF_H

#include "base/view.h"

enum tw_control_elf_number {
    TW_CONTROL_ELF_SHIM_DMA_48 = 5, /* scheme: 48 bits in words 1 and 2 of a shim descriptor */
    TW_CONTROL_ELF_FIRST_BUFFER = 3 /* arguments before it: opcode, control code, its length */
};

struct tw_control_elf {
    struct tw_view view;
    struct tw_view code; /* the control code */
    uint32_t n_patches;
    struct tw_view patches, symbols, strings;
};

/* To the descriptor at `offset` the address of an argument is to be added: tw_control_elf_fill. */
struct tw_control_elf_patch {
    uint32_t offset;   /* in the code: of the descriptor's word 0, and all its words are inside */
    uint32_t argument; /* counts all of the kernel's arguments: TW_CONTROL_ELF_FIRST_BUFFER is the first buffer */
    uint8_t scheme;
    int32_t addend;
};

/* Whether an ELF file with control code begins here. */
int tw_control_elf_recognise(const struct tw_view *view);

/* Checks sections and patches. Fails with TW_E_FORMAT; TW_E_UNSUPPORTED for a scheme other than SHIM_DMA_48. */
int tw_control_elf_open(const struct tw_view *view, struct tw_control_elf *elf, struct tw_error *err);

/* Patch number i < n_patches of an opened file. */
void tw_control_elf_patch(const struct tw_control_elf *elf, uint32_t i, struct tw_control_elf_patch *patch);

/*
 * What the host does for a patch before such a program starts: adds the buffer's address as the driver gives it, the
 * addend and TW_CONTROL_HOST_OFFSET to the address in a shim descriptor's words. The offset comes to every argument
 * here, for the firmware adds none to control code that the host has filled in.
 */
void tw_control_elf_fill(unsigned char *descriptor, uint64_t address, int32_t addend);

#endif
