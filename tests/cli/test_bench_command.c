/* `tilewright bench whisper` with small random models: which operations it finds, and how figures add up. */
#include "cli/program.h"
#include "whisper/synthetic.h"

#include <jansson.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define RUN(f, ...) program_run(f, caught, (const char *const[]){"bench", __VA_ARGS__, NULL})

static const struct streams caught = {NULL, NULL};

/* A model with so many layers in encoder and decoder; path gets its name. */
static void put_model(const struct folder *f, int32_t layers, char path[2 * FOLDER_PATH])
{
    struct synthetic_options options = synthetic_smallest();
    struct bytes model = {0};
    options.sizes.n_audio_layer = options.sizes.n_text_layer = layers;
    synthetic_ggml(&options, &model);
    folder_put(f, "model.bin", model.data, model.size);
    folder_path(f, "model.bin", path);
    bytes_free(&model);
}

static json_t *figures(const struct folder *f, int32_t layers, const char *device)
{
    char path[2 * FOLDER_PATH];
    put_model(f, layers, path);
    struct finished r = RUN(f, "whisper", "-m", path, "--json", "--device", device);
    assert_int_equal(r.code, 0);
    assert_string_equal(r.err, "");
    json_t *root = json_loads(r.out, JSON_REJECT_DUPLICATES, NULL);
    assert_non_null(root);
    program_release(&r);
    return root;
}

static double real_at(const json_t *object, const char *key)
{
    return json_number_value(json_object_get(object, key));
}

static const char *text_at(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text != NULL ? text : "";
}

/* How often a line's operations come in one window of the whole model. */
static double times(const json_t *root, const json_t *line)
{
    const char *part = text_at(line, "part");
    if (strcmp(part, "layer") == 0)
        return (real_at(root, "layers") - 1) / (real_at(root, "layers_run") - 1);
    return strcmp(part, "caches") == 0 ? real_at(root, "decoder_layers") / real_at(root, "decoder_layers_run") : 1;
}

static double count_operations(const json_t *root, const char *who)
{
    double sum = 0;
    size_t i;
    json_t *line;
    json_array_foreach(json_object_get(root, who), i, line)
    {
        sum += times(root, line) * real_at(line, "operations");
    }
    return sum;
}

static void assert_host_adds_up(const json_t *root)
{
    double sum = 0;
    size_t i;
    json_t *line;
    json_array_foreach(json_object_get(root, "cpu"), i, line)
    {
        assert_true(real_at(line, "us_measured") > 0);
        sum += times(root, line) * real_at(line, "us_measured") / 1e3;
    }
    assert_true(fabs(sum - real_at(json_object_get(root, "milliseconds"), "cpu")) < 1e-3 * sum);
}

/* Two convolutions of two operations and the positions; 9 operations a layer; the last norm; 2 caches a layer. */
static double operations_of(int layers)
{
    return 5 + 9 * layers + 1 + 2 * layers;
}

static void cpu_does_all(void **state)
{
    json_t *root = figures(*state, 2, "cpu");
    const json_t *ms = json_object_get(root, "milliseconds");
    assert_int_equal(json_array_size(json_object_get(root, "array")), 0);
    assert_true(real_at(root, "layers_run") == 2 && real_at(root, "decoder_layers_run") == 2);
    assert_true(count_operations(root, "cpu") == operations_of(2));
    assert_host_adds_up(root);
    assert_true(real_at(ms, "launches") == 0 && real_at(ms, "total_at_1600_mhz") == real_at(ms, "cpu"));
    json_decref(root);
}

/* The cycles of a layer's product; 0: it has none of that name. */
static double cycles_of(const json_t *root, const char *name, int layer)
{
    size_t i;
    json_t *line;
    json_array_foreach(json_object_get(root, "array"), i, line)
    {
        const char *part = layer == 0 ? "first layer" : "layer";
        if (strcmp(text_at(line, "name"), name) == 0 && strcmp(text_at(line, "part"), part) == 0 &&
            real_at(line, "layer") == layer)
            return real_at(line, "cycles");
    }
    return 0;
}

