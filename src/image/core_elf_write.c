#include "image/core_elf.h"

#include "base/little_endian.h"
#include "image/elf_format.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Sections behind the segments' ones; the first is left out when it is empty. Section 0 is empty by definition. */
enum { LAST_OLD, LAST_SYMBOLS, LAST_STRINGS, LAST_NAMES, LAST_COUNT };

static const struct {
    const char *name;
    uint32_t type, align;
} last_sections[LAST_COUNT] = {
    [LAST_OLD] = {TW_ELF_OLD_SECTION, ELF_PROGBITS, 1},
    [LAST_SYMBOLS] = {".symtab", ELF_SYMTAB, 4},
    [LAST_STRINGS] = {".strtab", ELF_STRTAB, 1},
    [LAST_NAMES] = {".shstrtab", ELF_STRTAB, 1},
};

enum { ALIGN = 16, SIZE_MAX_BYTES = 1 << 30 };

/* Where the parts of the file lie. */
struct plan {
    struct tw_elf_program program;
    size_t n_local;
    unsigned first_last; /* of the last sections that are there */
    size_t data[TW_ELF_SEGMENTS_MAX];
    size_t at[LAST_COUNT], bytes[LAST_COUNT];
    size_t headers, size;
};

static int check_segment(const struct tw_elf_segment *s, struct tw_error *err)
{
    uint64_t end = (uint64_t)s->address + s->bytes;
    int in_program = end <= TW_ELF_PROGRAM_BYTES;
    int in_data = s->address >= TW_ELF_DATA_FIRST && end <= TW_ELF_DATA_END &&
                  (end - 1) / TW_ELF_DATA_WINDOW == s->address / TW_ELF_DATA_WINDOW;
    if (s->bytes == 0 || s->data.size > s->bytes || (!in_program && !in_data))
        return tw_fail(err, TW_E_ARGUMENT,
                       "the segment %s of 0x%" PRIx32 " bytes from 0x%" PRIx32
                       " on, 0x%zx of them given, is neither in program memory (below 0x%x) nor in one window of data "
                       "memory (0x%x to 0x%x, 64 KiB each)",
                       s->name, s->bytes, s->address, s->data.size, TW_ELF_PROGRAM_BYTES, TW_ELF_DATA_FIRST,
                       TW_ELF_DATA_END);
    return TW_OK;
}

static int overlap(const struct tw_elf_segment *a, const struct tw_elf_segment *b)
{
    return a->address < b->address + b->bytes && b->address < a->address + a->bytes;
}

static int check_segments(const struct plan *p, struct tw_error *err)
{
    if (p->program.n_segments > TW_ELF_SEGMENTS_MAX)
        return tw_fail(err, TW_E_LIMIT, "a program of %zu segments; at most %d are possible", p->program.n_segments,
                       TW_ELF_SEGMENTS_MAX);
    for (size_t i = 0; i < p->program.n_segments; i++) {
        int code = check_segment(&p->program.segments[i], err);
        if (code < 0)
            return code;
        for (size_t j = 0; j < i; j++)
            if (overlap(&p->program.segments[i], &p->program.segments[j]))
                return tw_fail(err, TW_E_ARGUMENT, "the segments %s and %s overlap at 0x%" PRIx32,
                               p->program.segments[j].name, p->program.segments[i].name,
                               p->program.segments[i].address);
    }
    return TW_OK;
}

/* Gives part number i of the last sections its place. */
static void place(struct plan *p, unsigned i, size_t bytes)
{
    p->size = (p->size + 3) / 4 * 4;
    p->at[i] = p->size;
    p->bytes[i] = bytes;
    p->size += bytes;
}

/* The place of a segment in the file is congruent to its address, so that it can be mapped. */
static void place_segments(struct plan *p)
{
    p->size = ELF_HEADER_BYTES + p->program.n_segments * ELF_P_HEADER_BYTES;
    for (size_t i = 0; i < p->program.n_segments; i++) {
        size_t wanted = p->program.segments[i].address % ALIGN, is = p->size % ALIGN;
        p->size += (wanted + ALIGN - is) % ALIGN;
        p->data[i] = p->size;
        p->size += p->program.segments[i].data.size;
    }
}

/* The bytes of the uses out of time. */
static int measure_old(const struct plan *p, size_t *bytes, struct tw_error *err)
{
    *bytes = 0;
    if (p->program.n_old >= SIZE_MAX_BYTES / (ELF_OLD_NAME + TW_ELF_OLD_NAME_MAX + 1))
        return tw_fail(err, TW_E_LIMIT, "%zu uses out of time are more than this program writes into one file",
                       p->program.n_old);
    for (size_t i = 0; i < p->program.n_old; i++) {
        const struct tw_elf_old *r = &p->program.old[i];
        size_t n = strlen(r->name);
        if (n == 0 || n > TW_ELF_OLD_NAME_MAX)
            return tw_fail(err, TW_E_ARGUMENT,
                           "the use out of time at 0x%" PRIx32 " is one of '%s': a register's name has 1 to %d "
                           "characters",
                           r->address, r->name, TW_ELF_OLD_NAME_MAX);
        *bytes += ELF_OLD_NAME + n + 1;
    }
    return TW_OK;
}

