#include "cli/cli.h"

#include "base/clock.h"
#include "base/log.h"
#include "cli/hearing.h"
#include "cli/interrupt.h"
#include "cli/outputs.h"
#include "cli/progress.h"
#include "cli/request.h"

#include <stdio.h>
#include <string.h>

/* With an array one input is encoded there while the CPU decodes the one before it. */
enum { LISTENERS = 2 };

/* All that is made once and serves every input. */
struct job {
    const struct tw_request *request;
    struct tw_interrupt *interrupt;
    struct tw_speech speech;
    struct tw_listener listeners[LISTENERS];
    size_t n_listeners;
    char **stems;   /* of the outputs; NULL without a folder */
    double load_ms; /* what loading took; counted for the first input only, and 0 after it */
    struct tw_progress progress;
    int headings;    /* written to stdout so far */
    int stdout_lost; /* no more text can be delivered */
};

/* One input on its way. */
struct run {
    struct job *job;
    struct tw_hearing hearing;
    size_t number;    /* of the input */
    const char *name; /* of the input, for people */
    int headed;       /* its heading is on stdout */
};

static int goes_to_stdout(const struct tw_request *r, enum tw_output_format f)
{
    return r->folder == NULL && r->formats == 1u << f;
}

static void deliver_stdout(struct job *job)
{
    if (!job->stdout_lost && tw_flush_stdout() != 0)
        job->stdout_lost = 1;
}

/* As head and tail do: texts of several files are told apart, one alone is only text. */
static void put_heading(struct run *run)
{
    if (run->headed || run->job->request->n_inputs < 2)
        return;
    printf("%s==> %s <==\n", run->job->headings > 0 ? "\n" : "", run->name);
    run->job->headings++;
    run->headed = 1;
}

static void on_segment(void *arg, const struct tw_segment *segment)
{
    struct run *run = arg;
    tw_progress_clear(&run->job->progress);
    if (!goes_to_stdout(run->job->request, TW_FORMAT_TEXT) || run->job->stdout_lost)
        return;
    put_heading(run);
    (void)tw_segment_write_text(segment, stdout, NULL); /* a failure shows when it is flushed */
    deliver_stdout(run->job);
}

static int on_progress(void *arg, double done)
{
    struct run *run = arg;
    tw_progress_show(&run->job->progress, run->name, done);
    return run->job->stdout_lost || tw_interrupt_signal(run->job->interrupt) != 0;
}

static int listen(struct run *run)
{
    struct job *job = run->job;
    tw_interrupt_polite_begin(job->interrupt);
    int code = tw_hearing_finish(&run->hearing);
    tw_interrupt_polite_end(job->interrupt);
    tw_progress_clear(&job->progress);
    if (code == 0 && tw_interrupt_signal(job->interrupt) != 0)
        code = TW_E_CANCELLED; /* it came too late for the engine to see */
    return code;
}

/* What has begun becomes a transcript with all its timings. */
static int transcribe(struct run *run)
{
    struct job *job = run->job;
    struct tw_hearing *h = &run->hearing;
    if (h->warning[0] != '\0')
        tw_note("%s", h->warning); /* --quiet or not: something is lost */
    int code = listen(run);
    h->transcript.timings_ms.load = job->load_ms;
    h->transcript.timings_ms.total = job->load_ms + h->seconds * 1000;
    if (h->mel != NULL)
        job->load_ms = 0;
    return code;
}

static int write_files(const struct job *job, const char *stem, const struct tw_transcript *t, struct tw_error *err)
{
    for (int f = 0; f < TW_FORMAT_COUNT; f++) {
        int code = job->request->formats >> f & 1u ? tw_output_write(job->request->folder, stem, f, t, err) : 0;
        if (code < 0)
            return code;
    }
    return 0;
}

/* What has not been written segment by segment. */
static int write_stdout(struct run *run, const struct tw_transcript *t, struct tw_error *err)
{
    const struct tw_request *r = run->job->request;
    int code = 0;
    if (goes_to_stdout(r, TW_FORMAT_TEXT))
        put_heading(run);
    for (int f = 0; f < TW_FORMAT_COUNT; f++)
        if (f != TW_FORMAT_TEXT && goes_to_stdout(r, f))
            code = tw_transcript_write(t, f, r->n_inputs > 1 ? run->hearing.input : NULL, stdout, err);
    if (code == TW_E_MEMORY)
        return code;
    deliver_stdout(run->job);
    return 0;
}

