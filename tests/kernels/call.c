#include "kernels/call.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

enum { TEXT = 1 << 17 };

struct machine *call_make_text(const char *name, const char *kernel)
{
    static char text[TEXT];

    /* 6 bytes and five times 2: what the kernel returns to begins at a 16-byte address again. */
    int size = snprintf(text, TEXT, " jl #%s\n nop\n nop\n nop\n nop\n nop\n done\n%s", name, kernel);
    assert_in_range(size, 1, TEXT - 1);
    return machine_make(text, MACHINE_STRICT, NULL);
}

struct machine *call_make(const char *name)
{
    static char text[TEXT];
    char path[1024];
    const char *root = getenv("TILEWRIGHT_SOURCE");

    snprintf(path, sizeof path, "%s/src/kernels/%s.s", root == NULL ? "." : root, name);
    FILE *f = fopen(path, "rb");
    if (f == NULL)
        fail_msg("%s cannot be read", path);
    size_t size = fread(text, 1, TEXT - 1, f);
    text[size] = '\0';
    fclose(f);
    return call_make_text(name, text);
}

uint64_t call_kernel(struct machine *m, const struct call_register *registers, size_t n, uint8_t *memory)
{
    tw_core_reset(m->core);
    struct tw_core_counts before = tw_core_counts(m->core);
    for (size_t i = 0; i < n; i++)
        machine_set(m, registers[i].reg, registers[i].value);
    memcpy(m->memory[TW_WINDOW_OWN], memory, TW_DATA_BYTES);
    machine_finish(m);
    memcpy(memory, m->memory[TW_WINDOW_OWN], TW_DATA_BYTES);
    struct tw_core_counts counts = tw_core_counts(m->core);
    assert_int_equal(counts.bank_stalls, before.bank_stalls);
    return counts.bundles - before.bundles;
}
