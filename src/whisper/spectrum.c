#include "whisper/spectrum.h"

#include "whisper/mel.h"

#include <math.h>
#include <stdlib.h>

#define N TW_MEL_WINDOW
#define PI 3.14159265358979323846

/* Two real frames make one complex transform: one is its real, the other its imaginary part. */
#define LANES (TW_SPECTRUM_FRAMES / 2)

struct tw_spectrum {
    double window[N];
    double turn_re[N], turn_im[N]; /* e^(-2 pi i k / N) */
};

/* Point p of lane l is at [p * LANES + l]. */
struct points {
    double *restrict re;
    double *restrict im;
};

int tw_spectrum_create(struct tw_spectrum **spectrum, struct tw_error *err)
{
    struct tw_spectrum *s = malloc(sizeof *s);
    *spectrum = s;
    if (s == NULL)
        return tw_fail(err, TW_E_MEMORY, "no memory for the tables of the spectrum");
    for (int k = 0; k < N; k++) {
        double angle = 2.0 * PI * k / N;
        s->window[k] = 0.5 * (1.0 - cos(angle));
        s->turn_re[k] = cos(angle);
        s->turn_im[k] = -sin(angle);
    }
    return TW_OK;
}

void tw_spectrum_destroy(struct tw_spectrum *s)
{
    free(s);
}

size_t tw_spectrum_scratch_size(void)
{
    return (size_t)4 * N * LANES;
}

/*
 * One step of Stockham's transform: `length` points remain in each of `stride` interleaved transforms. Points p, p+m,
 * ... with m = length / radix are combined, turned by the p-th power of the root, and stored side by side.
 */
static void step4(const struct tw_spectrum *s, int length, int stride, struct points x, struct points y)
{
    int m = length / 4, row = stride * LANES, turns = N / length;
    for (int p = 0; p < m; p++) {
        int k = p * turns;
        double w1r = s->turn_re[k], w1i = s->turn_im[k];
        double w2r = s->turn_re[2 * k], w2i = s->turn_im[2 * k];
        double w3r = s->turn_re[3 * k], w3i = s->turn_im[3 * k];
        const double *ar = x.re + p * row, *br = ar + m * row, *cr = br + m * row, *dr = cr + m * row;
        const double *ai = x.im + p * row, *bi = ai + m * row, *ci = bi + m * row, *di = ci + m * row;
        double *yr = y.re + 4 * p * row, *yi = y.im + 4 * p * row;
        for (int q = 0; q < row; q++) {
            double sr = ar[q] + cr[q], si = ai[q] + ci[q], tr = ar[q] - cr[q], ti = ai[q] - ci[q];
            double ur = br[q] + dr[q], ui = bi[q] + di[q], vr = br[q] - dr[q], vi = bi[q] - di[q];
            double e1r = tr + vi, e1i = ti - vr; /* t - i v */
            double e2r = sr - ur, e2i = si - ui;
            double e3r = tr - vi, e3i = ti + vr;
            yr[q] = sr + ur;
            yi[q] = si + ui;
            yr[q + row] = e1r * w1r - e1i * w1i;
            yi[q + row] = e1r * w1i + e1i * w1r;
            yr[q + 2 * row] = e2r * w2r - e2i * w2i;
            yi[q + 2 * row] = e2r * w2i + e2i * w2r;
            yr[q + 3 * row] = e3r * w3r - e3i * w3i;
            yi[q + 3 * row] = e3r * w3i + e3i * w3r;
        }
    }
}

