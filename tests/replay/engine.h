/* A model with all that transcribes recordings with it. */
#ifndef REPLAY_ENGINE_H
#define REPLAY_ENGINE_H

#include "whisper/transcribe.h"

struct tw_executor;

struct replay_engine {
    struct tw_whisper_model *model;
    struct tw_host *host;
    struct tw_whisper *session;
};

/* model: as for `tilewright transcribe -m`. array NULL: all on the CPU. Release in any case. */
int replay_engine_open(struct replay_engine *e, const char *model, unsigned threads, struct tw_executor *array,
                       struct tw_error *err);
void replay_engine_release(struct replay_engine *e);

int replay_engine_listen(struct replay_engine *e, const char *clip, struct tw_mel **mel, struct tw_error *err);

/* English, no fallback: what whisper.cpp is run with here. beam 1: greedy. */
struct tw_transcribe_options replay_options(int32_t beam);

/* The text tokens of all segments as one text, to be released with free; NULL when there is no memory. */
char *replay_transcript_text(const struct tw_transcript *t, const struct tw_vocab *vocab);

/* The name in "folder/name.wav", to be released with free; NULL when there is no memory. */
char *replay_clip_name(const char *clip);

#endif
