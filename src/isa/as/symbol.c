/* Names and what they stand for. */
#include "isa/as/state.h"

#include <stdlib.h>

static uint32_t hash_of(struct tw_as_span name)
{
    uint32_t h = 2166136261u;

    for (size_t i = 0; i < name.size; i++)
        h = (h ^ (unsigned char)name.text[i]) * 16777619u;
    return h;
}

/* The place of a name in the table, or of the gap where it belongs. room_names is a power of two, and there is a gap.
 */
static size_t slot_of(struct tw_as_name *const *names, size_t room, struct tw_as_span name, uint32_t hash)
{
    size_t i = hash & (room - 1);

    while (names[i] != NULL && (names[i]->hash != hash || !tw_as_same(names[i]->name, name)))
        i = (i + 1) & (room - 1);
    return i;
}

struct tw_as_name *tw_as_find(const struct tw_as *a, struct tw_as_span name)
{
    return a->room_names == 0 ? NULL : a->names[slot_of(a->names, a->room_names, name, hash_of(name))];
}

static int grow_table(struct tw_as *a)
{
    size_t room = a->room_names == 0 ? 256 : a->room_names * 2;
    struct tw_as_name **names = calloc(room, sizeof *names);

    if (names == NULL)
        return tw_as_no_memory(a);
    for (size_t i = 0; i < a->room_names; i++)
        if (a->names[i] != NULL)
            names[slot_of(names, room, a->names[i]->name, a->names[i]->hash)] = a->names[i];
    free(a->names);
    a->names = names;
    a->room_names = room;
    return 0;
}

struct tw_as_name *tw_as_name(struct tw_as *a, struct tw_as_span name)
{
    struct tw_as_name *n = tw_as_find(a, name);

    if (n != NULL)
        return n;
    if (a->n_names * 2 >= a->room_names && grow_table(a) != 0)
        return NULL;
    n = tw_as_pool_take(&a->pool, sizeof *n);
    if (n == NULL || tw_grow(&a->order, a->n_order, &a->room_order, sizeof *a->order) != 0) {
        tw_as_no_memory(a);
        return NULL;
    }
    *n = (struct tw_as_name){.name = name, .hash = hash_of(name), .section = -1, .line = a->line, .at = name.text};
    a->names[slot_of(a->names, a->room_names, name, n->hash)] = n;
    a->n_names++;
    a->order[a->n_order++] = n;
    return n;
}

static int fail_again(struct tw_as *a, const struct tw_as_name *n, struct tw_as_span name)
{
    struct tw_as_place before = tw_as_place_of(n->line, n->at);
    return tw_as_fault(a, name.text, "%.*s has a value already, from %s:%u:%u", tw_as_width(name), name.text,
                       before.file, before.line, before.column);
}

static int append(struct tw_as *a, struct tw_as_history *h, int64_t value)
{
    if (tw_grow(&h->list, h->n, &h->room, sizeof *h->list) != 0)
        return tw_as_no_memory(a);
    h->list[h->n++] = (struct tw_as_value){a->point.moment, value};
    return 0;
}

static int set(struct tw_as *a, struct tw_as_name *n, struct tw_as_span name, enum tw_as_symbol_state state,
               int64_t value)
{
    n->state = state;
    n->line = a->line;
    n->at = name.text;
    return append(a, &n->history, value);
}

static int set_local(struct tw_as *a, struct tw_as_span name, int64_t value)
{
    unsigned number = 0;

    for (size_t i = 0; i < name.size && number < AS_LOCALS; i++)
        number = number * 10 + (unsigned)(name.text[i] - '0');
    if (number >= AS_LOCALS)
        return tw_as_fault(a, name.text, "local labels are numbers from 0 to %d", AS_LOCALS - 1);
    return append(a, &a->locals[number], value);
}

int tw_as_set_label(struct tw_as *a, struct tw_as_span name, int64_t value)
{
    if (tw_as_is_digit(name.text[0]))
        return set_local(a, name, value);
    struct tw_as_name *n = tw_as_name(a, name);
    if (n == NULL)
        return 1;
    if (n->state != AS_UNKNOWN)
        return fail_again(a, n, name);
    n->section = a->current;
    return set(a, n, name, AS_LABEL, value);
}

int tw_as_set_number(struct tw_as *a, struct tw_as_span name, int64_t value)
{
    struct tw_as_name *n = tw_as_name(a, name);

    if (n == NULL)
        return 1;
    if (n->state == AS_LABEL)
        return fail_again(a, n, name);
    return set(a, n, name, AS_NUMBER, value);
}

/* How many values were there at a point already. */
static size_t before(const struct tw_as_history *h, const struct tw_as_point *point)
{
    size_t low = 0, high = h->n;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (h->list[middle].moment <= point->moment)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

int tw_as_local_value(const struct tw_as *a, unsigned number, int forward, const struct tw_as_point *point,
                      int64_t *value)
{
    const struct tw_as_history *h = &a->locals[number];
    size_t n = before(h, point);

    if (forward ? n == h->n : n == 0)
        return 1;
    *value = h->list[forward ? n : n - 1].value;
    return 0;
}

int tw_as_name_value(const struct tw_as_name *name, const struct tw_as_point *point, int64_t *value)
{
    size_t n = before(&name->history, point);

    if (name->history.n == 0)
        return 1;
    if (n == 0 && name->history.n > 1)
        return 2;
    *value = name->history.list[n == 0 ? 0 : n - 1].value;
    return 0;
}
