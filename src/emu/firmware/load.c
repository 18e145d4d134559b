/* Loading a PDI: its CDOs' commands, done to the array one after another. */
#include "base/little_endian.h"
#include "emu/firmware/state.h"
#include "npu1/cdo.h"

#include <inttypes.h>

enum {
    CHUNK_WORDS = 256,
    CYCLES_PER_MICROSECOND = 1000, /* at 1 GHz */
    WORDS_MAX = 1 << 24            /* of SET and KEYHOLE in one PDI: short commands that ask for much work */
};

static int write_one(struct tw_firmware *fw, uint32_t address, uint32_t word, struct tw_error *err)
{
    return tw_array_write(fw->array, address, &word, 1, err);
}

static int take_words(struct tw_firmware *fw, uint64_t words, struct tw_error *err)
{
    if (words > WORDS_MAX - fw->words)
        return tw_fail(err, TW_E_LIMIT, "the PDI fills more than %d words, many times what the array has", WORDS_MAX);
    fw->words += (uint32_t)words;
    return TW_OK;
}

int tw_firmware_write_words(struct tw_firmware *fw, uint32_t address, const struct tw_view *words, struct tw_error *err)
{
    uint32_t chunk[CHUNK_WORDS];
    size_t n = words->size / 4, n_chunk = 0;
    int code = TW_OK;
    for (size_t at = 0; code == TW_OK && at < n; at += n_chunk) {
        n_chunk = n - at < CHUNK_WORDS ? n - at : CHUNK_WORDS;
        for (size_t i = 0; i < n_chunk; i++)
            chunk[i] = tw_load_u32(words->data + 4 * (at + i));
        code = tw_array_write(fw->array, address + (uint32_t)(4 * at), chunk, n_chunk, err);
    }
    return code;
}

/* ---- single commands; each is done to 32-bit addresses */

typedef int do_command(struct tw_firmware *fw, const struct tw_cdo_command *c, struct tw_error *err);

static int do_nothing(struct tw_firmware *fw, const struct tw_cdo_command *c, struct tw_error *err)
{
    (void)fw, (void)c, (void)err;
    return TW_OK;
}

static int do_write(struct tw_firmware *fw, const struct tw_cdo_command *c, struct tw_error *err)
{
    return write_one(fw, (uint32_t)c->address, c->value, err);
}

static int do_mask_write(struct tw_firmware *fw, const struct tw_cdo_command *c, struct tw_error *err)
{
    return tw_array_mask_write(fw->array, (uint32_t)c->address, c->mask, c->value, err);
}

static int do_data(struct tw_firmware *fw, const struct tw_cdo_command *c, struct tw_error *err)
{
    return tw_firmware_write_words(fw, (uint32_t)c->address, &c->words, err);
}

static int do_set(struct tw_firmware *fw, const struct tw_cdo_command *c, struct tw_error *err)
{
    int code = take_words(fw, c->n_words, err);
    for (uint32_t i = 0; code == TW_OK && i < c->n_words; i++)
        code = write_one(fw, (uint32_t)c->address + 4 * i, c->value, err);
    return code;
}

static int do_keyhole(struct tw_firmware *fw, const struct tw_cdo_command *c, struct tw_error *err)
{
    int code = TW_OK;
    for (size_t i = 0; code == TW_OK && i < c->words.size / 4; i++)
        code = write_one(fw, (uint32_t)c->address, tw_load_u32(c->words.data + 4 * i), err);
    return code;
}

static int do_delay(struct tw_firmware *fw, const struct tw_cdo_command *c, struct tw_error *err)
{
    uint64_t now = tw_array_clock(fw->array);
    uint64_t cycles = (uint64_t)c->value * CYCLES_PER_MICROSECOND;
    if (cycles > fw->end - now)
        return tw_fail(err, TW_E_LIMIT, "a delay of %" PRIu32 " microseconds goes beyond the limit of cycles",
                       c->value);
    return tw_array_advance(fw->array, now + cycles, err);
}

static int do_poll(struct tw_firmware *fw, const struct tw_cdo_command *c, struct tw_error *err)
{
    return tw_array_wait_register(fw->array, (uint32_t)c->address, c->mask, c->value, fw->end, err);
}

