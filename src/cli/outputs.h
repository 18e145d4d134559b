/* Transcripts as files: their names, the folder they lie in, and how they get there whole. */
#ifndef TW_CLI_OUTPUTS_H
#define TW_CLI_OUTPUTS_H

#include "whisper/format.h"

/*
 * One name for each input, without folder and ending: "a/talk.wav" gives "talk", standard input "stdin". An input whose
 * name an earlier one has gets "talk-2" and so on, so that no output is written twice. *stems gets n allocated strings,
 * released with tw_output_stems_free. Fails with TW_E_MEMORY.
 */
int tw_output_stems(char *const *inputs, size_t n, char ***stems, struct tw_error *err);
void tw_output_stems_free(char **stems, size_t n);

/* Makes the folder and those above it where they are missing. Fails with TW_E_IO. */
int tw_output_folder(const char *folder, struct tw_error *err);

/* Fails with TW_E_ARGUMENT if folder/stem.ending of any stem is the very file of any input. formats: bits 1 << f. */
int tw_output_spares_inputs(const char *folder, char *const *stems, char *const *inputs, size_t n, unsigned formats,
                            struct tw_error *err);

/* Writes folder/stem.ending; the file appears whole or not at all. Fails with TW_E_IO or TW_E_MEMORY. */
int tw_output_write(const char *folder, const char *stem, enum tw_output_format f, const struct tw_transcript *t,
                    struct tw_error *err);

#endif
