/* Recorded conversions, one lane a row. */
#include "cli/vectors.h"

#include "base/little_endian.h"
#include "isa/isa.h"

#define N(array) (sizeof(array) / sizeof((array)[0]))

static const char malformed[] = "a case that cannot be read";

/* Runs a conversion with its data and at most three settings; unused ones are NULL. */
struct setting {
    const char *name;
    uint32_t value;
};

static void convert(const struct tw_vectors *vectors, uint16_t instruction, const void *data, uint8_t size,
                    const struct setting *settings, unsigned n, struct tw_instruction_call *call)
{
    struct tw_named_value values[4] = {{"src", data, size}};
    for (unsigned i = 0; i < n && i < 3; i++)
        values[i + 1] = (struct tw_named_value){settings[i].name, &settings[i].value, sizeof settings[i].value};
    tw_instruction_call(vectors, instruction, values, 1 + (n < 3 ? n : 3), call);
}

static void report_lane(struct tw_vectors_report *report, struct tw_field id, const struct tw_instruction_call *call,
                        unsigned bits, int is_float, uint64_t expected)
{
    unsigned char e[8];
    tw_store_u64(e, expected);
    if (call->unknown != NULL)
        tw_report_fail(report, id, "a result", call->unknown);
    else if (is_float)
        tw_report_float_lanes(report, id, bits, 1, e, call->result);
    else
        tw_report_lanes(report, id, bits, 1, e, call->result);
}

/* The tables of one input and one output pattern; settings are decimal columns. */
struct lane_table {
    uint16_t instruction;
    unsigned out_bits;
    int is_float;
    struct tw_wanted_column setting; /* a column, and */
    const char *setting_name;        /* what it sets; NULL: there is none */
};

static int check_lanes(const struct tw_vectors *vectors, const struct tw_table *table, struct tw_vectors_report *report,
                       const struct lane_table *how, struct tw_error *err)
{
    unsigned id, in, out, set = 0;
    const struct tw_wanted_column wanted[] = {{&id, "id"}, {&in, "in"}, {&out, "out"}, {&set, how->setting.name}};
    int code = tw_vectors_columns(table, wanted, how->setting_name != NULL ? 4 : 3, err);
    for (size_t row = 0; code == TW_OK && row < table->n_rows; row++) {
        struct tw_field name = tw_table_field(table, row, id);
        uint64_t input, expected;
        int64_t value = 0;
        unsigned char data[128] = {0};
        struct tw_instruction_call call;
        if (!tw_field_hex(tw_table_field(table, row, in), &input) ||
            !tw_field_hex(tw_table_field(table, row, out), &expected) ||
            (how->setting_name != NULL && !tw_field_decimal(tw_table_field(table, row, set), &value))) {
            tw_report_fail(report, name, "an input and an output", malformed);
            continue;
        }
        tw_store_u64(data, input);
        const struct setting setting = {how->setting_name, (uint32_t)value};
        convert(vectors, how->instruction, data, sizeof data, &setting, how->setting_name != NULL, &call);
        report_lane(report, name, &call, how->out_bits, how->is_float, expected);
    }
    return code;
}

int tw_vectors_fp32_to_bf16(const struct tw_vectors *vectors, const struct tw_table *table,
                            struct tw_vectors_report *report, struct tw_error *err)
{
    const struct lane_table how = {TW_I_VCONV_BF16_FP32, 16, 1, {NULL, "rnd"}, "crRnd"};
    return check_lanes(vectors, table, report, &how, err);
}

int tw_vectors_bf16_to_fp32(const struct tw_vectors *vectors, const struct tw_table *table,
                            struct tw_vectors_report *report, struct tw_error *err)
{
    const struct lane_table how = {TW_I_VCONV_FP32_BF16, 32, 1, {NULL, NULL}, NULL};
    return check_lanes(vectors, table, report, &how, err);
}

int tw_vectors_floor(const struct tw_vectors *vectors, const struct tw_table *table, struct tw_vectors_report *report,
                     struct tw_error *err)
{
    const struct lane_table how = {TW_I_VFLOOR_S32_BF16_mFl2FxSrc_W, 32, 0, {NULL, NULL}, NULL};
    return check_lanes(vectors, table, report, &how, err);
}

static const struct resize_kind {
    const char *name;
    uint16_t instruction;
    unsigned in_bits, out_bits; /* of the recorded numbers; inputs are extended to lanes of 64 bits */
    uint8_t has_shift;
} resizes[] = {
    {"srs_s16_s64", TW_I_VSRS_S16_S64_mv_w_srs, 32, 16, 1},
    {"ups_s32_s16", TW_I_VUPS_S32_S16_mv_ups_w2b, 16, 32, 1},
    {"pack_s8_s16", TW_I_VPACK_S8_S16, 16, 8, 0},
};

static const struct resize_kind *find_resize(struct tw_field name)
{
    for (size_t i = 0; i < N(resizes); i++)
        if (tw_field_is(name, resizes[i].name))
            return &resizes[i];
    return NULL;
}

int tw_vectors_resize(const struct tw_vectors *vectors, const struct tw_table *table, struct tw_vectors_report *report,
                      struct tw_error *err)
{
    unsigned id, op, rnd, sat, shift, in, out;
    const struct tw_wanted_column wanted[] = {{&id, "id"},       {&op, "op"}, {&rnd, "rnd"}, {&sat, "sat"},
                                              {&shift, "shift"}, {&in, "in"}, {&out, "out"}};
    int code = tw_vectors_columns(table, wanted, N(wanted), err);
    for (size_t row = 0; code == TW_OK && row < table->n_rows; row++) {
        struct tw_field name = tw_table_field(table, row, id);
        const struct resize_kind *kind = find_resize(tw_table_field(table, row, op));
        int64_t rounding = 0, saturation, amount = 0;
        uint64_t input, expected;
        unsigned char data[128] = {0};
        struct tw_instruction_call call;
        if (kind == NULL) {
            tw_report_fail(report, name, "a result", "an operation that is not known");
            continue;
        }
        struct tw_field rounds = tw_table_field(table, row, rnd); /* "-" where it does not matter */
        if ((!tw_field_is(rounds, "-") && !tw_field_decimal(rounds, &rounding)) ||
            !tw_field_decimal(tw_table_field(table, row, sat), &saturation) ||
            (kind->has_shift && !tw_field_decimal(tw_table_field(table, row, shift), &amount)) ||
            !tw_field_hex(tw_table_field(table, row, in), &input) ||
            !tw_field_hex(tw_table_field(table, row, out), &expected)) {
            tw_report_fail(report, name, "numbers", malformed);
            continue;
        }
        uint64_t sign = UINT64_C(1) << (kind->in_bits - 1);
        tw_store_u64(data, (input ^ sign) - sign);
        const struct setting settings[] = {
            {"crRnd", (uint32_t)rounding}, {"crSat", (uint32_t)saturation}, {"shft", (uint32_t)amount}};
        convert(vectors, kind->instruction, data, sizeof data, settings, N(settings), &call);
        report_lane(report, name, &call, kind->out_bits, 0, expected);
    }
    return code;
}
