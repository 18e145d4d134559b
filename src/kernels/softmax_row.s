// Softmax of a row of bf16 numbers: out[i] = exp(in[i] - greatest) / sum of them all. twin_softmax_row.c says the same
// in C, bit for bit.
//
// p0  the row, 32-byte aligned
// p1  the results, bf16, 32-byte aligned; they must not overlap the row
// p2  64 bytes that the kernel may use, 32-byte aligned
// r0  numbers / 32: a multiple of 4, at least 12
// Row, results and the 64 bytes lie in different banks of data memory, so that no access waits for another.
//
// For numbers from -1,024 to 1,024 (and minus infinity, but not in all places) each result is within 2^-6 of the true
// one, relative to it, or both are less than 2^-86: two roundings to bf16, 2^-8 each, 0.11 % of the exponential, and as
// much as these in the sum. The greatest error that tests found is 2^-7. What is less than exp(-64) counts as about that.
//
// Changes p0..p7, r, s, x and bm registers, crRnd and crSat.
//
// exp(x - greatest) = 2^y, y = (x - greatest) * log2(e). y + 1536 is a float whose last bits are always worth the same;
// with 1.5 * 2^23 added and taken away again it is 1536 + n, n a whole number, whose bits hold n * 128: what a bf16
// number's exponent wants added. 2^(y - n) is a polynomial for -1/2 .. 1/2.
// The elementwise multiplier adds the products of lanes i and i + 16: in one vector they have a number twice, in the
// other one two parts of a factor, or the factor and zero.

.set LOG2E_HIGH, 0x3fb9       // bf16: log2(e) in two parts
.set LOG2E_LOW, 0xbb2c
.set P0, 0x3f7ffb49           // 2^f = P0 + f (P1 + f (P2 + f P3)), to 7.5e-5; fp32
.set P1_HIGH, 0x3f31          // bf16
.set P1_LOW, 0x3af31a98
.set P2, 0x3e786f0d
.set P3_HIGH, 0x3d62          // bf16
.set P3_LOW, 0xb68a
.set MAGIC, 0x4b40            // bf16: 1.5 * 2^23
.set OFFSET, 0x44c00000       // fp32: 1536
.set ONE_BF16, 0x3f80
.set HALF_BF16, 0x3f00
.set ONE, 0x3f800000
.set MINUS_64, 0xc2800000
.set MINUS_INFINITY, 0xff80
.set GUESS, 0x7ef311c3        // less the bits of a float: 1 / float to 12 %

// Three sections, one for each loop: what one leaves in registers for the next is in the same place in both.

// x register of two halves from bf16 numbers, and an accumulator of fp32 ones.
.macro halves x, low, high
    movi %t, #\low
    vbcst.16 \x, %t
    movi %t, #\high
    vbcst.16 %v0, %t
    vmov \x.h, %v0.l
.endm

.macro all acc, value
    movi %t, #\value
    vbcst.32 %v0, %t
    vmov \acc, %v0
.endm

.macro greatest bytes
    movi %t, #\bytes
    vshift %v0, %max, %max, %t
    vmax_lt.bf16 %max, %compare, %max, %v0
.endm

.macro total bytes
    vmov %v0, %sum
    movi %t, #\bytes
    vshift %v0, %v0, %v0, %t
    vmov %a0, %v0
    vadd.f %sum, %sum, %a0, %add
.endm

// An accumulator as the sum of two bf16 numbers: the halves of x.
.macro split x, acc
    vconv.bf16.fp32 \x.l, \acc
    vconv.fp32.bf16 %a1, \x.l
    vsub.f %a1, \acc, %a1, %add
    vconv.bf16.fp32 \x.h, %a1
.endm

