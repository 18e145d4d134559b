#include "emu/array/late_words.h"

#include <string.h>

int tw_late_add(struct tw_late_words *late, uint32_t address, const uint32_t *words, uint32_t n)
{
    if (late->n + 2 + n > TW_LATE_WORDS)
        return 0;
    uint32_t *to = late->words + late->n;
    to[0] = address;
    to[1] = n;
    memcpy(to + 2, words, n * sizeof *words);
    late->n += 2 + n;
    return 1;
}

void tw_late_write(struct tw_late_words *late, uint8_t *memory)
{
    for (const uint32_t *run = late->words; run < late->words + late->n; run += 2 + run[1])
        memcpy(memory + (size_t)run[0] * sizeof *run, run + 2, run[1] * sizeof *run);
    late->n = 0;
}
