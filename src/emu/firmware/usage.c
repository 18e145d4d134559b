#include "emu/firmware/usage.h"

#include "emu/cycles.h"

const char *const tw_bound_names[TW_BOUNDS] = {
    "launch", "control code", "DDR", "stream", "core", "locks",
};

enum { WORD_BYTES = 4 };

void tw_usage_begin(struct tw_firmware *fw)
{
    for (unsigned column = 0; column < fw->options.columns; column++)
        for (unsigned row = 0; row < TW_NPU1_ROWS; row++)
            tw_array_counts(fw->array, column, row, &fw->before[column][row]);
}

static uint64_t most(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static void add_tile(struct tw_usage *u, unsigned row, const struct tw_tile_counts *before,
                     const struct tw_tile_counts *after)
{
    for (unsigned direction = 0; direction < 2; direction++)
        for (unsigned c = 0; c < TW_DMA_CHANNELS_MAX; c++)
            u->channel_words = most(u->channel_words, after->words[direction][c] - before->words[direction][c]);
    u->core_cycles = most(u->core_cycles, after->bundles + after->bank_stalls - before->bundles - before->bank_stalls);
    if (tw_tile_kind(row) != TW_TILE_SHIM)
        return;
    u->read_bytes += WORD_BYTES * (after->words_out - before->words_out);
    u->write_bytes += WORD_BYTES * (after->words_in - before->words_in);
}

/* Cycles that the DDR takes at least for its bytes. */
static uint64_t ddr_cycles(const struct tw_usage *u)
{
    uint64_t one_way = most(u->read_bytes / TW_DDR_READ_BYTES, u->write_bytes / TW_DDR_WRITE_BYTES);
    return most(one_way, (u->read_bytes + u->write_bytes) / TW_DDR_BYTES);
}

static enum tw_bound bound(const struct tw_command_report *r)
{
    uint64_t control = r->cycles - r->launch_cycles - r->wait_cycles;
    uint64_t ddr = ddr_cycles(&r->usage), stream = r->usage.channel_words, core = r->usage.core_cycles;
    if (r->launch_cycles >= most(control, r->wait_cycles))
        return TW_BOUND_LAUNCH;
    if (control >= r->wait_cycles)
        return TW_BOUND_CONTROL;
    if (most(most(ddr, stream), core) < r->wait_cycles / 2)
        return TW_BOUND_LOCKS;
    if (core >= most(ddr, stream))
        return TW_BOUND_CORE;
    return ddr >= stream ? TW_BOUND_DDR : TW_BOUND_STREAM;
}

void tw_usage_end(const struct tw_firmware *fw, struct tw_command_report *report)
{
    struct tw_usage usage = {0};
    for (unsigned column = 0; column < fw->options.columns; column++)
        for (unsigned row = 0; row < TW_NPU1_ROWS; row++) {
            struct tw_tile_counts now;
            tw_array_counts(fw->array, column, row, &now);
            add_tile(&usage, row, &fw->before[column][row], &now);
        }
    report->usage = usage;
    report->bound = bound(report);
}
