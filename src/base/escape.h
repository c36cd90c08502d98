/* SPDX-License-Identifier: MIT */
/* Text that comes from files, made safe to show: a name in a code object must not drive the terminal that a
 * message is printed to, nor add lines to a report. */
#ifndef WMI_ESCAPE_H
#define WMI_ESCAPE_H

#include <stdbool.h>
#include <stddef.h>

/* Copies `length` bytes of text. Control characters (C0, DEL, C1), but for those of `kept`, and bytes that
 * are not well-formed UTF-8 become \xNN; a backslash stays as it is. At most `room` bytes are written, with a
 * NUL at the end and without a part of a character or of an escape before it. Returns how many bytes the
 * whole takes, without the NUL. */
size_t wmi_escape(char *to, size_t room, const char *text, size_t length, const char *kept);

/* Whether wmi_escape() would change nothing, and keep nothing. */
bool wmi_is_plain(const char *text, size_t length);

/* Bytes of the well-formed UTF-8 character at `text`, of which `length` bytes are left; 0: there is none.
 * Source: Unicode 15, table 3-7. */
unsigned wmi_utf8_bytes(const char *text, size_t length);

#endif
