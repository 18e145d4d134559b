#include "cli/sample_product.h"

#include "base/half.h"
#include "base/little_endian.h"
#include "overlay/image.h"
#include "overlay/launch.h"
#include "overlay/pack.h"

#include <stdlib.h>
#include <string.h>

enum { ROWS = 100, DEPTH = 70, COLUMNS = 90, BIAS_STEP = 16 };

/* Whole numbers from -8 to 8: bf16 holds them, and fp32 all their sums. */
static int number_a(uint32_t row, uint32_t k)
{
    return row < ROWS && k < DEPTH ? (int)((row * 7 + k * 5) % 17) - 8 : 0;
}

static int number_b(uint32_t k, uint32_t column)
{
    return k < DEPTH && column < COLUMNS ? (int)((k * 3 + column * 11) % 17) - 8 : 0;
}

static int number_bias(uint32_t column)
{
    return column < COLUMNS ? BIAS_STEP * ((int)column - COLUMNS / 2) : 0;
}

static float number_c(uint32_t row, uint32_t column)
{
    int sum = number_bias(column);
    for (uint32_t k = 0; k < DEPTH; k++)
        sum += number_a(row, k) * number_b(k, column);
    return (float)sum;
}

static int take(struct tw_sample_bytes *bytes, uint64_t size, struct tw_error *err)
{
    bytes->data = calloc(1, (size_t)size);
    bytes->size = (size_t)size;
    return bytes->data != NULL ? TW_OK : tw_fail(err, TW_E_MEMORY, "no memory for a sample product");
}

static int make_a(struct tw_sample_product *s, struct tw_error *err)
{
    const uint32_t depth = tw_overlay_depth(&s->shape), rows = tw_overlay_height(&s->shape);
    struct tw_sample_bytes *a = &s->buffers[TW_SAMPLE_A];
    int code = take(a, (uint64_t)2 * rows * depth, err);
    for (uint32_t i = 0; code == TW_OK && i < rows * depth; i++)
        tw_store_u16(a->data + (size_t)2 * i, tw_f32_to_bf16((float)number_a(i / depth, i % depth)));
    return code;
}

static int make_b(struct tw_sample_product *s, struct tw_error *err)
{
    uint16_t b[DEPTH * COLUMNS];
    for (uint32_t i = 0; i < DEPTH * COLUMNS; i++)
        b[i] = tw_f32_to_bf16((float)number_b(i / COLUMNS, i % COLUMNS));
    int code = take(&s->buffers[TW_SAMPLE_B], tw_overlay_packed_bytes(&s->shape), err);
    const struct tw_overlay_matrix matrix = {b, COLUMNS, 1};
    if (code == TW_OK)
        tw_overlay_pack_b(&s->shape, &matrix, (uint16_t *)(void *)s->buffers[TW_SAMPLE_B].data);
    return code;
}

static int make_headers(struct tw_sample_product *s, struct tw_error *err)
{
    float bias[COLUMNS];
    for (uint32_t j = 0; j < COLUMNS; j++)
        bias[j] = (float)number_bias(j);
    int code = take(&s->buffers[TW_SAMPLE_HEADERS], tw_overlay_header_bytes(&s->shape), err);
    if (code == TW_OK)
        tw_overlay_write_headers(&s->shape, 0, bias, s->buffers[TW_SAMPLE_HEADERS].data);
    return code;
}

static int make_c(struct tw_sample_product *s, struct tw_error *err)
{
    const uint32_t width = tw_overlay_width(&s->shape), rows = tw_overlay_height(&s->shape);
    struct tw_sample_bytes *c = &s->buffers[TW_SAMPLE_C];
    int code = take(c, (uint64_t)sizeof(float) * rows * width, err);
    for (uint32_t i = 0; code == TW_OK && i < rows * width; i++) {
        const float x = number_c(i / width, i % width);
        memcpy(c->data + sizeof x * i, &x, sizeof x);
    }
    return code;
}

static int make_code(struct tw_sample_product *s, struct tw_error *err)
{
    const struct tw_overlay_product product = {.shape = s->shape,
                                               .a = {TW_SAMPLE_A, 0},
                                               .b = {TW_SAMPLE_B, 0},
                                               .c = {TW_SAMPLE_C, 0},
                                               .headers = {TW_SAMPLE_HEADERS, 0},
                                               .lda = tw_overlay_depth(&s->shape),
                                               .ldc = tw_overlay_width(&s->shape)};
    struct tw_overlay_launch *launch = NULL;
    int code = tw_overlay_launch_begin(&launch, err);
    if (code == TW_OK)
        code = tw_overlay_product(launch, &product, err);
    if (code == TW_OK)
        return tw_overlay_launch_end(launch, &s->code.data, &s->code.size, err);
    tw_overlay_launch_free(launch);
    return code;
}

int tw_sample_product_make(struct tw_sample_product *s, struct tw_error *err)
{
    const struct tw_overlay_size size = {.rows = ROWS, .depth = DEPTH, .columns = COLUMNS, .order = TW_OVERLAY_PACKED};
    *s = (struct tw_sample_product){0};
    int code = tw_overlay_choose(&size, &s->shape, err);
    if (code == TW_OK)
        code = tw_overlay_job_image(tw_overlay_xclbin, &s->xclbin.data, &s->xclbin.size, err);
    if (code == TW_OK)
        code = make_code(s, err);
    if (code == TW_OK)
        code = make_a(s, err);
    if (code == TW_OK)
        code = make_b(s, err);
    if (code == TW_OK)
        code = make_headers(s, err);
    return code == TW_OK ? make_c(s, err) : code;
}

void tw_sample_product_free(struct tw_sample_product *s)
{
    for (unsigned i = 0; i < TW_SAMPLE_BUFFERS; i++)
        free(s->buffers[i].data);
    free(s->xclbin.data);
    free(s->code.data);
    *s = (struct tw_sample_product){0};
}
