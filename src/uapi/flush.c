#include "uapi/flush.h"

#include "base/processor.h"

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
    unsigned features = tw_processor_features();
    if (features & TW_PROCESSOR_CLFLUSHOPT)
        return tw_flush_clflushopt;
    if (features & TW_PROCESSOR_CLFLUSH)
        return tw_flush_clflush;
#endif
    return tw_flush_none;
}
