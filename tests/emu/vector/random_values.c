#include "emu/vector/random_values.h"

#include <string.h>

#define N(array) (sizeof(array) / sizeof((array)[0]))

static uint64_t pick(struct tw_random *random, const uint64_t *from, size_t n)
{
    return from[tw_random_u64(random) % n];
}

static void put(unsigned char *at, unsigned size, uint64_t value)
{
    for (unsigned i = 0; i < size; i++)
        at[i] = (unsigned char)(value >> 8 * i);
}

static uint64_t bf16(struct tw_random *random, unsigned low, unsigned high)
{
    uint64_t u = tw_random_u64(random);
    return (u & 0x8000) | (uint64_t)tw_random_range(random, low, high) << 7 | (u & 0x7f);
}

static uint64_t fp32(struct tw_random *random, unsigned low, unsigned high)
{
    uint64_t u = tw_random_u64(random);
    return (u & 0x80000000u) | (uint64_t)tw_random_range(random, low, high) << 23 | (u & 0x7fffff);
}

/* Zeros, denormals, the smallest and largest numbers, infinities, NaNs. */
static const uint64_t bf16_edges[] = {0,      0x8000, 1,      0x8001, 0x7f,   0x80,   0x7f7f, 0xff7f,
                                      0x7f80, 0xff80, 0x7f81, 0xffff, 0x3f80, 0xbf80, 0x4b00, 0x0b00};
static const uint64_t fp32_edges[] = {0,          0x80000000, 1,          0x807fffff, 0x00800000, 0x7f7fffff,
                                      0xff7fffff, 0x7f800000, 0xff800000, 0x7f800001, 0xffc00000, 0x3f800000,
                                      0x3f808000, 0x3f818000, 0x3f807fff, 0xbf808001, 0x7f7f8000, 0x00008000};
static const uint64_t int_edges[] = {0,
                                     1,
                                     0xff,
                                     0x7f,
                                     0x80,
                                     0x7fff,
                                     0x8000,
                                     0xffff,
                                     0x7fffffff,
                                     0x80000000,
                                     0xffffffff,
                                     0x7fffffffffffffff,
                                     0x8000000000000000,
                                     0xffffffffffffffff,
                                     0x8080808080808080,
                                     0x7f7f7f7f7f7f7f7f};

static uint64_t lane(struct tw_random *random, unsigned style)
{
    switch (style) {
    case 0:
        return bf16(random, 100, 150);
    case 1:
        return bf16(random, 0, 255);
    case 2:
        return bf16(random, 75, 95); /* products about the smallest that fast sums take */
    case 3:
        return bf16(random, 180, 200); /* and the largest */
    case 4:
        return tw_random_u64(random) % 4 == 0 ? pick(random, bf16_edges, N(bf16_edges)) : bf16(random, 120, 130);
    case 5:
        return pick(random, bf16_edges, N(bf16_edges));
    case 6:
        return fp32(random, 100, 150);
    case 7:
        return tw_random_u64(random) % 4 == 0 ? pick(random, fp32_edges, N(fp32_edges)) : fp32(random, 120, 140);
    case 8:
        return fp32(random, 0, 255);
    case 9:
        return tw_random_u64(random) >> tw_random_range(random, 0, 63);
    case 10:
        return pick(random, int_edges, N(int_edges)) + (uint64_t)tw_random_range(random, -1, 1);
    case 11: /* halves: ties of roundings by few bits */
        return (uint64_t)tw_random_range(random, -64, 64) << tw_random_range(random, 0, 8);
    case 12:
        return 0;
    default:
        return tw_random_u64(random);
    }
}

#define STYLES 15

/* A value with the bits of a vector, all lanes in one style. */
static void styled_vector(struct tw_random *random, unsigned style, unsigned char bytes[VALUE_BYTES])
{
    unsigned size = style < 6 ? 2 : style < 9 ? 4 : 1u << tw_random_range(random, 0, 3);
    for (unsigned at = 0; at < VALUE_BYTES; at += size)
        put(bytes + at, size, lane(random, style));
}

