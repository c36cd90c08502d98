/* SPDX-License-Identifier: MIT */
/* Appends strings and numbers to a text. Inline where listings of millions of instructions spend their time.
 */
#ifndef WMI_PUT_H
#define WMI_PUT_H

#include "base/copy.h"

#include <stddef.h>
#include <stdint.h>

/* Output text in a fixed-size buffer; the rest is dropped. */
struct wmi_text {
    char *at, *end;
};

static inline void wmi_put_char(struct wmi_text *text, char c)
{
    if (text->at < text->end)
        *text->at++ = c;
}

static inline void wmi_put_bytes(struct wmi_text *text, const char *bytes, size_t length)
{
    if (length <= (size_t)(text->end - text->at)) {
        wmi_copy_short(text->at, bytes, length);
        text->at += length;
    }
}

/* Numbers below 10000. */
static inline void wmi_put_small(struct wmi_text *text, unsigned value)
{
    if (text->end - text->at < 4)
        return;
    if (value >= 1000)
        *text->at++ = (char)('0' + value / 1000);
    if (value >= 100)
        *text->at++ = (char)('0' + value / 100 % 10);
    if (value >= 10)
        *text->at++ = (char)('0' + value / 10 % 10);
    *text->at++ = (char)('0' + value % 10);
}

void wmi_put(struct wmi_text *text, const char *string);
void wmi_put_unsigned(struct wmi_text *text, uint64_t value);
void wmi_put_signed(struct wmi_text *text, int64_t value);
void wmi_put_hex(struct wmi_text *text, uint64_t value); /* with 0x */

#endif
