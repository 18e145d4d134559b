/*
 * Transcriptions with the encoder on the emulated array: two at once in one process, as in a service, and in parts, as
 * when the next input is encoded ahead. Each comes out as alone.
 */
#include "base/random.h"
#include "job/array_rig.h"
#include "whisper/synthetic.h"
#include "whisper/transcribe.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { SOUNDS = 2, SAMPLES = 8000 };

struct place {
    struct bytes file;
    struct tw_whisper_model *model;
    struct rig rig;
    float samples[SOUNDS][SAMPLES];
    struct tw_transcript alone[SOUNDS]; /* from the array, one after the other */
};

static void must(int code, const struct tw_error *err)
{
    if (code < 0)
        fail_msg("%s", err->text);
}

static struct tw_mel *listen(const struct place *p, int sound)
{
    struct tw_error err = {0};
    struct tw_audio *audio;
    struct tw_mel *mel;
    must(tw_audio_open_samples(p->samples[sound], SAMPLES, &audio, &err), &err);
    must(tw_mel_create(audio, p->model->sizes.n_mels, p->model->mel_filters, NULL, &mel, &err), &err);
    tw_audio_close(audio);
    return mel;
}

static struct tw_transcribe_options options(void)
{
    struct tw_transcribe_options o = tw_transcribe_defaults();
    o.beam = 1;
    o.no_fallback = 1;
    o.array = "emu";
    return o;
}

static void transcribe(const struct place *p, struct tw_whisper *session, int sound, struct tw_transcript *t)
{
    struct tw_error err = {0};
    struct tw_transcribe_options o = options();
    struct tw_mel *mel = listen(p, sound);
    must(tw_transcribe(session, mel, &o, t, &err), &err);
    tw_mel_destroy(mel);
}

static struct tw_whisper *new_session(const struct place *p, struct tw_host *host)
{
    struct tw_error err = {0};
    struct tw_whisper *session;
    must(tw_whisper_create(p->model, host, p->rig.array, &session, &err), &err);
    return session;
}

static void assert_same(const struct tw_transcript *a, const struct tw_transcript *b)
{
    assert_int_equal(a->n_segments, b->n_segments);
    for (size_t i = 0; i < a->n_segments; i++) {
        const struct tw_segment *x = &a->segments[i], *y = &b->segments[i];
        assert_string_equal(x->text, y->text);
        assert_int_equal(x->n_tokens, y->n_tokens);
        assert_memory_equal(x->tokens, y->tokens, x->n_tokens * sizeof *x->tokens);
        assert_true(x->avg_logprob == y->avg_logprob);
    }
    assert_string_equal(b->encoder_device, "emu");
    assert_string_equal(b->decoder_device, "cpu");
    assert_true(b->counts.launches == a->counts.launches && b->counts.cycles > 0);
    assert_true(b->counts.products_on_array == a->counts.products_on_array && b->counts.fallbacks == 0);
}

static int set_up(void **state)
{
    struct place *p = calloc(1, sizeof *p);
    struct synthetic_options o = synthetic_defaults();
    struct tw_random random = {5};
    assert_non_null(p);
    o.seed = 4; /* one that says little, and not the same of both sounds */
    o.sizes.n_audio_ctx = 32;
    p->model = synthetic_model(&o, &p->file);
    assert_non_null(p->model);
    for (int i = 0; i < SOUNDS; i++)
        for (int j = 0; j < SAMPLES; j++)
            p->samples[i][j] = i == 0 || j % 40 == 0 ? (float)(2 * tw_random_unit(&random) - 1) : p->samples[i][j - 1];
    assert_int_equal(rig_open(&p->rig, NULL, NULL, MACHINE_PLAIN), 0);
    struct tw_whisper *session = new_session(p, p->rig.host);
    for (int i = 0; i < SOUNDS; i++)
        transcribe(p, session, i, &p->alone[i]);
    tw_whisper_destroy(session);
    *state = p;
    return 0;
}

static int tear_down(void **state)
{
    struct place *p = *state;
    for (int i = 0; i < SOUNDS; i++)
        tw_transcript_release(&p->alone[i]);
    rig_close(&p->rig);
    tw_model_close(p->model);
    bytes_free(&p->file);
    free(p);
    return 0;
}

static void sounds_differ(void **state)
{
    const struct place *p = *state;
    assert_true(p->alone[0].n_segments > 0 && p->alone[1].n_segments > 0);
    assert_string_not_equal(p->alone[0].segments[0].text, p->alone[1].segments[0].text);
}

struct caller {
    const struct place *place;
    int sound;
    struct tw_transcript transcript;
};

static void *call(void *arg)
{
    struct caller *c = arg;
    struct tw_host *host;
    assert_int_equal(tw_host_create(&(struct tw_host_options){.threads = 1}, &host, NULL), 0);
    struct tw_whisper *session = new_session(c->place, host);
    transcribe(c->place, session, c->sound, &c->transcript);
    tw_whisper_destroy(session);
    tw_host_destroy(host);
    return NULL;
}

static void two_at_once(void **state)
{
    struct caller callers[SOUNDS] = {{.place = *state, .sound = 0}, {.place = *state, .sound = 1}};
    const struct place *p = *state;
    pthread_t threads[SOUNDS];
    for (int i = 0; i < SOUNDS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, call, &callers[i]), 0);
    for (int i = 0; i < SOUNDS; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < SOUNDS; i++) {
        assert_same(&p->alone[i], &callers[i].transcript);
        tw_transcript_release(&callers[i].transcript);
    }
}

static int stop_at(void *arg, double done)
{
    int *left = arg;
    (void)done;
    return (*left)-- <= 0;
}

