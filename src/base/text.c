/* SPDX-License-Identifier: MIT */
/* Formatted text in arrays of fixed size. */
#include "base/text.h"

#include <stdio.h>
#include <string.h>

void wmi_mark_cut(char *text, size_t size)
{
    static const char dots[] = "...";
    memcpy(text + size - sizeof dots, dots, sizeof dots);
}

void wmi_format_list(char *text, size_t size, const char *format, va_list list)
{
    const int length = vsnprintf(text, size, format, list);
    if (length >= 0 && (size_t)length >= size)
        wmi_mark_cut(text, size);
}

void wmi_format(char *text, size_t size, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    wmi_format_list(text, size, format, list);
    va_end(list);
}
