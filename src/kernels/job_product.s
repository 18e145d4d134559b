// Steps of a product: C += A * B for blocks m x 32 and 32 x n. twin_job.c says the same in C.
//
// The multiplier takes 4 x 8 numbers of A and 8 x 4 of B for 4 x 4 of C. One iteration of the loop makes a group of
// C: 4 tiles of a row in the upper half of C and 4 of the row in the same place of the lower half, in 4 steps of k
// with 8 products in each. Groups go along the columns, then down the rows. Every bundle has a product, a load of B,
// an access of C or A in bank 2 and another load or store; the order of the text is one for which the scheduler finds
// that.

.macro load_c i, j, bank
    vlda %c\i\j\().l, [%from\i], #32 @C:\bank
    vlda %c\i\j\().h, [%from\i], #32 @C:\bank
.endm

.macro store_c i, j, bank
    vst %c\i\j\().l, [%to\i], #32 @C:\bank
    vst %c\i\j\().h, [%to\i], #32 @C:\bank
.endm

.macro load_b load=vld, by=#32
    vld %raw.l, [%b], #32 @B:3
    \load %raw.h, [%b], \by @B:3
    vshuffle %turned, %raw, %raw, %turn
.endm

.macro column j, conf
    vmac.f %c0\j, %c0\j, %a0, %turned, \conf
    vmac.f %c1\j, %c1\j, %a1, %turned, \conf
.endm

// The last of an iteration walks to the next iteration's first.
.macro load_a load=vld, by=%step_a
    vld %a0.l, [%a], #32 @A:2
    vld %a0.h, [%a], %step_a @A:2
    vld %a1.l, [%a], #32 @A:2
    \load %a1.h, [%a], \by @A:2
.endm

.macro step conf
    load_a
    load_b
    column 0, \conf
    load_b
    column 1, \conf
    load_b
    column 2, \conf
    load_b vld, %step_b
    column 3, \conf
.endm

.macro last_column j
    vmac.f %c0\j, %c0\j, %a0, %turned, %conf
    store_c 0, \j, 0
    vmac.f %c1\j, %c1\j, %a1, %turned, %conf
    store_c 1, \j, 2
.endm

// label: where the next step begins; loop: how the loop over groups is declared.
.macro multiply label, loop:vararg
.sched
.reg p %a, %b, %from0, %from1, %to0, %to1
.reg d %walk_a, %walk_b
.reg m %step_a, %step_b
.reg r %next_a = r8, %next_b = r9, %c = r16, %half = r17, %left = r18, %groups = r19, %turn = r21, %first = r22
.reg r %conf, %one, %one_less, %t
.reg x %a0, %a1, %raw, %turned
.reg bm %c00, %c01, %c02, %c03, %c10, %c11, %c12, %c13
.in %walk_a = d0, %walk_b = d1, %step_a = m4, %step_b = m5
.keep r16, r17, r19, r20, r21, r23, r24, r25, r26

    movi %one_less, #-1
    acq #JOB_OWN + JOB_A_FULL, %one_less
    acq #JOB_OWN + JOB_B_FULL, %one_less
    mov %a, %next_a
    mov %b, %next_b
    mov %from0, %c
    mov %to0, %c
    mov %from1, %half
    mov %to1, %half
    movi %conf, #BF16
    \loop independent=C
    load_c 1, 0, 2
    load_c 1, 1, 2
    load_c 1, 2, 2
    load_c 1, 3, 2
    load_c 0, 0, 0
    load_c 0, 1, 0
    load_c 0, 2, 0
    load_c 0, 3, 0
    step %first
    step %conf
    step %conf
    load_a vld.2d, %walk_a
    load_b
    last_column 0
    load_b
    last_column 1
    load_b
    last_column 2
    load_b vld.2d, %walk_b
    last_column 3
.endloop
    movi %one, #1
    rel #JOB_OWN + JOB_A_EMPTY, %one
    rel #JOB_OWN + JOB_B_EMPTY, %one
    movi %t, #JOB_A0 ^ JOB_A1
    xor %next_a, %next_a, %t
    movi %t, #JOB_B0 ^ JOB_B1
    xor %next_b, %next_b, %t
    movi %first, #BF16
    add %left, %left, #-1
    jnz %left, #\label
.endsched
.endm
