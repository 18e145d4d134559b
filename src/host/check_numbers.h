/* Proof of a product number by number: it is computed again, from operands rounded to bf16 as the array takes them. */
#ifndef TW_HOST_CHECK_NUMBERS_H
#define TW_HOST_CHECK_NUMBERS_H

#include "host/checksum.h"

/*
 * For a product, with GELU or not, whose types and sides tw_host_check_product has found right. TW_E_CHECKSUM says
 * which number is off, by how much, and what rounding explains; TW_E_MEMORY.
 */
int tw_check_numbers(struct tw_host *host, const struct tw_checksum *c, struct tw_error *err);

#endif
