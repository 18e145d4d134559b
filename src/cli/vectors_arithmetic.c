/* Recorded matrix products and shuffles. */
#include "cli/vectors.h"

#include "base/little_endian.h"
#include "isa/isa.h"

#define N(array) (sizeof(array) / sizeof((array)[0]))
#define MODE_BF16_4X8X4 28u /* configuration words: mode in bits 7:1, both factors signed */
#define MODE_INT8_4X8X8 8u
#define MODE_INT16_4X2X8 24u
#define BOTH_SIGNED 0x300u

static const char malformed[] = "a case that cannot be read";

static void multiply(const struct tw_vectors *vectors, uint16_t instruction, uint32_t word, const unsigned char a[64],
                     const unsigned char b[64], struct tw_instruction_call *call)
{
    const struct tw_named_value values[] = {{"s1", a, 64}, {"s2", b, 64}, {"c", &word, sizeof word}};
    tw_instruction_call(vectors, instruction, values, N(values), call);
}

int tw_vectors_bf16_mac(const struct tw_vectors *vectors, const struct tw_table *table,
                        struct tw_vectors_report *report, struct tw_error *err)
{
    unsigned id, a, b, c;
    const struct tw_wanted_column wanted[] = {{&id, "id"}, {&a, "a"}, {&b, "b"}, {&c, "c_silicon"}};
    int code = tw_vectors_columns(table, wanted, N(wanted), err);
    for (size_t row = 0; code == TW_OK && row < table->n_rows; row++) {
        unsigned char factor1[64], factor2[64], expected[64];
        struct tw_instruction_call call;
        if (tw_field_lanes(tw_table_field(table, row, a), 4, factor1, 64) != 32 ||
            tw_field_lanes(tw_table_field(table, row, b), 4, factor2, 64) != 32 ||
            tw_field_lanes(tw_table_field(table, row, c), 8, expected, 64) != 16) {
            tw_report_fail(report, tw_table_field(table, row, id), "three matrices", malformed);
            continue;
        }
        multiply(vectors, TW_I_VMUL_F_vmac_bm_core_dense, MODE_BF16_4X8X4, factor1, factor2, &call);
        tw_report_float_lanes(report, tw_table_field(table, row, id), 32, 16, expected, call.result);
    }
    return code;
}

static const struct integer_shape {
    const char *name;
    uint32_t mode;
    unsigned digits; /* of a factor's element */
    int elements_a, elements_b;
} integer_shapes[] = {
    {"4x8x8", MODE_INT8_4X8X8, 2, 32, 64},
    {"4x2x8", MODE_INT16_4X2X8, 4, 8, 16},
};

static const struct integer_shape *find_shape(struct tw_field name)
{
    for (size_t i = 0; i < N(integer_shapes); i++)
        if (tw_field_is(name, integer_shapes[i].name))
            return &integer_shapes[i];
    return NULL;
}

int tw_vectors_int_mac(const struct tw_vectors *vectors, const struct tw_table *table, struct tw_vectors_report *report,
                       struct tw_error *err)
{
    unsigned id, shape, a, b, c;
    const struct tw_wanted_column wanted[] = {{&id, "id"}, {&shape, "shape"}, {&a, "a"}, {&b, "b"}, {&c, "c"}};
    int code = tw_vectors_columns(table, wanted, N(wanted), err);
    for (size_t row = 0; code == TW_OK && row < table->n_rows; row++) {
        unsigned char factor1[64] = {0}, factor2[64] = {0}, expected[128];
        struct tw_instruction_call call;
        const struct integer_shape *s = find_shape(tw_table_field(table, row, shape));
        if (s == NULL) {
            tw_report_fail(report, tw_table_field(table, row, id), "a product", "a matrix shape that is not known");
            continue;
        }
        if (tw_field_lanes(tw_table_field(table, row, a), s->digits, factor1, 64) != s->elements_a ||
            tw_field_lanes(tw_table_field(table, row, b), s->digits, factor2, 64) != s->elements_b ||
            tw_field_lanes(tw_table_field(table, row, c), 8, expected, 128) != 32) {
            tw_report_fail(report, tw_table_field(table, row, id), "three matrices", malformed);
            continue;
        }
        multiply(vectors, TW_I_VMUL_vmac_cm_core_dense, s->mode | BOTH_SIGNED, factor1, factor2, &call);
        tw_report_lanes(report, tw_table_field(table, row, id), 32, 32, expected, call.result);
    }
    return code;
}

/* Inputs are bytes 0 .. 63 and 64 .. 127, so that a result byte says where it came from. */
int tw_vectors_shuffle(const struct tw_vectors *vectors, const struct tw_table *table, struct tw_vectors_report *report,
                       struct tw_error *err)
{
    unsigned id, mode, out;
    unsigned char a[64], b[64];
    const struct tw_wanted_column wanted[] = {{&id, "id"}, {&mode, "mode"}, {&out, "out"}};
    int code = tw_vectors_columns(table, wanted, N(wanted), err);
    for (unsigned i = 0; i < 64; i++) {
        a[i] = (unsigned char)i;
        b[i] = (unsigned char)(64 + i);
    }
    for (size_t row = 0; code == TW_OK && row < table->n_rows; row++) {
        struct tw_field name = tw_table_field(table, row, id);
        unsigned char expected[64];
        struct tw_instruction_call call;
        int64_t number;
        if (!tw_field_decimal(tw_table_field(table, row, mode), &number) ||
            tw_field_bytes(tw_table_field(table, row, out), expected, 64) != 64) {
            tw_report_fail(report, name, "a mode and 64 bytes", malformed);
            continue;
        }
        uint32_t mod = (uint32_t)number;
        const struct tw_named_value values[] = {{"s1", a, 64}, {"s2", b, 64}, {"mod", &mod, sizeof mod}};
        tw_instruction_call(vectors, TW_I_VSHUFFLE, values, N(values), &call);
        if (call.unknown != NULL)
            tw_report_fail(report, name, "a shuffle", call.unknown);
        else
            tw_report_lanes(report, name, 8, 64, expected, call.result);
    }
    return code;
}
