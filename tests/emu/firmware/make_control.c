#include "emu/firmware/make_control.h"

#include "base/little_endian.h"

#define WORDS(m, ...) control_words(m, (const uint32_t[]){__VA_ARGS__}, sizeof((const uint32_t[]){__VA_ARGS__}) / 4)

void control_begin(struct made *m)
{
    made_word(m, 0x06030100);
    made_word(m, 0x00000104);
    made_word(m, 0);
    made_word(m, 0);
}

void control_words(struct made *m, const uint32_t *words, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        made_word(m, words[i]);
    tw_store_u32(m->data + 8, tw_load_u32(m->data + 8) + 1);
}

void control_end(struct made *m)
{
    tw_store_u32(m->data + 12, (uint32_t)m->size);
}

void control_write(struct made *m, uint32_t address, uint32_t value)
{
    WORDS(m, 0, 0, address, 0, value, 24);
}

void control_mask_write(struct made *m, uint32_t address, uint32_t mask, uint32_t value)
{
    WORDS(m, 3, 0, address, 0, value, mask, 28);
}

void control_poll(struct made *m, uint32_t address, uint32_t mask, uint32_t value)
{
    WORDS(m, 4, 0, address, 0, value, mask, 28);
}

void control_block(struct made *m, uint32_t address, const uint32_t *words, uint32_t n)
{
    WORDS(m, 1, 0, address, 16 + 4 * n);
    for (uint32_t i = 0; i < n; i++)
        made_word(m, words[i]);
}

void control_noop(struct made *m)
{
    WORDS(m, 5);
}

void control_wait(struct made *m, unsigned column, unsigned row, unsigned columns, unsigned rows, unsigned direction,
                  unsigned channel)
{
    WORDS(m, 0x80, 16, direction | row << 8 | column << 16, rows << 8 | columns << 16 | channel << 24);
}

void control_patch(struct made *m, uint32_t address, uint64_t argument, uint64_t addend)
{
    WORDS(m, 0x81, 48, 0, 0, 0, 0, address, 0, (uint32_t)argument, (uint32_t)(argument >> 32), (uint32_t)addend,
          (uint32_t)(addend >> 32));
}

void control_shim_descriptor(struct made *m, uint32_t address, uint32_t length)
{
    const uint32_t words[8] = {length, 0, 0, 0, 0x80000000, 0x02000000, 0, 0x02000000};
    control_block(m, address, words, 8);
}
