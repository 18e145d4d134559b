#include "corpus/pipeline.h"

#include "base/little_endian.h"
#include "base/random.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

void pipeline_open(struct pipeline *p, const char *stem, const struct size *size)
{
    char program[160];
    struct tw_random r = {6};
    p->size = size;
    p->pixels = (size_t)size->width * (size_t)size->height;
    snprintf(program, sizeof program, "%s.xclbin", stem);
    snprintf(p->sequence, sizeof p->sequence, "%s.seq", stem);
    CORPUS_OPEN(&p->c, program, NULL, 4 * p->pixels, 4 * p->pixels);
    uint8_t *in = p->c.arguments[0];
    for (size_t i = 0; i < 4 * p->pixels; i++)
        in[i] = (uint8_t)tw_random_u64(&r);
    p->in = in;
    p->out = p->c.arguments[1];
    corpus_open_control(&p->c, p->sequence, &p->control);
}

void pipeline_run(struct pipeline *p)
{
    corpus_run_control(&p->c, strrchr(p->sequence, '/') + 1, &p->control);
}

void pipeline_close(struct pipeline *p)
{
    tw_emu_control_close(&p->control);
    corpus_close(&p->c);
}

void pipeline_set(const struct pipeline *p, const uint32_t *values, size_t n)
{
    enum { FIRST_OPERATION = 17 * 4, OPERATION = 3 * 4, VALUE = 2 * 4, WRITE = 2 };
    for (size_t i = 0; i < n; i++) {
        unsigned char *write = corpus_words(&p->control) + FIRST_OPERATION + OPERATION * i;
        assert_int_equal(tw_load_u32(write) >> 24, WRITE);
        tw_store_u32(write + VALUE, values[i]);
    }
}

uint8_t hue_of(const uint8_t *pixel)
{
    int r = pixel[0], g = pixel[1], b = pixel[2];
    int most = r > g ? (r > b ? r : b) : (g > b ? g : b), least = r < g ? (r < b ? r : b) : (g < b ? g : b);
    if (most == least)
        return 0;
    int inverse = 85 * 512 / (most - least);
    if (most == g)
        return (uint8_t)((171 * 512 + (b - r) * inverse) >> 10);
    if (most == r)
        return (uint8_t)((512 + (g - b) * inverse) >> 10);
    return (uint8_t)((341 * 512 + (r - g) * inverse) >> 10);
}
