#include "npu1/registers.h"

#include "npu1/bits.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const tile_names[TW_TILE_KINDS] = {
    [TW_TILE_SHIM] = "shim", [TW_TILE_MEMORY] = "mem", [TW_TILE_CORE] = "core"};

/* Memories of the tiles, which are no registers. */
static const struct memory {
    enum tw_tile_kind kind;
    uint32_t offset, bytes;
    const char *name;
} memories[] = {
    {TW_TILE_CORE, TW_CORE_DATA, TW_CORE_DATA_BYTES, "data"},
    {TW_TILE_CORE, TW_CORE_PROGRAM, TW_CORE_PROGRAM_BYTES, "program"},
    {TW_TILE_MEMORY, 0, TW_MEMORY_TILE_BYTES, "data"},
};

#define N_MEMORIES (sizeof memories / sizeof memories[0])

/* A text that is put together piece by piece and cut where there is no more room. */
struct text {
    char *at;
    size_t room;
};

static void append(struct text *t, const char *fmt, ...) TW_PRINTF(2, 3);
static void append(struct text *t, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    int n = vsnprintf(t->at, t->room, fmt, args);
    va_end(args);
    size_t used = n < 0 ? 0 : (size_t)n < t->room ? (size_t)n : t->room > 0 ? t->room - 1 : 0;
    t->at += used;
    t->room -= used;
}

static enum tw_tile_kind kind_of(uint32_t address)
{
    return tw_tile_kind(tw_tile_row(address));
}

const struct tw_tile_register *tw_tile_register_at(enum tw_tile_kind kind, uint32_t offset)
{
    unsigned count, low = 0;
    const struct tw_tile_register *all = tw_tile_registers(kind, &count);
    unsigned high = count; /* the first one behind the offset is in [low, high] */
    while (low < high) {
        unsigned middle = low + (high - low) / 2;
        if (all[middle].offset <= offset)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == 0 || offset - all[low - 1].offset >= all[low - 1].bits / 8u)
        return NULL;
    return &all[low - 1];
}

static int same_name(const char *a, const char *b)
{
    while (*a != '\0' && tolower((unsigned char)*a) == tolower((unsigned char)*b)) {
        a++;
        b++;
    }
    return *a == *b;
}

const struct tw_tile_register *tw_tile_register_named(enum tw_tile_kind kind, const char *name)
{
    unsigned count;
    const struct tw_tile_register *all = tw_tile_registers(kind, &count);
    for (unsigned i = 0; i < count; i++)
        if (same_name(all[i].name, name))
            return &all[i];
    return NULL;
}

void tw_tile_name(uint32_t address, char *text, size_t size)
{
    snprintf(text, size, "%s(%u,%u)", tile_names[kind_of(address)], tw_tile_column(address), tw_tile_row(address));
}

static const struct memory *memory_at(enum tw_tile_kind kind, uint32_t offset)
{
    for (size_t i = 0; i < N_MEMORIES; i++)
        if (memories[i].kind == kind && offset >= memories[i].offset && offset - memories[i].offset < memories[i].bytes)
            return &memories[i];
    return NULL;
}

void tw_tile_register_name(uint32_t address, char *text, size_t size)
{
    enum tw_tile_kind kind = kind_of(address);
    uint32_t offset = tw_tile_offset(address);
    const struct memory *memory = memory_at(kind, offset);
    const struct tw_tile_register *r = tw_tile_register_at(kind, offset);
    char tile[32];
    tw_tile_name(address, tile, sizeof tile);
    if (memory != NULL)
        snprintf(text, size, "%s %s+0x%" PRIx32, tile, memory->name, offset - memory->offset);
    else if (r == NULL || offset % 4 != 0)
        snprintf(text, size, "%s 0x%05" PRIx32, tile, offset);
    else if (r->bits > 32)
        snprintf(text, size, "%s %s[%" PRIu32 "]", tile, r->name, (offset - r->offset) / 4);
    else
        snprintf(text, size, "%s %s", tile, r->name);
}

/* ---- Text to address */

/* A number that ends at `end`; *text moves behind `end`. Returns it, or -1. */
static int64_t read_number(const char **text, char end)
{
    char *stop;
    if (!isdigit((unsigned char)**text))
        return -1;
    unsigned long value = strtoul(*text, &stop, 0);
    if (*stop != end || value > UINT32_MAX)
        return -1;
    *text = end == '\0' ? stop : stop + 1;
    return (int64_t)value;
}

