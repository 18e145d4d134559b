#include "emu/trace/chrome.h"

#include "base/new_file.h"
#include "npu1/dma.h"
#include "npu1/tile.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum {
    CHUNK_BYTES = 1 << 16,
    LINE_BYTES = 512,
    FIRMWARE_PROCESS = 1, /* tiles follow */
    THREADS_EACH = 100,   /* of a process, in numbers that are unique in the file, as some viewers want them */
    CORE_THREAD = 1,
    S2MM_THREAD = 10, /* and the channel */
    MM2S_THREAD = 20,
    CONTROL_THREAD = 1,
    TOKENS_THREAD = 2
};

struct writer {
    struct tw_new_file file;
    struct tw_error *err;
    int code;
    double clock_ghz;
    const char *before; /* what separates the next line from the last one */
    size_t used;
    char chunk[CHUNK_BYTES + LINE_BYTES];
};

static void flush(struct writer *w)
{
    if (w->code == TW_OK)
        w->code = tw_new_file_write(&w->file, w->chunk, w->used, w->err);
    w->used = 0;
}

static void put(struct writer *w, const char *format, ...) TW_PRINTF(2, 3);

/* Lines are short: names come from tables. */
static void put(struct writer *w, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int n = vsnprintf(w->chunk + w->used, LINE_BYTES, format, args);
    va_end(args);
    w->used += n < 0 ? 0 : n < LINE_BYTES ? (size_t)n : LINE_BYTES - 1;
    if (w->used >= CHUNK_BYTES)
        flush(w);
}

/* ---- where things stand */

struct place {
    int process, thread; /* thread: inside the process */
};

/* Where control code is, and where a cut is told. */
static const struct place control = {FIRMWARE_PROCESS, CONTROL_THREAD};

static int thread_number(struct place p)
{
    return p.process * THREADS_EACH + p.thread;
}

static struct place place_of(const struct tw_trace_event *e)
{
    static const int threads[TW_TRACE_UNITS] = {
        [TW_TRACE_CORE] = CORE_THREAD,        [TW_TRACE_S2MM] = S2MM_THREAD,     [TW_TRACE_MM2S] = MM2S_THREAD,
        [TW_TRACE_FIRMWARE] = CONTROL_THREAD, [TW_TRACE_TOKENS] = TOKENS_THREAD,
    };
    int is_firmware = e->unit == TW_TRACE_FIRMWARE || e->unit == TW_TRACE_TOKENS;
    int tile = FIRMWARE_PROCESS + 1 + e->column * TW_NPU1_ROWS + e->row;
    return (struct place){is_firmware ? FIRMWARE_PROCESS : tile, threads[e->unit] + (is_firmware ? 0 : e->channel)};
}

static void put_name(struct writer *w, struct place p, const char *what, const char *format, ...) TW_PRINTF(4, 5);

static void put_name(struct writer *w, struct place p, const char *what, const char *format, ...)
{
    char name[64];
    va_list args;
    va_start(args, format);
    vsnprintf(name, sizeof name, format, args);
    va_end(args);
    put(w, "%s{\"ph\":\"M\",\"pid\":%d,\"tid\":%d,\"name\":\"%s\",\"args\":{\"name\":\"%s\"}}", w->before, p.process,
        thread_number(p), what, name);
    w->before = ",\n";
}

/* Viewers list processes as they are numbered here, not by name. */
static void put_process(struct writer *w, int process, const char *kind, unsigned column, unsigned row)
{
    struct place p = {process, 0};
    if (process == FIRMWARE_PROCESS)
        put_name(w, p, "process_name", "%s", kind);
    else
        put_name(w, p, "process_name", "%s (%u, %u)", kind, column, row);
    put(w, ",\n{\"ph\":\"M\",\"pid\":%d,\"tid\":%d,\"name\":\"process_sort_index\",\"args\":{\"sort_index\":%d}}",
        process, thread_number(p), process);
}

static void put_tile_thread(struct writer *w, struct place p, const struct tw_trace_event *e)
{
    if (e->unit == TW_TRACE_CORE)
        put_name(w, p, "thread_name", "core");
    else
        put_name(w, p, "thread_name", "DMA %s %u", e->unit == TW_TRACE_S2MM ? "S2MM" : "MM2S", e->channel);
}