// f, the part of y that is left when n is taken away, twice; and 1536 + n.
.macro argument g, at
    vld %v\g.h, [%from, #\at] @in:0
.if \at
    vld %v\g.l, [%from, #\at] @in:0
.else
    vld %v\g.l, [%from], #64 @in:0
.endif
    vmax_lt.bf16 %v\g, %compare, %v\g, %least
    vmac.f %a\g, %bias, %v\g, %k, %conf
    vmac.f %n\g, %a\g, %ones, %magic, %conf
    vmsc.f %n\g, %n\g, %ones, %magic, %conf
    vsub.f %a\g, %a\g, %n\g, %add
    vconv.bf16.fp32 %f\g.l, %a\g
    vconv.bf16.fp32 %f\g.h, %a\g
.endm

.macro polynomial g, half
    vmac.f %b\g, %p2, %f\g, %p3, %conf
    vld %q\g.h, [%work, #0] @work:2
    vconv.bf16.fp32 %q\g.l, %b\g
    vmac.f %b\g, %p1, %f\g, %q\g, %conf
    vld %q\g.h, [%work, #32] @work:2
    vconv.bf16.fp32 %q\g.l, %b\g
    vmac.f %a\g, %p0, %f\g, %q\g, %conf
    vconv.bf16.fp32 %e.\half, %a\g
    vsr.d16.s32 %exponent.\half, %n\g, %by
.endm

.text
.align 16
.global softmax_row
softmax_row:
.sched
.reg p %in, %work, %from
.reg r %blocks, %conf, %add, %t, %compare
.reg s %by
.reg x %max, %v0, %v1, %k, %p3, %ones, %magic, %least
.reg bm %bias, %p0, %p1, %p2, %a0
.in %in = p0, %work = p2, %blocks = r0
.out %conf = r1, %add = r2, %by = s0, %k = x0, %p3 = x1, %ones = x2, %magic = x3, %least = x4
.out %bias = bml0, %p0 = bml1, %p1 = bml2, %p2 = bml3
.keep p0, p1, p2, r0

    movi %conf, #60 // bf16, elementwise
    movi %add, #28
    movi %t, #12
    movx crRnd, %t // to nearest, ties to even
    movi %t, #0
    movx crSat, %t // the low 16 bits, as they are
    movi %t, #6
    mov %by, %t
    movi %t, #0
    vbcst.16 %v0, %t
    vst %v0.l, [%work, #0] @work:2
    movi %t, #P1_HIGH
    vbcst.16 %v0, %t
    vst %v0.l, [%work, #32] @work:2
    movi %t, #MINUS_INFINITY
    vbcst.16 %max, %t
    mov %from, %in

.loop %blocks least=12 multiple=4
    vld %v0.h, [%from, #32] @in:0
    vld %v0.l, [%from], #64 @in:0
    vmax_lt.bf16 %max, %compare, %max, %v0
.endloop

    // The greatest of 32 lanes, in all of them.
    greatest 32
    greatest 16
    greatest 8
    greatest 4
    greatest 2
    vextbcst.16 %max, %max, #0

    halves %k, LOG2E_HIGH, LOG2E_LOW
    halves %p3, P3_HIGH, P3_LOW
    halves %magic, MAGIC, 0
    halves %ones, ONE_BF16, ONE_BF16
    all %p0, P0
    all %p1, P1_LOW
    all %p2, P2
    all %a0, OFFSET
    vmsc.f %bias, %a0, %max, %k, %conf
    // What is 64 below the greatest: -64 and two halves of it.
    all %a0, MINUS_64
    halves %v1, HALF_BF16, HALF_BF16
    vmac.f %a0, %a0, %max, %v1, %conf
    vconv.bf16.fp32 %least.l, %a0
    vconv.bf16.fp32 %least.h, %a0
.endsched

.sched
.reg p %from, %to, %out, %work
.reg r %blocks, %conf, %add, %compare
.reg s %by
.reg x %v0, %v1, %f0, %f1, %q0, %q1, %e, %exponent, %k, %p3, %ones, %magic, %least
.reg bm %bias, %p0, %p1, %p2, %a0, %a1, %b0, %b1, %n0, %n1, %sum
.in %from = p0, %out = p1, %work = p2, %blocks = r0, %conf = r1, %add = r2
.in %by = s0, %k = x0, %p3 = x1, %ones = x2, %magic = x3, %least = x4
.in %bias = bml0, %p0 = bml1, %p1 = bml2, %p2 = bml3
.out %sum = bml4
.keep p1, r0, r1, r2

    vclr %sum
    mov %to, %out

.loop %blocks least=12 multiple=4
    argument 1, 32
    argument 0, 0
    polynomial 0, l
    polynomial 1, h
    vadd.16 %e, %e, %exponent
    vst %e.l, [%to], #32 @out:1
    vst %e.h, [%to], #32 @out:1
    vmac.f %sum, %sum, %e, %ones, %conf
.endloop
.endsched

.sched
.reg p %out, %from, %to
.reg r %blocks, %conf, %add, %t, %index, %bits, %guess
.reg x %v0, %s, %g, %once, %d, %inverse, %high0, %high1, %low0, %low1
.reg bm %a0, %a1, %sum, %one, %near
.in %out = p1, %blocks = r0, %conf = r1, %add = r2, %sum = bml4

    // The sum of 16 lanes, in all of them.
    total 32
    total 16
    total 8
    total 4

    // Its inverse: a guess, and g + g (1 - s g) three times, with s in two parts; at last the inverse is in two parts.
    vmov %v0, %sum
    movi %index, #0
    vextract.s32 %bits, %v0, %index
    movi %guess, #GUESS
    sub %guess, %guess, %bits
    movi %t, #-16
    lshl %guess, %guess, %t
    vbcst.16 %g, %guess
    halves %once, 0, 0
    split %s, %sum
    all %one, ONE
.rept 3
    vmov %once.l, %g.l
    vmsc.f %a0, %one, %s, %g, %conf
    vconv.bf16.fp32 %d.l, %a0
    vconv.bf16.fp32 %d.h, %a0
    vconv.fp32.bf16 %near, %g.l
    vmac.f %near, %near, %once, %d, %conf
    vconv.bf16.fp32 %g.l, %near
    vconv.bf16.fp32 %g.h, %near
.endr
    split %inverse, %near
    halves %high0, 0, 0
    halves %high1, 0, 0
    halves %low0, 0, 0
    halves %low1, 0, 0
    vmov %high0.l, %inverse.l
    vmov %high1.h, %inverse.l
    vmov %low0.l, %inverse.h
    vmov %low1.h, %inverse.h
    mov %from, %out
    mov %to, %out

.loop %blocks least=12 multiple=4 independent=out
    vld %v0.h, [%from, #32] @out:1
    vld %v0.l, [%from], #64 @out:1
    vmul.f %a0, %v0, %low0, %conf
    vmul.f %a1, %v0, %low1, %conf
    vmac.f %a0, %a0, %v0, %high0, %conf
    vmac.f %a1, %a1, %v0, %high1, %conf
    vst.conv.bf16.fp32 %a0, [%to], #32 @out:1
    vst.conv.bf16.fp32 %a1, [%to], #32 @out:1
.endloop
    ret lr
.endsched
