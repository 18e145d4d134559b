.sched
.reg p %a, %bl, %bh, %c, %to
.in %a = p0, %bl = p1, %bh = p2, %c = p3
.reg d %da, %dbl, %dbh
.reg r %conf
.reg x %a0, %a1, %b0, %b1, %b2, %b3
.reg bm %c00, %c01, %c02, %c03, %c10, %c11, %c12, %c13

    movi %conf, #28
    mov %to, %c
    movi %da.dn, #7
    movi %da.dj, #32
    movi %da.m, #-8160
    movi %da.dc, #0
    movi %dbl.dn, #7
    movi %dbl.dj, #-992
    movi %dbl.m, #32
    movi %dbl.dc, #0
    movi %dbh.dn, #7
    movi %dbh.dj, #-992
    movi %dbh.m, #32
    movi %dbh.dc, #0

.loop 32 independent=C
    vlda %c00.l, [%c], #32 @C:3
    vlda %c00.h, [%c], #32 @C:3
    vlda %c10.l, [%c], #32 @C:3
    vlda %c10.h, [%c], #32 @C:3
    vlda %c01.l, [%c], #32 @C:3
    vlda %c01.h, [%c], #32 @C:3
    vlda %c11.l, [%c], #32 @C:3
    vlda %c11.h, [%c], #32 @C:3
    vlda %c02.l, [%c], #32 @C:3
    vlda %c02.h, [%c], #32 @C:3
    vlda %c12.l, [%c], #32 @C:3
    vlda %c12.h, [%c], #32 @C:3
    vlda %c03.l, [%c], #32 @C:3
    vlda %c03.h, [%c], #32 @C:3
    vlda %c13.l, [%c], #32 @C:3
    vlda %c13.h, [%c], #32 @C:3
.rept 7
    vld %a0.l, [%a], #32 @A:0
    vld %a0.h, [%a], #32 @A:0
    vld %a1.l, [%a], #32 @A:0
    vld %a1.h, [%a], #32 @A:0
    vld %b0.l, [%bl], #32 @B:1
    vld %b0.h, [%bh], #32 @B:2
    vmac.f %c00, %c00, %a0, %b0, %conf
    vmac.f %c10, %c10, %a1, %b0, %conf
    vld %b1.l, [%bl], #32 @B:1
    vld %b1.h, [%bh], #32 @B:2
    vmac.f %c01, %c01, %a0, %b1, %conf
    vmac.f %c11, %c11, %a1, %b1, %conf
    vld %b2.l, [%bl], #32 @B:1
    vld %b2.h, [%bh], #32 @B:2
    vmac.f %c02, %c02, %a0, %b2, %conf
    vmac.f %c12, %c12, %a1, %b2, %conf
    vld %b3.l, [%bl], #32 @B:1
    vld %b3.h, [%bh], #32 @B:2
    vmac.f %c03, %c03, %a0, %b3, %conf
    vmac.f %c13, %c13, %a1, %b3, %conf
.endr
    vld %a0.l, [%a], #32 @A:0
    vld %a0.h, [%a], #32 @A:0
    vld %a1.l, [%a], #32 @A:0
    vld.2d %a1.h, [%a], %da @A:0
    vld %b0.l, [%bl], #32 @B:1
    vld %b0.h, [%bh], #32 @B:2
    vmac.f %c00, %c00, %a0, %b0, %conf
    vmac.f %c10, %c10, %a1, %b0, %conf
    vld %b1.l, [%bl], #32 @B:1
    vld %b1.h, [%bh], #32 @B:2
    vmac.f %c01, %c01, %a0, %b1, %conf
    vmac.f %c11, %c11, %a1, %b1, %conf
    vld %b2.l, [%bl], #32 @B:1
    vld %b2.h, [%bh], #32 @B:2
    vmac.f %c02, %c02, %a0, %b2, %conf
    vmac.f %c12, %c12, %a1, %b2, %conf
    vld.2d %b3.l, [%bl], %dbl @B:1
    vld.2d %b3.h, [%bh], %dbh @B:2
    vmac.f %c03, %c03, %a0, %b3, %conf
    vmac.f %c13, %c13, %a1, %b3, %conf
    vst %c00.l, [%to], #32 @C:3
    vst %c00.h, [%to], #32 @C:3
    vst %c10.l, [%to], #32 @C:3
    vst %c10.h, [%to], #32 @C:3
    vst %c01.l, [%to], #32 @C:3
    vst %c01.h, [%to], #32 @C:3
    vst %c11.l, [%to], #32 @C:3
    vst %c11.h, [%to], #32 @C:3
    vst %c02.l, [%to], #32 @C:3
    vst %c02.h, [%to], #32 @C:3
    vst %c12.l, [%to], #32 @C:3
    vst %c12.h, [%to], #32 @C:3
    vst %c03.l, [%to], #32 @C:3
    vst %c03.h, [%to], #32 @C:3
    vst %c13.l, [%to], #32 @C:3
    vst %c13.h, [%to], #32 @C:3
.endloop
.endsched
