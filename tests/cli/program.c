#include "cli/program.h"

#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include <cmocka.h>

#define ARGUMENTS_MAX 40

extern char **environ;

static void redirect(posix_spawn_file_actions_t *actions, const struct folder *scratch, struct streams streams)
{
    char out[2 * FOLDER_PATH], err[2 * FOLDER_PATH];
    int create = O_WRONLY | O_CREAT | O_TRUNC;
    folder_path(scratch, ".stdout", out);
    folder_path(scratch, ".stderr", err);
    const char *in = streams.in != NULL ? streams.in : "/dev/null";
    assert_int_equal(posix_spawn_file_actions_addopen(actions, 0, in, O_RDONLY, 0), 0);
    assert_int_equal(posix_spawn_file_actions_addopen(actions, 2, err, create, 0600), 0);
    if (streams.out == NULL)
        assert_int_equal(posix_spawn_file_actions_addopen(actions, 1, out, create, 0600), 0);
    else if (streams.out[0] == '\0')
        assert_int_equal(posix_spawn_file_actions_addclose(actions, 1), 0);
    else
        assert_int_equal(posix_spawn_file_actions_addopen(actions, 1, streams.out, O_WRONLY, 0), 0);
}

/* The test runner may itself ignore or block the signals that the program is to be sent. */
static void default_signals(posix_spawnattr_t *attributes)
{
    sigset_t all, none;
    sigemptyset(&none);
    sigemptyset(&all);
    sigaddset(&all, SIGINT);
    sigaddset(&all, SIGTERM);
    sigaddset(&all, SIGHUP);
    sigaddset(&all, SIGPIPE);
    posix_spawnattr_setsigmask(attributes, &none);
    posix_spawnattr_setsigdefault(attributes, &all);
    posix_spawnattr_setflags(attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
}

pid_t program_start(const struct folder *scratch, struct streams streams, const char *const *arguments)
{
    const char *binary = getenv("TILEWRIGHT_BIN");
    assert_non_null(binary);
    char *argv[ARGUMENTS_MAX] = {(char *)binary};
    for (size_t i = 0; arguments[i] != NULL; i++) {
        assert_true(i + 2 < ARGUMENTS_MAX);
        argv[i + 1] = (char *)arguments[i];
    }
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_init(&attributes);
    redirect(&actions, scratch, streams);
    default_signals(&attributes);
    pid_t pid = 0;
    assert_int_equal(posix_spawn(&pid, binary, &actions, &attributes, argv, environ), 0);
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
    return pid;
}

struct finished program_wait(const struct folder *scratch, struct streams streams, pid_t pid)
{
    int status = 0;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    struct finished f = {.code = WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status)};
    f.err = folder_get(scratch, ".stderr", NULL);
    f.out = streams.out == NULL ? folder_get(scratch, ".stdout", NULL) : strdup("");
    assert_non_null(f.err);
    assert_non_null(f.out);
    return f;
}

struct finished program_run(const struct folder *scratch, struct streams streams, const char *const *arguments)
{
    return program_wait(scratch, streams, program_start(scratch, streams, arguments));
}

void program_release(struct finished *f)
{
    free(f->out);
    free(f->err);
}
