/* make_copy_program FOLDER: writes copy.xclbin, copy.insts and input.bin, for tests of what is installed. */
#include "device/copy_program.h"
#include "image/xclbin_write.h"

#include <stdio.h>
#include <stdlib.h>

enum { WORDS = 256 };

static int put(const char *folder, const char *name, const void *data, size_t size)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "wb");
    return file == NULL || fwrite(data, 1, size, file) != size || fclose(file) != 0;
}

int main(int argc, char **argv)
{
    static const char *const buffers[] = {"in", "out"};
    struct bytes pdi = copy_pdi(), code = copy_code(WORDS), xclbin = {0};
    uint32_t input[WORDS];
    if (argc != 2)
        return 2;
    const struct tw_xclbin_contents contents = {.pdi = {.data = pdi.data, .size = pdi.size, .file = "copy"},
                                                .columns = 1,
                                                .kernel = "copy",
                                                .instance = "one",
                                                .kernel_id = TW_KERNEL_ID,
                                                .buffers = buffers,
                                                .n_buffers = 2};
    for (uint32_t i = 0; i < WORDS; i++)
        input[i] = i * 2654435761u;
    int failed = tw_xclbin_write(&contents, &xclbin.data, &xclbin.size, NULL) != 0;
    failed |= put(argv[1], "copy.xclbin", xclbin.data, xclbin.size);
    failed |= put(argv[1], "copy.insts", code.data, code.size);
    failed |= put(argv[1], "input.bin", input, sizeof input);
    free(pdi.data);
    free(code.data);
    free(xclbin.data);
    return failed;
}
