#include "cli/index_script.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#ifndef PATH_MAX
#define PATH_MAX 4096
#endif

extern char **environ; /* POSIX has it in no header */

/* This program's own path; empty when the system does not tell. */
static void find_self(char self[PATH_MAX])
{
    ssize_t length = readlink("/proc/self/exe", self, PATH_MAX - 1);
    self[length < 0 ? 0 : length] = '\0';
}

static int is_program(char *path, size_t size, int length)
{
    return length > 0 && (size_t)length < size && access(path, X_OK) == 0;
}

int tw_index_script_find(char *path, size_t size)
{
    const char *share = getenv("TILEWRIGHT_SHARE");
    if (share != NULL && share[0] != '\0')
        return is_program(path, size, snprintf(path, size, "%s/get-model", share));
    char self[PATH_MAX];
    find_self(self);
    char *slash = strrchr(self, '/');
    if (slash == NULL)
        return 0;
    *slash = '\0';
    return is_program(path, size, snprintf(path, size, "%s/../../scripts/get-model", self)) ||
           is_program(path, size, snprintf(path, size, "%s/../share/tilewright/get-model", self));
}

/* The environment with TILEWRIGHT=<this program>, by which the script converts: an array to free, whose strings are
 * not. */
static char **script_environment(char *own)
{
    size_t n = 0;
    while (environ[n] != NULL)
        n++;
    char **copy = calloc(n + 2, sizeof *copy);
    if (copy == NULL)
        return NULL;
    size_t kept = 0;
    copy[kept++] = own;
    for (size_t i = 0; i < n; i++)
        if (strncmp(environ[i], "TILEWRIGHT=", 11) != 0)
            copy[kept++] = environ[i];
    return copy;
}

/* Signals are blocked here for tw_interrupt; the script must hear them. Its text results are no text results of ours.
 */
static int spawn(const char *path, char *const argv[], char *const environment[], pid_t *pid)
{
    posix_spawnattr_t attributes;
    posix_spawn_file_actions_t actions;
    sigset_t none;
    sigemptyset(&none);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, STDOUT_FILENO);
    int failed = posix_spawn(pid, path, &actions, &attributes, argv, environment);
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
    return failed;
}

/* Waits for the end and returns the wait status; passes on an interrupt once. */
static int wait_for(pid_t pid, const struct tw_interrupt *interrupt)
{
    int status = 0, passed_on = 0;
    for (;;) {
        pid_t ended = waitpid(pid, &status, WNOHANG);
        if (ended == pid || (ended < 0 && errno != EINTR))
            return status;
        if (!passed_on && tw_interrupt_signal(interrupt) != 0) {
            kill(pid, tw_interrupt_signal(interrupt));
            passed_on = 1;
        }
        nanosleep(&(struct timespec){.tv_nsec = 50000000}, NULL);
    }
}

int tw_index_script_run(const char *path, const char *name, const struct tw_interrupt *interrupt, struct tw_error *err)
{
    char own[PATH_MAX + 16] = "TILEWRIGHT=", operand[64], script[PATH_MAX];
    find_self(own + strlen(own));
    snprintf(operand, sizeof operand, "%s", name);
    snprintf(script, sizeof script, "%s", path);
    char **environment = script_environment(own);
    if (environment == NULL)
        return tw_fail(err, TW_E_MEMORY, "no memory to run '%s'", path);
    pid_t pid;
    int failed = spawn(path, (char *[]){script, operand, NULL}, environment, &pid);
    free(environment);
    if (failed != 0)
        return tw_fail_errno(err, TW_E_IO, failed, "cannot run '%s'", path);
    int status = wait_for(pid, interrupt);
    if (tw_interrupt_signal(interrupt) != 0)
        return tw_fail(err, TW_E_CANCELLED, "interrupted");
    if (status != 0)
        return tw_fail(err, TW_E_NETWORK, "'%s' could not get the model '%s' either", path, name);
    return 0;
}
