/* Control code for a job: its form, which buffers it names, and what the host must write into it. */
#ifndef TW_DEVICE_CONTROL_H
#define TW_DEVICE_CONTROL_H

#include "base/error.h"
#include "device/packet.h"

#include <stddef.h>

enum { TW_CONTROL_BUFFERS_MAX = 512 };

/* An address that the host adds to what a shim DMA descriptor holds (tw_control_elf_fill). */
struct tw_control_place {
    uint32_t offset; /* of the descriptor's word 0 in the code */
    uint32_t buffer; /* its number among the job's buffers */
    int32_t addend;
};

struct tw_control {
    enum tw_packet_opcode opcode;
    enum tw_xdna_kernel kernel;
    unsigned char *bytes; /* NULL: none */
    size_t size;
    struct tw_control_place *places;
    size_t n_places;
    unsigned char names[TW_CONTROL_BUFFERS_MAX]; /* 1: it uses this buffer */
};

/*
 * Reads control code: a transaction or a DPU sequence, in binary or as hexadecimal text, or an ELF file around a
 * transaction. What it holds is copied. size 0: there is none. Fails with TW_E_FORMAT, TW_E_UNSUPPORTED, TW_E_LIMIT or
 * TW_E_MEMORY; *control is released with tw_control_free in any case.
 */
int tw_control_read(const void *code, size_t size, struct tw_control *control, struct tw_error *err);
void tw_control_free(struct tw_control *control);

/* to = the code (control->size bytes) with all places filled; addresses[i] is that of buffer i as the NPU sees it. */
void tw_control_fill(const struct tw_control *control, const uint64_t *addresses, unsigned char *to);

#endif
