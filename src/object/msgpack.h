/* SPDX-License-Identifier: MIT */
/* A cursor over untrusted MessagePack data: allocates nothing and checks every length.
 *
 * Source: the MessagePack specification. */
#ifndef WMI_MSGPACK_H
#define WMI_MSGPACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct wmi_msgpack {
    const uint8_t *at, *end;
};

enum wmi_msgpack_kind {
    WMI_MSGPACK_BAD, /* truncated or invalid */
    WMI_MSGPACK_NIL,
    WMI_MSGPACK_BOOLEAN,
    WMI_MSGPACK_UNSIGNED,
    WMI_MSGPACK_NEGATIVE,
    WMI_MSGPACK_FLOAT,
    WMI_MSGPACK_TEXT,
    WMI_MSGPACK_BINARY,
    WMI_MSGPACK_EXTENSION,
    WMI_MSGPACK_ARRAY,
    WMI_MSGPACK_MAP,
};

struct wmi_msgpack_value {
    enum wmi_msgpack_kind kind;
    uint64_t number;  /* boolean, number (negative: two's complement, float: its bits); elements of an array
                         or pairs of a map that follow, at most the number of bytes left */
    const char *text; /* text, binary, extension: not NUL-terminated */
    size_t length;
};

/* Reads the next value; elements of arrays and maps follow as separate values. */
struct wmi_msgpack_value wmi_msgpack_next(struct wmi_msgpack *reader);
/* Skips the next value with all its elements; false if it is invalid. */
bool wmi_msgpack_skip(struct wmi_msgpack *reader);

#endif
