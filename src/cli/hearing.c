#include "cli/hearing.h"

#include "base/clock.h"
#include "whisper/mel.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

int tw_listener_create(struct tw_listener *l, const struct tw_speech *speech, int with_host, struct tw_error *err)
{
    struct tw_host_options options = {.threads = tw_host_threads(speech->host)};
    int code = with_host ? tw_host_create(&options, &l->host, err) : TW_OK;
    l->owns_host = with_host && code == TW_OK;
    if (!with_host)
        l->host = speech->host;
    return code == TW_OK ? tw_whisper_create(speech->model, l->host, speech->array, &l->session, err) : code;
}

void tw_listener_release(struct tw_listener *l)
{
    tw_whisper_destroy(l->session);
    if (l->owns_host)
        tw_host_destroy(l->host);
    memset(l, 0, sizeof *l);
}

int tw_hearing_can_be_ahead(const char *input)
{
    struct stat st;
    return strcmp(input, "-") != 0 && (stat(input, &st) != 0 || S_ISREG(st.st_mode));
}

static int read_spectrogram(struct tw_hearing *h)
{
    const struct tw_whisper_model *model = h->speech->model;
    struct tw_audio *audio;
    int code = tw_audio_open(h->input, h->audio, &audio, &h->err);
    if (code < 0)
        return code;
    struct tw_pool *pool = tw_host_pool(h->listener->host);
    code = tw_mel_create(audio, model->sizes.n_mels, model->mel_filters, pool, &h->mel, &h->err);
    if (code == TW_OK)
        snprintf(h->warning, sizeof h->warning, "%s", tw_audio_warning(audio));
    tw_audio_close(audio);
    return code;
}

static void begin(struct tw_hearing *h)
{
    double began = tw_seconds();
    h->code = read_spectrogram(h);
    double heard = tw_seconds();
    if (h->code == TW_OK)
        h->code = tw_transcribe_begin(h->listener->session, h->mel, &h->engine, &h->transcript, &h->err);
    h->transcript.timings_ms.mel = (heard - began) * 1000;
    h->seconds = tw_seconds() - began;
}

static int is_not_wanted(void *arg)
{
    struct tw_hearing *h = arg;
    return atomic_load(&h->is_not_wanted);
}

static void *begin_ahead(void *arg)
{
    struct tw_hearing *h = arg;
    begin(h);
    double read = tw_seconds();
    if (h->code == TW_OK)
        h->code = tw_transcribe_ahead(h->listener->session, is_not_wanted, h, &h->err);
    h->seconds += tw_seconds() - read;
    return NULL;
}

void tw_hearing_begin(struct tw_hearing *h, int ahead)
{
    h->ahead = ahead && pthread_create(&h->thread, NULL, begin_ahead, h) == 0;
    if (!h->ahead)
        begin(h);
}

void tw_hearing_wait(struct tw_hearing *h)
{
    if (h->ahead)
        pthread_join(h->thread, NULL);
    h->ahead = 0;
}

void tw_hearing_leave(struct tw_hearing *h)
{
    if (h->ahead)
        pthread_detach(h->thread);
    h->ahead = 0;
}

int tw_hearing_finish(struct tw_hearing *h)
{
    double began = tw_seconds();
    if (h->code == TW_OK)
        h->code = tw_transcribe_finish(h->listener->session, &h->err);
    h->seconds += tw_seconds() - began;
    return h->code;
}

void tw_hearing_release(struct tw_hearing *h)
{
    atomic_store(&h->is_not_wanted, 1);
    tw_hearing_wait(h);
    tw_transcript_release(&h->transcript);
    tw_mel_destroy(h->mel);
    memset(h, 0, sizeof *h);
}
