/*
 * Small products in a row, while faults of all kinds come at random: each result is right, each failure counts once and
 * is told once, nothing leaks, and what comes later is as if nothing had been. With TILEWRIGHT_LONG in the environment
 * 10,000 of them, else 130; TILEWRIGHT_PRODUCTS says another number.
 */
#include "emu/fault.h"
#include "job/emulated_engine.h"
#include "job/machine.h"
#include "job/sample.h"

#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

enum { SHORT_RUN = 130, LONG_RUN = 10000, EPISODE = 13, KEPT = 3, SIDE_MAX = 70, TEXT = 200 };

static unsigned long products_to_run(void)
{
    const char *n = getenv("TILEWRIGHT_PRODUCTS");
    if (n != NULL)
        return strtoul(n, NULL, 10);
    return getenv("TILEWRIGHT_LONG") != NULL ? LONG_RUN : SHORT_RUN;
}

/* ---- one machine with its faults, and an engine on it */

enum kind { TOKEN, CORE, BIT, CONTEXT, MEMORY, HANG, SUSPEND, ALL_OF_THEM, KINDS };

struct episode {
    enum kind kind;
    char text[TEXT]; /* of faults */
    struct machine machine;
    struct tw_engine *engine;
    struct tw_random random;
    struct sample kept[KEPT]; /* that run again and again */
    int is_on_npu;
    int is_due; /* a core hangs with what it asked for after its last job, which a later product finds out */
    atomic_int first, last; /* warnings of a first failure, and that the NPU is left alone */
    uint64_t hit[KINDS];
};

struct totals {
    uint64_t products, launches, fallbacks, mismatches, refused, left_alone, hit[KINDS];
};

static void warn(void *arg, const char *sentence)
{
    struct episode *e = arg;
    atomic_fetch_add(strstr(sentence, "left alone") != NULL ? &e->last : &e->first, 1);
}

/* Once, early or late, or again and again with the given probability. */
static void add_fault(struct episode *e, const char *name, int early, int late, double probability)
{
    struct tw_random *r = &e->random;
    const size_t used = strlen(e->text);
    const char *comma = used > 0 ? "," : "";
    const int seed = (int)tw_random_range(r, 0, 1000);
    if (tw_random_range(r, 0, 1))
        snprintf(e->text + used, TEXT - used, "%s%s:%d:seed=%d", comma, name, (int)tw_random_range(r, early, late),
                 seed);
    else
        snprintf(e->text + used, TEXT - used, "%s%s:%.7f:seed=%d", comma, name, probability, seed);
}

static void choose_faults(struct episode *e)
{
    const int all = e->kind == ALL_OF_THEM;
    if (e->kind == TOKEN || all)
        add_fault(e, "token", 1, 2 * EPISODE, 0.05);
    if (e->kind == CORE || all)
        add_fault(e, "core", 1, 2000, 0.0002);
    if (e->kind == BIT || all)
        add_fault(e, "bit", 1, 5000 * EPISODE, 0.0003);
    if (e->kind == CONTEXT)
        add_fault(e, "context", 1, 2, 0.5);
    if (e->kind == MEMORY || all)
        add_fault(e, "memory", 1, 20, 0.03);
}

/* What becomes of a client: without a context it computes on the processor. */
static void open_engine(struct episode *e, struct totals *t)
{
    const struct tw_engine_options options = {.threads = 2, .verify = TW_VERIFY_ALL, .warn = warn, .arg = e};
    struct tw_error err = {0};
    e->is_on_npu = 1;
    if (tw_engine_open(e->machine.device, &options, &e->engine, &err) == 0)
        return;
    assert_null(e->engine);
    assert_true(err.code < 0 && err.text[0] != '\0');
    assert_true(
        tw_fault_count(e->machine.faults, TW_FAULT_CONTEXT) + tw_fault_count(e->machine.faults, TW_FAULT_MEMORY) > 0);
    t->refused++;
    e->is_on_npu = tw_engine_open(e->machine.device, &options, &e->engine, NULL) == 0;
    if (!e->is_on_npu)
        assert_int_equal(tw_engine_open(NULL, &options, &e->engine, NULL), 0);
}

static void make_sample(struct episode *e, struct sample *s)
{
    struct tw_random *r = &e->random;
    const int64_t m = sample_side(r, 1, SIDE_MAX), k = sample_side(r, 1, SIDE_MAX), n = sample_side(r, 1, SIDE_MAX);
    sample_make_exact(s, r, m, k, n);
}