static int write_transcript(struct run *run, const char *stem, const struct tw_transcript *t, struct tw_error *err)
{
    struct job *job = run->job;
    if (job->request->folder == NULL)
        return write_stdout(run, t, err);
    tw_interrupt_hold(job->interrupt);
    int code = write_files(job, stem, t, err);
    tw_interrupt_release(job->interrupt);
    return code;
}

/* " (5 launches, ...)", or nothing without an array. */
static void describe_array(const struct run *run, const struct tw_encoder_counts *c, char *text, size_t size)
{
    char modelled[64] = "";
    text[0] = '\0';
    if (run->job->speech.array == NULL)
        return;
    if (c->cycles > 0)
        snprintf(modelled, sizeof modelled, ", %.1f ms at 1.0 and %.1f ms at 1.6 GHz modelled", (double)c->cycles / 1e6,
                 (double)c->cycles / 1.6e6);
    snprintf(text, size, " (%llu launches, %llu products, %llu fallbacks%s)", (unsigned long long)c->launches,
             (unsigned long long)c->products_on_array, (unsigned long long)c->fallbacks, modelled);
}

static void put_summary(const struct run *run, const struct tw_transcript *t)
{
    const struct job *job = run->job;
    const struct tw_timings *ms = &t->timings_ms;
    char factor[64] = "", array[192];
    if (t->duration > 0)
        snprintf(factor, sizeof factor, ", real-time factor %.3f", ms->total / 1000 / t->duration);
    describe_array(run, &t->counts, array, sizeof array);
    tw_note("%s: %.1f s of sound in %.2f s%s (load %.2f, mel %.2f, encode %.2f, decode %.2f); model %s (%s), "
            "encoder on %s%s, decoder on %s, %u threads, %s kernels",
            run->name, t->duration, ms->total / 1000, factor, ms->load / 1000, ms->mel / 1000, ms->encode / 1000,
            ms->decode / 1000, job->request->model, job->speech.model->type_name, t->encoder_device, array,
            t->decoder_device, tw_host_threads(job->speech.host), tw_host_kernels(job->speech.host));
}

static const char *name_of(const char *input)
{
    return strcmp(input, "-") == 0 ? "standard input" : input;
}

/* Errors of reading name the input by themselves, those of the engine cannot. */
static void put_failure(const struct run *run, const struct tw_error *err)
{
    if (strstr(err->text, run->name) != NULL)
        tw_note("%s", err->text);
    else
        tw_note("%s: %s", run->name, err->text);
}

/* Returns 0, or a negative code after a sentence on stderr. */
static int finish_input(struct run *run)
{
    struct job *job = run->job;
    struct tw_hearing *h = &run->hearing;
    int code = transcribe(run);
    if (code == 0)
        code = write_transcript(run, job->stems ? job->stems[run->number] : NULL, &h->transcript, &h->err);
    if (code == 0 && job->stdout_lost)
        code = TW_E_CANCELLED;
    if (code == 0 && !job->request->quiet)
        put_summary(run, &h->transcript);
    if (code < 0 && code != TW_E_CANCELLED)
        put_failure(run, &h->err);
    return code;
}

/* Begins input `number`, if there is one; ahead: while the one before it is finished. */
static void begin_input(struct job *job, struct run *run, size_t number, int ahead)
{
    const struct tw_request *r = job->request;
    if (number >= r->n_inputs)
        return;
    *run = (struct run){.job = job, .number = number, .name = name_of(r->inputs[number])};
    struct tw_hearing *h = &run->hearing;
    h->speech = &job->speech;
    h->audio = &r->audio;
    h->engine = r->engine;
    h->engine.array = job->speech.device;
    h->engine.progress = on_progress;
    h->engine.segment = on_segment;
    h->engine.arg = run;
    h->listener = &job->listeners[number % job->n_listeners];
    h->input = r->inputs[number];
    tw_hearing_begin(h, ahead);
}

