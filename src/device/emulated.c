#include "device/emulated.h"

#include "emu/driver/driver.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct tw_emulated {
    unsigned references; /* under shared.lock */
    struct tw_emu_driver *driver;
    pthread_mutex_t lock;
    char last_words[2][TW_LOG_SENTENCE_BYTES]; /* what happened, and what the driver made of it */
};

/*
 * The one thing of this library that a process has once: the machine. The real one is outside of every process; its
 * stand-in can only be found by those who know nothing of each other if it lies here. It holds the machine no longer
 * than its last user.
 */
static struct {
    pthread_mutex_t lock;
    struct tw_emulated *machine;
} shared = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void log_sentence(void *arg, const char *sentence)
{
    struct tw_emulated *machine = arg;
    pthread_mutex_lock(&machine->lock);
    memcpy(machine->last_words[0], machine->last_words[1], sizeof machine->last_words[0]);
    snprintf(machine->last_words[1], sizeof machine->last_words[1], "%s", sentence);
    pthread_mutex_unlock(&machine->lock);
}

int tw_emulated_create(struct tw_emulated **machine, struct tw_error *err)
{
    struct tw_emulated *m = calloc(1, sizeof *m);
    *machine = NULL;
    if (m == NULL)
        return tw_fail(err, TW_E_MEMORY, "no memory for an emulated machine");
    m->references = 1;
    pthread_mutex_init(&m->lock, NULL);
    const struct tw_emu_driver_options options = {.log = log_sentence, .log_arg = m};
    int code = tw_emu_driver_create(&options, &m->driver, err);
    if (code < 0) {
        pthread_mutex_destroy(&m->lock);
        free(m);
        return code;
    }
    *machine = m;
    return TW_OK;
}

int tw_emulated_share(struct tw_emulated **machine, struct tw_error *err)
{
    int code = TW_OK;
    pthread_mutex_lock(&shared.lock);
    if (shared.machine != NULL)
        shared.machine->references++;
    else
        code = tw_emulated_create(&shared.machine, err);
    *machine = shared.machine;
    pthread_mutex_unlock(&shared.lock);
    return code;
}

/* Whether that was the last use. */
static int let_go(struct tw_emulated *machine)
{
    pthread_mutex_lock(&shared.lock);
    int last = --machine->references == 0;
    if (last && shared.machine == machine)
        shared.machine = NULL;
    pthread_mutex_unlock(&shared.lock);
    return last;
}

void tw_emulated_drop(struct tw_emulated *machine)
{
    if (machine == NULL || !let_go(machine))
        return;
    tw_emu_driver_free(machine->driver);
    pthread_mutex_destroy(&machine->lock);
    free(machine);
}

const struct tw_calls *tw_emulated_calls(struct tw_emulated *machine)
{
    return tw_emu_driver_calls(machine->driver);
}

void tw_emulated_last_words(struct tw_emulated *machine, char text[TW_LAST_WORDS_BYTES])
{
    pthread_mutex_lock(&machine->lock);
    const char *first = machine->last_words[0], *second = machine->last_words[1];
    snprintf(text, TW_LAST_WORDS_BYTES, "%s%s%s", first, first[0] != '\0' ? "; " : "", second);
    pthread_mutex_unlock(&machine->lock);
}

int tw_emulated_unlisted(struct tw_emulated *machine, int fd, uint32_t context, uint64_t sequence)
{
    return tw_emu_driver_unlisted(machine->driver, fd, context, sequence);
}

int tw_emulated_modelled(struct tw_emulated *machine, int fd, uint32_t context, uint64_t sequence,
                         struct tw_modelled *modelled)
{
    struct tw_emu_figures f;
    if (!tw_emu_driver_figures(machine->driver, fd, context, sequence, &f))
        return 0;
    *modelled = (struct tw_modelled){.cycles = f.cycles,
                                     .launch_cycles = f.launch_cycles,
                                     .wait_cycles = f.wait_cycles,
                                     .read_bytes = f.read_bytes,
                                     .write_bytes = f.write_bytes,
                                     .bound = f.bound};
    return 1;
}