static void begin(struct episode *e, uint64_t seed, struct totals *t)
{
    *e = (struct episode){.kind = (enum kind)(seed % KINDS), .random = {seed}};
    choose_faults(e);
    machine_create(&e->machine, e->text, MACHINE_BARE);
    open_engine(e, t);
    for (int i = 0; i < KEPT; i++)
        make_sample(e, &e->kept[i]);
}

/* ---- one product, and what it says of the faults that came meanwhile */

/* What happens from outside before a product. */
static void happen(struct episode *e)
{
    const int64_t chance = tw_random_range(&e->random, 0, 9);
    const int hang = e->kind == HANG || e->kind == CONTEXT || e->kind == ALL_OF_THEM;
    const int suspend = e->kind == SUSPEND || e->kind == ALL_OF_THEM;
    if (hang && chance < 3) {
        machine_hang(&e->machine);
        e->hit[HANG]++;
    }
    if (suspend && chance > 5) {
        machine_suspend(&e->machine);
        e->hit[SUSPEND]++;
    }
}

struct seen {
    uint64_t fatal, bits, memory;
    struct tw_engine_counts counts;
};

static struct seen look(struct episode *e)
{
    const struct tw_faults *f = e->machine.faults;
    struct seen s = {.bits = tw_fault_count(f, TW_FAULT_BIT), .memory = tw_fault_count(f, TW_FAULT_MEMORY)};
    s.fatal = tw_fault_count(f, TW_FAULT_TOKEN) + tw_fault_count(f, TW_FAULT_CORE) + e->hit[HANG];
    s.counts = engine_counts(e->engine);
    return s;
}

static void expect_counted(struct episode *e, const struct seen *before, int was_left_alone)
{
    const struct seen after = look(e);
    const uint64_t fallbacks = after.counts.fallbacks - before->counts.fallbacks;
    const uint64_t mismatches = after.counts.mismatches - before->counts.mismatches;
    const uint64_t computed = after.counts.products_on_npu + after.counts.products_on_host -
                              before->counts.products_on_npu - before->counts.products_on_host;
    const int fatal = after.fatal > before->fatal, bits = after.bits > before->bits;
    assert_int_equal(after.counts.runs, before->counts.runs + 1);
    assert_int_equal(computed, 1);
    const int is_tried = after.counts.launches + fallbacks > before->counts.launches;
    assert_true(fallbacks <= (uint64_t)(is_tried && !was_left_alone));
    const int memory = after.memory > before->memory;
    if (fallbacks > (uint64_t)(fatal || bits || memory || e->is_due))
        fail_msg("product %d failed without a reason with '%s'", (int)before->counts.runs, e->text);
    if ((e->kind == TOKEN || e->kind == HANG) && fatal && is_tried)
        assert_int_equal(fallbacks, 1);
    e->is_due = (e->is_due || fatal) && (fallbacks == 0 || memory);
    assert_true(mismatches <= (uint64_t)bits && mismatches <= fallbacks);
    if (e->first != (after.counts.fallbacks > 0))
        fail_msg("%d warnings of %d failures with '%s'", (int)e->first, (int)after.counts.fallbacks, e->text);
}

static void run_one(struct episode *e, struct sample *s, struct tw_pool *pool)
{
    char where[TEXT + 60];
    const struct seen before = look(e);
    const int was_left_alone = e->last;
    snprintf(where, sizeof where, "product %d of '%s'", (int)before.counts.runs, e->text);
    happen(e);
    sample_run(s, e->engine, where);
    expect_counted(e, &before, was_left_alone);
    if (tw_fault_count(e->machine.faults, TW_FAULT_BIT) == before.bits ||
        engine_counts(e->engine).fallbacks > before.counts.fallbacks)
        sample_check(s, pool, where);
    else
        sample_check_passed(s, where);
}

static void run_episode(struct episode *e, struct tw_pool *pool)
{
    for (int i = 0; i < EPISODE; i++) {
        struct sample s;
        if (tw_random_range(&e->random, 0, 1)) {
            run_one(e, &e->kept[tw_random_range(&e->random, 0, KEPT - 1)], pool);
            continue;
        }
        make_sample(e, &s);
        run_one(e, &s, pool);
        sample_forget(&s, e->engine);
        sample_free(&s);
    }
}

