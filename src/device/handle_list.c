#include "device/handle_list.h"

#include "uapi/amdxdna.h"

#include <stdlib.h>

int tw_handle_list_add(struct tw_handle_list *list, uint32_t handle, struct tw_error *err)
{
    if (handle == 0)
        return TW_OK;
    for (uint32_t i = 0; i < list->n; i++)
        if (list->handles[i] == handle)
            return TW_OK;
    if (list->n == TW_XDNA_ARGUMENTS_MAX)
        return tw_fail(err, TW_E_LIMIT, "a command works on at most %d buffers", TW_XDNA_ARGUMENTS_MAX);
    if (list->n == list->room) {
        uint32_t room = list->room == 0 ? 8 : 2 * list->room;
        uint32_t *larger = realloc(list->handles, room * sizeof *larger);
        if (larger == NULL)
            return tw_fail(err, TW_E_MEMORY, "no memory for a list of buffers");
        list->handles = larger;
        list->room = room;
    }
    list->handles[list->n++] = handle;
    return TW_OK;
}

void tw_handle_list_free(struct tw_handle_list *list)
{
    free(list->handles);
    *list = (struct tw_handle_list){0};
}
