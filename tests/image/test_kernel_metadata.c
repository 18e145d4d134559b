/* Kernels from the XML text of an xclbin. */
#include "image/kernel_metadata.h"

#include "image/damage.h"
#include "image/make_image.h"
#include "image/touch.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

static const char text[] =
    "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n"
    "<project name='a > b'>\n  <!-- <kernel name=\"no\"> -->\n  <platform><device><core>\n"
    "    <kernel name=\"vadd\" language=\"c\"><module><arg name=\"inner\" id=\"9\"/></module>\n"
    "      <arg name=\"in1\" addressQualifier=\"1\" id=\"0\" size=\"0x8\" offset=\"0x10\" type=\"void*\"/>\n"
    "      <instance name=\"vadd_1\"/><instance name=\"vadd_2\"/>\n    </kernel>\n"
    "    <kernel name=\"DPU &lt;&amp;&gt;\" type=\"dpu\">\n"
    "      <extended-data dpu_kernel_id=\"0x901\" functional=\"0\" subtype=\"1\"/>\n"
    "      <arg name=\"opcode\" addressQualifier=\"0\" id=\"0\" size=\"0x8\" offset=\"0x00\" type=\"uint64_t\"/>\n"
    "      <arg name=\"instr\" addressQualifier=\"1\" id=\"1\" size=\"8\" offset=\"8\" type=\"char *\"></arg>\n"
    "      <arg name=\"ninstr\" id=\"2\"/>\n"
    "      <instance name=\"IPU\" />\n    </kernel>\n"
    "  </core></device></platform>\n</project>\n";

static struct tw_view view_of(const char *xml)
{
    return (struct tw_view){(const unsigned char *)xml, strlen(xml), "made", 0};
}

static void kernels_and_arguments_are_read(void **state)
{
    struct tw_kernel_metadata m;
    struct tw_view view = view_of(text);
    (void)state;
    assert_int_equal(tw_kernel_metadata_read(&view, &m, NULL), 0);
    assert_int_equal(m.n_kernels, 2);
    const struct tw_kernel *k = &m.kernels[0];
    assert_string_equal(k->name, "vadd");
    assert_string_equal(k->instance, "vadd_1");
    assert_false(k->is_dpu);
    assert_int_equal(k->n_arguments, 1);
    assert_string_equal(k->arguments[0].name, "in1");
    assert_true(k->arguments[0].is_buffer);
    assert_int_equal(k->arguments[0].offset, 0x10);
    k = &m.kernels[1];
    assert_string_equal(k->name, "DPU <&>");
    assert_string_equal(k->instance, "IPU");
    assert_true(k->is_dpu);
    assert_true(k->dpu_id == 0x901);
    assert_int_equal(k->n_arguments, 3);
    assert_string_equal(k->arguments[1].type, "char *");
    assert_int_equal(k->arguments[1].size, 8);
    assert_false(k->arguments[2].is_buffer);
    assert_ptr_equal(tw_kernel_find(&m, NULL), k);
    assert_ptr_equal(tw_kernel_find(&m, "vadd"), &m.kernels[0]);
    assert_null(tw_kernel_find(&m, "none"));
    tw_kernel_metadata_free(&m);
}

static void the_pdi_of_a_kernel_is_found(void **state)
{
    struct made cdo = {0}, pdis[3] = {{0}}, section = {0};
    struct tw_aie_partition partition;
    struct tw_error err = {0};
    struct tw_kernel kernel = {.name = "k", .is_dpu = 1, .dpu_id = 0x903};
    uint32_t pdi = 99;
    (void)state;
    make_program_cdo(&cdo, "abcd", 4, 1);
    for (unsigned i = 0; i < 3; i++)
        make_pdi(&pdis[i], &cdo);
    make_partition(&section, pdis, 3);
    struct tw_view view = made_view(&section);
    assert_int_equal(tw_aie_partition_open(&view, &partition, NULL), 0);
    assert_int_equal(tw_kernel_pdi(&kernel, &partition, &pdi, NULL), 0);
    assert_int_equal(pdi, 2);
    kernel.dpu_id = 0x900;
    assert_int_equal(tw_kernel_pdi(&kernel, &partition, &pdi, &err), TW_E_NOT_FOUND);
    assert_non_null(strstr(err.text, "'k' (id 0x900)"));
    kernel.dpu_id = 0x901;
    kernel.is_dpu = 0;
    assert_int_equal(tw_kernel_pdi(&kernel, &partition, &pdi, NULL), TW_E_NOT_FOUND);
    for (unsigned i = 0; i < 3; i++)
        made_free(&pdis[i]);
    made_free(&cdo);
    made_free(&section);
}

