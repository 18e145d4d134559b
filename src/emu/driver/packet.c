/* Command buffers: what the driver checks and copies into the context's window, and what it writes back. */
#include "base/little_endian.h"
#include "emu/driver/state.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
    PACKET_BYTES_MAX = 4 + 4 * TW_PACKET_COUNT_MASK,
    OLD_NPU_ARGUMENT_WORDS_MAX = 34, /* of START_NPU with protocol 5.7 */
    OLD_NPU_SLOT_BYTES = 24          /* 64-bit address, size, properties, CU, argument count */
};

/* What kinds of commands there are in a slot, for protocol 5.8. */
enum { SLOT_NOT_ELF = 1, SLOT_PARTIAL_ELF = 2 };

/* A copy: the process may go on writing to its buffer. */
struct packet {
    unsigned char bytes[PACKET_BYTES_MAX];
    uint32_t opcode;
    const unsigned char *payload;
    size_t payload_bytes;
    uint32_t cu;
};

static int read_cu(struct packet *p, unsigned masks)
{
    for (unsigned i = 0; i < masks; i++) {
        uint32_t mask = tw_load_u32(p->bytes + 4 * (TW_PACKET_CU_MASK + i));
        if (mask == 0)
            continue;
        p->cu = 0;
        while (!(mask >> p->cu & 1))
            p->cu++;
        return 0;
    }
    return -EINVAL;
}

static int read_packet(const struct tw_drv_buffer *command, struct packet *p)
{
    if (command->host == NULL)
        return -ENOMEM; /* user memory: the kernel has no view of it */
    size_t room = command->bytes < sizeof p->bytes ? (size_t)command->bytes : sizeof p->bytes;
    memcpy(p->bytes, command->host, room);
    uint32_t header = tw_load_u32(p->bytes);
    uint32_t count = tw_packet_count(header);
    unsigned masks = 1 + (header >> TW_PACKET_EXTRA_MASKS_SHIFT & TW_PACKET_EXTRA_MASKS_MASK);
    p->opcode = tw_packet_opcode(header);
    if (p->opcode == TW_PACKET_CHAIN)
        masks = 0;
    if (count <= masks || 4 + 4 * (size_t)count > room)
        return -EINVAL;
    p->payload = p->bytes + 4 + 4 * masks;
    p->payload_bytes = 4 * (size_t)(count - masks);
    return p->opcode == TW_PACKET_CHAIN ? 0 : read_cu(p, masks);
}

/* The words in front of a slot's arguments. */
struct slot_head {
    unsigned char bytes[TW_NPU_SLOT_BYTES];
    size_t size;
};

static void put(struct slot_head *head, size_t offset, uint32_t value)
{
    tw_store_u32(head->bytes + offset, value);
}

static void start_cu_head(const struct packet *p, int old, struct slot_head *head)
{
    uint32_t words = (uint32_t)(p->payload_bytes / 4);
    head->size = old ? TW_CF_SLOT_BYTES : TW_NPU_SLOT_BYTES;
    put(head, head->size - 8, p->cu);
    put(head, head->size - 4, words);
    if (!old)
        put(head, 0, SLOT_NOT_ELF);
}

/* Address, size and properties come from the payload; the rest of that is the kernel's arguments. */
static int start_npu_head(const struct packet *p, int old, struct slot_head *head)
{
    const size_t fixed = 4 * TW_NPU_ARGUMENTS;
    size_t most = 4 * (old ? OLD_NPU_ARGUMENT_WORDS_MAX : TW_NPU_ARGUMENT_WORDS_MAX);
    if (p->payload_bytes < fixed || p->payload_bytes - fixed > most)
        return -EINVAL;
    head->size = old ? OLD_NPU_SLOT_BYTES : TW_NPU_SLOT_BYTES;
    size_t at_size = old ? 8 : 28;
    size_t at_properties = old ? 12 : 40;
    memcpy(head->bytes + (old ? 0 : 4), p->payload, 8);
    put(head, at_size, tw_load_u32(p->payload + 4 * TW_NPU_BYTES));
    put(head, at_properties, tw_load_u32(p->payload + 4 * TW_NPU_PROPERTIES));
    put(head, head->size - 8, p->cu);
    put(head, head->size - 4, (uint32_t)((p->payload_bytes - fixed) / 4));
    if (!old)
        put(head, 0, SLOT_PARTIAL_ELF);
    return 0;
}

