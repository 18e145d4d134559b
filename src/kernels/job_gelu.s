// GELU over C: y = x (1 + erf(x / sqrt 2)) / 2, as y = max(x, 0) - |x| Q(|x|), where Q(u) = erfc(u / sqrt 2) / 2 is
// the part of the normal distribution above u. tw_twin_gelu in twin_gelu.c says the same in C.
//
// Q falls over many powers of two, but its logarithm is nearly a polynomial: Q(u) = 2^(G(u) - 26), G of degree 5,
// fitted at Chebyshev points on 0 .. 5.5. G is evaluated in numbers of 16 bits with 32 lanes (two tiles): u in units
// of 2^-12, up to 8, so that u / 8 is a fraction of 15 bits; G with 10 bits behind the point. What stands before the
// point belongs into a float's exponent, and what stands behind, f, into its mantissa, as 2^f - 1 = f + f (E1 + f (E2
// + f E3)); both are put together as one number of 32 bits, whose bits are the float Q, to 0.15 % of itself for u up
// to 5.5. Into the product goes Q as a bf16 number, and |x| as the sum of two. Rounded to bf16, y is the true value
// rounded or a neighbour of that, for x down to -5.5; below it differs by less than 2^-32 |x|. In fp32 the greatest
// difference is 0.0008. What is infinite comes out as not a number.
//
// Constants lie in the core's scratch memory, each in 32 bytes, and addresses count from the fifth, because a load
// has offsets of -128 to 96 in one of its slots. Two of G's and the exponent's are accumulators to which products are
// added: with all in memory its bank, with all in accumulators the registers would set the loop's length.
// C counts as if it were in the constants' bank, which it is not: that makes the bounds 32 and 34, near what there are
// registers for (30 and 33 were found), and the scheduler does not try in vain what lies below.

.set PRODUCT_16, 824          // multiplier: int16, 32 lanes, both signed
.set PAIRS_BF16, 60           // multiplier: bf16, lanes i and i + 16
.set ADD_FLOAT, 28
.set ADD_32, 0                // vsub: lanes of 32 bits
.set SYMMETRIC, 3             // crSat: what does not fit becomes the nearest of -32767 .. 32767
.set UNITS, 0x45400000        // fp32: 3,072, whose last bit is 2^-12
.set POSITIVE, 0x7fffffff
.set FRACTION, 0x03ff
.set TO_MANTISSA, 8192        // 10 bits behind the point to a float's 23
.set EXPONENT, 0x32800000     // 127 - 26, as the exponent of a float
.set G0, 25600                // 10 bits behind the point
.set G1, -4694                // the others 9
.set G2, -15404
.set G3, -11633
.set G4, 10112
.set G5, -3854
.set E1, -2500                // 13 bits behind the point
.set E2, 1850
.set E3, 650
.set CONSTANTS, JOB_SCRATCH + 128

.macro constant value, lanes=16
    movi %t, #\value
    vbcst.\lanes %v, %t
    vst %v.l, [%to], #32 @constants
.endm

// In the order of the offsets -128, -96, ...
.macro set_gelu_constants
.sched
.reg p %to
.reg r %t
.reg x %v
.keep r8, r9
    movi %to, #JOB_SCRATCH
    constant G5
    constant G0
    constant E2
    constant E1
    constant E3
    constant FRACTION
    constant TO_MANTISSA
    constant POSITIVE, 32
    constant G3
    constant G1
.endsched
.endm

// A register of constants: 32 lanes of 32 bits.
.macro all acc, value
    movi %t, #\value
    vbcst.32 %x, %t
    vmov \acc\().l, %x
    vmov \acc\().h, %x
.endm

