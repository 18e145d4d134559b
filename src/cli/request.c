#include "cli/request.h"

#include "base/thread_pool.h"
#include "cli/options.h"
#include "whisper/sound.h"
#include "whisper/vocab.h"

#include <string.h>

#define LONGEST_SECONDS 1e7 /* about four months of sound */
#define AUDIO_CTX_MAX 1500  /* of every published model; a smaller model refuses by itself */

static const char help[] = "Usage: tilewright transcribe -m MODEL [OPTION]... FILE...\n"
                           "Turns speech into text. FILE is a sound file or - for standard input; MODEL is\n"
                           "a name (see tilewright model list), a ggml file or a faster-whisper folder.\n"
                           "  --format LIST     text (default), json, srt, vtt or several (srt,vtt); --json\n"
                           "  -o DIR            write DIR/NAME.txt (.json, .srt, .vtt) instead of stdout\n"
                           "  -l LANG           language, as en or english (default auto: by listening)\n"
                           "  --translate       to English\n"
                           "  --offset S, --duration S   skip S seconds; take only S (0: all)\n"
                           "  --prompt TEXT     names and words that the speech may continue\n"
                           "  --no-timestamps, --no-context, --suppress-non-speech\n"
                           "  --beam N          beams at temperature 0 (default 5; 1: greedy)\n"
                           "  --best-of N       samples at higher temperatures (default 5)\n"
                           "  --temperature T   the first tried, 0 to 1 (default 0); --seed N for samples\n"
                           "  --no-fallback     keep the first temperature even if the text looks wrong\n"
                           "  --audio-ctx N     encoder positions, 1 to 1500 (default 0: all)\n"
                           "  --device D        encodes: npu, emu (the emulated NPU), cpu; auto (default):\n"
                           "                    the NPU if there is one; --verify checks its results\n"
                           "  --threads N       processors to use (default 0: all)\n"
                           "  --raw             16-bit samples without header; --rate HZ (default 16000),\n"
                           "                    --channels N (default 1)\n"
                           "  --quiet           no progress, notes and summary on stderr; errors stay\n"
                           "\n"
                           "Example: tilewright transcribe -m base --format srt,json -o texts talk.mp3\n";

const char *tw_request_help(void)
{
    return help;
}

/* What the options store before it is checked and moved to its place. */
struct typed {
    const char *format_list;
    int json;
    double temperature;
    int32_t rate, channels;
};

static int read_options(int argc, char **argv, struct tw_request *r, struct typed *typed, struct tw_error *err)
{
    struct tw_transcribe_options *e = &r->engine;
    const struct tw_option options[] = {
        {"model", 'm', TW_OPTION_TEXT, {.text = &r->model}, 0, 0},
        {"device", 0, TW_OPTION_TEXT, {.text = &r->device}, 0, 0},
        {"language", 'l', TW_OPTION_TEXT, {.text = &e->language}, 0, 0},
        {"translate", 0, TW_OPTION_FLAG, {.flag = &e->translate}, 0, 0},
        {"audio-ctx", 0, TW_OPTION_COUNT, {.count = &e->audio_ctx}, 0, AUDIO_CTX_MAX},
        {"threads", 0, TW_OPTION_COUNT, {.count = &r->threads}, 0, TW_POOL_MAX},
        {"beam", 0, TW_OPTION_COUNT, {.count = &e->beam}, 1, TW_BEAM_MAX},
        {"best-of", 0, TW_OPTION_COUNT, {.count = &e->best_of}, 1, TW_BEAM_MAX},
        {"temperature", 0, TW_OPTION_REAL, {.real = &typed->temperature}, 0, 1},
        {"no-fallback", 0, TW_OPTION_FLAG, {.flag = &e->no_fallback}, 0, 0},
        {"no-context", 0, TW_OPTION_FLAG, {.flag = &e->no_context}, 0, 0},
        {"no-timestamps", 0, TW_OPTION_FLAG, {.flag = &e->no_timestamps}, 0, 0},
        {"suppress-non-speech", 0, TW_OPTION_FLAG, {.flag = &e->suppress_non_speech}, 0, 0},
        {"offset", 0, TW_OPTION_REAL, {.real = &e->offset}, 0, LONGEST_SECONDS},
        {"duration", 0, TW_OPTION_REAL, {.real = &e->length}, 0, LONGEST_SECONDS},
        {"prompt", 0, TW_OPTION_TEXT, {.text = &e->prompt}, 0, 0},
        {"seed", 0, TW_OPTION_SEED, {.seed = &e->seed}, 0, 0},
        {"format", 0, TW_OPTION_TEXT, {.text = &typed->format_list}, 0, 0},
        {"json", 0, TW_OPTION_FLAG, {.flag = &typed->json}, 0, 0},
        {"output", 'o', TW_OPTION_TEXT, {.text = &r->folder}, 0, 0},
        {"raw", 0, TW_OPTION_FLAG, {.flag = &r->audio.raw}, 0, 0},
        {"rate", 0, TW_OPTION_COUNT, {.count = &typed->rate}, TW_SOUND_RATE_MIN, TW_SOUND_RATE_MAX},
        {"channels", 0, TW_OPTION_COUNT, {.count = &typed->channels}, 1, TW_SOUND_CHANNELS_MAX},
        {"verify", 0, TW_OPTION_FLAG, {.flag = &r->verify}, 0, 0},
        {"quiet", 0, TW_OPTION_FLAG, {.flag = &r->quiet}, 0, 0},
        {"help", 'h', TW_OPTION_FLAG, {.flag = &r->help}, 0, 0},
    };
    return tw_options_read(options, sizeof options / sizeof options[0], argc, argv, err);
}

