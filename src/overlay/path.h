/*
 * What shapes change in cores and memory tiles: descriptors, their locks and the channels that work through them. All
 * cores are alike, and all memory tiles.
 */
#ifndef TW_OVERLAY_PATH_H
#define TW_OVERLAY_PATH_H

#include "npu1/buffer_descriptor.h"
#include "npu1/control_writer.h"
#include "npu1/dma.h"
#include "overlay/shape.h"

/* A, B and C on their way through a tile. */
enum overlay_path {
    PATH_CORE_A,
    PATH_CORE_B,
    PATH_CORE_C,
    PATH_MEMORY_A,
    PATH_MEMORY_B,
    PATH_MEMORY_C,
    PATHS,
    PATHS_CORE = PATH_MEMORY_A /* those before are of cores */
};

enum path_limit { PATH_CHANNELS = 5, PATH_BDS = 24, PATH_LOCKS = 12 };

struct path_channel {
    struct tw_dma_channel channel;
    uint8_t first_bd;
    uint8_t by_task; /* it gets its tasks with each group of row panels (path_take_b), not for ever */
};
struct path_bd {
    uint8_t number;
    uint32_t words[TW_BD_WORDS_MAX];
};
struct path_lock {
    uint8_t number, value; /* when nothing is under way */
};

struct path {
    uint32_t n_channels, n_bds, n_locks;
    struct path_channel channels[PATH_CHANNELS];
    struct path_bd bds[PATH_BDS];
    struct path_lock locks[PATH_LOCKS];
};

static inline enum tw_tile_kind path_kind(enum overlay_path which)
{
    return which < PATHS_CORE ? TW_TILE_CORE : TW_TILE_MEMORY;
}

/* Fills *path for a shape. Fails as tw_bd_encode, which only a fault in shape.c can cause. */
int path_make(enum overlay_path which, const struct tw_overlay_shape *shape, struct path *path, struct tw_error *err);

/* Whether two paths are the same. */
int path_equal(const struct path *a, const struct path *b);

/*
 * Reset the channels of a path in a tile, which then stand still, and set its locks; set its descriptors; start its
 * channels into memory and those out of it. Locks come first, for paths that do not change may bring a core its next
 * job before the others are ready.
 */
void path_stop(struct tw_control_writer *w, unsigned column, unsigned row, const struct path *path);
void path_set(struct tw_control_writer *w, unsigned column, unsigned row, const struct path *path);
void path_start_in(struct tw_control_writer *w, unsigned column, unsigned row, const struct path *path);
void path_start_out(struct tw_control_writer *w, unsigned column, unsigned row, const struct path *path);

/*
 * If a part of B passes, its way into memory tiles ends with each group of row panels: the tasks of one for so many,
 * with what is kept of a column panel before them or without.
 */
void path_take_b(struct tw_control_writer *w, unsigned column, const struct tw_overlay_shape *shape, int with_kept,
                 uint32_t row_panels);

#endif
