/* Plans of Whisper's encoder: as few launches as it can have, nothing between them that is not needed. */
#include "base/random.h"
#include "job/fake_whisper.h"
#include "job/plan_check.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

static struct tw_plan *plan_of(const struct tw_graph *g, int apart)
{
    struct tw_plan *plan = NULL;
    struct tw_error err = {0};
    const struct tw_plan_options options = {.apart = apart};
    if (tw_plan_make(g, &options, &plan, &err) != TW_OK)
        fail_msg("%s", err.text);
    return plan;
}

/* ---- The list of steps of the base model */

/* One line a step: names of operations, and in launches of products what they are added to. */
static void write_steps(const struct tw_plan *plan, FILE *to)
{
    for (int32_t s = 0; s < plan->n_steps; s++) {
        const struct tw_step *step = &plan->steps[s];
        fputs(step->kind == TW_STEP_LAUNCH ? "launch" : "cpu", to);
        for (int32_t i = step->first; i < step->first + step->count; i++) {
            const struct tw_op *op = &plan->graph->ops[i];
            const struct tw_tensor *out = &plan->graph->tensors[op->out], *b;
            fprintf(to, " %s", tw_op_name(op->kind));
            if (op->kind == TW_OP_PRODUCT) {
                b = &plan->graph->tensors[op->in[1]];
                fprintf(to, "(%s%s%s%s)", b->name, out->batch > 1 ? " batch" : "", op->gelu ? " gelu" : "",
                        op->in[3] != TW_NONE ? " onto" : "");
            }
        }
        fputc('\n', to);
    }
}

static const char conv_steps[] = "cpu im2col\n"
                                 "launch product(conv1 gelu)\n"
                                 "cpu im2col\n"
                                 "launch product(conv2 gelu)\n"
                                 "cpu add layer_norm\n";
static const char layer_steps[] = "launch product(attn q) product(attn k) product(attn v) product(k batch)\n"
                                  "cpu softmax\n"
                                  "launch product(v batch) product(attn out onto)\n"
                                  "cpu layer_norm\n"
                                  "launch product(mlp up gelu) product(mlp down onto)\n";
static const char cross_steps[] =
    "cpu layer_norm copy\n"
    "launch product(cross k) product(cross v) product(cross k) product(cross v) product(cross k) product(cross v) "
    "product(cross k) product(cross v) product(cross k) product(cross v) product(cross k) product(cross v)\n"
    "cpu copy copy copy copy copy copy copy copy copy copy copy copy\n";

static void steps_of_base(void **state)
{
    (void)state;
    static char have[8192], want[8192];
    struct tw_graph *g = fake_whisper_graph(&fake_whispers[1], 1500);
    struct tw_plan *plan = plan_of(g, 0);
    FILE *to = fmemopen(have, sizeof have, "w");
    assert_non_null(to);
    write_steps(plan, to);
    fclose(to);
    strcpy(want, conv_steps);
    for (int i = 0; i < 6; i++) {
        strcat(want, layer_steps);
        strcat(want, i < 5 ? "cpu layer_norm\n" : cross_steps);
    }
    assert_string_equal(have, want);
    tw_plan_free(plan);
    tw_graph_destroy(g);
}

/* Scores of the first layer are in f32, those of the others in bf16. */
static void first_scores(void **state)
{
    (void)state;
    struct tw_graph *g = fake_whisper_graph(&fake_whispers[1], 1500);
    struct tw_plan *plan = plan_of(g, 0);
    int layers = 0;
    for (int32_t i = 0; i < plan->graph->n_ops; i++) {
        const struct tw_op *op = &plan->graph->ops[i];
        if (op->kind != TW_OP_SOFTMAX)
            continue;
        assert_int_equal(plan->graph->tensors[op->in[0]].type, layers == 0 ? TW_F32 : TW_BF16);
        layers++;
    }
    assert_int_equal(layers, 6);
    tw_plan_free(plan);
    tw_graph_destroy(g);
}

/* ---- All sizes */

static void check_encoder(const struct fake_whisper *size, int32_t ctx)
{
    struct tw_graph *g = fake_whisper_graph(size, ctx);
    struct tw_plan *plan = plan_of(g, 0);
    plan_check(g, plan);
    if (plan_launches(plan) > 3 * size->layers + 3)
        fail_msg("%s, %d positions: %d launches", size->name, (int)ctx, plan_launches(plan));
    tw_plan_free(plan);
    tw_graph_destroy(g);
}

static void full_context(void **state)
{
    (void)state;
    for (int i = 0; i < FAKE_WHISPERS; i++)
        check_encoder(&fake_whispers[i], 1500);
}

static void any_context(void **state)
{
    (void)state;
    struct tw_random random = {5};
    for (int i = 0; i < 40; i++)
        check_encoder(&fake_whispers[i % FAKE_WHISPERS],
                      i < 12 ? 1 + i / 2 : (int32_t)tw_random_range(&random, 1, 1500));
}

static void launches_apart(void **state)
{
    (void)state;
    struct tw_graph *g = fake_whisper_graph(&fake_whispers[0], 1500);
    struct tw_plan *plan = plan_of(g, 1);
    plan_check(g, plan);
    for (int32_t s = 0; s < plan->n_steps; s++)
        if (plan->steps[s].kind == TW_STEP_LAUNCH)
            assert_int_equal(plan->steps[s].count, 1);
    assert_int_equal(plan_launches(plan), 2 + 8 * 4 + 2 * 4);
    tw_plan_free(plan);
    tw_graph_destroy(g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(steps_of_base), cmocka_unit_test(first_scores),   cmocka_unit_test(full_context),
        cmocka_unit_test(any_context),   cmocka_unit_test(launches_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
