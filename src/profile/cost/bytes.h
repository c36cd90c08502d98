/* SPDX-License-Identifier: MIT */
/* Encodes numbers and strings as bytes of a trace. */
#ifndef WMI_PROFILE_BYTES_H
#define WMI_PROFILE_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes to write. Initialize with zeros. */
struct wmi_trace_bytes {
    uint8_t *byte;
    size_t size, capacity;
    bool failed; /* out of memory: later data is lost */
};

void wmi_trace_write_bytes(struct wmi_trace_bytes *bytes, const void *from, size_t size);
/* LEB128: seven bits per byte, lowest first; bit 7 is set if more follow. */
void wmi_trace_write_number(struct wmi_trace_bytes *bytes, uint64_t number);
/* Writes 2n, or -2n - 1 if n is negative, in the same way. */
void wmi_trace_write_signed(struct wmi_trace_bytes *bytes, int64_t number);
/* Writes the length + 1 and the characters; NULL: 0. */
void wmi_trace_write_string(struct wmi_trace_bytes *bytes, const char *text);
void wmi_trace_bytes_free(struct wmi_trace_bytes *bytes);

/* Bytes to read. */
struct wmi_reader {
    const uint8_t *at, *end;
    bool failed; /* bytes missing or invalid number; from then on all numbers are 0 */
};

uint64_t wmi_trace_read_number(struct wmi_reader *reader);
/* Reads a number; fails if it is larger than `most`. */
uint64_t wmi_trace_read_upto(struct wmi_reader *reader, uint64_t most);
int64_t wmi_trace_read_signed(struct wmi_reader *reader);
/* Returns a copy to be freed; NULL: a NULL string, or failure. Limit 64 KiB; NUL characters fail. */
char *wmi_trace_read_string(struct wmi_reader *reader);
/* Returns the next `size` bytes; NULL: fewer are left. */
const uint8_t *wmi_trace_read_bytes(struct wmi_reader *reader, size_t size);

#endif
