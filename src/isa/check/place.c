/* Loops, jumps, and what lies in delay slots. */
#include "isa/check/state.h"

#include <stdlib.h>

static enum tw_finding_kind kind_of(enum tw_check_place what)
{
    switch (what) {
    case PLACE_BRANCH_IN_SLOT:
    case PLACE_LOCK_IN_SLOT:
    case PLACE_END_IN_SLOT:
    case PLACE_TWO_BRANCHES:
        return TW_FINDING_DELAY_SLOT;
    case PLACE_TARGET_ALIGN:
    case PLACE_TARGET_INSIDE:
    case PLACE_TARGET_OUTSIDE:
    case PLACE_RETURN_ALIGN:
        return TW_FINDING_TARGET;
    case PLACE_TARGET_UNKNOWN:
    case PLACE_END:
    case PLACE_PATHS:
    case PLACE_LOOP_UNKNOWN:
        return TW_FINDING_FLOW;
    case PLACE_SIZE:
        return TW_FINDING_SIZE;
    default:
        return TW_FINDING_LOOP;
    }
}

static void add(struct tw_check *c, enum tw_check_place what, uint32_t bundle, uint32_t other, int64_t number)
{
    tw_check_add(
        c, (struct tw_check_hit){(uint8_t)kind_of(what), 0, 0, (uint16_t)what, bundle, other, (int32_t)number, 0});
}

static void problem(struct tw_check *c, uint32_t from, enum tw_check_place what, uint32_t bundle, uint32_t number)
{
    (void)from;
    add(c, what, bundle, UINT32_MAX, number);
}

/* ---- loops */

static void check_end(struct tw_check *c, uint32_t bundle, uint32_t address)
{
    int32_t end = tw_check_find(c, address);

    if (end < 0)
        add(c, PLACE_LOOP_END_MISSING, bundle, UINT32_MAX, address);
    else if (address % TW_TARGET_ALIGN != 0)
        add(c, PLACE_LOOP_END_ALIGN, bundle, UINT32_MAX, address);
    else if (c->bundles[end].size != TW_LOOP_END_BYTES)
        add(c, PLACE_LOOP_END_SIZE, (uint32_t)end, bundle, c->bundles[end].size);
}

static void check_start(struct tw_check *c, uint32_t bundle, uint32_t address)
{
    if (tw_check_find(c, address) < 0)
        add(c, PLACE_LOOP_START_MISSING, bundle, UINT32_MAX, address);
    else if (address % TW_TARGET_ALIGN != 0)
        add(c, PLACE_LOOP_START_ALIGN, bundle, UINT32_MAX, address);
}

/* The values that a bundle gives LS and LE. */
static void check_moves(struct tw_check *c, uint32_t bundle)
{
    const struct tw_check_summary *s = &c->summaries[bundle];

    for (unsigned i = 0; i < s->n_moves; i++) {
        const struct tw_check_move *m = &c->moves[s->moves + i];
        if (m->value < CHECK_FIRST_VALUE)
            continue;
        if (m->tracked == CHECK_LE)
            check_end(c, bundle, c->values[m->value - CHECK_FIRST_VALUE]);
        if (m->tracked == CHECK_LS)
            check_start(c, bundle, c->values[m->value - CHECK_FIRST_VALUE]);
    }
}

static void check_part_word(struct tw_check *c, const struct tw_check_node *n)
{
    uint32_t end = c->bundles[n->bundle].address;

    for (uint32_t v = 0; v < c->n_values && c->summaries[n->bundle].part_word; v++)
        if (tw_check_has(&n->sets[CHECK_LS], CHECK_FIRST_VALUE + v) && c->values[v] <= end &&
            end - c->values[v] + TW_LOOP_END_BYTES <= TW_LOOP_PART_WORD_BYTES)
            add(c, PLACE_LOOP_PART_WORD, n->bundle, UINT32_MAX, end - c->values[v] + TW_LOOP_END_BYTES);
}

/* Bytes of program from each node to a loop's end, as far as they are few. */
struct distances {
    uint32_t *bytes;
    uint32_t *queue;
    uint8_t *queued;
    uint32_t n_nodes; /* room in each */
};

/* Goes back from a loop's end; a node is looked at again when a shorter way to it turns up. */
static void measure(const struct tw_check *c, struct distances *d, uint32_t end)
{
    uint32_t first = 0, n = 1;

    d->bytes[end] = 0;
    d->queue[0] = end;
    while (n > 0) {
        uint32_t node = d->queue[first];
        first = (first + 1) % d->n_nodes;
        n--;
        d->queued[node] = 0;
        for (uint32_t k = c->first_before[node]; k < c->first_before[node + 1]; k++) {
            uint32_t from = c->before[k], bytes = d->bytes[node] + c->bundles[c->nodes[from].bundle].size;
            if (bytes >= TW_LOOP_SETUP_BYTES || bytes >= d->bytes[from])
                continue;
            d->bytes[from] = bytes;
            if (d->queued[from])
                continue;
            d->queued[from] = 1;
            d->queue[(first + n++) % d->n_nodes] = from;
        }
    }
}

/* Tells the nearest write of LC, LS or LE that is too near before the end of a loop. */
static void check_setup(struct tw_check *c, struct distances *d, uint32_t end)
{
    uint32_t nearest = UINT32_MAX;

    for (uint32_t i = 0; i < c->n_nodes; i++)
        d->bytes[i] = UINT32_MAX;
    measure(c, d, end);
    for (uint32_t i = 0; i < c->n_nodes; i++)
        if (c->summaries[c->nodes[i].bundle].sets_loop && d->bytes[i] > 0 && d->bytes[i] != UINT32_MAX &&
            (nearest == UINT32_MAX || d->bytes[i] < d->bytes[nearest]))
            nearest = i;
    if (nearest != UINT32_MAX)
        add(c, PLACE_LOOP_SETUP, c->nodes[end].bundle, c->nodes[nearest].bundle, d->bytes[nearest]);
}

static void check_ends(struct tw_check *c)
{
    size_t n = (size_t)c->n_nodes + 1;
    struct distances d = {malloc(n * sizeof *d.bytes), malloc(n * sizeof *d.queue), calloc(n, 1), (uint32_t)n};
    int memory = d.bytes != NULL && d.queue != NULL && d.queued != NULL;

    for (uint32_t i = 0; memory && i < c->n_nodes; i++) {
        if (!tw_check_ends_loop(c, &c->nodes[i]))
            continue;
        check_part_word(c, &c->nodes[i]);
        check_setup(c, &d, i);
    }
    c->gave_up |= !memory;
    free(d.bytes);
    free(d.queue);
    free(d.queued);
}

void tw_check_places(struct tw_check *c)
{
    static const struct tw_check_visitor visitor = {NULL, problem};

    for (uint32_t i = 0; i < c->n_nodes; i++)
        tw_check_next(c, i, &visitor);
    for (uint32_t i = 0; i < c->n; i++) {
        check_moves(c, i);
        if (c->summaries[i].branches > 1)
            add(c, PLACE_TWO_BRANCHES, i, UINT32_MAX, 0);
    }
    check_ends(c);
    if (c->n > 0 && c->bundles[c->n - 1].address + c->bundles[c->n - 1].size > TW_PROGRAM_BYTES)
        add(c, PLACE_SIZE, c->n - 1, UINT32_MAX, c->bundles[c->n - 1].address + c->bundles[c->n - 1].size);
    if (c->gave_up)
        add(c, PLACE_PATHS, 0, UINT32_MAX, 0);
}
