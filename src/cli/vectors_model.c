/*
 * Lanes of the maker's model: any width to any other. Where an instruction has these widths it is run; else its inner
 * function, which takes any.
 */
#include "cli/vectors.h"

#include "base/little_endian.h"
#include "emu/vector_kernels.h"
#include "isa/isa.h"

#include <stdalign.h>

#define N(array) (sizeof(array) / sizeof((array)[0]))

/* An instruction that turns lanes of `from` bits into lanes of `to`; its sign is that of a control register. */
struct lane_instruction {
    uint8_t from, to;
    uint16_t instruction;
};

static const struct lane_instruction srs_instructions[] = {
    {32, 8, TW_I_VSRS_D8_S32_mv_w_srs},
    {32, 16, TW_I_VSRS_D16_S32_mv_w_srs},
    {64, 16, TW_I_VSRS_D16_S64_mv_w_srs},
    {64, 32, TW_I_VSRS_D32_S64_mv_w_srs},
};
static const struct lane_instruction ups_instructions[] = {
    {8, 32, TW_I_VUPS_S32_D8_mv_ups_w2c},
    {16, 32, TW_I_VUPS_S32_D16_mv_ups_w2b},
    {16, 64, TW_I_VUPS_S64_D16_mv_ups_w2c},
    {32, 64, TW_I_VUPS_S64_D32_mv_ups_w2b},
};
static const struct lane_instruction pack_instructions[] = {
    {8, 4, TW_I_VPACK_D4_D8},
    {16, 8, TW_I_VPACK_D8_D16},
};

/* What the three tables differ in. */
struct model {
    const struct lane_instruction *instructions;
    size_t n;
    const char *sign_register;
    const char *from_column, *to_column; /* from_column NULL: 64 bits, or 32 where the value fits */
    int has_shift, has_rounding, has_symmetric, input_follows_sign;
};

/* One row's numbers. */
struct lane_case {
    int64_t value, from, to, shift, is_signed, saturate, symmetric, rounding, expected;
};

static int fits(int64_t value, unsigned bits, int is_signed)
{
    int64_t half = bits >= 64 ? INT64_MAX : INT64_C(1) << (bits - 1);
    if (bits >= 64)
        return 1;
    return is_signed ? value >= -half && value < half : value >= 0 && value < 2 * half;
}

static uint16_t find_instruction(const struct model *model, unsigned from, unsigned to)
{
    for (size_t i = 0; i < model->n; i++)
        if (model->instructions[i].from == from && model->instructions[i].to == to)
            return model->instructions[i].instruction;
    return TW_I_COUNT;
}

static void run_instruction(const struct tw_vectors *vectors, const struct model *model, uint16_t instruction,
                            const struct lane_case *c, const void *data, struct tw_instruction_call *call)
{
    const uint32_t saturation = (uint32_t)(c->saturate | c->symmetric << 1), rounding = (uint32_t)c->rounding;
    const uint32_t shift = (uint32_t)c->shift, is_signed = (uint32_t)c->is_signed;
    const struct tw_named_value values[] = {
        {"src", data, TW_CELL_BYTES},          {"crSat", &saturation, 4}, {"crRnd", &rounding, 4}, {"shft", &shift, 4},
        {model->sign_register, &is_signed, 4},
    };
    tw_instruction_call(vectors, instruction, values, N(values), call);
}

/* Widths that no instruction has exist for shift-round-saturate and packs only. */
static void run_function(const struct tw_vectors *vectors, const struct model *model, const struct lane_case *c,
                         const void *data, struct tw_instruction_call *call)
{
    alignas(64) unsigned char out[TW_CELL_BYTES] = {0};
    const struct tw_resize how = {.from = (uint8_t)c->from,
                                  .to = (uint8_t)c->to,
                                  .lanes = 1,
                                  .shift = (int8_t)c->shift,
                                  .rounding = (uint8_t)c->rounding,
                                  .saturate = (uint8_t)(c->saturate | c->symmetric << 1),
                                  .is_signed = (uint8_t)c->is_signed};
    if (model->has_shift)
        vectors->kernels->srs(&how, data, out);
    else
        vectors->kernels->pack(&how, data, out);
    call->unknown = NULL;
    tw_store_u64(call->result, tw_load_u64(out));
}

