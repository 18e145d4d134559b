#include "job/slabs.h"

#include <stdlib.h>

/* The first slab is small, for small models; later ones are as large as all before them, up to a limit. */
enum { SLAB_LEAST = 4 << 20, SLAB_MOST = 128 << 20, LINE = 64 };

void slabs_init(struct slabs *slabs, struct tw_device *device)
{
    *slabs = (struct slabs){.device = device};
    pthread_mutex_init(&slabs->lock, NULL);
}

void slabs_destroy(struct slabs *slabs)
{
    pthread_mutex_destroy(&slabs->lock);
}

/* The link behind which so many bytes are free; NULL: there is no such gap. */
static struct piece **find_gap(struct slab *slab, size_t bytes, size_t *offset)
{
    size_t end = 0;
    struct piece **link = &slab->first;
    while (*link != NULL && (*link)->offset - end < bytes) {
        end = (*link)->offset + (*link)->bytes;
        link = &(*link)->next;
    }
    *offset = end;
    return *link != NULL || slab->bytes - end >= bytes ? link : NULL;
}

static int add_slab(struct slabs *slabs, size_t bytes, struct tw_error *err)
{
    size_t size = slabs->bytes;
    size = size < SLAB_LEAST ? SLAB_LEAST : size > SLAB_MOST ? SLAB_MOST : size;
    struct slab *slab = calloc(1, sizeof *slab);
    if (slab == NULL)
        return tw_fail(err, TW_E_MEMORY, "no memory for weights");
    slab->bytes = bytes > size ? bytes : size;
    int code = tw_buffer_create(slabs->device, slab->bytes, &slab->buffer, err);
    if (code < 0) {
        free(slab);
        return code;
    }
    slab->number = ++slabs->made;
    slab->next = slabs->first;
    slabs->first = slab;
    slabs->bytes += slab->bytes;
    return TW_OK;
}

static struct piece **find(struct slabs *slabs, size_t bytes, struct slab **slab, size_t *offset)
{
    for (struct slab *s = slabs->first; s != NULL; s = s->next) {
        struct piece **link = find_gap(s, bytes, offset);
        *slab = s;
        if (link != NULL)
            return link;
    }
    return NULL;
}

static int place(struct slabs *slabs, struct piece *piece, struct tw_error *err)
{
    struct piece **link = find(slabs, piece->bytes, &piece->slab, &piece->offset);
    if (link == NULL) {
        int code = add_slab(slabs, piece->bytes, err);
        if (code < 0)
            return code;
        link = find(slabs, piece->bytes, &piece->slab, &piece->offset);
    }
    piece->next = *link;
    *link = piece;
    return TW_OK;
}

int slabs_take(void *arg, size_t bytes, void **block, void **data, struct tw_error *err)
{
    struct slabs *slabs = arg;
    struct piece *piece = calloc(1, sizeof *piece);
    if (piece == NULL || bytes > SIZE_MAX - LINE) {
        free(piece);
        return tw_fail(err, TW_E_MEMORY, "no memory for %zu bytes of weights", bytes);
    }
    piece->bytes = (bytes + LINE - 1) / LINE * LINE;
    pthread_mutex_lock(&slabs->lock);
    int code = place(slabs, piece, err);
    pthread_mutex_unlock(&slabs->lock);
    if (code < 0) {
        free(piece);
        return code;
    }
    *block = piece;
    *data = (unsigned char *)tw_buffer_data(piece->slab->buffer) + piece->offset;
    return TW_OK;
}

static void drop_slab(struct slabs *slabs, struct slab *slab)
{
    struct slab **link = &slabs->first;
    while (*link != slab)
        link = &(*link)->next;
    *link = slab->next;
    slabs->bytes -= slab->bytes;
    tw_buffer_destroy(slab->buffer);
    free(slab);
}

void slabs_give(void *arg, void *block)
{
    struct slabs *slabs = arg;
    struct piece *piece = block;
    struct slab *slab = piece->slab;
    pthread_mutex_lock(&slabs->lock);
    struct piece **link = &slab->first;
    while (*link != piece)
        link = &(*link)->next;
    *link = piece->next;
    if (slab->first == NULL)
        drop_slab(slabs, slab);
    pthread_mutex_unlock(&slabs->lock);
    free(piece);
}
