/* A transcript as text, JSON, SRT or WebVTT. */
#ifndef TW_WHISPER_FORMAT_H
#define TW_WHISPER_FORMAT_H

#include "whisper/transcript.h"

#include <stdio.h>

enum tw_output_format { TW_FORMAT_TEXT, TW_FORMAT_JSON, TW_FORMAT_SRT, TW_FORMAT_VTT, TW_FORMAT_COUNT };

/* "text", "json", "srt", "vtt"; and the ending of files: "txt", "json", "srt", "vtt". NULL outside the table. */
const char *tw_output_format_name(enum tw_output_format f);
const char *tw_output_format_ending(enum tw_output_format f);
/* The format of that name, or -1. */
int tw_output_format_find(const char *name, size_t size);

/*
 * Writes t to `to`. Text: one line a segment, without surrounding space. JSON: one object on one line, keys
 * file (when name is not NULL), text, language, language_probability, duration, segments[] {start, end, text, tokens,
 * avg_logprob, no_speech_prob}, devices {encoder, decoder}, timings_ms {load, mel, encode, decode, total}, launches; a
 * number that is not finite is null. SRT and WebVTT: one cue a segment. In all but JSON, segments without visible text
 * are left out.
 * Fails with TW_E_IO when writing fails, TW_E_MEMORY. Does not flush: what the stream's buffer holds may fail later.
 */
int tw_transcript_write(const struct tw_transcript *t, enum tw_output_format f, const char *name, FILE *to,
                        struct tw_error *err);

/* What the text format has for one segment, so that it can be shown before the others are there. */
int tw_segment_write_text(const struct tw_segment *segment, FILE *to, struct tw_error *err);

#endif
