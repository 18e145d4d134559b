#include "emu/fault.h"

#include "base/random.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const tw_fault_names[TW_FAULT_KINDS] = {
    [TW_FAULT_TOKEN] = "token",     [TW_FAULT_BIT] = "bit",       [TW_FAULT_CORE] = "core",
    [TW_FAULT_CONTEXT] = "context", [TW_FAULT_MEMORY] = "memory",
};

struct rule {
    uint64_t occurrence; /* 0: by probability */
    double probability;
    uint64_t seed;
    int is_set;
};

struct tw_faults {
    struct rule rules[TW_FAULT_KINDS];
    _Atomic uint64_t seen[TW_FAULT_KINDS], hit[TW_FAULT_KINDS];
};

/* ---- reading */

enum { ITEM_MAX = 80 };

static int misread(const char *item, struct tw_error *err)
{
    return tw_fail(
        err, TW_E_ARGUMENT,
        "'%s' is no fault: it takes KIND:WHEN or KIND:WHEN:seed=NUMBER, where KIND is token, bit, core, context "
        "or memory (each once) and WHEN an occurrence as 3 or a probability as 0.01",
        item);
}

static int read_number(const char *text, uint64_t *number)
{
    char *end;
    if (text[0] < '0' || text[0] > '9' || strlen(text) > 19)
        return -1;
    *number = strtoull(text, &end, 10);
    return *end == '\0' ? 0 : -1;
}

static int read_probability(const char *text, double *probability)
{
    if (strspn(text, "0123456789.") != strlen(text) || strchr(text, '.') != strrchr(text, '.') || strlen(text) < 2)
        return -1;
    /* Digit by digit: a library function would take the point by the locale. */
    double value = 0, place = 1;
    int fraction = 0;
    for (const char *at = text; *at != '\0'; at++) {
        if (*at == '.') {
            fraction = 1;
            continue;
        }
        place /= fraction ? 10 : 1;
        value = fraction ? value + (*at - '0') * place : value * 10 + (*at - '0');
    }
    *probability = value;
    return value > 0 && value <= 1 ? 0 : -1;
}

static int read_when(const char *text, struct rule *rule)
{
    if (strchr(text, '.') != NULL)
        return read_probability(text, &rule->probability);
    return read_number(text, &rule->occurrence) == 0 && rule->occurrence > 0 ? 0 : -1;
}

static int kind_named(const char *name)
{
    int kind = 0;
    while (kind < TW_FAULT_KINDS && strcmp(tw_fault_names[kind], name) != 0)
        kind++;
    return kind < TW_FAULT_KINDS ? kind : -1;
}

/* Cuts the text at the next colon; returns what is behind it, or NULL. */
static char *cut(char *text)
{
    char *colon = strchr(text, ':');
    if (colon != NULL)
        *colon++ = '\0';
    return colon;
}

static int read_item(struct tw_faults *faults, char *item)
{
    static const char seed_word[] = "seed=";
    struct rule rule = {.is_set = 1};
    char *when = cut(item), *seed = when != NULL ? cut(when) : NULL;
    int kind = kind_named(item);
    if (when == NULL || kind < 0 || faults->rules[kind].is_set || read_when(when, &rule) != 0)
        return -1;
    if (seed != NULL &&
        (strncmp(seed, seed_word, strlen(seed_word)) != 0 || read_number(seed + strlen(seed_word), &rule.seed) != 0))
        return -1;
    faults->rules[kind] = rule;
    return 0;
}

static int read_items(struct tw_faults *faults, const char *text, struct tw_error *err)
{
    for (;;) {
        size_t length = strcspn(text, ",");
        char item[ITEM_MAX], whole[ITEM_MAX];
        snprintf(item, sizeof item, "%.*s", (int)(length < ITEM_MAX ? length : ITEM_MAX), text);
        memcpy(whole, item, sizeof whole);
        if (length >= ITEM_MAX || read_item(faults, item) != 0)
            return misread(whole, err);
        if (text[length] == '\0')
            return TW_OK;
        text += length + 1;
    }
}

int tw_faults_create(const char *text, struct tw_faults **faults, struct tw_error *err)
{
    *faults = NULL;
    if (text == NULL || text[0] == '\0')
        return TW_OK;
    struct tw_faults *f = calloc(1, sizeof *f);
    if (f == NULL)
        return tw_fail(err, TW_E_MEMORY, "no memory for faults on purpose");
    int code = read_items(f, text, err);
    if (code < 0)
        free(f);
    else
        *faults = f;
    return code;
}

int tw_faults_from_environment(struct tw_faults **faults, struct tw_error *err)
{
    struct tw_error why = {0};
    int code = tw_faults_create(getenv(TW_FAULT_VARIABLE), faults, &why);
    return code < 0 ? tw_fail(err, code, "the variable " TW_FAULT_VARIABLE ": %s", why.text) : TW_OK;
}

void tw_faults_free(struct tw_faults *faults)
{
    free(faults);
}

/* ---- hitting */

/* The occurrence's own number out of a rule's sequence. */
static uint64_t draw(const struct rule *rule, uint64_t occurrence)
{
    struct tw_random seed = {rule->seed};
    struct tw_random r = {tw_random_u64(&seed) ^ occurrence};
    return tw_random_u64(&r);
}

/* Counts an occurrence of the kind; returns its number when it goes wrong, else 0. */
static uint64_t hit(struct tw_faults *faults, enum tw_fault_kind kind)
{
    if (!tw_fault_is_set(faults, kind))
        return 0;
    const struct rule *rule = &faults->rules[kind];
    uint64_t occurrence = atomic_fetch_add(&faults->seen[kind], 1) + 1;
    struct tw_random r = {draw(rule, occurrence)};
    int wrong = rule->occurrence != 0 ? occurrence == rule->occurrence : tw_random_unit(&r) < rule->probability;
    if (!wrong)
        return 0;
    atomic_fetch_add(&faults->hit[kind], 1);
    return occurrence;
}

int tw_fault_is_set(const struct tw_faults *faults, enum tw_fault_kind kind)
{
    return faults != NULL && faults->rules[kind].is_set;
}

int tw_fault_hits(struct tw_faults *faults, enum tw_fault_kind kind)
{
    return hit(faults, kind) != 0;
}

uint32_t tw_fault_word(struct tw_faults *faults, uint32_t word)
{
    uint64_t occurrence = hit(faults, TW_FAULT_BIT);
    if (occurrence == 0)
        return word;
    return word ^ UINT32_C(1) << (draw(&faults->rules[TW_FAULT_BIT], occurrence) & 31);
}

uint64_t tw_fault_count(const struct tw_faults *faults, enum tw_fault_kind kind)
{
    return faults != NULL ? atomic_load(&faults->hit[kind]) : 0;
}

uint64_t tw_faults_describe(const struct tw_faults *faults, char *text, size_t size)
{
    char list[160] = "";
    size_t used = 0;
    uint64_t all = 0;
    for (int kind = 0; kind < TW_FAULT_KINDS; kind++) {
        uint64_t n = tw_fault_count(faults, (enum tw_fault_kind)kind);
        if (n == 0)
            continue;
        used += (size_t)snprintf(list + used, sizeof list - used, "%s%s %" PRIu64, all > 0 ? ", " : "",
                                 tw_fault_names[kind], n);
        all += n;
    }
    if (size > 0)
        snprintf(text, size, all > 0 ? " (faults on purpose: %s)" : "%s", list);
    return all;
}
