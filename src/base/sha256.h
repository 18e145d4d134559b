/* SHA-256 (FIPS 180-4), for checking downloads. */
#ifndef TW_BASE_SHA256_H
#define TW_BASE_SHA256_H

#include <stddef.h>
#include <stdint.h>

struct tw_sha256 {
    uint32_t state[8];
    uint64_t size;           /* bytes taken in so far */
    unsigned char block[64]; /* the first size % 64 of them wait here */
};

void tw_sha256_start(struct tw_sha256 *h);
void tw_sha256_add(struct tw_sha256 *h, const void *data, size_t size);
/* The digest of all that was added, as 64 lower-case hex digits and a zero. Start again before the next use. */
void tw_sha256_finish(struct tw_sha256 *h, char hex[65]);

#endif
