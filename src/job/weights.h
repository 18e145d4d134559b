/* What a launch needs beside the area: packed weights and headers, in the array's store. */
#ifndef TW_JOB_WEIGHTS_H
#define TW_JOB_WEIGHTS_H

#include "job/launch.h"

/*
 * Finds or makes the weights and headers of part, and keeps them until weights_release. *moved becomes 1 when they are
 * not where they were the last time. Fails as tw_store_get does; then too weights_release is needed.
 */
int weights_hold(struct tw_runner *r, const struct launch *launch, struct part *part, int *moved, struct tw_error *err);
void weights_release(struct tw_runner *r, struct part *part);

/* buffers[argument] = the buffer that held lies in; nothing when nothing is held. */
void weights_buffer(const struct held *held, struct tw_buffer **buffers);

#endif
