/* Seeds for fuzz_run: small programs that work. Argument: FOLDER. */
#include "fuzz/run_kinds.h"

#include "base/little_endian.h"
#include "emu/firmware/make_control.h"
#include "npu1/make_cdo.h"

#include <stdio.h>

/* Writes a seed and releases its parts; returns 0 when it is there. */
static int write_seed(const char *folder, const char *name, unsigned char kind, struct made *commands,
                      struct made *operations)
{
    char path[4096];
    unsigned char begin[3] = {kind};
    tw_store_u16(begin + 1, (uint16_t)commands->size);
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *f = fopen(path, "wb");
    if (f == NULL)
        return 1;
    int bad = fwrite(begin, 1, 3, f) != 3 || fwrite(commands->data, 1, commands->size, f) != commands->size ||
              fwrite(operations->data, 1, operations->size, f) != operations->size;
    made_free(commands);
    made_free(operations);
    return fclose(f) != 0 || bad;
}

static void loop_routes(struct made *m)
{
    CDO(m, 0x103, 0x3f008, 0x80000000);
    CDO(m, 0x103, 0x3f100, 0x80000000);
    CDO(m, 0x103, 0x3f010, 0x80000005);
    CDO(m, 0x103, 0x3f114, 0x80000000);
    CDO(m, 0x102, 0x1f000, 0xc00, 0x400);
    CDO(m, 0x102, 0x1f004, 0x30, 0x10);
}

/* Down through a memory tile and a core's data memory and back, with locks; tokens by packets. */
static void long_routes(struct made *m)
{
    static const uint32_t memory_in[8] = {64, 0x80000 / 4 | 1u << 19 | 0u << 20, 0, 0, 0, 0, 0, 0x8141ff40};
    static const uint32_t memory_out[8] = {64, 0x80000 / 4 | 1u << 19 | 1u << 20, 0, 0, 0, 0, 0, 0x8140ff41};
    loop_routes(m);
    CDO(m, 0x103, 0x3f100, 0xc0000000);
    CDO(m, 0x103, 0x3f200, 0x0f1f0135);
    CDO(m, 0x103, 0x3f008, 0xc0000045);
    CDO(m, 0x103, 0x3f034, 0x80000005); /* North1 from South3 */
    CDO(m, 0x103, 0x3f010, 0x80000010); /* South2 from North2 */
    CDO(m, 0x103, 0x3f140, 0x80000000);
    CDO(m, 0x103, 0x1b0000, 0x80000008); /* DMA0 from South1 */
    CDO(m, 0x103, 0x1b0120, 0x80000000);
    CDO(m, 0x103, 0x1b0024, 0x80000000); /* South2 from DMA0 */
    CDO(m, 0x103, 0x1b0100, 0x80000000);
    cdo_dma_write(m, 0x1a0000, memory_in, sizeof memory_in);
    cdo_dma_write(m, 0x1a0020, memory_out, sizeof memory_out);
    CDO(m, 0x103, 0x1c0000, 1);
    CDO(m, 0x103, 0x1a0604, 0);
    CDO(m, 0x103, 0x1a0634, 1);
}

/* A core that runs: nops, a jump to itself. */
static void a_core(struct made *m)
{
    static const unsigned char program[] = {0x95, 0, 0, 0, 0, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 0x19, 8, 0, 0x10};
    CDO(m, 0x102, 0x232000, 1, 0);
    cdo_dma_write(m, 0x220000, program, sizeof program);
    cdo_dma_write(m, 0x200400, program, sizeof program);
    CDO(m, 0x102, 0x232000, 2, 2);
    CDO(m, 0x102, 0x232000, 2, 0);
    CDO(m, 0x103, 0x21f000, 2);
    CDO(m, 0x102, 0x232000, 1, 1);
}

/* The operations of argument 0 to argument 1, without a header. */
static void loop_operations(struct made *m)
{
    struct made whole = {0};
    control_begin(&whole);
    control_shim_descriptor(&whole, 0x1d020, 64);
    control_patch(&whole, 0x1d024, 1, 0);
    control_mask_write(&whole, 0x1d200, 0x1f00, 0xf00);
    control_write(&whole, 0x1d204, 0x80000001);
    control_shim_descriptor(&whole, 0x1d000, 64);
    control_patch(&whole, 0x1d004, 0, 0);
    control_write(&whole, 0x1d214, 0);
    control_wait(&whole, 0, 0, 1, 1, 0, 0);
    control_poll(&whole, 0x1d220, 1 << 19, 0);
    control_noop(&whole);
    made_bytes(m, whole.data + 16, whole.size - 16);
    made_free(&whole);
}

static void sequence_operations(struct made *m)
{
    static const uint32_t words[] = {
        0x02000200, 0x5408,  2,          0x06000111, 0,      64, 0, 0, 0, 0x80000000, 0x2000000, 0, 0x2000000,
        0x02000000, 0x1d204, 0x80000001, 0x06000100, 0,      64, 0, 0, 0, 0x80000000, 0x2000000, 0, 0x2000000,
        0x02000000, 0x1d214, 0,          0x03000000, 0x10100};
    for (size_t i = 0; i < sizeof words / 4; i++)
        made_word(m, words[i]);
}

int main(int argc, char **argv)
{
    struct made commands[4] = {{0}, {0}, {0}, {0}}, operations[4] = {{0}, {0}, {0}, {0}};
    if (argc != 2)
        return 2;
    loop_routes(&commands[0]);
    long_routes(&commands[1]);
    a_core(&commands[2]);
    loop_routes(&commands[3]);
    for (int i = 0; i < 3; i++)
        loop_operations(&operations[i]);
    sequence_operations(&operations[3]);
    return write_seed(argv[1], "loop", 3, &commands[0], &operations[0]) ||
           write_seed(argv[1], "long", 0, &commands[1], &operations[1]) ||
           write_seed(argv[1], "core", 1, &commands[2], &operations[2]) ||
           write_seed(argv[1], "sequence", RUN_SEQUENCE, &commands[3], &operations[3]);
}
