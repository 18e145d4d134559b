/*
 * A core program that keeps the overlay's agreements and is as simple as can be: no bias, no GELU, C in fp32. With it
 * what the overlay does can be tested by itself.
 */
#ifndef TESTS_OVERLAY_STAND_IN_H
#define TESTS_OVERLAY_STAND_IN_H

/* clang-format off */
static const char stand_in[] =
    ".macro wait n\n.rept \\n\n nop\n.endr\n.endm\n"
    /* A step of 8 of k: p3, p4 the tiles of A and B, r4 the multiplier's configuration. */
    ".macro step8\n"
    " vlda wl0, [p3, #0]\n vlda wh0, [p3, #32]\n vlda wl1, [p4, #0]\n vlda wh1, [p4, #32]\n"
    " padda [p3], m0\n padda [p4], m1\n wait 8\n vmac.f bml0, bml0, x0, x1, r4\n wait 6\n mova r4, #28\n nop\n"
    ".endm\n"
    ".macro swap_b\n mov r12, r10\n mov r10, r11\n mov r11, r12\n.endm\n"
    ".macro swap_a\n mov r12, r8\n mov r8, r9\n mov r9, r12\n.endm\n"
    /* A delay slot for each bundle of waiting. */
    ".macro again count, label\n add \\count, \\count, #-1\n nop\n jnz \\count, #\\label\n wait 5\n.endm\n"

    ".text\n"
    " mova r1, #-1\n mova r2, #1\n"
    " movxm r8, #0x79000\n movxm r9, #0x7a800\n movxm r10, #0x7c000\n movxm r11, #0x7d800\n"
    ".align 16\n"
    "next_job:\n"
    " acq #51, r1\n wait 8\n mov p0, r10\n nop\n"
    " lda r20, [p0, #0]\n lda r22, [p0, #8]\n lda r23, [p0, #12]\n lda r24, [p0, #16]\n wait 8\n"
    /* r22, r23: tile rows and columns; m0, m1: bytes from one step of 8 to the next. */
    " mova r5, #2\n nop\n lshl r22, r22, r5\n lshl r23, r23, r5\n mova r5, #6\n nop\n"
    " lshl r6, r22, r5\n lshl r7, r23, r5\n nop\n mov m0, r6\n mov m1, r7\n"
    " rel #50, r2\n swap_b\n"
    /* The first product of all replaces what is in C. */
    " acq #52, r1\n mova r3, #29\n wait 8\n"
    ".align 16\n"
    "next_step:\n"
    " acq #49, r1\n wait 4\n acq #51, r1\n wait 8\n"
    " mov p2, r24\n mov p0, r8\n mov r17, r22\n nop\n"
    ".align 16\n"
    "next_row:\n"
    " mov p1, r10\n mov r16, r23\n nop\n"
    ".align 16\n"
    "next_tile:\n"
    " vlda amll0, [p2, #0]\n vlda amlh0, [p2, #32]\n mov p3, p0\n mov p4, p1\n mov r4, r3\n nop\n"
    " step8\n step8\n step8\n step8\n"
    " vst amll0, [p2], #32\n vst amlh0, [p2], #32\n padda [p1], #64\n"
    " again r16, next_tile\n"
    " padda [p0], #64\n"
    " again r17, next_row\n"
    " mova r3, #28\n wait 8\n"
    " rel #48, r2\n wait 4\n rel #50, r2\n"
    " swap_b\n swap_a\n"
    " again r20, next_step\n"
    " wait 8\n rel #53, r2\n"
    " j #next_job\n wait 5\n";
/* clang-format on */

#endif
