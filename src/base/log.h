/* Messages for people, on stderr. Text results go to stdout and never pass through here. */
#ifndef TW_BASE_LOG_H
#define TW_BASE_LOG_H

#include "base/error.h"

/* One line "tilewright: <text>" on stderr. Whole lines of several threads do not mix. */
void tw_note(const char *fmt, ...) TW_PRINTF(1, 2);

#endif
