#include "npu1/make_cdo.h"

#include "base/little_endian.h"

#include <stdlib.h>
#include <string.h>

void made_bytes(struct made *m, const void *data, size_t size)
{
    if (size > m->room - m->size) {
        m->room = 2 * m->room + size + 256;
        m->data = realloc(m->data, m->room);
        if (m->data == NULL)
            abort();
    }
    if (size > 0)
        memcpy(m->data + m->size, data, size);
    m->size += size;
}

void made_word(struct made *m, uint32_t word)
{
    unsigned char bytes[4];
    tw_store_u32(bytes, word);
    made_bytes(m, bytes, sizeof bytes);
}

void made_zeros(struct made *m, size_t size)
{
    static const unsigned char zero[1];
    for (size_t i = 0; i < size; i++)
        made_bytes(m, zero, 1);
}

void made_free(struct made *m)
{
    free(m->data);
    *m = (struct made){0};
}

struct tw_view made_view(const struct made *m)
{
    return (struct tw_view){m->data, m->size, "made", 0};
}

size_t cdo_begin(struct made *m)
{
    size_t begin = m->size;
    made_word(m, 4);
    made_word(m, 0x004f4443);
    made_word(m, 0x200);
    made_zeros(m, 8);
    return begin;
}

void cdo_end(struct made *m, size_t begin)
{
    unsigned char *header = m->data + begin;
    uint32_t length = (uint32_t)(m->size - begin) / 4 - 5;
    tw_store_u32(header + 12, length);
    tw_store_u32(header + 16, ~(4 + 0x004f4443u + 0x200 + length));
}

static void begin_command(struct made *m, unsigned id, uint32_t n)
{
    if (n < 255) {
        made_word(m, n << 16 | id);
    } else {
        made_word(m, 0xff0000 | id);
        made_word(m, n);
    }
}

void cdo_command(struct made *m, unsigned id, const uint32_t *payload, uint32_t n)
{
    begin_command(m, id, n);
    for (uint32_t i = 0; i < n; i++)
        made_word(m, payload[i]);
}

void cdo_dma_write(struct made *m, uint32_t address, const void *data, size_t size)
{
    begin_command(m, 0x105, (uint32_t)(2 + size / 4));
    made_word(m, 0);
    made_word(m, address);
    made_bytes(m, data, size);
}
