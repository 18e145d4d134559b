/* The trace of an array at work: a core with its DMA and locks, between two shim channels. */
#include "emu/array/board_fifo.h"
#include "emu/array/board_program.h"
#include "emu/core.h"
#include "emu/trace/chrome.h"
#include "emu/trace/trace_json.h"

#include "cli/folder.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

enum { ROUNDS = 5 };

struct bench {
    struct folder folder;
    struct tw_trace_record *record;
    struct board *board;
};

static void set_up(struct bench *b, size_t most)
{
    folder_create(&b->folder);
    assert_int_equal(tw_trace_record_create(most, &b->record, NULL), 0);
    b->board = board_make(&(struct tw_array_options){.columns = 1, .trace = tw_trace_record_hook(b->record)});
}

static void tear_down(struct bench *b)
{
    board_free(b->board);
    tw_trace_record_free(b->record);
    folder_remove(&b->folder);
}

static char *write_trace(struct bench *b, double clock_ghz)
{
    char path[2 * FOLDER_PATH];
    struct tw_error err = {0};
    folder_path(&b->folder, "trace.json", path);
    if (tw_trace_write_chrome(b->record, clock_ghz, path, &err) != 0)
        fail_msg("%s", err.text);
    char *text = folder_get(&b->folder, "trace.json", NULL);
    assert_non_null(text);
    return text;
}

static void run_fifo(struct bench *b)
{
    start_fifo(b->board, ROUNDS);
    wait_token(b->board, 0, 0, TW_S2MM, 1);
    assert_fifo_done(b->board, ROUNDS);
    assert_int_equal(drain(b->board), TW_E_STATE); /* the core waits for more */
}

static json_t *trace_of_fifo(double clock_ghz)
{
    struct bench b;
    set_up(&b, 0);
    run_fifo(&b);
    char *text = write_trace(&b, clock_ghz);
    json_t *trace = trace_read(text);
    free(text);
    tear_down(&b);
    return trace;
}

/* The core runs or waits, without a gap, and all bundles are in its runs. */
static void a_core(void **state)
{
    struct bench b;
    size_t at = 0;
    unsigned waits[2] = {0};
    json_int_t bundles = 0;
    int64_t end = -1, waiting = 0;
    (void)state;
    set_up(&b, 0);
    run_fifo(&b);
    char *text = write_trace(&b, 1);
    json_t *trace = trace_read(text);
    struct trace_place core = trace_place(trace, "core (0, 2)", "core");
    for (const json_t *e; (e = trace_next(trace, core, &at)) != NULL; end = trace_end(e)) {
        assert_true(end < 0 || trace_begin(e) == end);
        if (strcmp(trace_name(e), "running") == 0) {
            bundles += trace_number(e, "bundles");
            continue;
        }
        waiting += trace_end(e) - trace_begin(e);
        waits[0] += strcmp(trace_name(e), "waits for lock 1 of (0, 2)") == 0;
        waits[1] += strcmp(trace_name(e), "waits for lock 2 of (0, 2)") == 0;
    }
    struct tw_tile_counts counts;
    assert_int_equal(tw_array_counts(b.board->array, 0, 2, &counts), 0);
    assert_int_equal(bundles, counts.bundles);
    assert_true(waits[0] >= 2 && waits[0] + waits[1] <= 2 * ROUNDS + 1);
    assert_true(waiting > 0 && end > 0);
    json_decref(trace);
    free(text);
    tear_down(&b);
}

