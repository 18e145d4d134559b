#include "isa/random_sched.h"

#include "base/random.h"

#include <stdarg.h>
#include <stdio.h>

enum { LABELS = 3 };

struct writer {
    struct tw_random random;
    char *text;
    size_t size, at;
    int in_loop;
};

static int below(struct writer *w, int n)
{
    return (int)tw_random_range(&w->random, 0, n - 1);
}

static void put(struct writer *w, const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    int n = vsnprintf(w->text + w->at, w->size - w->at, fmt, args);
    va_end(args);
    w->at += n > 0 && (size_t)n < w->size - w->at ? (size_t)n : 0;
}

/* A tag, often none. */
static const char *tag(struct writer *w)
{
    static const char *const tags[] = {"", " @a", " @b", " @a:0", " @b:1", " @c:0", " @c"};
    return tags[below(w, 7)];
}

static void scalar(struct writer *w)
{
    static const char *const names[] = {"add", "sub", "and", "lshl", "mul", "lt", "eq", "adc"};
    switch (below(w, 6)) {
    case 0:
        put(w, " movi %%r%d, #%d\n", below(w, 6), below(w, 2000) - 1000);
        return;
    case 1:
        put(w, " mov %%r%d, %%r%d\n", below(w, 6), below(w, 6));
        return;
    case 2:
        put(w, " mov r27, %%r%d\n sel.eqz %%r%d, %%r%d, %%r%d, r27\n", below(w, 6), below(w, 6), below(w, 6),
            below(w, 6));
        return;
    case 3:
        put(w, " mov.d%d %%r%d, %%r%d\n", 1 + below(w, 6), below(w, 6), below(w, 6));
        return;
    default:
        put(w, " %s %%r%d, %%r%d, %%r%d\n", names[below(w, 8)], below(w, 6), below(w, 6), below(w, 6));
    }
}

static void memory(struct writer *w)
{
    switch (below(w, 13)) {
    case 0:
        put(w, " lda %%r%d, [%%p%d], #4%s\n", below(w, 6), below(w, 3), tag(w));
        return;
    case 1:
        put(w, " lda %%r%d, [%%p%d, #8]%s\n", below(w, 6), below(w, 3), tag(w));
        return;
    case 2:
        put(w, " st %%r%d, [%%p%d], #-4%s\n", below(w, 6), below(w, 3), tag(w));
        return;
    case 3:
        put(w, " vld %%x%d.l, [%%p%d], #32%s\n vld %%x%d.h, [%%p%d], #32%s\n", 0, below(w, 3), tag(w), 0, below(w, 3),
            tag(w));
        return;
    case 4:
        put(w, " vld.2d %%x%d.%c, [%%p%d], %%d0%s\n", below(w, 4), "lh"[below(w, 2)], below(w, 3), tag(w));
        return;
    case 5:
        put(w, " vst %%x%d.%c, [%%p%d], %%m0%s\n", below(w, 4), "lh"[below(w, 2)], below(w, 3), tag(w));
        return;
    case 6:
        put(w, " vlda %%b%d.%c, [%%p%d], #32%s\n", below(w, 3), "lh"[below(w, 2)], below(w, 3), tag(w));
        return;
    case 7:
        put(w, " vst %%c%d.hl, [%%p%d], #32%s\n", below(w, 2), below(w, 3), tag(w));
        return;
    case 8:
        put(w, " vst.srs.s16.s64 %%c%d, %%s0, [%%p%d], #32%s\n", below(w, 2), below(w, 3), tag(w));
        return;
    case 9:
        put(w, " padd [%%p%d], #64\n", below(w, 3));
        return;
    case 10:
        put(w, " vlda.ups.s32.s16 %%b%d, %%s0, [%%p%d], #32%s\n", below(w, 3), below(w, 3), tag(w));
        return;
    case 11:
        put(w, " st.s8 %%r%d, [%%p%d], #1%s\n", below(w, 6), below(w, 3), tag(w));
        return;
    default:
        put(w, " vst.conv.bf16.fp32 %%b%d, [%%p%d], #32%s\n", below(w, 3), below(w, 3), tag(w));
    }
}

static void vector(struct writer *w)
{
    switch (below(w, 16)) {
    case 0:
        put(w, " vadd.32 %%x%d, %%x%d, %%x%d\n", below(w, 4), below(w, 4), below(w, 4));
        return;
    case 1:
        put(w, " vshift %%x%d, %%x%d, %%x%d, %%r%d\n", below(w, 4), below(w, 4), below(w, 4), below(w, 6));
        return;
    case 2:
        put(w, " vmax_lt.s32 %%x%d, %%r%d, %%x%d, %%x%d\n", below(w, 4), below(w, 6), below(w, 4), below(w, 4));
        return;
    case 3:
        put(w, " vmov %%x%d.l, %%x%d.h\n", below(w, 4), below(w, 4));
        return;
    case 4:
        put(w, " vmov %%x%d, %%b%d\n", below(w, 4), below(w, 3));
        return;
    case 5:
        put(w, " vmov %%b%d, %%x%d\n", below(w, 3), below(w, 4));
        return;
    case 6:
        put(w, " vmov %%c%d.lh, %%x%d.l\n", below(w, 2), below(w, 4));
        return;
    case 7:
        put(w, " vconv.bf16.fp32 %%x%d.%c, %%b%d\n", below(w, 4), "lh"[below(w, 2)], below(w, 3));
        return;
    case 8:
        put(w, " vsr.d16.s32 %%x%d.l, %%b%d, %%s0\n", below(w, 4), below(w, 3));
        return;
    case 9:
        put(w, " vextract.s32 %%r%d, %%x%d, %%r%d\n", below(w, 6), below(w, 4), below(w, 6));
        return;
    case 10:
        put(w, " vmul %%c%d, %%w0.x, %%x%d, %%r%d\n", below(w, 2), below(w, 4), below(w, 6));
        return;
    case 11:
        put(w, " vclr %%b%d\n", below(w, 3));
        return;
    case 12:
        put(w, " vadd %%c%d, %%c%d, %%c%d, %%r%d\n", below(w, 2), below(w, 2), below(w, 2), below(w, 6));
        return;
    case 13: {
        int c = below(w, 2);
        put(w, " vmac %%c%d, %%c%d, %%x%d, %%x%d, %%r%d\n", c, c, below(w, 4), below(w, 4), below(w, 6));
        return;
    }
    case 14:
        put(w, " vld %%w0, [%%p%d], #32%s\n", below(w, 3), tag(w));
        return;
    default: {
        int b = below(w, 3);
        put(w, " vmac.f %%b%d, %%b%d, %%x%d, %%x%d, %%r%d\n", b, b, below(w, 4), below(w, 4), below(w, 6));
    }
    }
}

