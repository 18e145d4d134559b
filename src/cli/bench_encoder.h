/*
 * What Whisper's encoder costs, operation by operation: products on the array, whose cycles are modelled (on silicon
 * their time is measured instead), and operations of the CPU, whose time is measured.
 */
#ifndef TW_CLI_BENCH_ENCODER_H
#define TW_CLI_BENCH_ENCODER_H

#include "cli/speech.h"

/*
 * Parts of the encoder. The first layer differs from the others, which come again and again, in what it keeps of its
 * scores; CROSS comes once for each layer of the decoder.
 */
enum tw_bench_part { TW_BENCH_START, TW_BENCH_FIRST, TW_BENCH_LAYER, TW_BENCH_END, TW_BENCH_CROSS, TW_BENCH_PARTS };

/* All operations of one name in one layer. */
struct tw_bench_line {
    enum tw_bench_part part;
    int32_t layer; /* of the encoder; 0 in the other parts */
    char name[64];
    int32_t count; /* operations; several heads are one */
    int on_array;
    double macs;                     /* of products */
    int64_t rows, depth, columns, n; /* of the last product: n matrices */
    uint64_t cycles;                 /* modelled, without starting launches */
    const char *bound;               /* what took most of them */
    double seconds;                  /* measured: on the CPU the median of TW_BENCH_ROUNDS, on silicon of one run */
    double best;                     /* on the CPU: of these rounds, for machines that are busy */
};

/* The launches that a part is made of when products share them, as they do outside of this measurement. */
struct tw_bench_launches {
    uint64_t launches, cycles;
    double seconds;
};

struct tw_bench {
    int32_t ctx;    /* positions of the window */
    int32_t layers; /* of the encoder that were run */
    int32_t crosses;
    struct tw_bench_line *lines;
    size_t n_lines, room;
    struct tw_bench_launches parts[TW_BENCH_PARTS];
};

enum { TW_BENCH_ROUNDS = 5 };

/*
 * Runs the first `layers` of the model's encoder, with the caches of the first `crosses` layers of the decoder, on a
 * whole window of noise. Without an array the CPU does all. Release it in any case. Fails with TW_E_DEVICE when a
 * launch failed, or as the runs do.
 */
int tw_bench_encoder(struct tw_bench *bench, const struct tw_speech *speech, int32_t layers, int32_t crosses,
                     struct tw_error *err);
void tw_bench_release(struct tw_bench *bench);

#endif
