// The addend: D, of the shape of C and in fp32, comes in place of A after the last step. A block is 16 columns of it in
// tiles of 4 x 4, tile columns one after another, each from its first row to its last. Those of all cores of a row come
// to each of them: a core lets pass what is before its own and behind. twin_job.c says the same in C.

// count: the register that says how many blocks pass; label: where they do.
.macro pass_blocks label, count
.align 16
.sched
.reg r %next_a = r8, %count = \count, %left, %one, %one_less, %t
.keep r9, r16, r19, r20, r23, r24, r25, r26
    mov %left, %count
    movi %one_less, #-1
    movi %one, #1
    jz %left, #\label\()_end
\label\():
    acq #JOB_OWN + JOB_A_FULL, %one_less
    rel #JOB_OWN + JOB_A_EMPTY, %one
    movi %t, #JOB_A0 ^ JOB_A1
    xor %next_a, %next_a, %t
    add %left, %left, #-1
    jnz %left, #\label
.endsched
.align 16
\label\()_end:
.endm

// C counts as if it were in the bank of A, part of which it may be.
.macro add_blocks
.sched
.reg p %d, %from, %to
.reg d %walk_from, %walk_to
.reg r %next_a = r8, %c = r16, %n = r23, %m = r24, %left, %tiles, %step, %t, %u, %add, %one, %one_less
.reg bm %sum, %term
.keep r9, r16, r19, r20, r26
    mov %from, %c
    mov %to, %c
    movi %add, #ADD_FLOAT
    mov %left, %n
    movi %t, #4
    lshl %tiles, %m, %t
    // m / 4 tiles down, 16 n bytes apart, then on to the next column's first. Half a tile is behind already.
    movi %t, #8
    lshl %step, %n, %t
    movi %t, #2
    lshl %t, %m, %t
    add %t, %t, #-1
    mov %walk_from.dn, %t
    mov %walk_to.dn, %t
    mul %u, %t, %step
    movi %t, #32
    sub %u, %t, %u
    mov %walk_from.m, %u
    mov %walk_to.m, %u
    sub %step, %step, %t
    mov %walk_from.dj, %step
    mov %walk_to.dj, %step
    movi %t, #0
    mov %walk_from.dc, %t
    mov %walk_to.dc, %t
add_block:
    movi %one_less, #-1
    acq #JOB_OWN + JOB_A_FULL, %one_less
    mov %d, %next_a
.loop %tiles least=16 multiple=16 independent=C
    vlda %term.l, [%d], #32 @D:2
    vlda %term.h, [%d], #32 @D:2
    vlda %sum.l, [%from], #32 @C:2
    vlda.2d %sum.h, [%from], %walk_from @C:2
    vadd.f %sum, %sum, %term, %add
    vst %sum.l, [%to], #32 @C:2
    vst.2d %sum.h, [%to], %walk_to @C:2
.endloop
    movi %one, #1
    rel #JOB_OWN + JOB_A_EMPTY, %one
    movi %t, #JOB_A0 ^ JOB_A1
    xor %next_a, %next_a, %t
    add %left, %left, #-1
    jnz %left, #add_block
.endsched
.endm
