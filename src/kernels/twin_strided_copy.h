/* What strided_copy.s does, in plain C. */
#ifndef TW_KERNELS_TWIN_STRIDED_COPY_H
#define TW_KERNELS_TWIN_STRIDED_COPY_H

#include <stdint.h>

#define TW_COPY_PIECE 32 /* bytes */

/*
 * Copies `pieces` pieces to `to`, one behind the other. The first lies at `from`; each row has `row` + 1, `step` bytes
 * from one to the next, and the first of the next row lies `jump` bytes from a row's last. They do not overlap `to`.
 */
void tw_twin_strided_copy(const uint8_t *from, uint8_t *to, uint32_t pieces, uint32_t row, int32_t step, int32_t jump);

#endif
