/* The findings: sorted, each once, and in words. */
#include "isa/check/state.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const tw_finding_names[TW_FINDING_COUNT] = {[TW_FINDING_OLD_VALUE] = "old-value",
                                                        [TW_FINDING_NEW_VALUE] = "new-value",
                                                        [TW_FINDING_OVERTAKEN] = "overtaken",
                                                        [TW_FINDING_SAME_WRITE] = "same-write",
                                                        [TW_FINDING_UNIT] = "unit",
                                                        [TW_FINDING_MEMORY] = "memory",
                                                        [TW_FINDING_LOCK] = "lock",
                                                        [TW_FINDING_DONE] = "done",
                                                        [TW_FINDING_DELAY_SLOT] = "delay-slot",
                                                        [TW_FINDING_LOOP] = "loop",
                                                        [TW_FINDING_TARGET] = "target",
                                                        [TW_FINDING_FLOW] = "flow",
                                                        [TW_FINDING_SIZE] = "size"};
const char *const tw_severity_names[3] = {"note", "warning", "error"};

int32_t tw_check_find(const struct tw_check *c, uint32_t address)
{
    uint32_t low = 0, high = c->n;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (c->bundles[middle].address < address)
            low = middle + 1;
        else
            high = middle;
    }
    return low < c->n && c->bundles[low].address == address ? (int32_t)low : -1;
}

void tw_check_add(struct tw_check *c, struct tw_check_hit hit)
{
    if (c->n_hits >= CHECK_HITS_MAX || tw_grow(&c->hits, c->n_hits, &c->room_hits, sizeof hit) != 0) {
        c->gave_up = 1;
        return;
    }
    c->hits[c->n_hits++] = hit;
}

/* ---- order */

static int compare_numbers(int64_t a, int64_t b)
{
    return (a > b) - (a < b);
}

/* By what makes two hits the same finding. */
static int compare_findings(const struct tw_check_hit *a, const struct tw_check_hit *b)
{
    int c = compare_numbers(a->bundle, b->bundle);

    c = c != 0 ? c : compare_numbers(a->kind, b->kind);
    c = c != 0 ? c : compare_numbers(a->other, b->other);
    c = c != 0 ? c : compare_numbers(a->slot, b->slot);
    c = c != 0 ? c : compare_numbers(a->other_slot, b->other_slot);
    return c;
}

static int compare_hits(const void *left, const void *right)
{
    const struct tw_check_hit *a = left, *b = right;
    int c = compare_findings(a, b);

    c = c != 0 ? c : compare_numbers(a->distance, b->distance);
    return c != 0 ? c : compare_numbers(a->what, b->what);
}

/* Registers are told one by one only when they belong to different operations; places are all different. */
static int is_repeated(const struct tw_check_hit *a, const struct tw_check_hit *b)
{
    if (compare_findings(a, b) != 0)
        return 0;
    return a->kind < TW_FINDING_DELAY_SLOT || (a->what == b->what && a->distance == b->distance);
}

/* ---- words */

static void operation_text(const struct tw_check *c, uint32_t bundle, unsigned slot, char *dst, size_t size)
{
    struct tw_bundle b;

    dst[0] = '\0';
    if (tw_bundle_decode(c->bundles[bundle].code, c->bundles[bundle].size, &b, NULL) > 0 && (b.slots >> slot & 1) != 0)
        (void)tw_operation_print(&b.op[slot], dst, size);
}

/* "3 bundles behind", "in the bundle of", with where the other one is. */
static void distance_text(const struct tw_check *c, const struct tw_check_hit *h, char *dst, size_t size)
{
    char other[TW_OPERATION_TEXT_MAX];

    operation_text(c, h->other, h->other_slot, other, sizeof other);
    if (h->distance == 0)
        snprintf(dst, size, "in the bundle of \"%s\"", other);
    else
        snprintf(dst, size, "%d bundle%s behind \"%s\" at 0x%x", h->distance, h->distance == 1 ? "" : "s", other,
                 c->bundles[h->other].address);
}

