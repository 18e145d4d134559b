#include "npu1/buffer_descriptor.h"

#include "npu1/bits.h"
#include "npu1_registers.h"

#include <inttypes.h>

/* All that a descriptor says, as numbers: what lies in fields is one of these, for every kind of tile. */
enum value {
    LENGTH,
    ADDRESS_WORDS, /* tiles */
    ADDRESS_LOW,   /* shim: bits 31:2 in words */
    ADDRESS_HIGH,
    STEP0, /* in the order of dimensions */
    STEP1,
    STEP2,
    STEP3,
    WRAP0,
    WRAP1,
    WRAP2,
    WRAP3,
    BEFORE0,
    BEFORE1,
    BEFORE2,
    BEFORE3,
    AFTER0,
    AFTER1,
    AFTER2,
    AFTER3,
    ITERATION_STEP,
    ITERATION_COUNT,
    ITERATION_CURRENT,
    VALID,
    USE_NEXT,
    NEXT,
    PACKET_ENABLE,
    PACKET_ID,
    PACKET_TYPE,
    OUT_OF_ORDER_ID,
    TLAST_SUPPRESS,
    COMPRESSION,
    ACQUIRE_ENABLE,
    ACQUIRE_ID,
    ACQUIRE_VALUE,
    RELEASE_ID,
    RELEASE_VALUE,
    BURST,
    AX_CACHE,
    AX_QOS,
    SMID,
    SECURE,
    VALUES
};

static const char *const value_names[VALUES] = {
    [LENGTH] = "length",
    [ADDRESS_WORDS] = "address in words",
    [ADDRESS_LOW] = "low half of the address in words",
    [ADDRESS_HIGH] = "bits 47:32 of the address",
    [STEP0] = "step of dimension 0",
    [STEP1] = "step of dimension 1",
    [STEP2] = "step of dimension 2",
    [STEP3] = "step of dimension 3",
    [WRAP0] = "wrap of dimension 0",
    [WRAP1] = "wrap of dimension 1",
    [WRAP2] = "wrap of dimension 2",
    [WRAP3] = "wrap of dimension 3",
    [BEFORE0] = "padding before dimension 0",
    [BEFORE1] = "padding before dimension 1",
    [BEFORE2] = "padding before dimension 2",
    [BEFORE3] = "padding before dimension 3",
    [AFTER0] = "padding behind dimension 0",
    [AFTER1] = "padding behind dimension 1",
    [AFTER2] = "padding behind dimension 2",
    [AFTER3] = "padding behind dimension 3",
    [ITERATION_STEP] = "iteration step",
    [ITERATION_COUNT] = "iteration count",
    [ITERATION_CURRENT] = "current iteration",
    [VALID] = "valid flag",
    [USE_NEXT] = "use-next flag",
    [NEXT] = "next descriptor",
    [PACKET_ENABLE] = "packet flag",
    [PACKET_ID] = "packet id",
    [PACKET_TYPE] = "packet type",
    [OUT_OF_ORDER_ID] = "out-of-order id",
    [TLAST_SUPPRESS] = "TLAST-suppress flag",
    [COMPRESSION] = "compression flag",
    [ACQUIRE_ENABLE] = "acquire flag",
    [ACQUIRE_ID] = "lock to acquire",
    [ACQUIRE_VALUE] = "acquire value",
    [RELEASE_ID] = "lock to release",
    [RELEASE_VALUE] = "release value",
    [BURST] = "burst length",
    [AX_CACHE] = "AxCache",
    [AX_QOS] = "AxQoS",
    [SMID] = "SMID",
    [SECURE] = "secure flag",
};

enum form { AS_IT_IS, LESS_ONE, SIGNED };

/* Where a value lies. */
struct place {
    uint8_t value, word, form;
    int field;
};

#define CORE(value, word, form, field)                                                                                 \
    {                                                                                                                  \
        value, word, form, TW_FIELD_CORE_DMA_BD_##word##_##field                                                       \
    }
#define MEMORY(value, word, form, field)                                                                               \
    {                                                                                                                  \
        value, word, form, TW_FIELD_MEMORY_DMA_BD_##word##_##field                                                     \
    }
