#include "whisper/format.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *name, *ending;
} formats[TW_FORMAT_COUNT] = {
    [TW_FORMAT_TEXT] = {"text", "txt"},
    [TW_FORMAT_JSON] = {"json", "json"},
    [TW_FORMAT_SRT] = {"srt", "srt"},
    [TW_FORMAT_VTT] = {"vtt", "vtt"},
};

const char *tw_output_format_name(enum tw_output_format f)
{
    return (unsigned)f < TW_FORMAT_COUNT ? formats[f].name : NULL;
}

const char *tw_output_format_ending(enum tw_output_format f)
{
    return (unsigned)f < TW_FORMAT_COUNT ? formats[f].ending : NULL;
}

int tw_output_format_find(const char *name, size_t size)
{
    for (int f = 0; f < TW_FORMAT_COUNT; f++)
        if (strlen(formats[f].name) == size && memcmp(formats[f].name, name, size) == 0)
            return f;
    return -1;
}

/* The part of a text between leading and trailing space and control characters. */
struct span {
    const char *at;
    size_t size;
};

static int is_space(char c)
{
    return (unsigned char)c <= ' ' || c == 0x7f;
}

static struct span trimmed(const char *text)
{
    struct span s = {text, strlen(text)};
    while (s.size > 0 && is_space(s.at[0])) {
        s.at++;
        s.size--;
    }
    while (s.size > 0 && is_space(s.at[s.size - 1]))
        s.size--;
    return s;
}

/* Control characters would break lines and cues, or steer a terminal. */
static void put_plain(char c, FILE *to)
{
    putc(is_space(c) ? ' ' : c, to);
}

static void put_text(struct span s, FILE *to)
{
    for (size_t i = 0; i < s.size; i++)
        put_plain(s.at[i], to);
}

/* SRT knows no escapes: the arrow that marks a line of times is broken up by a space. */
static void put_srt_text(struct span s, FILE *to)
{
    for (size_t i = 0; i < s.size; i++) {
        if (i >= 2 && s.at[i] == '>' && s.at[i - 1] == '-' && s.at[i - 2] == '-')
            putc(' ', to);
        put_plain(s.at[i], to);
    }
}

/* WebVTT reads & and < as markup; with > escaped too, the arrow cannot occur. */
static void put_vtt_text(struct span s, FILE *to)
{
    for (size_t i = 0; i < s.size; i++) {
        switch (s.at[i]) {
        case '&':
            fputs("&amp;", to);
            break;
        case '<':
            fputs("&lt;", to);
            break;
        case '>':
            fputs("&gt;", to);
            break;
        default:
            put_plain(s.at[i], to);
        }
    }
}

/* 00:00:00,000 with the given mark before the milliseconds; more digits of hours when they need them. */
static void put_time(double seconds, char mark, FILE *to)
{
    const double longest = 1e12; /* keeps the conversion defined, whatever a caller passes */
    if (!(seconds > 0))
        seconds = 0;
    long long ms = llround(fmin(seconds, longest) * 1000);
    fprintf(to, "%02lld:%02lld:%02lld%c%03lld", ms / 3600000, ms / 60000 % 60, ms / 1000 % 60, mark, ms % 1000);
}

static void put_times(const struct tw_segment *s, char mark, FILE *to)
{
    put_time(s->start, mark, to);
    fputs(" --> ", to);
    put_time(s->end, mark, to);
    putc('\n', to);
}

static void write_segment(const struct tw_segment *segment, FILE *to)
{
    struct span s = trimmed(segment->text);
    if (s.size == 0)
        return;
    put_text(s, to);
    putc('\n', to);
}

static void write_text(const struct tw_transcript *t, FILE *to)
{
    for (size_t i = 0; i < t->n_segments; i++)
        write_segment(&t->segments[i], to);
}

