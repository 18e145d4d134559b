/*
 * The job program on an emulated core in strict mode. The test plays the tile's DMA: it fills the buffers of A and B as
 * soon as they are free, reads C when it is full, and spoils what it may.
 */
#include "base/random.h"
#include "emu/core.h"
#include "isa/rules.h"
#include "kernels/job.h"
#include "kernels/job_program.h"
#include "kernels/twin_job.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

enum {
    LOCKS = 6,
    STEPS_MAX = 4,
    PASSING_MAX = 9, /* blocks of the addend on one side that are not the core's own */
    ADDEND_MAX = 2 * PASSING_MAX + TW_JOB_MAX / 16,
    BLOCK = TW_JOB_MAX * TW_JOB_DEPTH,
    SPOILED = 0xa5
};

struct job {
    uint32_t header[BLOCK / 2];
    uint16_t a[(STEPS_MAX + ADDEND_MAX) * BLOCK], b[STEPS_MAX * BLOCK];
    uint32_t expected[TW_JOB_MAX * TW_JOB_MAX];
};

struct tile {
    struct tw_job_program *program;
    struct tw_core *core;
    struct tw_error err;
    int locks[LOCKS];
    unsigned next_a, next_b; /* which buffer comes next */
    unsigned sent_a, sent_b; /* blocks of the present job; the header is the first of B */

    uint8_t memory[TW_DATA_BYTES];
};

static const uint32_t buffers_a[2] = {TW_JOB_A0, TW_JOB_A1}, buffers_b[2] = {TW_JOB_B0, TW_JOB_B1};

static uint32_t rows_of(const struct job *job)
{
    return job->header[TW_JOB_M] * TW_JOB_UNIT;
}

static uint32_t columns_of(const struct job *job)
{
    return job->header[TW_JOB_N] * TW_JOB_UNIT;
}

/* Blocks that come by the way of A. */
static uint32_t blocks_a(const struct job *job)
{
    const uint32_t *h = job->header;
    return h[TW_JOB_STEPS] +
           ((h[TW_JOB_FLAGS] & TW_JOB_ADDEND) != 0 ? h[TW_JOB_BEFORE] + h[TW_JOB_N] + h[TW_JOB_BEHIND] : 0);
}

/* ---- the tile */

static struct tile *make_tile(void)
{
    struct tile *t = calloc(1, sizeof *t);

    assert_non_null(t);
    struct tw_core_options options = {.strict = 1, .name = "core (0, 2)", .windows = {NULL, NULL, NULL, t->memory}};
    memset(t->memory, SPOILED, sizeof t->memory);
    t->locks[TW_JOB_A_EMPTY] = t->locks[TW_JOB_B_EMPTY] = 2;
    t->locks[TW_JOB_C_EMPTY] = 1;
    if (tw_job_program_make(&t->program, &t->err) != 0 || tw_core_create(&options, &t->core, &t->err) != 0)
        fail_msg("%s", t->err.text);
    assert_int_equal(tw_core_write_program(t->core, 0, t->program->bytes, t->program->size), 0);
    for (size_t i = 0; i < t->program->n_old; i++) {
        const struct tw_as_old *old = &t->program->old[i];
        assert_int_equal(tw_core_expect_old(t->core, old->address, old->leaves, old->n), 0);
    }
    return t;
}

static void free_tile(struct tile *t)
{
    tw_core_free(t->core);
    tw_job_program_free(t->program);
    free(t);
}

/* ---- its DMA */

static void send_a(struct tile *t, const struct job *job)
{
    size_t numbers = (size_t)TW_JOB_DEPTH * rows_of(job);

    while (t->locks[TW_JOB_A_EMPTY] > 0 && t->sent_a < blocks_a(job)) {
        memcpy(t->memory + buffers_a[t->next_a], job->a + t->sent_a * numbers, numbers * 2);
        t->next_a ^= 1;
        t->sent_a++;
        t->locks[TW_JOB_A_EMPTY]--;
        t->locks[TW_JOB_A_FULL]++;
    }
}

