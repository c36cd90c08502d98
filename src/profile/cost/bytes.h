/* SPDX-License-Identifier: MIT */
/* Numbers and strings as bytes: how a trace is written down. */
#ifndef WMI_PROFILE_BYTES_H
#define WMI_PROFILE_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes that are being written. Starts at zero. */
struct wmi_trace_bytes {
    uint8_t *byte;
    size_t size, capacity;
    bool failed; /* no memory: what was put since is lost */
};

void wmi_trace_write_bytes(struct wmi_trace_bytes *bytes, const void *from, size_t size);
/* Seven bits a byte, the lowest first; the highest bit says that more follow (LEB128). */
void wmi_trace_write_number(struct wmi_trace_bytes *bytes, uint64_t number);
/* The same of 2n, or of -2n - 1 for negative n. */
void wmi_trace_write_signed(struct wmi_trace_bytes *bytes, int64_t number);
/* Its length and 1, and the characters; 0: NULL. */
void wmi_trace_write_string(struct wmi_trace_bytes *bytes, const char *text);
void wmi_trace_bytes_free(struct wmi_trace_bytes *bytes);

/* Bytes that are being read. */
struct wmi_reader {
    const uint8_t *at, *end;
    bool failed; /* there were too few, or they were no number; all numbers are 0 from then on */
};

uint64_t wmi_trace_read_number(struct wmi_reader *reader);
/* A number up to `most`; a larger one fails. */
uint64_t wmi_trace_read_upto(struct wmi_reader *reader, uint64_t most);
int64_t wmi_trace_read_signed(struct wmi_reader *reader);
/* A copy to be freed; NULL where there was none, or after failure. At most 64 KiB, no NUL in it. */
char *wmi_trace_read_string(struct wmi_reader *reader);
/* The next `size` bytes; NULL: there are fewer. */
const uint8_t *wmi_trace_read_bytes(struct wmi_reader *reader, size_t size);

#endif
