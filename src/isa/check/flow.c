/*
 * Which bundles follow which. A bundle in delay slots is another place than the same bundle reached by other ways, so
 * that a branch counts for those who came through it. With each place goes what LS, LE, lr and the pointers may hold
 * there, as far as these are addresses of code: the ends of loops, returns and jumps by register follow from them.
 */
#include "isa/check/state.h"

#include <string.h>

#define WAYS (TW_DELAY_SLOTS + 1)

/* A step from a node: what is known, and who is told. */
struct step {
    struct tw_check *c;
    const struct tw_check_visitor *visitor;
    uint32_t node, bundle;
    struct tw_check_set sets[CHECK_TRACKED]; /* behind the bundle */
};

static void go(struct step *s, uint32_t bundle, unsigned slot)
{
    if (s->visitor->to != NULL)
        s->visitor->to(s->c, s->node, bundle, slot, s->sets);
}

static void problem(struct step *s, enum tw_check_place what, uint32_t bundle, uint32_t number)
{
    if (s->visitor->problem != NULL)
        s->visitor->problem(s->c, s->node, what, bundle, number);
}

/* ---- sets of values */

static void clear(struct tw_check_set *s, unsigned value)
{
    memset(s, 0, sizeof *s);
    s->bits[value / 64] = (uint64_t)1 << value % 64;
}

static int merge(struct tw_check_set *to, const struct tw_check_set *from)
{
    int grown = 0;

    for (unsigned w = 0; w < CHECK_SET_WORDS; w++) {
        grown |= (from->bits[w] & ~to->bits[w]) != 0;
        to->bits[w] |= from->bits[w];
    }
    return grown;
}

static void apply_moves(struct step *s)
{
    const struct tw_check *c = s->c;
    const struct tw_check_summary *b = &c->summaries[s->bundle];

    for (unsigned i = 0; i < b->n_moves; i++)
        clear(&s->sets[c->moves[b->moves + i].tracked], c->moves[b->moves + i].value);
}

/* ---- ways on */

/* The next bundle in memory. */
static void fall_through(struct step *s, unsigned slot)
{
    uint32_t next = s->bundle + 1;

    if (next < s->c->n && s->c->summaries[next].follows)
        go(s, next, slot);
    else
        problem(s, slot > 0 ? PLACE_END_IN_SLOT : PLACE_END, s->bundle, 0);
}

/* A jump from `from` to an address. */
static void jump_to(struct step *s, uint32_t from, uint32_t address)
{
    int32_t to = tw_check_find(s->c, address);

    if (to >= 0 && address % TW_TARGET_ALIGN != 0 && s->c->summaries[from].tracked_target != CHECK_LR)
        problem(s, PLACE_TARGET_ALIGN, from, address); /* of returns the call is told */
    if (to >= 0)
        go(s, (uint32_t)to, 0);
    else if (s->c->n > 0 && address >= s->c->bundles[0].address &&
             address < s->c->bundles[s->c->n - 1].address + s->c->bundles[s->c->n - 1].size)
        problem(s, PLACE_TARGET_INSIDE, from, address);
    else
        problem(s, PLACE_TARGET_OUTSIDE, from, address);
}

/* All places behind calls: where a return with an unknown address may go. */
static void return_anywhere(struct step *s)
{
    for (uint32_t i = 0; i < s->c->n_returns; i++)
        go(s, s->c->returns[i], 0);
}

/* The branch in bundle `from` by what a register held there. Returns whether its target may be unknown. */
static int jump_by_register(struct step *s, uint32_t from, unsigned tracked)
{
    const struct tw_check *c = s->c;
    int32_t node = c->node_of[from * WAYS];
    struct tw_check_set set = c->nodes[node].sets[tracked]; /* a copy: nodes move when there are more of them */

    for (uint32_t v = 0; v < c->n_values; v++)
        if (tw_check_has(&set, CHECK_FIRST_VALUE + v))
            jump_to(s, from, c->values[v]);
    int any = tw_check_has(&set, CHECK_ANY);
    if (tracked == CHECK_LR) {
        if (any)
            return_anywhere(s);
        return 0;
    }
    if (any || tw_check_has(&set, CHECK_OUTSIDE)) {
        problem(s, PLACE_TARGET_UNKNOWN, from, 0);
        return 1;
    }
    return 0;
}

/* Behind the last delay slot of the branch in bundle `from`. */
static void branch(struct step *s, uint32_t from)
{
    const struct tw_check_summary *b = &s->c->summaries[from];
    int leaves; /* to code that is not here */

    if (b->tracked_target >= 0) {
        leaves = jump_by_register(s, from, (unsigned)b->tracked_target);
    } else {
        leaves = tw_check_find(s->c, b->target) < 0;
        jump_to(s, from, b->target);
    }
    if (b->branch == CHECK_CONDITION || (b->branch == CHECK_CALL && leaves))
        fall_through(s, 0);
    else if (b->branch == CHECK_CALL && s->bundle + 1 < s->c->n &&
             s->c->bundles[s->bundle + 1].address % TW_TARGET_ALIGN != 0)
        problem(s, PLACE_RETURN_ALIGN, from, s->c->bundles[s->bundle + 1].address);
}

/*
 * Behind the last bundle of a loop: back to its start, or on. LE keeps the address of a loop that is over, while LS may
 * have that of the next one, further on: no loop ends here then.
 */
