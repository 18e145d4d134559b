// C += A * B for blocks of 64 x 64 x 64: A and B bf16, C fp32. twin_product.c says the same in C.
//
// The multiplier takes 4 x 8 numbers of A and 8 x 4 of B for 4 x 4 of C, row-major inside these tiles. One iteration of
// the loop makes a group of 2 x 4 tiles of C from 2 strips of A and 4 of B: 8 steps of k, 8 products in each.
// Iterations go down the 8 groups of two tile rows, and then to the next of the 4 groups of four tile columns.
//
// p0  A, 8,192 bytes:  [row group 8][k step 8][tile row 2] tiles of 64 bytes
// p1  B, the first 4 rows of each tile, 4,096 bytes:  [column group 4][k step 8][tile column 4] pieces of 32 bytes
// p2  B, the last 4 rows, in the same order
// p3  C, 16,384 bytes:  [column group 4][row group 8][tile column 4][tile row 2] tiles of 64 bytes
// All 32-byte aligned. A, the halves of B, and C lie in different banks of data memory, so that no access waits for
// another.
//
// Changes p0..p7, m, dn, dj, dc, x, bm and r registers. Needs 0 in the configuration's exceptions mask, nothing else.

.macro load_c tile
    vlda %c\tile.l, [%c], #32 @C:3
    vlda %c\tile.h, [%c], #32 @C:3
.endm

.macro store_c tile
    vst %c\tile.l, [%to], #32 @C:3
    vst %c\tile.h, [%to], #32 @C:3
.endm

// One of the 4 tiles of B in a step, against both of A. The last of an iteration walks to the next iteration's first.
.macro column j, load=vld, by_l=#32, by_h=#32
    \load %b.l, [%bl], \by_l @B:1
    \load %b.h, [%bh], \by_h @B:2
    vmac.f %c0\j, %c0\j, %a0, %b, %conf
    vmac.f %c1\j, %c1\j, %a1, %b, %conf
.endm

.text
.align 16
.global product_bf16
product_bf16:
.sched
.reg p %a, %bl, %bh, %c, %to
.in %a = p0, %bl = p1, %bh = p2, %c = p3
.reg d %walk_a, %walk_bl, %walk_bh
.reg r %conf
.reg x %a0, %a1, %b
.reg bm %c00, %c01, %c02, %c03, %c10, %c11, %c12, %c13

    movi %conf, #28 // bf16, 4x8x4
    mov %to, %c
    movi %walk_a.dn, #7
    movi %walk_a.dj, #32
    movi %walk_a.m, #32 - 8192
    movi %walk_a.dc, #0
    movi %walk_bl.dn, #7
    movi %walk_bl.dj, #32 - 1024
    movi %walk_bl.m, #32
    movi %walk_bl.dc, #0
    movi %walk_bh.dn, #7
    movi %walk_bh.dj, #32 - 1024
    movi %walk_bh.m, #32
    movi %walk_bh.dc, #0

.loop 32 independent=C
    load_c 00
    load_c 10
    load_c 01
    load_c 11
    load_c 02
    load_c 12
    load_c 03
    load_c 13
.rept 7
    vld %a0.l, [%a], #32 @A:0
    vld %a0.h, [%a], #32 @A:0
    vld %a1.l, [%a], #32 @A:0
    vld %a1.h, [%a], #32 @A:0
    column 0
    column 1
    column 2
    column 3
.endr
    vld %a0.l, [%a], #32 @A:0
    vld %a0.h, [%a], #32 @A:0
    vld %a1.l, [%a], #32 @A:0
    vld.2d %a1.h, [%a], %walk_a @A:0
    column 0
    column 1
    column 2
    column 3, vld.2d, %walk_bl, %walk_bh
    store_c 00
    store_c 10
    store_c 01
    store_c 11
    store_c 02
    store_c 12
    store_c 03
    store_c 13
.endloop
    ret lr
.endsched