static void write_srt(const struct tw_transcript *t, FILE *to)
{
    size_t number = 0;
    for (size_t i = 0; i < t->n_segments; i++) {
        struct span s = trimmed(t->segments[i].text);
        if (s.size == 0)
            continue;
        if (number > 0)
            putc('\n', to);
        fprintf(to, "%zu\n", ++number);
        put_times(&t->segments[i], ',', to);
        put_srt_text(s, to);
        putc('\n', to);
    }
}

static void write_vtt(const struct tw_transcript *t, FILE *to)
{
    fputs("WEBVTT\n", to);
    for (size_t i = 0; i < t->n_segments; i++) {
        struct span s = trimmed(t->segments[i].text);
        if (s.size == 0)
            continue;
        putc('\n', to);
        put_times(&t->segments[i], '.', to);
        put_vtt_text(s, to);
        putc('\n', to);
    }
}

/* Times, in seconds or milliseconds: two decimals. */
static json_t *time_value(double v)
{
    return isfinite(v) ? json_real(round(v * 100) / 100) : json_null();
}

/* Probabilities: six significant digits. */
static json_t *probability(double v)
{
    char digits[40];
    if (!isfinite(v))
        return json_null();
    snprintf(digits, sizeof digits, "%.6g", v);
    return json_real(strtod(digits, NULL));
}

/* json_object_set_new and json_array_append_new refuse NULL, so a value that could not be made is a failure here. */
static int json_tokens(json_t *segment, const struct tw_segment *s)
{
    json_t *tokens = json_array();
    int failed = json_object_set_new(segment, "tokens", tokens);
    for (size_t i = 0; i < s->n_tokens && !failed; i++)
        failed = json_array_append_new(tokens, json_integer(s->tokens[i]));
    return failed;
}

static int json_segment(json_t *list, const struct tw_segment *s)
{
    json_t *o = json_object();
    return json_array_append_new(list, o) || json_object_set_new(o, "start", time_value(s->start)) ||
           json_object_set_new(o, "end", time_value(s->end)) || json_object_set_new(o, "text", json_string(s->text)) ||
           json_tokens(o, s) || json_object_set_new(o, "avg_logprob", probability(s->avg_logprob)) ||
           json_object_set_new(o, "no_speech_prob", probability(s->no_speech_prob));
}

static int json_segments(json_t *root, const struct tw_transcript *t)
{
    json_t *list = json_array();
    int failed = json_object_set_new(root, "segments", list);
    for (size_t i = 0; i < t->n_segments && !failed; i++)
        failed = json_segment(list, &t->segments[i]);
    return failed;
}

/* All segments in one string, without the space that the first one begins with. */
static int json_text(json_t *root, const struct tw_transcript *t)
{
    size_t size = 1;
    for (size_t i = 0; i < t->n_segments; i++)
        size += strlen(t->segments[i].text);
    char *text = malloc(size), *end = text;
    if (text == NULL)
        return -1;
    for (size_t i = 0; i < t->n_segments; i++) {
        size_t n = strlen(t->segments[i].text);
        memcpy(end, t->segments[i].text, n);
        end += n;
    }
    *end = '\0';
    int failed = json_object_set_new(root, "text", json_string(text + strspn(text, " ")));
    free(text);
    return failed;
}

static int json_devices(json_t *root, const struct tw_transcript *t)
{
    json_t *o = json_object();
    const char *encoder = t->encoder_device ? t->encoder_device : "",
               *decoder = t->decoder_device ? t->decoder_device : "";
    return json_object_set_new(root, "devices", o) || json_object_set_new(o, "encoder", json_string(encoder)) ||
           json_object_set_new(o, "decoder", json_string(decoder));
}

static int json_timings(json_t *root, const struct tw_timings *ms)
{
    json_t *o = json_object();
    return json_object_set_new(root, "timings_ms", o) || json_object_set_new(o, "load", time_value(ms->load)) ||
           json_object_set_new(o, "mel", time_value(ms->mel)) ||
           json_object_set_new(o, "encode", time_value(ms->encode)) ||
           json_object_set_new(o, "decode", time_value(ms->decode)) ||
           json_object_set_new(o, "total", time_value(ms->total));
}