#define SHIM(value, word, form, field)                                                                                 \
    {                                                                                                                  \
        value, word, form, TW_FIELD_SHIM_DMA_BD_##word##_##field                                                       \
    }

static const struct place core_places[] = {
    CORE(LENGTH, 0, AS_IT_IS, BUFFER_LENGTH),
    CORE(ADDRESS_WORDS, 0, AS_IT_IS, BASE_ADDRESS),
    CORE(PACKET_TYPE, 1, AS_IT_IS, PACKET_TYPE),
    CORE(PACKET_ID, 1, AS_IT_IS, PACKET_ID),
    CORE(OUT_OF_ORDER_ID, 1, AS_IT_IS, OUT_OF_ORDER_BD_ID),
    CORE(PACKET_ENABLE, 1, AS_IT_IS, ENABLE_PACKET),
    CORE(COMPRESSION, 1, AS_IT_IS, ENABLE_COMPRESSION),
    CORE(STEP0, 2, LESS_ONE, D0_STEPSIZE),
    CORE(STEP1, 2, LESS_ONE, D1_STEPSIZE),
    CORE(STEP2, 3, LESS_ONE, D2_STEPSIZE),
    CORE(WRAP0, 3, AS_IT_IS, D0_WRAP),
    CORE(WRAP1, 3, AS_IT_IS, D1_WRAP),
    CORE(ITERATION_STEP, 4, LESS_ONE, ITERATION_STEPSIZE),
    CORE(ITERATION_COUNT, 4, LESS_ONE, ITERATION_WRAP),
    CORE(ITERATION_CURRENT, 4, AS_IT_IS, ITERATION_CURRENT),
    CORE(ACQUIRE_ID, 5, AS_IT_IS, LOCK_ACQ_ID),
    CORE(ACQUIRE_VALUE, 5, SIGNED, LOCK_ACQ_VALUE),
    CORE(ACQUIRE_ENABLE, 5, AS_IT_IS, LOCK_ACQ_ENABLE),
    CORE(RELEASE_ID, 5, AS_IT_IS, LOCK_REL_ID),
    CORE(RELEASE_VALUE, 5, SIGNED, LOCK_REL_VALUE),
    CORE(VALID, 5, AS_IT_IS, VALID_BD),
    CORE(USE_NEXT, 5, AS_IT_IS, USE_NEXT_BD),
    CORE(NEXT, 5, AS_IT_IS, NEXT_BD),
    CORE(TLAST_SUPPRESS, 5, AS_IT_IS, TLAST_SUPPRESS),
};

static const struct place memory_places[] = {
    MEMORY(LENGTH, 0, AS_IT_IS, BUFFER_LENGTH),
    MEMORY(OUT_OF_ORDER_ID, 0, AS_IT_IS, OUT_OF_ORDER_BD_ID),
    MEMORY(PACKET_ID, 0, AS_IT_IS, PACKET_ID),
    MEMORY(PACKET_TYPE, 0, AS_IT_IS, PACKET_TYPE),
    MEMORY(PACKET_ENABLE, 0, AS_IT_IS, ENABLE_PACKET),
    MEMORY(ADDRESS_WORDS, 1, AS_IT_IS, BASE_ADDRESS),
    MEMORY(USE_NEXT, 1, AS_IT_IS, USE_NEXT_BD),
    MEMORY(NEXT, 1, AS_IT_IS, NEXT_BD),
    MEMORY(BEFORE0, 1, AS_IT_IS, D0_ZERO_BEFORE),
    MEMORY(STEP0, 2, LESS_ONE, D0_STEPSIZE),
    MEMORY(WRAP0, 2, AS_IT_IS, D0_WRAP),
    MEMORY(TLAST_SUPPRESS, 2, AS_IT_IS, TLAST_SUPPRESS),
    MEMORY(STEP1, 3, LESS_ONE, D1_STEPSIZE),
    MEMORY(WRAP1, 3, AS_IT_IS, D1_WRAP),
    MEMORY(BEFORE1, 3, AS_IT_IS, D1_ZERO_BEFORE),
    MEMORY(STEP2, 4, LESS_ONE, D2_STEPSIZE),
    MEMORY(WRAP2, 4, AS_IT_IS, D2_WRAP),
    MEMORY(BEFORE2, 4, AS_IT_IS, D2_ZERO_BEFORE),
    MEMORY(COMPRESSION, 4, AS_IT_IS, ENABLE_COMPRESSION),
    MEMORY(STEP3, 5, LESS_ONE, D3_STEPSIZE),
    MEMORY(AFTER0, 5, AS_IT_IS, D0_ZERO_AFTER),
    MEMORY(AFTER1, 5, AS_IT_IS, D1_ZERO_AFTER),
    MEMORY(AFTER2, 5, AS_IT_IS, D2_ZERO_AFTER),
    MEMORY(ITERATION_STEP, 6, LESS_ONE, ITERATION_STEPSIZE),
    MEMORY(ITERATION_COUNT, 6, LESS_ONE, ITERATION_WRAP),
    MEMORY(ITERATION_CURRENT, 6, AS_IT_IS, ITERATION_CURRENT),
    MEMORY(ACQUIRE_ID, 7, AS_IT_IS, LOCK_ACQ_ID),
    MEMORY(ACQUIRE_VALUE, 7, SIGNED, LOCK_ACQ_VALUE),
    MEMORY(ACQUIRE_ENABLE, 7, AS_IT_IS, LOCK_ACQ_ENABLE),
    MEMORY(RELEASE_ID, 7, AS_IT_IS, LOCK_REL_ID),
    MEMORY(RELEASE_VALUE, 7, SIGNED, LOCK_REL_VALUE),
    MEMORY(VALID, 7, AS_IT_IS, VALID_BD),
};

