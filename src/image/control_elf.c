#include "image/control_elf.h"

#include "base/little_endian.h"
#include "image/elf_format.h"
#include "npu1/control_op.h"

#include <inttypes.h>
#include <string.h>

/* Numbers of these files beyond those of other ELF files. */
enum control_number {
    CONTROL_MACHINE = 1,
    CONTROL_OSABI = 0x45,
    IDENT_OSABI = 7,
    RELA_OFFSET = 0,
    RELA_INFO = 4, /* number of the symbol << 8 | scheme */
    RELA_ADDEND = 8,
    RELA_BYTES = 12,
    DESCRIPTOR_BYTES = 32,
    ARGUMENTS_MAX = 1024
};

static const unsigned char begin[] = {0x7f, 'E', 'L', 'F', ELF_CLASS_32, ELF_LITTLE_ENDIAN, ELF_CURRENT, CONTROL_OSABI};

int tw_control_elf_recognise(const struct tw_view *view)
{
    return view->size >= ELF_HEADER_BYTES && memcmp(view->data, begin, sizeof begin) == 0 &&
           tw_load_u16(view->data + ELF_MACHINE) == CONTROL_MACHINE;
}

struct sections {
    struct tw_view headers, names;
    unsigned n;
};

static const unsigned char *header(const struct sections *s, unsigned i)
{
    return s->headers.data + (size_t)i * ELF_S_HEADER_BYTES;
}

static int contents(const struct tw_view *v, const unsigned char *h, const char *what, struct tw_view *part,
                    struct tw_error *err)
{
    return tw_view_part(v, tw_load_u32(h + ELF_S_OFFSET), tw_load_u32(h + ELF_S_BYTES), what, part, err);
}

static int open_sections(const struct tw_view *v, struct sections *s, struct tw_error *err)
{
    s->n = tw_load_u16(v->data + ELF_SECTION_COUNT);
    unsigned bytes = tw_load_u16(v->data + ELF_SECTION_ENTRY), names = tw_load_u16(v->data + ELF_SECTION_NAMES);
    if (s->n == 0 || bytes != ELF_S_HEADER_BYTES || names >= s->n)
        return tw_view_fail(v, ELF_SECTION_ENTRY, TW_E_FORMAT, err,
                            "%u section headers of %u bytes, the names in number %u; %d bytes are expected, and the "
                            "names in one of them",
                            s->n, bytes, names, ELF_S_HEADER_BYTES);
    int code = tw_view_table(v, tw_load_u32(v->data + ELF_SECTION_TABLE), s->n, ELF_S_HEADER_BYTES,
                             "the section headers", &s->headers, err);
    return code < 0 ? code : contents(v, header(s, names), "the names of sections", &s->names, err);
}

/* *found = the first section of that name, or NULL. */
static int find_section(const struct sections *s, const char *name, const unsigned char **found, struct tw_error *err)
{
    *found = NULL;
    for (unsigned i = 0; i < s->n; i++) {
        const char *text;
        int code =
            tw_view_string(&s->names, tw_load_u32(header(s, i) + ELF_S_NAME), "the name of a section", &text, err);
        if (code < 0)
            return code;
        if (strcmp(text, name) == 0) {
            *found = header(s, i);
            return TW_OK;
        }
    }
    return TW_OK;
}

/* A table of entries of one size; its number. */
static int open_table(const struct tw_view *v, const unsigned char *h, unsigned entry, const char *what,
                      struct tw_view *table, uint32_t *n, struct tw_error *err)
{
    uint32_t bytes = tw_load_u32(h + ELF_S_ENTRY), size = tw_load_u32(h + ELF_S_BYTES);
    if (bytes != entry || size % entry != 0)
        return tw_view_fail(v, 0, TW_E_FORMAT, err, "%s: 0x%" PRIx32 " bytes of %" PRIu32 " each; %u are expected",
                            what, size, bytes, entry);
    *n = size / entry;
    return contents(v, h, what, table, err);
}

static const unsigned char *relocation(const struct tw_control_elf *elf, uint32_t i)
{
    return elf->patches.data + (size_t)i * RELA_BYTES;
}

/* The number that a symbol has as its name, or -1. */
static int64_t argument_of(const struct tw_control_elf *elf, const unsigned char *rela)
{
    const unsigned char *symbol = elf->symbols.data + (size_t)(tw_load_u32(rela + RELA_INFO) >> 8) * ELF_SYM_BYTES;
    const char *name;
    int64_t number = 0;
    if (tw_view_string(&elf->strings, tw_load_u32(symbol + ELF_SYM_NAME), "the name of a symbol", &name, NULL) < 0)
        return -1;
    const char *c = name;
    for (; *c >= '0' && *c <= '9' && number < ARGUMENTS_MAX; c++)
        number = 10 * number + (*c - '0');
    return c == name || *c != '\0' || number >= ARGUMENTS_MAX ? -1 : number;
}

