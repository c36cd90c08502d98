/* SPDX-License-Identifier: MIT */
/* Makes text from files safe to print: a name in a code object must not control the terminal, nor add lines
 * to a report. */
#ifndef WMI_ESCAPE_H
#define WMI_ESCAPE_H

#include <stdbool.h>
#include <stddef.h>

/* Copies `length` bytes of text. Control characters (C0, DEL, C1) except those in `kept`, and bytes that are
 * not well-formed UTF-8, become \xNN; a backslash is copied. Writes at most `room` bytes, NUL-terminated, and
 * no partial characters or escapes. Returns the length of the full result without the NUL. */
size_t wmi_escape(char *to, size_t room, const char *text, size_t length, const char *kept);

/* Whether wmi_escape() with an empty `kept` would change nothing. */
bool wmi_is_plain(const char *text, size_t length);

/* Length of the well-formed UTF-8 character at `text`, of which `length` bytes are left; 0: not well-formed.
 * Source: Unicode 15, table 3-7. */
unsigned wmi_utf8_bytes(const char *text, size_t length);

#endif
