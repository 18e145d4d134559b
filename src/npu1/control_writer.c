#include "npu1/control_writer.h"

#include "base/error.h"
#include "npu1/control_code.h"
#include "npu1/control_record.h"

static void add(struct tw_control_writer *w, const uint32_t *words, size_t n)
{
    tw_byte_list_words(&w->list, words, n);
}

#define ADD(w, ...) add(w, (const uint32_t[]){__VA_ARGS__}, sizeof((const uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t))

void tw_control_writer_begin(struct tw_control_writer *w, unsigned columns)
{
    *w = (struct tw_control_writer){0};
    ADD(w, CONTROL_MINOR << 8 | TW_CONTROL_CODE_NPU1 << 16 | (uint32_t)TW_CONTROL_CODE_ROWS << 24,
        (columns & 0xff) | TW_CONTROL_CODE_MEMORY_ROWS << 8, 0, 0);
}

void tw_control_writer_write(struct tw_control_writer *w, uint32_t address, uint32_t value)
{
    ADD(w, CONTROL_WRITE, 0, address, 0, value, 4 * CONTROL_WRITE_WORDS);
    w->n_ops++;
}

void tw_control_writer_block_write(struct tw_control_writer *w, uint32_t address, const uint32_t *words, size_t n)
{
    if (n > UINT32_MAX / 4 - CONTROL_BLOCK_WRITE_WORDS) {
        w->list.failed = 1;
        return;
    }
    ADD(w, CONTROL_BLOCK_WRITE, 0, address, 4 * (CONTROL_BLOCK_WRITE_WORDS + (uint32_t)n));
    add(w, words, n);
    w->n_ops++;
}

void tw_control_writer_mask_write(struct tw_control_writer *w, uint32_t address, uint32_t mask, uint32_t value)
{
    ADD(w, CONTROL_MASK_WRITE, 0, address, 0, value, mask, 4 * CONTROL_MASK_WORDS);
    w->n_ops++;
}

void tw_control_writer_wait(struct tw_control_writer *w, const struct tw_control_wait *wait)
{
    ADD(w, CONTROL_WAIT, 4 * CONTROL_WAIT_WORDS,
        (wait->channel.direction == TW_MM2S) | (uint32_t)wait->row << 8 | (uint32_t)wait->column << 16,
        (uint32_t)wait->rows << 8 | (uint32_t)wait->columns << 16 | (wait->channel.number & 0xffu) << 24);
    w->n_ops++;
}

void tw_control_writer_patch(struct tw_control_writer *w, uint32_t address, const struct tw_control_patch *patch)
{
    ADD(w, CONTROL_PATCH, 4 * CONTROL_PATCH_WORDS, 0, 0, 0, 0, address, 0, (uint32_t)patch->argument,
        (uint32_t)(patch->argument >> 32), (uint32_t)patch->addend, (uint32_t)(patch->addend >> 32));
    w->n_ops++;
}

int tw_control_writer_finish(struct tw_control_writer *w, unsigned char **bytes, size_t *size, struct tw_error *err)
{
    int code = TW_OK;
    if (w->list.failed)
        code = tw_fail(err, TW_E_MEMORY, "no memory for control code of %u operations", (unsigned)w->n_ops);
    else if (w->list.size > UINT32_MAX)
        code = tw_fail(err, TW_E_LIMIT, "control code of %zu bytes; its header takes at most 4 GiB", w->list.size);
    if (code < 0) {
        tw_byte_list_free(&w->list);
        *w = (struct tw_control_writer){0};
        return code;
    }
    tw_byte_list_set_u32(&w->list, 8, w->n_ops);
    tw_byte_list_set_u32(&w->list, 12, (uint32_t)w->list.size);
    *bytes = w->list.bytes;
    *size = w->list.size;
    *w = (struct tw_control_writer){0};
    return code;
}
