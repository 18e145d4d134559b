#include "npu1/cdo.h"

#include "base/little_endian.h"

#include <inttypes.h>

/* How a command's payload begins; what is behind is data, or (MASK_POLL) flags. */
enum layout {
    LAYOUT_NONE,    /* nothing that we look at */
    LAYOUT_VALUE,   /* value */
    LAYOUT_MASK,    /* address, mask, value */
    LAYOUT_WRITE,   /* address, value */
    LAYOUT_DATA,    /* address, data */
    LAYOUT_SET,     /* address, count, value */
    LAYOUT_TRANSFER /* source, address, count */
};

static const struct kind {
    uint16_t id;
    uint8_t address_words; /* 2: the high one first */
    uint8_t least, most;   /* words of payload; most 0: any number */
    uint8_t writes;
    enum layout layout;
    const char *name;
} kinds[] = {
    {TW_CDO_END_MARK, 0, 0, 0, 0, LAYOUT_NONE, "END_MARK"},
    {TW_CDO_MASK_POLL, 1, 4, 0, 0, LAYOUT_MASK, "MASK_POLL"},
    {TW_CDO_MASK_WRITE, 1, 3, 3, 1, LAYOUT_MASK, "MASK_WRITE"},
    {TW_CDO_WRITE, 1, 2, 2, 1, LAYOUT_WRITE, "WRITE"},
    {TW_CDO_DELAY, 0, 1, 1, 0, LAYOUT_VALUE, "DELAY"},
    {TW_CDO_DMA_WRITE, 2, 2, 0, 1, LAYOUT_DATA, "DMA_WRITE"},
    {TW_CDO_MASK_POLL64, 2, 5, 0, 0, LAYOUT_MASK, "MASK_POLL64"},
    {TW_CDO_MASK_WRITE64, 2, 4, 4, 1, LAYOUT_MASK, "MASK_WRITE64"},
    {TW_CDO_WRITE64, 2, 3, 3, 1, LAYOUT_WRITE, "WRITE64"},
    {TW_CDO_DMA_XFER, 2, 6, 0, 1, LAYOUT_TRANSFER, "DMA_XFER"},
    {TW_CDO_INIT_SEQ, 0, 0, 0, 0, LAYOUT_NONE, "INIT_SEQ"},
    {TW_CDO_CFI_READ, 0, 0, 0, 0, LAYOUT_NONE, "CFI_READ"},
    {TW_CDO_SET, 2, 4, 4, 1, LAYOUT_SET, "SET"},
    {TW_CDO_DMA_WRITE_KEYHOLE, 2, 2, 0, 1, LAYOUT_DATA, "DMA_WRITE_KEYHOLE"},
    {TW_CDO_NOP, 0, 0, 0, 0, LAYOUT_NONE, "NOP"},
    {TW_CDO_MARKER, 0, 0, 0, 0, LAYOUT_NONE, "MARKER"},
};

static const struct kind *find_kind(unsigned id)
{
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        if (kinds[i].id == id)
            return &kinds[i];
    return NULL;
}

static uint32_t word(const struct tw_view *v, size_t index)
{
    return tw_load_u32(v->data + 4 * index);
}

int tw_cdo_recognise(const struct tw_view *view)
{
    return view->size >= 8 && word(view, 0) == TW_CDO_HEADER_REST && word(view, 1) == TW_CDO_MAGIC;
}

static int check_header(const struct tw_view *v, struct tw_error *err)
{
    if (!tw_cdo_recognise(v))
        return tw_view_fail(v, 0, TW_E_FORMAT, err,
                            "no CDO begins here: words 0x%" PRIx32 " 0x%" PRIx32 " instead of 0x%x 0x%x", word(v, 0),
                            word(v, 1), TW_CDO_HEADER_REST, TW_CDO_MAGIC);
    if (word(v, 2) != TW_CDO_VERSION)
        return tw_view_fail(v, 8, TW_E_UNSUPPORTED, err, "CDO version 0x%" PRIx32 ", but only 0x%x is known",
                            word(v, 2), TW_CDO_VERSION);
    uint32_t sum = ~(word(v, 0) + word(v, 1) + word(v, 2) + word(v, 3));
    if (word(v, 4) != sum)
        return tw_view_fail(v, 16, TW_E_FORMAT, err, "the CDO header's checksum is 0x%" PRIx32 " instead of 0x%" PRIx32,
                            word(v, 4), sum);
    return TW_OK;
}

