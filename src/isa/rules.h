/*
 * What the AIE2 core's documentation and AMD's compiled programs say about all instructions alike: distances,
 * alignments and addresses. What belongs to single instructions is in aie2.schedule.
 *
 * A distance counts issued bundles: 1 is the next bundle, 0 the same one, negative numbers lie before. Stalls freeze
 * the whole core and do not count.
 */
#ifndef TW_ISA_RULES_H
#define TW_ISA_RULES_H

enum tw_rule {
    /* Program memory. Addresses are bytes; a bundle starts at any even address and may cross a fetch line. */
    TW_PROGRAM_BYTES = 16384,
    TW_FETCH_BYTES = 16,

    /* Branches. The bundles after a branch execute whether or not it is taken. They may hold no branch: what happens
     * then is not known. Targets, the return address behind the delay slots, loop starts and loop ends are aligned. */
    TW_DELAY_SLOTS = 5,
    TW_TARGET_ALIGN = 16,
    TW_LINK_CYCLE = 4, /* jl writes lr */

    /* Zero-overhead loop. LE is the address of the last bundle of the body, which has this size and alignment. From the
     * last bundle that writes LC, LS or LE to LE there are at least so many bytes of program (AMD's compiled programs
     * go down to the second number). One level only. */
    TW_LOOP_END_BYTES = 16,
    TW_LOOP_SETUP_BYTES = 112,
    TW_LOOP_SETUP_BYTES_SEEN = 102,
    /* A store of 8 or 16 bits in the bundle at LE is lost when the body is no longer than this. */
    TW_LOOP_PART_WORD_BYTES = 96,

    /* Locks. A memory access before acq or rel must be over in the first of these cycles of the lock; one after it must
     * begin after the second (both are AMD's conservative numbers). */
    TW_LOCK_CYCLE_BEFORE = 2,
    TW_LOCK_CYCLE_AFTER = 8,
    TW_LOCK_VALUE_MIN = -64,
    TW_LOCK_VALUE_MAX = 63,
    TW_LOCKS_PER_TILE = 16,
    TW_LOCK_SOUTH = 0, /* first lock number of each memory, as acq and rel see them */
    TW_LOCK_WEST = 16,
    TW_LOCK_NORTH = 32,
    TW_LOCK_OWN = 48,

    /* Bundles between the last memory access and done. */
    TW_DONE_DISTANCE = 6,

    /* Data memory as the core sees it. Two accesses of one cycle to one bank stall the core for a cycle. */
    TW_DATA_SOUTH = 0x40000,
    TW_DATA_WEST = 0x50000,
    TW_DATA_NORTH = 0x60000,
    TW_DATA_OWN = 0x70000,
    TW_DATA_BYTES = 0x10000,
    TW_DATA_BANKS = 8, /* interleaved in pairs */
    TW_DATA_BANK_BYTES = 8192,
    TW_ADDRESS_BITS = 20
};

/* Least distance from a writer to a reader that shall see the value. same_bypass: both operands have the same bypass,
 * and it is not TW_BYPASS_NONE. A reader that comes sooner gets the old value. */
static inline int tw_distance_raw(int write_cycle, int read_cycle, int same_bypass)
{
    return write_cycle - read_cycle + 1 - same_bypass;
}

/* Least distance from a reader to a writer whose value it shall not see. */
static inline int tw_distance_war(int read_cycle, int write_cycle, int same_bypass)
{
    return read_cycle - write_cycle + same_bypass;
}

/* Least distance between two writers of a register, so that the second one's value stays. */
static inline int tw_distance_waw(int first_cycle, int second_cycle)
{
    return first_cycle - second_cycle + 1;
}

/* Least distance between two memory accesses that may touch the same place, unless both only load. */
static inline int tw_distance_memory(int first_last_cycle, int second_first_cycle)
{
    return first_last_cycle - second_first_cycle + 1;
}

/* Least distance from a memory access to a lock operation, and from a lock operation to a memory access. */
static inline int tw_distance_to_lock(int memory_last_cycle)
{
    return memory_last_cycle - TW_LOCK_CYCLE_BEFORE + 1;
}

static inline int tw_distance_from_lock(int memory_first_cycle)
{
    return TW_LOCK_CYCLE_AFTER - memory_first_cycle + 1;
}

#endif
