/* tilewright demo: one clip transcribed with the encoder on the NPU, and again on the CPU; do both say the same? */
#include "cli/cli.h"

#include "base/log.h"
#include "cli/hearing.h"
#include "cli/options.h"
#include "whisper/format.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char help_text[] = "Usage: tilewright demo -m MODEL [OPTION]... FILE\n"
                                "Transcribes a sound file twice, with the encoder on the NPU (on the emulated one\n"
                                "where there is no other) and on the CPU, and compares the texts.\n\n"
                                "  -m MODEL      a name (see tilewright model list), a file or a folder\n"
                                "  --threads N   processors to use (default 0: all)\n\n"
                                "Exits with 1 if the texts differ.\n\n"
                                "Example: tilewright demo -m base tests/data/jfk.wav\n";

enum { THREADS_MAX = 256 };

struct request {
    const char *model, *input;
    int32_t threads;
    int help;
};

/* One of the two transcriptions. */
struct side {
    struct tw_speech speech; /* model and executor are shared */
    struct tw_listener listener;
    struct tw_hearing hearing;
    char *text;
};

static int read_request(int argc, char **argv, struct request *r, struct tw_error *err)
{
    const struct tw_option options[] = {
        {"model", 'm', TW_OPTION_TEXT, {.text = &r->model}, 0, 0},
        {"threads", 0, TW_OPTION_COUNT, {.count = &r->threads}, 0, THREADS_MAX},
        {"help", 'h', TW_OPTION_FLAG, {.flag = &r->help}, 0, 0},
    };
    int operands = tw_options_read(options, sizeof options / sizeof options[0], argc, argv, err);
    if (operands < 0 || r->help)
        return operands;
    if (r->model == NULL)
        return tw_fail(err, TW_E_ARGUMENT, "there is no model; name one, for example -m base");
    if (operands != 1)
        return tw_fail(err, TW_E_ARGUMENT, "one sound file is to be named");
    r->input = argv[1];
    return TW_OK;
}

/* Silicon, or the emulated NPU with the reason why. */
static int open_array(struct tw_speech *s, struct tw_error *err)
{
    if (tw_speech_open_array(s, "npu", TW_VERIFY_FIRST, 0, err) == TW_OK)
        return TW_OK;
    tw_note("%s", err->text);
    return tw_speech_open_array(s, "emu", TW_VERIFY_FIRST, 0, err);
}

static int write_text(struct side *side, struct tw_error *err)
{
    size_t size;
    FILE *to = open_memstream(&side->text, &size);
    int code = to == NULL ? TW_E_MEMORY : tw_transcript_write(&side->hearing.transcript, TW_FORMAT_TEXT, NULL, to, err);
    if (to == NULL || fclose(to) != 0)
        return tw_fail(err, TW_E_MEMORY, "no memory for a text");
    return code;
}

static int listen(struct side *side, const char *input, struct tw_error *err)
{
    struct tw_hearing *h = &side->hearing;
    int code = tw_listener_create(&side->listener, &side->speech, 0, err);
    if (code < 0)
        return code;
    *h = (struct tw_hearing){
        .speech = &side->speech, .engine = tw_transcribe_defaults(), .listener = &side->listener, .input = input};
    h->engine.array = side->speech.device;
    tw_hearing_begin(h, 0);
    code = tw_hearing_finish(h);
    if (code < 0) {
        *err = h->err;
        return code;
    }
    printf("%s: ", h->transcript.encoder_device);
    code = write_text(side, err);
    if (code == TW_OK)
        fputs(side->text[0] != '\0' ? side->text : "\n", stdout);
    fflush(stdout);
    return code;
}

static void release(struct side *side)
{
    tw_hearing_release(&side->hearing);
    tw_listener_release(&side->listener);
    free(side->text);
}

/* Says how long two texts agree. */
static int compare(const struct side *array, const struct side *cpu)
{
    size_t same = 0;
    while (array->text[same] != '\0' && array->text[same] == cpu->text[same])
        same++;
    if (array->text[same] == cpu->text[same]) {
        puts("MATCH");
        return TW_EXIT_OK;
    }
    printf("DIFFERENT after %zu bytes: \"%.60s\" on %s, \"%.60s\" on %s\n", same, array->text + same,
           array->speech.device, cpu->text + same, cpu->speech.device);
    return TW_EXIT_FAILED;
}

/* Texts that agree show nothing where the CPU did the array's work. */
static int check_array(const struct side *side)
{
    const struct tw_encoder_counts *c = &side->hearing.transcript.counts;
    if (c->fallbacks == 0 && c->products_on_array > 0)
        return TW_EXIT_OK;
    tw_note("the NPU did not do all of its part: %llu launches failed, and the CPU did what was in them",
            (unsigned long long)c->fallbacks);
    return TW_EXIT_FAILED;
}

static void print_array(const struct side *side)
{
    const struct tw_encoder_counts *c = &side->hearing.transcript.counts;
    printf("\n%llu launches with %llu products on the array, %llu more failed; %llu operations on the CPU\n",
           (unsigned long long)c->launches, (unsigned long long)c->products_on_array, (unsigned long long)c->fallbacks,
           (unsigned long long)c->operations_on_host);
    if (c->cycles > 0)
        printf("modelled for the array of a real NPU: %.1f ms at 1.0 GHz, %.1f ms at 1.6 GHz\n",
               (double)c->cycles / 1e6, (double)c->cycles / 1.6e6);
}

static void print_times(const struct side *side)
{
    const struct tw_timings *ms = &side->hearing.transcript.timings_ms;
    printf("  encoder on %s %9.2f %9.2f %9.2f %9.2f\n", side->hearing.transcript.encoder_device, ms->mel / 1000,
           ms->encode / 1000, ms->decode / 1000, side->hearing.seconds);
}

static int run(const struct request *r, struct side *array, struct side *cpu, struct tw_error *err)
{
    int code = tw_speech_load(&array->speech, r->model, (unsigned)r->threads, err);
    if (code == TW_OK)
        code = open_array(&array->speech, err);
    if (code < 0)
        return code;
    cpu->speech = array->speech;
    cpu->speech.array = NULL;
    cpu->speech.device = "cpu";
    code = listen(array, r->input, err);
    return code == TW_OK ? listen(cpu, r->input, err) : code;
}

int tw_cmd_demo(int argc, char **argv)
{
    struct request request = {0};
    struct tw_error err = {0};
    if (read_request(argc, argv, &request, &err) < 0)
        return tw_usage_error("demo", err.text);
    if (request.help) {
        fputs(help_text, stdout);
        return TW_EXIT_OK;
    }
    struct side array = {0}, cpu = {0};
    int exit_code = TW_EXIT_FAILED;
    if (run(&request, &array, &cpu, &err) == TW_OK) {
        exit_code = compare(&array, &cpu);
        if (exit_code == TW_EXIT_OK)
            exit_code = check_array(&array);
        print_array(&array);
        printf("seconds here          mel    encode    decode     total\n");
        print_times(&array);
        print_times(&cpu);
    } else {
        tw_note("%s", err.text);
    }
    release(&array);
    release(&cpu);
    tw_speech_close(&array.speech);
    return exit_code;
}
