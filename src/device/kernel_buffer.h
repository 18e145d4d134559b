/* The kernel's buffer objects: made, mapped, found by the NPU, flushed, given back. */
#ifndef TW_DEVICE_KERNEL_BUFFER_H
#define TW_DEVICE_KERNEL_BUFFER_H

#include "device/driver_file.h"

struct tw_kernel_buffer {
    uint32_t handle; /* 0: none */
    size_t bytes;    /* as asked for; the kernel rounds up to pages */
    uint64_t device_address;
    unsigned char *data; /* where this process sees it */
    int mapped;          /* data is a mapping of its own, not a piece of the heap's */
};

/*
 * Makes and maps the heap, one for each open file, before all that lies in it: TW_XDNA_HEAP_BYTES at a multiple of
 * that, because firmware refuses any other place. It is given back after all buffers in it and all contexts. Fails with
 * TW_E_HEAP, TW_E_MEMORY or TW_E_IO; then there is nothing to give back.
 */
int tw_heap_create(const struct tw_driver_file *file, struct tw_kernel_buffer *heap, struct tw_error *err);

/*
 * Makes a buffer of `bytes` >= 1 bytes, TW_XDNA_SHARE or TW_XDNA_COMMAND, and maps it; caches hold nothing of it. Fails
 * with TW_E_MEMORY, TW_E_PERMISSION, TW_E_UNMAPPED, TW_E_IO, ...; then there is nothing to give back.
 */
int tw_kernel_buffer_create(const struct tw_driver_file *file, enum tw_xdna_buffer_kind kind, size_t bytes,
                            struct tw_kernel_buffer *buffer, struct tw_error *err);

/* The same inside the heap, with `bytes` bytes of data copied in and flushed. */
int tw_kernel_buffer_upload(const struct tw_driver_file *file, const struct tw_kernel_buffer *heap, const void *data,
                            size_t bytes, struct tw_kernel_buffer *buffer, struct tw_error *err);

/* Harmless on a zeroed struct. */
void tw_kernel_buffer_destroy(const struct tw_driver_file *file, struct tw_kernel_buffer *buffer);

/* Makes memory and caches agree on a range that lies inside. Fails with TW_E_IO. */
int tw_kernel_buffer_flush(const struct tw_driver_file *file, const struct tw_kernel_buffer *buffer, size_t offset,
                           size_t size, struct tw_error *err);

#endif