/* Tasks hold descriptors, and those waits for locks. */
static void channels(void **state)
{
    json_t *trace = trace_of_fifo(1);
    size_t at = 0;
    unsigned descriptors = 0, waits = 0;
    (void)state;
    struct trace_place place = trace_place(trace, "core (0, 2)", "DMA S2MM 0");
    const json_t *e = trace_next(trace, place, &at);
    assert_string_equal(trace_name(e), "task from descriptor 0");
    assert_true(json_is_true(json_object_get(json_object_get(e, "args"), "unfinished")));
    while ((e = trace_next(trace, place, &at)) != NULL) {
        int is_descriptor = strcmp(trace_name(e), "descriptor 0") == 0;
        if (is_descriptor)
            assert_int_equal(trace_number(e, "words"), FIFO_WORDS);
        else
            assert_string_equal(trace_name(e), "waits for lock 0 of (0, 2)");
        descriptors += (unsigned)is_descriptor;
        waits += (unsigned)!is_descriptor;
    }
    assert_int_equal(descriptors, ROUNDS + 1); /* the last one waits for words */
    assert_true(waits > 0 && waits <= ROUNDS + 1);

    at = 0;
    place = trace_place(trace, "shim (0, 0)", "DMA MM2S 0");
    e = trace_next(trace, place, &at);
    assert_null(json_object_get(json_object_get(e, "args"), "unfinished"));
    const json_t *descriptor = trace_next(trace, place, &at);
    assert_string_equal(trace_name(descriptor), "descriptor 0");
    assert_int_equal(trace_number(descriptor, "words"), ROUNDS * FIFO_WORDS);
    assert_true(trace_end(descriptor) <= trace_end(e) && trace_begin(descriptor) > trace_begin(e));
    assert_null(trace_next(trace, place, &at));
    json_decref(trace);
}

/* The last thing that a core does. */
static const char *last_of(const json_t *trace, const char *process, char name[80])
{
    struct trace_place place = trace_place(trace, process, "core");
    size_t at = 0;
    for (const json_t *e; (e = trace_next(trace, place, &at)) != NULL;)
        snprintf(name, 80, "%s", trace_name(e));
    return name;
}

/* What a core was busy with and what it waited for are all its time. */
static uint64_t time_of(const struct tw_tile_counts *c)
{
    uint64_t cycles = c->bundles + c->bank_stalls;
    for (int i = 0; i < TW_STALLS; i++)
        cycles += c->stalls[i];
    return cycles;
}

/* Four cores that stand still, each for another reason, one that is done and one that was disabled. */
static void what_cores_wait_for(void **state)
{
    static const char *const programs[6] = {
        ".foreign\n.text\n .rept 12\n nop\n.endr\n mov r0, SS\n nop\n",
        ".foreign\n.text\n .rept 400\n mov ms, r0\n nop\n nop\n.endr\n",
        ".foreign\n.text\n nop\n nop\n vmov x1, SCD\n nop\n nop\n nop\n nop\n",
        ".foreign\n.text\n .rept 6\n vmov MCD, x0\n nop\n nop\n.endr\n done\n nop\n nop\n",
        ".foreign\n.text\n nop\n nop\n done\n nop\n nop\n nop\n",
        ".foreign\n.text\n begin:\n nop\n j #begin\n nop\n nop\n nop\n nop\n nop\n",
    };
    static const char *const ends[6] = {
        "waits for words from its stream",
        "waits for room in its stream",
        "waits for its cascade input",
        "waits for its cascade output",
        "running",
        "running",
    };
    static const char *const names[6] = {"core (0, 2)", "core (0, 3)", "core (0, 4)",
                                         "core (1, 3)", "core (0, 5)", "core (1, 5)"};
    static const unsigned places[6][2] = {{0, 2}, {0, 3}, {0, 4}, {1, 3}, {0, 5}, {1, 5}};
    struct bench b;
    char name[80];
    (void)state;
    set_up(&b, 0);
    board_free(b.board);
    b.board = board_make(&(struct tw_array_options){.columns = 2, .trace = tw_trace_record_hook(b.record)});
    for (size_t i = 0; i < 6; i++) {
        put_program(b.board, places[i][0], places[i][1], programs[i]);
        start_core(b.board, places[i][0], places[i][1]);
    }
    assert_int_equal(tw_array_advance(b.board->array, 3000, &b.board->err), 0);
    put(b.board, 1, 5, TW_CORE_CONTROL, 0);
    assert_int_equal(tw_array_advance(b.board->array, 4000, &b.board->err), 0);
    char *text = write_trace(&b, 1);
    json_t *trace = trace_read(text);
    for (size_t i = 0; i < 6; i++)
        assert_string_equal(last_of(trace, names[i], name), ends[i]);
    static const enum tw_stall stalls[4] = {TW_STALL_STREAM, TW_STALL_STREAM, TW_STALL_CASCADE, TW_STALL_CASCADE};
    for (size_t i = 0; i < 4; i++) {
        struct tw_tile_counts counts;
        assert_int_equal(tw_array_counts(b.board->array, places[i][0], places[i][1], &counts), 0);
        assert_true(counts.stalls[stalls[i]] > 3000);
        assert_int_equal(time_of(&counts), 4000);
    }
    for (size_t i = 4; i < 6; i++) {
        size_t at = 0;
        const json_t *run = trace_next(trace, trace_place(trace, names[i], "core"), &at);
        struct tw_tile_counts counts;
        assert_int_equal(tw_array_counts(b.board->array, places[i][0], places[i][1], &counts), 0);
        assert_int_equal(trace_number(run, "bundles"), counts.bundles);
        /* After `done` the pipeline empties. */
        assert_in_range(trace_end(run) - (int64_t)time_of(&counts) * 1000, 0, i == 4 ? 7 * 1000 : 0);
        assert_null(json_object_get(json_object_get(run, "args"), "unfinished"));
        assert_in_range(trace_end(run), i == 4 ? 1 : 3000 * 1000, i == 4 ? 100 * 1000 : 3600 * 1000);
    }
    json_decref(trace);
    free(text);
    tear_down(&b);
}