/* Reads "core(1,2) ". Returns nonzero when it is that and names a tile of its kind. */
static int read_tile(const char **text, unsigned *column, unsigned *row)
{
    enum tw_tile_kind kind = TW_TILE_SHIM;
    size_t length = strcspn(*text, "(");
    while (kind < TW_TILE_KINDS &&
           (strlen(tile_names[kind]) != length || strncmp(tile_names[kind], *text, length) != 0))
        kind++;
    if (kind == TW_TILE_KINDS || (*text)[length] != '(')
        return 0;
    *text += length + 1;
    int64_t c = read_number(text, ','), r = c < 0 ? -1 : read_number(text, ')');
    if (c < 0 || c >= TW_NPU1_COLUMNS || r < 0 || r >= TW_NPU1_ROWS || tw_tile_kind((unsigned)r) != kind)
        return 0;
    *column = (unsigned)c;
    *row = (unsigned)r;
    return *(*text)++ == ' ';
}

/* "data+0x400". Returns the offset in the tile or -1. */
static int64_t read_memory(enum tw_tile_kind kind, const char *text)
{
    for (size_t i = 0; i < N_MEMORIES; i++) {
        size_t length = strlen(memories[i].name);
        if (memories[i].kind != kind || strncmp(text, memories[i].name, length) != 0 || text[length] != '+')
            continue;
        const char *at = text + length + 1;
        int64_t offset = read_number(&at, '\0');
        return offset < 0 || offset >= memories[i].bytes ? -1 : memories[i].offset + offset;
    }
    return -1;
}

/* "DMA_BD3_1" or "Core_R0[1]". Returns the offset in the tile or -1. */
static int64_t read_register(enum tw_tile_kind kind, const char *text)
{
    char name[128];
    size_t length = strcspn(text, "[");
    int64_t index = 0;
    if (length >= sizeof name)
        return -1;
    memcpy(name, text, length);
    name[length] = '\0';
    if (text[length] == '[') {
        const char *at = text + length + 1;
        index = read_number(&at, ']');
        if (*at != '\0')
            return -1;
    }
    const struct tw_tile_register *r = tw_tile_register_named(kind, name);
    return r == NULL || index < 0 || index >= r->bits / 32 ? -1 : r->offset + 4 * index;
}

int tw_tile_register_address(const char *text, uint32_t *address, struct tw_error *err)
{
    unsigned column, row;
    const char *at = text;
    if (!read_tile(&at, &column, &row))
        return tw_fail(err, TW_E_ARGUMENT, "'%s' does not begin with a tile of NPU1, as 'core(0,2) ' does", text);
    enum tw_tile_kind kind = tw_tile_kind(row);
    int64_t offset = read_memory(kind, at);
    if (offset < 0)
        offset = read_register(kind, at);
    if (offset < 0) {
        const char *number = at;
        offset = read_number(&number, '\0');
    }
    if (offset < 0 || offset >= TW_TILE_BYTES)
        return tw_fail(err, TW_E_NOT_FOUND, "there is no register '%s' in a %s tile", at, tile_names[kind]);
    *address = tw_tile_address(column, row, (uint32_t)offset);
    return TW_OK;
}

/* ---- Values */

static void append_value(struct text *t, uint32_t value)
{
    append(t, value < 10 ? "%" PRIu32 : "0x%" PRIx32, value);
}

void tw_tile_register_print(uint32_t address, uint32_t mask, uint32_t value, char *text, size_t size)
{
    struct text t = {text, size};
    uint32_t offset = tw_tile_offset(address), rest = value & mask;
    const struct tw_tile_register *r =
        memory_at(kind_of(address), offset) != NULL ? NULL : tw_tile_register_at(kind_of(address), offset);
    append(&t, "%s", "");
    if (r == NULL || r->bits > 32) {
        append_value(&t, value & mask);
        return;
    }
    const char *blank = "";
    for (unsigned i = 0; i < r->n_fields; i++) {
        int field = r->fields[i].low | r->fields[i].bits << 8;
        if ((mask & tw_bits_mask(field)) == 0 || (tw_bits_get(value & mask, field) == 0 && mask == UINT32_MAX))
            continue;
        append(&t, "%s%s=", blank, r->fields[i].name);
        append_value(&t, tw_bits_get(value & mask, field));
        rest &= ~tw_bits_mask(field);
        blank = " ";
    }
    if (rest != 0)
        append(&t, "%sother=0x%" PRIx32, blank, rest);
}
