/*
 * Random scheduled programs do on the emulator what their text says. The same operations are written a second time with
 * their real registers, one after the other, each with its result before the next one begins, loops laid out: after
 * both, memory is the same. This shows it apart from the proof that the scheduler itself makes.
 */
#include "base/random.h"
#include "kernels/call.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

enum { PROGRAMS = 150, TEXT = 1 << 16, OPS = 40, OP = 64, BANK = 16384, FIRST = 2048, NUMBERS = 8, VECTORS = 3 };

struct ops {
    unsigned n;
    char text[OPS][OP];
};

/* The symbolic registers: numbers %a .. %h in r0 .. r7, vectors %u %v %w in x0 .. x2, pointers %p %q %s %t in p0 .. p3.
 */
struct random_program {
    struct ops first, before, body, behind, last;
    unsigned trips, least, multiple, outer;
    int counted; /* the trips are a number in the text */
};

static unsigned pick(struct tw_random *random, unsigned n)
{
    return (unsigned)tw_random_range(random, 0, n - 1);
}

#define ADD(ops, ...) snprintf((ops)->text[(ops)->n++], OP, __VA_ARGS__)

static void add_random(struct tw_random *random, struct ops *ops)
{
    static const char *const scalar[] = {"add", "sub", "and", "or", "xor", "mul"};
    static const char *const vector[] = {"vadd.8", "vadd.16", "vadd.32", "vsub.8", "vsub.16", "vsub.32"};
    char a = (char)('a' + pick(random, NUMBERS)), b = (char)('a' + pick(random, NUMBERS));
    char c = (char)('a' + pick(random, NUMBERS)), half = "lh"[pick(random, 2)];
    char x = (char)('u' + pick(random, VECTORS)), y = (char)('u' + pick(random, VECTORS));
    char z = (char)('u' + pick(random, VECTORS));

    switch (pick(random, 12)) {
    case 0:
        ADD(ops, "add %%%c, %%%c, #%d", a, b, (int)pick(random, 128) - 64);
        return;
    case 1:
        ADD(ops, "lda %%%c, [%%p], #4 @in:0", a);
        return;
    case 2:
        ADD(ops, "lda %%%c, [%%q, #-%u] @out:1", a, 4 * (1 + pick(random, 4)));
        return;
    case 3:
        ADD(ops, "st%s %%%c, [%%q], #4 @out:1", pick(random, 3) == 0 ? ".s16" : "", a);
        return;
    case 4:
        ADD(ops, "vld %%%c.%c, [%%s], #32 @vectors:2", x, half);
        return;
    case 5:
        ADD(ops, "vst %%%c.%c, [%%t], #32 @results:3", x, half);
        return;
    case 6:
        ADD(ops, "vbcst.32 %%%c, %%%c", x, a);
        return;
    case 7:
    case 8:
        ADD(ops, "%s %%%c, %%%c, %%%c", vector[pick(random, 6)], x, y, z);
        return;
    default:
        ADD(ops, "%s %%%c, %%%c, %%%c", scalar[pick(random, 6)], a, b, c);
    }
}

static void make_program(struct tw_random *random, struct random_program *p)
{
    static const unsigned trips[] = {1, 2, 3, 5, 8, 13};

    memset(p, 0, sizeof *p);
    p->counted = pick(random, 3) == 0;
    p->multiple = p->counted ? 1 : 1u << pick(random, 3);
    p->trips = (trips[pick(random, 6)] + p->multiple - 1) / p->multiple * p->multiple;
    p->least = pick(random, 2) == 0 ? p->trips : p->multiple;
    p->outer = pick(random, 3) == 0 ? 2 : 1;
    for (char x = 'u'; x < 'u' + VECTORS; x++)
        for (unsigned half = 0; half < 2; half++)
            ADD(&p->first, "vld %%%c.%c, [%%s], #32 @vectors:2", x, "lh"[half]);
    for (unsigned n = pick(random, 7); n > 0; n--)
        add_random(random, &p->before);
    for (unsigned n = 1 + pick(random, 8); n > 0; n--)
        add_random(random, &p->body);
    for (unsigned n = pick(random, 9); n > 0; n--)
        add_random(random, &p->behind);
    for (char x = 'u'; x < 'u' + VECTORS; x++)
        for (unsigned half = 0; half < 2; half++)
            ADD(&p->last, "vst %%%c.%c, [%%t], #32 @results:3", x, "lh"[half]);
    for (char a = 'a'; a < 'a' + NUMBERS; a++)
        ADD(&p->last, "st %%%c, [%%q], #4 @out:1", a);
    for (unsigned n = pick(random, 8); n > 0; n--) /* their slot is the return's as well */
        ADD(&p->last, "add %%%c, %%%c, #1", 'a' + (char)pick(random, NUMBERS), 'a' + (char)pick(random, NUMBERS));
}

/* ---- as scheduled text */

static void put(FILE *out, const struct ops *ops)
{
    for (unsigned i = 0; i < ops->n; i++)
        fprintf(out, "%s\n", ops->text[i]);
}