static void send_b(struct tile *t, const struct job *job)
{
    size_t numbers = (size_t)TW_JOB_DEPTH * columns_of(job);

    while (t->locks[TW_JOB_B_EMPTY] > 0 && t->sent_b <= job->header[TW_JOB_STEPS]) {
        const void *block = t->sent_b == 0 ? (const void *)job->header : job->b + (t->sent_b - 1) * numbers;
        memcpy(t->memory + buffers_b[t->next_b], block, numbers * 2);
        t->next_b ^= 1;
        t->sent_b++;
        t->locks[TW_JOB_B_EMPTY]--;
        t->locks[TW_JOB_B_FULL]++;
    }
}

/* The buffer that the core gives back, which is the older one of those that are full, means nothing any more. */
static void spoil(struct tile *t, unsigned lock)
{
    if (lock == TW_JOB_A_EMPTY)
        memset(t->memory + buffers_a[t->next_a ^ (unsigned)(t->locks[TW_JOB_A_EMPTY] == 0 ? 0 : 1)], SPOILED,
               BLOCK * 2);
    if (lock == TW_JOB_B_EMPTY)
        memset(t->memory + buffers_b[t->next_b ^ (unsigned)(t->locks[TW_JOB_B_EMPTY] == 0 ? 0 : 1)], SPOILED,
               BLOCK * 2);
}

/* What the core asks for happens at once, or never. */
static void answer(struct tile *t)
{
    const struct tw_core_request *request = tw_core_request(t->core);
    struct tw_core_answer reply = {.cycle = request->cycle, .success = 1};
    unsigned lock = request->lock - (unsigned)TW_LOCK_OWN;

    assert_true(lock < LOCKS);
    if (request->kind == TW_REQUEST_RELEASE) {
        assert_int_equal(request->value, 1);
        spoil(t, lock);
        t->locks[lock]++;
    } else {
        assert_int_equal(request->kind, TW_REQUEST_ACQUIRE);
        assert_int_equal(request->value, -1);
        assert_true(t->locks[lock] > 0);
        t->locks[lock]--;
    }
    tw_core_answer(t->core, &reply);
}

/* Runs one job to its end, and compares C. Returns the cycles from the first request to C full; *stalls: those for
 * banks. */
static uint64_t run_job(struct tile *t, const struct job *job, uint64_t *stalls)
{
    uint32_t at = tw_job_c_offset(rows_of(job), columns_of(job));
    size_t bytes = (size_t)rows_of(job) * columns_of(job) * ((job->header[TW_JOB_FLAGS] & TW_JOB_BF16) != 0 ? 2 : 4);
    struct tw_core_counts before = tw_core_counts(t->core);

    t->sent_a = t->sent_b = 0;
    while (t->locks[TW_JOB_C_FULL] == 0 || t->locks[TW_JOB_A_EMPTY] < 2) {
        send_b(t, job);
        send_a(t, job);
        enum tw_core_state state = tw_core_run(t->core, tw_core_clock(t->core) + 100000, &t->err);
        if (state == TW_CORE_FAILED)
            fail_msg("%s", t->err.text);
        assert_int_equal(state, TW_CORE_REQUEST);
        answer(t);
    }
    struct tw_core_counts after = tw_core_counts(t->core);
    *stalls = after.bank_stalls - before.bank_stalls;
    assert_int_equal(t->locks[TW_JOB_A_EMPTY], 2);
    assert_int_equal(t->locks[TW_JOB_B_EMPTY], 2);
    assert_memory_equal(t->memory + at, job->expected, bytes);
    memset(t->memory, SPOILED, TW_JOB_C_END);
    t->locks[TW_JOB_C_FULL]--;
    t->locks[TW_JOB_C_EMPTY]++;
    return after.bundles - before.bundles;
}

/* ---- jobs */

/* A bf16 number: of middling size, or anything at all. */
static uint16_t number(struct tw_random *random, int wild)
{
    uint64_t bits = tw_random_u64(random);
    uint16_t exponent = (uint16_t)(0x3b80 + (bits >> 32) % 8 * 0x80);

    if (wild && (bits >> 40) % 16 == 0)
        return (uint16_t)bits;
    return (uint16_t)((bits & 0x807f) | exponent);
}

