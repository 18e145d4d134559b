/*
 * Whisper's text decoder with its caches. Several sequences (slots) share one encoded window; each step is one small
 * graph.
 */
#ifndef TW_WHISPER_DECODER_H
#define TW_WHISPER_DECODER_H

#include "host/host.h"
#include "whisper/model.h"

struct tw_decoder;

/* model and host must outlive the decoder. */
int tw_decoder_create(const struct tw_whisper_model *model, struct tw_host *host, struct tw_decoder **decoder,
                      struct tw_error *err);
void tw_decoder_destroy(struct tw_decoder *d);

/* Makes room for `slots` sequences and for ctx encoder positions; what the caches held is lost when they grow. */
int tw_decoder_reserve(struct tw_decoder *d, int32_t slots, int32_t ctx, struct tw_error *err);
/* Where the encoder writes cross-attention keys and values (tw_encoder_io.cross) for the reserved ctx. */
float *tw_decoder_cross(struct tw_decoder *d);

/*
 * Runs `count` tokens of one sequence in slot 0, or one token each of slots 0 .. slots-1 (then count is 1), at
 * positions past .. past+count-1; the caches hold the positions before. tokens: slots*count numbers. Afterwards
 * tw_decoder_logits holds the logits after the last token of each slot.
 */
int tw_decoder_run(struct tw_decoder *d, int32_t slots, int32_t count, const int32_t *tokens, int32_t past,
                   struct tw_error *err);
/* slots x n_vocab, valid until the next run; the caller may change them. */
float *tw_decoder_logits(struct tw_decoder *d);

/* Copies positions first .. first+count-1 of the self-attention caches from one slot to another. */
void tw_decoder_copy(struct tw_decoder *d, int32_t from, int32_t to, int32_t first, int32_t count);

#endif
