/*
 * The few ioctls of the kernel's DRM core that a client of an accelerator needs. Numbers and layouts are those of the
 * kernel's user interface (drm.h), for 64-bit systems.
 */
#ifndef TW_UAPI_DRM_H
#define TW_UAPI_DRM_H

#include <stddef.h>
#include <stdint.h>

/* An ioctl number: direction in bits 31:30, bytes of the structure in 29:16, type 'd', number (asm-generic/ioctl.h). */
#define TW_DRM_IOCTL(direction, number, type)                                                                          \
    ((uint32_t)(direction) << 30 | (uint32_t)sizeof(type) << 16 | (uint32_t)'d' << 8 | (uint32_t)(number))
#define TW_DRM_WRITES 1u /* the kernel reads the structure */
#define TW_DRM_BOTH 3u   /* the kernel reads it and writes results into it */

/* The kernel dispatches by this number alone, so that structures may grow: shorter ones are taken as if zeros followed.
 */
#define TW_IOCTL_NUMBER(request) ((uint32_t)(request)&0xffu)
#define TW_IOCTL_BYTES(request) ((uint32_t)(request) >> 16 & 0x3fffu)

enum tw_drm_number {
    TW_DRM_NUMBER_VERSION = 0x00,
    TW_DRM_NUMBER_GEM_CLOSE = 0x09,
    TW_DRM_NUMBER_TIMELINE_WAIT = 0xca,
    TW_DRM_NUMBER_DRIVER = 0x40 /* the first that belongs to the driver */
};

/* VERSION: the name of the driver and how far its interface has come. Lengths: in the room, out the true ones. */
struct tw_drm_version {
    int32_t major, minor, patch;
    uint32_t pad;
    size_t name_bytes; /* without a zero at the end */
    char *name;
    size_t date_bytes;
    char *date;
    size_t description_bytes;
    char *description;
};

/* GEM_CLOSE: the file gives up a buffer; memory that is still mapped or in use stays until then. */
struct tw_drm_gem_close {
    uint32_t handle;
    uint32_t pad;
};

/* SYNCOBJ_TIMELINE_WAIT, in the length that all kernels know. Fails with ETIME when the time is up. */
struct tw_drm_timeline_wait {
    uint64_t handles; /* address of `count` uint32_t */
    uint64_t points;  /* address of `count` uint64_t; point 0 means the newest fence */
    int64_t deadline; /* nanoseconds of CLOCK_MONOTONIC */
    uint32_t count;
    uint32_t flags; /* enum tw_drm_wait_flag */
    uint32_t first; /* out: the first that was done */
    uint32_t pad;
};

enum tw_drm_wait_flag {
    TW_DRM_WAIT_ALL = 1,
    TW_DRM_WAIT_FOR_SUBMIT = 2, /* a point that nobody has submitted yet is waited for, instead of an error */
    TW_DRM_WAIT_AVAILABLE = 4
};

#define TW_DRM_VERSION TW_DRM_IOCTL(TW_DRM_BOTH, TW_DRM_NUMBER_VERSION, struct tw_drm_version)
#define TW_DRM_GEM_CLOSE TW_DRM_IOCTL(TW_DRM_WRITES, TW_DRM_NUMBER_GEM_CLOSE, struct tw_drm_gem_close)
#define TW_DRM_TIMELINE_WAIT TW_DRM_IOCTL(TW_DRM_BOTH, TW_DRM_NUMBER_TIMELINE_WAIT, struct tw_drm_timeline_wait)

_Static_assert(TW_DRM_VERSION == 0xc0406400u, "VERSION");
_Static_assert(TW_DRM_GEM_CLOSE == 0x40086409u, "GEM_CLOSE");
_Static_assert(TW_DRM_TIMELINE_WAIT == 0xc02864cau, "SYNCOBJ_TIMELINE_WAIT");

#endif