/* Cycles as milliseconds at the two clocks between which these chips run; on silicon nothing is modelled. */
static int json_modelled(json_t *root, const struct tw_encoder_counts *c)
{
    json_t *o = json_object();
    double cycles = c->cycles > 0 || c->launches == 0 ? (double)c->cycles : NAN;
    return json_object_set_new(root, "modelled_ms", o) ||
           json_object_set_new(o, "at_1000_mhz", time_value(cycles / 1e6)) ||
           json_object_set_new(o, "at_1600_mhz", time_value(cycles / 1.6e6));
}

static int json_counts(json_t *root, const struct tw_encoder_counts *c)
{
    const struct {
        const char *name;
        uint64_t count;
    } counts[] = {
        {"launches", c->launches},
        {"products_on_array", c->products_on_array},
        {"operations_on_host", c->operations_on_host},
        {"fallbacks", c->fallbacks},
        {"mismatches", c->mismatches},
    };
    int failed = 0;
    for (size_t i = 0; i < sizeof counts / sizeof counts[0] && !failed; i++)
        failed = json_object_set_new(root, counts[i].name, json_integer((json_int_t)counts[i].count));
    return failed || json_modelled(root, c);
}

static int json_transcript(json_t *root, const struct tw_transcript *t)
{
    return json_text(root, t) || json_object_set_new(root, "language", json_string(t->language)) ||
           json_object_set_new(root, "language_probability", probability(t->language_probability)) ||
           json_object_set_new(root, "duration", time_value(t->duration)) || json_segments(root, t) ||
           json_devices(root, t) || json_counts(root, &t->counts) || json_timings(root, &t->timings_ms);
}

/* A file's name need not be UTF-8, JSON must be: the transcript's own repair makes it so. */
static int json_file(json_t *root, const char *name)
{
    struct tw_transcript repaired = {0};
    if (name == NULL)
        return 0;
    int failed = tw_transcript_add(&repaired, 0, 0, name, strlen(name), NULL, 0, NULL) ||
                 json_object_set_new(root, "file", json_string(repaired.segments[0].text));
    tw_transcript_release(&repaired);
    return failed;
}

static int write_json(const struct tw_transcript *t, const char *name, FILE *to, struct tw_error *err)
{
    /* 15 digits show every number of up to 15 significant digits as it was rounded, without tails such as
     * 0.10000000001. */
    size_t flags = JSON_REAL_PRECISION(15);
    json_t *root = json_object();
    char *line = json_file(root, name) || json_transcript(root, t) ? NULL : json_dumps(root, flags);
    json_decref(root);
    if (line == NULL)
        return tw_fail(err, TW_E_MEMORY, "there is no memory to write the transcript as JSON");
    fputs(line, to);
    putc('\n', to);
    free(line);
    return 0;
}

/* ferror remembers a failure of any of the calls before, and errno is that of the last failed one. */
static int check_stream(FILE *to, struct tw_error *err)
{
    if (ferror(to))
        return tw_fail_errno(err, TW_E_IO, errno, "the transcript cannot be written");
    return 0;
}

int tw_segment_write_text(const struct tw_segment *segment, FILE *to, struct tw_error *err)
{
    write_segment(segment, to);
    return check_stream(to, err);
}

int tw_transcript_write(const struct tw_transcript *t, enum tw_output_format f, const char *name, FILE *to,
                        struct tw_error *err)
{
    int result = 0;
    switch (f) {
    case TW_FORMAT_TEXT:
        write_text(t, to);
        break;
    case TW_FORMAT_JSON:
        result = write_json(t, name, to, err);
        break;
    case TW_FORMAT_SRT:
        write_srt(t, to);
        break;
    case TW_FORMAT_VTT:
        write_vtt(t, to);
        break;
    default:
        return tw_fail(err, TW_E_ARGUMENT, "there is no transcript format with number %d", (int)f);
    }
    return result < 0 ? result : check_stream(to, err);
}