.macro load_constant x, at
    vld \x\().l, [%constants, #\at] @constants:3
    vld \x\().h, [%constants, #\at] @constants:3
.endm

// q = q * u + a constant that lies in an accumulator
.macro power constant
    vmac %product, \constant, %q, %size_16, %conf_16
    vsrs.s16.s32 %q, %product, %by_15
.endm

// q = q * by + a constant from memory
.macro horner by, bits, at
    vmul %product, %q, \by, %conf_16
    vsrs.s16.s32 %q, %product, \bits
    load_constant %k, \at
    vadd.16 %q, %q, %k
.endm

// |x| and max(x, 0) of one of two tiles.
.macro gelu_sizes half
    vld %x.l, [%again], #32 @C:3
    vld %x.h, [%again], #32 @C:3
    load_constant %k, 96
    vband %u, %x, %k
    vmax_lt.s32 %x, %compare, %x, %zero
    vmov %size\half, %u
    vmov %y\half, %x
.endm

.macro gelu_tile half
    vconv.bf16.fp32 %v.l, %size\half
    vconv.fp32.bf16 %rest, %v.l
    vsub.f %rest, %size\half, %rest, %add
    vconv.bf16.fp32 %v.h, %rest
    vconv.bf16.fp32 %high.l, %tail.\half
    vmov %high.h, %high.l
    vmsc.f %y\half, %y\half, %v, %high, %conf
.endm

.macro store_bf16
    vst.conv.bf16.fp32 %yl, [%to], #32 @C:3
    vst.conv.bf16.fp32 %yh, [%to], #32 @C:3
.endm

.macro store_fp32
    vst %yl.l, [%to], #32 @C:3
    vst %yl.h, [%to], #32 @C:3
    vst %yh.l, [%to], #32 @C:3
    vst %yh.h, [%to], #32 @C:3
.endm

// The whole block; store: how results are written from its beginning on.
.macro gelu store
.sched
.reg p %in, %again, %to, %constants
.reg r %c = r16, %groups = r19, %pairs, %t, %conf, %add, %conf_16, %sub, %compare
.reg s %by_0, %by_10, %by_14, %by_15
.reg x %zero, %x, %u, %v, %high, %size_16, %q, %f, %k
.reg bm %rest, %sizel, %sizeh, %yl, %yh
.reg cm %base, %exponent, %g2, %g4, %sum, %product, %tail
.keep r8, r9, r16, r19, r20, r23, r24, r25, r26

    movi %t, #SYMMETRIC
    movx crSat, %t
    movi %conf, #PAIRS_BF16
    movi %add, #ADD_FLOAT
    movi %conf_16, #PRODUCT_16
    movi %sub, #ADD_32
    movi %t, #0
    mov %by_0, %t
    movi %t, #10
    mov %by_10, %t
    movi %t, #14
    mov %by_14, %t
    movi %t, #15
    mov %by_15, %t
    all %base, UNITS
    all %exponent, EXPONENT
    all %g2, G2 * 32768
    all %g4, G4 * 32768
    movi %t, #0
    vbcst.32 %zero, %t
    movi %constants, #CONSTANTS
    mov %in, %c
    mov %again, %c
    mov %to, %c
    movi %t, #2
    lshl %pairs, %groups, %t
.loop %pairs least=8 multiple=2 independent=C
    vlda %sum.ll, [%in], #32 @C:3
    vlda %sum.lh, [%in], #32 @C:3
    vlda %sum.hl, [%in], #32 @C:3
    vlda %sum.hh, [%in], #32 @C:3
    vadd.f %sum.l, %sum.l, %base.l, %add
    vadd.f %sum.h, %sum.h, %base.h, %add
    vsub %sum, %sum, %base, %sub
    vsrs.s16.s32 %size_16, %sum, %by_0
    vabs_gtz.s16 %size_16, %compare, %size_16
    load_constant %q, -128
    power %g4
    horner %size_16, %by_15, 128
    power %g2
    horner %size_16, %by_15, 160
    horner %size_16, %by_14, -96
    load_constant %k, 64
    vmac %tail, %exponent, %q, %k, %conf_16
    load_constant %k, 32
    vband %f, %q, %k
    load_constant %q, 0
    horner %f, %by_10, -64
    gelu_sizes l
    gelu_sizes h
    horner %f, %by_10, -32
    vmac %tail, %tail, %q, %f, %conf_16
    gelu_tile h
    gelu_tile l
    \store
.endloop
.endsched
.endm
