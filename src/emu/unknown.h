/*
 * What only silicon can settle. Each point that public sources leave open is a named switch here, with the choice that
 * the emulator makes unless told otherwise; nothing else in the emulator guesses.
 */
#ifndef TW_EMU_UNKNOWN_H
#define TW_EMU_UNKNOWN_H

struct tw_unknown {
    int denormals_are_zero;       /* bf16 multiply-accumulate inputs: 0 keeps their mantissa; both fit the recordings */
    int loop_count_zero_skips;    /* LC = 0 at the end of a loop body: 0 the body has run once and goes on; 1 wraps */
    int misaligned_is_an_error;   /* 0: low address bits are ignored (strict mode: always an error) */
    int address_sign_extends;     /* a 20-bit register read into r: 0 zero-extends */
    int cond_lock_when_zero;      /* acq.cond, rel.cond act when r26 is: 0 not zero; 1 zero */
    int subtract_carry_is_borrow; /* carry after sub, sbc: 0 no-borrow; 1 borrow (so sbc in recordings after a reset) */
    int loop_end_loses_part_words; /* st.s8, st.s16 at the end of a short hardware loop: 0 are done; 1 are lost
                                      (reported) */

    /* array */
    int queue_holds_running; /* a DMA channel's queue of four: 0 beside the task that runs; 1 together with it */

    /* firmware */
    int load_keeps_array;      /* a PDI loaded in place of another: 0 the array is reset first */
    int launch_releases_reset; /* cores whose reset the PDI leaves asserted: 0 stay there; 1 a command releases them */
    int busy_queues_wait;      /* tasks for a channel that has some: 0 every 520 cycles; 1 as for an idle channel */
    int patch_when_host_patched; /* START_NPU: address patches in the control code: 0 are passed over; 1 are done too */
};

extern const struct tw_unknown tw_unknown_defaults;

#endif
