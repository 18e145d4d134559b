// The program of a core: jobs, one after another, for ever. job.h describes blocks, memory, locks and headers; its
// numbers come as symbols JOB_... in front of this text. job_product.s and job_gelu.s are the loops over numbers.
//
// What holds between sections: r8, r9 the buffers of A and B that come next; of a job r16 C, r17 the second half of
// its rows, r18 steps that are left, r19 groups of 2 x 4 tiles, r20 flags, r21 how tiles of B are turned, r22 the
// multiplier's configuration in the next step, r23 n / 16; d0, m4 and d1, m5 the walks through blocks of A and B.

.set BF16, 28                 // multiplier: bf16, 4x8x4
.set ZERO, 1                  // ... and the accumulator counts as zero
.set TO_NEAREST_EVEN, 12      // crRnd
.set AS_IT_IS, 22             // vshuffle: the first operand
.set COLUMNS_TO_ROWS, 29      // vshuffle: 4 x 8 numbers of 16 bits are turned
.set PAIRS_LOW, 12            // vshuffle: 2 x 4 pieces of 128 bits are turned; the first half
.set PAIRS_HIGH, 13           // ... the second half

.include "job_product.s"
.include "job_gelu.s"
.include "job_addend.s"

.text
.align 16
.sched
.reg r %a = r8, %b = r9, %mode
    movi %a, #JOB_A0
    movi %b, #JOB_B0
    movi %mode, #TO_NEAREST_EVEN
    movx crRnd, %mode
.endsched
    set_gelu_constants

