/* A line on stderr that shows how far the work is, if stderr is a terminal. */
#ifndef TW_CLI_PROGRESS_H
#define TW_CLI_PROGRESS_H

struct tw_progress {
    int wanted; /* 0: show nothing, ever */
    int shown;  /* the line is on the screen */
};

/* quiet: nonzero to show nothing even on a terminal. */
void tw_progress_begin(struct tw_progress *p, int quiet);
/* The work called what, done in [0, 1]. */
void tw_progress_show(struct tw_progress *p, const char *what, double done);
/* The same for work of which nobody knows how long it takes. */
void tw_progress_show_time(struct tw_progress *p, const char *what, double seconds);
/* Takes the line off the screen; to be called before anything else is written to a terminal. */
void tw_progress_clear(struct tw_progress *p);

#endif
