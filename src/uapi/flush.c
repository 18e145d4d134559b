#include "uapi/flush.h"

#include <errno.h>

int tw_flush_none(void *context, const void *address, size_t size)
{
    (void)context;
    (void)address;
    (void)size;
    return -EOPNOTSUPP;
}

tw_flush_lines *tw_flush_select(void)
{
#ifdef TW_X86
    struct tw_flush_features has = tw_flush_ask_processor();
    if (has.line >= TW_FLUSH_STEP)
        return has.clflushopt ? tw_flush_clflushopt : tw_flush_clflush;
#endif
    return tw_flush_none;
}
