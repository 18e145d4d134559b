/* CDOs made in memory, written by hand and not with the reader's tables. */
#ifndef TESTS_NPU1_MAKE_CDO_H
#define TESTS_NPU1_MAKE_CDO_H

#include "base/view.h"

/* Bytes that grow; the functions end the program when there is no memory. */
struct made {
    unsigned char *data;
    size_t size, room;
};

void made_bytes(struct made *m, const void *data, size_t size);
void made_word(struct made *m, uint32_t word);
void made_zeros(struct made *m, size_t size);
void made_free(struct made *m);
struct tw_view made_view(const struct made *m);

/* Begins a CDO in m; cdo_end writes its length and checksum. Returns where it begins. */
size_t cdo_begin(struct made *m);
void cdo_end(struct made *m, size_t begin);

/* A command with n words of payload, in the long form from 255 words on. */
void cdo_command(struct made *m, unsigned id, const uint32_t *payload, uint32_t n);
/* DMA_WRITE of size bytes, a multiple of 4. */
void cdo_dma_write(struct made *m, uint32_t address, const void *data, size_t size);

#define CDO(m, id, ...) cdo_command(m, id, (const uint32_t[]){__VA_ARGS__}, sizeof((const uint32_t[]){__VA_ARGS__}) / 4)

#endif
