// C += A * B for blocks of 64 x 64 x 64: A and B int8, C int32 modulo 2^32. twin_product.c says the same in C.
//
// The multiplier takes 4 x 8 numbers of A and 8 x 8 of B for 4 x 8 of C, row-major inside these tiles. One iteration of
// the loop makes a group of 2 x 2 tiles of C: 8 steps of k, 4 products in each. Iterations go down the 8 groups of two
// tile rows, and then to the next of the 4 groups of two tile columns.
//
// p0  A, 4,096 bytes:  [row group 8][k step 8][tile row 2] tiles of 32 bytes
// p1  B, the first 4 rows of each tile, 2,048 bytes:  [column group 4][k step 8][tile column 2] pieces of 32 bytes
// p2  B, the last 4 rows, in the same order
// p3  C, 16,384 bytes:  [column group 4][row group 8][tile column 2][tile row 2] tiles of 128 bytes
// All 32-byte aligned. A, the halves of B, and C lie in different banks of data memory, so that no access waits for
// another.
//
// Changes p0..p7, m, dn, dj, dc, x, cm and r registers.

.macro load_c tile
    vlda %c\tile.ll, [%c], #32 @C:3
    vlda %c\tile.lh, [%c], #32 @C:3
    vlda %c\tile.hl, [%c], #32 @C:3
    vlda %c\tile.hh, [%c], #32 @C:3
.endm

.macro store_c tile
    vst %c\tile.ll, [%to], #32 @C:3
    vst %c\tile.lh, [%to], #32 @C:3
    vst %c\tile.hl, [%to], #32 @C:3
    vst %c\tile.hh, [%to], #32 @C:3
.endm

// One of the 2 tiles of B in a step, against both of A. The last of an iteration walks to the next iteration's first.
.macro column j, load=vld, by_l=#32, by_h=#32
    \load %b.l, [%bl], \by_l @B:1
    \load %b.h, [%bh], \by_h @B:2
    vmac %c0\j, %c0\j, %a0.x, %b, %conf
    vmac %c1\j, %c1\j, %a1.x, %b, %conf
.endm

.text
.align 16
.global product_int8
product_int8:
.sched
.reg p %a, %bl, %bh, %c, %to
.in %a = p0, %bl = p1, %bh = p2, %c = p3
.reg d %walk_a, %walk_bl, %walk_bh
.reg r %conf
.reg wl %a0, %a1 // the multiplier looks at the low half only
.reg x %b
.reg cm %c00, %c01, %c10, %c11

    movi %conf, #776 // int8, 4x8x8, both signed
    mov %to, %c
    movi %walk_a.dn, #7
    movi %walk_a.dj, #32
    movi %walk_a.m, #32 - 4096
    movi %walk_a.dc, #0
    movi %walk_bl.dn, #7
    movi %walk_bl.dj, #32 - 512
    movi %walk_bl.m, #32
    movi %walk_bl.dc, #0
    movi %walk_bh.dn, #7
    movi %walk_bh.dj, #32 - 512
    movi %walk_bh.m, #32
    movi %walk_bh.dc, #0

.loop 32 independent=C
    load_c 00
    load_c 10
    load_c 01
    load_c 11
.rept 7
    vld %a0, [%a], #32 @A:0
    vld %a1, [%a], #32 @A:0
    column 0
    column 1
.endr
    vld %a0, [%a], #32 @A:0
    vld.2d %a1, [%a], %walk_a @A:0
    column 0
    column 1, vld.2d, %walk_bl, %walk_bh
    store_c 00
    store_c 10
    store_c 01
    store_c 11
.endloop
    ret lr
.endsched
