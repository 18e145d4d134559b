/* Plans of random graphs keep all rules, and compute what the graphs compute. */
#include "base/memory.h"
#include "host/host.h"
#include "job/array_model.h"
#include "job/plan_check.h"
#include "job/random_graph.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

/* Long chains of operations can let numbers grow; where they are beyond this, nothing is said about them. */
#define LARGEST 1e6

static struct tw_host *open_host(void)
{
    struct tw_error err = {0};
    struct tw_host *host;
    const struct tw_host_options options = {.threads = 1};
    assert_int_equal(tw_host_create(&options, &host, &err), TW_OK);
    return host;
}

/* What is in all memory that operations write, as floats, one block after the other. */
static float *take(const struct random_graph *r)
{
    int64_t n = 0, at = 0;
    for (int i = 0; i < r->n_blocks; i++)
        n += r->blocks[i].numbers;
    float *all = malloc((size_t)n * sizeof *all);
    assert_non_null(all);
    for (int i = 0; i < r->n_blocks; i++) {
        tw_row_to_f32(r->blocks[i].type, r->blocks[i].now, all + at, r->blocks[i].numbers);
        at += r->blocks[i].numbers;
    }
    return all;
}

/*
 * A number may be off by what bf16 makes of it after some operations, no more; a wrong row, column or matrix is off by
 * as much as numbers are large.
 */
static void compare(const struct random_graph *r, const float *want, const float *have, uint64_t seed, const char *what)
{
    int64_t at = 0;
    for (int i = 0; i < r->n_blocks; at += r->blocks[i++].numbers) {
        double size = 0, error = 0, worst = 0;
        if (r->blocks[i].type == TW_F32 && !r->blocks[i].is_result)
            continue;
        for (int64_t j = at; j < at + r->blocks[i].numbers; j++) {
            const double off = fabs((double)want[j] - (double)have[j]);
            size += (double)want[j] * (double)want[j];
            error += off * off;
            worst = off > worst || isnan(off) ? off : worst;
        }
        size = sqrt(size / (double)r->blocks[i].numbers);
        if (!(size < LARGEST))
            continue;
        error = sqrt(error / (double)r->blocks[i].numbers);
        if (!(error <= 0.08 * size) || !(worst <= 0.5 * size)) {
            tw_graph_print(r->g, stderr);
            fail_msg("seed %llu, %s: block %d is off by %g, at worst %g, of %g", (unsigned long long)seed, what, i,
                     error, worst, size);
        }
    }
}

static void poison(unsigned char *work, size_t bytes)
{
    memset(work, 0xff, bytes);
}

static void run_both(struct random_graph *r, const struct tw_plan *plan, uint64_t seed)
{
    struct tw_error err = {0};
    struct tw_host *host = open_host();
    unsigned char *work = tw_alloc(plan->graph->work_bytes + TW_ALIGN);
    assert_non_null(work);
    if (tw_host_run(host, r->g, &err) != TW_OK)
        fail_msg("seed %llu: %s", (unsigned long long)seed, err.text);
    float *want = take(r);
    for (int on_array = 0; on_array < 2; on_array++) {
        random_graph_restore(r);
        poison(work, plan->graph->work_bytes);
        if (on_array)
            array_model_run(plan, host, work);
        else
            assert_int_equal(tw_host_run_some(host, plan->graph, 0, plan->graph->n_ops, work, &err), TW_OK);
        float *have = take(r);
        compare(r, want, have, seed, on_array ? "on the array" : "on the CPU");
        free(have);
    }
    free(want);
    free(work);
    tw_host_destroy(host);
}

static void plan_and_run(uint64_t seed, int operations, int side, int apart)
{
    struct random_graph r;
    struct tw_plan *plan = NULL;
    struct tw_error err = {0};
    const struct tw_plan_options options = {.apart = apart};
    random_graph_make(&r, seed, operations, side);
    if (tw_plan_make(r.g, &options, &plan, &err) != TW_OK)
        fail_msg("seed %llu: %s", (unsigned long long)seed, err.text);
    plan_check(r.g, plan);
    run_both(&r, plan, seed);
    tw_plan_free(plan);
    random_graph_free(&r);
}

/* All on one thread, where the thread sanitizer has nothing to find and takes ten times as long. */
#if defined(__SANITIZE_THREAD__)
enum { SMALL = 20, WIDE = 4, LONG = 2 };
#else
enum { SMALL = 200, WIDE = 20, LONG = 10 };
#endif

static void small_graphs(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < SMALL; seed++)
        plan_and_run(seed, 12, 70, seed % 8 == 0);
}

static void wide_graphs(void **state)
{
    (void)state;
    for (uint64_t seed = 1000; seed < 1000 + WIDE; seed++)
        plan_and_run(seed, 10, 200, 0);
}

static void many_steps(void **state)
{
    (void)state;
    for (uint64_t seed = 2000; seed < 2000 + LONG; seed++)
        plan_and_run(seed, 60, 40, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(small_graphs),
        cmocka_unit_test(wide_graphs),
        cmocka_unit_test(many_steps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
