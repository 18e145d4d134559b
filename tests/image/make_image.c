#include "image/make_image.h"

#include "base/little_endian.h"

#include <string.h>

static void align(struct made *m, size_t to)
{
    made_zeros(m, (to - m->size % to) % to);
}

static void put_u32(struct made *m, size_t at, uint32_t value)
{
    tw_store_u32(m->data + at, value);
}

void make_program_cdo(struct made *m, const void *program, size_t size, unsigned n)
{
    size_t begin = cdo_begin(m);
    CDO(m, 0x102, 0x232000, 1, 0);
    for (unsigned i = 0; i < n; i++)
        cdo_dma_write(m, i << 25 | 0x220000, program, size);
    CDO(m, 0x102, 0x232000, 1, 1);
    cdo_end(m, begin);
}

/* ---- PDI */

static void sign(unsigned char *header, size_t words)
{
    uint32_t sum = 0;
    for (size_t i = 0; i + 1 < words; i++)
        sum += tw_load_u32(header + 4 * i);
    tw_store_u32(header + 4 * (words - 1), ~sum);
}

void pdi_sign(unsigned char *pdi)
{
    sign(pdi + 0x10, 32);
    sign(pdi + 0x90, 16);
    sign(pdi + 0xd0, 32);
}

void make_pdi(struct made *m, const struct made *cdo)
{
    static const struct {
        uint16_t at;
        uint32_t word;
    } fixed[] = {
        {0x00, 0x000000dd}, {0x04, 0x11223344}, {0x08, 0x55667788}, {0x0c, 0x99aabbcc}, {0x10, 0x00040000},
        {0x14, 1},          {0x18, 0x24},       {0x1c, 1},          {0x20, 0x34},       {0x28, 0x14ca8093},
        {0x38, 0x50504449}, {0x3c, 0x00201020}, {0x40, 0x30},       {0x54, 1},          {0x90, 0x34},
        {0x94, 1},          {0xa0, 0x5f656961}, {0xa4, 0x67616d69}, {0xa8, 0x65},       {0xb0, 0x1c000000},
        {0xc8, 0xffffffff}, {0xe8, 0xffffffff}, {0xec, 0xffffffff}, {0xf0, 0x54},       {0xf4, 0x02000006},
        {0xf8, 1},
    };
    size_t begin = m->size;
    made_zeros(m, 0x150);
    for (size_t i = 0; i < sizeof fixed / sizeof fixed[0]; i++)
        put_u32(m, begin + fixed[i].at, fixed[i].word);
    uint32_t words = (uint32_t)cdo->size / 4, padded = (words + 3) / 4 * 4;
    put_u32(m, begin + 0xd0, padded);
    put_u32(m, begin + 0xd4, words);
    put_u32(m, begin + 0xd8, padded);
    pdi_sign(m->data + begin);
    made_bytes(m, cdo->data, cdo->size);
    made_zeros(m, 4 * (size_t)(padded - words));
}

/* ---- xclbin */

void make_partition(struct made *m, const struct made *pdis, unsigned n)
{
    size_t begin = m->size, list, groups;
    made_zeros(m, 0xb8);
    put_u32(m, begin + 0x04, 0xb8);
    put_u32(m, begin + 0x08, 8192);
    tw_store_u64(m->data + begin + 0x10, 23423);
    put_u32(m, begin + 0x20, 4); /* columns */
    made_bytes(m, "QoS", 4);
    align(m, 8);
    put_u32(m, begin + 0x28, 1);
    put_u32(m, begin + 0x2c, (uint32_t)(m->size - begin));
    made_bytes(m, "\1\0\0\0\0\0\0", 8); /* start column 1 */
    list = m->size;
    put_u32(m, begin + 0x78, n);
    put_u32(m, begin + 0x7c, (uint32_t)(list - begin));
    made_zeros(m, 96 * (size_t)n);
    groups = m->size;
    made_zeros(m, 96 * (size_t)n);
    size_t name = m->size - begin;
    made_bytes(m, "DPU\0\0\0\0", 8);
    for (unsigned i = 0; i < n; i++) {
        size_t pdi = list + 96 * (size_t)i, group = groups + 96 * (size_t)i;
        memset(m->data + pdi, (int)(0xa0 + i), 16); /* uuid */
        put_u32(m, pdi + 24, 1);
        put_u32(m, pdi + 28, (uint32_t)(group - begin));
        put_u32(m, group, (uint32_t)name);
        m->data[group + 4] = 1;
        tw_store_u64(m->data + group + 8, i + 1);
        put_u32(m, group + 16, 1);
        put_u32(m, group + 20, (uint32_t)(m->size - begin));
        made_word(m, 0x901 + i);
        made_word(m, 0);
        put_u32(m, pdi + 16, (uint32_t)pdis[i].size);
        put_u32(m, pdi + 20, (uint32_t)(m->size - begin));
        made_bytes(m, pdis[i].data, pdis[i].size);
        align(m, 8);
    }
}