/* Every lock of the program goes up and down by one; the token is the only one. */
static void locks_and_tokens(void **state)
{
    json_t *trace = trace_of_fifo(1);
    struct trace_place locks = trace_place(trace, "core (0, 2)", "core");
    static const char *const names[] = {"lock 0", "lock 1", "lock 2", "lock 3"};
    unsigned changes[4] = {0};
    json_int_t values[4] = {0};
    size_t at = 0;
    (void)state;
    locks.thread = TRACE_ANY;
    for (const json_t *e; (e = trace_next(trace, locks, &at)) != NULL;)
        for (size_t i = 0; i < 4; i++)
            if (strcmp(trace_name(e), names[i]) == 0) {
                json_int_t value = trace_number(e, "value");
                assert_true(value - values[i] == 1 || value - values[i] == -1);
                values[i] = value;
                changes[i]++;
            }
    for (size_t i = 0; i < 4; i++)
        assert_in_range(changes[i], 2 * ROUNDS, 2 * ROUNDS + 2);
    at = 0;
    struct trace_place tokens = trace_place(trace, "firmware", "tokens");
    const json_t *token = trace_next(trace, tokens, &at);
    assert_non_null(strstr(trace_name(token), "token of (0, 0), actor "));
    assert_null(trace_next(trace, tokens, &at));
    json_decref(trace);
}

/* At 1.6 GHz all times are those at 1 GHz over 1.6, to a picosecond. */
static void times_follow_the_clock(void **state)
{
    json_t *slow = trace_of_fifo(1), *fast = trace_of_fifo(1.6);
    size_t a = 0, b = 0;
    (void)state;
    struct trace_place core = trace_place(slow, "core (0, 2)", "core");
    for (const json_t *e; (e = trace_next(slow, core, &a)) != NULL;) {
        const json_t *f = trace_next(fast, core, &b);
        assert_true(llabs(16 * trace_begin(f) - 10 * trace_begin(e)) <= 16);
        assert_true(llabs(16 * trace_end(f) - 10 * trace_end(e)) <= 16);
    }
    json_decref(slow);
    json_decref(fast);
}

