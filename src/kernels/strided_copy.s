// Copies rows of 32-byte pieces that lie apart to where they follow each other.
//
// p0  the first piece; each row has r1 + 1 pieces, r2 bytes from one to the next
// r3  bytes from a row's last piece to the first one of the next row
// p1  where they go
// r0  pieces in all, at least 16

.text
.align 16
.global strided_copy
strided_copy:
.sched
.reg p %from, %to
.reg d %walk
.reg r %pieces, %row, %step, %jump
.reg wl %piece
.in %from = p0, %to = p1, %pieces = r0, %row = r1, %step = r2, %jump = r3

    mov %walk.dn, %row
    mov %walk.dj, %step
    mov %walk.m, %jump
    movi %walk.dc, #0
.loop %pieces least=16
    vld.2d %piece, [%from], %walk @from:0
    vst %piece, [%to], #32 @to:1
.endloop
    ret lr
.endsched
