#include "kernels/twin_strided_copy.h"

#include <string.h>

void tw_twin_strided_copy(const uint8_t *from, uint8_t *to, uint32_t pieces, uint32_t row, int32_t step, int32_t jump)
{
    uint32_t count = 0;
    int64_t at = 0;

    for (uint32_t i = 0; i < pieces; i++) {
        memcpy(to + (uint64_t)i * TW_COPY_PIECE, from + at, TW_COPY_PIECE);
        int turns = count == row;
        at += turns ? jump : step;
        count = turns ? 0 : count + 1;
    }
}