static const struct place shim_places[] = {
    SHIM(LENGTH, 0, AS_IT_IS, BUFFER_LENGTH),
    SHIM(ADDRESS_LOW, 1, AS_IT_IS, BASE_ADDRESS_LOW),
    SHIM(ADDRESS_HIGH, 2, AS_IT_IS, BASE_ADDRESS_HIGH),
    SHIM(PACKET_TYPE, 2, AS_IT_IS, PACKET_TYPE),
    SHIM(PACKET_ID, 2, AS_IT_IS, PACKET_ID),
    SHIM(OUT_OF_ORDER_ID, 2, AS_IT_IS, OUT_OF_ORDER_BD_ID),
    SHIM(PACKET_ENABLE, 2, AS_IT_IS, ENABLE_PACKET),
    SHIM(STEP0, 3, LESS_ONE, D0_STEPSIZE),
    SHIM(WRAP0, 3, AS_IT_IS, D0_WRAP),
    SHIM(SECURE, 3, AS_IT_IS, SECURE_ACCESS),
    SHIM(STEP1, 4, LESS_ONE, D1_STEPSIZE),
    SHIM(WRAP1, 4, AS_IT_IS, D1_WRAP),
    SHIM(BURST, 4, AS_IT_IS, BURST_LENGTH),
    SHIM(STEP2, 5, LESS_ONE, D2_STEPSIZE),
    SHIM(AX_QOS, 5, AS_IT_IS, AXQOS),
    SHIM(AX_CACHE, 5, AS_IT_IS, AXCACHE),
    SHIM(SMID, 5, AS_IT_IS, SMID),
    SHIM(ITERATION_STEP, 6, LESS_ONE, ITERATION_STEPSIZE),
    SHIM(ITERATION_COUNT, 6, LESS_ONE, ITERATION_WRAP),
    SHIM(ITERATION_CURRENT, 6, AS_IT_IS, ITERATION_CURRENT),
    SHIM(ACQUIRE_ID, 7, AS_IT_IS, LOCK_ACQ_ID),
    SHIM(ACQUIRE_VALUE, 7, SIGNED, LOCK_ACQ_VALUE),
    SHIM(ACQUIRE_ENABLE, 7, AS_IT_IS, LOCK_ACQ_ENABLE),
    SHIM(RELEASE_ID, 7, AS_IT_IS, LOCK_REL_ID),
    SHIM(RELEASE_VALUE, 7, SIGNED, LOCK_REL_VALUE),
    SHIM(VALID, 7, AS_IT_IS, VALID_BD),
    SHIM(USE_NEXT, 7, AS_IT_IS, USE_NEXT_BD),
    SHIM(NEXT, 7, AS_IT_IS, NEXT_BD),
    SHIM(TLAST_SUPPRESS, 7, AS_IT_IS, TLAST_SUPPRESS),
};

