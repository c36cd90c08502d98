/* SPDX-License-Identifier: MIT */
/* Numbers on the command line. */
#include "tool/tool.h"

#include <errno.h>
#include <math.h>
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

bool tool_parse_real(const char *text, double *number)
{
    char *end;
    if ((text[0] < '0' || text[0] > '9') && text[0] != '.')
        return false;
    *number = strtod(text, &end);
    return *end == 0 && isfinite(*number) && *number >= 0;
}

unsigned tool_parse_triple(const char *text, uint64_t triple[3])
{
    for (unsigned i = 0; i < 3; i++) {
        const size_t length = strcspn(text, ",");
        char one[64];
        if (length >= sizeof(one))
            return 0;
        memcpy(one, text, length);
        one[length] = 0;
        if (!tool_parse_size(one, &triple[i]))
            return 0;
        text += length;
        if (*text == 0)
            return i + 1;
        text++;
    }
    return 0; /* more than three */
}

unsigned tool_parse_extent(const char *text, uint32_t extent[3])
{
    uint64_t triple[3];
    const unsigned count = tool_parse_triple(text, triple);
    for (unsigned i = 0; i < 3; i++) {
        if (i < count && (triple[i] == 0 || triple[i] > UINT32_MAX))
            return 0;
        extent[i] = i < count ? (uint32_t)triple[i] : 1;
    }
    return count;
}
