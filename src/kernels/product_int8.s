.sched
.reg p %a, %bl, %bh, %c, %to
.in %a = p0, %bl = p1, %bh = p2, %c = p3
.reg d %da, %dbl, %dbh
.reg r %conf
.reg wl %a0, %a1
.reg x %b0, %b1
.reg cm %c00, %c01, %c10, %c11

    movi %conf, #776
    mov %to, %c
    movi %da.dn, #7
    movi %da.dj, #32
    movi %da.m, #-4064
    movi %da.dc, #0
    movi %dbl.dn, #7
    movi %dbl.dj, #-480
    movi %dbl.m, #32
    movi %dbl.dc, #0
    movi %dbh.dn, #7
    movi %dbh.dj, #-480
    movi %dbh.m, #32
    movi %dbh.dc, #0

.loop 32 independent=C
    vlda %c00.ll, [%c], #32 @C:3
    vlda %c00.lh, [%c], #32 @C:3
    vlda %c00.hl, [%c], #32 @C:3
    vlda %c00.hh, [%c], #32 @C:3
    vlda %c10.ll, [%c], #32 @C:3
    vlda %c10.lh, [%c], #32 @C:3
    vlda %c10.hl, [%c], #32 @C:3
    vlda %c10.hh, [%c], #32 @C:3
    vlda %c01.ll, [%c], #32 @C:3
    vlda %c01.lh, [%c], #32 @C:3
    vlda %c01.hl, [%c], #32 @C:3
    vlda %c01.hh, [%c], #32 @C:3
    vlda %c11.ll, [%c], #32 @C:3
    vlda %c11.lh, [%c], #32 @C:3
    vlda %c11.hl, [%c], #32 @C:3
    vlda %c11.hh, [%c], #32 @C:3
.rept 7
    vld %a0, [%a], #32 @A:0
    vld %a1, [%a], #32 @A:0
    vld %b0.l, [%bl], #32 @B:1
    vld %b0.h, [%bh], #32 @B:2
    vmac %c00, %c00, %a0.x, %b0, %conf
    vmac %c10, %c10, %a1.x, %b0, %conf
    vld %b1.l, [%bl], #32 @B:1
    vld %b1.h, [%bh], #32 @B:2
    vmac %c01, %c01, %a0.x, %b1, %conf
    vmac %c11, %c11, %a1.x, %b1, %conf
.endr
    vld %a0, [%a], #32 @A:0
    vld.2d %a1, [%a], %da @A:0
    vld %b0.l, [%bl], #32 @B:1
    vld %b0.h, [%bh], #32 @B:2
    vmac %c00, %c00, %a0.x, %b0, %conf
    vmac %c10, %c10, %a1.x, %b0, %conf
    vld.2d %b1.l, [%bl], %dbl @B:1
    vld.2d %b1.h, [%bh], %dbh @B:2
    vmac %c01, %c01, %a0.x, %b1, %conf
    vmac %c11, %c11, %a1.x, %b1, %conf
    vst %c00.ll, [%to], #32 @C:3
    vst %c00.lh, [%to], #32 @C:3
    vst %c00.hl, [%to], #32 @C:3
    vst %c00.hh, [%to], #32 @C:3
    vst %c10.ll, [%to], #32 @C:3
    vst %c10.lh, [%to], #32 @C:3
    vst %c10.hl, [%to], #32 @C:3
    vst %c10.hh, [%to], #32 @C:3
    vst %c01.ll, [%to], #32 @C:3
    vst %c01.lh, [%to], #32 @C:3
    vst %c01.hl, [%to], #32 @C:3
    vst %c01.hh, [%to], #32 @C:3
    vst %c11.ll, [%to], #32 @C:3
    vst %c11.lh, [%to], #32 @C:3
    vst %c11.hl, [%to], #32 @C:3
    vst %c11.hh, [%to], #32 @C:3
.endloop
.endsched