static void write_scheduled(FILE *out, const struct random_program *p)
{
    fputs(".text\n.align 16\n.global k\nk:\n.sched\n.reg p %p, %q, %s, %t\n.reg x %u, %v, %w\n"
          ".reg r %a, %b, %c, %d, %e, %f, %g, %h, %trips, %outer\n.in %p = p0, %q = p1, %s = p2, %t = p3\n"
          ".in %a = r0, %b = r1, %c = r2, %d = r3, %e = r4, %f = r5, %g = r6, %h = r7, %trips = r16, %outer = r17\n",
          out);
    put(out, &p->first);
    put(out, &p->before);
    fputs(p->outer > 1 ? "again:\n" : "", out);
    if (p->counted)
        fprintf(out, ".loop %u\n", p->trips);
    else
        fprintf(out, ".loop %%trips least=%u multiple=%u\n", p->least, p->multiple);
    put(out, &p->body);
    fputs(".endloop\n", out);
    put(out, &p->behind);
    fputs(p->outer > 1 ? "add %outer, %outer, #-1\njnz %outer, #again\n" : "", out);
    put(out, &p->last);
    fputs("ret lr\n.endsched\n", out);
}

/* ---- as plain bundles */

/* A symbolic register's real one; *at is behind the '%', and then behind the name. */
static void put_real(FILE *out, const char **at)
{
    char c = *(*at)++;

    if (c <= 'h')
        fprintf(out, "r%d", c - 'a');
    else if (c == 'p' || c == 'q')
        fprintf(out, "p%d", c - 'p');
    else if (c == 's' || c == 't')
        fprintf(out, "p%d", c - 's' + 2);
    else if (**at != '.')
        fprintf(out, "x%d", c - 'u');
    else {
        fprintf(out, "w%c%d", (*at)[1], c - 'u');
        *at += 2;
    }
}

static void put_plain(FILE *out, const struct ops *ops)
{
    for (unsigned i = 0; i < ops->n; i++) {
        const char *at = ops->text[i];
        if (strncmp(at, "vld ", 4) == 0) {
            fputs("vlda ", out);
            at += 4;
        }
        while (*at != '\0' && *at != '@')
            if (*at++ == '%')
                put_real(out, &at);
            else
                fputc(at[-1], out);
        fputs("\nnop\nnop\nnop\nnop\nnop\nnop\nnop\nnop\n", out);
    }
}

static void write_plain(FILE *out, const struct random_program *p)
{
    fputs(".text\n.align 16\n.global k\nk:\n", out);
    put_plain(out, &p->first);
    put_plain(out, &p->before);
    for (unsigned i = 0; i < p->outer; i++) {
        for (unsigned k = 0; k < p->trips; k++)
            put_plain(out, &p->body);
        put_plain(out, &p->behind);
    }
    put_plain(out, &p->last);
    fputs("ret lr\nnop\nnop\nnop\nnop\nnop\n", out);
}

/* ---- both */

static uint64_t run(const struct random_program *p, void (*write)(FILE *, const struct random_program *),
                    const struct call_register *registers, unsigned n, uint8_t *memory)
{
    static char text[TEXT];
    FILE *out = fmemopen(text, sizeof text, "w");

    assert_non_null(out);
    write(out, p);
    assert_int_equal(fclose(out), 0);
    struct machine *m = call_make_text("k", text);
    uint64_t bundles = call_kernel(m, registers, n, memory);
    machine_free(m);
    return bundles;
}

static void scheduled_is_plain(void **state)
{
    static uint8_t scheduled[TW_DATA_BYTES], plain[TW_DATA_BYTES];
    struct tw_random random = {1};
    uint64_t bundles[2] = {0, 0};

    (void)state;
    for (unsigned i = 0; i < PROGRAMS; i++) {
        struct random_program p;
        struct call_register registers[NUMBERS + 6];
        unsigned n = 0;
        make_program(&random, &p);
        for (unsigned k = 0; k < TW_DATA_BYTES; k++)
            scheduled[k] = plain[k] = (uint8_t)tw_random_u64(&random);
        for (unsigned k = 0; k < NUMBERS; k++)
            registers[n++] = (struct call_register){TW_R_r0 + k, (uint32_t)tw_random_u64(&random)};
        for (unsigned k = 0; k < 4; k++)
            registers[n++] = (struct call_register){TW_R_p0 + k, TW_DATA_OWN + k * BANK + FIRST};
        registers[n++] = (struct call_register){TW_R_r16, p.trips};
        registers[n++] = (struct call_register){TW_R_r17, p.outer};
        bundles[0] += run(&p, write_scheduled, registers, n, scheduled);
        bundles[1] += run(&p, write_plain, registers, n, plain);
        if (memcmp(scheduled, plain, sizeof plain) != 0) {
            write_scheduled(stdout, &p);
            fail_msg("program %u does not do what its text says", i);
        }
    }
    print_message("%d programs, %llu bundles scheduled, %llu plain\n", PROGRAMS, (unsigned long long)bundles[0],
                  (unsigned long long)bundles[1]);
    assert_true(3 * bundles[0] < bundles[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(scheduled_is_plain)};
    return cmocka_run_group_tests_name("scheduled", tests, NULL, NULL);
}
