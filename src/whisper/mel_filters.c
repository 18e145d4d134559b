#include "whisper/model.h"

#include <math.h>

#define BINS 201
#define BIN_HZ 40.0 /* 16 kHz over 400 points */
#define TOP_HZ 8000.0

/* Slaney's scale: straight up to 1 kHz (15 mels), from there a factor of 6.4 every 27 mels. */
#define KNEE_HZ 1000.0
#define KNEE_MEL 15.0
#define HZ_PER_MEL (KNEE_HZ / KNEE_MEL)

static double hz_of(double mel)
{
    return mel < KNEE_MEL ? mel * HZ_PER_MEL : KNEE_HZ * exp((mel - KNEE_MEL) * (log(6.4) / 27));
}

static double mel_of(double hz)
{
    return hz < KNEE_HZ ? hz / HZ_PER_MEL : KNEE_MEL + log(hz / KNEE_HZ) / (log(6.4) / 27);
}

void tw_mel_filters(int n_mels, float *dst)
{
    double step = mel_of(TOP_HZ) / (n_mels + 1);
    for (int m = 0; m < n_mels; m++) {
        double low = hz_of(step * m), centre = hz_of(step * (m + 1)), high = hz_of(step * (m + 2));
        double area = 2 / (high - low);
        for (int k = 0; k < BINS; k++) {
            double hz = BIN_HZ * k;
            double height = fmax(0, fmin((hz - low) / (centre - low), (high - hz) / (high - centre)));
            /* The published arrays were rounded to float once before the scaling by area and once after. */
            dst[m * BINS + k] = (float)((float)height * area);
        }
    }
}
