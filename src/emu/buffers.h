/* Device-visible buffers of a host process, at addresses as the driver gives them. */
#ifndef TW_EMU_BUFFERS_H
#define TW_EMU_BUFFERS_H

#include "base/error.h"
#include "emu/array.h"

struct tw_buffers;

enum { TW_BUFFERS_MAX = 1024 };

int tw_buffers_create(struct tw_buffers **buffers, struct tw_error *err);
void tw_buffers_free(struct tw_buffers *buffers);

/*
 * A new buffer of zeros (1 byte or more): its address as the driver would say it and its bytes, which live until
 * tw_buffers_free. Between buffers there is a gap, so that a transfer that runs out of one hits nothing. Fails with
 * TW_E_ARGUMENT (no size), TW_E_LIMIT (too many, or no addresses left) or TW_E_MEMORY.
 */
int tw_buffers_add(struct tw_buffers *buffers, uint64_t size, uint64_t *address, unsigned char **bytes,
                   struct tw_error *err);

/* How the array sees them: by the address plus TW_HOST_OFFSET. */
struct tw_host_memory tw_buffers_host(struct tw_buffers *buffers);

#endif
