#include "emu/core.h"
#include "emu/semantics.h"

const struct tw_semantics *tw_scalar_semantics(unsigned *count)
{
    *count = 0;
    return NULL;
}

const struct tw_unknown tw_unknown_defaults = {0};
