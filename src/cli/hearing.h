/*
 * One input on its way from a file to a transcript. The first part, reading it and encoding its first window, can be
 * done by a thread while the input before it is decoded; what comes out is the same.
 */
#ifndef TW_CLI_HEARING_H
#define TW_CLI_HEARING_H

#include "cli/speech.h"
#include "whisper/transcribe.h"

#include <pthread.h>
#include <stdatomic.h>

/* What listens: an executor and work memory for one input at a time. */
struct tw_listener {
    struct tw_host *host;
    int owns_host; /* it is not the speech's */
    struct tw_whisper *session;
};

/* with_host: with an executor of its own, as all need but one that are at work at the same time. */
int tw_listener_create(struct tw_listener *listener, const struct tw_speech *speech, int with_host,
                       struct tw_error *err);
/* Of a zeroed one too. */
void tw_listener_release(struct tw_listener *listener);

struct tw_hearing {
    const struct tw_speech *speech;
    const struct tw_audio_options *audio;
    struct tw_transcribe_options engine; /* its callbacks are called by tw_hearing_finish only */
    struct tw_listener *listener;
    const char *input;

    struct tw_mel *mel;
    struct tw_transcript transcript;
    char warning[512]; /* of a damaged input; else "" */
    int code;          /* of what was done so far */
    struct tw_error err;
    double seconds;           /* spent on it */
    int ahead;                /* on a thread, */
    atomic_int is_not_wanted; /* which can stop */
    pthread_t thread;
};

/* Whether an input can be read ahead without an end to wait for: a pipe or a terminal cannot. */
int tw_hearing_can_be_ahead(const char *input);

/*
 * Reads the input (speech, audio, engine, listener and input are set, the rest is zero), now or on a thread; what comes
 * of it is in the hearing after tw_hearing_wait. Where no thread can be had, it is done now.
 */
void tw_hearing_begin(struct tw_hearing *h, int ahead);
void tw_hearing_wait(struct tw_hearing *h);

/* Instead of waiting, when the process is about to end: a window that is being encoded may take long. */
void tw_hearing_leave(struct tw_hearing *h);

/* The rest. Returns h->code; its sentence is in h->err. */
int tw_hearing_finish(struct tw_hearing *h);

/* Stops what is done ahead, waits for that, and frees all; of a zeroed one too. */
void tw_hearing_release(struct tw_hearing *h);

#endif
