/* Tells the processor that memory will be read soon. Changes nothing but time; any address will do. */
#ifndef TW_BASE_PREFETCH_H
#define TW_BASE_PREFETCH_H

static inline void tw_prefetch(const void *address)
{
#if defined(__GNUC__)
    __builtin_prefetch(address);
#else
    (void)address;
#endif
}

#endif