static void pair_text(const struct tw_check *c, const struct tw_check_hit *h, char *dst, size_t size)
{
    char op[TW_OPERATION_TEXT_MAX], behind[TW_OPERATION_TEXT_MAX + 64];
    const char *name = h->kind == TW_FINDING_UNIT ? tw_resource_names[h->what]
                       : h->what < TW_R_COUNT     ? tw_registers[h->what].name
                                                  : "";

    operation_text(c, h->bundle, h->slot, op, sizeof op);
    distance_text(c, h, behind, sizeof behind);
    switch (h->kind) {
    case TW_FINDING_OLD_VALUE:
        snprintf(dst, size,
                 "\"%s\" reads %s %s, which writes it: it gets the old value; the new one is there from %d on", op,
                 name, behind, h->needed);
        break;
    case TW_FINDING_NEW_VALUE: {
        char other[TW_OPERATION_TEXT_MAX];
        operation_text(c, h->other, h->other_slot, other, sizeof other);
        snprintf(
            dst, size,
            "\"%s\" reads %s so late that it gets what \"%s\" writes %d bundle%s later at 0x%x; its own value stays "
            "when that is %d later",
            op, name, other, h->distance, h->distance == 1 ? "" : "s", c->bundles[h->other].address, h->needed);
        break;
    }
    case TW_FINDING_OVERTAKEN:
        snprintf(dst, size, "\"%s\" writes %s %s, whose own write comes later and replaces it; from %d on it does not",
                 op, name, behind, h->needed);
        break;
    case TW_FINDING_SAME_WRITE:
        snprintf(dst, size, "\"%s\" writes %s %s, in the same cycle", op, name, behind);
        break;
    case TW_FINDING_UNIT:
        snprintf(dst, size, "\"%s\" needs %s %s, which holds it in the same cycle", op, name, behind);
        break;
    case TW_FINDING_MEMORY:
        snprintf(dst, size, "\"%s\" accesses the place %s, which has not reached it: %d are needed", op, behind,
                 h->needed);
        break;
    case TW_FINDING_LOCK:
        snprintf(dst, size, "\"%s\" stands %s: %d are needed between lock and memory", op, behind, h->needed);
        break;
    default:
        snprintf(dst, size, "done stands %s: %d are needed behind the last access to memory", behind, h->needed);
    }
}