static int stop_ahead(void *arg)
{
    int *left = arg;
    return (*left)-- <= 0;
}

static void *encode_ahead(void *arg)
{
    struct tw_error err = {0};
    must(tw_transcribe_ahead(arg, NULL, NULL, &err), &err);
    return NULL;
}

/* The first window is encoded by another thread; a transcription that is given up leaves nothing behind. */
static void in_parts(void **state)
{
    const struct place *p = *state;
    struct tw_error err = {0};
    struct tw_transcribe_options o = options();
    struct tw_transcript t;
    pthread_t thread;
    struct tw_whisper *session = new_session(p, p->rig.host);
    struct tw_mel *given_up = listen(p, 0), *mel = listen(p, 1);
    must(tw_transcribe_begin(session, given_up, &o, &t, &err), &err);
    must(tw_transcribe_ahead(session, NULL, NULL, &err), &err);
    tw_transcript_release(&t);
    int left = 2, progress = 0;
    o.progress = stop_at;
    o.arg = &progress; /* not asked ahead */
    must(tw_transcribe_begin(session, given_up, &o, &t, &err), &err);
    assert_int_equal(tw_transcribe_ahead(session, stop_ahead, &left, &err), TW_E_CANCELLED);
    assert_true(left < 0 && progress == 0);
    assert_int_equal(tw_transcribe_finish(session, &err), TW_E_STATE);
    o.progress = NULL;
    tw_transcript_release(&t);
    must(tw_transcribe_begin(session, mel, &o, &t, &err), &err);
    assert_int_equal(pthread_create(&thread, NULL, encode_ahead, session), 0);
    pthread_join(thread, NULL);
    must(tw_transcribe_finish(session, &err), &err);
    assert_int_equal(t.windows, 1);
    assert_same(&p->alone[1], &t);
    tw_transcript_release(&t);
    must(tw_transcribe_begin(session, mel, &o, &t, &err), &err);
    tw_whisper_destroy(session);
    tw_mel_destroy(mel);
    tw_mel_destroy(given_up);
}

/* Transcribes until it has been asked so often, which it must be; returns the launches. */
static uint64_t transcribe_for(struct tw_whisper *session, struct tw_mel *mel, int asked, int wanted,
                               const struct tw_transcript *same)
{
    struct tw_error err = {0};
    struct tw_transcribe_options o = options();
    struct tw_transcript t;
    int left = asked;
    o.progress = stop_at;
    o.arg = &left;
    assert_int_equal(tw_transcribe(session, mel, &o, &t, &err), wanted);
    if (wanted == TW_OK) {
        assert_same(same, &t);
        assert_true((uint64_t)(asked - left) > t.counts.launches);
    }
    const uint64_t launches = t.counts.launches;
    tw_transcript_release(&t);
    return launches;
}

/* Whenever it is asked to stop, it does so before the next launch; the session is as good as new then. */
static void stopped(void **state)
{
    enum { STOPS = 6, NEVER = 1000000 };
    const struct place *p = *state;
    struct tw_whisper *session = new_session(p, p->rig.host);
    struct tw_mel *mel = listen(p, 1);
    uint64_t before = 0;
    for (int asked = 0; asked < STOPS; asked++) {
        const uint64_t launches = transcribe_for(session, mel, asked, TW_E_CANCELLED, NULL);
        assert_true(launches == before || launches == before + 1);
        before = launches;
    }
    assert_true(before > 0);
    transcribe_for(session, mel, NEVER, TW_OK, &p->alone[1]);
    tw_whisper_destroy(session);
    tw_mel_destroy(mel);
}

/* An array that answers nothing: the transcript says who did the work. */
static void cpu_instead(void **state)
{
    struct place p = *(struct place *)*state;
    struct tw_transcript t;
    assert_int_equal(rig_open(&p.rig, "token:1.0", NULL, MACHINE_PLAIN), 0);
    struct tw_whisper *session = new_session(&p, p.rig.host);
    transcribe(&p, session, 1, &t);
    assert_string_equal(t.encoder_device, "cpu");
    assert_true(t.counts.fallbacks > 0 && t.counts.products_on_array == 0);
    assert_string_equal(t.segments[0].text, p.alone[1].segments[0].text);
    tw_transcript_release(&t);
    transcribe(&p, session, 1, &t); /* the array is left alone by now */
    assert_string_equal(t.encoder_device, "cpu");
    assert_int_equal(t.counts.fallbacks, 0);
    tw_transcript_release(&t);
    tw_whisper_destroy(session);
    rig_close(&p.rig);
}

static void wrong_order(void **state)
{
    const struct place *p = *state;
    struct tw_error err = {0};
    struct tw_transcribe_options o = options();
    struct tw_transcript t;
    struct tw_whisper *session = new_session(p, p->rig.host);
    struct tw_mel *mel = listen(p, 0);
    assert_int_equal(tw_transcribe_ahead(session, NULL, NULL, &err), TW_E_STATE);
    assert_int_equal(tw_transcribe_finish(session, &err), TW_E_STATE);
    o.audio_ctx = 33;
    assert_int_equal(tw_transcribe_begin(session, mel, &o, &t, &err), TW_E_ARGUMENT);
    assert_int_equal(tw_transcribe_finish(session, &err), TW_E_STATE);
    tw_whisper_destroy(session);
    tw_mel_destroy(mel);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sounds_differ), cmocka_unit_test(two_at_once), cmocka_unit_test(in_parts),
        cmocka_unit_test(stopped),       cmocka_unit_test(cpu_instead), cmocka_unit_test(wrong_order),
    };
    return cmocka_run_group_tests_name("transcriptions on the array", tests, set_up, tear_down);
}