static void check_case(const struct tw_vectors *vectors, const struct model *model, struct tw_vectors_report *report,
                       struct tw_field id, struct lane_case *c)
{
    alignas(64) unsigned char data[TW_CELL_BYTES] = {0};
    struct tw_instruction_call call;
    if (model->from_column == NULL)
        c->from = c->to == 8 && fits(c->value, 32, 1) ? 32 : 64;
    if (!fits(c->value, (unsigned)c->from, model->input_follows_sign ? c->is_signed != 0 : 1)) {
        tw_report_skip(report, 1, "the value does not fit the lane's type");
        return;
    }
    tw_store_u64(data, (uint64_t)c->value);
    uint16_t instruction = find_instruction(model, (unsigned)c->from, (unsigned)c->to);
    if (instruction < TW_I_COUNT)
        run_instruction(vectors, model, instruction, c, data, &call);
    else if (model->input_follows_sign) /* upshifts */
        call.unknown = "no upshift has lanes of these widths";
    else
        run_function(vectors, model, c, data, &call);
    if (call.unknown != NULL) {
        tw_report_fail(report, id, "a result", call.unknown);
        return;
    }
    uint64_t mask = c->to == 64 ? ~UINT64_C(0) : (UINT64_C(1) << c->to) - 1;
    tw_report_number(report, id, (uint64_t)c->expected & mask, tw_load_u64(call.result) & mask);
}

static int is_sane(const struct lane_case *c)
{
    const uint64_t flags = (uint64_t)c->is_signed | (uint64_t)c->saturate | (uint64_t)c->symmetric;
    return c->from >= 4 && c->from <= 64 && c->to >= 4 && c->to <= 64 && c->shift >= 0 && c->shift < 32 && flags <= 1 &&
           c->rounding >= 0 && c->rounding < 16;
}

static int check_model(const struct tw_vectors *vectors, const struct model *model, const struct tw_table *table,
                       struct tw_vectors_report *report, struct tw_error *err)
{
    struct lane_case c = {.from = 64};
    unsigned id, at[9];
    const struct {
        const char *name;
        int64_t *value;
    } numbers[9] = {
        {"value", &c.value},
        {"expected", &c.expected},
        {"signed", &c.is_signed},
        {"sat", &c.saturate},
        {model->to_column, &c.to},
        {model->from_column, &c.from},
        {model->has_shift ? "shift" : NULL, &c.shift},
        {model->has_rounding ? "rnd" : NULL, &c.rounding},
        {model->has_symmetric ? "symsat" : NULL, &c.symmetric},
    };
    int code = tw_table_column(table, "id", &id, err);
    for (unsigned i = 0; i < N(numbers) && code == TW_OK; i++)
        code = numbers[i].name != NULL ? tw_table_column(table, numbers[i].name, &at[i], err) : TW_OK;
    for (size_t row = 0; code == TW_OK && row < table->n_rows; row++) {
        int read = 1;
        for (unsigned i = 0; i < N(numbers); i++)
            if (numbers[i].name != NULL)
                read &= tw_field_decimal(tw_table_field(table, row, at[i]), numbers[i].value);
        if (read && is_sane(&c))
            check_case(vectors, model, report, tw_table_field(table, row, id), &c);
        else
            tw_report_fail(report, tw_table_field(table, row, id), "numbers", "a case that cannot be read");
    }
    return code;
}

int tw_vectors_model_srs(const struct tw_vectors *vectors, const struct tw_table *table,
                         struct tw_vectors_report *report, struct tw_error *err)
{
    static const struct model model = {srs_instructions, N(srs_instructions), "crSRSSign", NULL, "bits_o", 1, 1, 1, 0};
    return check_model(vectors, &model, table, report, err);
}

int tw_vectors_model_ups(const struct tw_vectors *vectors, const struct tw_table *table,
                         struct tw_vectors_report *report, struct tw_error *err)
{
    static const struct model model = {
        ups_instructions, N(ups_instructions), "crUPSSign", "bits_in", "bits_out", 1, 0, 0, 1};
    return check_model(vectors, &model, table, report, err);
}

int tw_vectors_model_pack(const struct tw_vectors *vectors, const struct tw_table *table,
                          struct tw_vectors_report *report, struct tw_error *err)
{
    static const struct model model = {
        pack_instructions, N(pack_instructions), "crPackSign", "bits_i", "bits_o", 0, 0, 1, 0};
    return check_model(vectors, &model, table, report, err);
}
