/* SPDX-License-Identifier: MIT */
/* Printing of text that contains untrusted names from files. Characters rejected by wmi_escape() become \xNN.
 */
#ifndef WAVEMEM_TOOL_TEXT_H
#define WAVEMEM_TOOL_TEXT_H

#include <stdarg.h>
#include <stdio.h>

/* Like printf(), but escapes control characters, which can only come from the values, except line feeds at
 * the beginning and end of `format`. Messages on stderr that would be long show their values shortened
 * (base/quote.h). */
void tool_print(FILE *file, const char *format, ...) __attribute__((format(printf, 2, 3)));
void tool_print_list(FILE *file, const char *format, va_list list) __attribute__((format(printf, 2, 0)));

/* Styles of text on a terminal; elsewhere, and with NO_COLOR, all are plain. */
enum tool_style { TOOL_PLAIN, TOOL_BOLD, TOOL_FAINT, TOOL_RED, TOOL_YELLOW, TOOL_GREEN };
/* The characters that begin a style on the file, and with TOOL_PLAIN end it; "": no colours. */
const char *tool_style(FILE *file, enum tool_style style);
/* Prints "LABEL: " in the style. */
void tool_print_label(FILE *file, enum tool_style style, const char *label);

/* Prints a word as a shell reads it. */
void tool_print_word(FILE *file, const char *word);

/* Returns an escaped copy, which keeps tabs; the caller frees it. Exits if out of memory. */
char *tool_escaped(const char *text);

/* Returns what an allocation has returned; exits if it is NULL. */
void *tool_checked(void *memory);

#endif
