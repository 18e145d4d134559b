/* tilewright bench: how long things take, and what bounds them. */
#include "cli/cli.h"

#include "base/log.h"
#include "cli/bench_report.h"
#include "cli/options.h"
#include "whisper/model_random.h"

#include <stdio.h>
#include <string.h>

static const char help_text[] = "Usage: tilewright bench whisper [-m MODEL | --shape NAME] [OPTION]...\n"
                                "Measures Whisper's encoder on a window of 30 s, operation by operation.\n\n"
                                "  -m MODEL        the weights of a model (see tilewright model list), or:\n"
                                "  --shape NAME    random weights in the sizes of tiny, base, small, medium,\n"
                                "                  large or turbo (default tiny)\n"
                                "  --device D      emu (default): products on the emulated NPU, cycles modelled;\n"
                                "                  npu: on silicon, measured; cpu: no products apart\n"
                                "  --threads N     processors to use (default 2)\n"
                                "  --json          print one JSON object\n\n"
                                "Of encoders with more than 6 layers two are run, and the second is counted for\n"
                                "all others: products of the same sizes take the same cycles, but for some\n"
                                "hundredths of a percent. What runs on the CPU is measured, and stays apart.\n\n"
                                "Example: tilewright bench whisper --shape turbo\n";

/* More layers than this are not all run: the emulator needs seconds for each. */
enum { LAYERS_ALL = 6, LAYERS_SOME = 2, CROSSES_ALL = 4, THREADS_MAX = 256, SEED = 1 };

/* Sizes of OpenAI's models, and what whisper-xdna has published for its encoder on this NPU. */
static const struct shape {
    const char *name;
    struct tw_whisper_sizes sizes;
    double seed_ms;
} shapes[] = {
    {"tiny", {51865, 1500, 384, 6, 4, 448, 384, 6, 4, 80}, 484},
    {"base", {51865, 1500, 512, 8, 6, 448, 512, 8, 6, 80}, 0},
    {"small", {51865, 1500, 768, 12, 12, 448, 768, 12, 12, 80}, 1507},
    {"medium", {51865, 1500, 1024, 16, 24, 448, 1024, 16, 24, 80}, 0},
    {"large", {51866, 1500, 1280, 20, 32, 448, 1280, 20, 32, 128}, 3990},
    {"turbo", {51866, 1500, 1280, 20, 32, 448, 1280, 20, 4, 128}, 3344},
};
enum { SHAPES = sizeof shapes / sizeof shapes[0] };

struct request {
    const char *model, *shape, *device;
    int32_t threads;
    int json, help;
};

static const struct shape *find_shape(const char *name)
{
    for (size_t i = 0; i < SHAPES; i++)
        if (strcmp(shapes[i].name, name) == 0)
            return &shapes[i];
    return NULL;
}

/* The shape whose encoder a model has; NULL: none of those. */
static const struct shape *shape_of(const struct tw_whisper_sizes *s)
{
    for (size_t i = 0; i < SHAPES; i++) {
        const struct tw_whisper_sizes *t = &shapes[i].sizes;
        if (t->n_audio_state == s->n_audio_state && t->n_audio_layer == s->n_audio_layer &&
            t->n_text_layer == s->n_text_layer && t->n_audio_ctx == s->n_audio_ctx)
            return &shapes[i];
    }
    return NULL;
}

static int read_request(int argc, char **argv, struct request *r, struct tw_error *err)
{
    const struct tw_option options[] = {
        {"model", 'm', TW_OPTION_TEXT, {.text = &r->model}, 0, 0},
        {"shape", 0, TW_OPTION_TEXT, {.text = &r->shape}, 0, 0},
        {"device", 0, TW_OPTION_TEXT, {.text = &r->device}, 0, 0},
        {"threads", 0, TW_OPTION_COUNT, {.count = &r->threads}, 1, THREADS_MAX},
        {"json", 0, TW_OPTION_FLAG, {.flag = &r->json}, 0, 0},
        {"help", 'h', TW_OPTION_FLAG, {.flag = &r->help}, 0, 0},
    };
    int operands = tw_options_read(options, sizeof options / sizeof options[0], argc, argv, err);
    if (operands < 0 || r->help)
        return operands;
    if (operands != 1 || strcmp(argv[1], "whisper") != 0)
        return tw_fail(err, TW_E_ARGUMENT, "there is one thing to measure: whisper");
    if (r->model != NULL && r->shape != NULL)
        return tw_fail(err, TW_E_ARGUMENT, "-m has its own sizes; --shape does not go with it");
    if (r->shape == NULL)
        r->shape = shapes[0].name;
    if (find_shape(r->shape) == NULL)
        return tw_fail(err, TW_E_ARGUMENT, "there is no shape '%.40s'; take tiny, base, small, medium, large or turbo",
                       r->shape);
    return TW_OK;
}

/* Random weights for so many layers as are run, under the name of all. */
static int make_random(struct tw_speech *s, const struct request *r, struct tw_error *err)
{
    struct tw_host_options host = {.threads = (unsigned)r->threads};
    int code = tw_model_random(&find_shape(r->shape)->sizes, SEED, &s->model, err);
    return code == TW_OK ? tw_host_create(&host, &s->host, err) : code;
}

static int open_speech(struct tw_speech *s, const struct request *r, struct tw_error *err)
{
    int code = r->model != NULL ? tw_speech_load(s, r->model, (unsigned)r->threads, err) : make_random(s, r, err);
    return code == TW_OK ? tw_speech_open_array(s, r->device, TW_VERIFY_NONE, 0, err) : code;
}

static int measure(const struct tw_speech *s, struct tw_bench *bench, struct tw_error *err)
{
    const struct tw_whisper_sizes *sizes = &s->model->sizes;
    int32_t layers = sizes->n_audio_layer, crosses = sizes->n_text_layer;
    if (layers > LAYERS_ALL)
        layers = LAYERS_SOME;
    if (crosses > LAYERS_ALL)
        crosses = CROSSES_ALL;
    return tw_bench_encoder(bench, s, layers, crosses, err);
}

static int print(const struct request *r, const struct tw_speech *s, const struct tw_bench *bench, struct tw_error *err)
{
    char what[160];
    const struct shape *shape = shape_of(&s->model->sizes);
    struct tw_bench_report report = {
        .bench = bench, .speech = s, .what = what, .seed_ms = shape != NULL ? shape->seed_ms : 0};
    if (r->model != NULL)
        snprintf(what, sizeof what, "%.120s (%s)", r->model, s->model->type_name);
    else
        snprintf(what, sizeof what, "%s, random weights (f16)", r->shape);
    if (r->json)
        return tw_bench_print_json(&report, stdout, err);
    tw_bench_print(&report, stdout);
    return TW_OK;
}

int tw_cmd_bench(int argc, char **argv)
{
    struct request request = {.device = "emu", .threads = 2};
    struct tw_error err = {0};
    if (read_request(argc, argv, &request, &err) < 0)
        return tw_usage_error("bench", err.text);
    if (request.help) {
        fputs(help_text, stdout);
        return TW_EXIT_OK;
    }
    struct tw_speech speech = {0};
    struct tw_bench bench = {0};
    int code = open_speech(&speech, &request, &err);
    if (code == TW_OK)
        code = measure(&speech, &bench, &err);
    if (code == TW_OK)
        code = print(&request, &speech, &bench, &err);
    if (code < 0)
        tw_note("%s", err.text);
    tw_bench_release(&bench);
    tw_speech_close(&speech);
    return code < 0 ? TW_EXIT_FAILED : TW_EXIT_OK;
}
