/*
 * Registers: any address with any value is printed within any buffer, names lead back to addresses, and any text is
 * taken for an address or refused; descriptors of any words survive decoding and encoding.
 */
#include "base/little_endian.h"
#include "npu1/buffer_descriptor.h"
#include "npu1/registers.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(int holds)
{
    if (!holds)
        abort();
}

static void print(uint32_t address, uint32_t mask, uint32_t value, size_t room)
{
    char *text = malloc(room + 1), whole[2 * TW_TILE_REGISTER_TEXT];
    require(text != NULL);
    tw_tile_register_print(address, mask, value, whole, sizeof whole);
    require(strlen(whole) < TW_TILE_REGISTER_TEXT);
    tw_tile_register_print(address, mask, value, text, room);
    require(room == 0 || (strlen(text) < room && strncmp(text, whole, strlen(text)) == 0));
    tw_tile_register_name(address, text, room);
    require(room == 0 || strlen(text) < room);
    free(text);
}

static void name_and_back(uint32_t address)
{
    char text[TW_TILE_REGISTER_TEXT];
    uint32_t again = ~address;
    int is_there = tw_tile_column(address) < TW_NPU1_COLUMNS && tw_tile_row(address) < TW_NPU1_ROWS;
    tw_tile_register_name(address, text, sizeof text);
    int code = tw_tile_register_address(text, &again, NULL);
    require(is_there ? code == 0 && again == address : code < 0);
}

static void descriptor(unsigned kind, const uint8_t *data)
{
    uint32_t words[TW_BD_WORDS_MAX], first[TW_BD_WORDS_MAX], second[TW_BD_WORDS_MAX];
    struct tw_bd bd;
    for (unsigned i = 0; i < TW_BD_WORDS_MAX; i++)
        words[i] = tw_load_u32(data + 4 * (size_t)i);
    tw_bd_decode(kind, words, &bd);
    require(tw_bd_encode(kind, &bd, first, NULL) == 0);
    tw_bd_decode(kind, first, &bd);
    require(tw_bd_encode(kind, &bd, second, NULL) == 0);
    require(memcmp(first, second, 4 * (size_t)tw_bd_words(kind)) == 0);
}

static void text_to_address(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);
    struct tw_error err = {0};
    uint32_t address = 0;
    require(text != NULL);
    if (size > 0)
        memcpy(text, data, size);
    text[size] = '\0';
    int code = tw_tile_register_address(text, &address, &err);
    require(code <= 0 && (code < 0) == (err.text[0] != '\0'));
    if (code == 0)
        name_and_back(address);
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size >= 14)
        print(tw_load_u32(data), tw_load_u32(data + 4), tw_load_u32(data + 8), tw_load_u16(data + 12) % 2048);
    if (size >= 4)
        name_and_back(tw_load_u32(data));
    if (size >= 33)
        descriptor(data[32] % TW_TILE_KINDS, data);
    text_to_address(data, size);
    return 0;
}
