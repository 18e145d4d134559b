#include "base/log.h"

#include <stdarg.h>
#include <stdio.h>

void tw_note(const char *fmt, ...)
{
    char line[2048];
    va_list args;
    va_start(args, fmt);
    vsnprintf(line, sizeof line, fmt, args);
    va_end(args);
    fprintf(stderr, "tilewright: %s\n", line);
}
