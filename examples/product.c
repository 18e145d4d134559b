/* One matrix product with a bias: product --device emu (or npu). Without a device: the processor computes it. */
#include <stdio.h>
#include <string.h>
#include <tilewright.h>

enum { M = 100, K = 200, N = 150 };
static float a[M * K], b[K * N], bias[N], c[M * N];

int main(int argc, char **argv)
{
    const char *where = argc == 3 ? argv[2] : "processor";
    struct tw_device_options options = {.kind = strcmp(where, "npu") == 0 ? TW_DEVICE_NPU : TW_DEVICE_EMU};
    struct tw_product product = {.m = M, .k = K, .n = N, .a = a, .b = b, .c = c, .bias = bias};
    struct tw_device *npu = NULL;
    struct tw_engine *engine;
    struct tw_engine_counts counts;
    struct tw_error err;
    int wrong = 0;
    for (int i = 0; i < M * K; i++)
        a[i] = (float)(i % 11 - 5); /* whole numbers: bf16 holds them, and the result is exact */
    for (int i = 0; i < K * N; i++)
        b[i] = (float)(i % 13 - 6);
    for (int i = 0; i < N; i++)
        bias[i] = (float)i;
    if ((strcmp(where, "processor") != 0 && tw_device_open(&options, &npu, &err) < 0) ||
        tw_engine_open(npu, NULL, &engine, &err) < 0 || tw_product_run(engine, &product, &err) < 0) {
        fprintf(stderr, "%s: %s\n", tw_code_name(err.code), err.text);
        return 1;
    }
    for (int i = 0; i < M * N; i++) {
        float sum = bias[i % N];
        for (int k = 0; k < K; k++)
            sum += a[i / N * K + k] * b[k * N + i % N];
        wrong += c[i] != sum;
    }
    tw_engine_counts(engine, &counts);
    printf("%s: %d of %d numbers are wrong; launches on the NPU: %d\n", where, wrong, M * N, (int)counts.launches);
    return tw_engine_close(engine), tw_device_close(npu), wrong != 0;
}
