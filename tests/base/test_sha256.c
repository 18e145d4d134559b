/* SHA-256 against the examples of FIPS 180-4 and its companion documents, in one piece and in many. */
#include "base/sha256.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static const char *digest_of(const void *data, size_t size, size_t piece, char hex[65])
{
    struct tw_sha256 h;
    tw_sha256_start(&h);
    const char *p = data;
    for (size_t at = 0; at < size; at += piece)
        tw_sha256_add(&h, p + at, size - at < piece ? size - at : piece);
    tw_sha256_finish(&h, hex);
    return hex;
}

static void published_examples(void **state)
{
    (void)state;
    static const struct {
        const char *text, *digest;
    } examples[] = {
        {"", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
        {"abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
        {"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
         "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"},
        {"abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmnoijklmnopjklmnopqklmnopqrlmnopqrsmnopqrstnopqr"
         "stu",
         "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1"},
    };
    char hex[65];
    for (size_t i = 0; i < sizeof examples / sizeof examples[0]; i++) {
        const char *text = examples[i].text;
        assert_string_equal(digest_of(text, strlen(text), 1000, hex), examples[i].digest);
    }
}

static void a_million_letters(void **state)
{
    (void)state;
    size_t size = 1000000;
    char *text = malloc(size), hex[65];
    assert_non_null(text);
    memset(text, 'a', size);
    static const size_t pieces[] = {1, 7, 63, 64, 65, 4096, 1000000};
    for (size_t i = 0; i < sizeof pieces / sizeof pieces[0]; i++)
        assert_string_equal(digest_of(text, size, pieces[i], hex),
                            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
    free(text);
}

/* Around the ends of blocks the padding takes one block more or less: known digests of that many zero bytes. */
static void padding_at_block_ends(void **state)
{
    (void)state;
    static const struct {
        size_t size;
        const char *digest;
    } zeros[] = {
        {55, "02779466cdec163811d078815c633f21901413081449002f24aa3e80f0b88ef7"},
        {56, "d4817aa5497628e7c77e6b606107042bbba3130888c5f47a375e6179be789fbb"},
        {57, "65a16cb7861335d5ace3c60718b5052e44660726da4cd13bb745381b235a1785"},
        {64, "f5a5fd42d16a20302798ef6ed309979b43003d2320d9f0e8ea9831a92759fb4b"},
    };
    char hex[65];
    unsigned char none[64] = {0};
    for (size_t i = 0; i < sizeof zeros / sizeof zeros[0]; i++)
        assert_string_equal(digest_of(none, zeros[i].size, 64, hex), zeros[i].digest);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(published_examples),
        cmocka_unit_test(a_million_letters),
        cmocka_unit_test(padding_at_block_ends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