/* All blocks of the addend, those of other cores too. */
static void make_addend(struct job *job, struct tw_random *random, int wild)
{
    const uint32_t block = TW_JOB_DEPTH * rows_of(job);

    job->header[TW_JOB_BEFORE] = (uint32_t)tw_random_range(random, 0, PASSING_MAX);
    job->header[TW_JOB_BEHIND] = (uint32_t)tw_random_range(random, 0, PASSING_MAX);
    for (uint32_t i = job->header[TW_JOB_STEPS] * block; i < blocks_a(job) * block; i += 2) {
        job->a[i] = (uint16_t)tw_random_u64(random);
        job->a[i + 1] = number(random, wild);
    }
}

static void make_job(struct job *job, struct tw_random *random, uint32_t m, uint32_t n, uint32_t steps, uint32_t flags,
                     int wild)
{
    memset(job->header, SPOILED, sizeof job->header);
    job->header[TW_JOB_STEPS] = steps;
    job->header[TW_JOB_FLAGS] = flags;
    job->header[TW_JOB_M] = m / TW_JOB_UNIT;
    job->header[TW_JOB_N] = n / TW_JOB_UNIT;
    job->header[TW_JOB_BEFORE] = job->header[TW_JOB_BEHIND] = 0;
    job->header[TW_JOB_C] = TW_JOB_DATA + tw_job_c_offset(m, n);
    for (uint32_t i = 0; i < n; i++)
        job->header[TW_JOB_BIAS + i] =
            (uint32_t)number(random, wild) << 16 | (uint32_t)(tw_random_u64(random) & 0xffff);
    for (uint32_t i = 0; i < steps * TW_JOB_DEPTH * m; i++)
        job->a[i] = number(random, wild);
    for (uint32_t i = 0; i < steps * TW_JOB_DEPTH * n; i++)
        job->b[i] = number(random, wild);
    if ((flags & TW_JOB_ADDEND) != 0)
        make_addend(job, random, wild);
    tw_twin_job(job->header, job->a, job->b, job->expected);
}

static uint32_t side(struct tw_random *random)
{
    return TW_JOB_UNIT * (uint32_t)tw_random_range(random, 1, TW_JOB_MAX / TW_JOB_UNIT);
}

static void one_after_another(void **state)
{
    static const uint32_t flags[] = {0,
                                     TW_JOB_TRANSPOSED,
                                     TW_JOB_ADD_BIAS,
                                     TW_JOB_BF16,
                                     TW_JOB_ADD_BIAS | TW_JOB_BF16,
                                     TW_JOB_GELU,
                                     TW_JOB_GELU | TW_JOB_BF16,
                                     TW_JOB_ADD_BIAS | TW_JOB_GELU | TW_JOB_BF16 | TW_JOB_TRANSPOSED,
                                     TW_JOB_ADDEND,
                                     TW_JOB_ADDEND | TW_JOB_BF16,
                                     TW_JOB_ADDEND | TW_JOB_GELU,
                                     TW_JOB_ADDEND | TW_JOB_ADD_BIAS | TW_JOB_GELU | TW_JOB_BF16};
    enum { KINDS = sizeof flags / sizeof flags[0] };
    static struct job job;
    struct tile *t = make_tile();
    struct tw_random random = {8};
    uint64_t stalls;

    (void)state;
    for (unsigned i = 0; i < 5 * KINDS; i++) {
        uint32_t m = side(&random), n = i % 10 == 0 ? TW_JOB_UNIT : side(&random);
        make_job(&job, &random, i % 10 == 0 ? TW_JOB_UNIT : m, n, (uint32_t)tw_random_range(&random, 1, STEPS_MAX),
                 flags[i % KINDS], 0);
        run_job(t, &job, &stalls);
    }
    free_tile(t);
}

/* Banks of memory are asked for one access at a time, whatever the shape is; but for rounding alone, see what it costs.
 */
static void all_shapes(void **state)
{
    static const uint32_t flags[] = {TW_JOB_TRANSPOSED | TW_JOB_ADDEND, TW_JOB_ADD_BIAS | TW_JOB_GELU,
                                     TW_JOB_GELU | TW_JOB_BF16};
    static struct job job;
    struct tile *t = make_tile();
    struct tw_random random = {11};
    uint64_t stalls;

    (void)state;
    for (uint32_t m = TW_JOB_UNIT; m <= TW_JOB_MAX; m += TW_JOB_UNIT)
        for (uint32_t n = TW_JOB_UNIT; n <= TW_JOB_MAX; n += TW_JOB_UNIT) {
            make_job(&job, &random, m, n, 1, flags[(m + n) / TW_JOB_UNIT % 3], 0);
            run_job(t, &job, &stalls);
            assert_int_equal(stalls, 0);
        }
    free_tile(t);
}