static int check_tail(const struct tw_view *v, uint64_t end, struct tw_error *err)
{
    int clean = v->size - end < 16;
    for (size_t i = (size_t)end; clean && i < v->size; i++)
        clean = v->data[i] == 0;
    if (!clean)
        return tw_view_fail(v, end, TW_E_FORMAT, err,
                            "the CDO ends here by its length of 0x%" PRIx32 " words, but 0x%" PRIx64
                            " more bytes follow that are not only padding",
                            word(v, 3), v->size - end);
    return TW_OK;
}

int tw_cdo_open(const struct tw_view *view, struct tw_cdo *cdo, struct tw_error *err)
{
    struct tw_view header;
    int code = tw_view_part(view, 0, 4 * TW_CDO_HEADER_WORDS, "the CDO header", &header, err);
    if (code == 0)
        code = check_header(view, err);
    if (code == 0)
        code = tw_view_table(view, header.size, word(view, 3), 4, "the commands of the CDO", &cdo->commands, err);
    if (code == 0)
        code = check_tail(view, header.size + cdo->commands.size, err);
    return code;
}

/* Takes the fields out of a payload that is long enough for its kind. */
static void read_fields(const struct kind *k, const struct tw_view *payload, struct tw_cdo_command *c)
{
    size_t at = k->layout == LAYOUT_TRANSFER ? 2 : 0; /* behind the source */

    if (k->address_words == 2) {
        c->address = (uint64_t)word(payload, at) << 32 | word(payload, at + 1);
        at += 2;
    } else if (k->address_words == 1) {
        c->address = word(payload, at++);
    }
    c->n_words = k->writes;
    switch (k->layout) {
    case LAYOUT_NONE:
        break;
    case LAYOUT_VALUE:
    case LAYOUT_WRITE:
        c->value = word(payload, at);
        break;
    case LAYOUT_MASK:
        c->mask = word(payload, at);
        c->value = word(payload, at + 1);
        break;
    case LAYOUT_DATA:
        c->words.data += 4 * at;
        c->words.size -= 4 * at;
        c->words.at += 4 * at;
        c->n_words = (uint32_t)(c->words.size / 4);
        break;
    case LAYOUT_SET:
        c->n_words = word(payload, at);
        c->value = word(payload, at + 1);
        break;
    case LAYOUT_TRANSFER:
        c->n_words = word(payload, at);
        break;
    }
}

static int check_length(const struct tw_cdo *cdo, size_t at, const struct kind *k, uint32_t length,
                        struct tw_error *err)
{
    if (length < k->least || (k->most != 0 && length > k->most))
        return tw_view_fail(&cdo->commands, at, TW_E_FORMAT, err,
                            "the command %s has %" PRIu32 " words of payload, %s %u are expected", k->name, length,
                            k->most != 0 ? "exactly" : "at least", k->least);
    return TW_OK;
}

int tw_cdo_next(const struct tw_cdo *cdo, size_t *at, struct tw_cdo_command *command, struct tw_error *err)
{
    struct tw_view first, payload;
    if (*at >= cdo->commands.size)
        return 0;
    int code = tw_view_part(&cdo->commands, *at, 4, "a command of the CDO", &first, err);
    if (code < 0)
        return code;
    uint32_t head = word(&first, 0), length = head >> 16 & 0xff, n_head = 1;
    const struct kind *k = find_kind(head & 0xffff);
    if (k == NULL || head >> 24 != 0)
        return tw_view_fail(&first, 0, TW_E_FORMAT, err, "there is no CDO command 0x%" PRIx32, head);
    if (length == TW_CDO_LONG_LENGTH) {
        code = tw_view_part(&cdo->commands, *at + 4, 4, "the length of a CDO command", &first, err);
        if (code < 0)
            return code;
        length = word(&first, 0);
        n_head = 2;
    }
    code = check_length(cdo, *at, k, length, err);
    if (code == 0)
        code = tw_view_table(&cdo->commands, *at + 4 * n_head, length, 4, k->name, &payload, err);
    if (code < 0)
        return code;
    *command = (struct tw_cdo_command){.id = k->id, .name = k->name, .offset = *at, .words = payload};
    read_fields(k, &payload, command);
    *at = k->id == TW_CDO_END_MARK ? cdo->commands.size : *at + 4 * (n_head + payload.size / 4);
    return 1;
}
