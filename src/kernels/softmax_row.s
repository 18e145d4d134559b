// Softmax of a row of bf16 numbers: out[i] = exp(in[i] - max) / sum of them all.
//
// p0  the row, 32-byte aligned
// p1  the results, bf16
// r0  numbers / 64, at least 8
//
// Exponentials are read off a float's bits: x * log2(e) + 127 in a float whose last bit counts 1/128 has, in its low 16
// bits, the bf16 number 2^n * (1 + f) for 2^(n + f), which is at most 6 % too large. What is less than exp(-64) becomes
// exp(-64). 1 / sum is a guess from the sum's bits, made better by two Newton steps.
// The elementwise multiplier adds the products of lanes i and i + 16: with the same number in both, factors have a high
// and a low part.

.text
.global softmax_row
softmax_row:
.sched
.reg p %in, %out, %from, %e
.reg r %blocks, %conf, %t, %compare, %index, %bits, %guess
.reg s %by
.reg x %v0, %v1, %v2, %v3, %max, %max1, %least, %k, %ones, %lanes, %sum, %inverse, %quarter, %e0, %e1
.reg bm %magic, %bias, %t0, %t1, %t2, %t3, %sum0, %sum1, %four
.in %in = p0, %out = p1, %blocks = r0

    movi %conf, #60
    movi %t, #12
    movx crRnd, %t // to nearest, ties to even
    movi %t, #0
    movx crSat, %t // the low 16 bits, as they are
    mov %by, %t
    movi %compare, #0xff80 // minus infinity
    vbcst.16 %max, %compare
    vmov %max1, %max
    mov %from, %in

