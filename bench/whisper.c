/*
 * Time from start to exit of whole transcriptions, ours and another program's, in turns and in fresh processes, so that
 * a machine whose speed drifts is as fast for one as for the other.
 *
 *     whisper RUNS 'COMMAND' ['OTHER COMMAND']
 *
 * for example, with whisper.cpp built elsewhere:
 *
 *     whisper 5 'build/bin/tilewright transcribe -m base tests/data/jfk.wav' 'whisper-cli -t 2 -m ggml-base.bin -f
 * jfk.wav'
 *
 * A command is given to the shell; what it prints is dropped. One run of each goes first and is not counted.
 */
#include "base/clock.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#define RUNS_MAX 100
#define COMMANDS_MAX 2

struct series {
    const char *command;
    double wall[RUNS_MAX], cpu[RUNS_MAX];
};

/* Runs the command once; returns nonzero when it cannot be started or fails. */
static int run_once(const char *command, double *wall, double *cpu)
{
    double began = tw_seconds();
    pid_t child = fork();
    if (child < 0)
        return 1;
    if (child == 0) {
        if (freopen("/dev/null", "w", stdout) == NULL || freopen("/dev/null", "w", stderr) == NULL)
            _exit(127);
        execl("/bin/sh", "sh", "-c", command, (char *)NULL);
        _exit(127);
    }
    int status = 0;
    struct rusage before, after;
    getrusage(RUSAGE_CHILDREN, &before);
    if (waitpid(child, &status, 0) != child)
        return 1;
    getrusage(RUSAGE_CHILDREN, &after);
    *wall = tw_seconds() - began;
    *cpu = (double)(after.ru_utime.tv_sec - before.ru_utime.tv_sec) +
           (double)(after.ru_utime.tv_usec - before.ru_utime.tv_usec) * 1e-6 +
           (double)(after.ru_stime.tv_sec - before.ru_stime.tv_sec) +
           (double)(after.ru_stime.tv_usec - before.ru_stime.tv_usec) * 1e-6;
    return !WIFEXITED(status) || WEXITSTATUS(status) != 0;
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void report(struct series *s, int runs)
{
    qsort(s->wall, (size_t)runs, sizeof *s->wall, ascending);
    qsort(s->cpu, (size_t)runs, sizeof *s->cpu, ascending);
    printf("best %7.3f s, median %7.3f s, processor time %7.3f s: %s\n", s->wall[0], s->wall[runs / 2],
           s->cpu[runs / 2], s->command);
}

int main(int argc, char **argv)
{
    static struct series series[COMMANDS_MAX];
    int runs = argc > 1 ? atoi(argv[1]) : 0, commands = argc - 2;
    if (runs < 1 || runs > RUNS_MAX || commands < 1 || commands > COMMANDS_MAX) {
        fprintf(stderr, "usage: whisper RUNS 'COMMAND' ['OTHER COMMAND']   (1 to %d runs)\n", RUNS_MAX);
        return 2;
    }
    for (int i = -1; i < runs; i++)
        for (int c = 0; c < commands; c++) {
            struct series *s = &series[c];
            double wall, cpu;
            s->command = argv[2 + c];
            if (run_once(s->command, &wall, &cpu) != 0) {
                fprintf(stderr, "whisper: this command failed: %s\n", s->command);
                return 1;
            }
            if (i >= 0) {
                s->wall[i] = wall;
                s->cpu[i] = cpu;
            }
        }
    for (int c = 0; c < commands; c++)
        report(&series[c], runs);
    if (commands == 2)
        printf("best of %d, first against second: %.3f\n", runs, series[0].wall[0] / series[1].wall[0]);
    return 0;
}
