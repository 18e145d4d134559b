#include "whisper/transcribe.h"

#include "base/clock.h"
#include "base/memory.h"
#include "job/executor.h"
#include "whisper/encoder.h"
#include "whisper/search.h"
#include "whisper/text_context.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define FRAMES_PER_S 100
#define TEMPERATURE_STEP 0.2f
#define LOGPROB_LEAST (-1.0)
#define NO_SPEECH_MOST 0.6
#define BEST_OF 5
#define CONTEXT_TEMPERATURE 0.5f /* from here on the text before the window is not shown to the decoder */
#define SHORT_REST 500           /* frames: with so little left, context does more harm than good */

/* One transcription. */
struct run {
    struct tw_whisper *session;
    struct tw_transcribe_options options;
    struct tw_mel *mel;
    struct tw_transcript *transcript;
    struct tw_rules rules;
    struct tw_search *search;
    struct tw_text_context context;
    int no_timestamps;
    int32_t ctx;
    int64_t start, end;   /* frames of the input to do */
    int64_t encoded_seek; /* the window that the caches hold; -1: none */
    double done;          /* share of the frames behind us */
    int32_t language;     /* -1: to be detected */
    int32_t task[4];      /* the prompt's last tokens: start, language, task, no timestamps */
    int32_t n_task;
    int (*stop)(void *arg); /* asked while a window is encoded; may be NULL */
    void *stop_arg;
};

struct tw_whisper {
    const struct tw_whisper_model *model;
    struct tw_host *host;
    struct tw_executor *array; /* NULL: none */
    struct tw_runner *runner;  /* of the encoder */
    struct tw_decoder *decoder;
    struct tw_graph *encoder; /* for encoder_ctx positions; NULL-like when encoder_ctx is 0 */
    int32_t encoder_ctx;
    const float *encoder_cross;       /* the cache that the graph was built for */
    float *mel;                       /* 2*n_audio_ctx frames */
    float *encoded;                   /* n_audio_ctx x n_audio_state */
    struct run run;                   /* the transcription under way; its session is NULL when there is none */
    struct tw_executor_counts before; /* what the runner had done when it began */
};

struct tw_transcribe_options tw_transcribe_defaults(void)
{
    return (struct tw_transcribe_options){.beam = 5, .best_of = BEST_OF};
}

static int32_t samples(const struct tw_transcribe_options *o)
{
    return o->best_of > 0 ? o->best_of : BEST_OF;
}

int tw_whisper_create(const struct tw_whisper_model *model, struct tw_host *host, struct tw_executor *array,
                      struct tw_whisper **session, struct tw_error *err)
{
    const struct tw_whisper_sizes *s = &model->sizes;
    *session = NULL;
    struct tw_whisper *w = calloc(1, sizeof *w);
    if (w == NULL)
        return tw_fail(err, TW_E_MEMORY, "no memory for a transcription session");
    w->model = model;
    w->host = host;
    w->array = array;
    w->encoder = tw_graph_create();
    w->mel = tw_alloc(2 * (size_t)s->n_audio_ctx * (size_t)s->n_mels * sizeof *w->mel);
    w->encoded = tw_alloc((size_t)s->n_audio_ctx * (size_t)s->n_audio_state * sizeof *w->encoded);
    int code = tw_decoder_create(model, host, &w->decoder, err);
    if (code == TW_OK)
        code = tw_runner_create(array, host, &w->runner, err);
    if (code == TW_OK && (w->encoder == NULL || w->mel == NULL || w->encoded == NULL))
        code = tw_fail(err, TW_E_MEMORY, "no memory for the encoder's input and output");
    if (code != TW_OK) {
        tw_whisper_destroy(w);
        return code;
    }
    *session = w;
    return TW_OK;
}

/* Ends a transcription, if there is one. */
static void release_run(struct run *r)
{
    if (r->session == NULL)
        return;
    tw_text_context_release(&r->context);
    tw_search_destroy(r->search);
    tw_rules_release(&r->rules);
    r->session = NULL;
}

