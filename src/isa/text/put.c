/* SPDX-License-Identifier: MIT */
/* Appends strings and numbers to a text. */
#include "isa/text/put.h"

#include <string.h>

void wmi_put(struct wmi_text *text, const char *string)
{
    wmi_put_bytes(text, string, strlen(string));
}

static void put_based(struct wmi_text *text, uint64_t value, unsigned base)
{
    char digits[20];
    unsigned n = sizeof(digits);
    do
        digits[--n] = "0123456789abcdef"[value % base];
    while (value /= base);
    wmi_put_bytes(text, digits + n, sizeof(digits) - n);
}

void wmi_put_unsigned(struct wmi_text *text, uint64_t value)
{
    if (value < 10000)
        wmi_put_small(text, (unsigned)value);
    else
        put_based(text, value, 10);
}

void wmi_put_signed(struct wmi_text *text, int64_t value)
{
    if (value < 0)
        wmi_put_char(text, '-');
    wmi_put_unsigned(text, value < 0 ? 0 - (uint64_t)value : (uint64_t)value);
}

void wmi_put_hex(struct wmi_text *text, uint64_t value)
{
    wmi_put_bytes(text, "0x", 2);
    put_based(text, value, 16);
}