/* A configuration word: mostly a mode that multiplies, with the other bits as they come. */
static uint32_t mac_word(struct tw_random *random)
{
    static const uint64_t modes[] = {0,  8,   16, 24,  40, 72, 104, 136, 48, 56, 2,  18,  50, 26,  58,
                                     90, 122, 34, 154, 28, 60, 28,  60,  28, 28, 82, 186, 92, 168, 10};
    uint32_t u = (uint32_t)tw_random_u64(random);
    uint32_t word = (u & 0x3f00u) | (uint32_t)pick(random, modes, N(modes));
    if (u >> 16 & 1u)
        word |= (u & 1u);
    if (u >> 17 & 1u)
        word |= u & 0xff0000u;
    return (u >> 28) == 0 ? (uint32_t)tw_random_u64(random) : word;
}

static uint32_t scalar(struct tw_random *random, const char *name)
{
    static const uint64_t roundings[] = {0, 1, 2, 3, 8, 9, 10, 11, 12, 13};
    uint32_t u = (uint32_t)tw_random_u64(random);
    if (strcmp(name, "crRnd") == 0)
        return u % 64 == 0 ? u >> 8 & 15u : (uint32_t)pick(random, roundings, N(roundings));
    if (strcmp(name, "crSat") == 0)
        return u & 3u;
    if (strncmp(name, "cr", 2) == 0)
        return u & 1u;
    if (strcmp(name, "shft") == 0)
        return u % 16 == 0 ? u >> 8 & 63u : u >> 8 & 31u;
    if (strcmp(name, "c") == 0)
        return mac_word(random);
    if (strcmp(name, "mod") == 0 || strcmp(name, "shift") == 0 || strcmp(name, "idx") == 0 || strcmp(name, "pre") == 0)
        return u % 32 == 0 ? (uint32_t)tw_random_u64(random) : u >> 8 & 63u;
    return u;
}

static uint16_t any_register(const struct tw_operand_info *operand)
{
    const struct tw_register_class *c = &tw_register_classes[operand->register_class];
    for (unsigned i = 0; i < c->count; i++)
        if (c->by_value[i] >= 0)
            return (uint16_t)c->by_value[i];
    return 0;
}

/* Value k: its name, its size in bits, and whether the function writes it. */
static const char *describe(const struct tw_instruction *info, unsigned k, unsigned *bits, int *is_output)
{
    if (k < info->n_operands) {
        const struct tw_operand_info *operand = &info->operands[k];
        *bits = operand->kind == TW_OPERAND_REGISTER ? tw_registers[any_register(operand)].bits : 32;
        *is_output = operand->role == TW_OPERAND_OUT;
        return operand->name;
    }
    k -= info->n_operands;
    *is_output = k < info->n_defs;
    const struct tw_register *reg = &tw_registers[*is_output ? info->defs[k] : info->uses[k - info->n_defs]];
    *bits = reg->bits;
    return reg->name;
}

/* The styles of a call's vectors: half of all calls have one for all. */
struct styles {
    unsigned shared;
    int is_shared;
};

static unsigned next_style(struct tw_random *random, const struct styles *styles)
{
    return styles->is_shared ? styles->shared : (unsigned)(tw_random_u64(random) % STYLES);
}

void random_call(struct tw_random *random, const struct tw_semantics *row, struct call *call)
{
    const struct tw_instruction *info = &tw_instructions[row->instruction];
    uint64_t u = tw_random_u64(random);
    const struct styles styles = {(unsigned)(u >> 8) % STYLES, u & 1};
    memset(call, 0, sizeof *call);
    for (unsigned k = 0; k < (unsigned)info->n_operands + info->n_defs + info->n_uses; k++) {
        unsigned bits;
        int is_output;
        const char *name = describe(info, k, &bits, &is_output);
        if (is_output) {
            call->out[k] = call->bytes[k];
            call->sizes[k] = bits <= 32 ? 4 : (bits + 7) / 8;
            continue;
        }
        call->in[k] = call->bytes[k];
        if (bits > 32) {
            styled_vector(random, next_style(random, &styles), call->bytes[k]);
        } else {
            uint32_t value = scalar(random, name);
            memcpy(call->bytes[k], &value, sizeof value);
        }
    }
    if (row->action == TW_ACTION_LOAD) {
        styled_vector(random, next_style(random, &styles), call->bytes[TW_VALUE_MEMORY]);
        call->in[TW_VALUE_MEMORY] = call->bytes[TW_VALUE_MEMORY];
    }
    if (row->action == TW_ACTION_STORE) {
        call->out[TW_VALUE_MEMORY] = call->bytes[TW_VALUE_MEMORY];
        call->sizes[TW_VALUE_MEMORY] = row->bytes;
    }
}