static void place_text(const struct tw_check_hit *h, char *dst, size_t size)
{
    unsigned n = (unsigned)h->distance;

    switch ((enum tw_check_place)h->what) {
    case PLACE_BRANCH_IN_SLOT:
        snprintf(dst, size, "a branch in delay slot %u of another: what happens then is not known", n);
        break;
    case PLACE_LOCK_IN_SLOT:
        snprintf(dst, size, "a lock operation in delay slot %u of a branch", n);
        break;
    case PLACE_END_IN_SLOT:
        snprintf(dst, size, "the code ends here, and %d delay slots of a branch are not done", TW_DELAY_SLOTS);
        break;
    case PLACE_TWO_BRANCHES:
        snprintf(dst, size, "two branches in one bundle");
        break;
    case PLACE_LOOP_END_IN_SLOT:
        snprintf(dst, size, "the last bundle of a loop cannot hold a branch or lie in delay slots");
        break;
    case PLACE_LOOP_END_MISSING:
        snprintf(dst, size, "LE is 0x%x, where no bundle begins", n);
        break;
    case PLACE_LOOP_END_SIZE:
        snprintf(dst, size, "the last bundle of a loop has %u bytes and needs %d: name nops for the free slots", n,
                 TW_LOOP_END_BYTES);
        break;
    case PLACE_LOOP_END_ALIGN:
        snprintf(dst, size, "LE is 0x%x, which is not divisible by %d", n, TW_TARGET_ALIGN);
        break;
    case PLACE_LOOP_START_MISSING:
        snprintf(dst, size, "LS is 0x%x, where no bundle begins", n);
        break;
    case PLACE_LOOP_START_ALIGN:
        snprintf(dst, size, "LS is 0x%x, which is not divisible by %d", n, TW_TARGET_ALIGN);
        break;
    case PLACE_LOOP_ORDER:
        snprintf(dst, size, "this loop ends before its start at 0x%x", n);
        break;
    case PLACE_LOOP_SETUP:
        snprintf(dst, size, "the loop ends %u bytes behind the last writing of LC, LS or LE: %d are needed", n,
                 TW_LOOP_SETUP_BYTES);
        break;
    case PLACE_LOOP_PART_WORD:
        snprintf(dst, size,
                 "a store of 8 or 16 bits in the last bundle of a loop of %u bytes is lost: more than %d are needed", n,
                 TW_LOOP_PART_WORD_BYTES);
        break;
    case PLACE_LOOP_UNKNOWN:
        snprintf(dst, size, "the start of the loop that ends here is not known");
        break;
    case PLACE_TARGET_ALIGN:
        snprintf(dst, size, "a jump to 0x%x, which is not divisible by %d", n, TW_TARGET_ALIGN);
        break;
    case PLACE_TARGET_INSIDE:
        snprintf(dst, size, "a jump to 0x%x, where no bundle begins", n);
        break;
    case PLACE_TARGET_OUTSIDE:
        snprintf(dst, size, "a jump to 0x%x, outside the program", n);
        break;
    case PLACE_TARGET_UNKNOWN:
        snprintf(dst, size, "where this jump leads is not known, and was not followed");
        break;
    case PLACE_RETURN_ALIGN:
        snprintf(dst, size, "the callee returns to 0x%x, which is not divisible by %d", n, TW_TARGET_ALIGN);
        break;
    case PLACE_END:
        snprintf(dst, size, "execution runs past this bundle, where the code ends");
        break;
    case PLACE_PATHS:
        snprintf(dst, size, "the program has too many ways or faults to look at: not all has been checked");
        break;
    case PLACE_SIZE:
        snprintf(dst, size, "the program ends at 0x%x: program memory has 0x%x bytes", n, (unsigned)TW_PROGRAM_BYTES);
        break;
    }
}

/* ---- severity */

/*
 * Rules that public compilers keep, but not all programs that AMD compiled and sells: the units below held twice,
 * memory accesses nearer to locks, loop ends nearer to their set-up, lock operations in delay slots.
 */
static int is_cautious(const struct tw_check_hit *h)
{
    switch (h->kind) {
    case TW_FINDING_UNIT:
        return h->what == TW_U_CM_RM_PORT || h->what == TW_U_PART_WORD_STORE || h->what == TW_U_STORE_UNIT;
    case TW_FINDING_DELAY_SLOT:
        return h->what == PLACE_LOCK_IN_SLOT;
    default:
        return 0;
    }
}

static enum tw_severity severity_of(const struct tw_check *c, const struct tw_check_hit *h)
{
    int foreign = c->options->foreign;

    switch (h->kind) {
    case TW_FINDING_OLD_VALUE:
    case TW_FINDING_NEW_VALUE:
    case TW_FINDING_LOCK:
        return foreign ? TW_SEVERITY_NOTE : TW_SEVERITY_ERROR;
    case TW_FINDING_OVERTAKEN:
        return foreign ? TW_SEVERITY_NOTE : TW_SEVERITY_WARNING;
    case TW_FINDING_FLOW:
        return h->what == PLACE_END || h->what == PLACE_PATHS ? TW_SEVERITY_WARNING : TW_SEVERITY_NOTE;
    default:
        break;
    }
    if (is_cautious(h) || (h->kind == TW_FINDING_LOOP && h->what == PLACE_LOOP_SETUP && foreign))
        return foreign ? TW_SEVERITY_NOTE : TW_SEVERITY_WARNING;
    return foreign ? TW_SEVERITY_WARNING : TW_SEVERITY_ERROR;
}

