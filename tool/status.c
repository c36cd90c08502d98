/* SPDX-License-Identifier: MIT */
/* How a command ends: messages and exit codes. */
#include "tool/text.h"
#include "tool/tool.h"

#include <stdarg.h>

int tool_worse(int one, int other)
{
    static const int rank[] = {
        [TOOL_INCOMPLETE] = 1, [TOOL_FINDINGS] = 2, [TOOL_WRONG] = 3, [TOOL_FAULT] = 4, [TOOL_STOPPED] = 5};
    return rank[one] > rank[other] ? one : other;
}

int tool_fail(const char *format, ...)
{
    va_list list;
    va_start(list, format);
    tool_print_label(stderr, TOOL_RED, "wavemem");
    tool_print_list(stderr, format, list);
    fputc('\n', stderr);
    va_end(list);
    return TOOL_WRONG;
}
