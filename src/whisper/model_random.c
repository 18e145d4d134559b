#include "whisper/model_random.h"

#include "base/half.h"
#include "base/random.h"
#include "whisper/model_parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NAME "random weights" /* in messages */

/* The encoder's parts, and those of the decoder that it fills the caches with. */
static int is_needed(const struct tw_model_part *part)
{
    return strncmp(part->name, "encoder.", 8) == 0 || strstr(part->name, ".cross_attn.key.") != NULL ||
           strstr(part->name, ".cross_attn.value.") != NULL;
}

/* Uniform in [middle - spread, middle + spread). */
static float draw(struct tw_random *random, double middle, double spread)
{
    return (float)(middle + spread * (2 * tw_random_unit(random) - 1));
}

static int fill_matrix(struct tw_whisper_model *m, const struct tw_model_part *part, struct tw_random *random,
                       struct tw_error *err)
{
    int64_t rows = part->kind == TW_PART_CONV ? part->dims[2] : part->dims[1];
    int64_t count = tw_model_part_numbers(part), cols = count / rows;
    float *memory;
    int code = tw_model_floats(m, (size_t)(count + 1) / 2, &memory, err);
    if (code < 0)
        return code;
    uint16_t *numbers = (uint16_t *)(void *)memory;
    const double spread = sqrt(3 / (double)cols); /* a product then has its input's size */
    for (int64_t i = 0; i < count; i++)
        numbers[i] = tw_f32_to_f16(draw(random, 0, spread));
    *part->matrix = (struct tw_matrix){.type = TW_F16, .rows = rows, .cols = cols, .data = numbers};
    return TW_OK;
}

static int fill_vector(struct tw_whisper_model *m, const struct tw_model_part *part, struct tw_random *random,
                       struct tw_error *err)
{
    int64_t count = tw_model_part_numbers(part);
    int is_gain = strstr(part->name, "ln") != NULL && strstr(part->name, ".weight") != NULL;
    float *numbers;
    int code = tw_model_floats(m, (size_t)count, &numbers, err);
    for (int64_t i = 0; i < count && code == TW_OK; i++)
        numbers[i] = draw(random, is_gain, 0.1);
    if (code == TW_OK)
        *part->vector = numbers;
    return code;
}

int tw_model_random(const struct tw_whisper_sizes *sizes, uint64_t seed, struct tw_whisper_model **model,
                    struct tw_error *err)
{
    struct tw_random random = {seed};
    struct tw_model_part *parts = NULL;
    size_t count = 0;
    int code = tw_model_new(sizes, NAME, model, err);
    if (code == TW_OK)
        code = tw_model_parts(*model, &parts, &count, err);
    for (size_t i = 0; i < count && code == TW_OK; i++)
        if (is_needed(&parts[i]))
            code = parts[i].kind == TW_PART_VECTOR ? fill_vector(*model, &parts[i], &random, err)
                                                   : fill_matrix(*model, &parts[i], &random, err);
    free(parts);
    if (code == TW_OK) {
        (*model)->token_embedding.type = TW_F16;
        code = tw_model_complete(*model, err);
    }
    if (code < 0) {
        tw_model_close(*model);
        *model = NULL;
    }
    return code;
}
