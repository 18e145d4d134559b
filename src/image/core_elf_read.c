#include "image/core_elf.h"

#include "base/little_endian.h"
#include "image/elf_format.h"

#include <inttypes.h>
#include <string.h>

static const unsigned char magic[4] = {0x7f, 'E', 'L', 'F'};

int tw_elf_recognise(const struct tw_view *view)
{
    return view->size >= sizeof magic && memcmp(view->data, magic, sizeof magic) == 0;
}

int tw_elf_is_program(const struct tw_elf_segment *segment)
{
    return segment->address < TW_ELF_DATA_FIRST;
}

static int check_machine(const struct tw_view *v, struct tw_error *err)
{
    const unsigned char *h = v->data;
    if (h[ELF_IDENT_CLASS] != ELF_CLASS_32 || h[ELF_IDENT_DATA] != ELF_LITTLE_ENDIAN ||
        h[ELF_IDENT_VERSION] != ELF_CURRENT)
        return tw_view_fail(v, ELF_IDENT_CLASS, TW_E_UNSUPPORTED, err,
                            "this ELF file is not for an AIE2 core, whose files have 32 bits (1) and are little-endian "
                            "(1) of version 1: it says %d, %d and %d",
                            h[ELF_IDENT_CLASS], h[ELF_IDENT_DATA], h[ELF_IDENT_VERSION]);
    unsigned machine = tw_load_u16(h + ELF_MACHINE);
    if (machine != ELF_MACHINE_AIE)
        return tw_view_fail(v, ELF_MACHINE, TW_E_UNSUPPORTED, err,
                            "this ELF file is for machine %u, not for an AIE core (%d)", machine, ELF_MACHINE_AIE);
    uint32_t flags = tw_load_u32(h + ELF_FLAGS);
    if (flags != ELF_FLAGS_AIE2)
        return tw_view_fail(v, ELF_FLAGS, TW_E_UNSUPPORTED, err,
                            "this ELF file is for another AIE core: flags %" PRIu32
                            ", AIE2 has %d (1 is the first generation, 3 is AIE2P)",
                            flags, ELF_FLAGS_AIE2);
    unsigned type = tw_load_u16(h + ELF_TYPE);
    if (type != ELF_EXECUTABLE)
        return tw_view_fail(v, ELF_TYPE, TW_E_UNSUPPORTED, err,
                            "this ELF file is of type %u, not a linked program (%d); link it first", type,
                            ELF_EXECUTABLE);
    return TW_OK;
}

/* A table that the ELF header places; empty when it has no entries. */
static int open_table(const struct tw_view *v, size_t table, size_t entry, size_t count, unsigned entry_bytes,
                      const char *what, struct tw_view *found, struct tw_error *err)
{
    unsigned n = tw_load_u16(v->data + count), bytes = tw_load_u16(v->data + entry);

    if (n == 0)
        return tw_view_part(v, 0, 0, what, found, err);
    if (bytes != entry_bytes)
        return tw_view_fail(v, entry, TW_E_FORMAT, err, "%s have %u bytes each instead of %u", what, bytes,
                            entry_bytes);
    return tw_view_table(v, tw_load_u32(v->data + table), n, entry_bytes, what, found, err);
}

/* Segments lie in program memory or in one window of data memory. */
static int check_address(const struct tw_view *header, const struct tw_elf_segment *s, struct tw_error *err)
{
    uint64_t end = (uint64_t)s->address + s->bytes;
    if (tw_elf_is_program(s) && end > TW_ELF_PROGRAM_BYTES)
        return tw_view_fail(header, ELF_P_ADDRESS, TW_E_FORMAT, err,
                            "a segment from 0x%" PRIx32 " to 0x%" PRIx64
                            " does not fit into program memory, which ends at 0x%x",
                            s->address, end, TW_ELF_PROGRAM_BYTES);
    if (!tw_elf_is_program(s) &&
        (end > TW_ELF_DATA_END || (end - 1) / TW_ELF_DATA_WINDOW != s->address / TW_ELF_DATA_WINDOW))
        return tw_view_fail(header, ELF_P_ADDRESS, TW_E_FORMAT, err,
                            "a segment from 0x%" PRIx32 " to 0x%" PRIx64
                            " does not lie in one window of data memory; they have 64 KiB each from 0x%x to 0x%x",
                            s->address, end, TW_ELF_DATA_FIRST, TW_ELF_DATA_END);
    return TW_OK;
}

static int read_segment(const struct tw_view *v, const struct tw_view *header, struct tw_elf_segment *s,
                        struct tw_error *err)
{
    uint32_t file_bytes = tw_load_u32(header->data + ELF_P_FILE_BYTES);

