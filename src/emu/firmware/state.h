/* The firmware's insides: one context, its programs and what it remembers between operations. */
#ifndef TW_EMU_FIRMWARE_STATE_H
#define TW_EMU_FIRMWARE_STATE_H

#include "emu/firmware.h"
#include "image/pdi.h"
#include "npu1/dma.h"

enum { TW_NO_PROGRAM = TW_FIRMWARE_PROGRAMS };

/* Writes of the command under way to the queue register of a channel. */
struct tw_queue_writes {
    uint64_t n, last; /* how many, and the array's time of the last */
};

struct tw_firmware {
    struct tw_firmware_options options;
    struct tw_unknown unknown;
    struct tw_array *array;
    struct tw_faults *own_faults; /* of the variable; NULL: none, or the caller's */
    int64_t n_commands;           /* begun */
    unsigned n_programs, loaded;  /* loaded: TW_NO_PROGRAM at first */
    struct tw_pdi programs[TW_FIRMWARE_PROGRAMS];
    uint32_t words; /* that the PDI being loaded has filled */

    /* The command under way. */
    const struct tw_command *command;
    struct tw_command_report *report;
    uint64_t end; /* the array's time when it has taken too long */
    int has_waited;
    struct tw_tile_counts before[TW_FIRMWARE_COLUMNS][TW_NPU1_ROWS];
    struct tw_queue_writes queues[TW_FIRMWARE_COLUMNS][TW_NPU1_ROWS][2][TW_DMA_CHANNELS_MAX];
};

/* Checks that a PDI is one that can be loaded: its commands are known and for columns that there are. */
int tw_firmware_check_program(struct tw_firmware *fw, const struct tw_pdi *pdi, struct tw_error *err);
/* Executes a PDI's commands on the array. */
int tw_firmware_load(struct tw_firmware *fw, const struct tw_pdi *pdi, struct tw_error *err);

/* Writes little-endian words from any address to the array's registers or memories. */
int tw_firmware_write_words(struct tw_firmware *fw, uint32_t address, const struct tw_view *words,
                            struct tw_error *err);

/* Executes a command's control code up to fw->end. */
int tw_firmware_execute(struct tw_firmware *fw, const struct tw_command *command, struct tw_command_report *report,
                        struct tw_error *err);

#endif
