/* What a transcription gives: segments with times, tokens and confidences, and what it cost. */
#ifndef TW_WHISPER_TRANSCRIPT_H
#define TW_WHISPER_TRANSCRIPT_H

#include "base/error.h"

#include <stddef.h>
#include <stdint.h>

struct tw_segment {
    double start, end; /* seconds from the start of the input */
    char *text;        /* UTF-8 (bytes that are not, become U+FFFD), as the model wrote it: usually a leading space */
    int32_t *tokens;   /* text and timestamp tokens, in order */
    size_t n_tokens;
    double avg_logprob;    /* mean log-probability of the tokens of the window that the segment comes from */
    double no_speech_prob; /* of that window */
    double temperature;    /* at which that window was decoded */
};

struct tw_timings {
    double load, mel, encode, decode, total; /* milliseconds */
};

/* Who did what in the encoder. Without an array all but operations_on_host are 0. */
struct tw_encoder_counts {
    uint64_t launches;          /* on the array */
    uint64_t products_on_array; /* matrices */
    uint64_t operations_on_host;
    uint64_t fallbacks;  /* launches that failed and were computed by the CPU */
    uint64_t mismatches; /* of these, launches with a result that a checksum found wrong */
    uint64_t cycles;     /* of the array, modelled; 0 on silicon */
};

struct tw_transcript {
    char language[8];            /* code: "en" */
    double language_probability; /* 1 when the language was given */
    double duration;             /* seconds of the input */
    struct tw_segment *segments;
    size_t n_segments, segment_room;
    int32_t windows;                             /* encoder passes */
    const char *encoder_device, *decoder_device; /* "cpu", "npu" or "emu"; not owned */
    struct tw_encoder_counts counts;
    struct tw_timings timings_ms;
};

/* Frees what a transcript holds and zeroes it; safe on a zeroed one. */
void tw_transcript_release(struct tw_transcript *t);

/*
 * Appends a segment; text (size bytes) and tokens are copied, and text is made valid UTF-8. Returns 0 or TW_E_MEMORY.
 */
int tw_transcript_add(struct tw_transcript *t, double start, double end, const char *text, size_t size,
                      const int32_t *tokens, size_t n_tokens, struct tw_error *err);

#endif