/* Names of the processes and threads in which anything is. */
static void put_names(struct writer *w, const struct tw_trace_entry *entries, size_t n)
{
    static const char *const kinds[TW_TILE_KINDS] = {
        [TW_TILE_SHIM] = "shim", [TW_TILE_MEMORY] = "memory", [TW_TILE_CORE] = "core"};
    enum { PROCESSES = FIRMWARE_PROCESS + 1 + TW_NPU1_COLUMNS * TW_NPU1_ROWS, THREADS = MM2S_THREAD + 10 };
    uint8_t named[PROCESSES][THREADS] = {{0}};
    put_process(w, FIRMWARE_PROCESS, "firmware", 0, 0);
    put_name(w, control, "thread_name", "control code");
    named[FIRMWARE_PROCESS][0] = named[FIRMWARE_PROCESS][CONTROL_THREAD] = 1;
    for (size_t i = 0; i < n; i++) {
        const struct tw_trace_event *e = &entries[i].event;
        struct place p = place_of(e);
        if (!named[p.process][0])
            put_process(w, p.process, kinds[tw_tile_kind(e->row)], e->column, e->row);
        named[p.process][0] = 1;
        if (p.thread == 0 || named[p.process][p.thread])
            continue;
        named[p.process][p.thread] = 1;
        if (p.process == FIRMWARE_PROCESS)
            put_name(w, p, "thread_name", "tokens");
        else
            put_tile_thread(w, p, e);
    }
}

/* ---- what happened */

/* In millionths of a microsecond: whole numbers, so that what lies inside something else still does in the file. */
static uint64_t moment(const struct writer *w, uint64_t cycle)
{
    return (uint64_t)((double)cycle * 1000 / w->clock_ghz + 0.5);
}

static const struct {
    const char *category, *first, *second; /* what the numbers are called; NULL: not shown */
} whats[TW_TRACE_WHATS] = {
    [TW_TRACE_RUN] = {"run", "bundles", "bank stalls"},
    [TW_TRACE_WAIT_LOCK] = {"wait", NULL, NULL},
    [TW_TRACE_WAIT_STREAM] = {"wait", "words", NULL},
    [TW_TRACE_WAIT_CASCADE] = {"wait", "words", NULL},
    [TW_TRACE_WAIT_REGISTER] = {"wait", "offset", NULL},
    [TW_TRACE_TASK] = {"task", NULL, "repetitions"},
    [TW_TRACE_DESCRIPTOR] = {"descriptor", NULL, "words"},
    [TW_TRACE_LOCK] = {"lock", NULL, NULL},
    [TW_TRACE_TOKEN] = {"token", NULL, NULL},
    [TW_TRACE_COMMAND] = {"command", NULL, "program"},
    [TW_TRACE_LOAD] = {"command", NULL, NULL},
    [TW_TRACE_LAUNCH] = {"command", NULL, NULL},
    [TW_TRACE_OPERATION] = {"operation", "address", "number"},
};

static void put_thing_name(const struct tw_trace_event *e, char *text, size_t size)
{
    long long first = e->first, second = e->second;
    switch ((enum tw_trace_what)e->what) {
    case TW_TRACE_RUN:
        snprintf(text, size, "running");
        break;
    case TW_TRACE_WAIT_LOCK:
        snprintf(text, size, "waits for lock %lld of (%lld, %lld)", first, second >> TW_TRACE_OWNER_COLUMN_SHIFT,
                 second & TW_TRACE_OWNER_ROW_MASK);
        break;
    case TW_TRACE_WAIT_STREAM:
        snprintf(text, size, "waits for %s its stream", second ? "room in" : "words from");
        break;
    case TW_TRACE_WAIT_CASCADE:
        snprintf(text, size, "waits for its cascade %s", second ? "output" : "input");
        break;
    case TW_TRACE_WAIT_REGISTER:
        snprintf(text, size, "waits for its tile's registers");
        break;
    case TW_TRACE_TASK:
        snprintf(text, size, "task from descriptor %lld", first);
        break;
    case TW_TRACE_DESCRIPTOR:
        snprintf(text, size, "descriptor %lld", first);
        break;
    case TW_TRACE_LOCK:
        snprintf(text, size, "lock %lld", first);
        break;
    case TW_TRACE_TOKEN:
        snprintf(text, size, "token of (%u, %u), actor %lld", e->column, e->row, first);
        break;
    case TW_TRACE_COMMAND:
        snprintf(text, size, "command %lld", first);
        break;
    case TW_TRACE_LOAD:
        snprintf(text, size, "load program %lld", first);
        break;
    case TW_TRACE_LAUNCH:
        snprintf(text, size, "launch");
        break;
    default:
        snprintf(text, size, "%.40s", e->name != NULL ? e->name : "?");
    }
}

