#include "graph/type.h"

#include "base/half.h"
#include "base/little_endian.h"

#include <math.h>
#include <string.h>

#define QK 32 /* numbers in a block of the quantised formats */

static const struct tw_type_info infos[TW_TYPE_COUNT] = {
    [TW_F32] = {"f32", 1, 4},     [TW_F16] = {"f16", 1, 2},     [TW_BF16] = {"bf16", 1, 2},
    [TW_Q5_0] = {"q5_0", QK, 22}, [TW_Q8_0] = {"q8_0", QK, 34}, [TW_I32] = {"i32", 1, 4},
};

const struct tw_type_info *tw_type_info(enum tw_type type)
{
    return (unsigned)type < TW_TYPE_COUNT ? &infos[type] : NULL;
}

size_t tw_row_bytes(enum tw_type type, int64_t n)
{
    const struct tw_type_info *info = tw_type_info(type);
    if (info == NULL || n < 0 || n % info->block != 0)
        return 0;
    return (size_t)(n / info->block) * info->bytes;
}

static void q5_0_to_f32(const unsigned char *b, float *dst)
{
    float d = tw_f16_to_f32(tw_load_u16(b));
    uint32_t high = tw_load_u32(b + 2);
    for (int i = 0; i < QK / 2; i++) {
        int low = (b[6 + i] & 15) | (int)(high >> i & 1) << 4;
        int up = (b[6 + i] >> 4) | (int)(high >> (i + QK / 2) & 1) << 4;
        dst[i] = d * (float)(low - 16);
        dst[i + QK / 2] = d * (float)(up - 16);
    }
}

static void q8_0_to_f32(const unsigned char *b, float *dst)
{
    float d = tw_f16_to_f32(tw_load_u16(b));
    for (int i = 0; i < QK; i++)
        dst[i] = d * (float)(signed char)b[2 + i];
}

void tw_row_to_f32(enum tw_type type, const void *src, float *dst, int64_t n)
{
    const unsigned char *p = src;
    switch (type) {
    case TW_F32:
        memcpy(dst, src, (size_t)n * sizeof *dst);
        break;
    case TW_F16:
        for (int64_t i = 0; i < n; i++)
            dst[i] = tw_f16_to_f32(tw_load_u16(p + 2 * i));
        break;
    case TW_BF16:
        for (int64_t i = 0; i < n; i++)
            dst[i] = tw_bf16_to_f32(tw_load_u16(p + 2 * i));
        break;
    case TW_Q5_0:
        for (int64_t i = 0; i < n / QK; i++)
            q5_0_to_f32(p + i * 22, dst + i * QK);
        break;
    case TW_Q8_0:
        for (int64_t i = 0; i < n / QK; i++)
            q8_0_to_f32(p + i * 34, dst + i * QK);
        break;
    default:
        break;
    }
}

/* The 5-bit number nearest to v (already 16.5 above the signed one); what no number is, becomes 0. */
static int cut_to_5_bits(float v)
{
    return v >= 31 ? 31 : v > 0 ? (int)v : 0;
}

/* Scale from the number of largest magnitude, kept with its sign so that it maps to exactly -16. */
static void q5_0_from_f32(const float *src, unsigned char *b)
{
    float extreme = 0;
    for (int i = 0; i < QK; i++)
        if (fabsf(src[i]) > fabsf(extreme))
            extreme = src[i];
    float d = extreme / -16;
    float inverse = d != 0 ? 1 / d : 0;
    uint32_t high = 0;
    tw_store_u16(b, tw_f32_to_f16(d));
    for (int i = 0; i < QK / 2; i++) {
        int low = cut_to_5_bits(src[i] * inverse + 16.5f);
        int up = cut_to_5_bits(src[i + QK / 2] * inverse + 16.5f);
        b[6 + i] = (unsigned char)((low & 15) | (up & 15) << 4);
        high |= (uint32_t)(low >> 4) << i | (uint32_t)(up >> 4) << (i + QK / 2);
    }
    tw_store_u32(b + 2, high);
}

static int cut_to_byte(float v)
{
    return v >= 127 ? 127 : v <= -127 ? -127 : isnan(v) ? 0 : (int)roundf(v);
}

static void q8_0_from_f32(const float *src, unsigned char *b)
{
    float largest = 0;
    for (int i = 0; i < QK; i++)
        largest = fmaxf(largest, fabsf(src[i]));
    float d = largest / 127;
    float inverse = d != 0 ? 1 / d : 0;
    tw_store_u16(b, tw_f32_to_f16(d));
    for (int i = 0; i < QK; i++)
        b[2 + i] = (unsigned char)(signed char)cut_to_byte(src[i] * inverse);
}

void tw_row_from_f32(enum tw_type type, const float *src, void *dst, int64_t n)
{
    unsigned char *p = dst;
    switch (type) {
    case TW_F32:
        memcpy(dst, src, (size_t)n * sizeof *src);
        break;
    case TW_F16:
        for (int64_t i = 0; i < n; i++)
            tw_store_u16(p + 2 * i, tw_f32_to_f16(src[i]));
        break;
    case TW_BF16:
        for (int64_t i = 0; i < n; i++)
            tw_store_u16(p + 2 * i, tw_f32_to_bf16(src[i]));
        break;
    case TW_Q5_0:
        for (int64_t i = 0; i < n / QK; i++)
            q5_0_from_f32(src + i * QK, p + i * 22);
        break;
    case TW_Q8_0:
        for (int64_t i = 0; i < n / QK; i++)
            q8_0_from_f32(src + i * QK, p + i * 34);
        break;
    default:
        break;
    }
}