static int check_patch(const struct tw_control_elf *elf, uint32_t i, struct tw_error *err)
{
    const unsigned char *rela = relocation(elf, i);
    uint64_t at = (uint64_t)i * RELA_BYTES;
    uint32_t offset = tw_load_u32(rela + RELA_OFFSET), info = tw_load_u32(rela + RELA_INFO);
    if ((info & 0xff) != TW_CONTROL_ELF_SHIM_DMA_48)
        return tw_view_fail(&elf->patches, at, TW_E_UNSUPPORTED, err,
                            "a patch by scheme %" PRIu32 "; only %d, addresses of shim descriptors, is known",
                            info & 0xff, TW_CONTROL_ELF_SHIM_DMA_48);
    if (info >> 8 >= elf->symbols.size / ELF_SYM_BYTES)
        return tw_view_fail(&elf->patches, at, TW_E_FORMAT, err, "a patch for symbol %" PRIu32 "; there are %zu",
                            info >> 8, elf->symbols.size / ELF_SYM_BYTES);
    if (argument_of(elf, rela) < 0)
        return tw_view_fail(&elf->patches, at, TW_E_FORMAT, err,
                            "a patch whose symbol's name is no number of an argument");
    if (offset % 4 != 0 || offset > elf->code.size || elf->code.size - offset < DESCRIPTOR_BYTES)
        return tw_view_fail(&elf->patches, at, TW_E_FORMAT, err,
                            "a patch of the descriptor at 0x%" PRIx32 ", but the code has 0x%zx bytes", offset,
                            elf->code.size);
    return TW_OK;
}

static int open_patches(const struct tw_view *v, const struct sections *s, const unsigned char *rela,
                        struct tw_control_elf *elf, struct tw_error *err)
{
    uint32_t link = tw_load_u32(rela + ELF_S_LINK), n_symbols;
    if (link >= s->n || tw_load_u32(header(s, link) + ELF_S_LINK) >= s->n)
        return tw_view_fail(v, 0, TW_E_FORMAT, err,
                            "the patches name section %" PRIu32 " for their symbols; there are %u sections", link,
                            s->n);
    const unsigned char *symbols = header(s, link), *strings = header(s, tw_load_u32(symbols + ELF_S_LINK));
    int code = open_table(v, rela, RELA_BYTES, "the patches", &elf->patches, &elf->n_patches, err);
    if (code == 0)
        code = open_table(v, symbols, ELF_SYM_BYTES, "the symbols", &elf->symbols, &n_symbols, err);
    if (code == 0)
        code = contents(v, strings, "the names of symbols", &elf->strings, err);
    for (uint32_t i = 0; code == 0 && i < elf->n_patches; i++)
        code = check_patch(elf, i, err);
    return code;
}

int tw_control_elf_open(const struct tw_view *view, struct tw_control_elf *elf, struct tw_error *err)
{
    struct sections sections;
    const unsigned char *text, *rela;
    struct tw_view head;
    *elf = (struct tw_control_elf){.view = *view};
    int code = tw_view_part(view, 0, ELF_HEADER_BYTES, "the ELF header", &head, err);
    if (code == 0 && !tw_control_elf_recognise(view))
        return tw_view_fail(view, 0, TW_E_FORMAT, err, "this is no ELF file with control code");
    if (code == 0)
        code = open_sections(view, &sections, err);
    if (code == 0)
        code = find_section(&sections, ".ctrltext", &text, err);
    if (code == 0 && text == NULL)
        return tw_view_fail(view, 0, TW_E_FORMAT, err,
                            "this ELF file has no section .ctrltext, which holds control code");
    if (code == 0)
        code = contents(view, text, "the control code", &elf->code, err);
    if (code == 0)
        code = find_section(&sections, ".rela.dyn", &rela, err);
    return code < 0 || rela == NULL ? code : open_patches(view, &sections, rela, elf, err);
}

void tw_control_elf_patch(const struct tw_control_elf *elf, uint32_t i, struct tw_control_elf_patch *patch)
{
    const unsigned char *rela = relocation(elf, i);
    *patch = (struct tw_control_elf_patch){
        .offset = tw_load_u32(rela + RELA_OFFSET),
        .argument = (uint32_t)argument_of(elf, rela),
        .scheme = tw_load_u32(rela + RELA_INFO) & 0xff,
        .addend = (int32_t)tw_load_u32(rela + RELA_ADDEND),
    };
}

void tw_control_elf_fill(unsigned char *descriptor, uint64_t address, int32_t addend)
{
    /* Word 1 of a shim descriptor: bits 31:2 of an address; the lower half of word 2: bits 47:32. */
    enum { LOW = 4, HIGH = 8, HIGH_MASK = 0xffff };
    const uint32_t high = tw_load_u32(descriptor + HIGH);
    address += (uint64_t)(int64_t)addend + TW_CONTROL_HOST_OFFSET;
    address += tw_load_u32(descriptor + LOW) | (uint64_t)(high & HIGH_MASK) << 32;
    tw_store_u32(descriptor + LOW, (uint32_t)address);
    tw_store_u32(descriptor + HIGH, (high & ~(uint32_t)HIGH_MASK) | (uint32_t)(address >> 32 & HIGH_MASK));
}
