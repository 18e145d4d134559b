#include "cli/speech.h"

#include "base/log.h"
#include "device/device.h"
#include "whisper/model_store.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#ifndef PATH_MAX
#define PATH_MAX 4096
#endif

/* What "auto" means: what the environment names, if it does. */
static const char *named_for(const char *device)
{
    const char *named = getenv("TILEWRIGHT_DEVICE");
    return strcmp(device, "auto") == 0 && named != NULL && named[0] != '\0' ? named : device;
}

static int read_kind(const char *device, enum tw_device_kind *kind, struct tw_error *err)
{
    const char *named = named_for(device);
    if (tw_device_kind_read(named, kind, NULL) == TW_OK)
        return TW_OK;
    return tw_fail(err, TW_E_ARGUMENT, "there is no device '%.40s'%s; take auto, npu, emu or cpu", named,
                   named == device ? "" : ", which TILEWRIGHT_DEVICE names");
}

static int open_array(enum tw_device_kind kind, enum tw_verify verify, struct tw_executor **array, struct tw_error *err)
{
    struct tw_device_options device_options = {.kind = kind};
    struct tw_executor_options array_options = {.verify = verify};
    struct tw_device *device;
    int code = tw_device_open(&device_options, &device, err);
    if (code < 0)
        return code;
    code = tw_executor_open(device, &array_options, array, err);
    tw_device_close(device);
    return code;
}

/* Silicon, or else the CPU, whatever the reason. */
static void open_silicon(struct tw_speech *s, enum tw_verify verify, int quiet)
{
    struct tw_error err;
    if (open_array(TW_DEVICE_NPU, verify, &s->array, &err) == TW_OK)
        s->device = "npu";
    if (quiet)
        return;
    if (s->array != NULL)
        tw_note("the NPU runs the encoder, the CPU all else");
    else
        tw_note("the CPU does all the work: %s", err.text);
}

int tw_speech_open_array(struct tw_speech *s, const char *device, enum tw_verify verify, int quiet,
                         struct tw_error *err)
{
    enum tw_device_kind kind;
    s->device = "cpu";
    s->array = NULL;
    if (strcmp(named_for(device), "cpu") == 0)
        return TW_OK;
    int code = read_kind(device, &kind, err);
    if (code == TW_OK && kind == TW_DEVICE_AUTO)
        open_silicon(s, verify, quiet);
    else if (code == TW_OK)
        code = open_array(kind, verify, &s->array, err);
    if (code == TW_OK && kind != TW_DEVICE_AUTO)
        s->device = kind == TW_DEVICE_EMU ? "emu" : "npu";
    return code;
}

int tw_speech_load(struct tw_speech *s, const char *model, unsigned threads, struct tw_error *err)
{
    char path[PATH_MAX];
    struct tw_host_options host = {.threads = threads};
    int code = tw_model_resolve(model, path, sizeof path, err);
    if (code == TW_OK)
        code = tw_model_open(path, &s->model, err);
    if (code == TW_OK)
        code = tw_host_create(&host, &s->host, err);
    return code;
}

void tw_speech_close(struct tw_speech *s)
{
    tw_executor_close(s->array);
    tw_host_destroy(s->host);
    tw_model_close(s->model);
    memset(s, 0, sizeof *s);
}
