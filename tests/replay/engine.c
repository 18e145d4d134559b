#include "engine.h"

#include "text.h"
#include "whisper/model_store.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PATH_ROOM 4096

int replay_engine_open(struct replay_engine *e, const char *model, unsigned threads, struct tw_executor *array,
                       struct tw_error *err)
{
    char path[PATH_ROOM];
    struct tw_host_options options = {.threads = threads};
    memset(e, 0, sizeof *e);
    int code = tw_model_resolve(model, path, sizeof path, err);
    if (code == TW_OK)
        code = tw_model_open(path, &e->model, err);
    if (code == TW_OK)
        code = tw_host_create(&options, &e->host, err);
    if (code == TW_OK)
        code = tw_whisper_create(e->model, e->host, array, &e->session, err);
    return code;
}

void replay_engine_release(struct replay_engine *e)
{
    tw_whisper_destroy(e->session);
    tw_host_destroy(e->host);
    tw_model_close(e->model);
    memset(e, 0, sizeof *e);
}

int replay_engine_listen(struct replay_engine *e, const char *clip, struct tw_mel **mel, struct tw_error *err)
{
    struct tw_audio *audio;
    *mel = NULL;
    int code = tw_audio_open(clip, NULL, &audio, err);
    if (code != TW_OK)
        return code;
    code = tw_mel_create(audio, e->model->sizes.n_mels, e->model->mel_filters, tw_host_pool(e->host), mel, err);
    tw_audio_close(audio);
    return code;
}

struct tw_transcribe_options replay_options(int32_t beam)
{
    struct tw_transcribe_options options = tw_transcribe_defaults();
    options.language = "en";
    options.beam = beam;
    options.no_fallback = 1;
    return options;
}

char *replay_transcript_text(const struct tw_transcript *t, const struct tw_vocab *vocab)
{
    char *text = NULL;
    size_t size = 0;
    FILE *to = open_memstream(&text, &size);
    if (to == NULL)
        return NULL;
    for (size_t i = 0; i < t->n_segments; i++)
        for (size_t j = 0; j < t->segments[i].n_tokens; j++)
            replay_put_token(to, vocab, t->segments[i].tokens[j]);
    return replay_end_text(to, &text);
}

char *replay_clip_name(const char *clip)
{
    const char *slash = strrchr(clip, '/');
    const char *name = slash == NULL ? clip : slash + 1;
    const char *dot = strrchr(name, '.');
    size_t n = dot == NULL ? strlen(name) : (size_t)(dot - name);
    char *copy = malloc(n + 1);
    if (copy == NULL)
        return NULL;
    memcpy(copy, name, n);
    copy[n] = 0;
    return copy;
}
