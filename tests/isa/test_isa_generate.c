/* The table generator: small tables that are right, and what it says to each way of breaking them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

enum { FORMATS, REGISTERS, INSTRUCTIONS, SCHEDULE, TABLES };
static const char *const names[TABLES] = {"t.formats", "t.registers", "t.instructions", "t.schedule"};

/* One format and one instruction besides the nops that every slot needs. */
static const char *const right[TABLES] = {
    "# comment\n"
    "N 2 0x000f 0x0001 0x7ff0 nop=15\n"
    "A 4 0x7800001f 0x10000019 0x80000060 alu=7-26\n",
    "group r\n"
    "group p\n"
    "register r0 32 r 0\n"
    "register r1 32 r 1\n"
    "register p0 20 p 0\n"
    "register l0 64 r 0 r0 r1 as pair\n"
    "class R 1 0=r0 1=r1 # both\n"
    "class S like R\n"
    "class P 0 p0\n"
    "class L 1 0=l0\n",
    "ldb | NOPB | nopb | 0xffff | 0x0 | 0x0 | - | - | - | nop | NOP\n"
    "lda | NOPA | nopa | 0x1fffff | 0x0 | 0x0 | - | - | - | nop | NOP\n"
    "st | NOPS | nops | 0x1fffff | 0x0 | 0x0 | - | - | - | nop | NOP\n"
    "alu | NOPX | nopx | 0xfffff | 0x0 | 0x0 | - | - | - | nop | NOP\n"
    "mv | NOPM | nopm | 0x3fffff | 0x0 | 0x0 | - | - | - | nop | NOP\n"
    "vec | NOPV | nopv | 0x3ffffff | 0x0 | 0x0 | - | - | - | nop | NOP\n"
    "lng | NOPXM | nopxm | 0x3ffffffffff | 0x0 | 0x0 | - | - | - | nop | NOP\n"
    "nop | NOP | nop | 0x1 | 0x0 | 0x0 | - | - | - | nop | NOP\n"
    "alu | ADD | add $d, $i | 0xfc000 | 0x04000 | 0x03ffc | d:out:R:0 s:tied:R:=d i:in:simm1x4:1 | l0 | - | - | ADD\n",
    "unit PORT\n"
    "class NOP | - | - | -\n"
    "class ADD | d=1/mov s=1 i=1 / l0=2 | PORT@1 !PORT@2-3 | 5 7\n"
    "class FAST | d=1 s=1 i=1 / l0=1 | - | -\n"
    "variant ADD | 0=p | FAST\n",
};

struct workplace {
    char folder[64];
};

static void path_of(const struct workplace *w, char path[128], const char *name)
{
    snprintf(path, 128, "%s/%s", w->folder, name);
}

static int make_folder(void **state)
{
    struct workplace *w = test_calloc(1, sizeof *w);
    snprintf(w->folder, sizeof w->folder, "/tmp/tilewright-isa-XXXXXX");
    *state = w;
    return mkdtemp(w->folder) == NULL;
}

static int remove_folder(void **state)
{
    struct workplace *w = *state;
    char path[128];
    for (int i = 0; i < TABLES; i++) {
        path_of(w, path, names[i]);
        remove(path);
    }
    path_of(w, path, "names.h");
    remove(path);
    path_of(w, path, "tables.c");
    remove(path);
    int failed = rmdir(w->folder);
    test_free(w);
    return failed;
}

/* Writes a table with the first `from` in it replaced by `to`. */
static void write_table(const struct workplace *w, int table, const char *from, const char *to)
{
    char path[128];
    const char *at = from == NULL ? NULL : strstr(right[table], from);
    assert_true(from == NULL || at != NULL);
    path_of(w, path, names[table]);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    if (at == NULL)
        fputs(right[table], f);
    else
        fprintf(f, "%.*s%s%s", (int)(at - right[table]), right[table], to, at + strlen(from));
    assert_int_equal(fclose(f), 0);
}