void tw_whisper_destroy(struct tw_whisper *w)
{
    if (w == NULL)
        return;
    release_run(&w->run);
    tw_runner_destroy(w->runner);
    tw_decoder_destroy(w->decoder);
    tw_graph_destroy(w->encoder);
    free(w->mel);
    free(w->encoded);
    free(w);
}

/* The window's frames. Where the caller wants no more of the input, silence follows, as after the input's own end. */
static int read_window(struct run *r, int64_t seek, struct tw_error *err)
{
    float *dst = r->session->mel;
    int64_t count = 2 * (int64_t)r->ctx, wanted = count;
    if (r->options.length > 0 && r->end - seek < count)
        wanted = r->end - seek;
    int code = tw_mel_read(r->mel, seek, wanted, dst, err);
    if (code != TW_OK || wanted == count)
        return code;
    int64_t past = tw_mel_frames(r->mel) + TW_MEL_FRAMES_30S + TW_MEL_WINDOW;
    return tw_mel_read(r->mel, past, count - wanted, dst + wanted * tw_mel_bands(r->mel), err);
}

/* Tells the caller how far the run is; nonzero: it wants to stop. */
static int report(void *arg)
{
    const struct run *r = arg;
    return r->options.progress != NULL && r->options.progress(r->options.arg, r->done) != 0;
}

/* Fills the cross-attention caches from the window at frame seek, unless they hold it. */
static int encode(struct run *r, int64_t seek, struct tw_error *err)
{
    struct tw_whisper *w = r->session;
    if (r->encoded_seek == seek)
        return TW_OK;
    double began = tw_seconds();
    float *cross = tw_decoder_cross(w->decoder);
    if (w->encoder_ctx != r->ctx || w->encoder_cross != cross) {
        struct tw_encoder_io io = {.mel = w->mel, .out = w->encoded, .cross = cross};
        w->encoder_ctx = 0;
        int built = tw_encoder_graph(w->encoder, w->model, r->ctx, &io, err);
        if (built != TW_OK)
            return built;
        w->encoder_ctx = r->ctx;
        w->encoder_cross = cross;
    }
    int code = read_window(r, seek, err);
    tw_runner_ask(w->runner, r->stop, r->stop_arg);
    if (code == TW_OK)
        code = tw_runner_run(w->runner, w->encoder, err);
    if (code != TW_OK)
        return code;
    r->encoded_seek = seek;
    r->transcript->windows++;
    r->transcript->timings_ms.encode += (tw_seconds() - began) * 1e3;
    return TW_OK;
}

static int detect_language(struct run *r, int32_t *language, struct tw_error *err)
{
    const struct tw_vocab *v = &r->session->model->vocab;
    int code = encode(r, r->start, err);
    if (code != TW_OK)
        return code;
    double began = tw_seconds();
    code = tw_decoder_run(r->session->decoder, 1, 1, &v->start, 0, err);
    if (code != TW_OK)
        return code;
    const float *logits = tw_decoder_logits(r->session->decoder) + v->language_first;
    size_t best = tw_argmax(logits, (size_t)v->languages);
    *language = (int32_t)best;
    r->transcript->language_probability =
        exp((double)logits[best] - (double)tw_log_sum_exp(logits, (size_t)v->languages));
    r->transcript->timings_ms.decode += (tw_seconds() - began) * 1e3;
    return TW_OK;
}

static void name_language(struct tw_transcript *t, int32_t language)
{
    const char *code = tw_language_code(language);
    size_t size = code == NULL ? 0 : strlen(code);
    if (size < sizeof t->language)
        memcpy(t->language, code == NULL ? "" : code, size + 1);
}

static int wants_detection(const struct run *r)
{
    const char *language = r->options.language;
    return language == NULL || language[0] == 0 || strcmp(language, "auto") == 0;
}

