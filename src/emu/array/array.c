#include "emu/array.h"
extern int tw_array_nothing;