/* Commands for the array; the others move data of the device that configurations for the array alone do not have. */
static const struct {
    uint16_t id;
    do_command *run;
} commands[] = {
    {TW_CDO_MASK_POLL, do_poll},
    {TW_CDO_MASK_WRITE, do_mask_write},
    {TW_CDO_WRITE, do_write},
    {TW_CDO_DELAY, do_delay},
    {TW_CDO_DMA_WRITE, do_data},
    {TW_CDO_MASK_POLL64, do_poll},
    {TW_CDO_MASK_WRITE64, do_mask_write},
    {TW_CDO_WRITE64, do_write},
    {TW_CDO_SET, do_set},
    {TW_CDO_DMA_WRITE_KEYHOLE, do_keyhole},
    {TW_CDO_NOP, do_nothing},
    {TW_CDO_MARKER, do_nothing},
};

static do_command *find_command(uint16_t id)
{
    for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++)
        if (commands[i].id == id)
            return commands[i].run;
    return NULL;
}

/* ---- all commands of a PDI */

typedef int visit_command(struct tw_firmware *fw, const struct tw_cdo *cdo, const struct tw_cdo_command *c,
                          struct tw_error *err);

static int visit_cdo(struct tw_firmware *fw, const struct tw_view *data, visit_command *visit, struct tw_error *err)
{
    struct tw_cdo cdo;
    struct tw_cdo_command c;
    size_t at = 0;
    int more, code = tw_cdo_open(data, &cdo, err);
    while (code == TW_OK && (more = tw_cdo_next(&cdo, &at, &c, err)) != 0)
        code = more < 0 ? more : visit(fw, &cdo, &c, err);
    return code;
}

static int visit_pdi(struct tw_firmware *fw, const struct tw_pdi *pdi, visit_command *visit, struct tw_error *err)
{
    int code = TW_OK;
    for (uint32_t i = 0; code == TW_OK && i < pdi->n_partitions; i++) {
        struct tw_pdi_partition partition;
        tw_pdi_partition(pdi, i, &partition);
        code = visit_cdo(fw, &partition.data, visit, err);
    }
    return code;
}

static int command_fail(const struct tw_cdo *cdo, const struct tw_cdo_command *c, int code, struct tw_error *err,
                        const char *sentence)
{
    return tw_view_fail(&cdo->commands, c->offset, code, err, "%s: %s", c->name, sentence);
}

static int check_columns(const struct tw_firmware *fw, const struct tw_cdo *cdo, const struct tw_cdo_command *c,
                         struct tw_error *err)
{
    uint64_t bytes = c->id == TW_CDO_DMA_WRITE_KEYHOLE || c->n_words == 0 ? 4 : 4 * (uint64_t)c->n_words;
    if (c->address > UINT32_MAX || bytes > (uint64_t)UINT32_MAX + 1 - c->address)
        return command_fail(cdo, c, TW_E_ARGUMENT, err, "there is no such address in the array");
    unsigned last = tw_tile_column((uint32_t)(c->address + bytes - 1));
    if (last >= fw->options.columns)
        return tw_view_fail(&cdo->commands, c->offset, TW_E_ARGUMENT, err,
                            "%s: this PDI configures column %u, but the partition has the columns 0 to %u only",
                            c->name, last, fw->options.columns - 1);
    return TW_OK;
}

/* A visit_command. */
static int check_command(struct tw_firmware *fw, const struct tw_cdo *cdo, const struct tw_cdo_command *c,
                         struct tw_error *err)
{
    if (find_command(c->id) == NULL)
        return command_fail(cdo, c, TW_E_UNSUPPORTED, err, "this command is not for the array and is not modelled");
    int has_address = c->id != TW_CDO_NOP && c->id != TW_CDO_MARKER && c->id != TW_CDO_DELAY;
    return has_address ? check_columns(fw, cdo, c, err) : TW_OK;
}

/* A visit_command. */
static int execute_command(struct tw_firmware *fw, const struct tw_cdo *cdo, const struct tw_cdo_command *c,
                           struct tw_error *err)
{
    struct tw_error why = {0};
    int code = find_command(c->id)(fw, c, &why);
    return code < 0 ? command_fail(cdo, c, code, err, why.text) : TW_OK;
}

int tw_firmware_check_program(struct tw_firmware *fw, const struct tw_pdi *pdi, struct tw_error *err)
{
    if (pdi->id_code != TW_NPU1_ID_CODE)
        return tw_view_fail(&pdi->view, 0, TW_E_UNSUPPORTED, err,
                            "this PDI is for the device 0x%" PRIx32 ", not for NPU1 (0x%x)", pdi->id_code,
                            TW_NPU1_ID_CODE);
    return visit_pdi(fw, pdi, check_command, err);
}

int tw_firmware_load(struct tw_firmware *fw, const struct tw_pdi *pdi, struct tw_error *err)
{
    fw->words = 0;
    return visit_pdi(fw, pdi, execute_command, err);
}
