/* Seeds for fuzz_as: one text for each part of the language. Argument: FOLDER. */
#include <stdio.h>
#include <string.h>

static const char *const seeds[] = {
    "// comment\n.text\n.global f\nf: lda r0, [p0, #4]; mova r1, #3 * (1 + 2)\n nop\n add r2, r0, r1 /* c */\n ret "
    "lr\n",
    ".macro m a, b=2, c:req, d:vararg\n add r\\a, r\\b, #\\c\n.byte \\d\nl\\@:\n.endm\n m 1, c=3\n m 4, 5, 6, \"x\", "
    "7\n",
    ".rept 3\n.byte \\+\n.rept 2\n.half 1\n.endr\n.endr\n",
    "x = 3\n.if x == 3 && !(x < 2)\n.set y, x << 2 | 1\n.elseif x\n.else\n.endif\n.ifdef y\n.ifndef "
    "z\n.endif\n.endif\n",
    ".data\n1: .word 1b, 1f, later, . - 1b\n1: .half 'a', '\\n'\n.align 8\n.space 3, 0xff\nlater = 5\n.bss\n.space 4\n",
    ".section .text.a, 0x100\n j #end\n nop\n nop\n nop\n nop\n nop\n.align 16\nend: done\n.org 0x200\n.old r1\n nop\n",
    ".sched\n.reg r %a, %b\n.reg p %p\n.in %p = p0\nmova %a, #x\n.loop 8\nlda %b, [%p], #4 @M\nadd %a, %a, "
    "%b\n.endloop\n"
    "again: add %a, %a, #-1\njnz %a, #again\n.endsched\nx = 2\n",
    "movxm LS, #s\nmovxm LE, #e\nmova LC, #4\n.rept 6\nnopb; nopa; nops; nopx; nopm; nopv\n.endr\n.align 16\n"
    "s: nopb; nopa; nops; nopx; nopm; nopv\ne: nopb; nopa; nops; nopx; nopm; nopv\ndone\n",
    ".foreign\njl #f\nnop\nnop\nnop\nnop\nlda r0, [p0, #0]\nadd r1, r0, r0\nx: j #x\nnop\nnop\nnop\nnop\nnop\n.align "
    "16\n"
    "f: movxm p1, #x\njnzd r0, r0, p1\nnop\nnop\nnop\nnop\nnop\nret lr\nnop\nnop\nnop\nnop\nacq #48, r0\n",
    ".include \"self\"\n.file \"n\"\n.bundle\n nop\n.end\nrest\n",
};

int main(int argc, char **argv)
{
    if (argc != 2)
        return 2;
    for (size_t i = 0; i < sizeof seeds / sizeof seeds[0]; i++) {
        char path[4096];
        snprintf(path, sizeof path, "%s/%02zu", argv[1], i);
        FILE *f = fopen(path, "wb");
        if (f == NULL)
            return 1;
        int bad = fwrite(seeds[i], 1, strlen(seeds[i]), f) != strlen(seeds[i]);
        if (fclose(f) != 0 || bad)
            return 1;
    }
    return 0;
}