static void outside(struct writer *w)
{
    switch (below(w, 5)) {
    case 0:
        put(w, " acq #%d, %%r%d\n", 48 + below(w, 4), below(w, 6));
        return;
    case 1:
        put(w, " rel #%d, %%r%d\n", 48 + below(w, 4), below(w, 6));
        return;
    case 2:
        put(w, " mov %%r%d, SS\n", below(w, 6));
        return;
    case 3:
        put(w, " mov ms, %%r%d\n", below(w, 6));
        return;
    default:
        put(w, " event #%d\n", below(w, 4));
    }
}

static void operations(struct writer *w, int n)
{
    for (int i = 0; i < n; i++) {
        int kind = below(w, 40);
        if (kind == 0)
            outside(w);
        else if (kind < 12)
            memory(w);
        else if (kind < 20)
            scalar(w);
        else
            vector(w);
    }
}

static void loop(struct writer *w)
{
    static const char *const free[] = {"", " independent=a", " independent=a,b"};
    if (below(w, 2) == 0)
        put(w, ".loop %d%s\n", 1 + below(w, 30), free[below(w, 3)]);
    else
        put(w, ".loop %%n least=%d multiple=%d%s\n", 1 + below(w, 12), 1 << below(w, 3), free[below(w, 3)]);
    operations(w, 1 + below(w, below(w, 4) == 0 ? 24 : 8));
    put(w, ".endloop\n");
}

static void head(struct writer *w)
{
    put(w, ".reg r %%n, %%sum, %%r0, %%r1, %%r2, %%r3, %%r4, %%r5\n.reg p %%p0, %%p1, %%p2, %%to\n.reg x %%x0, %%x1, "
           "%%x2, %%x3, %%all\n"
           ".reg bm %%b0, %%b1, %%b2\n.reg cm %%c0, %%c1\n.reg wl %%w0\n.reg m %%m0\n.reg d %%d0\n.reg s %%s0\n"
           ".in %%p0 = p0, %%p1 = p1, %%p2 = p2, %%n = r0, %%x3 = x7, %%b2 = bmh1, %%c1 = cm4\n"
           ".keep r1, wl4, bml5\n");
    for (int i = 0; i < 6; i++)
        put(w, " movi %%r%d, #%d\n", i, below(w, 3000));
    for (int i = 0; i < 3; i++)
        put(w, " vbcst.32 %%x%d, %%r%d\n", i, below(w, 6));
    for (int i = 0; i < 2; i++)
        put(w, " vclr %%b%d\n", i);
    put(w, " vmov %%c0.l, %%x0\n vmov %%c0.h, %%x0\n vmov %%w0, %%x0.l\n movi %%m0, #32\n movi %%d0.m, #32\n movi "
           "%%d0.dn, #4\n movi %%d0.dj, #64\n"
           " movi %%d0.dc, #0\n movi %%s0, #3\n add %%r0, %%r0, %%r1\n");
}

void random_sched_text(unsigned long seed, char *text, size_t size)
{
    struct writer w = {{seed}, text, size, 0, 0};
    int parts = 1 + below(&w, 4), label = 0;

    text[0] = '\0';
    head(&w);
    int outputs = below(&w, 3) == 0;
    if (outputs)
        put(&w, ".out %%sum = r5, %%all = x3\n mov %%sum, %%r1\n vmov %%all, %%x1\n");
    for (int i = 0; i < parts; i++) {
        if (label < LABELS && below(&w, 4) == 0)
            put(&w, "again%d:\n", label++);
        operations(&w, below(&w, 8));
        if (below(&w, 4) != 0)
            loop(&w);
        operations(&w, below(&w, 6));
        if (label > 0 && below(&w, 3) == 0)
            put(&w, " %s %%r%d, #again%d\n", below(&w, 2) == 0 ? "jz" : "jnz", below(&w, 6), below(&w, label));
        else if (label > 0 && below(&w, 6) == 0)
            put(&w, " movxm %%to, #again%d\n jnzd %%r0, %%r1, %%to\n", below(&w, label));
    }
    if (outputs)
        put(&w, " add %%sum, %%sum, %%r0\n vadd.32 %%all, %%all, %%x0\n");
    if (below(&w, 3) == 0)
        put(&w, " ret lr\n");
}