static void end(struct episode *e, struct totals *t)
{
    static const enum tw_fault_kind faults[] = {[TOKEN] = TW_FAULT_TOKEN,
                                                [CORE] = TW_FAULT_CORE,
                                                [BIT] = TW_FAULT_BIT,
                                                [CONTEXT] = TW_FAULT_CONTEXT,
                                                [MEMORY] = TW_FAULT_MEMORY};
    const struct tw_engine_counts c = engine_counts(e->engine);
    assert_true(e->last <= 1);
    if (e->is_on_npu && !e->last)
        assert_int_equal(c.products_on_npu + c.fallbacks, c.runs);
    for (int i = TOKEN; i <= MEMORY; i++)
        e->hit[i] = tw_fault_count(e->machine.faults, faults[i]);
    for (int i = 0; i < KINDS; i++)
        t->hit[i] += e->hit[i];
    t->products += c.runs;
    t->launches += c.launches;
    t->fallbacks += c.fallbacks;
    t->mismatches += c.mismatches;
    t->left_alone += (uint64_t)e->last;
    for (int i = 0; i < KEPT; i++)
        sample_free(&e->kept[i]);
    tw_engine_close(e->engine);
    tw_device_close(e->machine.device);
    machine_destroy(&e->machine);
}

/* ---- what the process holds */

struct held {
    long pages, files, maps;
};

static long count_files(void)
{
    DIR *d = opendir("/proc/self/fd");
    long n = 0;
    assert_non_null(d);
    while (readdir(d) != NULL)
        n++;
    closedir(d);
    return n;
}

static long count_lines(const char *path)
{
    FILE *f = fopen(path, "r");
    long n = 0;
    assert_non_null(f);
    for (int c = fgetc(f); c != EOF; c = fgetc(f))
        n += c == '\n';
    fclose(f);
    return n;
}

static struct held held_now(void)
{
    struct held h = {.files = count_files(), .maps = count_lines("/proc/self/maps")};
    FILE *f = fopen("/proc/self/statm", "r");
    assert_non_null(f);
    assert_int_equal(fscanf(f, "%*d %ld", &h.pages), 1);
    fclose(f);
    return h;
}

/* Sanitizers keep what was freed. */
static int is_sanitized(void)
{
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    return 1;
#else
    return 0;
#endif
}

static void expect_no_more(const struct held *before, const struct held *after)
{
    const long more = (after->pages - before->pages) * sysconf(_SC_PAGESIZE);
    print_message("memory: %ld KiB more, %ld files more, %ld mappings more\n", more / 1024,
                  after->files - before->files, after->maps - before->maps);
    assert_int_equal(after->files, before->files);
    if (is_sanitized())
        return;
    assert_true(more < 16 << 20);
    assert_true(after->maps - before->maps < 20);
}

static void print(const struct totals *t)
{
    static const char *const names[KINDS] = {"tokens", "cores", "bits", "contexts", "allocations", "hangs", "suspends"};
    print_message("%llu products, %llu launches, %llu on the processor after a failure, of these %llu proved wrong; "
                  "%llu engines refused, %llu left alone\n",
                  (unsigned long long)t->products, (unsigned long long)t->launches, (unsigned long long)t->fallbacks,
                  (unsigned long long)t->mismatches, (unsigned long long)t->refused, (unsigned long long)t->left_alone);
    for (int i = 0; i < ALL_OF_THEM; i++)
        print_message("%s %llu%s", names[i], (unsigned long long)t->hit[i], i + 1 < ALL_OF_THEM ? ", " : "\n");
}

static void in_a_row(void **state)
{
    const uint64_t wanted = products_to_run();
    struct tw_pool *pool;
    struct totals t = {0};
    struct held before = {0};
    uint64_t seed = 1;
    (void)state;
    assert_int_equal(tw_pool_create(1, &pool, NULL), 0);
    for (; t.products < wanted; seed++) {
        struct episode e;
        if (seed == 2 * KINDS + 1 || (seed == KINDS + 1 && wanted <= SHORT_RUN))
            before = held_now();
        begin(&e, seed, &t);
        run_episode(&e, pool);
        end(&e, &t);
    }
    const struct held after = held_now();
    print(&t);
    if (before.files > 0)
        expect_no_more(&before, &after);
    assert_true(t.fallbacks > 0 && t.launches > t.fallbacks);
    tw_pool_destroy(pool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(in_a_row)};
    return cmocka_run_group_tests_name("product_faults", tests, NULL, NULL);
}
