/*
 * The tokens of another program's transcript, window by window, so that they can be forced through our decoder.
 *
 * The transcript lists segments. A window is one or more of them: its first token is a timestamp (or, rarely, text);
 * the segments that follow in it begin with text, and the timestamp between two of them, which belongs to neither, is
 * the later one's start. What the other program decoded and threw away (after a window's last timestamp) is not known.
 */
#ifndef REPLAY_SCRIPT_H
#define REPLAY_SCRIPT_H

#include "reference.h"

struct replay_script {
    const struct replay_reference *reference;
    const struct tw_vocab *vocab;
    size_t next;                 /* segment */
    struct replay_token *tokens; /* of the window taken last */
    size_t n, room;
    int64_t first_start; /* of its first segment, in frames */
    int open;            /* whether another timestamp followed is not known */
};

void replay_script_start(struct replay_script *s, const struct replay_reference *reference,
                         const struct tw_vocab *vocab);
void replay_script_release(struct replay_script *s);

/*
 * Takes the window that starts at frame seek, with `left` frames of sound from there on. n is 0 when the transcript has
 * nothing of it (silence, or text that was dropped). Fails with TW_E_FORMAT when segments do not fit together.
 */
int replay_script_take(struct replay_script *s, int64_t seek, int64_t left, struct tw_error *err);

#endif
