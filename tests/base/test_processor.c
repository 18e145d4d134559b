/* What the processor says of itself against what the kernel says of it. */
#include "base/processor.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

/* The line of flags, with a blank before and behind each; empty where there is none. */
static void read_flags(char *line, int size)
{
    FILE *f = fopen("/proc/cpuinfo", "r");
    int found = 0;
    while (f != NULL && !found && fgets(line, size, f) != NULL)
        found = strncmp(line, "flags", 5) == 0;
    if (f != NULL)
        fclose(f);
    char *end = found ? strchr(line, '\n') : NULL;
    if (end != NULL)
        *end = ' ';
    else
        line[0] = '\0';
}

static int has_all(const char *line, const char *const *names)
{
    char word[32];
    for (; *names != NULL; names++) {
        snprintf(word, sizeof word, " %s ", *names);
        if (strstr(line, word) == NULL)
            return 0;
    }
    return 1;
}

static void the_kernel_agrees(void **state)
{
    (void)state;
    static const struct {
        unsigned feature;
        const char *names[8];
    } cases[] = {
        {TW_PROCESSOR_AVX2, {"avx2", "fma", "f16c", NULL}},
        {TW_PROCESSOR_AVX512, {"avx2", "fma", "f16c", "avx512f", "avx512bw", "avx512vl", "avx512dq", NULL}},
        {TW_PROCESSOR_CLFLUSH, {"clflush", NULL}},
        {TW_PROCESSOR_CLFLUSHOPT, {"clflushopt", NULL}},
    };
    static char line[1 << 14];
    read_flags(line, sizeof line);
    if (line[0] == '\0')
        skip();
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        assert_int_equal((tw_processor_features() & cases[i].feature) != 0, has_all(line, cases[i].names));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_kernel_agrees)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
