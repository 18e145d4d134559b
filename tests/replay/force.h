/* Another program's tokens forced through our decoder: what we would have chosen in their place, and by how much. */
#ifndef REPLAY_FORCE_H
#define REPLAY_FORCE_H

#include "script.h"
#include "whisper/transcribe.h"

#include "whisper/rules.h"
#include "whisper/search.h"

struct replay_choice {
    int64_t seek;  /* the window, in frames */
    int32_t index; /* of the token in it */
    int32_t forced, ours;
    double forced_logprob; /* by our decoder after the masks; for text that the timestamp rule puts out, before it */
    double our_logprob;
    double their_logprob; /* NAN where unknown */
    double gap;           /* 0 when the choices agree; INFINITY when our masks do not allow the forced token at all */
    int timestamp_rule;   /* the choices differ because the timestamp rule decided differently */
    double timestamp_mass, best_text;
};

/*
 * What our rules make of raw logits where the other program chose the token `forced`. The gap is the difference of the
 * log-probabilities; where the timestamp rule decided otherwise, that of timestamp mass and best text, or the
 * difference among the tokens that the rule then leaves, whichever is larger. logits (vocab->size numbers) are used up,
 * spare has room for as many.
 */
void replay_judge(const struct tw_rules *rules, const struct tw_rules_state *state, int32_t forced, float *logits,
                  float *spare, struct replay_choice *choice);

struct replay_force {
    struct replay_script script;
    struct tw_sequence sequence; /* of the window that was forced last */
    int32_t room;
    float *spare;
    struct replay_choice *choices; /* all known ones of the recording */
    size_t n_choices, choice_room;
    int32_t windows_without; /* windows of which the transcript has nothing; there our own search decided */
};

int replay_force_start(struct replay_force *f, const struct replay_reference *reference,
                       const struct tw_whisper_model *model, struct tw_error *err);
void replay_force_release(struct replay_force *f);

/* Decodes a window with the tokens that are in f->script, with the duties of tw_transcribe_options.search. */
int replay_force_tokens(struct replay_force *f, struct tw_search *search, int64_t seek, const struct tw_window *window,
                        const struct tw_sequence **best, double *no_speech, struct tw_error *err);

/* tw_transcribe_options.search; arg: a struct replay_force. */
int replay_force_window(void *arg, struct tw_search *search, int64_t seek, const struct tw_window *window,
                        const struct tw_sequence **best, double *no_speech, struct tw_error *err);

#endif
