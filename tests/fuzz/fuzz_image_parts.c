/* ELF files with control code (first byte even), and the XML text of an xclbin's kernels (odd). */
#include "image/touch.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct tw_error err = {0};
    if (size == 0)
        return 0;
    unsigned char *copy = malloc(size);
    if (copy == NULL)
        abort();
    memcpy(copy, data, size);
    struct tw_view view = {copy + 1, size - 1, "input", 0};
    int code = data[0] % 2 == 0 ? touch_control_elf(&view, &err) : touch_metadata(&view, &err);
    if (code > 0 || code != err.code || (code < 0) != (err.text[0] != '\0'))
        abort();
    free(copy);
    return 0;
}
