/* The progress line: on a terminal only, never when quiet, and gone when it is cleared. */
#define _XOPEN_SOURCE 700 /* pseudo-terminals */
#include "cli/progress.h"
#include "cli/ticker.h"

#include <fcntl.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#define SETTLED_MS 300 /* nothing more comes after so long */

static void use_line(int quiet)
{
    struct tw_progress p;
    tw_progress_begin(&p, quiet);
    tw_progress_clear(&p); /* nothing is there yet: nothing is written */
    tw_progress_show(&p, "talk.wav", 0.256);
    tw_progress_clear(&p);
    tw_progress_clear(&p);
}

static void use_ticker(int quiet)
{
    const struct timespec a_little_more_than_a_second = {1, 200000000};
    struct tw_ticker t;
    tw_ticker_begin(&t, "work", quiet);
    nanosleep(&a_little_more_than_a_second, NULL);
    tw_ticker_end(&t);
}

static void use_ticker_briefly(int quiet)
{
    struct tw_ticker t;
    tw_ticker_begin(&t, "work", quiet);
    tw_ticker_end(&t);
}

/* What a use writes when stderr is `to`, read at the other end `from`. */
static void shown_on(int to, int from, void (*use)(int quiet), int quiet, char text[512])
{
    int saved = dup(STDERR_FILENO);
    assert_true(saved >= 0 && dup2(to, STDERR_FILENO) >= 0);
    use(quiet);
    assert_true(dup2(saved, STDERR_FILENO) >= 0);
    close(saved);
    memset(text, 0, 512);
    /* A pseudo-terminal hands its text over a moment later, and in pieces. */
    struct pollfd ready = {.fd = from, .events = POLLIN};
    size_t size = 0;
    while (size < 511 && poll(&ready, 1, SETTLED_MS) > 0) {
        ssize_t n = read(from, text + size, 511 - size);
        if (n <= 0)
            break;
        size += (size_t)n;
    }
}

static int ends_with(const char *text, const char *end)
{
    return strlen(text) >= strlen(end) && strcmp(text + strlen(text) - strlen(end), end) == 0;
}

static void on_a_terminal(void **state)
{
    (void)state;
    char text[512];
    int master = posix_openpt(O_RDWR | O_NOCTTY);
    if (master < 0)
        skip();
    assert_true(grantpt(master) == 0 && unlockpt(master) == 0);
    int terminal = open(ptsname(master), O_RDWR | O_NOCTTY);
    assert_true(terminal >= 0);
    assert_int_equal(fcntl(master, F_SETFL, O_NONBLOCK), 0);
    shown_on(terminal, master, use_line, 0, text);
    assert_string_equal(text, "\r\x1b[Ktalk.wav:  26 %\r\x1b[K");
    shown_on(terminal, master, use_line, 1, text);
    assert_string_equal(text, "");
    shown_on(terminal, master, use_ticker, 0, text);
    assert_int_equal(strncmp(text, "\r\x1b[Kwork: 1 s\r\x1b[K", 16), 0);
    assert_true(ends_with(text, " s\r\x1b[K"));
    shown_on(terminal, master, use_ticker_briefly, 0, text);
    assert_string_equal(text, "");
    shown_on(terminal, master, use_ticker_briefly, 1, text);
    assert_string_equal(text, "");
    close(terminal);
    close(master);
}

static void elsewhere(void **state)
{
    (void)state;
    char text[512];
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(fcntl(ends[0], F_SETFL, O_NONBLOCK), 0);
    shown_on(ends[1], ends[0], use_line, 0, text);
    assert_string_equal(text, "");
    shown_on(ends[1], ends[0], use_ticker, 0, text);
    assert_string_equal(text, "");
    close(ends[0]);
    close(ends[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(on_a_terminal),
        cmocka_unit_test(elsewhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