/* All products are on the array; equal ones of two layers have equal cycles, on which multiplying rests, but for the
 * first layer's scores. */
static void products_on_the_array(void **state)
{
    static const char *const names[] = {"attn q",        "attn k",   "attn v", "attention scores",
                                        "attention mix", "attn out", "mlp up", "mlp down"};
    json_t *root = figures(*state, 3, "emu");
    const json_t *ms = json_object_get(root, "milliseconds");
    /* two convolutions, eight products a layer (heads are one), and two of the caches of each */
    assert_true(count_operations(root, "array") == 2 + 3 * 8 + 3 * 2);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const double first = cycles_of(root, names[i], 0), second = cycles_of(root, names[i], 1);
        assert_true(first > 0 && second > 0);
        assert_true(fabs(cycles_of(root, names[i], 2) / second - 1) < 0.01);
        if (strcmp(names[i], "attention scores") == 0)
            assert_true(first > second);
        else
            assert_true(fabs(first / second - 1) < 0.01);
    }
    assert_host_adds_up(root);
    assert_in_range((int)real_at(ms, "launches"), 1, 4 * 3 + 4);
    double sum = real_at(ms, "array_at_1600_mhz") + real_at(ms, "dispatch") + real_at(ms, "cpu");
    assert_true(fabs(sum - real_at(ms, "total_at_1600_mhz")) < 1e-3 * sum);
    assert_true(fabs(real_at(ms, "array_at_1000_mhz") / real_at(ms, "array_at_1600_mhz") - 1.6) < 1e-3);
    json_decref(root);
}

/* Of many layers two are run, and of the decoder's caches four. */
static void layers_are_multiplied(void **state)
{
    json_t *root = figures(*state, 8, "cpu");
    assert_true(real_at(root, "layers_run") == 2 && real_at(root, "decoder_layers_run") == 4);
    assert_true(count_operations(root, "cpu") == operations_of(8));
    assert_host_adds_up(root);
    json_decref(root);
}

static void table(void **state)
{
    char path[2 * FOLDER_PATH];
    put_model(*state, 8, path);
    struct finished r = RUN(*state, "whisper", "-m", path, "--device=cpu");
    static const char *const shown[] = {"encoder of 8 layers",
                                        "2 of its 8 layers were run, and all but the first count 7 times",
                                        "4 decoder layers were run, and count 2 times",
                                        "the first layer\n",
                                        "each of the 7 other layers",
                                        "attn q",
                                        "layer_norm attn norm",
                                        "together"};
    assert_int_equal(r.code, 0);
    for (size_t i = 0; i < sizeof shown / sizeof shown[0]; i++)
        assert_non_null(strstr(r.out, shown[i]));
    program_release(&r);
}

static void assert_refused(struct finished r, int code, const char *part)
{
    assert_int_equal(r.code, code);
    assert_string_equal(r.out, "");
    assert_non_null(strstr(r.err, part));
    program_release(&r);
}

static void refusals(void **state)
{
    assert_refused(RUN(*state, "llama"), 2, "whisper");
    assert_refused(RUN(*state, "whisper", "--shape", "huge"), 2, "huge");
    assert_refused(RUN(*state, "whisper", "--shape=tiny", "-m", "base"), 2, "--shape");
    assert_refused(RUN(*state, "whisper", "--device", "tpu"), 1, "tpu");
    assert_refused(RUN(*state, "whisper", "-m", "/nowhere/model.bin"), 1, "/nowhere/model.bin");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(cpu_does_all, folder_set_up, folder_tear_down),
        cmocka_unit_test_setup_teardown(products_on_the_array, folder_set_up, folder_tear_down),
        cmocka_unit_test_setup_teardown(layers_are_multiplied, folder_set_up, folder_tear_down),
        cmocka_unit_test_setup_teardown(table, folder_set_up, folder_tear_down),
        cmocka_unit_test_setup_teardown(refusals, folder_set_up, folder_tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
