/*
 * Random life: commands that work, fail and hang, suspensions, resets, contexts that come and go, files that close in
 * the middle. Whatever happened, in the end a fresh context works.
 */
#include "emu/driver/rig.h"

#include "base/random.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <cmocka.h>

enum { FILES = 2, CONTEXTS = 4, COMMANDS = 3, STEPS = 40, LIVES = 200 };

struct seat {
    int used;
    struct rig_context context;
    struct rig_buffer commands[COMMANDS], out; /* contexts run side by side: no two write the same buffer */
    int busy[COMMANDS]; /* submitted and not waited for */
    uint64_t sequences[COMMANDS];
    uint64_t last;
};

struct file {
    struct rig rig;
    int open;
    struct seat seats[CONTEXTS];
    struct rig_buffer codes[4];
};

struct life {
    struct rig owner;
    struct file files[FILES];
    struct tw_random random;
    uint64_t lost; /* commands that did not complete */
};

static unsigned pick(struct life *l, unsigned n)
{
    return (unsigned)tw_random_range(&l->random, 0, n - 1);
}

static void open_file(struct life *l, struct file *f)
{
    static const enum action actions[4] = {DO_COUNT, DO_TAKE, DO_FAIL, DO_HANG};
    memset(f, 0, sizeof *f);
    rig_second(&f->rig, &l->owner);
    f->open = 1;
    for (unsigned i = 0; i < 4; i++)
        f->codes[i] = rig_code(&f->rig, actions[i], 3000);
}

static void unmap_seat(const struct rig *rig, struct seat *s)
{
    for (unsigned k = 0; k < COMMANDS; k++)
        rig_unmap(rig, &s->commands[k]);
    rig_unmap(rig, &s->out);
}

static void close_file(struct file *f)
{
    struct rig rig = f->rig;
    for (unsigned i = 0; i < CONTEXTS; i++)
        if (f->seats[i].used)
            unmap_seat(&rig, &f->seats[i]);
    rig_free(&rig);
    f->open = 0;
}

static void create(struct file *f, struct seat *s)
{
    struct tw_xdna_create_context made;
    int r = rig_try_context(&f->rig, 8, &made);
    if (r == -EINVAL || r == -ENODEV)
        return; /* six in the whole, or none until a reset */
    assert_int_equal(r, 0);
    *s = (struct seat){.used = 1};
    s->context.handle = made.handle;
    s->context.syncobj = made.syncobj;
    s->context.pdi = rig_buffer(&f->rig, TW_XDNA_DEVICE, 4096);
    memcpy(s->context.pdi.host, "good", 4);
    rig_flush(&f->rig, &s->context.pdi);
    struct tw_xdna_cus cus = {.count = 1, .cu = {{.buffer = s->context.pdi.handle}}};
    assert_int_equal(rig_config(&f->rig, made.handle, &cus, 16), 0);
    for (unsigned k = 0; k < COMMANDS; k++)
        s->commands[k] = rig_buffer(&f->rig, TW_XDNA_COMMAND, 4096);
    s->out = rig_buffer(&f->rig, TW_XDNA_SHARE, 4096);
}

static void collect(struct life *l, struct file *f, struct seat *s, unsigned k)
{
    if (!s->busy[k])
        return;
    assert_int_equal(rig_wait(&f->rig, s->context.syncobj, s->sequences[k], INT64_MAX), 0);
    enum tw_packet_state state = tw_packet_state(rig_word(&s->commands[k], 0));
    assert_true(state == TW_PACKET_COMPLETED || state == TW_PACKET_ERROR || state == TW_PACKET_TIMEOUT ||
                state == TW_PACKET_ABORT || state == TW_PACKET_NEW);
    if (state == TW_PACKET_ERROR || state == TW_PACKET_TIMEOUT || state == TW_PACKET_ABORT)
        assert_int_equal(rig_word(&s->commands[k], 1), UINT32_MAX);
    l->lost += state != TW_PACKET_COMPLETED;
    s->busy[k] = 0;
}

static void submit(struct life *l, struct file *f, struct seat *s)
{
    unsigned k = pick(l, COMMANDS);
    collect(l, f, s, k);
    rig_packet(&s->commands[k], &f->codes[pick(l, 4)], &s->out, 1);
    assert_int_equal(rig_submit(&f->rig, s->context.handle, &s->commands[k], &s->out.handle, 1, &s->sequences[k]), 0);
    s->busy[k] = 1;
}

static void destroy(struct file *f, struct seat *s)
{
    assert_int_equal(rig_destroy(&f->rig, s->context.handle), 0);
    unmap_seat(&f->rig, s);
    rig_close_buffer(&f->rig, s->out.handle);
    rig_close_buffer(&f->rig, s->context.pdi.handle);
    s->used = 0;
}

static void step(struct life *l)
{
    struct file *f = &l->files[pick(l, FILES)];
    if (!f->open)
        open_file(l, f);
    struct seat *s = &f->seats[pick(l, CONTEXTS)];
    unsigned what = pick(l, 20);
    if (what == 0)
        close_file(f);
    else if (what == 1)
        tw_emu_driver_event(l->owner.driver, TW_EMU_SUSPEND);
    else if (what == 2)
        tw_emu_driver_event(l->owner.driver, TW_EMU_RESET);
    else if (what == 3)
        tw_emu_driver_event(l->owner.driver, TW_EMU_HANG);
    else if (!s->used)
        create(f, s);
    else if (what == 4)
        destroy(f, s);
    else if (what < 8)
        collect(l, f, s, pick(l, COMMANDS));
    else
        submit(l, f, s);
}

static void still_usable(struct life *l)
{
    struct rig rig;
    for (unsigned i = 0; i < FILES; i++)
        if (l->files[i].open)
            close_file(&l->files[i]);
    tw_emu_driver_event(l->owner.driver, TW_EMU_RESET);
    rig_second(&rig, &l->owner);
    struct rig_context context = rig_context(&rig, 4);
    struct rig_buffer command = rig_buffer(&rig, TW_XDNA_COMMAND, 4096);
    struct rig_buffer out = rig_buffer(&rig, TW_XDNA_SHARE, 4096);
    struct rig_buffer code = rig_code(&rig, DO_COUNT, 0);
    rig_packet(&command, &code, &out, 1);
    assert_int_equal(rig_do(&rig, &context, &command, &out, 1), TW_PACKET_COMPLETED);
    rig_flush(&rig, &out);
    assert_int_equal(rig_word(&out, 0), 1);
    rig_unmap(&rig, &command);
    rig_unmap(&rig, &out);
    rig_free(&rig);
}

static void live(uint64_t seed, uint64_t *lost)
{
    struct life l = {.random = {seed}};
    struct tw_emu_driver_options options = {
        .recovery = seed % 3 == 0 ? TW_EMU_STAYS_REFUSED : TW_EMU_RECOVERS,
        .coherent = seed % 2 == 0,
        .old_firmware = seed % 5 == 0,
        .hangs_for_ever = 0,
    };
    rig_create(&l.owner, &options);
    for (unsigned i = 0; i < STEPS; i++)
        step(&l);
    still_usable(&l);
    rig_free(&l.owner);
    *lost += l.lost;
}

static void lives(void **state)
{
    uint64_t lost = 0;
    (void)state;
    for (uint64_t seed = 1; seed <= LIVES; seed++)
        live(seed, &lost);
    assert_true(lost > LIVES); /* there was something to recover from */
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(lives)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
