/* The generator of the register table: a small table that is right, and what it says to each way of breaking it. */
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

static const char right[] = "# comment\n"
                            "tile core\n"
                            "register BD{0..1}_0 0x1d000 +0x20 reset=0x2 : Length=13:0 Base=27:14\n"
                            "register Port_{DMA0..1,Ctrl}_Slot{0..3} 0x3f200 +0x10 +0x4 : id=4:0\n"
                            "    mask=20:16\n"
                            "register Wide 0x30000 bits=128 : Value=127:0\n"
                            "tile shim\n"
                            "register Flags 0x100 : Flag_{0..2}=3:0+8 Top=31\n"
                            "register Same 0x104 : like Flags\n";

struct workplace {
    char folder[64], table[96], header[96], source[96];
};

static int make_folder(void **state)
{
    struct workplace *w = test_calloc(1, sizeof *w);
    snprintf(w->folder, sizeof w->folder, "/tmp/tilewright-npu1-XXXXXX");
    *state = w;
    if (mkdtemp(w->folder) == NULL)
        return 1;
    snprintf(w->table, sizeof w->table, "%s/t", w->folder);
    snprintf(w->header, sizeof w->header, "%s/h", w->folder);
    snprintf(w->source, sizeof w->source, "%s/c", w->folder);
    return 0;
}

static int remove_folder(void **state)
{
    struct workplace *w = *state;
    remove(w->table);
    remove(w->header);
    remove(w->source);
    int failed = rmdir(w->folder);
    test_free(w);
    return failed;
}

/* Runs the generator on the table with the first `from` in it replaced; returns its exit status and what it says. */
static int run(const struct workplace *w, const char *from, const char *to, char *said, size_t size)
{
    char command[512];
    const char *at = from == NULL ? NULL : strstr(right, from);
    assert_true(from == NULL || at != NULL);
    FILE *f = fopen(w->table, "w");
    assert_non_null(f);
    if (at == NULL)
        fputs(right, f);
    else
        fprintf(f, "%.*s%s%s", (int)(at - right), right, to, at + strlen(from));
    assert_int_equal(fclose(f), 0);
    snprintf(command, sizeof command, "%s %s %s %s 2>&1", TW_GENERATE, w->table, w->header, w->source);
    f = popen(command, "r");
    assert_non_null(f);
    size_t n = fread(said, 1, size - 1, f);
    said[n] = '\0';
    while (fgetc(f) != EOF)
        continue;
    int status = pclose(f);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void has_text(const char *path, const char *text)
{
    char contents[8192];
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    size_t n = fread(contents, 1, sizeof contents - 1, f);
    contents[n] = '\0';
    fclose(f);
    if (strstr(contents, text) == NULL)
        fail_msg("no '%s' in:\n%s", text, contents);
}

static void a_right_table(void **state)
{
    const struct workplace *w = *state;
    char said[4096];
    int status = run(w, NULL, NULL, said, sizeof said);
    assert_string_equal(said, "");
    assert_int_equal(status, 0);
    has_text(w->header, "TW_REG_CORE_BD_0 = 0x1d000,\n    TW_REG_CORE_BD_0_STEP = 0x20,\n"
                        "    TW_FIELD_CORE_BD_0_LENGTH = 0 | 14 << 8,\n    TW_FIELD_CORE_BD_0_BASE = 14 | 14 << 8,\n");
    has_text(w->header, "TW_REG_CORE_PORT_SLOT_STEP2 = 0x4,\n");
    has_text(w->header, "TW_FIELD_SHIM_SAME_FLAG_2 = 16 | 4 << 8,\n");
    has_text(w->source, "{0x1d020, 32, 2, 0x2, \"BD1_0\", fields + 0},\n");
    has_text(w->source, "{0x3f228, 32, 2, 0x0, \"Port_Ctrl_Slot2\", fields + 2},\n");
    has_text(w->source, "{0x00104, 32, 4, 0x0, \"Same\", fields + 5},\n");
}

static void broken_tables(void **state)
{
    static const struct {
        const char *from, *to, *said;
    } breakages[] = {
        {"tile core", "tile cone", ":2: there is no tile 'cone'"},
        {"tile core\n", "", ":2: a register without offset, before the first tile"},
        {"register BD", "resister BD", ":3: 'resister' is not understood"},
        {"reset=0x2", "rest=0x2", ":3: 'rest=0x2' is not understood"},
        {" +0x20", "", ":3: 'BD{0..1}_0' has not as many lists as steps"},
        {"+0x10 +0x4", "+0x10 +0x4 +0x1", ":4: '+0x1' is not understood"},
        {"{0..1}", "{1..0}", ":3: the list '1..0' is empty or too long"},
        {"{0..1}", "{0..1", ":3: a list without its end"},
        {"Length=13:0", "Length=13:0x", ":3: '13:0x' is no place of a field"},
        {"Length=13:0", "Length=0:13", ":3: '0:13' is no place of a field"},
        {"Length=13:0", "Length", ":3: 'Length' is no field"},
        {"Base=27:14", "Base=27:13", ":3: the fields 'Base' and 'Length' overlap"},
        {"Base=27:14", "Length=27:14", ":3: two fields 'Length'"},
        {"Top=31", "Top=32", ":8: the field 'Top' is one too many, or outside of the register"},
        {"bits=128", "bits=100", ":6: a register of 100 bits"},
        {"0x30000", "0x3f1f4", ":6: 'Wide' and 'Port_DMA0_Slot0' overlap"},
        {"0x30000", "0x30002", ":6: 'Wide' is at no place of a tile"},
        {"0x30000", "0xffffc", ":6: 'Wide' is at no place of a tile"},
        {"Same 0x104", "Flags 0x104", "two registers 'Flags'"},
        {"like Flags", "like Wide", ":9: there is no register 'Wide' before this one"},
    };
    const struct workplace *w = *state;
    for (size_t i = 0; i < sizeof breakages / sizeof breakages[0]; i++) {
        char said[4096];
        remove(w->header);
        assert_int_equal(run(w, breakages[i].from, breakages[i].to, said, sizeof said), 1);
        if (strstr(said, breakages[i].said) == NULL)
            fail_msg("no '%s' in: %s", breakages[i].said, said);
        assert_int_not_equal(access(w->header, F_OK), 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_right_table, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(broken_tables, make_folder, remove_folder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
