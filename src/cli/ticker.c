#include "cli/ticker.h"

#include <time.h>

static void *tick(void *arg)
{
    struct tw_ticker *t = arg;
    struct timespec next;
    clock_gettime(CLOCK_REALTIME, &next);
    pthread_mutex_lock(&t->lock);
    for (int seconds = 1; !t->stopped; seconds++) {
        next.tv_sec++;
        while (!t->stopped && pthread_cond_timedwait(&t->stop, &t->lock, &next) == 0)
            continue;
        if (!t->stopped)
            tw_progress_show_time(&t->progress, t->what, seconds);
    }
    pthread_mutex_unlock(&t->lock);
    return NULL;
}

void tw_ticker_begin(struct tw_ticker *t, const char *what, int quiet)
{
    *t = (struct tw_ticker){.what = what};
    tw_progress_begin(&t->progress, quiet);
    if (!t->progress.wanted)
        return;
    pthread_mutex_init(&t->lock, NULL);
    pthread_cond_init(&t->stop, NULL);
    t->started = pthread_create(&t->thread, NULL, tick, t) == 0; /* without a thread nothing is shown */
}

void tw_ticker_end(struct tw_ticker *t)
{
    if (!t->progress.wanted)
        return;
    pthread_mutex_lock(&t->lock);
    t->stopped = 1;
    pthread_cond_signal(&t->stop);
    pthread_mutex_unlock(&t->lock);
    if (t->started)
        pthread_join(t->thread, NULL);
    tw_progress_clear(&t->progress);
    pthread_cond_destroy(&t->stop);
    pthread_mutex_destroy(&t->lock);
}
