/* What stands behind struct tw_job, for the files of this folder. */
#ifndef TW_DEVICE_JOB_H
#define TW_DEVICE_JOB_H

#include "device/control.h"
#include "device/device.h"
#include "device/handle_list.h"
#include "device/packet.h"

enum tw_job_state { TW_JOB_IDLE, TW_JOB_SUBMITTED, TW_JOB_PART /* of a chain that is submitted */ };

struct tw_job {
    struct tw_context *context;
    struct tw_kernel_buffer command;
    struct tw_handle_list listed; /* all that the command touches, itself not */
    uint64_t revision;            /* changes with the buffers; from 1 on */
    enum tw_job_state state;
    int failed_part;
    uint64_t sequence;
    int completed;               /* its last submission did */
    struct tw_modelled modelled; /* of that, on the emulator; bound NULL: not known */
    /* A launch. */
    unsigned program;
    struct tw_control control;
    struct tw_kernel_buffer code;
    uint64_t prepared;          /* the revision that the code was checked and filled for */
    struct tw_buffer **buffers; /* room for room of them; NULL where none is set */
    uint64_t *addresses;
    unsigned n_buffers, room;
    /* A chain. */
    struct tw_job **parts;
    uint32_t *part_handles;
    unsigned n_parts;       /* 0: a launch */
    uint64_t list_revision; /* the sum of the parts' revisions that `listed` was made of; 0: none */
    atomic_uint references; /* chains keep their parts */
};

/* A job without anything but its command buffer, for the caller to fill; fails with TW_E_MEMORY and so on. */
int tw_job_begin(struct tw_context *context, struct tw_job **job, struct tw_error *err);

/*
 * Makes a launch ready: all buffers that its control code names are there, and their addresses in it. Fails with
 * TW_E_STATE for a missing one, or TW_E_IO.
 */
int tw_job_prepare(struct tw_job *job, struct tw_error *err);

/* Writes a launch's packet, all but the header; returns the header. */
uint32_t tw_job_write_launch(struct tw_job *job);

/*
 * Makes a chain's parts ready, lists what they touch and checks that they fit into one command. Fails with TW_E_STATE,
 * TW_E_LIMIT, TW_E_IO or TW_E_MEMORY.
 */
int tw_chain_prepare(struct tw_job *chain, struct tw_error *err);

/* Writes a chain's packet and those of its parts; returns the header. */
uint32_t tw_chain_write(struct tw_job *chain);

static inline _Atomic uint32_t *tw_job_header(const struct tw_job *job)
{
    return (_Atomic uint32_t *)(void *)job->command.data;
}

#endif
