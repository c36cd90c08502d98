/* SPDX-License-Identifier: MIT */
/* Text for people, in which names come from files. What wmi_escape() does not let pass becomes \xNN. */
#ifndef WAVEMEM_TOOL_TEXT_H
#define WAVEMEM_TOOL_TEXT_H

#include <stdarg.h>
#include <stdio.h>

/* Prints what printf() would. Line feeds at the beginning and at the end of `format` are its own; other
 * control characters can only come from the values, and are escaped. */
void tool_print(FILE *file, const char *format, ...) __attribute__((format(printf, 2, 3)));
void tool_print_list(FILE *file, const char *format, va_list list) __attribute__((format(printf, 2, 0)));

/* An escaped copy, in which tabs stay; the caller frees. Ends the program when there is no memory. */
char *tool_escaped(const char *text);

#endif