.loop %blocks least=8
    vld %v0.h, [%from, #32] @in:0
    vld %v1.l, [%from, #64] @in:0
    vld %v1.h, [%from, #96] @in:0
    vld %v0.l, [%from], #128 @in:0
    vmax_lt.bf16 %max, %compare, %max, %v0
    vmax_lt.bf16 %max1, %compare, %max1, %v1
.endloop

    // The greatest of 32 lanes, in all of them.
    vmax_lt.bf16 %max, %compare, %max, %max1
    movi %t, #32
    vshift %lanes, %max, %max, %t
    vmax_lt.bf16 %max, %compare, %max, %lanes
    movi %t, #16
    vshift %lanes, %max, %max, %t
    vmax_lt.bf16 %max, %compare, %max, %lanes
    movi %t, #8
    vshift %lanes, %max, %max, %t
    vmax_lt.bf16 %max, %compare, %max, %lanes
    movi %t, #4
    vshift %lanes, %max, %max, %t
    vmax_lt.bf16 %max, %compare, %max, %lanes
    movi %t, #2
    vshift %lanes, %max, %max, %t
    vmax_lt.bf16 %max, %compare, %max, %lanes
    vextbcst.16 %max, %max, #0

    // log2(e) in two parts, and the bias from the greatest.
    movi %t, #0x3fb9
    vbcst.16 %k, %t
    movi %t, #0xbb2c
    vbcst.16 %lanes, %t
    vmov %k.h, %lanes.l
    movi %t, #0x47c03f80
    vbcst.32 %lanes, %t
    vmov %magic, %lanes
    vmsc.f %bias, %magic, %max, %k, %conf
    movi %t, #0x3f80
    vbcst.16 %ones, %t
    vclr %sum0
    vclr %sum1
    // What is 64 below the greatest: max * 1 / 2 + max * 1 / 2 - 64.
    movi %t, #0x3f00
    vbcst.16 %lanes, %t
    movi %t, #0xc2800000
    vbcst.32 %v0, %t
    vmov %t0, %v0
    vmac.f %t0, %t0, %max, %lanes, %conf
    vconv.bf16.fp32 %least.l, %t0
    vconv.bf16.fp32 %least.h, %t0
    mov %from, %in
    mov %e, %out

.loop %blocks least=8
    vld %v0.l, [%from, #0] @in:0
    vld %v1.l, [%from, #32] @in:0
    vld %v2.l, [%from, #64] @in:0
    vld %v3.l, [%from, #96] @in:0
    vld %v1.h, [%from, #32] @in:0
    vld %v2.h, [%from, #64] @in:0
    vld %v3.h, [%from, #96] @in:0
    vld %v0.h, [%from], #128 @in:0
    vmax_lt.bf16 %v0, %compare, %v0, %least
    vmax_lt.bf16 %v1, %compare, %v1, %least
    vmax_lt.bf16 %v2, %compare, %v2, %least
    vmax_lt.bf16 %v3, %compare, %v3, %least
    vmac.f %t0, %bias, %v0, %k, %conf
    vmac.f %t1, %bias, %v1, %k, %conf
    vmac.f %t2, %bias, %v2, %k, %conf
    vmac.f %t3, %bias, %v3, %k, %conf
    vsr.d16.s32 %e0.l, %t0, %by
    vsr.d16.s32 %e0.h, %t1, %by
    vsr.d16.s32 %e1.l, %t2, %by
    vsr.d16.s32 %e1.h, %t3, %by
    vmac.f %sum0, %sum0, %e0, %ones, %conf
    vmac.f %sum1, %sum1, %e1, %ones, %conf
    vst %e0.l, [%e], #32 @out:1
    vst %e0.h, [%e], #32 @out:1
    vst %e1.l, [%e], #32 @out:1
    vst %e1.h, [%e], #32 @out:1
.endloop

    // The sum of 16 lanes, in the lowest.
    vadd.f %sum0, %sum0, %sum1, %conf
    vmov %sum, %sum0
    movi %t, #32
    vshift %lanes, %sum, %sum, %t
    vmov %sum1, %lanes
    vadd.f %sum0, %sum0, %sum1, %conf
    vmov %sum, %sum0
    movi %t, #16
    vshift %lanes, %sum, %sum, %t
    vmov %sum1, %lanes
    vadd.f %sum0, %sum0, %sum1, %conf
    vmov %sum, %sum0
    movi %t, #8
    vshift %lanes, %sum, %sum, %t
    vmov %sum1, %lanes
    vadd.f %sum0, %sum0, %sum1, %conf
    vmov %sum, %sum0
    movi %t, #4
    vshift %lanes, %sum, %sum, %t
    vmov %sum1, %lanes
    vadd.f %sum0, %sum0, %sum1, %conf
    vmov %sum, %sum0

    // Its inverse: a guess, and r (2 - s r) twice. Sums of lanes i and i + 16 are double: 4 - 2 s r.
    movi %index, #0
    vextract.s32 %bits, %sum, %index
    movi %guess, #0x7ef311c3
    sub %guess, %guess, %bits
    movi %t, #-16
    lshl %guess, %guess, %t
    lshl %bits, %bits, %t
    vbcst.16 %sum, %bits
    vbcst.16 %inverse, %guess
    movi %t, #0x40800000
    vbcst.32 %lanes, %t
    vmov %four, %lanes
    movi %t, #256 // from a bf16 number's bits: a quarter of it
    vbcst.16 %quarter, %t
.rept 2
    vmsc.f %t0, %four, %sum, %inverse, %conf
    vconv.bf16.fp32 %e0.l, %t0
    vconv.bf16.fp32 %e0.h, %t0
    vmul.f %t1, %inverse, %e0, %conf
    vconv.bf16.fp32 %inverse.l, %t1
    vconv.bf16.fp32 %inverse.h, %t1
    vsub.16 %inverse, %inverse, %quarter
.endr
    movi %t, #128 // half of it, for the sum below
    vbcst.16 %quarter, %t
    vsub.16 %inverse, %inverse, %quarter
    mov %from, %out
    mov %e, %out

.loop %blocks least=8 independent=out
    vld %v0.l, [%from, #0] @out:1
    vld %v1.l, [%from, #32] @out:1
    vld %v2.l, [%from, #64] @out:1
    vld %v3.l, [%from, #96] @out:1
    vld %v1.h, [%from, #32] @out:1
    vld %v2.h, [%from, #64] @out:1
    vld %v3.h, [%from, #96] @out:1
    vld %v0.h, [%from], #128 @out:1
    vmul.f %t0, %v0, %inverse, %conf
    vmul.f %t1, %v1, %inverse, %conf
    vmul.f %t2, %v2, %inverse, %conf
    vmul.f %t3, %v3, %inverse, %conf
    vst.conv.bf16.fp32 %t0, [%e], #32 @out:1
    vst.conv.bf16.fp32 %t1, [%e], #32 @out:1
    vst.conv.bf16.fp32 %t2, [%e], #32 @out:1
    vst.conv.bf16.fp32 %t3, [%e], #32 @out:1
.endloop
    ret lr
.endsched
