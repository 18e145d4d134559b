/* tilewright image: what is inside the files that configure and command the NPU. */
#include "cli/cli.h"

#include "base/file_map.h"
#include "base/log.h"
#include "cli/options.h"
#include "cli/print_image.h"

static const char help_text[] = "Usage: tilewright image [--json] FILE\n"
                                "Prints what is inside a file for the NPU, down to the fields of registers.\n\n"
                                "FILE is an xclbin, a PDI, a CDO, an ELF file (a core's program, or control\n"
                                "code), or control code: binary or as hexadecimal words, as transactions or in\n"
                                "the older form of DPU sequences.\n\n"
                                "  --json  as JSON: nodes with \"contents\"\n\n"
                                "Registers have the names of AMD's register reference. Tiles are named by kind,\n"
                                "column and row: shim(0,0), mem(0,1), core(0,2). Writes to memories are summed\n"
                                "up by range. The last line holds the totals.\n\n"
                                "Example: tilewright image design.xclbin\n";

static int run(const char *path, int json)
{
    struct tw_error err = {0};
    struct tw_file_map map;
    struct tw_tree tree = {.out = stdout, .json = json};
    int code = tw_file_map_open(path, &map, &err);
    if (code == 0) {
        struct tw_view file = {map.data, map.size, path, 0};
        code = tw_print_image(&tree, &file, &err);
        tw_file_map_close(&map);
    }
    if (code < 0)
        tw_note("%s", err.text);
    return code < 0 ? TW_EXIT_FAILED : TW_EXIT_OK;
}

int tw_cmd_image(int argc, char **argv)
{
    int json = 0, help = 0;
    const struct tw_option options[] = {
        {.name = "json", .kind = TW_OPTION_FLAG, .to.flag = &json},
        {.name = "help", .letter = 'h', .kind = TW_OPTION_FLAG, .to.flag = &help},
    };
    struct tw_error err = {0};
    int operands = tw_options_read(options, sizeof options / sizeof options[0], argc, argv, &err);
    if (operands < 0)
        return tw_usage_error("image", err.text);
    if (help) {
        fputs(help_text, stdout);
        return TW_EXIT_OK;
    }
    if (operands != 1)
        return tw_usage_error("image", "image takes one file");
    return run(argv[1], json);
}