/* The number of the language asked for. */
static int given_language(const struct run *r, int32_t *language, struct tw_error *err)
{
    const struct tw_vocab *v = &r->session->model->vocab;
    if (!v->multilingual) {
        *language = tw_language_find("en");
        if (!wants_detection(r) && tw_language_find(r->options.language) != *language)
            return tw_fail(err, TW_E_ARGUMENT,
                           "this model knows English only; language '%s' needs a multilingual model",
                           r->options.language);
        if (r->options.translate)
            return tw_fail(err, TW_E_ARGUMENT, "this model knows English only; translation needs a multilingual model");
        return TW_OK;
    }
    if (wants_detection(r))
        return TW_OK;
    *language = tw_language_find(r->options.language);
    if (*language < 0 || *language >= v->languages)
        return tw_fail(err, TW_E_ARGUMENT,
                       "language '%s' is not one of this model's %d; give a code such as 'en' or 'auto'",
                       r->options.language, (int)v->languages);
    return TW_OK;
}

/* Finds out the language if need be, and makes the prompt of it and of the task. */
static int choose_task(struct run *r, struct tw_error *err)
{
    const struct tw_vocab *v = &r->session->model->vocab;
    r->transcript->language_probability = 1;
    int code = r->language < 0 ? detect_language(r, &r->language, err) : TW_OK;
    if (code != TW_OK)
        return code;
    name_language(r->transcript, r->language);

    r->task[r->n_task++] = v->start;
    if (v->multilingual) {
        r->task[r->n_task++] = v->language_first + r->language;
        r->task[r->n_task++] = r->options.translate ? v->translate : v->transcribe;
    }
    if (r->no_timestamps)
        r->task[r->n_task++] = v->no_timestamps;
    return TW_OK;
}

static int silent(const struct tw_sequence *q, double no_speech)
{
    return no_speech > NO_SPEECH_MOST && q->avg_logprob < LOGPROB_LEAST;
}

/* Seeds differ by place and temperature, so that a window's samples do not depend on what was done before. */
static uint64_t window_seed(const struct run *r, int64_t seek, int attempt)
{
    return r->options.seed * 0x100000001b3u + (uint64_t)seek * 64u + (uint64_t)attempt;
}

struct decoded {
    const struct tw_sequence *sequence;
    double no_speech;
    float temperature;
};

/* Decodes the window at ever higher temperatures until the text looks sound. */
static int decode(struct run *r, int64_t seek, struct decoded *d, struct tw_error *err)
{
    double began = tw_seconds();
    const struct tw_transcribe_options *o = &r->options;
    float last = o->no_fallback ? o->temperature : 1.0f + 1e-6f;
    int code = TW_OK;
    for (int attempt = 0;; attempt++) {
        float t = o->temperature + TEMPERATURE_STEP * (float)attempt;
        struct tw_window window = {
            .left = (int32_t)(r->end - seek),
            .temperature = t,
            .width = t > 0 ? samples(o) : o->beam,
            .seed = window_seed(r, seek, attempt),
            .stop = report,
            .stop_arg = r,
        };
        window.n_prompt =
            tw_text_context_prompt(&r->context, t < CONTEXT_TEMPERATURE, r->task, r->n_task, &window.prompt);
        if (o->search != NULL)
            code = o->search(o->arg, r->search, seek, &window, &d->sequence, &d->no_speech, err);
        else
            code = tw_search_run(r->search, &window, &d->sequence, &d->no_speech, err);
        if (code != TW_OK)
            return code;
        d->temperature = t;
        int doubtful =
            d->sequence->failed || (d->sequence->avg_logprob < LOGPROB_LEAST && d->no_speech < NO_SPEECH_MOST);
        if (!doubtful || t + TEMPERATURE_STEP > last)
            break;
    }
    r->transcript->timings_ms.decode += (tw_seconds() - began) * 1e3;
    return TW_OK;
}