static int append_slot(struct tw_drv_window *window, const struct packet *p, int old)
{
    struct slot_head head = {{0}, 0};
    size_t skip = 0;
    switch (p->opcode) {
    case TW_PACKET_START_CU:
        start_cu_head(p, old, &head);
        break;
    case TW_PACKET_START_NPU:
        if (start_npu_head(p, old, &head) < 0)
            return -EINVAL;
        skip = 4 * TW_NPU_ARGUMENTS;
        break;
    default:
        return -EOPNOTSUPP;
    }
    size_t arguments = p->payload_bytes - skip;
    if (head.size + arguments > sizeof window->bytes - window->used)
        return -EINVAL;
    memcpy(window->bytes + window->used, head.bytes, head.size);
    memcpy(window->bytes + window->used + head.size, p->payload + skip, arguments);
    window->used += head.size + arguments;
    window->opcode = p->opcode;
    window->commands++;
    return 0;
}

static int append_chain(struct tw_drv_file *file, struct tw_drv_window *window, const struct packet *chain, int old)
{
    const size_t fixed = 4 * TW_CHAIN_FIXED_WORDS;
    struct packet p;
    if (chain->payload_bytes < fixed)
        return -EINVAL;
    uint32_t n = tw_load_u32(chain->payload);
    if ((chain->payload_bytes - fixed) / 8 < n)
        return -EINVAL;
    if (n == 0 && old)
        return -EOPNOTSUPP; /* its message is chosen by the commands' kind */
    for (uint32_t i = 0; i < n; i++) {
        uint32_t handle = tw_load_u32(chain->payload + fixed + 8 * (size_t)i);
        const struct tw_drv_buffer *command = tw_drv_buffer_find(file, handle);
        if (command == NULL || command->kind != TW_XDNA_SHARE)
            return -ENOENT;
        int r = read_packet(command, &p);
        if (r == 0 && i > 0 && p.opcode != window->opcode)
            r = -EINVAL;
        if (r == 0)
            r = append_slot(window, &p, old);
        if (r < 0)
            return r;
    }
    return 0;
}

static int fill_window(struct tw_drv_job *job, struct tw_drv_window *window)
{
    struct tw_drv_file *file = job->context->file;
    int old = file->driver->options.old_firmware;
    struct packet p;
    int r = read_packet(job->command, &p);
    if (r < 0)
        return r;
    return p.opcode == TW_PACKET_CHAIN ? append_chain(file, window, &p, old) : append_slot(window, &p, old);
}

int tw_drv_hand_over(struct tw_drv_job *job, struct tw_drv_window *window)
{
    struct tw_drv_file *file = job->context->file;
    window->used = 0;
    window->commands = 0;
    window->opcode = 0;
    tw_drv_packet_set_state(job->command, TW_PACKET_NEW);
    int r = fill_window(job, window);
    if (r < 0)
        return r;
    const struct tw_drv_buffer *place = job->context->windows[job->sequence % DRV_WINDOWS];
    if (window->used > 0)
        tw_drv_memory_store(file->heap, place->place, window->bytes, window->used);
    return 0;
}

void tw_drv_packet_set_state(struct tw_drv_buffer *command, enum tw_packet_state state)
{
    if (command->host == NULL)
        return;
    uint32_t header = tw_load_u32(command->host);
    tw_store_u32(command->host, (header & ~(uint32_t)TW_PACKET_STATE_MASK) | (uint32_t)state);
}

static void fill_with_ones(struct tw_drv_buffer *command)
{
    if (command->host != NULL)
        memset(command->host + 4, 0xff, (size_t)command->bytes - 4);
}

void tw_drv_packet_fail(struct tw_drv_job *job, unsigned index, enum tw_packet_state state)
{
    struct tw_drv_buffer *command = job->command;
    tw_drv_packet_set_state(command, state);
    if (command->host == NULL)
        return;
    if (tw_packet_opcode(tw_load_u32(command->host)) != TW_PACKET_CHAIN) {
        fill_with_ones(command);
        return;
    }
    /* The details go into the first command of the chain. */
    unsigned char *words = command->host;
    uint32_t n = tw_load_u32(words + 4 * TW_CHAIN_COUNT);
    tw_store_u32(words + 4 * TW_CHAIN_ERROR_INDEX, index < n ? index : 0);
    uint32_t handle = tw_load_u32(words + 4 * TW_CHAIN_HANDLES);
    struct tw_drv_buffer *first = tw_drv_buffer_find(job->context->file, handle);
    if (first != NULL && first->kind == TW_XDNA_SHARE)
        fill_with_ones(first);
}
