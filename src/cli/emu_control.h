/* Control code from a file, whatever form it comes in. */
#ifndef TW_CLI_EMU_CONTROL_H
#define TW_CLI_EMU_CONTROL_H

#include "base/file_map.h"
#include "emu/firmware.h"
#include "image/control_file.h"

struct tw_emu_control {
    enum tw_kernel_opcode opcode;
    int host_patched;
    struct tw_view code; /* for struct tw_command */
    struct tw_file_map map;
    struct tw_control_file file;
    unsigned char *memory; /* of an ELF file: its control code with the addresses in it */
};

/*
 * Opens control code in any form (image/control_file.h). The descriptors of an ELF file get the addresses of the buffer
 * arguments here, as the host would do it. *control is released with tw_emu_control_close in any case. Fails as a file
 * does, with TW_E_FORMAT, or with TW_E_ARGUMENT when the ELF file names an argument that is not among the n.
 */
int tw_emu_control_open(const char *path, const uint64_t *addresses, size_t n, struct tw_emu_control *control,
                        struct tw_error *err);
void tw_emu_control_close(struct tw_emu_control *control);

#endif
