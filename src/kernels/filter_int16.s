// A filter of three taps over 16-bit numbers: out[i] = (t0 * in[i] + t1 * in[i + 1] + t2 * in[i + 2]) >> s, rounded and
// saturated to 16 bits.
//
// p0  the input, 32-byte aligned; 16 numbers more than there are results are read
// p1  the taps: four 16-bit numbers, the last 0, then nothing that matters; 64 bytes
// p2  the results
// r0  results / 16, at least 16
// r1  s
//
// The multiplier's convolution: 16 results from 19 numbers and 4 taps in 64-bit lanes. Both 32-byte pieces of a window
// are loaded, each piece twice in all; to keep the second for the next window would be one load and one move less, and
// two bundles instead of one.

.text
.align 16
.global filter_int16
filter_int16:
.sched
.reg p %in, %next, %taps, %out
.reg r %blocks, %shift, %conf, %mode
.reg s %by
.reg x %window, %t
.reg cm %sum
.in %in = p0, %taps = p1, %out = p2, %blocks = r0, %shift = r1

    movi %conf, #890 // signed, 16 lanes of 64 bits, 16x4
    movi %mode, #9
    movx crRnd, %mode // half up
    movi %mode, #1
    movx crSat, %mode
    mov %by, %shift
    mov %next, %in
    padd [%next], #32
    vld %t.l, [%taps, #0] @taps:2
    vld %t.h, [%taps, #32] @taps:2
.loop %blocks least=16
    vld %window.l, [%in], #32 @in:0
    vld %window.h, [%next], #32 @in:0
    vmul %sum, %window, %t, %conf
    vst.srs.s16.s64 %sum, %by, [%out], #32 @out:1
.endloop
    ret lr
.endsched
