#include "whisper/ct2_variables.h"

#include "whisper/cursor.h"

#include <stdlib.h>
#include <string.h>

#define VERSION 6
#define REVISION 3
#define SPEC "WhisperSpec"
#define VARIABLES_MAX 65536
#define NAME_MAX_BYTES 255

static const struct {
    const char *name;
    unsigned bytes;
} types[TW_CT2_TYPE_COUNT] = {
    [TW_CT2_F32] = {"float32", 4}, [TW_CT2_I8] = {"int8", 1},     [TW_CT2_I16] = {"int16", 2},
    [TW_CT2_I32] = {"int32", 4},   [TW_CT2_F16] = {"float16", 2}, [TW_CT2_BF16] = {"bfloat16", 2},
};

const char *tw_ct2_type_name(enum tw_ct2_type type)
{
    return types[type].name;
}

/* A length that counts the terminating zero, then the bytes. */
static int read_string(struct tw_cursor *in, const char *what, const char **string, struct tw_error *err)
{
    uint16_t size;
    const unsigned char *bytes;
    size_t start = in->at;
    int code = tw_cursor_u16(in, what, &size, err);
    if (code == TW_OK)
        code = tw_cursor_take(in, size, what, &bytes, err);
    if (code < 0)
        return code;
    if (size < 2 || size > NAME_MAX_BYTES + 1 || memchr(bytes, 0, size) != bytes + size - 1)
        return tw_fail(err, TW_E_FORMAT, "'%s' is damaged: %s at byte %zu is not a name", in->file, what, start);
    *string = (const char *)bytes;
    return TW_OK;
}

static int read_header(struct tw_cursor *in, uint32_t *count, struct tw_error *err)
{
    uint32_t version, revision;
    const char *spec;
    int code = tw_cursor_u32(in, "the version", &version, err);
    if (code < 0)
        return code;
    if (version != VERSION)
        return tw_fail(err, version < VERSION ? TW_E_UNSUPPORTED : TW_E_FORMAT,
                       "'%s' is not a CTranslate2 model of binary version %d (it says %u); convert the model anew",
                       in->file, VERSION, (unsigned)version);
    code = read_string(in, "the kind of model", &spec, err);
    if (code < 0)
        return code;
    if (strcmp(spec, SPEC) != 0)
        return tw_fail(err, TW_E_UNSUPPORTED, "'%s' is a CTranslate2 model of another kind than Whisper", in->file);
    code = tw_cursor_u32(in, "the revision", &revision, err);
    if (code < 0)
        return code;
    if (revision != REVISION)
        return tw_fail(err, TW_E_UNSUPPORTED,
                       "'%s' is a Whisper model of revision %u, and only %d can be read; convert it anew", in->file,
                       (unsigned)revision, REVISION);
    code = tw_cursor_u32(in, "the number of variables", count, err);
    if (code == TW_OK && (*count == 0 || *count > VARIABLES_MAX))
        code = tw_fail(err, TW_E_FORMAT, "'%s' is damaged: it claims %u variables", in->file, (unsigned)*count);
    return code;
}

/* The product of the shape, or 0 where that is beyond any file. */
static uint64_t count_numbers(const struct tw_ct2_variable *v)
{
    uint64_t count = 1;
    for (int i = 0; i < v->rank; i++) {
        if (v->dims[i] == 0 || count > UINT64_C(1) << 40)
            return 0;
        count *= v->dims[i];
    }
    return count;
}

static int read_shape(struct tw_cursor *in, struct tw_ct2_variable *v, struct tw_error *err)
{
    uint8_t rank;
    int code = tw_cursor_u8(in, "a variable's shape", &rank, err);
    if (code < 0)
        return code;
    if (rank > TW_CT2_RANK_MAX)
        return tw_fail(err, TW_E_FORMAT, "'%s' is damaged: %s has %d dimensions", in->file, v->name, rank);
    v->rank = rank;
    for (int i = 0; i < rank && code == TW_OK; i++)
        code = tw_cursor_u32(in, "a variable's shape", &v->dims[i], err);
    v->count = count_numbers(v);
    return code;
}

