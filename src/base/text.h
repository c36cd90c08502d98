/* SPDX-License-Identifier: MIT */
/* Formatted text in arrays of fixed size. Text that does not fit ends with "...", so that readers see it. */
#ifndef WMI_TEXT_H
#define WMI_TEXT_H

#include <stdarg.h>
#include <stddef.h>

/* Write at most `size` bytes, the terminating zero included; size: at least 4. */
void wmi_format_list(char *text, size_t size, const char *format, va_list list);
__attribute__((format(printf, 3, 4))) void wmi_format(char *text, size_t size, const char *format, ...);

/* Marks a text that fills its array as cut off. */
void wmi_mark_cut(char *text, size_t size);

#endif
