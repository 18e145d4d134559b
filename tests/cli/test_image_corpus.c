/*
 * Published files for the NPU, made by others, in the folder that TILEWRIGHT_CORPUS names: every one of the kinds that
 * `tilewright image` knows is printed without an error, and every PDI comes out of our writer as it is in the file.
 * They are not ours to distribute, so that without the folder this test skips, and says so.
 */
#include "base/file_map.h"
#include "base/little_endian.h"
#include "cli/print_image.h"
#include "cli/walk.h"
#include "image/aie_partition.h"
#include "image/pdi.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

/* Texts beside the files: sources, settings and listings, some of which begin like hexadecimal words. */
static int is_text(const char *path)
{
    static const char *const ends[] = {".json", ".mlir", ".lst", "stdout.txt", "objdump.txt", "CMakeLists.txt"};
    size_t length = strlen(path);
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++)
        if (length >= strlen(ends[i]) && strcmp(path + length - strlen(ends[i]), ends[i]) == 0)
            return 1;
    return 0;
}

static int open_view(const char *path, struct tw_file_map *map, struct tw_view *view)
{
    if (is_text(path))
        return 0;
    assert_int_equal(tw_file_map_open(path, map, NULL), 0);
    *view = (struct tw_view){map->data, map->size, path, 0};
    return 1;
}

static void print_file(const char *path, void *arg)
{
    struct tw_file_map map;
    struct tw_view view;
    struct tw_error err = {0};
    if (!open_view(path, &map, &view))
        return;
    FILE *out = fopen("/dev/null", "w");
    assert_non_null(out);
    struct tw_tree tree = {.out = out};
    int code = tw_print_image(&tree, &view, &err);
    if (code < 0 && code != TW_E_UNSUPPORTED)
        fail_msg("%s", err.text);
    *(unsigned *)arg += code == 0;
    fclose(out);
    tw_file_map_close(&map);
}

static void every_file_is_printed(void **state)
{
    unsigned n = 0;
    walk_folder(*state, print_file, &n);
    printf("%u files printed\n", n);
    assert_true(n > 0);
}

/* Older versions of bootgen wrote 0 instead of all ones into one word of the image header; its checksum follows. */
enum { PCR_WORD = 0xc8, PCR_CHECKSUM = 0xcc };

static void check_pdi(const struct tw_view *view)
{
    struct tw_pdi pdi;
    struct tw_pdi_partition partition;
    unsigned char *bytes;
    size_t size;
    assert_int_equal(tw_pdi_open(view, &pdi, NULL), 0);
    assert_int_equal(pdi.n_partitions, 1);
    tw_pdi_partition(&pdi, 0, &partition);
    assert_int_equal(tw_pdi_write(&partition.data, &bytes, &size, NULL), 0);
    assert_int_equal(size, view->size);
    if (tw_load_u32(view->data + PCR_WORD) == 0) {
        tw_store_u32(bytes + PCR_CHECKSUM, tw_load_u32(bytes + PCR_CHECKSUM) + tw_load_u32(bytes + PCR_WORD));
        tw_store_u32(bytes + PCR_WORD, 0);
    }
    assert_memory_equal(bytes, view->data, size);
    free(bytes);
}

static unsigned check_partition(const struct tw_view *section)
{
    struct tw_aie_partition partition;
    assert_int_equal(tw_aie_partition_open(section, &partition, NULL), 0);
    for (uint32_t i = 0; i < partition.n_pdis; i++) {
        struct tw_aie_pdi pdi;
        tw_aie_partition_pdi(&partition, i, &pdi);
        check_pdi(&pdi.image);
    }
    return partition.n_pdis;
}

static void write_pdis(const char *path, void *arg)
{
    struct tw_file_map map;
    struct tw_view view;
    struct tw_xclbin xclbin;
    if (!open_view(path, &map, &view))
        return;
    if (tw_xclbin_recognise(&view) && tw_xclbin_open(&view, &xclbin, NULL) == 0)
        for (uint32_t i = 0; i < xclbin.n_sections; i++) {
            struct tw_xclbin_section section;
            tw_xclbin_section(&xclbin, i, &section);
            if (section.kind == TW_XCLBIN_AIE_PARTITION)
                *(unsigned *)arg += check_partition(&section.data);
        }
    tw_file_map_close(&map);
}

static void every_pdi_is_written_as_it_is(void **state)
{
    unsigned n = 0;
    walk_folder(*state, write_pdis, &n);
    printf("%u PDIs written\n", n);
    assert_true(n > 0);
}

int main(void)
{
    const char *folder = getenv("TILEWRIGHT_CORPUS");
    if (folder == NULL || folder[0] == '\0') {
        puts("SKIPPED: set TILEWRIGHT_CORPUS to a folder with published NPU programs to print them all");
        return 77;
    }
    char *state = strdup(folder);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(every_file_is_printed, state),
        cmocka_unit_test_prestate(every_pdi_is_written_as_it_is, state),
    };
    int failed = state == NULL || cmocka_run_group_tests(tests, NULL, NULL) != 0;
    free(state);
    return failed;
}
