/* What speech commands make once for all their inputs: the model, the CPU's executor, and the array if there is one. */
#ifndef TW_CLI_SPEECH_H
#define TW_CLI_SPEECH_H

#include "host/host.h"
#include "job/executor.h"
#include "whisper/model.h"

struct tw_speech {
    struct tw_whisper_model *model;
    struct tw_host *host;
    struct tw_executor *array; /* NULL: the CPU does all */
    const char *device;        /* who runs the encoder: "cpu", "npu" or "emu" */
};

/*
 * The array of the device that is asked for: "npu", "emu", "cpu" (no array), or "auto": what TILEWRIGHT_DEVICE names,
 * else silicon, or no array when there is none that can be used. With auto a note on stderr says which, unless quiet.
 * Sets array and device. Fails with TW_E_ARGUMENT for what is no device, or as tw_device_open and tw_executor_open do.
 */
int tw_speech_open_array(struct tw_speech *speech, const char *device, enum tw_verify verify, int quiet,
                         struct tw_error *err);

/* The model of that name, file or folder, and an executor with so many threads (0: all processors). */
int tw_speech_load(struct tw_speech *speech, const char *model, unsigned threads, struct tw_error *err);

/* Closes what is open, of a zeroed one too. */
void tw_speech_close(struct tw_speech *speech);

#endif