/* Tells the findings; returns how many are errors. */
static int report(struct tw_check *c)
{
    struct tw_finding f;
    int errors = 0;

    if (c->n_hits > 0)
        qsort(c->hits, c->n_hits, sizeof *c->hits, compare_hits);
    for (size_t i = 0; i < c->n_hits; i++) {
        const struct tw_check_hit *h = &c->hits[i];
        if (i > 0 && is_repeated(&c->hits[i - 1], h))
            continue;
        f.kind = (enum tw_finding_kind)h->kind;
        f.severity = severity_of(c, h);
        f.bundle = h->bundle;
        f.other = h->other == UINT32_MAX || h->other == h->bundle ? TW_NO_BUNDLE : h->other;
        if (h->kind < TW_FINDING_DELAY_SLOT)
            pair_text(c, h, f.text, sizeof f.text);
        else
            place_text(h, f.text, sizeof f.text);
        errors += f.severity == TW_SEVERITY_ERROR;
        if (c->options->finding != NULL)
            c->options->finding(c->options->arg, &f);
    }
    return errors;
}

/* Tells which bundles read registers out of their time on purpose. */
static void tell_purposes(const struct tw_check *c)
{
    uint16_t leaves[TW_CHECK_OLD_MAX];

    for (uint32_t i = 0; i < c->n; i++) {
        const uint64_t *set = c->on_purpose + (size_t)i * CHECK_LEAF_WORDS;
        size_t n = 0;
        for (unsigned leaf = 0; leaf < TW_R_COUNT; leaf++)
            if ((set[leaf / 64] >> leaf % 64 & 1) != 0)
                leaves[n++] = (uint16_t)leaf;
        if (n > 0)
            c->options->on_purpose(c->options->arg, i, leaves, n);
    }
}

/* ---- the whole */

static int check(struct tw_check *c, const uint32_t *entries, size_t n_entries)
{
    size_t ways = (size_t)c->n * (TW_DELAY_SLOTS + 1);

    c->summaries = calloc((size_t)c->n + 1, sizeof *c->summaries);
    c->node_of = malloc((ways + 1) * sizeof *c->node_of);
    c->queue = malloc((ways + 1) * sizeof *c->queue);
    if (c->options->on_purpose != NULL)
        c->on_purpose = calloc(((size_t)c->n + 1) * CHECK_LEAF_WORDS, sizeof *c->on_purpose);
    if (c->summaries == NULL || c->node_of == NULL || c->queue == NULL ||
        (c->options->on_purpose != NULL && c->on_purpose == NULL))
        return tw_fail(c->err, TW_E_MEMORY, "no memory to check %u bundles", c->n);
    for (size_t i = 0; i < ways; i++)
        c->node_of[i] = -1;
    int code;
    if ((code = tw_check_summarise(c)) < 0 || (code = tw_check_follow(c, entries, n_entries)) < 0 ||
        (code = tw_check_hazards(c)) < 0)
        return code;
    tw_check_places(c);
    if (c->on_purpose != NULL)
        tell_purposes(c);
    return report(c);
}

int tw_check(const struct tw_check_bundle *bundles, size_t n, const uint32_t *entries, size_t n_entries,
             const struct tw_check_options *options, struct tw_error *err)
{
    struct tw_check c = {.bundles = bundles, .n = (uint32_t)n, .options = options, .err = err};

    if (n > INT32_MAX / 16)
        return tw_fail(err, TW_E_LIMIT, "%zu bundles are more than the checker takes", n);
    int code = check(&c, entries, n_entries);
    free(c.summaries);
    free(c.accesses);
    free(c.uses);
    free(c.memory);
    free(c.moves);
    free(c.nodes);
    free(c.node_of);
    free(c.queue);
    free(c.returns);
    free(c.first_before);
    free(c.before);
    free(c.hits);
    free(c.on_purpose);
    return code;
}
