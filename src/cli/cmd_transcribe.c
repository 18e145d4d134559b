#include "cli/cli.h"

#include "base/clock.h"
#include "base/log.h"
#include "cli/interrupt.h"
#include "cli/outputs.h"
#include "cli/progress.h"
#include "cli/request.h"
#include "whisper/mel.h"
#include "whisper/model_store.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#ifndef PATH_MAX
#define PATH_MAX 4096
#endif

/* All that is made once and serves every input. */
struct job {
    const struct tw_request *request;
    struct tw_interrupt *interrupt;
    struct tw_host *host;
    struct tw_whisper_model *model;
    struct tw_whisper *session;
    char **stems;   /* of the outputs; NULL without a folder */
    double load_ms; /* what loading took; counted for the first input only, and 0 after it */
    struct tw_progress progress;
    int headings;    /* written to stdout so far */
    int stdout_lost; /* no more text can be delivered */
};

/* One input on its way. */
struct run {
    struct job *job;
    const char *input;
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

static int read_spectrogram(struct job *job, const char *input, struct tw_mel **mel, struct tw_error *err)
{
    const struct tw_whisper_model *model = job->model;
    struct tw_audio *audio;
    int code = tw_audio_open(input, &job->request->audio, &audio, err);
    if (code < 0)
        return code;
    code = tw_mel_create(audio, model->sizes.n_mels, model->mel_filters, tw_host_pool(job->host), mel, err);
    if (code == 0 && tw_audio_warning(audio)[0] != '\0')
        tw_note("%s", tw_audio_warning(audio)); /* --quiet or not: something is lost */
    tw_audio_close(audio);
    return code;
}

static int listen(struct run *run, struct tw_mel *mel, struct tw_transcript *t, struct tw_error *err)
{
    struct job *job = run->job;
    struct tw_transcribe_options options = job->request->engine;
    options.progress = on_progress;
    options.segment = on_segment;
    options.arg = run;
    tw_interrupt_polite_begin(job->interrupt);
    int code = tw_transcribe(job->session, mel, &options, t, err);
    tw_interrupt_polite_end(job->interrupt);
    tw_progress_clear(&job->progress);
    if (code == 0 && tw_interrupt_signal(job->interrupt) != 0)
        code = TW_E_CANCELLED; /* it came too late for the engine to see */
    return code;
}

/* From the input to a transcript with all its timings. */
static int transcribe(struct run *run, struct tw_transcript *t, struct tw_error *err)
{
    struct job *job = run->job;
    struct tw_mel *mel = NULL;
    double begin = tw_seconds();
    int code = read_spectrogram(job, run->input, &mel, err);
    if (code < 0)
        return code;
    double heard = tw_seconds();
    code = listen(run, mel, t, err);
    tw_mel_destroy(mel);
    t->timings_ms.load = job->load_ms;
    t->timings_ms.mel = (heard - begin) * 1000;
    t->timings_ms.total = job->load_ms + (tw_seconds() - begin) * 1000;
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
            code = tw_transcript_write(t, f, r->n_inputs > 1 ? run->input : NULL, stdout, err);
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

static void put_summary(const struct run *run, const struct tw_transcript *t)
{
    const struct job *job = run->job;
    const struct tw_timings *ms = &t->timings_ms;
    char factor[64] = "";
    if (t->duration > 0)
        snprintf(factor, sizeof factor, ", real-time factor %.3f", ms->total / 1000 / t->duration);
    tw_note("%s: %.1f s of sound in %.2f s%s (load %.2f, mel %.2f, encode %.2f, decode %.2f); model %s (%s), "
            "encoder on %s, decoder on %s, %u threads, %s kernels",
            run->name, t->duration, ms->total / 1000, factor, ms->load / 1000, ms->mel / 1000, ms->encode / 1000,
            ms->decode / 1000, job->request->model, job->model->type_name, t->encoder_device, t->decoder_device,
            tw_host_threads(job->host), tw_host_kernels(job->host));
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
static int do_input(struct job *job, size_t i)
{
    const char *input = job->request->inputs[i];
    struct run run = {.job = job, .input = input, .name = name_of(input)};
    struct tw_transcript t = {0};
    struct tw_error err = {0};
    int code = transcribe(&run, &t, &err);
    if (code == 0)
        code = write_transcript(&run, job->stems ? job->stems[i] : NULL, &t, &err);
    if (code == 0 && job->stdout_lost)
        code = TW_E_CANCELLED;
    if (code == 0 && !job->request->quiet)
        put_summary(&run, &t);
    if (code < 0 && code != TW_E_CANCELLED)
        put_failure(&run, &err);
    tw_transcript_release(&t);
    return code;
}

static int do_inputs(struct job *job)
{
    int exit_code = TW_EXIT_OK;
    for (size_t i = 0; i < job->request->n_inputs && !job->stdout_lost; i++) {
        int code = do_input(job, i);
        int signal_number = tw_interrupt_signal(job->interrupt);
        if (signal_number != 0) {
            tw_note("%s: stopped", name_of(job->request->inputs[i]));
            return TW_EXIT_SIGNAL + signal_number;
        }
        if (code < 0)
            exit_code = TW_EXIT_FAILED;
        if (code == TW_E_ARGUMENT) /* options that this model cannot serve will not fit the next input either */
            break;
    }
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
    char path[PATH_MAX];
    double begin = tw_seconds();
    struct tw_host_options host = {.threads = (unsigned)job->request->threads};
    int code = tw_model_resolve(job->request->model, path, sizeof path, err);
    if (code == 0)
        code = tw_model_open(path, &job->model, err);
    if (code == 0)
        code = tw_host_create(&host, &job->host, err);
    if (code == 0)
        code = tw_whisper_create(job->model, job->host, &job->session, err);
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
    tw_whisper_destroy(job->session);
    tw_host_destroy(job->host);
    tw_model_close(job->model);
    tw_interrupt_destroy(job->interrupt);
    tw_output_stems_free(job->stems, job->request->n_inputs);
}

static int check_device(const struct tw_request *r, struct tw_error *err)
{
    if (strcmp(r->device, "npu") == 0 || strcmp(r->device, "emu") == 0)
        return tw_fail(err, TW_E_UNSUPPORTED, "this version cannot use --device %s yet; use --device cpu", r->device);
    if (strcmp(r->device, "auto") == 0 && !r->quiet)
        tw_note("this version cannot use the NPU yet; the CPU does all the work");
    return 0;
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
    int code = check_device(&request, &err);
    if (code == 0)
        code = prepare(&job, &err);
    int exit_code = code == 0 ? do_inputs(&job) : TW_EXIT_FAILED;
    if (code < 0)
        tw_note("%s", err.text);
    release(&job);
    return exit_code;
}
