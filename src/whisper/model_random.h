/* Models of any size whose encoder has random weights: for measurements, which do not depend on what the weights say.
 */
#ifndef TW_WHISPER_MODEL_RANDOM_H
#define TW_WHISPER_MODEL_RANDOM_H

#include "whisper/model.h"

/*
 * All that tw_encoder_graph reads of a model of these sizes: f16 matrices that keep numbers in a model's usual range,
 * the same for the same seed. What the decoder alone needs, and the vocabulary's texts, are missing. Close it with
 * tw_model_close. Fails with TW_E_MEMORY, TW_E_FORMAT or TW_E_UNSUPPORTED for sizes that no model has.
 */
int tw_model_random(const struct tw_whisper_sizes *sizes, uint64_t seed, struct tw_whisper_model **model,
                    struct tw_error *err);

#endif
