/* An emulated machine that several open devices may share. It lives until the last of them is closed. */
#ifndef TW_DEVICE_EMULATED_H
#define TW_DEVICE_EMULATED_H

#include "base/error.h"
#include "uapi/calls.h"

struct tw_emulated;

/* A new machine, and the one that the process shares. Fail with TW_E_MEMORY or TW_E_IO. */
int tw_emulated_create(struct tw_emulated **machine, struct tw_error *err);
int tw_emulated_share(struct tw_emulated **machine, struct tw_error *err);
/* Gives back what either of them gave. Harmless on NULL. */
void tw_emulated_drop(struct tw_emulated *machine);

const struct tw_calls *tw_emulated_calls(struct tw_emulated *machine);

enum { TW_LAST_WORDS_BYTES = 1024, TW_LOG_SENTENCE_BYTES = 500 };

/* The last two sentences of its kernel's log, for people who look for a fault; "" if there are none yet. */
void tw_emulated_last_words(struct tw_emulated *machine, char text[TW_LAST_WORDS_BYTES]);

/* Whether a command of the context that a file calls `context` failed because it reached for memory that it does not
 * list; which the real driver cannot tell. */
int tw_emulated_unlisted(struct tw_emulated *machine, int fd, uint32_t context, uint64_t sequence);

/* The figures of such a command; returns 0 when they are not known (any more). */
int tw_emulated_modelled(struct tw_emulated *machine, int fd, uint32_t context, uint64_t sequence,
                         struct tw_modelled *modelled);

#endif