static void memory_entry(struct made *m, uint32_t kib, const char *tag)
{
    char text[16] = {0};
    strncpy(text, tag, sizeof text - 1);
    made_word(m, 0x0102);
    made_word(m, 0);
    made_word(m, kib);
    made_word(m, 0);
    made_word(m, 0x4000000);
    made_word(m, 0);
    made_bytes(m, text, sizeof text);
}

static void make_memories(struct made *m)
{
    made_word(m, 2);
    made_word(m, 0);
    memory_entry(m, 0x10000, "HOST");
    memory_entry(m, 0xc000, "SRAM");
}

static void make_ips(struct made *m)
{
    char name[64] = "MLIR_AIE:MLIRAIE";
    made_word(m, 1);
    made_word(m, 0);
    made_word(m, 7);
    made_word(m, 0x09010001);
    made_word(m, 0xffffffff);
    made_word(m, 0xffffffff);
    made_bytes(m, name, sizeof name);
}

static void make_connections(struct made *m)
{
    static const uint32_t words[] = {3, 1, 0, 1, 3, 0, 0, 4, 0, 0};
    for (size_t i = 0; i < sizeof words / 4; i++)
        made_word(m, words[i]);
}

static void section(struct made *m, size_t begin, unsigned i, uint32_t kind, const char *name,
                    const struct made *contents)
{
    size_t header = begin + 0x1c8 + 40 * (size_t)i;
    align(m, 8);
    put_u32(m, header, kind);
    memcpy(m->data + header + 4, name, strlen(name));
    tw_store_u64(m->data + header + 24, m->size - begin);
    tw_store_u64(m->data + header + 32, contents->size);
    made_bytes(m, contents->data, contents->size);
}

void make_xclbin(struct made *m, const struct made *partition)
{
    size_t begin = m->size;
    struct made memories = {0}, ips = {0}, connections = {0}, xml = {0};
    make_memories(&memories);
    make_ips(&ips);
    make_connections(&connections);
    made_bytes(&xml, "<project/>", 10);
    made_bytes(m, "xclbin2\0\xff\xff\xff\xff", 12);
    made_zeros(m, 0x1c8 - 12 + 5 * 40);
    memset(m->data + begin + 12, 0xff, 0x128 - 12);
    tw_store_u64(m->data + begin + 0x138, 1700000000);
    memcpy(m->data + begin + 0x160, "xilinx_v1_ipu_0_0", 17);
    memset(m->data + begin + 0x1a0, 0x5a, 16);
    put_u32(m, begin + 0x1c0, 5);
    section(m, begin, 0, 6, "memories", &memories);
    section(m, begin, 1, 32, "", partition);
    section(m, begin, 2, 2, "", &xml);
    section(m, begin, 3, 8, "sixteen letters!", &ips);
    section(m, begin, 4, 7, "", &connections);
    made_bytes(m, "XCLBIN_MIRROR_DATA_START{}XCLBIN_MIRROR_DATA_END", 48);
    tw_store_u64(m->data + begin + 0x130, m->size - begin);
    made_free(&memories);
    made_free(&ips);
    made_free(&connections);
    made_free(&xml);
}

