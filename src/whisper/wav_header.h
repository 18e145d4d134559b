/*
 * WAV headers whose sizes are not true: written before the length was known (to a pipe: 0, 0xFFFFFFFF and the like),
 * never corrected because the recorder stopped, or wrapped round at 4 GiB. For these a corrected header is made, so
 * that the samples that are there are the samples that are read.
 */
#ifndef TW_WHISPER_WAV_HEADER_H
#define TW_WHISPER_WAV_HEADER_H

#include "whisper/input.h"

#define TW_WAV_HEAD_MAX 384

/* A file to read in place of the input: `head`, then body_size bytes of the input from body_offset on. */
struct tw_wav_view {
    unsigned char head[TW_WAV_HEAD_MAX];
    size_t head_size;
    int64_t body_offset;
    int64_t body_size;
};

/*
 * Fills view for input, whose size is known. Anything but a WAV file with wrong sizes is shown as it is: head_size 0,
 * the body the whole input. Fails only when the input cannot be read (TW_E_IO).
 *
 * A data size of 0, or one beyond the end, means "to the end". One that ends earlier is believed if the file ends there
 * too or goes on with another chunk; if not, the rest are samples as well.
 */
int tw_wav_view_open(struct tw_input *input, struct tw_wav_view *view, struct tw_error *err);

#endif
