#include "emu/array.h"
extern int tw_firmware_nothing;
