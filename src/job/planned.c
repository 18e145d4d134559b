#include "job/planned.h"

#include <stdlib.h>
#include <string.h>

enum { PLANS_MAX = 4 };

void planned_free(struct planned *p)
{
    for (int32_t i = 0; p->launches != NULL && i < p->plan->n_steps; i++)
        launch_free(&p->launches[i]);
    free(p->launches);
    tw_plan_free(p->plan);
    free(p->tensors);
    free(p->ops);
    free(p);
}

void planned_drop_others(struct tw_runner *r, const struct planned *planned)
{
    for (struct planned *p = r->plans; p != NULL; p = p->next)
        for (int32_t i = 0; p != planned && p->launches != NULL && i < p->plan->n_steps; i++)
            launch_drop_job(&p->launches[i]);
}

/* ---- Graphs that are the same */

static int is_same_tensor(const struct tw_tensor *a, const struct tw_tensor *b)
{
    return a->type == b->type && a->storage == b->storage && a->constant == b->constant && a->cols == b->cols &&
           a->rows == b->rows && a->batch == b->batch && a->row_stride == b->row_stride &&
           a->batch_stride == b->batch_stride && a->base == b->base && a->offset == b->offset && a->data == b->data &&
           a->bytes == b->bytes;
}

static int is_same_op(const struct tw_op *a, const struct tw_op *b)
{
    return a->kind == b->kind && a->out == b->out && memcmp(a->in, b->in, sizeof a->in) == 0 &&
           memcmp(&a->scale, &b->scale, sizeof a->scale) == 0 && memcmp(&a->eps, &b->eps, sizeof a->eps) == 0 &&
           a->gelu == b->gelu && a->accumulate == b->accumulate && a->b_rows == b->b_rows && a->causal == b->causal &&
           a->keep_scores == b->keep_scores && a->past == b->past && a->heads == b->heads && a->stride == b->stride &&
           a->window == b->window;
}

static int is_for(const struct planned *p, const struct tw_graph *g, int apart)
{
    int same = p->n_tensors == g->n_tensors && p->n_ops == g->n_ops && p->apart == apart;
    for (int32_t i = 0; same && i < g->n_ops; i++)
        same = is_same_op(&p->ops[i], &g->ops[i]);
    for (int32_t i = 0; same && i < g->n_tensors; i++)
        same = is_same_tensor(&p->tensors[i], &g->tensors[i]);
    return same;
}

/* ---- Making */

static void *copy(const void *from, size_t n, size_t size)
{
    void *to = calloc(n > 0 ? n : 1, size);
    if (to != NULL && n > 0)
        memcpy(to, from, n * size);
    return to;
}

static int make_launches(struct planned *p, struct tw_error *err)
{
    int code = TW_OK, n = 0;
    p->launches = calloc((size_t)p->plan->n_steps + 1, sizeof p->launches[0]);
    if (p->launches == NULL)
        return tw_fail(err, TW_E_MEMORY, "no memory for a plan of %d steps", (int)p->plan->n_steps);
    for (int32_t i = 0; code == 0 && i < p->plan->n_steps; i++)
        if (p->plan->steps[i].kind == TW_STEP_LAUNCH) {
            code = launch_make(p->plan->graph, &p->plan->steps[i], &p->launches[i], err);
            n++;
        }
    p->is_for_host = n == 0;
    return code;
}

static void make_plan(struct tw_runner *r, const struct tw_graph *g, struct planned *p)
{
    const struct tw_plan_options options = {.apart = r->apart};
    struct tw_error why = {0};
    int code = tw_plan_make(g, &options, &p->plan, &why);
    if (code == 0)
        code = make_launches(p, &why);
    if (code == 0)
        return;
    p->is_for_host = 1;
    r->counts.fallbacks++;
    executor_failed(r->array, 0, &why);
}

static int make(struct tw_runner *r, const struct tw_graph *g, struct planned **planned, struct tw_error *err)
{
    struct planned *p = calloc(1, sizeof *p);
    if (p == NULL)
        return tw_fail(err, TW_E_MEMORY, "no memory for a plan");
    p->n_tensors = g->n_tensors;
    p->n_ops = g->n_ops;
    p->apart = r->apart;
    p->tensors = copy(g->tensors, (size_t)g->n_tensors, sizeof g->tensors[0]);
    p->ops = copy(g->ops, (size_t)g->n_ops, sizeof g->ops[0]);
    if (p->tensors == NULL || p->ops == NULL) {
        planned_free(p);
        return tw_fail(err, TW_E_MEMORY, "no memory for a plan of %d operations", (int)g->n_ops);
    }
    make_plan(r, g, p);
    *planned = p;
    return TW_OK;
}

/* Drops those that have not been used for longest. */
static void keep_few(struct tw_runner *r)
{
    struct planned **link = &r->plans;
    for (int i = 0; i < PLANS_MAX && *link != NULL; i++)
        link = &(*link)->next;
    while (*link != NULL) {
        struct planned *last = *link;
        *link = last->next;
        planned_free(last);
    }
}

int planned_find(struct tw_runner *r, const struct tw_graph *g, struct planned **planned, struct tw_error *err)
{
    struct planned **link = &r->plans;
    while (*link != NULL && !is_for(*link, g, r->apart))
        link = &(*link)->next;
    *planned = *link;
    if (*link != NULL) {
        *link = (*link)->next;
    } else {
        int code = make(r, g, planned, err);
        if (code < 0)
            return code;
    }
    (*planned)->next = r->plans;
    r->plans = *planned;
    keep_few(r);
    return TW_OK;
}