static double mean_logprob(const struct tw_sequence *q)
{
    double sum = 0;
    for (int32_t i = 0; i < q->n; i++)
        sum += (double)q->logprobs[i];
    return q->n > 0 ? sum / q->n : 0;
}

/* Tokens first .. end-1 of a window as a segment between two times in frames; nothing when they hold no text. */
static int add_segment(struct run *r, const struct decoded *d, int32_t first, int32_t end, int64_t from, int64_t to,
                       struct tw_error *err)
{
    const struct tw_vocab *v = &r->session->model->vocab;
    const struct tw_sequence *q = d->sequence;
    size_t size = 0;
    for (int32_t i = first; i < end; i++)
        if (q->tokens[i] < v->end_of_text)
            size += v->text[q->tokens[i]].size;
    if (size == 0)
        return TW_OK;
    char *text = malloc(size);
    if (text == NULL)
        return tw_fail(err, TW_E_MEMORY, "no memory for a segment's text");
    size = 0;
    for (int32_t i = first; i < end; i++)
        if (q->tokens[i] < v->end_of_text) {
            memcpy(text + size, v->text[q->tokens[i]].bytes, v->text[q->tokens[i]].size);
            size += v->text[q->tokens[i]].size;
        }
    /* The model may put its timestamps past the end of the sound; nothing was said there. */
    from = from < r->end ? from : r->end;
    to = to < r->end ? to : r->end;
    int code = tw_transcript_add(r->transcript, (double)from / FRAMES_PER_S, (double)to / FRAMES_PER_S, text, size,
                                 q->tokens + first, (size_t)(end - first), err);
    free(text);
    if (code != TW_OK)
        return code;
    struct tw_segment *segment = &r->transcript->segments[r->transcript->n_segments - 1];
    segment->avg_logprob = mean_logprob(q);
    segment->no_speech_prob = d->no_speech;
    segment->temperature = (double)d->temperature;
    if (r->options.segment != NULL)
        r->options.segment(r->options.arg, segment);
    return TW_OK;
}

/* Cuts a window's tokens into segments at its timestamps. */
static int add_segments(struct run *r, const struct decoded *d, int64_t seek, struct tw_error *err)
{
    const struct tw_sequence *q = d->sequence;
    int32_t zero = r->session->model->vocab.timestamp_first;
    int64_t from = seek + 2 * (int64_t)q->first_step;
    int32_t first = 0;
    for (int32_t i = 0; i < q->n; i++) {
        if (q->tokens[i] <= zero)
            continue;
        int64_t to = seek + 2 * (int64_t)(q->tokens[i] - zero);
        int code = add_segment(r, d, first, i + 1, from, to, err);
        if (code != TW_OK)
            return code;
        from = to;
        /* The next segment's own start follows its predecessor's end. */
        while (i + 1 < q->n && q->tokens[i + 1] > zero)
            from = seek + 2 * (int64_t)(q->tokens[++i] - zero);
        first = i + 1;
    }
    return add_segment(r, d, first, q->n, from, seek + q->advance, err);
}

/* Frames from this window's start to the next one's. */
static int64_t next_window(const struct run *r, const struct tw_sequence *q, int64_t seek)
{
    int32_t zero = r->session->model->vocab.timestamp_first;
    int64_t left = r->end - seek;
    /* A single timestamp at the end closes speech after which there is none in this window. */
    if (q->n > 1 && q->tokens[q->n - 2] < zero && q->tokens[q->n - 1] > zero)
        return left < TW_WINDOW_FRAMES ? left : TW_WINDOW_FRAMES;
    return q->advance;
}

