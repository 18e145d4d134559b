#include "npu1/cdo_writer.h"

#include "npu1/cdo.h"

enum { DATA_ALIGN = 16, ADDRESS_WORDS = 2, LENGTH_SHIFT = 16 };

void tw_cdo_writer_begin(struct tw_cdo_writer *w)
{
    *w = (struct tw_cdo_writer){0};
    tw_byte_list_words(&w->list, (const uint32_t[]){TW_CDO_HEADER_REST, TW_CDO_MAGIC, TW_CDO_VERSION, 0, 0},
                       TW_CDO_HEADER_WORDS);
}

static void begin_command(struct tw_cdo_writer *w, uint32_t id, uint32_t n)
{
    if (n < TW_CDO_LONG_LENGTH) {
        tw_byte_list_word(&w->list, n << LENGTH_SHIFT | id);
    } else {
        tw_byte_list_word(&w->list, (uint32_t)TW_CDO_LONG_LENGTH << LENGTH_SHIFT | id);
        tw_byte_list_word(&w->list, n);
    }
}

void tw_cdo_writer_write(struct tw_cdo_writer *w, uint32_t address, uint32_t value)
{
    begin_command(w, TW_CDO_WRITE, 2);
    tw_byte_list_words(&w->list, (const uint32_t[]){address, value}, 2);
}

void tw_cdo_writer_mask_write(struct tw_cdo_writer *w, uint32_t address, uint32_t mask, uint32_t value)
{
    begin_command(w, TW_CDO_MASK_WRITE, 3);
    tw_byte_list_words(&w->list, (const uint32_t[]){address, mask, value}, 3);
}

/* A NOP in front of a command, so long that what follows after `head` more bytes is aligned. */
static void add_filler(struct tw_cdo_writer *w, size_t head)
{
    size_t bytes = (DATA_ALIGN - (w->list.size + head) % DATA_ALIGN) % DATA_ALIGN;
    if (bytes == 0)
        return;
    begin_command(w, TW_CDO_NOP, (uint32_t)(bytes / 4 - 1));
    tw_byte_list_zeros(&w->list, bytes - 4);
}

void tw_cdo_writer_dma_write(struct tw_cdo_writer *w, uint32_t address, const void *bytes, size_t n_words)
{
    if (n_words > UINT32_MAX / 4) {
        w->list.failed = 1;
        return;
    }
    uint32_t payload = (uint32_t)n_words + ADDRESS_WORDS;
    add_filler(w, payload < TW_CDO_LONG_LENGTH ? 12 : 16);
    begin_command(w, TW_CDO_DMA_WRITE, payload);
    tw_byte_list_words(&w->list, (const uint32_t[]){0, address}, ADDRESS_WORDS);
    tw_byte_list_add(&w->list, bytes, 4 * n_words);
}

int tw_cdo_writer_finish(struct tw_cdo_writer *w, unsigned char **bytes, size_t *size, struct tw_error *err)
{
    int code = TW_OK;
    if (w->list.failed)
        code = tw_fail(err, TW_E_MEMORY, "no memory for a configuration (CDO)");
    else if (w->list.size > UINT32_MAX)
        code = tw_fail(err, TW_E_LIMIT, "a configuration (CDO) of %zu bytes; at most 4 GiB are possible", w->list.size);
    if (code < 0) {
        tw_byte_list_free(&w->list);
        return code;
    }
    uint32_t length = (uint32_t)(w->list.size / 4) - TW_CDO_HEADER_WORDS;
    tw_byte_list_set_u32(&w->list, 12, length);
    tw_byte_list_set_u32(&w->list, 16, ~(TW_CDO_HEADER_REST + TW_CDO_MAGIC + TW_CDO_VERSION + length));
    *bytes = w->list.bytes;
    *size = w->list.size;
    *w = (struct tw_cdo_writer){0};
    return code;
}