static void loop_back(struct step *s)
{
    const struct tw_check *c = s->c;
    const struct tw_check_set *set = &s->sets[CHECK_LS];
    int any = tw_check_has(set, CHECK_ANY) || tw_check_has(set, CHECK_OUTSIDE), found = 0;
    uint32_t later = 0;

    for (uint32_t v = 0; v < c->n_values; v++) {
        if (!tw_check_has(set, CHECK_FIRST_VALUE + v))
            continue;
        int32_t to = tw_check_find(c, c->values[v]);
        if (c->values[v] > c->bundles[s->bundle].address) {
            later = c->values[v];
            continue;
        }
        found = 1;
        if (to >= 0)
            go(s, (uint32_t)to, 0);
    }
    if (any)
        problem(s, PLACE_LOOP_UNKNOWN, s->bundle, 0);
    else if (!found && later > 0)
        problem(s, PLACE_LOOP_ORDER, s->bundle, later);
    fall_through(s, 0);
}

void tw_check_next(struct tw_check *c, uint32_t node, const struct tw_check_visitor *visitor)
{
    const struct tw_check_node *n = &c->nodes[node];
    const struct tw_check_summary *b = &c->summaries[n->bundle];
    struct step s = {.c = c, .visitor = visitor, .node = node, .bundle = n->bundle};
    unsigned slot = n->slot;
    int starts = b->branch != CHECK_NO_BRANCH && slot == 0, end = tw_check_ends_loop(c, n);

    memcpy(s.sets, n->sets, sizeof s.sets);
    apply_moves(&s);
    if (slot > 0 && b->branch != CHECK_NO_BRANCH)
        problem(&s, PLACE_BRANCH_IN_SLOT, s.bundle, slot);
    if (slot > 0 && b->lock)
        problem(&s, PLACE_LOCK_IN_SLOT, s.bundle, slot);
    if (end && (slot > 0 || starts))
        problem(&s, PLACE_LOOP_END_IN_SLOT, s.bundle, slot);
    if (slot == TW_DELAY_SLOTS)
        branch(&s, s.bundle - TW_DELAY_SLOTS);
    else if (starts || slot > 0)
        fall_through(&s, slot + 1);
    else if (end)
        loop_back(&s);
    else if (!b->done)
        fall_through(&s, 0);
}

/* ---- all of them */

static int add_node(struct tw_check *c, uint32_t bundle, unsigned slot)
{
    if (tw_grow(&c->nodes, c->n_nodes, &c->room_nodes, sizeof *c->nodes) != 0)
        return tw_fail(c->err, TW_E_MEMORY, "no memory to check %u bundles", c->n);
    struct tw_check_node *n = &c->nodes[c->n_nodes];
    memset(n, 0, sizeof *n);
    n->bundle = bundle;
    n->slot = (uint8_t)slot;
    c->node_of[bundle * WAYS + slot] = (int32_t)c->n_nodes++;
    return 0;
}

static void reach(struct tw_check *c, uint32_t from, uint32_t bundle, unsigned slot, const struct tw_check_set *sets)
{
    int32_t *place = &c->node_of[bundle * WAYS + slot];
    int grown = *place < 0;

    (void)from;
    if (++c->n_ways > CHECK_WAYS_MAX)
        c->gave_up = 1;
    if (*place < 0 && add_node(c, bundle, slot) < 0) {
        c->no_memory = 1;
        return;
    }
    struct tw_check_node *n = &c->nodes[*place];
    for (unsigned r = 0; r < CHECK_TRACKED; r++)
        grown |= merge(&n->sets[r], &sets[r]);
    if (!grown || n->queued)
        return;
    n->queued = 1;
    c->queue[(c->queue_at + c->n_queued++) % (c->n * WAYS)] = (uint32_t)*place;
}

static void begin_at(struct tw_check *c, uint32_t bundle)
{
    struct tw_check_set sets[CHECK_TRACKED];

    for (unsigned r = 0; r < CHECK_TRACKED; r++)
        clear(&sets[r], CHECK_OUTSIDE);
    reach(c, 0, bundle, 0, sets);
}

/* Follows all ways from what is in the queue. */
static int follow(struct tw_check *c)
{
    static const struct tw_check_visitor visitor = {reach, NULL};

    while (c->n_queued > 0 && !c->gave_up && !c->no_memory) {
        uint32_t node = c->queue[c->queue_at];
        c->queue_at = (c->queue_at + 1) % (c->n * WAYS);
        c->n_queued--;
        c->nodes[node].queued = 0;
        tw_check_next(c, node, &visitor);
    }
    return c->no_memory ? TW_E_MEMORY : 0;
}

static int is_reached(const struct tw_check *c, uint32_t bundle)
{
    for (unsigned slot = 0; slot < WAYS; slot++)
        if (c->node_of[bundle * WAYS + slot] >= 0)
            return 1;
    return 0;
}

static int list_returns(struct tw_check *c)
{
    c->returns = calloc((size_t)c->n + 1, sizeof *c->returns);
    if (c->returns == NULL)
        return tw_fail(c->err, TW_E_MEMORY, "no memory to check %u bundles", c->n);
    for (uint32_t i = 0; i + WAYS < c->n; i++)
        if (c->summaries[i].branch == CHECK_CALL)
            c->returns[c->n_returns++] = i + WAYS;
    return 0;
}

int tw_check_follow(struct tw_check *c, const uint32_t *entries, size_t n_entries)
{
    if (list_returns(c) < 0)
        return TW_E_MEMORY;
    for (size_t i = 0; i < n_entries; i++) {
        int32_t bundle = tw_check_find(c, entries[i]);
        if (bundle >= 0)
            begin_at(c, (uint32_t)bundle);
    }
    int code = follow(c);
    for (uint32_t i = 0; i < c->n && code == 0; i++) {
        if (is_reached(c, i))
            continue;
        begin_at(c, i);
        code = follow(c);
    }
    return code;
}
