/* Signals: at once, on request, held back, and ignored. Each case is a child process, whose end is what is tested. */
#include "cli/interrupt.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#define UNREACHED 99

static void sleep_ms(long ms)
{
    struct timespec t = {ms / 1000, ms % 1000 * 1000000};
    nanosleep(&t, NULL);
}

/* Sends itself a signal and gives the waiting thread all the time that it needs. */
static void send_and_wait(int signal_number)
{
    kill(getpid(), signal_number);
    for (;;)
        pause();
}

static void wait_for_flag(struct tw_interrupt *in)
{
    while (tw_interrupt_signal(in) == 0)
        sleep_ms(1);
}

static void at_once(struct tw_interrupt *in, int fd)
{
    (void)fd;
    (void)in;
    send_and_wait(SIGTERM);
}

static void on_request(struct tw_interrupt *in, int fd)
{
    (void)fd;
    tw_interrupt_polite_begin(in);
    kill(getpid(), SIGINT);
    wait_for_flag(in);
    _exit(tw_interrupt_signal(in) == SIGINT ? 7 : UNREACHED);
}

static void twice(struct tw_interrupt *in, int fd)
{
    (void)fd;
    tw_interrupt_polite_begin(in);
    kill(getpid(), SIGINT);
    wait_for_flag(in);
    send_and_wait(SIGINT);
}

static void after_polite_work(struct tw_interrupt *in, int fd)
{
    (void)fd;
    tw_interrupt_polite_begin(in);
    tw_interrupt_polite_end(in);
    send_and_wait(SIGINT);
}

/* The pipe's byte, written with the signal already there, proves that the end waited for release. */
static void held(struct tw_interrupt *in, int fd)
{
    tw_interrupt_hold(in);
    kill(getpid(), SIGINT);
    sleep_ms(50);
    if (write(fd, "x", 1) != 1)
        _exit(UNREACHED);
    tw_interrupt_release(in);
    for (;;)
        pause();
}

static void ends_without_signal(struct tw_interrupt *in, int fd)
{
    (void)fd;
    tw_interrupt_destroy(in);
    _exit(3);
}

/* The exit code of a child that has set up interrupts and does work, which may use fd. */
static int child(void (*work)(struct tw_interrupt *, int), int ignored, int fd)
{
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        struct tw_interrupt *in = NULL;
        signal(SIGINT, SIG_DFL); /* whatever the test runner was started with */
        signal(SIGTERM, SIG_DFL);
        if (ignored != 0)
            signal(ignored, SIG_IGN);
        if (tw_interrupt_create(&in, NULL) == 0)
            work(in, fd);
        _exit(UNREACHED);
    }
    int status = 0;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static void ends(void **state)
{
    (void)state;
    assert_int_equal(child(at_once, 0, -1), 128 + SIGTERM);
    assert_int_equal(child(on_request, 0, -1), 7);
    assert_int_equal(child(twice, 0, -1), 128 + SIGINT);
    assert_int_equal(child(after_polite_work, 0, -1), 128 + SIGINT);
    assert_int_equal(child(ends_without_signal, 0, -1), 3);
}

static void holding(void **state)
{
    (void)state;
    char byte = 0;
    int held_pipe[2];
    assert_int_equal(pipe(held_pipe), 0);
    assert_int_equal(child(held, 0, held_pipe[1]), 128 + SIGINT);
    close(held_pipe[1]);
    assert_int_equal(read(held_pipe[0], &byte, 1), 1);
    close(held_pipe[0]);
}

static void ignored_then_term(struct tw_interrupt *in, int fd)
{
    (void)fd;
    (void)in;
    kill(getpid(), SIGINT);
    send_and_wait(SIGTERM);
}

static void ignored_stays_ignored(void **state)
{
    (void)state;
    assert_int_equal(child(ignored_then_term, SIGINT, -1), 128 + SIGTERM);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ends),
        cmocka_unit_test(holding),
        cmocka_unit_test(ignored_stays_ignored),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
