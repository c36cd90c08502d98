/* SPDX-License-Identifier: MIT */
/* Messages that quote what somebody else wrote: names, paths, lines of files, however long. */
#ifndef WMI_QUOTE_H
#define WMI_QUOTE_H

#include <stdarg.h>
#include <stddef.h>

/* Characters of a message, and the least of each value that are shown if the message has many of them. */
enum { WMI_QUOTE_MOST = 280, WMI_QUOTE_LEAST = 24 };

/* Like vsnprintf() and snprintf(), for formats without %n and wide characters. Strings among the values are
 * escaped as by wmi_escape(). If the message has more than `total` characters, by default WMI_QUOTE_MOST,
 * "..." replaces the middle of its longest strings: paths and names tend to differ at their ends. */
size_t wmi_quote_list(char *to, size_t room, size_t total, const char *format, va_list list);
__attribute__((format(printf, 3, 4))) size_t wmi_quote(char *to, size_t room, const char *format, ...);

#endif
