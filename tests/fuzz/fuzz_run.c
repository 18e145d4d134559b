/*
 * A PDI and control code of random bytes on the emulated array: ends within its limit of cycles, with or without an
 * error, and reads and writes nothing that is not its own. An input is a byte that says what the control code is, two
 * bytes with the size of the CDO's commands, those commands, and the control code's operations.
 */
#include "base/little_endian.h"
#include "emu/buffers.h"
#include "emu/firmware.h"
#include "fuzz/run_kinds.h"
#include "image/make_image.h"
#include "npu1/control_code.h"
#include "npu1/dpu_sequence.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { BUFFERS = 6, BUFFER_BYTES = 4096, LIMIT = 100000 };

static void require(int condition)
{
    if (!condition)
        abort();
}

/* ---- what the bytes become */

static void make_pdi_of(struct made *pdi, const uint8_t *commands, size_t size)
{
    struct made cdo = {0};
    size_t begin = cdo_begin(&cdo);
    made_bytes(&cdo, commands, size / 4 * 4);
    cdo_end(&cdo, begin);
    make_pdi(pdi, &cdo);
    made_free(&cdo);
}

/* The header of a transaction: as many operations as can be read. */
static void make_transaction(struct made *m, const uint8_t *ops, size_t size)
{
    struct tw_control_code code = {.minor = 1, .ops = {ops, size, "input", 0}};
    struct tw_control_op op;
    size_t at = 0, end = 0;
    uint32_t n = 0;
    while (tw_control_code_next(&code, &at, &op, NULL) == 1) {
        end = at;
        n++;
    }
    made_word(m, 0x06030100);
    made_word(m, 0x00000104);
    made_word(m, n);
    made_word(m, (uint32_t)(16 + end));
    made_bytes(m, ops, end);
}

static void make_sequence(struct made *m, const uint8_t *ops, size_t size)
{
    made_word(m, TW_DPU_SEQUENCE_MARK);
    made_zeros(m, 4 * (TW_DPU_SEQUENCE_PROLOGUE - 1));
    made_bytes(m, ops, size);
}

/* ---- the run */

struct bench {
    struct tw_buffers *buffers;
    struct tw_firmware *firmware;
    uint64_t addresses[BUFFERS];
};

static void set_up(struct bench *b, unsigned columns, int strict)
{
    require(tw_buffers_create(&b->buffers, NULL) == 0);
    for (int i = 0; i < BUFFERS; i++) {
        unsigned char *bytes;
        require(tw_buffers_add(b->buffers, BUFFER_BYTES, &b->addresses[i], &bytes, NULL) == 0);
        memset(bytes, 0x11 * i, BUFFER_BYTES);
    }
    const struct tw_firmware_options options = {
        .columns = columns, .host = tw_buffers_host(b->buffers), .strict = strict};
    require(tw_firmware_create(&options, &b->firmware, NULL) == 0);
}

static void run(struct bench *b, const struct made *pdi, const struct made *control, unsigned kind)
{
    struct tw_error err = {0};
    struct tw_command_report report;
    struct tw_view view = made_view(pdi);
    int program = tw_firmware_add_program(b->firmware, &view, &err);
    require(program >= 0 || err.text[0] != '\0');
    struct tw_command command = {
        .program = program < 0 ? 0 : (unsigned)program,
        .opcode = kind & RUN_SEQUENCE ? TW_KERNEL_SEQUENCE : TW_KERNEL_TRANSACTION,
        .host_patched = (kind & RUN_HOST_PATCHED) != 0,
        .control_code = made_view(control),
        .arguments = b->addresses,
        .n_arguments = BUFFERS,
        .limit = LIMIT,
    };
    for (int twice = 0; twice < 2; twice++) {
        err = (struct tw_error){0};
        int code = tw_firmware_run(b->firmware, &command, &report, &err);
        require(code == 0 || (err.code == code && err.text[0] != '\0'));
        require(report.cycles <= LIMIT);
        require(code != 0 || report.status == TW_FIRMWARE_OK);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const uint8_t columns[4] = {1, 1, 2, 4}; /* more take longer */
    struct made pdi = {0}, control = {0};
    struct bench b;
    if (size < 3)
        return 0;
    unsigned kind = data[0];
    size_t commands = tw_load_u16(data + 1);
    data += 3;
    size -= 3;
    if (commands > size)
        commands = size;
    make_pdi_of(&pdi, data, commands);
    if (kind & RUN_SEQUENCE)
        make_sequence(&control, data + commands, size - commands);
    else
        make_transaction(&control, data + commands, size - commands);
    set_up(&b, columns[kind % 4], (kind & RUN_STRICT) != 0);
    run(&b, &pdi, &control, kind);
    tw_firmware_free(b.firmware);
    tw_buffers_free(b.buffers);
    made_free(&pdi);
    made_free(&control);
    return 0;
}
