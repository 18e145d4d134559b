#include "cli/progress.h"

#include <stdio.h>
#include <unistd.h>

#define ERASE_LINE "\r\x1b[K"
#define WHAT_COLUMNS 60 /* a line longer than the terminal could not be taken off it */

void tw_progress_begin(struct tw_progress *p, int quiet)
{
    p->wanted = !quiet && isatty(STDERR_FILENO);
    p->shown = 0;
}

void tw_progress_show(struct tw_progress *p, const char *what, double done)
{
    if (!p->wanted)
        return;
    fprintf(stderr, ERASE_LINE "%.*s: %3.0f %%", WHAT_COLUMNS, what, 100 * done);
    fflush(stderr);
    p->shown = 1;
}

void tw_progress_show_time(struct tw_progress *p, const char *what, double seconds)
{
    if (!p->wanted)
        return;
    fprintf(stderr, ERASE_LINE "%.*s: %.0f s", WHAT_COLUMNS, what, seconds);
    fflush(stderr);
    p->shown = 1;
}

void tw_progress_clear(struct tw_progress *p)
{
    if (!p->shown)
        return;
    fputs(ERASE_LINE, stderr);
    fflush(stderr);
    p->shown = 0;
}
