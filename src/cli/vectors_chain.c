/*
 * Chains of conversion intrinsics of the public compiler: each is one instruction; its last numbers are a shift and a
 * sign. The result of one is the input of the next.
 */
#include "cli/vectors.h"

#include "isa/isa.h"

#include <string.h>

#define N(array) (sizeof(array) / sizeof((array)[0]))

static const struct intrinsic {
    const char *name;
    uint16_t instruction;
    const char *sign_register; /* the last argument; NULL: there is none */
    int has_shift;             /* the argument before it */
} intrinsics[] = {
    {"v16bf16.to.v16accfloat", TW_I_VCONV_FP32_BF16, NULL, 0},
    {"v16accfloat.to.v16bf16", TW_I_VCONV_BF16_FP32, NULL, 0},
    {"acc32.v16.I256.ups", TW_I_VUPS_S32_D16_mv_ups_w2b, "crUPSSign", 1},
    {"acc32.v32.I256.ups", TW_I_VUPS_S32_D8_mv_ups_w2c, "crUPSSign", 1},
    {"acc64.v8.I256.ups", TW_I_VUPS_S64_D32_mv_ups_w2b, "crUPSSign", 1},
    {"acc64.v16.I256.ups", TW_I_VUPS_S64_D16_mv_ups_w2c, "crUPSSign", 1},
    {"acc32.v32.I512.ups", TW_I_VUPS_S32_D16_mv_ups_x2c, "crUPSSign", 1},
    {"acc64.v16.I512.ups", TW_I_VUPS_S64_D32_mv_ups_x2c, "crUPSSign", 1},
    {"I256.v16.acc32.srs", TW_I_VSRS_D16_S32_mv_w_srs, "crSRSSign", 1},
    {"I256.v32.acc32.srs", TW_I_VSRS_D8_S32_mv_w_srs, "crSRSSign", 1},
    {"I256.v8.acc64.srs", TW_I_VSRS_D32_S64_mv_w_srs, "crSRSSign", 1},
    {"I256.v16.acc64.srs", TW_I_VSRS_D16_S64_mv_w_srs, "crSRSSign", 1},
    {"I512.v32.acc32.srs", TW_I_VSRS_D16_S32_mv_x_srs, "crSRSSign", 1},
    {"I512.v16.acc64.srs", TW_I_VSRS_D32_S64_mv_x_srs, "crSRSSign", 1},
    {"unpack.I16.I8", TW_I_VUNPACK_D16_D8, "crUnpackSign", 0},
    {"unpack.I8.I4", TW_I_VUNPACK_D8_D4, "crUnpackSign", 0},
    {"pack.I8.I16", TW_I_VPACK_D8_D16, "crPackSign", 0},
    {"pack.I4.I8", TW_I_VPACK_D4_D8, "crPackSign", 0},
};

static const struct intrinsic *find_intrinsic(struct tw_field call)
{
    for (size_t i = 0; i < N(intrinsics); i++) {
        size_t size = strlen(intrinsics[i].name);
        if (call.size > size && memcmp(call.text, intrinsics[i].name, size) == 0 && call.text[size] == '(')
            return &intrinsics[i];
    }
    return NULL;
}

/* The last numbers of "name(<...> %v, i32 N, i32 M)": numbers[0] is the very last. */
static void last_numbers(struct tw_field call, uint32_t numbers[2])
{
    size_t at = call.size;
    for (unsigned i = 0; i < 2; i++) {
        uint32_t number = 0, scale = 1;
        while (at > 0 && (call.text[at - 1] < '0' || call.text[at - 1] > '9'))
            at--;
        while (at > 0 && call.text[at - 1] >= '0' && call.text[at - 1] <= '9') {
            number += scale * (uint32_t)(call.text[--at] - '0');
            scale *= 10;
        }
        numbers[i] = number;
        while (at > 0 && call.text[at - 1] != ',')
            at--;
    }
}

/* Runs one call on cell; returns why it could not, or NULL. */
static const char *run_call(const struct tw_vectors *vectors, struct tw_field call, unsigned char cell[TW_CELL_BYTES])
{
    const struct intrinsic *intrinsic = find_intrinsic(call);
    uint32_t numbers[2];
    struct tw_instruction_call c;
    if (intrinsic == NULL)
        return "an intrinsic that is not known";
    last_numbers(call, numbers);
    const char *sign = intrinsic->sign_register;
    const struct tw_named_value values[] = {{"src", cell, TW_CELL_BYTES},
                                            {intrinsic->has_shift ? "shft" : "", &numbers[1], 4},
                                            {sign != NULL ? sign : "", &numbers[0], 4}};
    tw_instruction_call(vectors, intrinsic->instruction, values, N(values), &c);
    if (c.unknown == NULL)
        memcpy(cell, c.result, TW_CELL_BYTES);
    return c.unknown;
}

/* The calls of a chain stand between semicolons. */
static const char *run_chain(const struct tw_vectors *vectors, struct tw_field chain, unsigned char cell[TW_CELL_BYTES])
{
    const char *unknown = NULL;
    while (chain.size > 0 && unknown == NULL) {
        const char *stop = memchr(chain.text, ';', chain.size);
        struct tw_field call = {chain.text, stop != NULL ? (size_t)(stop - chain.text) : chain.size};
        size_t used = call.size + (stop != NULL);
        chain = (struct tw_field){chain.text + used, chain.size - used};
        while (call.size > 0 && call.text[0] == ' ')
            call = (struct tw_field){call.text + 1, call.size - 1};
        unknown = run_call(vectors, call, cell);
    }
    return unknown;
}

int tw_vectors_chain(const struct tw_vectors *vectors, const struct tw_table *table, struct tw_vectors_report *report,
                     struct tw_error *err)
{
    unsigned id, intrinsics_column, in, out;
    const struct tw_wanted_column wanted[] = {
        {&id, "id"}, {&intrinsics_column, "intrinsics"}, {&in, "in"}, {&out, "out"}};
    int code = tw_vectors_columns(table, wanted, N(wanted), err);
    for (size_t row = 0; code == TW_OK && row < table->n_rows; row++) {
        struct tw_field name = tw_table_field(table, row, id);
        unsigned char cell[TW_CELL_BYTES] = {0}, expected[TW_CELL_BYTES];
        int size = tw_field_bytes(tw_table_field(table, row, out), expected, sizeof expected);
        if (size <= 0 || tw_field_bytes(tw_table_field(table, row, in), cell, sizeof cell) <= 0) {
            tw_report_fail(report, name, "bytes", "a case that cannot be read");
            continue;
        }
        const char *unknown = run_chain(vectors, tw_table_field(table, row, intrinsics_column), cell);
        if (unknown != NULL)
            tw_report_fail(report, name, "a result", unknown);
        else
            tw_report_lanes(report, name, 8, (unsigned)size, expected, cell);
    }
    return code;
}