static int read_formats(const struct typed *typed, unsigned *formats, struct tw_error *err)
{
    *formats = typed->json ? 1u << TW_FORMAT_JSON : 0;
    for (const char *p = typed->format_list; p != NULL;) {
        size_t size = strcspn(p, ",");
        int f = tw_output_format_find(p, size);
        if (f < 0)
            return tw_fail(err, TW_E_ARGUMENT, "there is no format '%.*s'; --format takes text, json, srt and vtt",
                           size < 40 ? (int)size : 40, p);
        *formats |= 1u << f;
        p = p[size] == ',' ? p + size + 1 : NULL;
    }
    if (*formats == 0)
        *formats = 1u << TW_FORMAT_TEXT;
    return 0;
}

/* What cannot share one stream: several formats, and several subtitle files, whose times would all begin anew. */
static int check_stdout(const struct tw_request *r, struct tw_error *err)
{
    unsigned subtitles = 1u << TW_FORMAT_SRT | 1u << TW_FORMAT_VTT;
    if (r->folder != NULL)
        return 0;
    if (r->formats & (r->formats - 1))
        return tw_fail(err, TW_E_ARGUMENT, "several formats would mix on standard output; name a folder with -o");
    if (r->n_inputs > 1 && r->formats & subtitles)
        return tw_fail(err, TW_E_ARGUMENT,
                       "subtitles of several files would mix on standard output; name a folder with -o");
    return 0;
}

static int check_inputs(const struct tw_request *r, struct tw_error *err)
{
    size_t streams = 0;
    if (r->n_inputs == 0)
        return tw_fail(err, TW_E_ARGUMENT, "there is no sound file to transcribe (- is standard input)");
    for (size_t i = 0; i < r->n_inputs; i++)
        streams += strcmp(r->inputs[i], "-") == 0;
    if (streams > 1)
        return tw_fail(err, TW_E_ARGUMENT, "standard input (-) can be read only once");
    return 0;
}

static int check_names(const struct tw_request *r, struct tw_error *err)
{
    static const char *const devices[] = {"auto", "npu", "emu", "cpu"};
    const char *language = r->engine.language;
    if (r->model == NULL)
        return tw_fail(err, TW_E_ARGUMENT, "there is no model; name one, for example -m base");
    if (language != NULL && strcmp(language, "auto") != 0 && tw_language_find(language) < 0)
        return tw_fail(err, TW_E_ARGUMENT, "there is no language '%.40s'; use a code as en, a name as english, or auto",
                       language);
    for (size_t i = 0; i < sizeof devices / sizeof devices[0]; i++)
        if (strcmp(r->device, devices[i]) == 0)
            return 0;
    return tw_fail(err, TW_E_ARGUMENT, "there is no device '%.40s'; --device takes auto, npu, emu or cpu", r->device);
}

static int check_raw(struct tw_request *r, const struct typed *typed, struct tw_error *err)
{
    if (!r->audio.raw && (typed->rate != 0 || typed->channels != 0))
        return tw_fail(err, TW_E_ARGUMENT, "--rate and --channels describe sound without header and need --raw");
    r->audio.raw_rate = typed->rate;
    r->audio.raw_channels = typed->channels;
    return 0;
}

int tw_request_read(int argc, char **argv, struct tw_request *r, struct tw_error *err)
{
    *r = (struct tw_request){.device = "auto", .engine = tw_transcribe_defaults()};
    struct typed typed = {.temperature = r->engine.temperature};
    int operands = read_options(argc, argv, r, &typed, err);
    if (operands < 0)
        return operands;
    if (r->help)
        return 0;
    r->inputs = argv + 1;
    r->n_inputs = (size_t)operands;
    r->engine.temperature = (float)typed.temperature;
    int code = check_names(r, err);
    if (code == 0)
        code = check_inputs(r, err);
    if (code == 0)
        code = check_raw(r, &typed, err);
    if (code == 0)
        code = read_formats(&typed, &r->formats, err);
    if (code == 0)
        code = check_stdout(r, err);
    return code;
}
