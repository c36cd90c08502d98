/* SPDX-License-Identifier: MIT */
/* Numbers on the command line. */
#include "tool/tool.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

bool tool_parse_u64(const char *text, uint64_t *number)
{
    char *end;
    if (text[0] < '0' || text[0] > '9')
        return false;
    const int base = text[0] == '0' && (text[1] == 'x' || text[1] == 'X') ? 16 : 10;
    errno = 0;
    *number = strtoull(text, &end, base);
    return errno == 0 && *end == 0 && end != text && !(base == 16 && text[2] == 0);
}

bool tool_parse_size(const char *text, uint64_t *number)
{
    static const char units[] = "kMG";
    *number = 1;
    for (;;) {
        const size_t length = strcspn(text, "*");
        char factor[24];
        uint64_t value;
        if (length == 0 || length >= sizeof factor)
            return false;
        memcpy(factor, text, length);
        factor[length] = 0;
        const char last = factor[length - 1] == 'K' ? 'k' : factor[length - 1];
        const char *unit = strncmp(factor, "0x", 2) ? strchr(units, last) : NULL;
        if (unit)
            factor[length - 1] = 0;
        if (!tool_parse_u64(factor, &value) || __builtin_mul_overflow(*number, value, number) ||
            (unit && __builtin_mul_overflow(*number, 1ull << 10 * (unit - units + 1), number)))
            return false;
        text += length;
        if (*text == 0)
            return true;
        text++;
    }
}