static void the_same_every_time(void **state)
{
    json_t *one = trace_of_fifo(1), *other = trace_of_fifo(1);
    (void)state;
    assert_true(json_equal(one, other));
    json_decref(one);
    json_decref(other);
}

static void a_cut_says_so(void **state)
{
    enum { MOST = 40 };
    struct bench b;
    char sentence[160];
    size_t events = 0, i;
    const json_t *event;
    (void)state;
    set_up(&b, MOST);
    run_fifo(&b);
    tw_trace_describe_loss(b.record, sentence, sizeof sentence);
    assert_non_null(strstr(sentence, "the first 40 events and leaves out "));
    char *text = write_trace(&b, 1);
    json_t *trace = trace_read(text);
    assert_string_equal(json_string_value(json_object_get(json_object_get(trace, "otherData"), "cut")), sentence);
    json_array_foreach(json_object_get(trace, "traceEvents"), i, event)
    {
        events += strcmp(json_string_value(json_object_get(event, "ph")), "M") != 0;
    }
    assert_int_equal(events, MOST + 1); /* and the sentence */
    json_decref(trace);
    free(text);
    tear_down(&b);
}

/* A reset ends whatever goes on. */
static void reset(void **state)
{
    struct bench b;
    (void)state;
    set_up(&b, 0);
    start_fifo(b.board, ROUNDS);
    assert_int_equal(tw_array_advance(b.board->array, 2600, &b.board->err), 0);
    tw_array_reset(b.board->array);
    char *text = write_trace(&b, 1);
    json_t *trace = trace_read(text);
    assert_null(strstr(text, "unfinished"));
    assert_non_null(strstr(text, "running"));
    json_decref(trace);
    free(text);
    tear_down(&b);
}

/* What a core that still runs has done nobody has asked: no numbers, rather than 0. */
static void still_running(void **state)
{
    struct bench b;
    size_t at = 0, runs = 0;
    (void)state;
    set_up(&b, 0);
    start_fifo(b.board, ROUNDS);
    assert_int_equal(tw_array_advance(b.board->array, 1, &b.board->err), 0);
    char *text = write_trace(&b, 1);
    json_t *trace = trace_read(text);
    struct trace_place core = trace_place(trace, "core (0, 2)", "core");
    for (const json_t *e; (e = trace_next(trace, core, &at)) != NULL; runs++) {
        assert_string_equal(trace_name(e), "running");
        assert_true(json_is_true(json_object_get(json_object_get(e, "args"), "unfinished")));
        assert_int_equal(json_object_size(json_object_get(e, "args")), 1);
    }
    assert_int_equal(runs, 1);
    json_decref(trace);
    free(text);
    tear_down(&b);
}

/* Nothing happened, or the file cannot be. */
static void edges(void **state)
{
    struct bench b;
    char path[2 * FOLDER_PATH];
    struct tw_error err = {0};
    (void)state;
    set_up(&b, 0);
    char *text = write_trace(&b, 1);
    json_t *trace = trace_read(text);
    assert_int_equal(json_array_size(json_object_get(trace, "traceEvents")), 3); /* names */
    folder_path(&b.folder, "missing/trace.json", path);
    assert_int_equal(tw_trace_write_chrome(b.record, 1, path, &err), TW_E_NOT_FOUND);
    assert_non_null(strstr(err.text, "missing"));
    json_decref(trace);
    free(text);
    tear_down(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_core),
        cmocka_unit_test(channels),
        cmocka_unit_test(what_cores_wait_for),
        cmocka_unit_test(locks_and_tokens),
        cmocka_unit_test(times_follow_the_clock),
        cmocka_unit_test(the_same_every_time),
        cmocka_unit_test(a_cut_says_so),
        cmocka_unit_test(reset),
        cmocka_unit_test(still_running),
        cmocka_unit_test(edges),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