static void step5(const struct tw_spectrum *s, int length, int stride, struct points x, struct points y)
{
    /* Cosines and sines of 72 and 144 degrees. */
    const double c1 = s->turn_re[N / 5], s1 = -s->turn_im[N / 5], c2 = s->turn_re[2 * N / 5],
                 s2 = -s->turn_im[2 * N / 5];
    int m = length / 5, row = stride * LANES, turns = N / length;
    for (int p = 0; p < m; p++) {
        int k = p * turns;
        double w1r = s->turn_re[k], w1i = s->turn_im[k], w2r = s->turn_re[2 * k], w2i = s->turn_im[2 * k];
        double w3r = s->turn_re[3 * k], w3i = s->turn_im[3 * k], w4r = s->turn_re[4 * k], w4i = s->turn_im[4 * k];
        const double *ar = x.re + p * row, *br = ar + m * row, *cr = br + m * row, *dr = cr + m * row,
                     *er = dr + m * row;
        const double *ai = x.im + p * row, *bi = ai + m * row, *ci = bi + m * row, *di = ci + m * row,
                     *ei = di + m * row;
        double *yr = y.re + 5 * p * row, *yi = y.im + 5 * p * row;
        for (int q = 0; q < row; q++) {
            double ser = br[q] + er[q], sei = bi[q] + ei[q], der = br[q] - er[q], dei = bi[q] - ei[q];
            double scr = cr[q] + dr[q], sci = ci[q] + di[q], dcr = cr[q] - dr[q], dci = ci[q] - di[q];
            double g1r = ar[q] + c1 * ser + c2 * scr, g1i = ai[q] + c1 * sei + c2 * sci;
            double g2r = ar[q] + c2 * ser + c1 * scr, g2i = ai[q] + c2 * sei + c1 * sci;
            double h1r = s1 * dei + s2 * dci, h1i = s1 * der + s2 * dcr;
            double h2r = s2 * dei - s1 * dci, h2i = s2 * der - s1 * dcr;
            double f1r = g1r + h1r, f1i = g1i - h1i, f4r = g1r - h1r, f4i = g1i + h1i;
            double f2r = g2r + h2r, f2i = g2i - h2i, f3r = g2r - h2r, f3i = g2i + h2i;
            yr[q] = ar[q] + ser + scr;
            yi[q] = ai[q] + sei + sci;
            yr[q + row] = f1r * w1r - f1i * w1i;
            yi[q + row] = f1r * w1i + f1i * w1r;
            yr[q + 2 * row] = f2r * w2r - f2i * w2i;
            yi[q + 2 * row] = f2r * w2i + f2i * w2r;
            yr[q + 3 * row] = f3r * w3r - f3i * w3i;
            yi[q + 3 * row] = f3r * w3i + f3i * w3r;
            yr[q + 4 * row] = f4r * w4r - f4i * w4i;
            yi[q + 4 * row] = f4r * w4i + f4i * w4r;
        }
    }
}

/* Frames 2l and 2l + 1 become real and imaginary part of lane l. */
static void load(const struct tw_spectrum *s, const float *samples, int hop, struct points x)
{
    for (int l = 0; l < LANES; l++) {
        const float *even = samples + 2 * l * hop, *odd = even + hop;
        for (int i = 0; i < N; i++) {
            x.re[i * LANES + l] = s->window[i] * even[i];
            x.im[i * LANES + l] = s->window[i] * odd[i];
        }
    }
}

/* The even frame's spectrum is (Z(k) + conj Z(-k)) / 2, the odd frame's (Z(k) - conj Z(-k)) / 2i. */
static void separate(struct points z, double *power)
{
    for (int k = 0; k <= N / 2; k++) {
        const double *pr = z.re + k * LANES, *pi = z.im + k * LANES;
        const double *nr = z.re + (N - k) % N * LANES, *ni = z.im + (N - k) % N * LANES;
        double *out = power + k * TW_SPECTRUM_FRAMES;
        for (int l = 0; l < LANES; l++) {
            double er = pr[l] + nr[l], ei = pi[l] - ni[l];
            double or = pr[l] - nr[l], oi = pi[l] + ni[l];
            out[2 * l] = 0.25 * (er * er + ei * ei);
            out[2 * l + 1] = 0.25 * (or * or +oi * oi);
        }
    }
}

void tw_spectrum_power(const struct tw_spectrum *s, const float *samples, int hop, double *scratch, double *power)
{
    struct points a = {scratch, scratch + N * LANES};
    struct points b = {scratch + 2 * N * LANES, scratch + 3 * N * LANES};
    load(s, samples, hop, a);
    step4(s, 400, 1, a, b);
    step4(s, 100, 4, b, a);
    step5(s, 25, 16, a, b);
    step5(s, 5, 80, b, a);
    separate(a, power);
}
