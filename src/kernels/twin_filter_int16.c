#include "kernels/twin_filter_int16.h"

/* value / 2^shift, rounded down. */
static int64_t shift_down(int64_t value, unsigned shift)
{
    int64_t unit = (int64_t)1 << shift;
    return value >= 0 ? value / unit : -((-value + unit - 1) / unit);
}

void tw_twin_filter_int16(const int16_t *in, const int16_t taps[TW_FILTER_TAPS], int16_t *out, uint32_t blocks,
                          unsigned shift)
{
    int64_t half = shift == 0 ? 0 : (int64_t)1 << (shift - 1);

    for (uint32_t i = 0; i < blocks * TW_FILTER_BLOCK; i++) {
        int64_t sum = half;
        for (unsigned t = 0; t < TW_FILTER_TAPS; t++)
            sum += (int64_t)taps[t] * in[i + t];
        int64_t result = shift_down(sum, shift);
        out[i] = (int16_t)(result > INT16_MAX ? INT16_MAX : result < INT16_MIN ? INT16_MIN : result);
    }
}