static int read_variable(struct tw_cursor *in, struct tw_ct2_variable *v, struct tw_error *err)
{
    uint8_t type;
    uint32_t bytes;
    int code = read_string(in, "a variable's name", &v->name, err);
    if (code == TW_OK)
        code = read_shape(in, v, err);
    if (code == TW_OK)
        code = tw_cursor_u8(in, "a variable's type", &type, err);
    if (code == TW_OK)
        code = tw_cursor_u32(in, "a variable's size", &bytes, err);
    if (code < 0)
        return code;
    if (type >= TW_CT2_TYPE_COUNT)
        return tw_fail(err, TW_E_FORMAT, "'%s' is damaged: %s has the number format %d, which does not exist", in->file,
                       v->name, type);
    v->type = (enum tw_ct2_type)type;
    if (v->count == 0 || v->count * types[type].bytes != bytes)
        return tw_fail(err, TW_E_FORMAT, "'%s' is damaged: the %u bytes of %s do not fit its shape", in->file,
                       (unsigned)bytes, v->name);
    return tw_cursor_take(in, bytes, v->name, &v->data, err);
}

static int by_name(const void *a, const void *b)
{
    const struct tw_ct2_variable *x = a, *y = b;
    return strcmp(x->name, y->name);
}

struct tw_ct2_variable *tw_ct2_find(const struct tw_ct2_variables *v, const char *name)
{
    struct tw_ct2_variable key = {.name = name};
    return bsearch(&key, v->list, v->count, sizeof key, by_name);
}

/*
 * The one name that stands for another in Whisper models is the output matrix, which is the token embedding. Anything
 * else would be a model that computes something else.
 */
static int read_aliases(struct tw_cursor *in, struct tw_error *err)
{
    uint32_t count;
    int code = tw_cursor_u32(in, "the number of second names", &count, err);
    for (uint32_t i = 0; i < count && code == TW_OK; i++) {
        const char *alias, *name;
        code = read_string(in, "a second name", &alias, err);
        if (code == TW_OK)
            code = read_string(in, "the name behind a second name", &name, err);
        if (code < 0)
            return code;
        if (strcmp(alias, "decoder/projection/weight") != 0 || strcmp(name, "decoder/embeddings/weight") != 0)
            return tw_fail(err, TW_E_UNSUPPORTED, "'%s' cannot be used: %s stands for %s in it, which is unknown",
                           in->file, alias, name);
    }
    if (code == TW_OK && in->at != in->size)
        code = tw_fail(err, TW_E_FORMAT, "'%s' is damaged: %zu bytes follow its end", in->file, in->size - in->at);
    return code;
}

static int read_list(struct tw_cursor *in, uint32_t count, struct tw_ct2_variables *v, struct tw_error *err)
{
    v->list = calloc(count, sizeof *v->list);
    if (v->list == NULL)
        return tw_fail(err, TW_E_MEMORY, "no memory for the %u variables of '%s'", (unsigned)count, in->file);
    int code = TW_OK;
    for (; v->count < count && code == TW_OK; v->count++)
        code = read_variable(in, &v->list[v->count], err);
    if (code < 0)
        return code;
    qsort(v->list, v->count, sizeof *v->list, by_name);
    for (size_t i = 1; i < v->count; i++)
        if (by_name(&v->list[i - 1], &v->list[i]) == 0)
            return tw_fail(err, TW_E_FORMAT, "'%s' is damaged: %s is there twice", in->file, v->list[i].name);
    return TW_OK;
}

int tw_ct2_variables_read(const void *data, size_t size, const char *file, struct tw_ct2_variables *v,
                          struct tw_error *err)
{
    struct tw_cursor in = {.data = data, .size = size, .file = file};
    uint32_t count;
    *v = (struct tw_ct2_variables){0};
    int code = read_header(&in, &count, err);
    if (code == TW_OK)
        code = read_list(&in, count, v, err);
    return code < 0 ? code : read_aliases(&in, err);
}

void tw_ct2_variables_release(struct tw_ct2_variables *v)
{
    free(v->list);
    *v = (struct tw_ct2_variables){0};
}