#define PLACES(places) places, sizeof places / sizeof places[0]

static const struct kind {
    const char *name;
    uint32_t offset, step;
    unsigned count, words, dimensions;
    const struct place *places;
    size_t n_places;
} kinds[TW_TILE_KINDS] = {
    [TW_TILE_SHIM] = {"shim", TW_REG_SHIM_DMA_BD_0, TW_REG_SHIM_DMA_BD_0_STEP, 16, 8, 3, PLACES(shim_places)},
    [TW_TILE_MEMORY] = {"memory tile", TW_REG_MEMORY_DMA_BD_0, TW_REG_MEMORY_DMA_BD_0_STEP, 48, 8, 4,
                        PLACES(memory_places)},
    [TW_TILE_CORE] = {"core tile", TW_REG_CORE_DMA_BD_0, TW_REG_CORE_DMA_BD_0_STEP, 16, 6, 3, PLACES(core_places)},
};

unsigned tw_bd_dimensions(enum tw_tile_kind kind)
{
    return kinds[kind].dimensions;
}

unsigned tw_bd_count(enum tw_tile_kind kind)
{
    return kinds[kind].count;
}

unsigned tw_bd_words(enum tw_tile_kind kind)
{
    return kinds[kind].words;
}

uint32_t tw_bd_offset(enum tw_tile_kind kind, unsigned number)
{
    return kinds[kind].offset + number * kinds[kind].step;
}

/* ---- Between the structure and its values */

static void take_values(const struct tw_bd *bd, enum tw_tile_kind kind, int64_t v[VALUES])
{
    int shim = kind == TW_TILE_SHIM;
    for (unsigned i = 0; i < TW_BD_DIMENSIONS_MAX; i++) {
        v[STEP0 + i] = bd->dimensions[i].step;
        v[WRAP0 + i] = bd->dimensions[i].wrap;
        v[BEFORE0 + i] = bd->dimensions[i].zeros_before;
        v[AFTER0 + i] = bd->dimensions[i].zeros_after;
    }
    v[LENGTH] = bd->length;
    v[ADDRESS_WORDS] = shim ? 0 : (int64_t)(bd->address / 4);
    v[ADDRESS_LOW] = shim ? (int64_t)((bd->address & UINT32_MAX) / 4) : 0;
    v[ADDRESS_HIGH] = shim ? (int64_t)(bd->address >> 32) : 0;
    v[ITERATION_STEP] = bd->iteration.step;
    v[ITERATION_COUNT] = bd->iteration.count;
    v[ITERATION_CURRENT] = bd->iteration.current;
    v[VALID] = bd->valid;
    v[USE_NEXT] = bd->use_next;
    v[NEXT] = bd->next;
    v[PACKET_ENABLE] = bd->packet_enable;
    v[PACKET_ID] = bd->packet_id;
    v[PACKET_TYPE] = bd->packet_type;
    v[OUT_OF_ORDER_ID] = bd->out_of_order_id;
    v[TLAST_SUPPRESS] = bd->tlast_suppress;
    v[COMPRESSION] = bd->compression;
    v[ACQUIRE_ENABLE] = bd->acquire_enable;
    v[ACQUIRE_ID] = bd->acquire_id;
    v[ACQUIRE_VALUE] = bd->acquire_value;
    v[RELEASE_ID] = bd->release_id;
    v[RELEASE_VALUE] = bd->release_value;
    v[BURST] = bd->burst;
    v[AX_CACHE] = bd->ax_cache;
    v[AX_QOS] = bd->ax_qos;
    v[SMID] = bd->smid;
    v[SECURE] = bd->secure;
}

