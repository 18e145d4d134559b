/* Damaged files: what a reader must survive, and say. */
#ifndef TESTS_IMAGE_DAMAGE_H
#define TESTS_IMAGE_DAMAGE_H

#include "npu1/make_cdo.h"

/* Opens a container and reads all that it offers; returns the first code below 0, or 0. */
typedef int damage_read(const struct tw_view *view, struct tw_error *err);

/* Every shorter file is refused with a sentence. */
void damage_truncate(const struct made *file, damage_read *read);

/* Every word in turn becomes each of some wild numbers: no crash, and a sentence where it fails. Checksums, if any, are
 * corrected by `sign`, which may be NULL. */
void damage_words(const struct made *file, damage_read *read, void (*sign)(unsigned char *file));

/* It fails with that code and a sentence that names the file, and has `words` in it. */
void damage_refused(const struct made *file, damage_read *read, int code, const char *words);

#endif
