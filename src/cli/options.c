#include "cli/options.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What the user typed, for messages: "--beam" or "-l". */
struct typed {
    const char *text;
    int size;
};

static int read_count(const struct tw_option *o, struct typed typed, const char *value, struct tw_error *err)
{
    char *end = NULL;
    errno = 0;
    long n = strtol(value, &end, 10);
    int clean = strspn(value, "-0123456789") == strlen(value) && end != value && *end == '\0' && errno == 0;
    if (!clean || (double)n < o->low || (double)n > o->high)
        return tw_fail(err, TW_E_ARGUMENT, "%.*s takes a whole number from %.0f to %.0f, not '%s'", typed.size,
                       typed.text, o->low, o->high, value);
    *o->to.count = (int32_t)n;
    return 0;
}

static int read_real(const struct tw_option *o, struct typed typed, const char *value, struct tw_error *err)
{
    char *end = NULL;
    errno = 0;
    double x = strtod(value, &end);
    /* The set of characters keeps out hexadecimal, infinities and leading space, which strtod takes. */
    int clean = strspn(value, "+-.0123456789eE") == strlen(value) && end != value && *end == '\0' && isfinite(x);
    if (!clean || x < o->low || x > o->high)
        return tw_fail(err, TW_E_ARGUMENT, "%.*s takes a number from %.10g to %.10g, not '%s'", typed.size, typed.text,
                       o->low, o->high, value);
    *o->to.real = x;
    return 0;
}

static int read_seed(const struct tw_option *o, struct typed typed, const char *value, struct tw_error *err)
{
    char *end = NULL;
    errno = 0;
    unsigned long long n = strtoull(value, &end, 10);
    int clean = strspn(value, "0123456789") == strlen(value) && end != value && errno == 0;
    if (!clean)
        return tw_fail(err, TW_E_ARGUMENT, "%.*s takes a whole number from 0 to 18446744073709551615, not '%s'",
                       typed.size, typed.text, value);
    *o->to.seed = n;
    return 0;
}

static int append(const struct tw_option *o, struct typed typed, const char *value, struct tw_error *err)
{
    struct tw_option_list *list = o->to.list;
    if (list->n == list->room)
        return tw_fail(err, TW_E_ARGUMENT, "%.*s is given more than %zu times", typed.size, typed.text, list->room);
    list->texts[list->n++] = value;
    return 0;
}

static int store(const struct tw_option *o, struct typed typed, const char *value, struct tw_error *err)
{
    switch (o->kind) {
    case TW_OPTION_FLAG:
        *o->to.flag = 1;
        return 0;
    case TW_OPTION_TEXT:
        *o->to.text = value;
        return 0;
    case TW_OPTION_COUNT:
        return read_count(o, typed, value, err);
    case TW_OPTION_REAL:
        return read_real(o, typed, value, err);
    case TW_OPTION_SEED:
        return read_seed(o, typed, value, err);
    case TW_OPTION_LIST:
        return append(o, typed, value, err);
    }
    return tw_fail(err, TW_E_ARGUMENT, "the option %.*s has no kind of value", typed.size, typed.text);
}

static const struct tw_option *find(const struct tw_option *options, size_t n, const char *typed, size_t size)
{
    for (size_t i = 0; i < n; i++) {
        const struct tw_option *o = &options[i];
        int is_long =
            size > 2 && typed[1] == '-' && strlen(o->name) == size - 2 && memcmp(o->name, typed + 2, size - 2) == 0;
        int is_short = size == 2 && o->letter != 0 && typed[1] == o->letter;
        if (is_long || is_short)
            return o;
    }
    return NULL;
}

/* Reads the option at argv[*i] and leaves *i at its last argument. */
static int read_option(const struct tw_option *options, size_t n_options, int argc, char **argv, int *i,
                       struct tw_error *err)
{
    const char *argument = argv[*i];
    size_t size = argument[1] == '-' ? strcspn(argument, "=") : strlen(argument);
    struct typed typed = {argument, (int)size};
    const char *value = argument[size] == '=' ? argument + size + 1 : NULL;
    const struct tw_option *o = find(options, n_options, argument, size);
    if (o == NULL)
        return tw_fail(err, TW_E_ARGUMENT, "there is no option '%.*s'", typed.size, typed.text);
    if (o->kind == TW_OPTION_FLAG && value != NULL)
        return tw_fail(err, TW_E_ARGUMENT, "%.*s takes no value", typed.size, typed.text);
    if (o->kind != TW_OPTION_FLAG && value == NULL) {
        if (*i + 1 >= argc)
            return tw_fail(err, TW_E_ARGUMENT, "%.*s needs a value", typed.size, typed.text);
        value = argv[++*i];
    }
    return store(o, typed, value, err);
}

int tw_options_read(const struct tw_option *options, size_t n_options, int argc, char **argv, struct tw_error *err)
{
    int operands = 0, only_operands = 0;
    for (int i = 1; i < argc; i++) {
        int is_option = argv[i][0] == '-' && argv[i][1] != '\0';
        if (only_operands || !is_option) {
            argv[++operands] = argv[i];
        } else if (strcmp(argv[i], "--") == 0) {
            only_operands = 1;
        } else {
            int code = read_option(options, n_options, argc, argv, &i, err);
            if (code < 0)
                return code;
        }
    }
    return operands;
}