static int do_window(struct run *r, int64_t *seek, struct tw_error *err)
{
    struct decoded d = {0};
    int code = encode(r, *seek, err);
    if (code != TW_OK)
        return code;
    if (*seek > r->start && *seek + SHORT_REST >= r->end)
        tw_text_context_clear(&r->context);
    code = decode(r, *seek, &d, err);
    if (code != TW_OK)
        return code;
    int no_speech = silent(d.sequence, d.no_speech);
    tw_text_context_update(&r->context, d.sequence->tokens, no_speech ? 0 : d.sequence->kept,
                           d.temperature < CONTEXT_TEMPERATURE);
    if (r->options.no_context)
        tw_text_context_clear(&r->context);
    if (!no_speech)
        code = add_segments(r, &d, *seek, err);
    *seek += next_window(r, d.sequence, *seek);
    return code;
}

static int do_windows(struct run *r, struct tw_error *err)
{
    for (int64_t seek = r->start;;) {
        double done = (double)(seek - r->start) / (double)(r->end - r->start);
        r->done = done < 1 ? done : 1;
        if (report(r))
            return tw_fail(err, TW_E_CANCELLED, "transcription stopped");
        if (seek + TW_LEAST_FRAMES >= r->end)
            return TW_OK;
        int code = do_window(r, &seek, err);
        if (code != TW_OK)
            return code;
    }
}

static int check_options(const struct tw_whisper *w, const struct tw_mel *mel, const struct tw_transcribe_options *o,
                         struct tw_error *err)
{
    const struct tw_whisper_sizes *s = &w->model->sizes;
    if (tw_mel_bands(mel) != s->n_mels)
        return tw_fail(err, TW_E_ARGUMENT, "a spectrogram of %d bands for a model of %d", tw_mel_bands(mel),
                       (int)s->n_mels);
    if (o->audio_ctx < 0 || o->audio_ctx > s->n_audio_ctx)
        return tw_fail(err, TW_E_ARGUMENT, "audio context %d asked for; this model has 1 to %d", (int)o->audio_ctx,
                       (int)s->n_audio_ctx);
    if (o->beam < 1 || o->beam > TW_BEAM_MAX || o->best_of < 0 || o->best_of > TW_BEAM_MAX)
        return tw_fail(err, TW_E_ARGUMENT, "beam %d and best-of %d asked for; both can be 1 to %d", (int)o->beam,
                       (int)o->best_of, TW_BEAM_MAX);
    if (!(o->temperature >= 0 && o->temperature <= 1))
        return tw_fail(err, TW_E_ARGUMENT, "temperature %g asked for; it can be 0 to 1", (double)o->temperature);
    if (!(o->offset >= 0 && o->offset < 1e9) || !(o->length >= 0 && o->length < 1e9))
        return tw_fail(err, TW_E_ARGUMENT, "offset %g s and duration %g s asked for; both must be 0 or more", o->offset,
                       o->length);
    return TW_OK;
}

/* Which frames of the input are wanted. */
static void set_range(struct run *r)
{
    int64_t frames = tw_mel_frames(r->mel);
    r->start = (int64_t)(r->options.offset * FRAMES_PER_S);
    r->end = frames;
    if (r->options.length > 0) {
        int64_t end = r->start + (int64_t)(r->options.length * FRAMES_PER_S);
        r->end = end < frames ? end : frames;
    }
}

static int prepare(struct run *r, struct tw_error *err)
{
    const struct tw_whisper_model *model = r->session->model;
    const struct tw_transcribe_options *o = &r->options;
    int32_t width = o->beam;
    /* Sequences are sampled only above temperature 0, which is reached by asking for it or by falling back. */
    if ((o->temperature > 0 || !o->no_fallback) && samples(o) > width)
        width = samples(o);
    r->ctx = o->audio_ctx > 0 ? o->audio_ctx : model->sizes.n_audio_ctx;
    r->encoded_seek = -1;
    /* The first distilled models were trained without timestamps. */
    r->no_timestamps = o->no_timestamps || (model->sizes.n_text_layer == 2 && model->sizes.n_vocab != 51866 &&
                                            model->sizes.n_audio_layer > 2);
    int code = tw_decoder_reserve(r->session->decoder, width, r->ctx, err);
    if (code == TW_OK)
        code = tw_rules_create(&r->rules, &model->vocab, model->sizes.n_audio_ctx, r->no_timestamps,
                               o->suppress_non_speech, err);
    if (code == TW_OK)
        code =
            tw_search_create(r->session->decoder, &r->rules, r->session->host, &model->sizes, width, &r->search, err);
    if (code == TW_OK)
        code = tw_text_context_create(&r->context, &model->vocab, model->sizes.n_text_ctx, o->prompt, err);
    return code;
}

