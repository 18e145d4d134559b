/*
 * The Whisper engine: from a spectrogram to a transcript. Windows of 30 s, language detection, greedy or beam decoding
 * with timestamp rules, temperature fallback and carried context, as OpenAI describes and whisper.cpp does it (what
 * decides the text is listed in docs/whisper.md).
 */
#ifndef TW_WHISPER_TRANSCRIBE_H
#define TW_WHISPER_TRANSCRIBE_H

#include "host/host.h"
#include "whisper/mel.h"
#include "whisper/model.h"
#include "whisper/transcript.h"

struct tw_executor;
struct tw_search;
struct tw_sequence;
struct tw_window;

struct tw_transcribe_options {
    const char *language; /* code or name; NULL or "auto": detect in the first window */
    int translate;        /* to English */
    int32_t audio_ctx;    /* encoder positions, 1 .. n_audio_ctx; 0: all */
    int32_t beam;         /* 1: greedy; at most TW_BEAM_MAX */
    int32_t best_of;      /* samples drawn at temperatures above 0; 0: 5 */
    float temperature;    /* the first temperature tried, 0 .. 1 */
    int no_fallback;      /* do not raise the temperature when a decode fails */
    int no_context;       /* do not carry text from window to window */
    int no_timestamps;
    int suppress_non_speech;
    double offset, length; /* seconds of the input to skip, and to take after that (0: all) */
    const char *prompt;    /* initial text context; may be NULL */
    uint64_t seed;         /* of sampling at temperatures above 0 */
    const char *array;     /* what transcripts call the session's array: "npu", "emu"; NULL: "npu" */
    /* Called at each window, each step of its encoding on the array, and each token, with the share done in [0, 1];
     * nonzero stops with TW_E_CANCELLED. May be NULL. */
    int (*progress)(void *arg, double done);
    /* Called for each finished segment, in order. May be NULL. */
    void (*segment)(void *arg, const struct tw_segment *segment);
    /*
     * Decodes the window that starts at frame seek, in place of tw_search_run and with its duties. For replays, which
     * force tokens, and for measurements, which look at the sequences that the search finds. May be NULL.
     */
    int (*search)(void *arg, struct tw_search *search, int64_t seek, const struct tw_window *window,
                  const struct tw_sequence **best, double *no_speech, struct tw_error *err);
    void *arg;
};
#define TW_BEAM_MAX 16

/* The defaults of the command line: auto language, beam 5, fallback and context on, timestamps on. */
struct tw_transcribe_options tw_transcribe_defaults(void);

struct tw_whisper;

/*
 * A session: caches and work memory for one transcription at a time. model, host and array must outlive it; a host
 * belongs to one session at a time, a model and an array may serve many at once. The array does the encoder's products;
 * NULL: the CPU does all. It knows the model's weights by their addresses: see tw_encoder_forget.
 */
int tw_whisper_create(const struct tw_whisper_model *model, struct tw_host *host, struct tw_executor *array,
                      struct tw_whisper **session, struct tw_error *err);
void tw_whisper_destroy(struct tw_whisper *session);

/*
 * Transcribes mel (n_mels must be the model's). Nothing is carried from call to call. *transcript is zeroed first and
 * holds what was done so far also on failure; release it in any case. Fills everything but timings load, mel and total.
 */
int tw_transcribe(struct tw_whisper *session, struct tw_mel *mel, const struct tw_transcribe_options *options,
                  struct tw_transcript *transcript, struct tw_error *err);

/*
 * The same in parts, which different threads may do one after another, so that one input is encoded while another
 * session decodes the one before it: begin checks the options; ahead, which may be left out, encodes the first window;
 * neither calls the callbacks, but ahead asks `stop`, if it is not NULL, between launches, and ends with
 * TW_E_CANCELLED when that is nonzero. finish does all the rest. mel, transcript and what the options point to must
 * live until then. A failure of any part ends the transcription; so does destroying the session.
 */
int tw_transcribe_begin(struct tw_whisper *session, struct tw_mel *mel, const struct tw_transcribe_options *options,
                        struct tw_transcript *transcript, struct tw_error *err);
int tw_transcribe_ahead(struct tw_whisper *session, int (*stop)(void *arg), void *arg, struct tw_error *err);
int tw_transcribe_finish(struct tw_whisper *session, struct tw_error *err);

#endif
