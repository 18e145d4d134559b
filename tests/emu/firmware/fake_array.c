#include "emu/firmware/fake_array.h"

#include <stdio.h>
#include <stdlib.h>

enum { REGISTERS_MAX = 256, BUSY = 1 << 19 };

struct fake fake;

struct tw_array {
    uint64_t clock;
    size_t n;
    struct {
        uint32_t address, value;
    } registers[REGISTERS_MAX];
};

int tw_array_create(const struct tw_array_options *options, struct tw_array **array, struct tw_error *err)
{
    *array = NULL;
    fake.options = *options;
    if (fake.fail_create != 0)
        return tw_fail(err, fake.fail_create, "no array today");
    *array = calloc(1, sizeof **array);
    fake.created++;
    return *array != NULL ? 0 : tw_fail(err, TW_E_MEMORY, "no memory");
}

void tw_array_free(struct tw_array *array)
{
    fake.freed += array != NULL;
    free(array);
}

void tw_array_reset(struct tw_array *array)
{
    array->n = 0;
    fake.resets++;
}

static int record(struct tw_array *array, enum fake_kind kind, uint32_t address, uint32_t mask, uint32_t value,
                  struct tw_error *err)
{
    if (fake.n == FAKE_EVENTS_MAX)
        return tw_fail(err, TW_E_LIMIT, "too many events for the test");
    fake.events[fake.n++] = (struct fake_event){kind, array->clock, address, mask, value};
    if (fake.fail_write_at != 0 && fake.n == (size_t)fake.fail_write_at)
        return tw_fail(err, TW_E_ARGUMENT, "there is nothing at 0x%x", address);
    return 0;
}

static uint32_t *find(struct tw_array *array, uint32_t address)
{
    static uint32_t lost;
    for (size_t i = 0; i < array->n; i++)
        if (array->registers[i].address == address)
            return &array->registers[i].value;
    if (array->n == REGISTERS_MAX)
        return &lost;
    array->registers[array->n].address = address;
    array->registers[array->n].value = 0;
    return &array->registers[array->n++].value;
}

int tw_array_write(struct tw_array *array, uint32_t address, const uint32_t *words, size_t count, struct tw_error *err)
{
    int code = 0;
    for (size_t i = 0; code == 0 && i < count; i++) {
        *find(array, address + 4 * (uint32_t)i) = words[i];
        code = record(array, FAKE_WRITE, address + 4 * (uint32_t)i, 0, words[i], err);
    }
    return code;
}

int tw_array_mask_write(struct tw_array *array, uint32_t address, uint32_t mask, uint32_t value, struct tw_error *err)
{
    uint32_t *reg = find(array, address);
    *reg = (*reg & ~mask) | (value & mask);
    return record(array, FAKE_MASK_WRITE, address, mask, value, err);
}

static int is_shim_dma_status(uint32_t address)
{
    return (address & 0xfffff) >= 0x1d220 && (address & 0xfffff) <= 0x1d22c;
}

int tw_array_read(struct tw_array *array, uint32_t address, uint32_t *value, struct tw_error *err)
{
    (void)err;
    *value = is_shim_dma_status(address) ? (fake.busy ? BUSY : 0) : *find(array, address);
    return 0;
}

uint64_t tw_array_clock(const struct tw_array *array)
{
    return array->clock;
}

int tw_array_advance(struct tw_array *array, uint64_t until, struct tw_error *err)
{
    if (until < array->clock)
        return tw_fail(err, TW_E_ARGUMENT, "time does not run backwards");
    array->clock = until;
    return 0;
}

/* Takes its time, or the time that is left. */
static int wait(struct tw_array *array, uint64_t until, struct tw_error *err)
{
    if (fake.wait_code != 0 && fake.wait_code != TW_E_LIMIT)
        return tw_fail(err, fake.wait_code, "DMA S2MM 0 waits for ever");
    int late = fake.wait_code != 0 || until - array->clock < fake.token_takes;
    array->clock = late ? until : array->clock + fake.token_takes;
    return late ? tw_fail(err, TW_E_LIMIT, "too late") : 0;
}

int tw_array_wait_token(struct tw_array *array, const struct tw_token *token, uint64_t until, struct tw_error *err)
{
    uint32_t tile = (uint32_t)token->column << 25 | (uint32_t)token->row << 20;
    int code = record(array, FAKE_TOKEN, tile, 0, token->actor, err);
    return code != 0 ? code : wait(array, until, err);
}

int tw_array_wait_register(struct tw_array *array, uint32_t address, uint32_t mask, uint32_t expected, uint64_t until,
                           struct tw_error *err)
{
    int code = record(array, FAKE_POLL, address, mask, expected, err);
    return code != 0 ? code : wait(array, until, err);
}

int tw_array_drain(struct tw_array *array, uint64_t until, struct tw_error *err)
{
    return wait(array, until, err);
}

int tw_array_counts(const struct tw_array *array, unsigned column, unsigned row, struct tw_tile_counts *counts)
{
    (void)array;
    *counts = column == 1 && row < TW_NPU1_ROWS && fake.n > 0 ? fake.counts[row] : (struct tw_tile_counts){0};
    return 0;
}

void tw_array_describe_waits(const struct tw_array *array, char *text, size_t size)
{
    (void)array;
    snprintf(text, size, "core (0, 2) waits for lock 3");
}