static void put_numbers(struct writer *w, const struct tw_trace_entry *entry)
{
    const struct tw_trace_event *e = &entry->event;
    /* What a core has done is known when it is asked: at the end. */
    int is_known = e->what != TW_TRACE_RUN || !entry->unfinished;
    const char *first = is_known ? whats[e->what].first : NULL, *second = is_known ? whats[e->what].second : NULL;
    const char *before = "";
    put(w, ",\"args\":{");
    if (first != NULL && e->what == TW_TRACE_OPERATION)
        put(w, "\"%s\":\"0x%" PRIx64 "\"", first, (uint64_t)e->first);
    else if (first != NULL)
        put(w, "\"%s\":%" PRId64, first, e->first);
    if (first != NULL)
        before = ",";
    if (second != NULL)
        put(w, "%s\"%s\":%" PRId64, before, second, e->second);
    if (second != NULL)
        before = ",";
    if (entry->unfinished)
        put(w, "%s\"unfinished\":true", before);
    put(w, "}}");
}

static void put_time(struct writer *w, const char *name, uint64_t millionths)
{
    enum { MILLION = 1000000 };
    put(w, ",\"%s\":%" PRIu64 ".%06u", name, millionths / MILLION, (unsigned)(millionths % MILLION));
}

/* Of the kinds that entries have. */
static const char *const phase_letters[] = {[TW_TRACE_BEGIN] = "X",
                                            [TW_TRACE_END] = "",
                                            [TW_TRACE_END_ALL] = "",
                                            [TW_TRACE_VALUE] = "C",
                                            [TW_TRACE_MOMENT] = "i"};

static void put_entry(struct writer *w, const struct tw_trace_entry *entry)
{
    const struct tw_trace_event *e = &entry->event;
    struct place p = place_of(e);
    char name[80];
    uint64_t at = moment(w, e->cycle);
    put_thing_name(e, name, sizeof name);
    put(w, "%s{\"ph\":\"%s\",\"pid\":%d,\"tid\":%d,\"name\":\"%s\",\"cat\":\"%s\"", w->before, phase_letters[e->kind],
        p.process, thread_number(p), name, whats[e->what].category);
    w->before = ",\n";
    put_time(w, "ts", at);
    if (e->kind == TW_TRACE_BEGIN) {
        put_time(w, "dur", moment(w, entry->end) - at);
        put_numbers(w, entry);
    } else if (e->kind == TW_TRACE_VALUE) {
        put(w, ",\"args\":{\"value\":%" PRId64 "}}", e->second);
    } else {
        put(w, ",\"s\":\"t\"}");
    }
}

void tw_trace_describe_loss(struct tw_trace_record *record, char *text, size_t size)
{
    size_t n;
    uint64_t lost = tw_trace_record_lost(record);
    tw_trace_record_entries(record, &n);
    if (size > 0)
        text[0] = '\0';
    if (lost > 0)
        snprintf(text, size, "the trace holds the first %zu events and leaves out %" PRIu64 " that began later", n,
                 lost);
}

static void put_all(struct writer *w, struct tw_trace_record *record)
{
    size_t n;
    char loss[160];
    const struct tw_trace_entry *entries = tw_trace_record_entries(record, &n);
    tw_trace_describe_loss(record, loss, sizeof loss);
    put(w, "{\"displayTimeUnit\":\"ns\",\n\"otherData\":{\"times\":\"modelled, of an array at %.6g GHz\"",
        w->clock_ghz);
    if (loss[0] != '\0')
        put(w, ",\"cut\":\"%s\"", loss);
    put(w, "},\n\"traceEvents\":[\n");
    w->before = "";
    put_names(w, entries, n);
    for (size_t i = 0; i < n && w->code == TW_OK; i++)
        put_entry(w, &entries[i]);
    if (loss[0] != '\0') {
        put(w, "%s{\"ph\":\"i\",\"pid\":%d,\"tid\":%d,\"name\":\"%s\",\"cat\":\"cut\",\"s\":\"g\"", w->before,
            control.process, thread_number(control), loss);
        put_time(w, "ts", n > 0 ? moment(w, entries[n - 1].event.cycle) : 0);
        put(w, "}");
    }
    put(w, "\n]}\n");
    flush(w);
}

int tw_trace_write_chrome(struct tw_trace_record *record, double clock_ghz, const char *path, struct tw_error *err)
{
    struct writer w = {.err = err, .clock_ghz = clock_ghz};
    int code = tw_new_file_open(path, &w.file, err);
    if (code < 0)
        return code;
    put_all(&w, record);
    if (w.code == TW_OK)
        return tw_new_file_finish(&w.file, err);
    tw_new_file_abandon(&w.file);
    return w.code;
}
