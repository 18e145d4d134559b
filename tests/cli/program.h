/* Running the built tilewright as a user would, and what it wrote. */
#ifndef TESTS_CLI_PROGRAM_H
#define TESTS_CLI_PROGRAM_H

#include "cli/folder.h"

#include <stddef.h>
#include <sys/types.h>

struct streams {
    const char *in;  /* a path to read standard input from; NULL: an empty one */
    const char *out; /* a path to write standard output to; NULL: it is caught; "": closed */
};

struct finished {
    int code;        /* exit code, or -signal */
    char *out, *err; /* caught texts */
};

/* Runs tilewright with arguments (NULL-terminated, without its own name); scratch is for the caught texts. */
struct finished program_run(const struct folder *scratch, struct streams streams, const char *const *arguments);
void program_release(struct finished *f);

/* The two halves of program_run, for what happens in between. */
pid_t program_start(const struct folder *scratch, struct streams streams, const char *const *arguments);
struct finished program_wait(const struct folder *scratch, struct streams streams, pid_t pid);

#endif
