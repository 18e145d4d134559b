#include "cli/interrupt.h"

#include "cli/cli.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

struct tw_interrupt {
    sigset_t signals;
    pthread_t thread;
    pthread_mutex_t lock; /* held by tw_interrupt_hold, and while polite is read or changed */
    int polite;
    atomic_int raised; /* the signal, 0: none */
};

static void react(struct tw_interrupt *in, int signal_number)
{
    pthread_mutex_lock(&in->lock);
    if (!in->polite || atomic_load(&in->raised) != 0)
        _exit(TW_EXIT_SIGNAL + signal_number); /* with the lock, so that nothing is held */
    atomic_store(&in->raised, signal_number);
    pthread_mutex_unlock(&in->lock);
}

static void *wait_for_signals(void *arg)
{
    struct tw_interrupt *in = arg;
    for (;;) {
        int signal_number;
        if (sigwait(&in->signals, &signal_number) == 0)
            react(in, signal_number);
    }
    return NULL;
}

/* Who starts a program with a signal ignored (nohup, a shell's background job) means it. */
static void add_unless_ignored(sigset_t *set, int signal_number)
{
    struct sigaction now;
    if (sigaction(signal_number, NULL, &now) == 0 && now.sa_handler != SIG_IGN)
        sigaddset(set, signal_number);
}

int tw_interrupt_create(struct tw_interrupt **interrupt, struct tw_error *err)
{
    struct tw_interrupt *in = calloc(1, sizeof *in);
    if (in == NULL)
        return tw_fail(err, TW_E_MEMORY, "there is no memory to begin with");
    sigemptyset(&in->signals);
    add_unless_ignored(&in->signals, SIGINT);
    add_unless_ignored(&in->signals, SIGTERM);
    add_unless_ignored(&in->signals, SIGHUP);
    pthread_mutex_init(&in->lock, NULL);
    pthread_sigmask(SIG_BLOCK, &in->signals, NULL);
    int failed = pthread_create(&in->thread, NULL, wait_for_signals, in);
    if (failed) {
        pthread_mutex_destroy(&in->lock);
        free(in);
        return tw_fail_errno(err, TW_E_MEMORY, failed, "a thread cannot be started");
    }
    *interrupt = in;
    return 0;
}

void tw_interrupt_destroy(struct tw_interrupt *in)
{
    if (in == NULL)
        return;
    pthread_cancel(in->thread); /* sigwait is a point of cancellation, and nothing is held there */
    pthread_join(in->thread, NULL);
    pthread_mutex_destroy(&in->lock);
    free(in);
}

static void set_polite(struct tw_interrupt *in, int polite)
{
    pthread_mutex_lock(&in->lock);
    in->polite = polite;
    pthread_mutex_unlock(&in->lock);
}

void tw_interrupt_polite_begin(struct tw_interrupt *in)
{
    set_polite(in, 1);
}

void tw_interrupt_polite_end(struct tw_interrupt *in)
{
    set_polite(in, 0);
}

int tw_interrupt_signal(const struct tw_interrupt *in)
{
    return atomic_load(&in->raised);
}

void tw_interrupt_obey(struct tw_interrupt *in)
{
    int signal_number = tw_interrupt_signal(in);
    if (signal_number != 0)
        _exit(TW_EXIT_SIGNAL + signal_number);
}

void tw_interrupt_hold(struct tw_interrupt *in)
{
    pthread_mutex_lock(&in->lock);
}

void tw_interrupt_release(struct tw_interrupt *in)
{
    pthread_mutex_unlock(&in->lock);
}