/* Too little sound to be worth a window. */
static int too_short(const struct run *r)
{
    return r->end < r->start + TW_LEAST_FRAMES;
}

int tw_transcribe_begin(struct tw_whisper *session, struct tw_mel *mel, const struct tw_transcribe_options *options,
                        struct tw_transcript *transcript, struct tw_error *err)
{
    struct run *r = &session->run;
    release_run(r);
    *r = (struct run){.options = *options, .mel = mel, .transcript = transcript, .language = -1};
    memset(transcript, 0, sizeof *transcript);
    transcript->encoder_device = transcript->decoder_device = "cpu";
    if (session->array != NULL)
        transcript->encoder_device = options->array != NULL ? options->array : "npu";
    transcript->duration = (double)tw_mel_samples(mel) / TW_SAMPLE_RATE;
    tw_runner_counts(session->runner, &session->before);
    int code = check_options(session, mel, options, err);
    if (code != TW_OK)
        return code;
    r->session = session;
    set_range(r);
    code = given_language(r, &r->language, err);
    if (code == TW_OK && !too_short(r))
        code = prepare(r, err);
    if (code != TW_OK)
        release_run(r);
    return code;
}

int tw_transcribe_ahead(struct tw_whisper *session, int (*stop)(void *arg), void *arg, struct tw_error *err)
{
    struct run *r = &session->run;
    if (r->session == NULL)
        return tw_fail(err, TW_E_STATE, "no transcription has begun");
    r->stop = stop;
    r->stop_arg = arg;
    int code = too_short(r) ? TW_OK : encode(r, r->start, err);
    if (code != TW_OK)
        release_run(r);
    return code;
}

/* What the runner has done since the transcription began. */
static void count(struct run *r)
{
    const struct tw_executor_counts *before = &r->session->before;
    struct tw_executor_counts now;
    tw_runner_counts(r->session->runner, &now);
    r->transcript->counts = (struct tw_encoder_counts){
        .launches = now.launches - before->launches,
        .products_on_array = now.products_on_array - before->products_on_array,
        .operations_on_host = now.operations_on_host - before->operations_on_host,
        .fallbacks = now.fallbacks - before->fallbacks,
        .mismatches = now.mismatches - before->mismatches,
        .cycles = now.cycles - before->cycles,
    };
    if (now.runs > before->runs && r->transcript->counts.products_on_array == 0)
        r->transcript->encoder_device = "cpu"; /* whatever was asked for */
}

int tw_transcribe_finish(struct tw_whisper *session, struct tw_error *err)
{
    struct run *r = &session->run;
    int code = TW_OK;
    if (r->session == NULL)
        return tw_fail(err, TW_E_STATE, "no transcription has begun");
    r->stop = report;
    r->stop_arg = r;
    if (too_short(r)) {
        name_language(r->transcript, r->language);
        r->transcript->language_probability = r->language < 0 ? 0 : 1;
    } else {
        code = choose_task(r, err);
        if (code == TW_OK)
            code = do_windows(r, err);
        count(r);
    }
    release_run(r);
    return code;
}

int tw_transcribe(struct tw_whisper *session, struct tw_mel *mel, const struct tw_transcribe_options *options,
                  struct tw_transcript *transcript, struct tw_error *err)
{
    int code = tw_transcribe_begin(session, mel, options, transcript, err);
    return code == TW_OK ? tw_transcribe_finish(session, err) : code;
}