static size_t section_count(const struct plan *p)
{
    return 1 + p->program.n_segments + LAST_COUNT - p->first_last;
}

static int make_plan(struct plan *p, struct tw_error *err)
{
    size_t old_bytes = 0;
    int code = check_segments(p, err);
    if (code == 0)
        code = measure_old(p, &old_bytes, err);
    if (code < 0)
        return code;
    p->first_last = old_bytes > 0 ? LAST_OLD : LAST_SYMBOLS;
    uint64_t strings = 1, names = 1;
    for (size_t i = 0; i < p->program.n_symbols && strings < SIZE_MAX_BYTES; i++) {
        strings += strlen(p->program.symbols[i].name) + 1;
        p->n_local += !p->program.symbols[i].global;
    }
    for (size_t i = 0; i < p->program.n_segments; i++)
        names += strlen(p->program.segments[i].name) + 1;
    for (unsigned i = p->first_last; i < LAST_COUNT; i++)
        names += strlen(last_sections[i].name) + 1;
    if (p->program.n_symbols >= SIZE_MAX_BYTES / ELF_SYM_BYTES || strings >= SIZE_MAX_BYTES || names >= SIZE_MAX_BYTES)
        return tw_fail(err, TW_E_LIMIT, "%zu symbols are more than this program writes into one file",
                       p->program.n_symbols);
    place_segments(p);
    place(p, LAST_OLD, old_bytes);
    place(p, LAST_SYMBOLS, (p->program.n_symbols + 1) * ELF_SYM_BYTES);
    place(p, LAST_STRINGS, (size_t)strings);
    place(p, LAST_NAMES, (size_t)names);
    p->headers = (p->size + 3) / 4 * 4;
    p->size = p->headers + section_count(p) * ELF_S_HEADER_BYTES;
    return TW_OK;
}

static void write_header(const struct plan *p, unsigned char *to)
{
    static const unsigned char ident[] = {0x7f, 'E', 'L', 'F', ELF_CLASS_32, ELF_LITTLE_ENDIAN, ELF_CURRENT};
    size_t n_sections = section_count(p);

    memcpy(to, ident, sizeof ident);
    tw_store_u16(to + ELF_TYPE, ELF_EXECUTABLE);
    tw_store_u16(to + ELF_MACHINE, ELF_MACHINE_AIE);
    tw_store_u32(to + ELF_VERSION, ELF_CURRENT);
    tw_store_u32(to + ELF_PROGRAM_TABLE, p->program.n_segments > 0 ? ELF_HEADER_BYTES : 0);
    tw_store_u32(to + ELF_SECTION_TABLE, (uint32_t)p->headers);
    tw_store_u32(to + ELF_FLAGS, ELF_FLAGS_AIE2);
    tw_store_u16(to + ELF_HEADER_SIZE, ELF_HEADER_BYTES);
    tw_store_u16(to + ELF_PROGRAM_ENTRY, ELF_P_HEADER_BYTES);
    tw_store_u16(to + ELF_PROGRAM_COUNT, (uint16_t)p->program.n_segments);
    tw_store_u16(to + ELF_SECTION_ENTRY, ELF_S_HEADER_BYTES);
    tw_store_u16(to + ELF_SECTION_COUNT, (uint16_t)n_sections);
    tw_store_u16(to + ELF_SECTION_NAMES, (uint16_t)(n_sections - 1));
}

static void write_segment(const struct plan *p, size_t i, unsigned char *file)
{
    const struct tw_elf_segment *s = &p->program.segments[i];
    unsigned char *to = file + ELF_HEADER_BYTES + i * ELF_P_HEADER_BYTES;

    tw_store_u32(to + ELF_P_TYPE, ELF_LOAD);
    tw_store_u32(to + ELF_P_OFFSET, (uint32_t)p->data[i]);
    tw_store_u32(to + ELF_P_ADDRESS, s->address);
    tw_store_u32(to + ELF_P_PHYSICAL, s->address);
    tw_store_u32(to + ELF_P_FILE_BYTES, (uint32_t)s->data.size);
    tw_store_u32(to + ELF_P_BYTES, s->bytes);
    tw_store_u32(to + ELF_P_FLAGS, ELF_P_READ | (tw_elf_is_program(s) ? ELF_P_EXECUTE : ELF_P_WRITE));
    tw_store_u32(to + ELF_P_ALIGN, ALIGN);
    if (s->data.size > 0)
        memcpy(file + p->data[i], s->data.data, s->data.size);
}

/* Appends a name to a table of strings; returns its offset there. */
static uint32_t put_name(unsigned char *table, size_t *at, const char *name)
{
    uint32_t offset = (uint32_t)*at;
    size_t bytes = strlen(name) + 1;
    memcpy(table + offset, name, bytes);
    *at += bytes;
    return offset;
}