static void give_values(const int64_t v[VALUES], struct tw_bd *bd)
{
    *bd = (struct tw_bd){
        .length = (uint32_t)v[LENGTH],
        .address = 4 * (uint64_t)(v[ADDRESS_WORDS] + v[ADDRESS_LOW]) | (uint64_t)v[ADDRESS_HIGH] << 32,
        .iteration = {(uint32_t)v[ITERATION_STEP], (uint32_t)v[ITERATION_COUNT], (uint32_t)v[ITERATION_CURRENT]},
        .valid = (uint8_t)v[VALID],
        .use_next = (uint8_t)v[USE_NEXT],
        .next = (uint8_t)v[NEXT],
        .packet_enable = (uint8_t)v[PACKET_ENABLE],
        .packet_id = (uint8_t)v[PACKET_ID],
        .packet_type = (uint8_t)v[PACKET_TYPE],
        .out_of_order_id = (uint8_t)v[OUT_OF_ORDER_ID],
        .tlast_suppress = (uint8_t)v[TLAST_SUPPRESS],
        .compression = (uint8_t)v[COMPRESSION],
        .acquire_enable = (uint8_t)v[ACQUIRE_ENABLE],
        .acquire_id = (uint8_t)v[ACQUIRE_ID],
        .release_id = (uint8_t)v[RELEASE_ID],
        .acquire_value = (int8_t)v[ACQUIRE_VALUE],
        .release_value = (int8_t)v[RELEASE_VALUE],
        .burst = (uint8_t)v[BURST],
        .ax_cache = (uint8_t)v[AX_CACHE],
        .ax_qos = (uint8_t)v[AX_QOS],
        .smid = (uint8_t)v[SMID],
        .secure = (uint8_t)v[SECURE],
    };
    for (unsigned i = 0; i < TW_BD_DIMENSIONS_MAX; i++)
        bd->dimensions[i] = (struct tw_bd_dimension){(uint32_t)v[STEP0 + i], (uint32_t)v[WRAP0 + i],
                                                     (uint32_t)v[BEFORE0 + i], (uint32_t)v[AFTER0 + i]};
}

/* ---- Between values and words */

static int64_t least(const struct place *p)
{
    return p->form == SIGNED ? -((int64_t)tw_bits_top(p->field) + 1) / 2 : p->form == LESS_ONE;
}

static int64_t most(const struct place *p)
{
    return least(p) + tw_bits_top(p->field);
}

void tw_bd_decode(enum tw_tile_kind kind, const uint32_t *words, struct tw_bd *bd)
{
    const struct kind *k = &kinds[kind];
    int64_t v[VALUES] = {0};
    for (size_t i = 0; i < k->n_places; i++) {
        const struct place *p = &k->places[i];
        int64_t field = tw_bits_get(words[p->word], p->field);
        if (p->form == LESS_ONE)
            field++;
        else if (p->form == SIGNED && field > most(p))
            field -= (int64_t)tw_bits_top(p->field) + 1;
        v[p->value] = field;
    }
    give_values(v, bd);
}

int tw_bd_encode(enum tw_tile_kind kind, const struct tw_bd *bd, uint32_t *words, struct tw_error *err)
{
    const struct kind *k = &kinds[kind];
    int64_t v[VALUES];
    take_values(bd, kind, v);
    if (bd->address % 4 != 0)
        return tw_fail(err, TW_E_ARGUMENT, "the buffer descriptor's address 0x%" PRIx64 " is not a multiple of 4",
                       bd->address);
    for (unsigned i = 0; i < k->words; i++)
        words[i] = 0;
    for (size_t i = 0; i < k->n_places; i++) {
        const struct place *p = &k->places[i];
        if (v[p->value] < least(p) || v[p->value] > most(p))
            return tw_fail(err, TW_E_ARGUMENT,
                           "the %s of a %s's buffer descriptor takes %" PRId64 " to %" PRId64 ", not %" PRId64,
                           value_names[p->value], k->name, least(p), most(p), v[p->value]);
        words[p->word] |= tw_bits_put((uint32_t)(v[p->value] - (p->form == LESS_ONE)), p->field);
        v[p->value] = 0;
    }
    for (unsigned i = 0; i < VALUES; i++)
        if (v[i] != 0)
            return tw_fail(err, TW_E_ARGUMENT, "the %s is %" PRId64 ", but a %s's buffer descriptor has none",
                           value_names[i], v[i], k->name);
    return TW_OK;
}
