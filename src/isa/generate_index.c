/* Chooses the bits of a word by which a decoder first looks up what the word may be. */
#include "isa/generate.h"

#include <string.h>

#define MAX_PATTERNS MAX_INSTRUCTIONS

/* Whether a pattern allows the bits `chosen` of a word to hold `bits`. */
static int allows(const struct pattern *p, uint64_t chosen, uint64_t bits)
{
    return ((p->value ^ bits) & p->mask & chosen) == 0;
}

/* The bits of a word that stand for entry `number` of the table. */
static uint64_t spread(const struct index *index, unsigned number)
{
    uint64_t bits = 0;
    for (unsigned i = 0; i < index->n_bits; i++)
        bits |= (uint64_t)(number >> i & 1) << index->bits[i];
    return bits;
}

static uint64_t chosen_bits(const struct index *index)
{
    return index->n_bits == 0 ? 0 : spread(index, (1u << index->n_bits) - 1);
}

/* Sum over the entries of the square of how many patterns they leave, as if bit `extra` were chosen too. */
static uint64_t cost(const struct index *index, const struct pattern *patterns, unsigned n, unsigned extra)
{
    uint64_t chosen = chosen_bits(index), sum = 0;

    for (unsigned entry = 0; entry < 1u << index->n_bits; entry++) {
        uint64_t bits = spread(index, entry), count[2] = {0, 0};
        for (unsigned i = 0; i < n; i++) {
            if (!allows(&patterns[i], chosen, bits))
                continue;
            int fixed = (int)(patterns[i].mask >> extra & 1), one = (int)(patterns[i].value >> extra & 1);
            count[0] += !fixed || !one;
            count[1] += !fixed || one;
        }
        sum += count[0] * count[0] + count[1] * count[1];
    }
    return sum;
}

/* Adds a bit so that bits stay in ascending order. */
static void add_bit(struct index *index, unsigned bit)
{
    unsigned i = index->n_bits++;
    for (; i > 0 && index->bits[i - 1] > bit; i--)
        index->bits[i] = index->bits[i - 1];
    index->bits[i] = bit;
}

/* Adds the best bit; returns 0 when no bit helps. A bit that halves no list doubles the sum. */
static int choose_bit(struct index *index, const struct pattern *patterns, unsigned n, uint64_t *current)
{
    uint64_t best = UINT64_MAX;
    unsigned best_bit = 64;

    for (unsigned b = 0; b < 64; b++) {
        unsigned fixed = 0;
        for (unsigned i = 0; i < n; i++)
            fixed += (unsigned)(patterns[i].mask >> b & 1);
        if (fixed == 0 || (chosen_bits(index) >> b & 1) != 0)
            continue;
        uint64_t c = cost(index, patterns, n, b);
        if (c < best) {
            best = c;
            best_bit = b;
        }
    }
    if (best_bit == 64 || best >= 2 * *current)
        return 0;
    add_bit(index, best_bit);
    *current = best;
    return 1;
}

/* Stores a list of n numbers with its end, or finds an equal one; returns its place, or -1 when there is no room. */
static int store_list(struct index *index, const uint16_t *list, unsigned n)
{
    for (unsigned at = 0; at + n <= index->n_lists; at++)
        if (memcmp(&index->lists[at], list, n * sizeof *list) == 0)
            return (int)at;
    if (index->n_lists + n > INDEX_LISTS || index->n_lists + n > UINT16_MAX)
        return -1;
    memcpy(&index->lists[index->n_lists], list, n * sizeof *list);
    index->n_lists += n;
    return (int)(index->n_lists - n);
}

int build_index(struct index *index, const struct pattern *patterns, const uint16_t *numbers, unsigned n)
{
    uint16_t list[MAX_PATTERNS + 1];
    uint64_t current = (uint64_t)n * n;

    index->n_bits = index->n_lists = 0;
    while (index->n_bits < INDEX_BITS && choose_bit(index, patterns, n, &current))
        continue;
    for (unsigned entry = 0; entry < 1u << index->n_bits; entry++) {
        unsigned length = 0;
        for (unsigned i = 0; i < n; i++)
            if (allows(&patterns[i], chosen_bits(index), spread(index, entry)))
                list[length++] = numbers[i];
        list[length++] = UINT16_MAX;
        int at = store_list(index, list, length);
        if (at < 0)
            return 1;
        index->first[entry] = (uint16_t)at;
    }
    return 0;
}