    *s = (struct tw_elf_segment){.name = "",
                                 .address = tw_load_u32(header->data + ELF_P_ADDRESS),
                                 .bytes = tw_load_u32(header->data + ELF_P_BYTES)};
    if (s->bytes == 0)
        return TW_OK;
    if (file_bytes > s->bytes)
        return tw_view_fail(header, ELF_P_FILE_BYTES, TW_E_FORMAT, err,
                            "a segment has 0x%" PRIx32 " bytes in the file, more than the 0x%" PRIx32 " in memory",
                            file_bytes, s->bytes);
    int code = check_address(header, s, err);
    return code < 0 ? code
                    : tw_view_part(v, tw_load_u32(header->data + ELF_P_OFFSET), file_bytes, "a segment", &s->data, err);
}

/* Puts a segment where it belongs by its address. */
static int insert_segment(struct tw_core_elf *elf, const struct tw_view *header, const struct tw_elf_segment *s,
                          struct tw_error *err)
{
    if (elf->n_segments == TW_ELF_SEGMENTS_MAX)
        return tw_view_fail(header, 0, TW_E_LIMIT, err, "more than %d segments", TW_ELF_SEGMENTS_MAX);
    uint32_t i = elf->n_segments;
    while (i > 0 && elf->segments[i - 1].address > s->address)
        i--;
    const struct tw_elf_segment *before = i > 0 ? &elf->segments[i - 1] : NULL;
    const struct tw_elf_segment *behind = i < elf->n_segments ? &elf->segments[i] : NULL;
    if ((before != NULL && s->address - before->address < before->bytes) ||
        (behind != NULL && behind->address - s->address < s->bytes))
        return tw_view_fail(header, ELF_P_ADDRESS, TW_E_FORMAT, err,
                            "two segments overlap: this one has 0x%" PRIx32 " bytes from 0x%" PRIx32 " on", s->bytes,
                            s->address);
    memmove(&elf->segments[i + 1], &elf->segments[i], (elf->n_segments - i) * sizeof *s);
    elf->segments[i] = *s;
    elf->n_segments++;
    return TW_OK;
}

static int read_segments(struct tw_core_elf *elf, struct tw_error *err)
{
    struct tw_view headers, header;
    struct tw_elf_segment s;
    int code = open_table(&elf->view, ELF_PROGRAM_TABLE, ELF_PROGRAM_ENTRY, ELF_PROGRAM_COUNT, ELF_P_HEADER_BYTES,
                          "program headers", &headers, err);
    if (code < 0)
        return code;
    for (size_t at = 0; at < headers.size; at += ELF_P_HEADER_BYTES) {
        code = tw_view_part(&headers, at, ELF_P_HEADER_BYTES, "a program header", &header, err);
        if (code < 0)
            return code;
        if (tw_load_u32(header.data + ELF_P_TYPE) != ELF_LOAD)
            continue;
        code = read_segment(&elf->view, &header, &s, err);
        if (code == 0 && s.bytes != 0)
            code = insert_segment(elf, &header, &s, err);
        if (code < 0)
            return code;
    }
    return TW_OK;
}

/* The bytes of a section; header is its header. */
static int open_section(const struct tw_view *v, const unsigned char *header, const char *what, struct tw_view *data,
                        struct tw_error *err)
{
    return tw_view_part(v, tw_load_u32(header + ELF_S_OFFSET), tw_load_u32(header + ELF_S_BYTES), what, data, err);
}

/* All names lie inside the strings, and those end with a NUL. */
static int check_names(const struct tw_core_elf *elf, struct tw_error *err)
{
    const struct tw_view *strings = &elf->strings;
    if (strings->size == 0 || strings->data[strings->size - 1] != 0)
        return tw_view_fail(strings, strings->size, TW_E_FORMAT, err, "the names of symbols do not end with a zero");
    for (uint32_t i = 0; i < elf->n_symbols; i++) {
        uint32_t name = tw_load_u32(elf->symbols.data + (size_t)i * ELF_SYM_BYTES + ELF_SYM_NAME);
        if (name >= strings->size)
            return tw_view_fail(&elf->symbols, (uint64_t)i * ELF_SYM_BYTES, TW_E_FORMAT, err,
                                "the name of symbol %" PRIu32 " is at 0x%" PRIx32 " of names that have 0x%zx bytes", i,
                                name, strings->size);
    }
    return TW_OK;
}

static int read_symbols(struct tw_core_elf *elf, struct tw_error *err)
{
    struct tw_view headers;
    int code = open_table(&elf->view, ELF_SECTION_TABLE, ELF_SECTION_ENTRY, ELF_SECTION_COUNT, ELF_S_HEADER_BYTES,
                          "section headers", &headers, err);
    if (code < 0)
        return code;
    size_t at = 0;
    while (at < headers.size && tw_load_u32(headers.data + at + ELF_S_TYPE) != ELF_SYMTAB)
        at += ELF_S_HEADER_BYTES;
    if (at == headers.size)
        return TW_OK;
    uint64_t strings = (uint64_t)tw_load_u32(headers.data + at + ELF_S_LINK) * ELF_S_HEADER_BYTES;
    if (strings >= headers.size)
        return tw_view_fail(&headers, at + ELF_S_LINK, TW_E_FORMAT, err,
                            "the names of symbols are in section %" PRIu32 ", but there are only %zu",
                            tw_load_u32(headers.data + at + ELF_S_LINK), headers.size / ELF_S_HEADER_BYTES);
    code = open_section(&elf->view, headers.data + at, "the table of symbols", &elf->symbols, err);
    if (code == 0)
        code = open_section(&elf->view, headers.data + strings, "the names of symbols", &elf->strings, err);
    if (code < 0)
        return code;
    elf->n_symbols = (uint32_t)(elf->symbols.size / ELF_SYM_BYTES);
    return elf->n_symbols == 0 ? TW_OK : check_names(elf, err);
}