/* Runs the generator; returns its exit status and what it says. */
static int run(const struct workplace *w, char *said, size_t size)
{
    char command[1024];
    snprintf(command, sizeof command, "cd %s && %s %s %s %s %s names.h tables.c 2>&1", w->folder, TW_GENERATE, names[0],
             names[1], names[2], names[3]);
    FILE *f = popen(command, "r");
    assert_non_null(f);
    size_t n = fread(said, 1, size - 1, f);
    said[n] = '\0';
    while (fgetc(f) != EOF)
        continue;
    int status = pclose(f);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static int exists(const struct workplace *w, const char *name)
{
    char path[128];
    path_of(w, path, name);
    return access(path, F_OK) == 0;
}

static void right_tables(void **state)
{
    const struct workplace *w = *state;
    char said[4096];
    for (int i = 0; i < TABLES; i++)
        write_table(w, i, NULL, NULL);
    int status = run(w, said, sizeof said);
    assert_string_equal(said, "");
    assert_int_equal(status, 0);
    assert_true(exists(w, "names.h") && exists(w, "tables.c"));
}

struct breakage {
    int table;
    const char *from, *to;
    const char *said; /* the whole first line */
};

static const struct breakage breakages[] = {
    {FORMATS, "0x7ff0", "0x7fe0", "t.formats:2: the bits of N in mask, unused and slots are not all of its 16"},
    {FORMATS, "0x7ff0", "0x7ff8", "t.formats:2: a bit of N is in two of mask, unused and slots"},
    {FORMATS, "0x0001", "0x0011", "t.formats:2: value of N has bits outside mask"},
    {FORMATS, "0x0001", "0x0003", "t.formats:2: the lowest bits of N announce 8 bytes, not 2"},
    {FORMATS, "nop=15", "nop=14-15", "t.formats:2: slot nop has 1 bits, not 2"},
    {FORMATS, "nop=15", "nip=15",
     "t.formats:2: \"nip\" is no slot; expected ldb, lda, st, alu, mv, vec, lng or nop, then =low-high"},
    {FORMATS, "nop=15", "nop=15 nop=15", "t.formats:2: slot nop twice"},
    {FORMATS, "nop=15", "nop=15-3", "t.formats:2: \"15\" is no range of bits; expected low-high"},
    {FORMATS, "N 2", "N 3", "t.formats:2: a format has 2, 4, ... 16 bytes, not 3"},
    {FORMATS, "N 2", "A-B 2", "t.formats:2: \"A-B\" cannot be the name of a format: letters, digits and _ only"},
    {FORMATS, "0x000f", "15", "t.formats:2: mask is \"15\"; expected a number 0x..."},
    {FORMATS, "A 4", "N 4", "t.formats:3: format N twice"},
    {FORMATS, "A 4 0x7800001f 0x10000019 0x80000060 alu=7-26", "A 2 0x0fff 0x0001 0x7000 nop=15",
     "t.formats:3: A and N carry the same slots; text could not tell them apart"},
    {FORMATS, "N 2 0x000f 0x0001 0x7ff0 nop=15\n", "N 2 0x000f 0x0001 0x7ff0\n",
     "t.formats:2: a format has the columns name, bytes, mask, value, unused and one or more slots"},
    {REGISTERS, "32 r 1", "32 q 1", "t.registers:4: unknown group \"q\""},
    {REGISTERS, "32 r 1", "0 r 1", "t.registers:4: \"0\" and \"1\" are not the bits and the number of a register"},
    {REGISTERS, "register r1", "register r0", "t.registers:4: register r0 twice"},
    {REGISTERS, "r0 r1 as", "r0 r2 as", "t.registers:6: unknown register \"r2\""},
    {REGISTERS, "group p", "group r", "t.registers:2: group r twice"},
    {REGISTERS, "1=r1", "1=r0", "t.registers:7: R has r0 at the values 0 and 1"},
    {REGISTERS, "1=r1", "0=r1", "t.registers:7: value 0 twice"},
    {REGISTERS, "1=r1", "2=r1", "t.registers:7: value 2 does not fit 1 bits"},
    {REGISTERS, "1=r1", "1=r7", "t.registers:7: unknown register \"r7\""},
    {REGISTERS, "class R 1", "class R 10", "t.registers:7: a class has 0 to 9 bits, not 10"},
    {REGISTERS, "like R", "like T", "t.registers:8: unknown class \"T\""},
    {REGISTERS, "class P", "class S", "t.registers:9: class S twice"},
    {REGISTERS, "class P", "klass P",
     "t.registers:9: \"klass\" begins no line of this file; expected group, register or class"},
    {INSTRUCTIONS, "0x03ffc", "0x03ff8",
     "t.instructions:9: the bits of ADD in mask, unused and operands are not all 20 of slot alu"},
    {INSTRUCTIONS, "0x03ffc", "0x07ffc", "t.instructions:9: a bit of ADD is in two of mask, unused and operands"},
    {INSTRUCTIONS, "0x04000", "0x02000", "t.instructions:9: value of ADD has bits outside mask"},
    {INSTRUCTIONS, "d:out:R:0", "d:out:T:0",
     "t.instructions:9: unknown type \"T\" of operand d: not a register class, uimmN, simmN, simmNxS, nimmNxS or "
     "addrN"},
    {INSTRUCTIONS, "d:out:R:0", "d:out:R:0-1", "t.instructions:9: operand d has a field of 2 bits but its type has 1"},
    {INSTRUCTIONS, "d:out:R:0", "d:uot:R:0",
     "t.instructions:9: \"d\" is no operand; expected NAME:ROLE:TYPE:BITS with a role in, out, tied or inout"},
    {INSTRUCTIONS, "s:tied:R:=d", "s:tied:R:=e", "t.instructions:9: there is no operand \"e\""},
    {INSTRUCTIONS, "s:tied:R:=d", "s:in:R:=d", "t.instructions:9: operand s: role tied and =OTHER go together"},
    {INSTRUCTIONS, "s:tied:R:=d", "s:tied:S:=d", "t.instructions:9: operand s is not tied to an output of its class"},
    {INSTRUCTIONS, "s:tied:R:=d", "s:in:L:d[0]", "t.instructions:9: operand s is a leaf of d, which is not inout"},
    {INSTRUCTIONS, "s:tied:R:=d i:in:simm1x4:1", "i:in:simm1x4:1 s:out:P",
     "t.instructions:9: output s stands after an input"},
    {INSTRUCTIONS, "s:tied:R:=d", "d:in:P", "t.instructions:9: operand d twice"},
    {INSTRUCTIONS, "$d, $i", "$d", "t.instructions:9: the syntax does not show operand i"},
    {INSTRUCTIONS, "$d, $i", "$d, $i, $k", "t.instructions:9: the syntax names an operand $k that there is not"},
    {INSTRUCTIONS, "| l0 |", "| l1 |", "t.instructions:9: unknown register \"l1\""},
    {INSTRUCTIONS, "| l0 |", "| r0 |", "t.instructions:9: ADD has r0 where schedule class ADD has l0"},
    {INSTRUCTIONS, "| l0 | - |", "| l0 | r0 |",
     "t.instructions:9: ADD has 5 operands and registers, schedule class ADD has cycles for 3 to 4"},
    {INSTRUCTIONS, "- | ADD\n", "- | SUB\n", "t.instructions:9: unknown schedule class \"SUB\""},
    {INSTRUCTIONS, "- | ADD\n", "jump | ADD\n", "t.instructions:9: unknown flag \"jump\""},
    {INSTRUCTIONS, "alu | ADD", "alu | NOPX", "t.instructions:9: instruction NOPX twice"},
    {INSTRUCTIONS, "alu | ADD", "ula | ADD", "t.instructions:9: unknown slot \"ula\""},
    {INSTRUCTIONS, "alu | ADD |", "alu | ADD",
     "t.instructions:9: an instruction has 11 columns: slot | name | syntax | mask | value | unused | operands | defs "
     "| uses | "
     "flags | schedule"},
    {INSTRUCTIONS, "0x0 | - | - | - | nop | NOP", "0x0 | - | - | - | - | NOP",
     "t.instructions:1: slot ldb has 0 instructions with the flag nop, not one"},
    {SCHEDULE, "d=1/mov s=1 i=1 / l0=2", "d=1/mov s=1 i=1 q=1 / l0=2",
     "t.schedule:5: ADD has 5 cycles, its variant FAST has 4"},
    {SCHEDULE, "i=1 / l0=2", "i=1 / l0=0",
     "t.schedule:3: \"l0\" is no operand cycle; expected NAME=CYCLE, NAME=CYCLE/vec or NAME=CYCLE/mov"},
    {SCHEDULE, "PORT@1", "PART@1", "t.schedule:3: unknown unit \"PART\""},
    {SCHEDULE, "PORT@1", "PORT@0", "t.schedule:3: cycles count from 1"},
    {SCHEDULE, "5 7", "7 5",
     "t.schedule:3: the last column holds the cycles of memory access in ascending order, or -"},
    {SCHEDULE, "class FAST", "class ADD", "t.schedule:4: schedule class ADD twice"},
    {SCHEDULE, "0=p", "0=q", "t.schedule:5: unknown group \"q\""},
    {SCHEDULE, "0=p", "9=p", "t.schedule:5: ADD has no operand 9"},
    {SCHEDULE, "| FAST\n", "| SLOW\n", "t.schedule:5: unknown schedule class \"SLOW\""},
    {SCHEDULE, "unit PORT", "unit", "t.schedule:1: \"\" cannot be the name of a unit: letters, digits and _ only"},
};

static void broken_tables(void **state)
{
    const struct workplace *w = *state;

    for (size_t i = 0; i < sizeof breakages / sizeof breakages[0]; i++) {
        const struct breakage *b = &breakages[i];
        char said[4096];
        for (int t = 0; t < TABLES; t++)
            write_table(w, t, t == b->table ? b->from : NULL, b->to);
        int status = run(w, said, sizeof said);
        said[strcspn(said, "\n")] = '\0';
        if (status != 1 || strcmp(said, b->said) != 0)
            fail_msg("\"%s\" for \"%s\": status %d, \"%s\"", b->to, b->from, status, said);
        assert_false(exists(w, "names.h") || exists(w, "tables.c"));
    }
}

/* Several faults are told at once, each with its line. */
static void all_faults_at_once(void **state)
{
    const struct workplace *w = *state;
    char said[4096];
    write_table(w, FORMATS, "nop=15", "nip=15");
    write_table(w, REGISTERS, "like R", "like T");
    write_table(w, INSTRUCTIONS, NULL, NULL);
    write_table(w, SCHEDULE, NULL, NULL);
    assert_int_equal(run(w, said, sizeof said), 1);
    assert_non_null(strstr(said, "t.formats:2: "));
    assert_non_null(strstr(said, "t.registers:8: "));
    assert_non_null(strstr(said, "generate: 2 faults in the tables; nothing was written\n"));
}

static void missing_file(void **state)
{
    const struct workplace *w = *state;
    char said[4096], path[128];
    for (int i = 0; i < TABLES; i++)
        write_table(w, i, NULL, NULL);
    path_of(w, path, names[SCHEDULE]);
    remove(path);
    assert_int_equal(run(w, said, sizeof said), 1);
    assert_string_equal(said, "generate: t.schedule cannot be read: No such file or directory\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(right_tables, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(broken_tables, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(all_faults_at_once, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(missing_file, make_folder, remove_folder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
