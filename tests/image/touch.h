/*
 * Opening a container or a part of one and reading all that it offers, so that sanitizers see every access. Each
 * returns what opening it returned.
 */
#ifndef TESTS_IMAGE_TOUCH_H
#define TESTS_IMAGE_TOUCH_H

#include "base/view.h"

int touch_pdi(const struct tw_view *view, struct tw_error *err);
int touch_elf(const struct tw_view *view, struct tw_error *err);
int touch_control_elf(const struct tw_view *view, struct tw_error *err);
int touch_metadata(const struct tw_view *section, struct tw_error *err);
int touch_partition(const struct tw_view *section, struct tw_error *err);
int touch_memories(const struct tw_view *section, struct tw_error *err);
int touch_ips(const struct tw_view *section, struct tw_error *err);
int touch_connections(const struct tw_view *section, struct tw_error *err);
/* With the sections of the kinds above; the first code below 0 of all. */
int touch_xclbin(const struct tw_view *view, struct tw_error *err);

#endif
