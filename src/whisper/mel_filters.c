#include "whisper/model.h"

#include <math.h>

#define BINS 201
#define BIN_HZ 40.0 /* 16 kHz over 400 points */

/* Slaney's scale: straight up to 1 kHz (15 mels), from there a factor of 6.4 every 27 mels. */
#define KNEE_HZ 1000.0
#define KNEE_MEL 15.0
#define HZ_PER_MEL (KNEE_HZ / KNEE_MEL)

#define TOP_HZ 8000.0

static double hz_of(double mel)
{
    return mel < KNEE_MEL ? mel * HZ_PER_MEL : KNEE_HZ * exp((mel - KNEE_MEL) * (log(6.4) / 27));
}

/* Edge i of the n_mels + 2 that divide the range from 0 Hz to TOP_HZ into equal steps of mel. */
static double edge(int i, int n_mels)
{
    double top = KNEE_MEL + log(TOP_HZ / KNEE_HZ) / (log(6.4) / 27);
    return hz_of(i == n_mels + 1 ? top : top / (n_mels + 1) * i);
}

void tw_mel_filters(int n_mels, float *dst)
{
    for (int m = 0; m < n_mels; m++) {
        double low = edge(m, n_mels), centre = edge(m + 1, n_mels), high = edge(m + 2, n_mels);
        double area = 2 / (high - low);
        for (int k = 0; k < BINS; k++) {
            double hz = BIN_HZ * k;
            double height = fmax(0, fmin((hz - low) / (centre - low), (high - hz) / (high - centre)));
            /* The published arrays were rounded to float once before the scaling by area and once after. */
            dst[m * BINS + k] = (float)((float)height * area);
        }
    }
}
