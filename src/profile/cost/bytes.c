/* SPDX-License-Identifier: MIT */
/* Encodes numbers and strings as bytes of a trace. */
#include "profile/cost/bytes.h"

#include <stdlib.h>
#include <string.h>

enum { LONGEST_STRING = 1 << 16 };

/* ---- writing ---- */

void wmi_trace_write_bytes(struct wmi_trace_bytes *bytes, const void *from, size_t size)
{
    if (!size)
        return;
    if (bytes->size + size > bytes->capacity) {
        size_t capacity = bytes->capacity ? 2 * bytes->capacity : 4096;
        while (capacity < bytes->size + size)
            capacity *= 2;
        uint8_t *more = bytes->failed ? NULL : realloc(bytes->byte, capacity);
        if (!more) {
            bytes->failed = true;
            return;
        }
        bytes->byte = more;
        bytes->capacity = capacity;
    }
    memcpy(bytes->byte + bytes->size, from, size);
    bytes->size += size;
}

void wmi_trace_write_number(struct wmi_trace_bytes *bytes, uint64_t number)
{
    uint8_t byte[10];
    size_t size = 0;
    for (; number >= 0x80; number >>= 7)
        byte[size++] = 0x80 | (number & 0x7f);
    byte[size++] = (uint8_t)number;
    wmi_trace_write_bytes(bytes, byte, size);
}

void wmi_trace_write_signed(struct wmi_trace_bytes *bytes, int64_t number)
{
    wmi_trace_write_number(bytes, (uint64_t)number << 1 ^ (uint64_t)(number >> 63));
}

void wmi_trace_write_string(struct wmi_trace_bytes *bytes, const char *text)
{
    const size_t length = text ? strlen(text) : 0, kept = length < LONGEST_STRING ? length : LONGEST_STRING;
    wmi_trace_write_number(bytes, text ? kept + 1 : 0);
    if (kept)
        wmi_trace_write_bytes(bytes, text, kept);
}

void wmi_trace_bytes_free(struct wmi_trace_bytes *bytes)
{
    free(bytes->byte);
    *bytes = (struct wmi_trace_bytes){0};
}

/* ---- reading ---- */

static uint64_t fail(struct wmi_reader *reader)
{
    reader->failed = true;
    reader->at = reader->end;
    return 0;
}

uint64_t wmi_trace_read_number(struct wmi_reader *reader)
{
    uint64_t number = 0;
    for (unsigned shift = 0; reader->at < reader->end; shift += 7) {
        const uint8_t byte = *reader->at++;
        const uint64_t bits = byte & 0x7f;
        if (shift > 63 || (shift == 63 && bits > 1))
            break;
        number |= bits << shift;
        if (!(byte & 0x80))
            return number;
    }
    return fail(reader);
}

uint64_t wmi_trace_read_upto(struct wmi_reader *reader, uint64_t most)
{
    const uint64_t number = wmi_trace_read_number(reader);
    return number <= most ? number : fail(reader);
}

int64_t wmi_trace_read_signed(struct wmi_reader *reader)
{
    const uint64_t number = wmi_trace_read_number(reader);
    return (int64_t)(number >> 1 ^ -(number & 1));
}

const uint8_t *wmi_trace_read_bytes(struct wmi_reader *reader, size_t size)
{
    const uint8_t *at = reader->at;
    if ((size_t)(reader->end - at) < size) {
        fail(reader);
        return NULL;
    }
    reader->at += size;
    return at;
}

char *wmi_trace_read_string(struct wmi_reader *reader)
{
    const size_t size = wmi_trace_read_upto(reader, LONGEST_STRING + 1);
    const uint8_t *from = size ? wmi_trace_read_bytes(reader, size - 1) : NULL;
    char *text = NULL;
    if (from && memchr(from, 0, size - 1))
        fail(reader);
    else if (from && (text = malloc(size)) == NULL)
        fail(reader);
    if (text) {
        memcpy(text, from, size - 1);
        text[size - 1] = '\0';
    }
    return text;
}
