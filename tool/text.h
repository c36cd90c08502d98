/* SPDX-License-Identifier: MIT */
/* Printing of text that contains untrusted names from files. Characters rejected by wmi_escape() become \xNN.
 */
#ifndef WAVEMEM_TOOL_TEXT_H
#define WAVEMEM_TOOL_TEXT_H

#include <stdarg.h>
#include <stdio.h>

/* Like printf(), but escapes control characters, which can only come from the values, except line feeds at
 * the beginning and end of `format`. */
void tool_print(FILE *file, const char *format, ...) __attribute__((format(printf, 2, 3)));
void tool_print_list(FILE *file, const char *format, va_list list) __attribute__((format(printf, 2, 0)));

/* Prints a word as a shell reads it. */
void tool_print_word(FILE *file, const char *word);

/* Returns an escaped copy, which keeps tabs; the caller frees it. Exits if out of memory. */
char *tool_escaped(const char *text);

#endif
