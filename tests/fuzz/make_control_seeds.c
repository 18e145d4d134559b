/* Seeds for fuzz_control_code, fuzz_image_print, fuzz_image_parts and fuzz_registers. Arguments: KIND FOLDER. */
#include "fuzz/control_kinds.h"

#include "image/make_image.h"
#include "image/xclbin_write.h"
#include "npu1/control_writer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Writes a seed, with `kind` in front unless it is negative, and releases its contents; returns 0 when it is there. */
static int write_seed(const char *folder, const char *name, int kind, struct made *m)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *f = fopen(path, "wb");
    if (f == NULL)
        return 1;
    int bad = (kind >= 0 && fputc(kind, f) == EOF) || fwrite(m->data, 1, m->size, f) != m->size;
    made_free(m);
    return fclose(f) != 0 || bad;
}

static struct made transactions(void)
{
    static const uint32_t descriptor[8] = {16, 0, 0, 0, 0x80000000, 0x02000000, 0, 0x02000000};
    struct made m = {0};
    struct tw_control_writer w;
    unsigned char *bytes;
    size_t size;
    tw_control_writer_begin(&w, 4);
    tw_control_writer_block_write(&w, 0x1d000, descriptor, 8);
    tw_control_writer_patch(&w, 0x1d004, &(struct tw_control_patch){1, 64});
    tw_control_writer_mask_write(&w, 0x1d210, 0x1f00, 0xf00);
    tw_control_writer_write(&w, 0x1d214, 0x80000000);
    tw_control_writer_wait(&w, &(struct tw_control_wait){.columns = 1, .rows = 1, .channel = {TW_MM2S, 0}});
    if (tw_control_writer_finish(&w, &bytes, &size, NULL) != 0)
        exit(1);
    made_bytes(&m, bytes, size);
    free(bytes);
    return m;
}

static struct made older_transactions(void)
{
    static const uint32_t words[] = {0x06030001, 0x104, 5,    0, 0,       0x21f000, 5,      1,      0x1d000,
                                     20,         8,     9,    3, 0x1d200, 0xf00,    0x1f00, 0x81,   24,
                                     0x1d004,    1,     0x40, 0, 0x80,    16,       0,      0x10100};
    struct made m = {0};
    for (size_t i = 0; i < sizeof words / 4; i++)
        made_word(&m, words[i]);
    return m;
}

static struct made sequence(void)
{
    static const uint32_t ops[] = {0x02000200, 0x5408,     2,       0x06000111, 0,          0xe1000,
                                   0,          0,          0,       0x80000000, 0,          0,
                                   0x02000000, 0x02000000, 0x1d204, 0x80000001, 0x03000000, 0x10100};
    struct made m = {0};
    made_word(&m, 0x11);
    made_zeros(&m, 64);
    for (size_t i = 0; i < sizeof ops / 4; i++)
        made_word(&m, ops[i]);
    return m;
}

static struct made text(const char *characters)
{
    struct made m = {0};
    made_bytes(&m, characters, strlen(characters));
    return m;
}

static struct made xclbin(void)
{
    struct made cdo = {0}, pdi = {0}, m = {0};
    struct tw_xclbin_contents contents = {.columns = 1, .kernel = "K", .instance = "I", .kernel_id = TW_KERNEL_ID};
    unsigned char *bytes;
    size_t size;
    make_program_cdo(&cdo, "abcd", 4, 2);
    make_pdi(&pdi, &cdo);
    contents.pdi = made_view(&pdi);
    if (tw_xclbin_write(&contents, &bytes, &size, NULL) != 0)
        exit(1);
    made_bytes(&m, bytes, size);
    free(bytes);
    made_free(&cdo);
    made_free(&pdi);
    return m;
}

static struct made commands(void)
{
    struct made m = {0};
    cdo_begin(&m);
    CDO(&m, 0x111, 1, 2);
    CDO(&m, 0x101, 0x232004, 1, 2, 3);
    CDO(&m, 0x102, 0x232000, 3, 1);
    CDO(&m, 0x103, 0x3f008, 0xc0000045);
    cdo_dma_write(&m, 0x1a0000, "0123456789abcdefghijklmnopqrstuv", 32);
    CDO(&m, 0x10c, 0, 0x200000, 100, 7);
    CDO(&m, 0x10d, 0, 0x21f000, 5, 6);
    CDO(&m, 0x119, 0x6c6c6568, 0x6f);
    cdo_end(&m, 0);
    return m;
}

static struct made control_elf(void)
{
    struct made m = {0};
    make_control_elf(&m);
    return m;
}

static struct made core_elf(void)
{
    struct made m = {0};
    make_elf(&m, "abcd", 4);
    return m;
}

static const char metadata[] =
    "<?xml version=\"1.0\"?><project><!-- x --><kernel name=\"k\" type='dpu'><extended-data dpu_kernel_id=\"0x901\"/>"
    "<arg name=\"a&lt;\" id=\"0\" addressQualifier=\"1\" offset=\"0x10\" size=\"8\" type=\"void*\"></arg>"
    "<instance name=\"i\"/></kernel></project>";

static const char hex[] = "# words\n0x11, 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n02000000 0001D204 80000001 // queue\n";

static const struct seed {
    const char *folder_kind, *name;
    int kind;
    struct made (*make)(void);
    const char *characters; /* instead of make */
} seeds[] = {
    {"control", "transactions", CONTROL_FILE, transactions, NULL},
    {"control", "signed", CONTROL_SIGNED, transactions, NULL},
    {"control", "older", CONTROL_SIGNED, older_transactions, NULL},
    {"control", "sequence", CONTROL_SEQUENCE, sequence, NULL},
    {"control", "text", CONTROL_TEXT, NULL, hex},
    {"print", "transactions", -1, transactions, NULL},
    {"print", "sequence", -1, sequence, NULL},
    {"print", "text", -1, NULL, hex},
    {"print", "xclbin", -1, xclbin, NULL},
    {"print", "cdo", -1, commands, NULL},
    {"print", "control-elf", -1, control_elf, NULL},
    {"print", "core-elf", -1, core_elf, NULL},
    {"parts", "elf", 0, control_elf, NULL},
    {"parts", "xml", 1, NULL, metadata},
    {"registers", "name", -1, NULL, "core(1,2) DMA_BD3_1"},
    {"registers", "wide", -1, NULL, "core(0,2) Core_Q0[1]"},
    {"registers", "memory", -1, NULL, "mem(0,1) data+0x1000"},
    {"registers", "words", -1, sequence, NULL},
};

int main(int argc, char **argv)
{
    unsigned n = 0;
    if (argc != 3)
        return 2;
    for (size_t i = 0; i < sizeof seeds / sizeof seeds[0]; i++) {
        const struct seed *s = &seeds[i];
        if (strcmp(s->folder_kind, argv[1]) != 0)
            continue;
        struct made m = s->make != NULL ? s->make() : text(s->characters);
        if (write_seed(argv[2], s->name, s->kind, &m))
            return 1;
        n++;
    }
    return n == 0;
}