/* ---- uses out of time */

/* The section of a name, or NULL; *headers are all of them. */
static int find_section(const struct tw_view *v, const char *wanted, struct tw_view *headers,
                        const unsigned char **found, struct tw_error *err)
{
    struct tw_view names;
    int code = open_table(v, ELF_SECTION_TABLE, ELF_SECTION_ENTRY, ELF_SECTION_COUNT, ELF_S_HEADER_BYTES,
                          "section headers", headers, err);
    size_t at = tw_load_u16(v->data + ELF_SECTION_NAMES) * (size_t)ELF_S_HEADER_BYTES, size = strlen(wanted) + 1;

    *found = NULL;
    if (code < 0 || at >= headers->size)
        return code; /* the sections have no names */
    code = open_section(v, headers->data + at, "the names of sections", &names, err);
    if (code < 0)
        return code;
    for (at = 0; at < headers->size && *found == NULL; at += ELF_S_HEADER_BYTES) {
        uint32_t name = tw_load_u32(headers->data + at + ELF_S_NAME);
        if (name < names.size && names.size - name >= size && memcmp(names.data + name, wanted, size) == 0)
            *found = headers->data + at;
    }
    return TW_OK;
}

/* Whether all entries are whole, so that reading them cannot fail. */
static int check_old(const struct tw_view *v, struct tw_error *err)
{
    for (size_t at = 0; at < v->size;) {
        size_t left = v->size - at, most = ELF_OLD_NAME + TW_ELF_OLD_NAME_MAX + 1;
        const unsigned char *name = v->data + at + ELF_OLD_NAME;
        const unsigned char *end =
            left <= ELF_OLD_NAME ? NULL : memchr(name, 0, (left < most ? left : most) - ELF_OLD_NAME);
        if (end == NULL || end == name)
            return tw_view_fail(v, at, TW_E_FORMAT, err,
                                "a use out of time has no register's name of 1 to %d characters behind its address",
                                TW_ELF_OLD_NAME_MAX);
        at = (size_t)(end - v->data) + 1;
    }
    return TW_OK;
}

static int read_old(struct tw_core_elf *elf, struct tw_error *err)
{
    struct tw_view headers;
    const unsigned char *section;
    int code = find_section(&elf->view, TW_ELF_OLD_SECTION, &headers, &section, err);

    if (code < 0 || section == NULL)
        return code;
    code = open_section(&elf->view, section, "the list of uses out of time", &elf->old, err);
    return code < 0 ? code : check_old(&elf->old, err);
}

int tw_core_elf_old(const struct tw_core_elf *elf, size_t *at, struct tw_elf_old *read)
{
    const struct tw_view *v = &elf->old;

    if (*at >= v->size)
        return 0;
    read->address = tw_load_u32(v->data + *at);
    read->name = (const char *)v->data + *at + ELF_OLD_NAME;
    *at += ELF_OLD_NAME + strlen(read->name) + 1;
    return 1;
}

/* ---- */

int tw_core_elf_open(const struct tw_view *view, struct tw_core_elf *elf, struct tw_error *err)
{
    struct tw_view header;
    if (!tw_elf_recognise(view))
        return tw_view_fail(view, 0, TW_E_FORMAT, err, "no ELF file begins here");
    int code = tw_view_part(view, 0, ELF_HEADER_BYTES, "the ELF header", &header, err);
    if (code == 0)
        code = check_machine(view, err);
    if (code < 0)
        return code;
    memset(elf, 0, sizeof *elf);
    elf->view = *view;
    code = read_segments(elf, err);
    if (code == 0)
        code = read_symbols(elf, err);
    return code < 0 ? code : read_old(elf, err);
}

void tw_core_elf_symbol(const struct tw_core_elf *elf, uint32_t i, struct tw_elf_symbol *symbol)
{
    const unsigned char *entry = elf->symbols.data + (size_t)i * ELF_SYM_BYTES;
    unsigned kind = entry[ELF_SYM_INFO] & 0xf;

    *symbol = (struct tw_elf_symbol){
        .name = (const char *)elf->strings.data + tw_load_u32(entry + ELF_SYM_NAME),
        .value = tw_load_u32(entry + ELF_SYM_VALUE),
        .size = tw_load_u32(entry + ELF_SYM_SIZE),
        .kind = kind <= TW_ELF_FUNCTION ? (enum tw_elf_symbol_kind)kind : TW_ELF_NOTYPE,
        .global = entry[ELF_SYM_INFO] >> 4 == 1,
    };
}