/* Denormal, infinite, huge and no numbers at all. */
static void wild_numbers(void **state)
{
    static struct job job;
    struct tile *t = make_tile();
    struct tw_random random = {9};
    uint64_t stalls;

    (void)state;
    for (uint32_t flags = 0; flags < 32; flags++) {
        make_job(&job, &random, 32, 48, 2, flags, 1);
        run_job(t, &job, &stalls);
    }
    free_tile(t);
}

/* ---- speed */

struct times {
    unsigned bundles, stalls;
};

static struct times time_job(struct tile *t, uint32_t steps, uint32_t flags)
{
    static struct job job;
    struct tw_random random = {10};
    uint64_t stalls, bundles;

    make_job(&job, &random, TW_JOB_MAX, TW_JOB_MAX, steps, flags, 0);
    bundles = run_job(t, &job, &stalls);
    return (struct times){(unsigned)bundles, (unsigned)stalls};
}

static void a_step_is_fast(void **state)
{
    enum { MORE = 3 };
    struct tile *t = make_tile();
    struct times one = time_job(t, 1, 0), several = time_job(t, 1 + MORE, 0);
    unsigned step = (several.bundles - one.bundles) / MORE;

    (void)state;
    print_message("a step of 96 x 96 x 32: %u bundles; the rest of a job %u\n", step, one.bundles - step);
    assert_int_equal(several.stalls, 0); /* no bank of memory is asked for two accesses at once */
    assert_true(step <= 2480);
    free_tile(t);
}

/* What bias, GELU and rounding cost for a block of 96 x 96, in cycles. */
static void what_follows_is_fast(void **state)
{
    static const struct {
        const char *name;
        uint32_t flags;
        unsigned most;
    } rows[] = {{"bias", TW_JOB_ADD_BIAS, 1250},
                {"rounding to bf16", TW_JOB_BF16, 1500},
                {"GELU", TW_JOB_GELU, 10000},
                {"GELU and rounding", TW_JOB_GELU | TW_JOB_BF16, 9500},
                {"addend", TW_JOB_ADDEND, 6000}};
    struct tile *t = make_tile();
    struct times plain = time_job(t, 1, 0);

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct times times = time_job(t, 1, rows[i].flags);
        unsigned bundles = times.bundles - plain.bundles, stalls = times.stalls - plain.stalls;
        print_message("%s: %u bundles and %u stalls\n", rows[i].name, bundles, stalls);
        assert_true(bundles + stalls <= rows[i].most);
    }
    free_tile(t);
}

static void loops_of_the_product_reach_their_bounds(void **state)
{
    struct tw_job_program *program = NULL;
    struct tw_error err;

    (void)state;
    if (tw_job_program_make(&program, &err) != 0)
        fail_msg("%s", err.text);
    assert_int_equal(program->assembly->n_messages, 0);
    assert_true(program->size <= TW_PROGRAM_BYTES);
    print_message("%zu bytes of program\n", program->size);
    for (size_t i = 0; i < program->assembly->n_scheduled; i++) {
        const struct tw_sched_code *code = program->assembly->scheduled[i].code;
        for (size_t k = 0; k < code->n_loops; k++) {
            int product = strcmp(program->assembly->scheduled[i].place.file, "job_product.s") == 0;
            print_message("%s, line %u: %u bundles, bound %u (%s)\n", program->assembly->scheduled[i].place.file,
                          code->loops[k].line, code->loops[k].interval, code->loops[k].bound, code->loops[k].bound_by);
            assert_true(!product || code->loops[k].interval == 32); /* of a group: one product in each bundle */
        }
    }
    tw_job_program_free(program);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_after_another),    cmocka_unit_test(all_shapes),
        cmocka_unit_test(wild_numbers),         cmocka_unit_test(a_step_is_fast),
        cmocka_unit_test(what_follows_is_fast), cmocka_unit_test(loops_of_the_product_reach_their_bounds)};
    return cmocka_run_group_tests_name("job", tests, NULL, NULL);
}
