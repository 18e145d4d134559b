/*
 * The array executor: graphs run with their products on the NPU and all else on the CPU, in the same memory.
 *
 *     struct tw_executor *array;
 *     struct tw_runner *runner;
 *     tw_executor_open(device, NULL, &array, &err);
 *     tw_runner_create(array, host, &runner, &err);
 *     tw_runner_run(runner, graph, &err);              as often as needed, with any graphs
 *     tw_runner_destroy(runner);
 *     tw_executor_close(array);
 *
 * Whatever fails on the array is computed by the CPU within the same call, counted, and told once.
 */
#ifndef TW_JOB_EXECUTOR_H
#define TW_JOB_EXECUTOR_H

#include "base/error.h"
#include "graph/graph.h"
#include "host/host.h"
#include "tilewright.h"

#include <stddef.h>
#include <stdint.h>

/* The overlay in one context of a device, and the weights that are in its memory. Threads may share it. */
struct tw_executor;

struct tw_executor_options {
    uint64_t weight_bytes; /* how much packed weights may take of memory; 0: 4 GiB */
    enum tw_verify verify;
    /* Gets a sentence when the CPU takes over; may be called by several threads at once. NULL: tw_note. */
    void (*warn)(void *arg, const char *sentence);
    void *arg;
};

/*
 * Makes the overlay and takes a context of four columns for it. options may be NULL. The device may be closed
 * afterwards. Fails as tw_context_create does, or with TW_E_MEMORY.
 */
int tw_executor_open(struct tw_device *device, const struct tw_executor_options *options, struct tw_executor **array,
                     struct tw_error *err);
/* After all its runners are destroyed. Harmless on NULL. */
void tw_executor_close(struct tw_executor *array);

/* Constants of graphs in that memory are gone or changed: what was packed of them is not used any more. No runner may
 * be running a graph with them. */
void tw_executor_forget(struct tw_executor *array, const void *from, size_t bytes);

struct tw_executor_counts {
    uint64_t runs;                            /* of graphs */
    uint64_t launches;                        /* on the array, a command each */
    uint64_t contexts;                        /* taken by the array so far, for all its runners */
    uint64_t products_on_array;               /* matrices whose results were taken */
    uint64_t products_on_host;                /* operations */
    uint64_t operations_on_host;              /* all of them, products too */
    uint64_t fallbacks;                       /* launches, or graphs, that failed and were computed by the CPU */
    uint64_t mismatches;                      /* of these, launches with a result that a proof found wrong */
    uint64_t weights_packed, weights_evicted; /* entries, of all runners of the array */
    uint64_t cycles, read_bytes, write_bytes; /* modelled; 0 on silicon */
    /* What the time went to: making control code; putting it, weights and headers into the device's memory; operations
     * on the CPU; commands, with what caches need; proving results; and once for the array, making the overlay. */
    double control_seconds, pack_seconds, host_seconds, array_seconds, verify_seconds, image_seconds;
};

/* One thread's work memory and plans. */
struct tw_runner;

/*
 * array NULL: all is run by the CPU. host stays the caller's and is used by this runner alone while it runs. Fails with
 * TW_E_MEMORY.
 */
int tw_runner_create(struct tw_executor *array, struct tw_host *host, struct tw_runner **runner, struct tw_error *err);
/* Harmless on NULL. */
void tw_runner_destroy(struct tw_runner *runner);

/*
 * Runs a finished graph. What it made for the graph is kept for when the same graph comes again: the same operations on
 * the same tensors at the same addresses. Fails as tw_host_run does, and when it is stopped; never because of the
 * array.
 */
int tw_runner_run(struct tw_runner *runner, const struct tw_graph *g, struct tw_error *err);

/*
 * stop is asked before each step of a run, by the thread that runs it: nonzero ends the run with TW_E_CANCELLED, its
 * results being anything. What the CPU runs alone is one step. NULL, as at first: nobody is asked.
 */
void tw_runner_ask(struct tw_runner *runner, int (*stop)(void *arg), void *arg);

/* Since it was made. */
void tw_runner_counts(const struct tw_runner *runner, struct tw_executor_counts *counts);

/* A step of a run. */
struct tw_runner_event {
    const struct tw_graph *graph; /* that was run: its operations first .. first + count - 1 */
    int32_t first, count;
    double seconds;
    int on_array;                       /* a launch that succeeded; 0: run by the CPU, also after a failure */
    const struct tw_modelled *modelled; /* NULL: run by the CPU, or on silicon */
    const int32_t *from;                /* operation i was made for operation from[i] of original; NULL: for i */
    const struct tw_graph *original;
};

/*
 * For measurements: event is called after each step from now on; NULL: no more. apart: each product has a launch of its
 * own.
 */
void tw_runner_watch(struct tw_runner *runner, int apart, void (*event)(void *arg, const struct tw_runner_event *event),
                     void *arg);

#endif