static void wrong_texts_are_refused(void **state)
{
    static const struct {
        const char *xml, *words;
        int code;
    } wrong[] = {
        {"<a>", "element without its end", TW_E_FORMAT},
        {"<a></b>", "not the one that began last", TW_E_FORMAT},
        {"</a>", "not the one that began last", TW_E_FORMAT},
        {"<a", "tag without its end", TW_E_FORMAT},
        {"<a b='>", "tag without its end", TW_E_FORMAT},
        {"<a b=c/>", "cannot be read", TW_E_FORMAT},
        {"<a b=\"1\"c=\"2\"/>", "cannot be read", TW_E_FORMAT},
        {"< a/>", "cannot be read", TW_E_FORMAT},
        {"<!DOCTYPE x><a/>", "cannot be read", TW_E_FORMAT},
        {"<!-- <a/>", "comment", TW_E_FORMAT},
        {"<kernel/>", "no attribute name", TW_E_FORMAT},
        {"<kernel name=\"&#65;\"/>", "not understood", TW_E_FORMAT},
        {"<kernel name='k'><arg name='a'/></kernel>", "no attribute id", TW_E_FORMAT},
        {"<kernel name='k'><arg name='a' id='1'/></kernel>", "id 1 instead of 0", TW_E_FORMAT},
        {"<kernel name='k'><arg name='a' id='x'/></kernel>", "'x', no number", TW_E_FORMAT},
        {"<kernel name='k'><arg name='a' id='-1'/></kernel>", "'-1', no number", TW_E_FORMAT},
        {"<kernel name='k'><arg name='a' id='0' size='0x100000000'/></kernel>", "no number", TW_E_FORMAT},
    };
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        struct tw_kernel_metadata m;
        struct tw_error err = {0};
        struct tw_view view = view_of(wrong[i].xml);
        assert_int_equal(tw_kernel_metadata_read(&view, &m, &err), wrong[i].code);
        assert_int_equal(m.n_kernels, 0);
        if (strstr(err.text, wrong[i].words) == NULL)
            fail_msg("no '%s' in: %s", wrong[i].words, err.text);
    }
}

/* Too deep, too many, too long: an error, not an overrun. */
static void limits(void **state)
{
    struct made deep = {0}, many = {0}, arguments = {0}, name = {0};
    (void)state;
    for (unsigned i = 0; i < 65; i++)
        made_bytes(&deep, "<a>", 3);
    damage_refused(&deep, touch_metadata, TW_E_LIMIT, "64 deep");
    for (unsigned i = 0; i <= TW_KERNELS_MAX; i++)
        made_bytes(&many, "<kernel name='k'/>", 18);
    damage_refused(&many, touch_metadata, TW_E_LIMIT, "256 kernels");
    made_bytes(&arguments, "<kernel name='k'>", 17);
    for (char id = 0; id <= TW_KERNEL_ARGUMENTS_MAX; id++) {
        char text_of[64] = "<arg name='a' id='00'/>";
        text_of[18] = (char)('0' + id / 10);
        text_of[19] = (char)('0' + id % 10);
        if (id < 10)
            memmove(text_of + 18, text_of + 19, 5);
        made_bytes(&arguments, text_of, strlen(text_of));
    }
    damage_refused(&arguments, touch_metadata, TW_E_LIMIT, "64 arguments");
    made_bytes(&name, "<kernel name='", 14);
    for (unsigned i = 0; i < TW_KERNEL_NAME_BYTES; i++)
        made_bytes(&name, "x", 1);
    made_bytes(&name, "'/>", 3);
    damage_refused(&name, touch_metadata, TW_E_LIMIT, "255 bytes");
    made_free(&deep);
    made_free(&many);
    made_free(&arguments);
    made_free(&name);
}

/* Cut anywhere, and every byte replaced: the sanitizers watch. A text that is cut is refused, but for blanks at its
 * end. */
static void damaged_texts(void **state)
{
    static const char wild[] = "<>/='\"& \0\xff";
    struct made m = {0};
    (void)state;
    made_bytes(&m, text, sizeof text - 1);
    size_t first = (size_t)(strstr(text, "<project") - text);
    for (size_t size = 0; size < m.size; size++) {
        struct made part = {0};
        struct tw_error err = {0};
        made_bytes(&part, text, size);
        struct tw_view view = made_view(&part);
        int code = touch_metadata(&view, &err);
        if (size > first && size + 1 < m.size)
            assert_true(code < 0);
        made_free(&part);
    }
    for (size_t at = 0; at < m.size; at++)
        for (size_t i = 0; i < sizeof wild - 1; i++) {
            struct tw_error err = {0};
            struct tw_view view = made_view(&m);
            m.data[at] = (unsigned char)wild[i];
            int code = touch_metadata(&view, &err);
            assert_int_equal(code < 0, err.text[0] != '\0');
            m.data[at] = (unsigned char)text[at];
        }
    made_free(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kernels_and_arguments_are_read),
        cmocka_unit_test(the_pdi_of_a_kernel_is_found),
        cmocka_unit_test(wrong_texts_are_refused),
        cmocka_unit_test(limits),
        cmocka_unit_test(damaged_texts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
