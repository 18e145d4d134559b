/* A thread that shows on a terminal how long something takes, while the caller is inside it. */
#ifndef TW_CLI_TICKER_H
#define TW_CLI_TICKER_H

#include "cli/progress.h"

#include <pthread.h>

struct tw_ticker {
    struct tw_progress progress;
    const char *what;
    int started, stopped; /* stopped: under lock */
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t stop;
};

/* Shows the name of the work and its seconds from the first one on; nothing when stderr is no terminal, or quiet is
 * nonzero. what has to live until the end. */
void tw_ticker_begin(struct tw_ticker *t, const char *what, int quiet);
/* Takes the line off the screen. */
void tw_ticker_end(struct tw_ticker *t);

#endif