/* ---- ELF */

static void elf_words(struct made *m, const uint32_t *words, size_t n)
{
    for (size_t i = 0; i < n; i++)
        made_word(m, words[i]);
}

#define WORDS(m, ...)                                                                                                  \
    elf_words(m, (const uint32_t[]){__VA_ARGS__}, sizeof((const uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t))

void make_elf(struct made *m, const void *program, size_t size)
{
    uint32_t bytes = (uint32_t)size, data = ELF_FIRST_DATA + bytes, symbols = data + 4, strings = symbols + 32;
    uint32_t sections = strings + 8;
    made_bytes(m,
               "\x7f"
               "ELF\1\1\1\0\0\0\0\0\0\0\0\0",
               16);
    WORDS(m, 2 | 264 << 16, 1, 0, 52, sections, 2, 52 | 32 << 16, 2 | 40 << 16, 3);
    WORDS(m, 1, ELF_FIRST_DATA, 0, 0, bytes, bytes, 5, 1);
    WORDS(m, 1, data, 0x70400, 0x70400, 4, 8, 6, 1);
    made_bytes(m, program, size);
    made_bytes(m, "data", 4);
    WORDS(m, 0, 0, 0, 0, 1, 0, bytes, 1 << 4 | 2 | 1 << 16);
    made_bytes(m, "\0main\0\0", 8);
    WORDS(m, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
    WORDS(m, 0, 2, 0, 0, symbols, 32, 2, 1, 4, 16);
    WORDS(m, 0, 3, 0, 0, strings, 8, 0, 0, 1, 0);
}

/* Control code with two block writes of eight words, whose data is at 0x20 and 0x50 of it. */
static void make_control_text(struct made *m)
{
    size_t begin = m->size;
    WORDS(m, 0x06030100, 0x104, 2, 0);
    for (unsigned i = 0; i < 2; i++) {
        WORDS(m, 1, 0, 0x1d000 + 0x20 * i, 48);
        made_zeros(m, 32);
    }
    put_u32(m, begin + 12, (uint32_t)(m->size - begin));
}

void make_control_elf(struct made *m)
{
    static const char names[] = "\0.shstrtab\0.ctrltext\0.dynsym\0.dynstr\0.rela.dyn";
    struct made text = {0};
    make_control_text(&text);
    uint32_t code = 52, strings = code + (uint32_t)text.size, symbols = strings + 8, patches = symbols + 48;
    uint32_t section_names = patches + 24, sections = section_names + sizeof names;
    sections = (sections + 3) / 4 * 4;
    made_bytes(m,
               "\x7f"
               "ELF\1\1\1\x45\2\0\0\0\0\0\0\0",
               16);
    WORDS(m, 2 | 1 << 16, 1, 0, 0, sections, 0, 52, 40 << 16, 6 | 1 << 16);
    made_bytes(m, text.data, text.size);
    made_bytes(m, "\0003\0005\0\0\0", 8);
    WORDS(m, 0, 0, 0, 0, 1, 0, 4, 1 << 4 | 1 | 2 << 16, 3, 0, 4, 1 << 4 | 1 | 2 << 16);
    WORDS(m, 0x20, 1 << 8 | 5, 0, 0x50, 2 << 8 | 5, 0xfffffff0);
    made_bytes(m, names, sizeof names);
    align(m, 4);
    WORDS(m, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
    WORDS(m, 1, 3, 0, 0, section_names, sizeof names, 0, 0, 1, 0);
    WORDS(m, 11, 1, 6, 0, code, (uint32_t)text.size, 0, 0, 16, 0);
    WORDS(m, 29, 3, 0, 0, strings, 8, 0, 0, 1, 0);
    WORDS(m, 21, 11, 2, 0, symbols, 48, 3, 1, 8, 16);
    WORDS(m, 37, 4, 2, 0, patches, 24, 4, 0, 8, 12);
    made_free(&text);
}
