/*
 * Writing a CDO: the header and, of the commands, only those that compiled configurations of NPU1 have: WRITE,
 * MASK_WRITE, DMA_WRITE and NOP. Data of a DMA_WRITE is aligned to 16 bytes in the CDO, and so in a PDI.
 *
 *     struct tw_cdo_writer w;
 *     tw_cdo_writer_begin(&w);
 *     tw_cdo_writer_write(&w, address, value);
 *     ...
 *     if (tw_cdo_writer_finish(&w, &bytes, &size, &err) == 0)
 *         use and free(bytes)
 */
#ifndef TW_NPU1_CDO_WRITER_H
#define TW_NPU1_CDO_WRITER_H

#include "base/error.h"
#include "npu1/byte_list.h"

struct tw_cdo_writer {
    struct tw_byte_list list;
};

void tw_cdo_writer_begin(struct tw_cdo_writer *w);

/* Append a command. What fails is told by finish. Addresses are those of npu1/tile.h. */
void tw_cdo_writer_write(struct tw_cdo_writer *w, uint32_t address, uint32_t value);
void tw_cdo_writer_mask_write(struct tw_cdo_writer *w, uint32_t address, uint32_t mask, uint32_t value);
/* Words to address, address + 4, ...; bytes are little-endian and 4 * n_words long. */
void tw_cdo_writer_dma_write(struct tw_cdo_writer *w, uint32_t address, const void *bytes, size_t n_words);

/*
 * Completes the header. *bytes is to be freed with free(). Fails with TW_E_MEMORY, or TW_E_LIMIT for more than 4 GiB;
 * in every case *w is released and may begin again.
 */
int tw_cdo_writer_finish(struct tw_cdo_writer *w, unsigned char **bytes, size_t *size, struct tw_error *err);

#endif