.align 16
job:
.sched
.reg p %header
.reg d %walk_a, %walk_b
.reg m %step_a, %step_b
.reg r %at = r9, %c = r16, %half = r17, %steps = r18, %groups = r19, %flags = r20, %turn = r21, %first = r22, %n = r23
.reg r %m = r24, %before = r25, %behind = r26, %one_less, %t, %u, %mask
.out %walk_a = d0, %walk_b = d1, %step_a = m4, %step_b = m5
.keep r8, r9

    movi %one_less, #-1
    acq #JOB_OWN + JOB_B_FULL, %one_less
    mov %header, %at
    lda %m, [%header, #4 * JOB_M]
    lda %n, [%header, #4 * JOB_N]
    lda %steps, [%header, #4 * JOB_STEPS]
    lda %flags, [%header, #4 * JOB_FLAGS]
    lda %c, [%header, #4 * JOB_C]
    lda %before, [%header, #4 * JOB_BEFORE]
    lda %behind, [%header, #4 * JOB_BEHIND]

    // A group has two tile rows, m / 8 tile rows of 64 bytes apart; a step of 8 in k is twice as far. After 4 steps
    // the walk is 7 such distances and half a tile on; it goes back for the next group of columns, and from the last
    // of them to the next tile row.
    movi %t, #8 * JOB_UNIT
    mul %t, %m, %t
    mov %u, %t
    movi %mask, #-32
    add %t, %t, %mask
    mov %step_a, %t
    movi %t, #-7
    mul %u, %u, %t
    add %u, %u, %mask
    mov %walk_a.dj, %u
    movi %t, #64
    add %u, %u, %t
    mov %walk_a.m, %u
    add %t, %n, #-1
    mov %walk_a.dn, %t
    mov %walk_b.dn, %t
    movi %t, #0
    mov %walk_a.dc, %t
    mov %walk_b.dc, %t

    // A group has four tile columns, 256 bytes; a step of 8 in k is 16 n bytes. After 4 steps on to the next four, or
    // from the last ones back to the first.
    movi %t, #8
    lshl %u, %n, %t
    movi %t, #-224
    add %t, %u, %t
    mov %step_b, %t
    movi %t, #-3
    mul %t, %u, %t
    movi %mask, #32
    add %t, %t, %mask
    mov %walk_b.dj, %t
    sub %t, %t, %u
    mov %walk_b.m, %t

    mul %groups, %m, %n
    movi %t, #9
    lshl %half, %groups, %t
    add %half, %c, %half
    add %groups, %groups, %groups

    movi %turn, #AS_IT_IS
    movi %first, #BF16 + ZERO
    movi %mask, #JOB_TRANSPOSED
    and %t, %flags, %mask
    movi %mask, #-3 // 8 to 1
    lshl %t, %t, %mask
    movi %mask, #COLUMNS_TO_ROWS - AS_IT_IS
    mul %t, %t, %mask
    add %turn, %turn, %t

    acq #JOB_OWN + JOB_C_EMPTY, %one_less
    movi %mask, #JOB_ADD_BIAS
    and %t, %flags, %mask
    jz %t, #begin
.endsched

// The bias goes into C, and sums begin with it: a row of it, four times for the four rows of each tile.
.sched
.reg p %bias, %to
.reg d %walk
.reg r %at = r9, %c = r16, %groups = r19, %first = r22, %n = r23
.reg r %count, %t, %u, %low, %high
.reg x %w, %pairs, %left, %right
.keep d0, d1, m4, m5, r8, r9, r16, r17, r18, r19, r20, r21, r23, r24, r25, r26

    movi %first, #BF16
    mov %bias, %at
    padd [%bias], #4 * JOB_BIAS
    mov %to, %c
    movi %low, #PAIRS_LOW
    movi %high, #PAIRS_HIGH
    // Pieces of 8 numbers; there are 2 n / 16 in a row.
    add %t, %n, %n
    add %t, %t, #-1
    mov %walk.dn, %t
    movi %walk.dj, #32
    movi %u, #-32
    mul %t, %t, %u
    mov %walk.m, %t
    movi %walk.dc, #0
    movi %t, #2
    lshl %count, %groups, %t
.loop %count least=8 multiple=8
    vld %w.h, [%bias, #0] @bias:3
    vld.2d %w.l, [%bias], %walk @bias:3
    vshuffle %pairs, %w, %w, %low
    vshuffle %left, %pairs, %pairs, %low
    vshuffle %right, %pairs, %pairs, %high
    vst %left.l, [%to], #32 @C
    vst %left.h, [%to], #32 @C
    vst %right.l, [%to], #32 @C
    vst %right.h, [%to], #32 @C
.endloop
.endsched

.align 16
begin:
.sched
.reg r %at = r9, %groups = r19, %one, %t
.keep d0, d1, m4, m5, r8, r16, r17, r18, r19, r20, r21, r22, r23, r24, r25, r26
    movi %one, #1
    rel #JOB_OWN + JOB_B_EMPTY, %one
    movi %t, #JOB_B0 ^ JOB_B1
    xor %at, %at, %t
    movi %t, #2
    ne %t, %groups, %t
    jnz %t, #steps
.endsched

// The loop over groups overlaps so many of them that two are too few.
.align 16
few_steps:
    multiply few_steps, .loop 2
.sched
    j #finish
.endsched

.align 16
steps:
    multiply steps, .loop %groups least=4 multiple=2

.align 16
finish:
.sched
.reg r %flags = r20, %t, %mask
.keep r8, r9, r16, r19, r20, r23, r24, r25, r26
    movi %mask, #JOB_GELU + JOB_BF16 + JOB_ADDEND
    and %t, %flags, %mask
    jz %t, #done
    movi %mask, #JOB_GELU
    and %mask, %t, %mask
    jz %mask, #gelu_done
    movi %mask, #JOB_GELU + JOB_BF16
    xor %mask, %t, %mask
    jnz %mask, #gelu_fp32
.endsched

    gelu store_bf16
.sched
    j #done
.endsched

.align 16
gelu_fp32:
    gelu store_fp32

.align 16
gelu_done:
.sched
.reg r %flags = r20, %t, %mask
.keep r8, r9, r16, r19, r20, r23, r24, r25, r26
    movi %mask, #JOB_ADDEND
    and %t, %flags, %mask
    jz %t, #added
.endsched
    pass_blocks pass_before, r25
    add_blocks

.align 16
added:
.sched
.reg r %flags = r20, %t, %mask
.keep r8, r9, r16, r19, r26
    movi %mask, #JOB_BF16
    and %t, %flags, %mask
    jz %t, #done
.endsched

// C to bf16, from its beginning on. What is written was read before.
.sched
.reg p %from, %to
.reg r %c = r16, %groups = r19, %tiles, %t
.reg bm %sum
.keep r8, r9, r26
    mov %from, %c
    mov %to, %c
    movi %t, #3
    lshl %tiles, %groups, %t
.loop %tiles least=16 multiple=8 independent=C
    vlda %sum.l, [%from], #32 @C:0
    vlda %sum.h, [%from], #32 @C:0
    vst.conv.bf16.fp32 %sum, [%to], #32 @C:1
.endloop
.endsched

.align 16
done:
.sched
.reg r %one
.keep r8, r9, r26
    movi %one, #1
    rel #JOB_OWN + JOB_C_FULL, %one
.endsched
    pass_blocks pass_behind, r26
.sched
    j #job
.endsched
