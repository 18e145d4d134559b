/* Picture pipelines of Riallto: programs that make one picture, of four bytes a pixel, out of another. */
#ifndef TESTS_CORPUS_PIPELINE_H
#define TESTS_CORPUS_PIPELINE_H

#include "corpus/corpus.h"

struct size {
    const char *name;
    int width, height;
};

/* A pipeline with its control code, a random picture of four bytes a pixel, and room for one like it. */
struct pipeline {
    const struct size *size;
    size_t pixels;
    char sequence[160];
    struct corpus c;
    struct tw_emu_control control;
    const uint8_t *in, *out;
};

/* The program STEM.xclbin with STEM.seq, a path inside the corpus folder. */
void pipeline_open(struct pipeline *p, const char *stem, const struct size *size);
void pipeline_run(struct pipeline *p);
void pipeline_close(struct pipeline *p);

/* Sets the words that the control code writes first, to rising or any other addresses: n of them, in its order. */
void pipeline_set(const struct pipeline *p, const uint32_t *values, size_t n);

/* In 256ths of a circle: red 0, green 85, blue 170; 85 * 512 over the range of the three comes from a table. */
uint8_t hue_of(const uint8_t *pixel);

#endif
