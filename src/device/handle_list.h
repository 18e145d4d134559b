/* The handles that are listed with a command, each once: the kernel locks them all. */
#ifndef TW_DEVICE_HANDLE_LIST_H
#define TW_DEVICE_HANDLE_LIST_H

#include "base/error.h"

#include <stdint.h>

struct tw_handle_list {
    uint32_t *handles;
    uint32_t n, room;
};

/* Adds a handle that is not there yet; 0 is none. Fails with TW_E_LIMIT or TW_E_MEMORY. */
int tw_handle_list_add(struct tw_handle_list *list, uint32_t handle, struct tw_error *err);
void tw_handle_list_free(struct tw_handle_list *list);

#endif