static int can_be_ahead(const struct job *job, size_t number)
{
    return job->n_listeners > 1 && number < job->request->n_inputs &&
           tw_hearing_can_be_ahead(job->request->inputs[number]);
}

/* Returns whether to go on with the next input, which may be on its way already. */
static int do_input(struct job *job, struct run *run, struct run *next, int *exit_code)
{
    int code = finish_input(run);
    int signal_number = tw_interrupt_signal(job->interrupt);
    if (signal_number != 0) {
        tw_note("%s: stopped", run->name);
        tw_hearing_leave(&next->hearing);
        tw_interrupt_obey(job->interrupt);
    }
    if (code < 0)
        *exit_code = TW_EXIT_FAILED;
    /* Options that this model cannot serve will not fit the next input either. */
    return code != TW_E_ARGUMENT && !job->stdout_lost;
}

static int do_inputs(struct job *job)
{
    int exit_code = TW_EXIT_OK, more = 1;
    struct run runs[LISTENERS] = {0};
    begin_input(job, &runs[0], 0, 0);
    for (size_t i = 0; i < job->request->n_inputs && more; i++) {
        struct run *run = &runs[i % LISTENERS], *next = &runs[(i + 1) % LISTENERS];
        int ahead = can_be_ahead(job, i + 1);
        tw_hearing_wait(&run->hearing);
        if (ahead)
            begin_input(job, next, i + 1, 1);
        more = do_input(job, run, next, &exit_code);
        tw_hearing_release(&run->hearing);
        if (!ahead && more)
            begin_input(job, next, i + 1, 0);
    }
    for (size_t i = 0; i < LISTENERS; i++)
        tw_hearing_release(&runs[i].hearing);
    return exit_code;
}

static int prepare_outputs(struct job *job, struct tw_error *err)
{
    const struct tw_request *r = job->request;
    if (r->folder == NULL)
        return 0;
    int code = tw_output_stems(r->inputs, r->n_inputs, &job->stems, err);
    if (code == 0)
        code = tw_output_spares_inputs(r->folder, job->stems, r->inputs, r->n_inputs, r->formats, err);
    if (code == 0)
        code = tw_output_folder(r->folder, err);
    return code;
}

static int load(struct job *job, struct tw_error *err)
{
    const struct tw_request *r = job->request;
    enum tw_verify verify = r->verify ? TW_VERIFY_ALL : TW_VERIFY_FIRST;
    double begin = tw_seconds();
    int code = tw_speech_load(&job->speech, r->model, (unsigned)r->threads, err);
    if (code == 0)
        code = tw_speech_open_array(&job->speech, r->device, verify, r->quiet, err);
    job->n_listeners = job->speech.array != NULL && r->n_inputs > 1 ? LISTENERS : 1;
    for (size_t i = 0; i < job->n_listeners && code == 0; i++)
        code = tw_listener_create(&job->listeners[i], &job->speech, i > 0, err);
    job->load_ms = (tw_seconds() - begin) * 1000;
    return code;
}

static int prepare(struct job *job, struct tw_error *err)
{
    int code = prepare_outputs(job, err);
    if (code == 0)
        code = tw_interrupt_create(&job->interrupt, err); /* before the executor starts its threads */
    if (code == 0)
        code = load(job, err);
    return code;
}

static void release(struct job *job)
{
    for (size_t i = 0; i < LISTENERS; i++)
        tw_listener_release(&job->listeners[i]);
    tw_speech_close(&job->speech);
    tw_interrupt_destroy(job->interrupt);
    tw_output_stems_free(job->stems, job->request->n_inputs);
}

int tw_cmd_transcribe(int argc, char **argv)
{
    struct tw_request request;
    struct tw_error err = {0};
    if (tw_request_read(argc, argv, &request, &err) < 0)
        return tw_usage_error("transcribe", err.text);
    if (request.help) {
        fputs(tw_request_help(), stdout);
        return TW_EXIT_OK;
    }
    struct job job = {.request = &request};
    tw_progress_begin(&job.progress, request.quiet);
    int code = prepare(&job, &err);
    int exit_code = code == 0 ? do_inputs(&job) : TW_EXIT_FAILED;
    if (code < 0)
        tw_note("%s", err.text);
    release(&job);
    return exit_code;
}