/* The number of the section that holds an address. The end of a segment belongs to it unless another begins there. */
static unsigned section_of(const struct plan *p, uint32_t value)
{
    unsigned found = ELF_ABSOLUTE;
    for (size_t i = 0; i < p->program.n_segments; i++) {
        const struct tw_elf_segment *s = &p->program.segments[i];
        if (value >= s->address && value - s->address < s->bytes)
            return (unsigned)i + 1;
        if (value - s->address == s->bytes)
            found = (unsigned)i + 1;
    }
    return found;
}

static void write_old(const struct plan *p, unsigned char *file)
{
    unsigned char *to = file + p->at[LAST_OLD];

    for (size_t i = 0; i < p->program.n_old; i++) {
        const struct tw_elf_old *r = &p->program.old[i];
        size_t bytes = strlen(r->name) + 1;
        tw_store_u32(to + ELF_OLD_ADDRESS, r->address);
        memcpy(to + ELF_OLD_NAME, r->name, bytes);
        to += ELF_OLD_NAME + bytes;
    }
}

/* Local symbols stand before global ones. */
static void write_symbols(const struct plan *p, unsigned char *file)
{
    unsigned char *to = file + p->at[LAST_SYMBOLS] + ELF_SYM_BYTES;
    size_t string = 1;

    for (int global = 0; global <= 1; global++)
        for (size_t i = 0; i < p->program.n_symbols; i++) {
            const struct tw_elf_symbol *s = &p->program.symbols[i];
            if (!s->global != !global)
                continue;
            tw_store_u32(to + ELF_SYM_NAME, put_name(file + p->at[LAST_STRINGS], &string, s->name));
            tw_store_u32(to + ELF_SYM_VALUE, s->value);
            tw_store_u32(to + ELF_SYM_SIZE, s->size);
            to[ELF_SYM_INFO] = (unsigned char)((global << 4) | (int)s->kind);
            tw_store_u16(to + ELF_SYM_SECTION, (uint16_t)section_of(p, s->value));
            to += ELF_SYM_BYTES;
        }
}

static void write_segment_section(const struct plan *p, size_t i, unsigned char *to)
{
    const struct tw_elf_segment *s = &p->program.segments[i];
    int only_zeros = s->data.size == 0;

    tw_store_u32(to + ELF_S_TYPE, only_zeros ? ELF_NOBITS : ELF_PROGBITS);
    tw_store_u32(to + ELF_S_FLAGS, ELF_S_ALLOC | (tw_elf_is_program(s) ? ELF_S_EXECUTE : ELF_S_WRITE));
    tw_store_u32(to + ELF_S_ADDRESS, s->address);
    tw_store_u32(to + ELF_S_OFFSET, (uint32_t)p->data[i]);
    tw_store_u32(to + ELF_S_BYTES, only_zeros ? s->bytes : (uint32_t)s->data.size);
    tw_store_u32(to + ELF_S_ALIGN, s->address % ALIGN == 0 ? ALIGN : 1);
}

static void write_last_section(const struct plan *p, unsigned i, unsigned char *to)
{
    tw_store_u32(to + ELF_S_TYPE, last_sections[i].type);
    tw_store_u32(to + ELF_S_OFFSET, (uint32_t)p->at[i]);
    tw_store_u32(to + ELF_S_BYTES, (uint32_t)p->bytes[i]);
    tw_store_u32(to + ELF_S_ALIGN, last_sections[i].align);
    if (i != LAST_SYMBOLS)
        return;
    tw_store_u32(to + ELF_S_LINK, (uint32_t)(1 + p->program.n_segments + LAST_STRINGS - p->first_last));
    tw_store_u32(to + ELF_S_INFO, (uint32_t)(1 + p->n_local));
    tw_store_u32(to + ELF_S_ENTRY, ELF_SYM_BYTES);
}

static void write_sections(const struct plan *p, unsigned char *file)
{
    unsigned char *names = file + p->at[LAST_NAMES];
    unsigned char *to = file + p->headers + ELF_S_HEADER_BYTES;
    size_t name = 1;

    for (size_t i = 0; i < p->program.n_segments; i++, to += ELF_S_HEADER_BYTES) {
        tw_store_u32(to + ELF_S_NAME, put_name(names, &name, p->program.segments[i].name));
        write_segment_section(p, i, to);
    }
    for (unsigned i = p->first_last; i < LAST_COUNT; i++, to += ELF_S_HEADER_BYTES) {
        tw_store_u32(to + ELF_S_NAME, put_name(names, &name, last_sections[i].name));
        write_last_section(p, i, to);
    }
}

int tw_core_elf_write(const struct tw_elf_program *program, unsigned char **bytes, size_t *size, struct tw_error *err)
{
    struct plan p = {.program = *program};

    *bytes = NULL;
    *size = 0;
    int code = make_plan(&p, err);
    if (code < 0)
        return code;
    unsigned char *file = calloc(1, p.size);
    if (file == NULL)
        return tw_fail(err, TW_E_MEMORY, "no memory for an ELF file of %zu bytes", p.size);
    write_header(&p, file);
    for (size_t i = 0; i < program->n_segments; i++)
        write_segment(&p, i, file);
    write_old(&p, file);
    write_symbols(&p, file);
    write_sections(&p, file);
    *bytes = file;
    *size = p.size;
    return TW_OK;
}
